# SPDX-License-Identifier: Apache-2.0

"""
Turn the CSV files of the other benchmarks into figures.

    benchmarks/exploration_steps --output exploration.csv
    benchmarks/promise --output promise.csv
    benchmarks/figures --exploration exploration.csv --promise promise.csv

Several files of one kind are shown side by side, for instance of two presets or bases. What no
file is given for is left as it is.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
import csv
from pathlib import Path
from statistics import mean
import sys

from arguments import Arguments
import matplotlib

matplotlib.use('Agg')
from matplotlib import pyplot  # noqa: E402
from promise import interval  # noqa: E402

Row = dict[str, str]
NAMES = {'mnm': 'MNM', 'oracle': 'restart oracle', 'scaled': 'MNM as printed, scaled constants',
         'once': 'no change detection'}
COLORS = {'mnm': '#0b5fa5', 'oracle': '#3a3a3a', 'scaled': '#b0771e', 'once': '#b3383c'}
LIGHTER = {'mnm': '#6da9d8', 'oracle': '#8d8d8d', 'scaled': '#e0b878', 'once': '#e29a9c'}
METHODS = ('oracle', 'mnm', 'scaled', 'once')
STYLE = {
    'font.size': 9, 'axes.spines.top': False, 'axes.spines.right': False, 'axes.titlesize': 10,
    'axes.titleweight': 'bold', 'axes.titlelocation': 'left', 'legend.frameon': False,
    'figure.constrained_layout.use': True, 'savefig.dpi': 130,
    'savefig.bbox': 'tight'}


def read(paths: Iterable[Path]) -> list[Row]:
    """Return all lines of some CSV files."""
    rows: list[Row] = []
    for path in paths:
        with path.open(newline='', encoding='utf-8') as file:
            rows += csv.DictReader(file)
    return rows


def distinct(values: Iterable[str]) -> list[str]:
    """Return the values in the order in which they come, each once."""
    return list(dict.fromkeys(values))


def _legend(figure: pyplot.Figure, axis: pyplot.Axes, columns: int) -> None:
    """Explain the colours below everything else."""
    figure.legend(*axis.get_legend_handles_labels(), loc='upper center', ncol=columns,
                  bbox_to_anchor=(0.5, 0))


Bar = tuple[str, str, str]
"""Method, preset, base."""


def _bars(axis: pyplot.Axes, scenarios: Sequence[str], bars: Sequence[Bar],
          heights: dict[tuple[str, Bar], float], open_ended: set[tuple[str, Bar]]) -> None:
    """Draw horizontal bars on a logarithmic axis, grouped by scenario, the number at each."""
    used: set[str] = set()
    for i, bar in enumerate(bars):
        color = (LIGHTER if bar[0] in used else COLORS)[bar[0]]
        used.add(bar[0])
        for row, scenario in enumerate(scenarios):
            height = heights.get((scenario, bar))
            if height is None:
                continue
            at = row + 0.8 * ((i + 0.5) / len(bars) - 0.5)
            more = (scenario, bar) in open_ended
            axis.barh(at, height, 0.74 / len(bars), color=color, hatch='///' if more else None,
                      edgecolor='white', linewidth=0)
            axis.annotate(f' > {height:,.0f} and rising' if more else f' {height:,.0f}',
                          (height, at), va='center', fontsize=7.5, color='#333333')
        axis.barh(0, 0, color=color, label=_label(bar, bars))
    axis.set_xscale('log')
    axis.set_xlim(min(heights.values()) / 2, max(heights.values()) * (6 if open_ended else 2))
    axis.set_ylim(len(scenarios) - 0.5, -0.5)
    axis.set_yticks(range(len(scenarios)), scenarios)
    axis.tick_params(axis='y', length=0)


def _label(bar: Bar, bars: Sequence[Bar]) -> str:
    """Return the name of a method, with preset and base where that tells it from another."""
    method, preset, base = bar
    several = sum(other[0] == method for other in bars) > 1
    return f'{NAMES[method]}, {preset}, {base}' if several else NAMES[method]


def by_method(rows: Sequence[Row]) -> pyplot.Figure:
    """Total exploration steps in the changing scenarios: MNM and the references."""
    groups: dict[tuple[str, Bar], list[Row]] = {}
    for row in rows:
        if row['method'] in METHODS:
            bar = (row['method'], row['preset'], row['base'])
            groups.setdefault((row['scenario'], bar), []).append(row)
    bars = sorted({bar for _, bar in groups}, key=lambda bar: (METHODS.index(bar[0]), bar))
    scenarios = sorted({scenario for scenario, _ in groups})
    heights = {key: mean(int(row['total']) for row in found) for key, found in groups.items()}
    open_ended = {key for key, found in groups.items()
                  if any(row['finished'] == '0' for row in found)}
    figure, axis = pyplot.subplots(
        figsize=(8.6, 0.8 + 0.19 * len(bars) * len(scenarios) + 0.12 * len(scenarios)))
    _bars(axis, scenarios, bars, heights, open_ended)
    axis.set_xlabel('exploration steps in all, mean over the seeds')
    _legend(figure, axis, 2)
    return figure


def violations(rows: Sequence[Row]) -> pyplot.Figure:
    """Rate of broken promises of each family with its exact interval, beside delta."""
    kinds = distinct(_kind(row) for row in rows)
    families = distinct(row['family'] for row in rows)
    figure, axis = pyplot.subplots(figsize=(8.6, 1 + 0.24 * len(families) * len(kinds)))
    for i, kind in enumerate(kinds):
        color = ('#0b5fa5', '#b0771e', '#3a3a3a', '#b3383c')[i % 4]
        for row, family in enumerate(families):
            trials = [trial for trial in rows
                      if trial['family'] == family and _kind(trial) == kind]
            if not trials:
                continue
            broken = sum('0' in (trial['ok_first'], trial['ok_last']) for trial in trials)
            low, high = interval(broken, len(trials))
            at = row + 0.7 * ((i + 0.5) / len(kinds) - 0.5)
            axis.plot((low, high), (at, at), color=color, linewidth=1.5)
            axis.plot(broken / len(trials), at, 'o', color=color, markersize=4, clip_on=False)
            axis.annotate(f'  {broken} of {len(trials)}', (high, at), va='center', fontsize=7.5,
                          color='#333333')
        axis.plot((), (), 'o-', color=color, markersize=4, label=kind)
    for delta in distinct(row['delta'] for row in rows):
        axis.axvline(float(delta), color='#b3383c', linestyle='--', linewidth=1,
                     label=f'delta = {float(delta):g}')
    axis.set_xlim(left=0)
    axis.set_ylim(len(families) - 0.5, -0.5)
    axis.set_yticks(range(len(families)), families)
    axis.tick_params(axis='y', length=0)
    axis.set_xlabel('share of trials with a broken promise, 95% interval')
    _legend(figure, axis, 3)
    return figure


def _kind(row: Row) -> str:
    words = [row['preset'], row['base'], row['options'], 'alone' if row['alone'] == '1' else '']
    return ' '.join(filter(None, words))


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; bad arguments end the program with exit status 2."""
    parser = Arguments(__doc__)
    add = parser.add_argument
    add('--exploration', nargs='+', type=Path, default=[], metavar='CSV',
        help='of exploration_steps --output')
    add('--promise', nargs='+', type=Path, default=[], metavar='CSV',
        help='of promise --output')
    add('--folder', type=Path, default=Path(__file__).resolve().parents[1] / 'docs' / 'figures',
        help='where to write the figures (default docs/figures)')
    parsed = parser.parse_args(arguments)
    for path in (*parsed.exploration, *parsed.promise):
        if not path.is_file():
            parser.error(f'{path} is not there, expected a CSV file')
    return parsed


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw what there is something for."""
    parsed = parse(arguments)
    parsed.folder.mkdir(parents=True, exist_ok=True)
    exploration, promise = read(parsed.exploration), read(parsed.promise)
    for name, draw, rows in (
            ('exploration_steps', by_method, exploration),
            ('violations', violations, promise)):
        if rows:
            path = parsed.folder / f'{name}.png'
            with pyplot.rc_context(STYLE):
                # Without the version of matplotlib in it, the same results give the same file.
                draw(rows).savefig(path, metadata={'Software': None})
            print(path)
    return 0


if __name__ == '__main__':
    sys.exit(main())
