# SPDX-License-Identifier: Apache-2.0

"""
Draws the state machines for Sphinx, as a code host does: no browser has to fetch a script.

It knows what ``mnm_ros.core.task.step_task.diagram`` prints: states and labelled arrows.
"""

from __future__ import annotations

from html import escape
from io import StringIO
import math
import re
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

INK, PAPER = '#010203', '#fdfcfb'    # become the colours around the picture, be they dark or light
BEND = 0.2     # of an arrow, so that those of both directions lie beside each other
ALONG = (0.4, 0.5, 0.3, 0.6, 0.7, 0.2)    # where on an arrow its label may stand, best first
WIDE = 2.9     # inches, half of the ellipse on which the states are
CLEAR = 6      # dots between two labels, so that nobody takes one for the other

Arrows = dict[tuple[str, str], list[str]]
"""The labels of all arrows between two states."""
Place = tuple[float, float]


def parse(text: str) -> tuple[str, Arrows]:
    """
    Return the first state and the arrows of a diagram.

    :raises ValueError: if a line is none that ``diagram`` prints.
    """
    first, arrows = '', Arrows()
    kind, *lines = text.strip().splitlines()
    if kind != 'stateDiagram-v2':
        raise ValueError(f'{kind!r} is not drawn, expected stateDiagram-v2')
    for line in lines:
        found = re.fullmatch(r'\s*(\[\*\]|\w+) --> (\w+)(?:: (\w+))?', line)
        if found is None:
            raise ValueError(f'{line!r} is not drawn, expected STATE --> STATE: trigger')
        source, target, label = found.groups()
        if source == '[*]':
            first = target
        else:
            arrows.setdefault((source, target), []).append(label or '')
    return first, arrows


def draw(text: str) -> str:
    """Return a diagram as SVG that takes the colour of the text around it."""
    first, arrows = parse(text)
    states = list(dict.fromkeys([first, *(state for pair in arrows for state in pair)]))
    high = 0.5 + 0.35 * len(states)
    figure = Figure(figsize=(2 * WIDE + 2.4, 2 * high + 0.7))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(-WIDE - 1.2, WIDE + 1.2)    # an inch is an inch, or arrows bend differently
    axes.set_ylim(-high - 0.35, high + 0.35)
    places = {state: (-WIDE * math.cos(turn), high * math.sin(turn)) for state, turn in zip(
        states, (2 * math.pi * i / len(states) for i in range(len(states))))}
    boxes = {state: _box(axes, places[state], state) for state in states}
    figure.draw_without_rendering()    # or the arrows do not know how large the boxes are
    taken = [box.get_window_extent() for box in boxes.values()]
    x, y = places[first]
    _arrow(axes, (x - 1.1, y), (x, y), None, boxes[first], 0.0)
    axes.plot(x - 1.1, y, 'o', color=INK)
    for (source, target), labels in arrows.items():
        _arrow(axes, places[source], places[target], boxes[source], boxes[target], BEND)
        taken.append(_label(axes, places[source], places[target], labels, taken))
    return _svg(figure, text)


def _box(axes: Axes, place: Place, state: str) -> Text:
    return axes.text(
        *place, state, ha='center', va='center', fontsize=10, weight='bold', color=INK,
        bbox={'boxstyle': 'round,pad=0.5', 'facecolor': PAPER, 'edgecolor': INK})


def _arrow(axes: Axes, start: Place, end: Place, source: Text | None, target: Text,
           bend: float) -> None:
    axes.annotate('', end, start, arrowprops={
        'arrowstyle': '-|>', 'color': INK, 'shrinkA': 2, 'shrinkB': 3,
        'connectionstyle': f'arc3,rad={bend}', 'patchB': target.get_bbox_patch(),
        'patchA': source.get_bbox_patch() if source else None})


def _label(axes: Axes, start: Place, end: Place, labels: list[str], taken: list[Bbox]) -> Bbox:
    """Write the labels of an arrow where they cover no other ones, and return where that is."""
    text = axes.text(
        0, 0, '\n'.join(labels), ha='center', va='center', fontsize=9, color=INK, zorder=4,
        bbox={'boxstyle': 'square,pad=0.1', 'facecolor': PAPER, 'edgecolor': 'none'})
    for along in (*ALONG, ALONG[0]):
        text.set_position(_on(start, end, along))
        extent = text.get_window_extent().padded(CLEAR)
        if not extent.count_overlaps(taken):
            break
    return extent


def _on(start: Place, end: Place, along: float) -> Place:
    """Return a place on a bent arrow, which is a curve of Bezier."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    control = (start[0] + end[0]) / 2 + BEND * dy, (start[1] + end[1]) / 2 - BEND * dx
    weights = (1 - along) ** 2, 2 * along * (1 - along), along ** 2
    x, y = (sum(weight * point[axis] for weight, point in zip(weights, (start, control, end)))
            for axis in (0, 1))
    return x, y


def _svg(figure: Figure, text: str) -> str:
    file = StringIO()
    with rc_context({'svg.fonttype': 'none', 'svg.hashsalt': text}):
        figure.savefig(file, format='svg', transparent=True, metadata={'Date': None})
    svg = file.getvalue()
    svg = svg[svg.index('<svg'):].replace(INK, 'currentColor').replace(
        PAPER, 'var(--color-background-primary, white)')
    svg = re.sub(r'<metadata>.*?</metadata>', '', svg, flags=re.DOTALL)
    words = '; '.join(line.strip() for line in text.strip().splitlines()[1:])
    return svg.replace('<svg ', f'<svg role="img" aria-label="{escape(words)}" '
                                'style="max-width: 100%; height: auto" ', 1)


class Mermaid(Directive):
    """A block of code in the language ``mermaid``."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        try:
            return [nodes.raw('', draw('\n'.join(self.content)), format='html')]
        except ValueError as wrong:
            raise self.error(str(wrong)) from wrong


def setup(app: Any) -> dict[str, bool]:
    app.add_directive('mermaid', Mermaid)
    return {'parallel_read_safe': True}
