# SPDX-License-Identifier: Apache-2.0

"""The figure of ``benchmarks/growth states``: a panel for each kind of cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from figures import STYLE
from growth_trial import Point
from growth_worlds import TOPICS
import matplotlib
from matplotlib import pyplot
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

PANELS = {
    'steps': 'steps', 'seconds': 'seconds of computing', 'grown': 'memory grown, MB',
    'messages': 'messages, bytes', 'disk': 'on disk, bytes', 'plan': 'one plan, seconds'}
WORLDS = {
    'plane': ('plane, L grows', '#0b5fa5'), 'square': ('grid, its side grows', '#b0771e'),
    'random_graph': ('random graphs', '#8d8d8d')}
OTHERS = dict(zip((*TOPICS, 'checkpoint', 'log', 'cold', 'warm'), (
    '#3a3a3a', '#b3383c', '#2e7d4f', '#7b4fa3', '#d08bb0', '#3a3a3a', '#2e7d4f', '#3a3a3a',
    '#2e7d4f')))
LABELS = {'checkpoint': 'a resume point', 'log': 'a step in the log', 'cold': 'the first',
          'warm': 'the next ones'}
GROUPS = {'messages': TOPICS, 'disk': ('checkpoint', 'log'), 'plan': ('cold', 'warm')}
FIRST = 'plane'    # of which messages, files and plans are shown


def _lines(axis: pyplot.Axes, found: Sequence[Point], quantity: str, color: str) -> None:
    """Draw what was measured, and dashed the least for it."""
    for name, style in ((quantity, 'o-'), (f'least_{quantity}', '--')):
        pairs = sorted((point['known'], point[name]) for point in found
                       if point.get(name, 0) > 0 and point['known'])
        if not pairs:
            continue
        scattered = found[0].kind[1] == 'random_graph'
        if scattered:
            style = 'o' if name == quantity else '_'
        axis.plot(*zip(*pairs), style, color=color, markersize=3,
                  linewidth=1.5 if name == quantity else 1)


def _panel(axis: pyplot.Axes, panel: str, found: Sequence[Point]) -> None:
    if panel in GROUPS:
        own = [point for point in found if point.kind[1] == FIRST]
        for quantity in GROUPS[panel]:
            # What was built goes on from where the explorations end.
            most = max((point['known'] for point in own
                        if point.kind[0] == 'explored' and quantity in point), default=0)
            shown = [point for point in own
                     if point.kind[0] == 'explored' or point['known'] > most]
            _lines(axis, shown, quantity, OTHERS[quantity])
    else:
        for world in dict.fromkeys(point.kind[1] for point in found):
            own = [point for point in found if point.kind == ('explored', world)]
            _lines(axis, own, panel, WORLDS[world][1])


def _scale(axis: pyplot.Axes, panel: str) -> None:
    axis.set_xscale('log')
    axis.set_yscale('log')
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f'{value:,.0f}'))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.yaxis.set_minor_formatter(NullFormatter())
    low, high = axis.get_ylim()
    if panel in GROUPS:    # the names need room above
        axis.set_ylim(low, high * (high / low) ** (0.09 * len(GROUPS[panel])))
    elif high < 100 * low:    # at least two decades have a name
        axis.set_ylim(low / 2, high * 2)
    axis.xaxis.set_major_locator(LogLocator(10))
    axis.set_xlim(3, 1300)
    axis.set_xlabel('known states')
    axis.grid(True, which='major', color='#e8e8e8', linewidth=0.6)


def draw(found: Sequence[Point]) -> pyplot.Figure:
    """Return the figure."""
    figure, axes = pyplot.subplots(2, 3, figsize=(8.6, 5.4))
    for axis, (panel, title) in zip(axes.flat, PANELS.items()):
        _panel(axis, panel, found)
        _scale(axis, panel)
        axis.set_title(title)
        if panel in GROUPS:
            axis.legend(handles=[
                Line2D([], [], color=OTHERS[name], label=LABELS.get(name, name))
                for name in GROUPS[panel]], fontsize=6.5, handlelength=1, labelspacing=0.2,
                loc='upper left')
    worlds = dict.fromkeys(point.kind[1] for point in found)
    handles = [Line2D([], [], color=WORLDS[name][1], marker='o', markersize=3,
                      linestyle='' if name == 'random_graph' else '-', label=WORLDS[name][0])
               for name in worlds]
    handles.append(Line2D([], [], color='#666666', linestyle='--', label='the least'))
    figure.legend(handles=handles, loc='upper center', ncol=len(handles),
                  bbox_to_anchor=(0.5, 0))
    return figure


def write(folder: Path, found: Sequence[Point]) -> Path:
    """Draw the figure; return the file."""
    matplotlib.use('Agg')
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / 'growth_states.png'
    with pyplot.rc_context({**STYLE, 'savefig.dpi': 100}):
        figure = draw(found)
        # Without the version of matplotlib in it, the same results give the same file.
        figure.savefig(path, metadata={'Software': None})
    pyplot.close(figure)
    return path
