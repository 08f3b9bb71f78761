# SPDX-License-Identifier: Apache-2.0

"""
Turn CSV files of benchmarks/exploration_steps into a figure.

    benchmarks/exploration_steps --output exploration.csv
    benchmarks/figures --exploration exploration.csv

The figure shows several files side by side, for instance of two presets or bases.
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


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; bad arguments end the program with exit status 2."""
    parser = Arguments(__doc__)
    add = parser.add_argument
    add('--exploration', nargs='+', type=Path, required=True, metavar='CSV',
        help='files of exploration_steps --output')
    add('--folder', type=Path, default=Path(__file__).resolve().parents[1] / 'docs' / 'figures',
        help='where to write the figures (default docs/figures)')
    parsed = parser.parse_args(arguments)
    for path in parsed.exploration:
        if not path.is_file():
            parser.error(f'{path} is not there, expected a CSV file')
    return parsed


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the figure."""
    parsed = parse(arguments)
    parsed.folder.mkdir(parents=True, exist_ok=True)
    path = parsed.folder / 'exploration_steps.png'
    with pyplot.rc_context(STYLE):
        # Without the version of matplotlib in it, the same results give the same file.
        by_method(read(parsed.exploration)).savefig(path, metadata={'Software': None})
    print(path)
    return 0


if __name__ == '__main__':
    sys.exit(main())
