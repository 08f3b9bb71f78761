# SPDX-License-Identifier: Apache-2.0

"""
Parts that other distributions bring.

One that names a part in a group of entry points below has it found by that name once it is
installed. They are searched where a name is no part of this package, as that takes time. A part
of an exploration is also found by ``module:factory``, wherever that can be imported.
"""

from __future__ import annotations

from collections.abc import Mapping
import importlib
from operator import attrgetter
from types import MappingProxyType
from typing import Any, TYPE_CHECKING

from mnm_ros.core.errors import InvalidValueError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS: Mapping[str, str] = MappingProxyType({
    'base': 'mnm_ros.base_algorithms', 'planner': 'mnm_ros.planners',
    'detector': 'mnm_ros.detectors', 'checks': 'mnm_ros.checks',
    'robot_side': 'mnm_ros.robot_sides', 'format': 'mnm_ros.exports'})
"""The group of entry points of each kind of part."""

OPTIONS = ('base', 'planner', 'detector', 'checks')
"""The kinds that are options of an exploration, and may be ``module:factory``."""

_imported: set[tuple[str, str]] = set()


def installed(kind: str) -> dict[str, EntryPoint]:
    """Return the entry points of a kind that are installed, by their names in order."""
    from importlib.metadata import entry_points  # takes long to import
    found = entry_points(group=GROUPS[kind])
    return {each.name: each for each in sorted(found, key=attrgetter('name'))}


def load(kind: str, name: str, own: tuple[str, ...] = ()) -> Any:
    """
    Return a part by the name of its entry point. Loading it runs code of its distribution.

    :param name: or ``module:factory``, for one of ``OPTIONS``.
    :param own: names of parts of this package, for the error.
    :raises InvalidValueError: if there is none, or if it cannot be imported.
    """
    named = ':' in name and kind in OPTIONS
    found = {} if named else installed(kind)
    if not named and name not in found:
        raise InvalidValueError(
            f'{kind} is {name!r}, expected one of {", ".join(dict.fromkeys([*own, *found]))}, '
            + 'a module:factory, ' * (kind in OPTIONS)
            + f'or an entry point of the group {GROUPS[kind]}')
    try:
        part = imported(name) if named else found[name].load()
    # It is foreign code; it may raise anything, or end the program.
    except (Exception, SystemExit) as error:
        expected = 'a module:factory to import' if named else (
            f'an entry point that can be imported: {found[name].value}')
        raise InvalidValueError(
            f'{kind} is {name!r}, expected {expected}: {type(error).__name__}: {error}') from None
    _imported.add((kind, name))
    return part


def was_imported(kind: str, name: str) -> bool:
    """Whether a part was asked for in this process, and is there."""
    return (kind, name) in _imported


def imported(name: str) -> Any:
    """Return what a ``module:factory`` names."""
    module, _, factory = name.partition(':')
    return getattr(importlib.import_module(module), factory)
