# SPDX-License-Identifier: Apache-2.0

"""
Steps of one run of the base, beside the least that it takes to tell that no state is missing.

Beside the true CMP there are others in which one more state is within L. One method serves all:
where such an alternative is the truth, it must not stop without that state. So its steps have to
tell the truth from each alternative: the executions N(s, a) it expects satisfy

    sum of N(s, a) KL(true row || row of the alternative) >= B nats,

and are a flow: a state is left no more often than it is entered, and RESET leads home. The least
steps, RESETs included, of all such flows are the value of a linear program.

disco   B = log(1/d), where d is the part of delta_1 that ruling out has for the first state that
        was not given, (delta_1 / 2) (7 / 16). A test that gives an alternative up when
        it is 1/d times less likely than the truth needs that (Wald's identity); what bets on
        rows that are not known cost beyond is not in it
any     B = (1 - 2 delta_1) log((1 - delta_1) / delta_1), for any method that is wrong with
        probability at most delta_1 (data processing inequality)

Both are said to be "at least", as all that is left out can only add steps: alternatives that were
not found; certificates; states met beyond L, which epsilon lets a method take in; and outside of
the states within L, three moves on, a step leads to wherever is best. Each alternative is checked
by the definition of S_L->. They are found by turns: the flow is best for those found so far, and
the search looks for others that it tells too little about. "gap" is how much more evidence the
worst of these asked for in the end.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
import math
from statistics import mean

from alternatives import Search
from arguments import Arguments
from batch import exit_with, run_batch
from flows import Flows
from grids import grid, run, SIZES
from growth_truth import Truth
from growth_worlds import shipped, World
from mnm_ros.core.planning.plausible import Rank
from mnm_ros.simulation import scenario
import numpy as np
from references import Configuration, run_stationary

RULING_OUT = 1 / 2
"""Of the delta of a run of disco."""

FIRST_SWEEPS, SWEEPS = 60, 25
WORLDS = ('corridor', 'grid_3x3', 'moving_wall', 'two_rooms', 'endless_tree', '5', '9')

Task = tuple[str, int]
"""World, seed."""


def nats_of_disco(known: int, delta: float) -> float:
    """Return ``log(1/d)`` of ruling out with so many states given, for a run with this delta."""
    given = range(known)
    return -math.log(RULING_OUT * delta * Rank.last(given, given, [None]).part)


def nats_of_any(delta: float) -> float:
    """Return the nats that any method needs that is wrong with at most this probability."""
    return (1 - 2 * delta) * math.log((1 - delta) / delta)


def lower_bound(truth: Truth, nats: float, rounds: int, gap: float) -> tuple[Flows, float]:
    """
    Return the flows with the evidence that has to be there, and the gap.

    :param rounds: of searches, at most.
    :param gap: with which the search ends.
    """
    flows, search = Flows(truth), Search(truth)
    first = search.first()
    flows.demand(first, [number for number in range(len(first.moves))
                         if search.is_one(first, number)])
    for done in range(rounds):
        _, executions = flows.least(nats)
        found = search.least(executions, SWEEPS if done else FIRST_SWEEPS)
        told = found.nats(executions)
        new = [number for number in np.flatnonzero(told < nats * (1 - gap / 2)).tolist()
               if search.is_one(found, number)]
        over = nats / told[new].min(initial=nats * (1 - gap / 2)) - 1
        if over <= gap:
            return flows, over
        flows.demand(found, new)
    return flows, math.inf


def world(name: str) -> World:
    """Return a shipped scenario's first setting, or an open grid by its side."""
    return World(grid(int(name)), SIZES[int(name)]) if name.isdigit() else shipped(name)


def trial(base: str, task: Task) -> Mapping[str, object]:
    """Return the steps of a run of the base, and the states known after it."""
    name, seed = task
    configuration = Configuration(base=base, radius=world(name).radius)
    if name.isdigit():
        steps, known, _, _ = run(int(name), seed, configuration, configuration.limit)
    else:
        found = run_stationary(name, seed, configuration)
        steps, known = found.steps, found.known
    return {'steps': steps, 'known': known}


def line(name: str, rows: Sequence[Mapping[str, str]], parsed: argparse.Namespace) -> str:
    """Return the line of a world: its bounds, and beside these what its runs took."""
    truth = Truth(world(name).cmp, world(name).radius)
    delta = Configuration().delta_1
    nats = nats_of_disco(len(truth.members), delta)
    flows, gap = lower_bound(truth, nats, parsed.rounds, parsed.gap)
    (least, _), (least_of_any, _) = flows.least(nats), flows.least(nats_of_any(delta))
    steps = mean(float(row['steps']) for row in rows)
    return (f'{name:<16} {truth.radius:>4g} {len(truth.members):>8} {nats:>6.2f} {least:>9,.0f} '
            f'{gap:>5.3f} {least_of_any:>9,.0f} {len(rows):>5} '
            f'{mean(float(row["known"]) for row in rows):>6.1f} {steps:>9,.0f} '
            f'{steps / least:>6.1f} {steps / least_of_any:>6.1f}')


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; bad arguments end the program with exit status 2."""
    parser = Arguments(__doc__)
    allowed = (*scenario.shipped(), *map(str, SIZES))
    parser.add_argument('--worlds', nargs='+', default=list(WORLDS), metavar='NAME',
                        choices=allowed, help=f'of {", ".join(allowed)}; a number is the side of '
                        f'an open grid (default {", ".join(WORLDS)})')
    parser.number('rounds', 40, 'of searches for alternatives, at most', least=0)
    parser.number('gap', 0.02, 'with which they end')
    parser.seeds(10, 'of the runs')
    parser.base()
    parser.trials()
    return parser.read(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the base and print the table."""
    parsed = parse(arguments)
    todo = [(name, seed) for name in parsed.worlds for seed in parsed.seeds]
    rows = dict(zip(todo, run_batch(
        partial(trial, parsed.base), todo,
        lambda task: {'world': task[0], 'seed': task[1], 'base': parsed.base},
        parsed.engine, parsed.output)))
    print(f'delta_1 = {Configuration().delta_1:g}; the least is "at least", with the nats of '
          f'disco and with the {nats_of_any(Configuration().delta_1):.2f} that any method needs\n'
          f'{"world":<16} {"L":>4} {"within L":>8} {"nats":>6} {"at least":>9} {"gap":>5} '
          f'{"any":>9} {"seeds":>5} {"known":>6} {"steps":>9} {"x":>6} {"x any":>6}')
    for name in parsed.worlds:
        print(line(name, [rows[name, seed] for seed in parsed.seeds], parsed), flush=True)
    return 0


if __name__ == '__main__':
    exit_with(main)
