# SPDX-License-Identifier: Apache-2.0

"""A picture of a plan, as SVG: the map, the cells within reach, rooms, doors and keep-outs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
import math

from mnm_ros.driving.grid import centres
from mnm_ros.driving.occupancy import OCCUPIED, Point
from mnm_ros.plan.findings import Finding
from mnm_ros.plan.floor_plan import bounds, corners, Plan
import numpy as np
from numpy.typing import NDArray

_WIDE = 1000.0    # of the picture, in pixels of a screen
_COLOURS = {'#': '#3c4654', '?': '#c9ced4', 'x': '#e9a5a0'}
STYLE = """\
text { font: 0.12px sans-serif; text-anchor: middle; fill: #3c4654 }
.room { font-size: 0.3px; font-weight: bold; fill: #1f5fa8; opacity: 0.7 }
.cell { fill: #2a9d6f22; stroke: #2a9d6f; stroke-width: 0.012 }
.way { stroke: #2a9d6f; stroke-width: 0.015 }
.door { stroke: #e0a100; stroke-width: 0.06 }
.keep_out { fill: #d2453d44; stroke: #d2453d; stroke-width: 0.03 }
.home { fill: #1f5fa8 }
.wrong { fill: none; stroke: #d2453d; stroke-width: 0.05 }
"""


def svg(plan: Plan, wrong: Iterable[Finding] = ()) -> str:
    """
    Return the picture.

    :param wrong: what is circled.
    """
    left, low, width, height = box(plan)
    scale = _WIDE / max(width, height)
    return '\n'.join((
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * scale:.0f}" '
        f'height="{height * scale:.0f}" viewBox="{left:.4f} {low:.4f} {width:.4f} {height:.4f}">',
        f'<title>{escape(plan.name)}</title><style>{STYLE}</style>',
        f'<rect x="{left:.4f}" y="{low:.4f}" width="100%" height="100%" fill="#ffffff"/>',
        *layers(plan, wrong).values(), '</svg>', ''))


def box(plan: Plan) -> tuple[float, float, float, float]:
    """Return what the picture shows: the least x and -y, width and height in m."""
    (left, low), (right, high) = bounds(corners(plan.map).tolist())
    return left, -high, right - left, high - low


def layers(plan: Plan, wrong: Iterable[Finding] = ()) -> dict[str, str]:
    """Return the parts of the picture, the lowest first; ``wrong`` is circled."""
    return {name: '\n'.join(lines) for name, lines in (
        ('pixels', _pixels(plan)), ('cells', _cells(plan)), ('things', _things(plan)),
        ('wrong', _wrong(wrong)))}


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


def _pixels(plan: Plan) -> Iterator[str]:
    """Yield what is not free, in the pixels of the map."""
    map_, rows = plan.map, plan.map.pixel_rows
    yield (f'<g transform="scale(1,-1) translate({map_.origin.x:.4f},{map_.origin.y:.4f}) '
           f'rotate({math.degrees(map_.origin.yaw):.4f}) scale({map_.resolution:g})">')
    kinds = [('?', rows < 0), ('#', rows >= OCCUPIED)]
    if plan.masked is not None:
        kinds.append(('x', plan.masked))
    for kind, of in kinds:
        path = ''.join(f'M{column},{row}h{width}v{height}h-{width}z'
                       for column, row, width, height in rectangles(of))
        yield f'<path fill="{_COLOURS[kind]}" d="{path}"/>'
    yield '</g>'


def _cells(plan: Plan) -> Iterator[str]:
    grid, ways = plan.grid, plan.ways
    size = grid.cell_size
    turn = -math.degrees(grid.yaw)
    for cell in sorted(plan.reached):
        x, y = grid.centre(cell)
        yield (f'<rect class="cell" x="{-size / 2:g}" y="{-size / 2:g}" width="{size:g}" '
               f'height="{size:g}" transform="translate({x:.3f},{-y:.3f}) rotate({turn:.3f})">'
               f'<title>{escape(plan.cell_names[cell])}</title></rect>')
        for heading in (0, 1):
            there = ways.neighbour(cell, heading)
            if there is not None:
                (from_, to) = centres(grid, np.array([cell, there])).tolist()
                yield _line('way', from_, to)
    for cell in sorted(plan.reached):
        x, y = grid.centre(cell)
        yield (f'<text x="{x:.3f}" y="{-y:.3f}" style="font-size: {size / 6:.3f}px">'
               f'{escape(plan.cell_names[cell])}</text>')


def _things(plan: Plan) -> Iterator[str]:
    for name, polygon in plan.keep_outs.items():
        points = ' '.join(f'{x:g},{-y:g}' for x, y in polygon)
        yield (f'<polygon class="keep_out" points="{points}"><title>{escape(name)}</title>'
               '</polygon>')
    for name, (start, end) in plan.doors.items():
        yield _line('door', start, end)
        x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        yield f'<text x="{x:g}" y="{-y:g}">{escape(name)}</text>'
    for name, (x, y) in plan.rooms.items():
        yield f'<text class="room" x="{x:g}" y="{-y:g}">{escape(name)}</text>'
    x, y, yaw = plan.home
    size = max(plan.robot_radius, 0.1)
    points = ' '.join(
        f'{x + far * size * math.cos(yaw + at):.3f},{-y - far * size * math.sin(yaw + at):.3f}'
        for at, far in ((0.0, 1.0), (2.5, 1.0), (math.pi, 0.4), (-2.5, 1.0)))
    yield f'<polygon class="home" points="{points}"><title>home</title></polygon>'


def _wrong(wrong: Iterable[Finding]) -> Iterator[str]:
    for finding in wrong:
        x, y = finding.place
        yield (f'<circle class="wrong" cx="{x:g}" cy="{-y:g}" r="0.25"><title>'
               f'{escape(finding.text)}</title></circle>')


def _line(name: str, start: Point, end: Point) -> str:
    return (f'<line class="{name}" x1="{start[0]:.3f}" y1="{-start[1]:.3f}" x2="{end[0]:.3f}" '
            f'y2="{-end[1]:.3f}"/>')
