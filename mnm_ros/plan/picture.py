# SPDX-License-Identifier: Apache-2.0

"""
Pictures of a plan, as SVG: the map, cells or a place graph, rooms, doors, openings and keep-outs.

Lengths are in m, y pointing down; what is to be read has a size in pixels of a screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
import math

from mnm_ros.driving.grid import centres
from mnm_ros.driving.occupancy import OCCUPIED, Point
from mnm_ros.driving.pose import Pose
from mnm_ros.language import ENGLISH, phrase, text_in
from mnm_ros.places.place_graph import PlaceGraph
from mnm_ros.plan.findings import Finding
from mnm_ros.plan.floor_plan import bounds, corners, Plan
from mnm_ros.plan.labels import around, Labels, near
from mnm_ros.plan.rooms import label_at
import numpy as np
from numpy.typing import NDArray

_WIDE = (1000.0, 4000.0)    # of a picture, in pixels of a screen: no less, and no more
_PER_M = 45.0               # pixels, if that is between both
_ON_PAGE = 30.0, (650.0, 1500.0)    # the same two of a page, which is smaller than a file
_SMALL, _ROOM = 11.0, 22.0  # of fonts, in pixels
_COLOURS = {'#': '#3c4654', '?': '#d5d9de', 'x': '#e9a5a0'}
_TINTS = ('#e3edf9', '#e6f4e8', '#fbeee0', '#f2e6f5', '#fdf6d8', '#dff3f3', '#f9e4e6', '#ececec')
STYLE = """\
text { font-family: sans-serif; text-anchor: middle; dominant-baseline: central; fill: #3c4654;
  paint-order: stroke; stroke: #ffffffcc; stroke-linejoin: round; pointer-events: none }
.room { font-weight: bold; fill: #1f5fa8 }
.cell { fill: #2a9d6f1c; stroke: #2a9d6f; stroke-width: 0.012 }
.blocked { stroke: #3c4654; stroke-width: 0.05 }
.way { stroke: #2a9d6f }
.way.through { stroke: #b8860b }
.arrow { fill: #2a9d6f }
.place { fill: #2a9d6f; stroke: #ffffff }
.door { stroke: #e0a100; stroke-width: 0.08; stroke-linecap: round }
.opening { stroke: #9a7cc0; stroke-width: 0.05; stroke-dasharray: 0.12 0.1 }
.keep_out { fill: #d2453d44; stroke: #d2453d; stroke-width: 0.03 }
.home { fill: #1f5fa8; stroke: #ffffff }
.chosen { fill: none; stroke: #1f5fa8 }
.wrong { fill: none; stroke: #d2453d; stroke-width: 0.05 }
.legend { text-anchor: start }
"""


_LOOK = '<circle class="wrong" r="7" style="stroke-width: 2"/>', 'look at this'


def svg(plan: Plan, wrong: Sequence[Finding] = ()) -> str:
    """
    Return the picture of a plan with cells.

    :param wrong: what is circled.
    """
    unit = _unit(plan)
    entries = [('<rect class="cell" x="-7" y="-7" width="14" height="14"/>',
                'a cell: number 3 of room A is "A 3"'),
               ('<line class="blocked" x1="0" y1="-7" x2="0" y2="7" style="stroke-width: 3"/>',
                'no way between two cells'), *_entries(plan)]
    if wrong:
        entries.append(_LOOK)
    return _document(plan, unit, layers(plan, wrong).values(), entries)


def graph_svg(plan: Plan, graph: PlaceGraph, wrong: Sequence[Finding] = ()) -> str:
    """Return the picture of a place graph on the map of a plan; ``wrong`` is circled."""
    unit = _unit(plan)
    entries = [('<circle class="place" r="5"/>', 'a place: number 3 of room A is "A 3"'),
               ('<line class="way" x1="-9" x2="9" style="stroke-width: 2"/>', 'a way')]
    if any(edge.door for edge in graph.edges):
        entries.append(('<line class="way through" x1="-9" x2="9" style="stroke-width: 2"/>',
                        'a way through a door'))
    if {(edge.end, edge.start) for edge in graph.edges} != {
            (edge.start, edge.end) for edge in graph.edges}:
        entries.append(('<line class="way" x1="-9" x2="9" style="stroke-width: 2"/><path '
                        'class="arrow" d="M5,0L-4,4L-4,-4z"/>', 'a way in one direction'))
    if wrong:
        entries.append(_LOOK)
    return _document(plan, unit, graph_layers(plan, graph, wrong).values(), [
        *entries, *_entries(plan)])


def box(plan: Plan) -> tuple[float, float, float, float]:
    """Return what the picture shows: the least x and -y, width and height in m."""
    (left, low), (right, high) = bounds(corners(plan.map).tolist())
    return left, -high, right - left, high - low


def layers(plan: Plan, wrong: Iterable[Finding] = (),
           language: str = ENGLISH) -> dict[str, str]:
    """Return the parts of the picture with cells, the lowest first; ``wrong`` is circled."""
    unit = _unit(plan)
    labels = _labels(plan, unit)
    for start, end in _sides(plan):
        labels.line(start, end, plan.grid.cell_size / 8)
    # Their labels come before those of cells.
    things = [*_things(plan, labels, unit, _home(
        plan.home, labels, plan.robot_radius, unit, language))]
    return {name: '\n'.join(lines) for name, lines in (
        ('pixels', (*_tints(plan), *_pixels(plan))), ('cells', _cells(plan, labels)),
        ('things', things), ('wrong', _wrong(wrong, language)))}


def graph_layers(plan: Plan, graph: PlaceGraph, wrong: Iterable[Finding] = (),
                 on_page: bool = False, language: str = ENGLISH) -> dict[str, str]:
    """Return the parts of the picture of a place graph, the lowest first; ``wrong`` is circled."""
    unit = _unit(plan, on_page)
    labels = _labels(plan, unit)
    drawn = [*_graph(graph, labels, unit)]    # before labels, which avoid it
    place = graph.places[graph.home]
    at_home = place.x, place.y
    home = Pose(*at_home, plan.home.yaw if at_home == plan.home[:2] else 0.0)
    return {name: '\n'.join(lines) for name, lines in (
        ('pixels', (*_tints(plan), *_pixels(plan))), ('places', drawn),
        ('things', (*_things(plan, labels, unit, _home(
            home, labels, plan.robot_radius, unit, language, f' data-place="{graph.home}"')),
            *_numbers(graph, labels, unit))), ('wrong', _wrong(wrong, language)))}


def ring(plan: Plan, graph: PlaceGraph, number: int | None) -> str:
    """Return a ring around a place, for a page; nothing for None."""
    if number is None:
        return ''
    place, unit = graph.places[number], _unit(plan, True)
    return (f'<circle class="chosen" cx="{place.x:.3f}" cy="{-place.y:.3f}" r="{11 * unit:.4f}" '
            f'style="stroke-width: {2.5 * unit:.4f}"/>')


def _labels(plan: Plan, unit: float) -> Labels:
    left, low, width, height = box(plan)
    return Labels(4 * unit, (left, low, left + width, low + height))


def _unit(plan: Plan, on_page: bool = False) -> float:
    """Return how many m a pixel of the screen is."""
    *_, width, height = box(plan)
    size = max(width, height)
    per_m, (least, most) = _ON_PAGE if on_page else (_PER_M, _WIDE)
    return size / min(max(per_m * size, least), most)


def _document(plan: Plan, unit: float, parts: Iterable[str],
              entries: Sequence[tuple[str, str]]) -> str:
    left, low, width, height = box(plan)
    wide = max(len(text) for _, text in entries) * 0.6 * _SMALL + 40
    columns = max(1, int(width / unit / wide))
    high = 24.0 * math.ceil(len(entries) / columns) + 16
    legend = '\n'.join(
        f'<g transform="translate({20 + wide * (number % columns):.1f},'
        f'{20 + 24 * (number // columns)})">{mark}<text class="legend" x="16" '
        f'style="font-size: {_SMALL:g}px; stroke: none">{escape(text)}</text></g>'
        for number, (mark, text) in enumerate(entries))
    return '\n'.join((
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width / unit:.0f}" '
        f'height="{height / unit + high:.0f}" viewBox="{left:.4f} {low:.4f} {width:.4f} '
        f'{height + high * unit:.4f}">',
        f'<title>{escape(plan.name)}</title><style>{STYLE}</style>',
        f'<rect x="{left:.4f}" y="{low:.4f}" width="100%" height="100%" fill="#ffffff"/>',
        *parts,
        f'<g transform="translate({left:.4f},{low + height:.4f}) scale({unit:.6f})">', legend,
        '</g>', '</svg>', ''))


def _entries(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the marks and words of the legend that all pictures have."""
    yield '<path class="home" d="M8,0L-6,6L-3,0L-6,-6z"/>', 'home'
    if plan.doors:
        yield '<line class="door" x1="-8" x2="8" style="stroke-width: 4"/>', 'a door'
    if plan.openings:
        yield ('<line class="opening" x1="-8" x2="8" style="stroke-width: 2; stroke-dasharray: '
               '5 4"/>', 'an opening between rooms')
    if plan.keep_outs:
        yield ('<rect class="keep_out" x="-7" y="-7" width="14" height="14" '
               'style="stroke-width: 1"/>', 'a keep-out')
    rows = plan.map.pixel_rows
    for kind, text, there in (('#', 'occupied', (rows >= OCCUPIED).any()),
                              ('?', 'unknown', (rows < 0).any()),
                              ('x', 'kept out by the mask', plan.masked is not None)):
        if there:
            yield (f'<rect x="-7" y="-7" width="14" height="14" fill="{_COLOURS[kind]}"/>', text)


def rectangles(of: NDArray[np.bool_]) -> Iterator[tuple[int, int, int, int]]:
    """Yield rectangles that cover what is true: first column, first row, width, height."""
    open_: dict[tuple[int, int], int] = {}    # columns of runs, and the row where they began
    for row in range(len(of) + 1):
        runs = set()
        if row < len(of):
            edges = np.flatnonzero(np.diff(np.pad(of[row].astype(np.int8), 1)))
            runs = {*zip(edges[::2].tolist(), edges[1::2].tolist())}
        for run in [run for run in open_ if run not in runs]:
            first = open_.pop(run)
            yield run[0], first, run[1] - run[0], row - first
        for run in runs:
            open_.setdefault(run, row)


def _tints(plan: Plan) -> Iterator[str]:
    """Yield the areas of rooms that have a name, in the pixels of the map."""
    from scipy import ndimage
    labels, names = plan.room_labels, [*plan.rooms]
    areas = ndimage.find_objects(labels)
    yield _group(plan)
    for label, name in plan.room_names.items():
        rows, columns = areas[label - 1]
        yield _path(labels[rows, columns] == label, _TINTS[names.index(name) % len(_TINTS)],
                    (columns.start, rows.start))
    yield '</g>'


def _pixels(plan: Plan) -> Iterator[str]:
    """Yield what is not free, in the pixels of the map."""
    rows = plan.map.pixel_rows
    yield _group(plan)
    kinds = [('?', rows < 0), ('#', rows >= OCCUPIED)]
    if plan.masked is not None:
        kinds.append(('x', plan.masked))
    for kind, of in kinds:
        yield _path(of, _COLOURS[kind])
    yield '</g>'


def _group(plan: Plan) -> str:
    """Return the beginning of what is drawn in the pixels of the map."""
    map_ = plan.map
    return (f'<g transform="scale(1,-1) translate({map_.origin.x:.4f},{map_.origin.y:.4f}) '
            f'rotate({math.degrees(map_.origin.yaw):.4f}) scale({map_.resolution:g})">')


def _path(of: NDArray[np.bool_], colour: str, first: tuple[int, int] = (0, 0)) -> str:
    path = ''.join(f'M{column + first[0]},{row + first[1]}h{width}v{height}h-{width}z'
                   for column, row, width, height in rectangles(of))
    return f'<path fill="{colour}" d="{path}"/>'


def _cells(plan: Plan, labels: Labels) -> Iterator[str]:
    grid, ways = plan.grid, plan.ways
    size = grid.cell_size
    turn = -math.degrees(grid.yaw)
    half = np.array([math.cos(grid.yaw), math.sin(grid.yaw)]) * size / 2
    for cell in sorted(plan.reached):
        x, y = grid.centre(cell)
        yield (f'<rect class="cell" x="{-size / 2:g}" y="{-size / 2:g}" width="{size:g}" '
               f'height="{size:g}" transform="translate({x:.3f},{-y:.3f}) rotate({turn:.3f})">'
               f'<title>{escape(plan.cell_names[cell])}</title></rect>')
    for cell in sorted(plan.reached):
        row, column = divmod(cell, grid.columns)
        for heading, there in ((0, cell + 1 if column + 1 < grid.columns else None),
                               (1, cell + grid.columns)):
            if there in plan.reached and ways.neighbour(cell, heading) != there:
                (from_, to) = centres(grid, np.array([cell, there]))
                middle = (from_ + to) / 2
                along = half if heading else np.array([-half[1], half[0]])
                yield _line('blocked', (middle - along).tolist(), (middle + along).tolist())
    for cell in sorted(plan.reached):
        x, y = grid.centre(cell)
        text = plan.cell_names[cell].rpartition(' ')[2]
        if labels.place(text, size / 3, [(x, -y)]) is not None:
            yield _text('', text, (x, -y), size / 3)


def _sides(plan: Plan) -> Iterator[tuple[Point, Point]]:
    """Yield each side of the cells that are drawn, once, as the picture has it."""
    grid = plan.grid
    cos, sin = math.cos(grid.yaw) * grid.cell_size / 2, math.sin(grid.yaw) * grid.cell_size / 2
    for cell in plan.reached:
        x, y = grid.centre(cell)
        square = [(x + right * cos - up * sin, -(y + right * sin + up * cos))
                  for right, up in ((-1, 1), (-1, -1), (1, -1), (1, 1))]
        last = cell % grid.columns == grid.columns - 1 or cell + 1 not in plan.reached
        yield from zip(square[:2 + last], square[1:3 + last])
        if cell + grid.columns not in plan.reached:
            yield square[3], square[0]


def _graph(graph: PlaceGraph, labels: Labels, unit: float) -> Iterator[str]:
    """Yield edges, then places; both say in ``data`` which ones they are, for pages."""
    places = {number: (place.x, place.y) for number, place in graph.places.items()}
    ways = {(edge.start, edge.end) for edge in graph.edges}
    drawn: set[tuple[int, int]] = set()
    for edge in graph.edges:
        first, last = edge.start, edge.end
        if {(first, last), (last, first)} & drawn:
            continue
        drawn.add((first, last))
        start, end = places[first], places[last]
        labels.line((start[0], -start[1]), (end[0], -end[1]), 6 * unit)
        yield _line('way through' if edge.door else 'way', start, end,
                    f' data-start="{first}" data-end="{last}" '
                    f'style="stroke-width: {2 * unit:.4f}"')
        if (last, first) not in ways:
            yield _arrow(start, end, unit)
    for number, (x, y) in places.items():
        labels.mark((x, -y), 6 * unit)
        if number != graph.home:
            yield (f'<circle class="place" data-place="{number}" cx="{x:.3f}" cy="{-y:.3f}" '
                   f'r="{5 * unit:.4f}" style="stroke-width: {unit:.4f}"><title>'
                   f'{escape(graph.name(number))}</title></circle>')


def _arrow(start: Point, end: Point, unit: float) -> str:
    """Return the arrowhead of an edge in one direction, in its middle."""
    turned = math.degrees(math.atan2(start[1] - end[1], end[0] - start[0]))
    return (f'<path class="arrow" d="M6,0L-5,5L-5,-5z" transform="translate('
            f'{(start[0] + end[0]) / 2:.3f},{-(start[1] + end[1]) / 2:.3f}) rotate({turned:.2f}) '
            f'scale({unit:.5f})"/>')


def _numbers(graph: PlaceGraph, labels: Labels, unit: float) -> Iterator[str]:
    for number, place in graph.places.items():
        text = graph.name(number).removeprefix(f'{place.room} ')
        found = labels.place(text, _SMALL * unit, around(
            (place.x, -place.y), text, _SMALL * unit,
            (10 if number == graph.home else 7) * unit))
        if found is not None:
            yield _text('', text, found, _SMALL * unit)


def _things(plan: Plan, labels: Labels, unit: float, home: str) -> Iterator[str]:
    """Yield keep-outs, openings, doors, home as it is drawn, and names."""
    for name, polygon in plan.keep_outs.items():
        points = ' '.join(f'{x:g},{-y:g}' for x, y in polygon)
        yield (f'<polygon class="keep_out" points="{points}"><title>{escape(name)}</title>'
               '</polygon>')
    for kind, lines in (('opening', plan.openings), ('door', plan.doors)):
        for name, (start, end) in lines.items():
            labels.line((start[0], -start[1]), (end[0], -end[1]), 3 * unit)
            yield _line(kind, start, end, '', name)
    yield home
    for name, (x, y) in plan.rooms.items():
        own = label_at(plan.map, plan.room_labels, (x, y))
        found = labels.place(name, _ROOM * unit, (
            (to_x, to_y) for to_x, to_y in near((x, -y), _ROOM * unit)
            if label_at(plan.map, plan.room_labels, (to_x, -to_y)) == own))
        if found is not None:
            yield _text('room', name, found, _ROOM * unit)
    for name, corners_ in (*plan.doors.items(), *plan.keep_outs.items()):
        x, y = np.array(corners_, np.float64).mean(axis=0).tolist()
        found = labels.place(name, _SMALL * unit, near((x, -y), 1.5 * _SMALL * unit, 3))
        if found is not None:
            yield _text('', name, found, _SMALL * unit)


def _home(home: Pose, labels: Labels, radius: float, unit: float, language: str,
          data: str = '') -> str:
    """Return the mark of home, which labels avoid."""
    size = max(radius, 9 * unit)
    x, y, yaw = home
    labels.mark((x, -y), size)
    points = ' '.join(
        f'{x + far * size * math.cos(yaw + at):.3f},{-y - far * size * math.sin(yaw + at):.3f}'
        for at, far in ((0.0, 1.0), (2.5, 1.0), (math.pi, 0.4), (-2.5, 1.0)))
    return (f'<polygon class="home"{data} points="{points}" style="stroke-width: {size / 9:.4f}">'
            f'<title>{escape(phrase("kinds.home", language))}</title></polygon>')


def _wrong(wrong: Iterable[Finding], language: str) -> Iterator[str]:
    for finding in wrong:
        x, y = finding.place
        yield (f'<circle class="wrong" cx="{x:g}" cy="{-y:g}" r="0.25"><title>'
               f'{escape(text_in(language, finding.said))}</title></circle>')


def _text(name: str, text: str, at: Point, size: float) -> str:
    return (f'<text{f" class={chr(34)}{name}{chr(34)}" if name else ""} x="{at[0]:.3f}" '
            f'y="{at[1]:.3f}" style="font-size: {size:.4f}px; stroke-width: {size / 5:.4f}">'
            f'{escape(text)}</text>')


def _line(name: str, start: Point, end: Point, style: str = '', title: str = '') -> str:
    said = f'><title>{escape(title)}</title></line>' if title else '/>'
    return (f'<line class="{name}" x1="{start[0]:.3f}" y1="{-start[1]:.3f}" x2="{end[0]:.3f}" '
            f'y2="{-end[1]:.3f}"{style}{said}')
