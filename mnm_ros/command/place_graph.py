# SPDX-License-Identifier: Apache-2.0

"""What ``mnm_ros map`` writes and prints by default: a place graph and its picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
import shlex

from mnm_ros.command.map_files import lines_told, MOST, refuse_existing, specks_told
from mnm_ros.command.plan_forecast import graph_forecast
from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.model.declaration import listed
from mnm_ros.files import write_whole
from mnm_ros.places.geojson import geojson
from mnm_ros.places.graph_file import GEOJSON
from mnm_ros.plan.nav2_map import save_mask
from mnm_ros.plan.picture import graph_svg
from mnm_ros.plan.place_maker import MadePlaces, make
from mnm_ros.plan.request import Request


def write(request: Request, output: Path, mask: Path | None, overwrite: bool) -> None:
    """
    Make a place graph, write it with its picture, and print what was decided.

    :param mask: where to write the keep-outs as a filter mask; None for nowhere.
    :param overwrite: whether files that are there may be replaced.
    :raises InvalidValueError: if it cannot be made, or a file is there.
    :raises OSError: if a file cannot be written.
    """
    if output.suffix not in GEOJSON:
        raise InvalidValueError(f'argument --output: {output}, expected a name that ends with '
                                f'{" or ".join(GEOJSON)}, by which a place graph is known')
    picture = output.with_suffix('.svg')
    refuse_existing((output, picture), mask, overwrite)
    made = make(request, output)
    for line in _told(made):
        print(line)
    write_whole(output, geojson(made.graph).encode())
    write_whole(picture, graph_svg(made.plan, made.graph).encode())
    print(f'graph: {output}\npicture: {picture}')
    if mask is not None:
        save_mask(mask, made.plan.map, made.plan.kept_out)
        print(f'mask: {mask}')
    for line in graph_forecast(made.graph):
        print(line)
    print(f'explore it in simulation: mnm_ros explore {shlex.quote(str(output))}', flush=True)


def _told(made: MadePlaces) -> Iterator[str]:
    """Yield what was decided."""
    yield from made.said
    yield from specks_told(made.specks)
    graph = made.graph
    rooms = Counter(place.room for place in graph.places.values())
    yield (f'{len(graph.places)} places, {len(graph.edges) // 2} ways between them, at most '
           f'{graph.declaration.depth(graph.home)} from home, which is {graph.name(graph.home)}')
    yield 'rooms: ' + listed([
        f'{name} ({count} place{"s" * (count > 1)})' for name, count in rooms.items()], MOST)
    yield from lines_told(made.plan)
