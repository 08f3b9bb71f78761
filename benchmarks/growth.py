# SPDX-License-Identifier: Apache-2.0

"""
What grows with known states, actions, L and robots, each beside the least that any method needs.

    benchmarks/growth states | actions | radius | robots

Explorations of open worlds with slip, until the first hypothesis. The least, in brackets:

steps   to tell that behind no pair is one more state, all else being as it is: the bound of
        benchmarks/lower_bound with its first alternatives, which are not checked one by one
CPU s   simulating and counting the same steps, without a thought
MB      grown during the exploration; the numbers of model and policies without redundancy
bytes   of messages: known_states, policies and model as numbers without redundancy, 64 bits for
        an id; activity and markers as xz makes them
disk    of a resume point: that of model and policies; of a step in the log: the entropy of where
        it led
rounds  of several robots: those of one robot without a fleet, divided by the robots

"built" is what was not explored: the shortest ways in the CMP, and drawn counts.
The exponents are the slopes of straight lines on two logarithmic axes, through what has at least
10 known states, and then through the last two of these points. Each trial has a process of its
own. Steps and bytes are the same each time, seconds and memory are not.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arguments import Arguments
from batch import exit_with, Row, run_batch
from growth_trial import names, Point, Task, trial
from growth_worlds import TOPICS
import numpy as np

FIGURES = Path(__file__).resolve().parents[1] / 'docs' / 'figures'
LEAST_KNOWN = 10    # of the points through which a slope is drawn


@dataclass(frozen=True)
class Study:
    """
    What one command measures.

    :ivar against: the column that grows.
    :ivar numbers: for each way to explore and each world, see ``Task``.
    :ivar cheap: how many of these, from the first on, are tried with more than one seed.
    """

    against: str
    numbers: Mapping[tuple[str, str], Sequence[float]]
    cheap: int = 99


STUDIES: Mapping[str, Study] = {
    'states': Study('known', {
        ('explored', 'plane'): (2.5, 3.5, 4.5, 6.0, 9.0, 13.0, 15.0),
        ('explored', 'square'): (3, 5, 7, 9),
        ('explored', 'random_graph'): tuple(range(8)),
        ('built', 'plane'): (2.5, 4.5, 9.0, 13.5, 17.0, 24.5)}, cheap=4),
    'actions': Study('number', {('explored', 'actions'): (2, 3, 4, 6, 8, 12, 16)}),
    'radius': Study('number', {
        ('explored', 'corridor'): (2, 3, 5, 7, 10, 14, 20),
        ('explored', 'room'): (5, 7, 10, 14, 20)}),
    'robots': Study('number', {
        (how, world): numbers for world in ('two_rooms', 'grid_5x5')
        for how, numbers in (('explored', (1,)), ('fleet', (1, 2, 4, 8, 16)))})}

QUANTITIES = ('steps', 'rounds', 'seconds', 'grown', *TOPICS, 'checkpoint', 'log', 'cold', 'warm')

COMPRESSED = ('activity', 'markers')    # the least for these depends on the places and the texts


def tasks(study: Study, seeds: int, most: float, limit: int, base: str = '') -> Iterator[Task]:
    """Yield what is to be measured, up to the number ``most``; no base has built anything."""
    for (how, world), numbers in study.numbers.items():
        for place, number in enumerate(numbers):
            if number > most or (base and how == 'built'):
                continue
            once = how == 'built' or world == 'random_graph' or place >= study.cheap
            for seed in range(1 if once else seeds):
                yield Task(how, world, float(number), seed, limit, base)


def points(todo: Sequence[Task], rows: Sequence[Row]) -> list[Point]:
    """Return the means over the seeds."""
    groups: dict[tuple[str, str, float], list[tuple[Task, Row]]] = {}
    for task, row in zip(todo, rows):
        groups.setdefault(task[:3], []).append((task, row))
    found = [Point(group[0][0], [row for _, row in group]) for group in groups.values()]
    alone = {point.kind[1]: point['steps'] for point in found if point.kind[0] == 'explored'}
    for point in found:
        if point.kind[0] == 'fleet' and point.kind[1] in alone:
            point['least_rounds'] = alone[point.kind[1]] / point['number']
            point['speed-up'] = alone[point.kind[1]] / point['rounds']
    return found


def slope(found: Sequence[Point], against: str, quantity: str, last: int = 0) -> float | None:
    """
    Return the exponent with which a quantity grows; None for fewer than three points.

    :param last: how many points count, the last ones; 0 is all.
    """
    by_number = dict(sorted((point[against], point[quantity]) for point in found
                            if point['known'] >= LEAST_KNOWN and point.get(quantity, 0) > 0))
    if len(by_number) < 3:
        return None
    across, up = np.log(np.array(list(by_number.items())[-last:])).T
    return float(np.polyfit(across, up, 1)[0])


def cell(point: Point, name: str, form: str, scale: float = 1.0) -> str:
    """Return a figure, and in brackets the least for it where that is known."""
    texts = [format(point[key] / scale, form) for key in (name, f'least_{name}') if key in point]
    return f'{texts[0]} ({texts[1]})' if len(texts) == 2 else texts[0] if texts else '-'


HEAD = ('world', 'number', 'trials', 'known', 'of')
COURSE: Mapping[str, tuple[str, str, float]] = {
    'steps': ('steps', ',.0f', 1), 'rounds': ('rounds', ',.0f', 1),
    'speed-up': ('speed-up', '.1f', 1), 'CPU s': ('seconds', '.3g', 1),
    'MB': ('grown', '.2g', 1), 'peak MB': ('peak', '.0f', 1),
    'plan, cold ms': ('cold', '.1f', 1e-3), 'warm ms': ('warm', '.1f', 1e-3)}
BYTES: Mapping[str, tuple[str, str, float]] = {
    **{f'{topic}, kB': (topic, ',.1f', 1000) for topic in TOPICS},
    'resume point, kB': ('checkpoint', ',.1f', 1000), 'log, B a step': ('log', '.2f', 1)}


def table(found: Sequence[Point], columns: Mapping[str, tuple[str, str, float]]) -> list[str]:
    """Return the lines of a table; columns of which nothing is known are left out."""
    shown = {title: column for title, column in columns.items()
             if any(column[0] in point for point in found)}
    lines = [(*HEAD, *shown)]
    for point in found:
        if any(name in point for name, _, _ in shown.values()):
            how, world = point.kind
            lines.append((
                world if how == 'explored' else f'{world}, {how}', f'{point["number"]:g}',
                str(point.trials), f'{point["known"]:.0f}', f'{point.get("reachable", 0):.0f}',
                *(cell(point, *column) for column in shown.values())))
    widths = [max(map(len, column)) for column in zip(*lines)]
    return ['  '.join(text.rjust(width) if number else text.ljust(width)
                      for number, (text, width) in enumerate(zip(line, widths)))
            for line in lines] if len(lines) > 1 else []


def slopes(found: Sequence[Point], against: str) -> list[str]:
    """Return a line for each world with the exponents that can be told."""
    lines = []
    for how, world in dict.fromkeys(point.kind for point in found):
        own = [point for point in found if point.kind == (how, world)]
        for last in (0, 2):
            told = []
            for quantity in QUANTITIES:
                exponent = slope(own, against, quantity, last)
                least = None if quantity in COMPRESSED else slope(
                    own, against, f'least_{quantity}', last)
                if exponent is not None:
                    told.append(f'{quantity} {exponent:.2f}'
                                + (f' ({least:.2f})' if least is not None else ''))
            if told:
                lines.append(f'{world}, {how}{", last two" if last else ""}: {", ".join(told)}')
    return [f'exponents of {against}, in brackets of the least:', *lines] if lines else []


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; bad arguments end the program with exit status 2."""
    parser = Arguments(__doc__)
    add = parser.add_argument
    add('study', choices=tuple(STUDIES), help='what grows')
    parser.number('seeds', 2, 'of what does not take long', least=1)
    add('--most', type=float, default=float('inf'), metavar='NUMBER',
        help='leave out what is greater in the column "number"')
    parser.number('limit', 5_000_000, 'after which a trial is given up', least=1, metavar='STEPS')
    parser.base()
    add('--figure', type=Path, nargs='?', const=FIGURES, metavar='FOLDER',
        help='draw growth_states.png there (default docs/figures); of states only')
    parser.trials()
    parsed = parser.read(arguments)
    parsed.tasks = list(tasks(
        STUDIES[parsed.study], parsed.seeds, parsed.most, parsed.limit, parsed.base))
    if not parsed.tasks:
        parser.error(f'--most is {parsed.most:g}, which leaves nothing')
    if parsed.figure and parsed.study != 'states':
        parser.error(f'--figure is of states, not of {parsed.study}')
    return parsed


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, draw the figure; the exit status is 1 if a state is missing."""
    parsed = parse(arguments)
    rows = run_batch(trial, parsed.tasks, names, parsed.engine, parsed.output)
    found, against = points(parsed.tasks, rows), STUDIES[parsed.study].against
    for lines in (table(found, COURSE), table(found, BYTES), slopes(found, against)):
        if lines:
            print(*lines, '', sep='\n')
    if parsed.figure:
        from growth_figures import write  # which needs matplotlib
        print(write(parsed.figure, found))
    # What was given up knows nothing.
    return int(any(point['known'] == 0 or point.get('missing') for point in found))


if __name__ == '__main__':
    exit_with(main)
