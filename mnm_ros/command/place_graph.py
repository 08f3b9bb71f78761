# SPDX-License-Identifier: Apache-2.0

"""The output of ``mnm_ros map`` for a place graph, and for its picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
import shlex

from mnm_ros.command.map_files import (
    findings_told,
    lines_told,
    MOST,
    refuse_existing,
    specks_told,
)
from mnm_ros.command.plan_forecast import graph_forecast
from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.model.declaration import listed
from mnm_ros.files import write_whole
from mnm_ros.language import ENGLISH, Phrase, text_in
from mnm_ros.places.geojson import edited_geojson, geojson
from mnm_ros.places.graph_file import GEOJSON
from mnm_ros.places.place_graph import PlaceGraph
from mnm_ros.plan.findings import Finding
from mnm_ros.plan.nav2_map import save_mask
from mnm_ros.plan.picture import graph_svg
from mnm_ros.plan.place_findings import place_findings
from mnm_ros.plan.place_maker import MadePlaces, make, opened
from mnm_ros.plan.place_rules import PlaceRules
from mnm_ros.plan.request import Request


def write(request: Request, output: Path, mask: Path | None, overwrite: bool) -> MadePlaces:
    """
    Make a place graph, write it with its picture, and print what was decided.

    :param mask: where to write the keep-outs as a filter mask; None for nowhere.
    :param overwrite: whether files that are there may be replaced.
    :raises InvalidValueError: if it cannot be made, or a file is there.
    :raises OSError: if a file cannot be written.
    """
    check_name('--output', output)
    refuse_existing((output, output.with_suffix('.svg')), mask, overwrite)
    made = make(request, output)
    for line in _told(made):
        print(line)
    write_whole(output, geojson(made.graph).encode())
    _finish(request, made, (), mask)
    return made


def check(request: Request, path: Path, mask: Path | None,
          overwrite: bool) -> tuple[MadePlaces, bool]:
    """
    Print what is wrong with a place graph, and draw it.

    :param path: of the graph; the other arguments and errors are as above.
    :return: the graph, and whether nothing could be explored by it.
    """
    check_name('--graph', path)
    refuse_existing((), mask, overwrite)
    made = opened(request, path)
    wrong = place_findings(made.rules, made.graph)
    for line in (*_told(made), *(f'look at: {each}' for each in made.graph.warnings),
                 *findings_told(wrong)):
        print(line)
    _finish(request, made, wrong, mask)
    return made, any(finding.fatal for finding in wrong)


def check_name(option: str, path: Path) -> None:
    """Raise InvalidValueError if a file has not the name of a place graph."""
    if path.suffix not in GEOJSON:
        raise InvalidValueError(f'argument {option}: {path}, expected a name that ends with '
                                f'{" or ".join(GEOJSON)}, by which a place graph is known')


def saved(rules: PlaceRules, graph: PlaceGraph, before: PlaceGraph) -> list[Phrase]:
    """
    Write a graph after edits, with its picture; return what was written where.

    :param before: the graph that its file holds.
    :raises FileError: if another program has edited the file.
    :raises OSError: if a file cannot be written.
    """
    write_whole(graph.path, edited_geojson(graph, before).encode())
    return [Phrase.of('files.graph', file=str(graph.path)),
            _draw(rules, graph, place_findings(rules, graph))]


def _draw(rules: PlaceRules, graph: PlaceGraph, wrong: Sequence[Finding]) -> Phrase:
    picture = graph.path.with_suffix('.svg')
    write_whole(picture, graph_svg(rules.plan, graph, wrong).encode())
    return Phrase.of('files.picture', file=str(picture))


def _finish(request: Request, made: MadePlaces, wrong: Sequence[Finding],
            mask: Path | None) -> None:
    """Write the picture and the mask of a graph whose file is there, and print what to do next."""
    path = made.graph.path
    files = [Phrase.of('files.graph', file=str(path)), _draw(made.rules, made.graph, wrong)]
    if mask is not None:
        save_mask(mask, made.plan.map, made.plan.kept_out)
        files.append(Phrase.of('files.mask', file=str(mask)))
    for line in (*(text_in(ENGLISH, each) for each in files), *graph_forecast(made.graph)):
        print(line)
    explore = f'mnm_ros explore {shlex.quote(str(path))}'
    print(f'explore it in simulation: {explore}')
    size = '' if request.robot_radius == Request.robot_radius else ''.join(
        f' -p {node}:robot_radius:={request.robot_radius:g}'
        for node in ('diff_drive_sim', 'route_driver'))
    print('with a robot that drives in its flat: '
          f'{explore} --map {shlex.quote(str(request.map_file))}{size}', flush=True)


def _told(made: MadePlaces) -> Iterator[str]:
    """Yield what was decided."""
    yield from made.said
    yield from specks_told(made.specks)
    graph = made.graph
    rooms = Counter(place.room for place in graph.places.values() if place.room)
    yield (f'{len(graph.places)} places, {len(graph.joined)} ways between them; every place is at '
           f'most {graph.declaration.depth(graph.home)} ways from home ({graph.name(graph.home)})')
    if rooms:
        yield 'rooms: ' + listed([
            f'{name} ({count} place{"s" * (count > 1)})' for name, count in rooms.items()], MOST)
    yield from lines_told(made.plan)
