# SPDX-License-Identifier: Apache-2.0

"""
Measure how often, and in how many steps, every known state is reached.

For each seed MNM explores the first setting of a scenario until its first hypothesis. Then every
known state is the goal many times, each time from where the last way has ended. The loop is the
navigator's own, on the simulator instead of a robot; no ROS.

Steps count from home as the navigator counts them. Their mean is compared with the promise,
(1 + eps) L. The number of steps has no upper end, so the bounds of means are those of the normal
distribution, each at a level that holds for all means of a scenario at once; the share of goals
reached has its exact bound. A state is over the limit if all of its interval is.

``--journeys`` prints another table instead, for which see ``journeys.py``.

The exit status is 0 if no state is over the limit and every goal was reached.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, NormalDist, stdev
import sys

from arguments import Arguments
import journeys
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import new_mnm, settings
from mnm_ros.core.task.navigation import Navigation
from mnm_ros.export.direct_edges import CONFIDENCE, interval
from mnm_ros.protocol.exchange import SequenceNumbers
from mnm_ros.protocol.loop import StepLimits
from mnm_ros.protocol.step_loop import StepLoop
from mnm_ros.simulation.ground_truth import expected_steps
from mnm_ros.simulation.scenario import load, shipped
from mnm_ros.simulation.simulator import Simulator
from references import unchanging

DELTA = 0.1
MAX_STEPS = 1000    # as the parameter of the navigator


@dataclass(frozen=True)
class Goal:
    """
    What came of all attempts to reach a state with one policy.

    steps: of each attempt that succeeded. exact: expected steps, from the ground truth.
    """

    seed: int
    target: int
    attempts: int
    steps: tuple[int, ...]
    exact: float

    @property
    def mean(self) -> float:
        return fmean(self.steps)

    def error(self, means: int) -> float:
        """Half the width of the interval of the mean, if there are ``means`` of them."""
        quantile = NormalDist().inv_cdf(1 - (1 - CONFIDENCE) / 2 / means)
        return quantile * stdev(self.steps) / len(self.steps) ** 0.5


def explore(name: str, seed: int, radius: float, epsilon: float,
            base: str = '') -> tuple[Simulator, Hypothesis]:
    """Return the simulator of the first setting and the first hypothesis."""
    scenario = unchanging(load(name))
    simulator = Simulator(scenario, seed)
    problem = Problem(len(scenario.actions), radius, epsilon, DELTA)
    machine = new_mnm(settings(problem, overrides={'base': base}), seed)
    while machine.hypothesis is None:
        action = machine.next_action()
        machine.observe(action, simulator.step(action))
    return simulator, machine.hypothesis


def navigate(simulator: Simulator, hypothesis: Hypothesis, target: int) -> Navigation:
    """Go to a known state, from wherever the robot is."""
    commands: deque[tuple[int, int]] = deque()
    navigation = Navigation(hypothesis.policy_for(target), hypothesis.targets[0])
    loop = StepLoop(
        navigation, StepLimits(1.0, 0, max_steps=MAX_STEPS), SequenceNumbers(0),
        lambda *command: commands.append(command), None)
    loop.resume(0.0)
    while commands:
        seq, action = commands.popleft()
        loop.on_state(seq, simulator.step(action), 0.0)
    return navigation


def goals(name: str, seed: int, attempts: int, radius: float, epsilon: float,
          base: str = '') -> Iterator[Goal]:
    """Explore with a seed and go to every known state but home ``attempts`` times."""
    simulator, hypothesis = explore(name, seed, radius, epsilon, base)
    for policy in hypothesis.policies[1:]:
        ways = [navigate(simulator, hypothesis, policy.target) for _ in range(attempts)]
        yield Goal(seed, policy.target, attempts, tuple(
            way.steps for way in ways if way.result.startswith('reached ')),
            expected_steps(simulator.cmp, policy))


def over_limit(measured: Sequence[Goal], limit: float) -> list[Goal]:
    """Return the goals that take longer than the limit beyond doubt."""
    return [goal for goal in measured if goal.mean - goal.error(len(measured)) > limit]


HEAD = (f'{"scenario":<16} {"known":>5} {"goals":>7} {"reached":>7} {"at least":>8} '
        f'{"steps":>6} {"slowest goal":>16} {"exact":>6} {"limit":>6} {"over":>4}')


def line(name: str, measured: Sequence[Goal], seeds: int, limit: float) -> str:
    """Return a line of the table."""
    count, reached = (sum(numbers) for numbers in zip(
        *((goal.attempts, len(goal.steps)) for goal in measured)))
    slowest = max(measured, key=lambda goal: goal.mean)
    return (
        f'{name:<16} {len(measured) / seeds + 1:>5.1f} {count:>7} {reached / count:>7.4f} '
        f'{interval(reached, count)[0]:>8.5f} '
        f'{fmean(step for goal in measured for step in goal.steps):>6.2f} '
        f'{f"{slowest.mean:.2f} +- {slowest.error(len(measured)):.2f}":>16} '
        f'{slowest.exact:>6.2f} {limit:>6g} {len(over_limit(measured, limit)):>4}')


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each scenario."""
    parser = Arguments(__doc__)
    parser.add_argument('--scenarios', nargs='+', default=list(shipped()), choices=shipped(),
                        metavar='NAME', help=f'of {", ".join(shipped())} (default all)')
    parser.number('seeds', 5, 'explorations', least=1)
    parser.number('attempts', 500, 'at each known state', least=2)
    parser.number('radius', 4.0, 'L')
    parser.number('epsilon', 1.0)
    parser.base()
    parser.number('journeys', 0, 'goals at random, each from the last one', least=0)
    given = parser.read(arguments)
    if given.journeys:
        print(journeys.HEAD, *journeys.lines(given.seeds, given.journeys), sep='\n')
        return 0
    limit = (1 + given.epsilon) * given.radius
    print(HEAD, flush=True)
    well = True
    for name in given.scenarios:
        measured = [goal for seed in range(given.seeds) for goal in goals(
            name, seed, given.attempts, given.radius, given.epsilon, given.base)]
        if not all(len(goal.steps) > 1 for goal in measured) or not measured:
            print(f'{name:<16} {"states not reached" if measured else "nothing but home known"}')
            well &= not measured
            continue
        print(line(name, measured, given.seeds, limit), flush=True)
        well &= not over_limit(measured, limit)
        well &= all(len(goal.steps) == goal.attempts for goal in measured)
    return 0 if well else 1


if __name__ == '__main__':
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
