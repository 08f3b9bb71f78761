# SPDX-License-Identifier: Apache-2.0

"""The figures of benchmarks/growth: one for each study, with a panel for each kind of cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from figures import STYLE
from growth_trial import Point
from growth_worlds import TOPICS
import matplotlib
from matplotlib import pyplot
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

ACROSS = {'states': 'known states', 'actions': 'actions', 'radius': 'L', 'robots': 'robots'}
PANELS = {
    'steps': 'steps', 'seconds': 'seconds of computing', 'grown': 'memory grown, MB',
    'messages': 'messages, bytes', 'disk': 'on disk, bytes', 'plan': 'one plan, seconds'}
ROBOTS = {'rounds': 'rounds of parallel steps', 'speed-up': 'times as fast as one',
          'seconds': 'seconds of computing'}
WORLDS = {
    'plane': ('plane, L grows', '#0b5fa5'), 'square': ('grid, its side grows', '#b0771e'),
    'random_graph': ('random graphs', '#8d8d8d'), 'actions': ('4 x 4 grid', '#0b5fa5'),
    'corridor': ('corridor', '#0b5fa5'), 'room': ('5 x 5 grid', '#b0771e'),
    'two_rooms': ('two_rooms', '#0b5fa5'), 'grid_5x5': ('5 x 5 grid', '#b0771e')}
OTHERS = dict(zip((*TOPICS, 'checkpoint', 'log', 'cold', 'warm'), (
    '#3a3a3a', '#b3383c', '#2e7d4f', '#7b4fa3', '#d08bb0', '#3a3a3a', '#2e7d4f', '#3a3a3a',
    '#2e7d4f')))
LABELS = {'checkpoint': 'a resume point', 'log': 'a step in the log', 'cold': 'the first',
          'warm': 'the next ones'}
GROUPS = {'messages': TOPICS, 'disk': ('checkpoint', 'log'), 'plan': ('cold', 'warm')}
FIRST = {'states': 'plane', 'actions': 'actions', 'radius': 'corridor'}
"""The world of which messages and files are shown."""


def _lines(axis: pyplot.Axes, found: Sequence[Point], against: str, quantity: str,
           color: str) -> None:
    """Draw what was measured, and dashed the least for it."""
    for name, style in ((quantity, 'o-'), (f'least_{quantity}', '--')):
        pairs = sorted((point[against], point[name]) for point in found
                       if point.get(name, 0) > 0 and point['known'])
        if not pairs:
            continue
        scattered = found[0].kind[1] == 'random_graph'
        if scattered:
            style = 'o' if name == quantity else '_'
        axis.plot(*zip(*pairs), style, color=color, markersize=3,
                  linewidth=1.5 if name == quantity else 1)


def _panel(axis: pyplot.Axes, study: str, panel: str, against: str,
           found: Sequence[Point]) -> None:
    if panel in GROUPS:
        own = [point for point in found if point.kind[1] == FIRST[study]]
        for quantity in GROUPS[panel]:
            # What was built goes on from where the explorations end.
            most = max((point[against] for point in own
                        if point.kind[0] == 'explored' and quantity in point), default=0)
            shown = [point for point in own
                     if point.kind[0] == 'explored' or point[against] > most]
            _lines(axis, shown, against, quantity, OTHERS[quantity])
    else:
        for world in dict.fromkeys(point.kind[1] for point in found):
            own = [point for point in found if point.kind[1] == world and point.kind[0] != (
                'explored' if study == 'robots' else 'built')]
            _lines(axis, own, against, panel, WORLDS[world][1])
    if panel == 'speed-up':
        numbers = sorted({point['number'] for point in found})
        axis.plot(numbers, numbers, '--', color='#666666', linewidth=1)


def _scale(axis: pyplot.Axes, study: str, panel: str, against: str,
           found: Sequence[Point]) -> None:
    axis.set_xscale('log')
    axis.set_yscale('log')
    plain = FuncFormatter(lambda value, _: f'{value:,.0f}' if value >= 1 else f'{value:g}')
    axis.xaxis.set_major_formatter(plain)
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.yaxis.set_minor_formatter(NullFormatter())
    low, high = axis.get_ylim()
    if panel in GROUPS:    # the names need room above
        axis.set_ylim(low, high * (high / low) ** (0.09 * len(GROUPS[panel])))
    elif high < 100 * low:    # at least two decades have a name
        axis.set_ylim(low / 2, high * 2)
    if study == 'states':
        axis.xaxis.set_major_locator(LogLocator(10))
        axis.set_xlim(3, 1300)
    else:
        axis.set_xticks(sorted({point[against] for point in found}))
        axis.minorticks_off()
    axis.set_xlabel(ACROSS[study])
    axis.grid(True, which='major', color='#e8e8e8', linewidth=0.6)


def draw(study: str, against: str, found: Sequence[Point]) -> pyplot.Figure:
    """Return the figure of a study."""
    panels: Mapping[str, str] = ROBOTS if study == 'robots' else {
        name: title for name, title in PANELS.items() if name != 'plan' or study == 'states'}
    figure, axes = pyplot.subplots(
        -(-len(panels) // 3), 3, figsize=(8.6, 2.7 * -(-len(panels) // 3)), squeeze=False)
    for unused in axes.flat[len(panels):]:
        unused.set_visible(False)
    for axis, (panel, title) in zip(axes.flat, panels.items()):
        _panel(axis, study, panel, against, found)
        _scale(axis, study, panel, against, found)
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
    least = 'the least' if study != 'robots' else 'the best there can be'
    handles.append(Line2D([], [], color='#666666', linestyle='--', label=least))
    figure.legend(handles=handles, loc='upper center', ncol=len(handles),
                  bbox_to_anchor=(0.5, 0))
    return figure


def write(folder: Path, study: str, against: str, found: Sequence[Point]) -> Path:
    """Draw the figure of a study; return the file."""
    matplotlib.use('Agg')
    pyplot.rcParams.update({**STYLE, 'savefig.dpi': 100})
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f'growth_{study}.png'
    figure = draw(study, against, found)
    # Without the version of matplotlib in it, the same results give the same file.
    figure.savefig(path, metadata={'Software': None})
    pyplot.close(figure)
    return path
