# SPDX-License-Identifier: Apache-2.0

"""
The formats in which other programs get what was learnt.

A new format is a row in ``FORMATS`` and its function in ``writers.py`` or in a module of its own,
which is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import importlib
from typing import NamedTuple, TYPE_CHECKING, Union

from mnm_ros.core import plug_ins
from mnm_ros.core.errors import ExportError, InvalidValueError

if TYPE_CHECKING:
    from mnm_ros.core.exploration import Exploration
    from mnm_ros.export.contents import ExportContents
    from mnm_ros.export.recording import Recording
    from mnm_ros.robot_description import RobotDescription


class Format(NamedTuple):
    """
    A format.

    :ivar help: what is written, in a few words.
    :ivar writer: takes what was learnt and returns a file as bytes; here as ``module.function``.
    :ivar log: whether it is of all transitions one by one, which only a transition log has.
    :ivar places: whether it is of known states that have a place.
    """

    help: str    # noqa: A003
    writer: Union[str, Callable[..., bytes]]
    log: bool = False
    places: bool = False

    def write(self, learnt: ExportContents, *options: object) -> bytes:
        """
        Return the contents of the file.

        :param options: what the writer takes besides.
        :raises ExportError: if this cannot be written here.
        """
        if callable(self.writer):
            return self.writer(learnt, *options)
        module, _, function = self.writer.rpartition('.')
        found: Callable[..., bytes] = getattr(
            importlib.import_module(f'mnm_ros.export.{module}'), function)
        return found(learnt, *options)


FORMATS: Mapping[str, Format] = {
    'json': Format('everything: states, counted transitions, policies with their routes',
                   'writers.as_json'),
    'csv': Format('the counted transitions, one in a line', 'writers.transitions_csv'),
    'states-csv': Format('the states, one in a line', 'writers.states_csv'),
    'graphml': Format('the graph of states, for Gephi, yEd and networkx, which it needs',
                      'writers.graphml'),
    'dot': Format('the graph of states, for Graphviz', 'writers.dot'),
    'nav2-route': Format("places and the ways between them, as GeoJSON for nav2's route server",
                         'route_graphs.nav2_route', places=True),
    'rmf': Format('the same as YAML for the fleet adapters of Open-RMF; with --graph, the lanes '
                  'that are closed', 'route_graphs.rmf', places=True),
    'log-csv': Format('the transition log, one step in a line', 'writers.log_csv', log=True),
    'log-mcap': Format('the transition log as a bag, for ros2 bag and Foxglove',
                       'writers.log_mcap', log=True),
}


def named(name: str) -> Format:
    """
    Return a format by its name, also one that another package brings.

    :raises InvalidValueError: if there is none, or if it cannot be used.
    """
    if name in FORMATS:
        return FORMATS[name]
    found = plug_ins.load('format', name, tuple(FORMATS))
    if not isinstance(found, Format):
        raise InvalidValueError(f'format {name!r} is {found!r}, expected a Format')
    return found


def export_as(learner: Union[Exploration, Recording], name: str,
              description: RobotDescription | None = None) -> bytes:
    """
    Return what an exploration in memory has learnt, as ``mnm_ros export`` writes it to a file.

    :param learner: the exploration, or a recording of it, which formats of all steps need.
    :param name: of a format.
    :param description: with the names and places of states; None if there are none.
    :raises InvalidValueError: if there is no such format.
    :raises ExportError: if this cannot be written here.
    """
    from mnm_ros.core.exploration import Exploration
    from mnm_ros.export.contents import ExportContents
    from mnm_ros.robot_description import UNDESCRIBED
    found = named(name)
    exploration, saved = (learner, None) if isinstance(learner, Exploration) else (
        learner.exploration, learner)
    if found.log and saved is None:
        raise ExportError(f'{name} is of all steps one by one, expected a Recording')
    return found.write(ExportContents.of(exploration, description or UNDESCRIBED, saved=saved))
