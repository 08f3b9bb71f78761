# SPDX-License-Identifier: Apache-2.0

"""
An exploration of the world as it is declared and was seen, in simulation.

Where it is declared to which states actions lead, an exploration takes a few per cent to half of
the steps that it takes without, too few for a power law of worlds without; it also takes
little time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import process_time

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.declared_world import declared_outcomes
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.model.support import Support
from mnm_ros.core.presets import settings
from mnm_ros.core.progress.prediction import Prediction
from mnm_ros.simulation.cmp import TableCmp
from mnm_ros.simulation.scenario import Scenario, Setting
from mnm_ros.simulation.simulator import Simulator

PATIENCE = 30.0    # s of computing; some hundred places with a large radius take minutes
LOW, HIGH = 0.5, 1.5
"""At least 9 of 10 explorations take between so many times the least and the most rehearsed.

``benchmarks/hours`` measures it.
"""
_RUNS = 5    # at most; where moves often fail, one may take four times the steps of another


StepSeconds = Callable[[int, int, int], float]
"""From the state before, the action and the state after, to what the step takes in s."""


@dataclass(frozen=True)
class Rehearsal:
    """
    The results of the runs.

    :ivar prediction: the steps to the first hypothesis, and in which range they will be.
    :ivar pace: s of a step on average.
    :ivar places: how many states were known then, home included.
    """

    prediction: Prediction
    pace: float
    places: int


def rehearse(problem: Problem, home: int, declaration: Declaration,
             counts: Mapping[Pair, Mapping[int, int]], seed: int = 0,
             timed: Callable[[], StepSeconds] | None = None,
             patience: float = PATIENCE) -> Rehearsal | None:
    """
    Return how an exploration will go until the first hypothesis.

    None if it is not declared where all that is declared to be within reach leads to.

    :param counts: what was seen; by it, and by how often any action stayed that might have moved,
        the declared ends are weighed.
    :param patience: s of computing, after which it is not gone on; None if that is not enough for
        one run.
    :param timed: returns for each run what times its steps, which it receives in order; None if
        they take no time.
    """
    if not declaration.is_whole(home):
        return None
    cmp = declared_cmp(problem.actions, home, declaration, counts)
    world = Scenario('', tuple(map(str, range(problem.actions))), home, (
        Setting(cmp, None),), Path())
    given = settings(replace(problem, support=Support(declaration)))
    end = process_time() + patience
    steps: list[int] = []
    places: list[int] = []
    seconds = 0.0
    for number in range(seed, seed + _RUNS):
        simulator, exploration = Simulator(world, number), Exploration(given, number)
        step_seconds, taken, here = timed and timed(), 0.0, home
        while exploration.hypothesis is None and process_time() < end:
            action = exploration.next_action()
            before, here = here, simulator.step(action)
            exploration.observe(action, here)
            if step_seconds:
                taken += step_seconds(before, action, here)
        if exploration.hypothesis is None:
            break
        steps.append(simulator.steps)
        places.append(len(exploration.hypothesis.targets))
        seconds += taken
    if not steps:
        return None
    return Rehearsal(Prediction(float(median(steps)), LOW * min(steps), HIGH * max(steps)),
                     seconds / sum(steps), round(median(places)))


def declared_cmp(actions: int, home: int, declaration: Declaration,
                 counts: Mapping[Pair, Mapping[int, int]]) -> TableCmp:
    """Return the CMP with the declared ends, with probabilities estimated from the counts."""
    return TableCmp(home, actions, declared_outcomes(declaration, counts))
