# SPDX-License-Identifier: Apache-2.0

"""
Learn to write a base algorithm, which explores a world that does not change.

Run ``python3 examples/own_base.py``, without ROS. The base is for robots whose actions never fail:
it tries each action once. The parameter ``base: own_base:SureSteps`` selects it for the explorer.
"""

from pathlib import Path
import sys

sys.path.append(str(Path(__file__).resolve().parents[1]))    # a clone that is not installed

from mnm_ros import explore  # noqa: E402
from mnm_ros.core import BaseAlgorithm, Policy, RESET  # noqa: E402


class SureSteps(BaseAlgorithm):
    """Try each action once in each state, the states nearest to home first."""

    evaluating = False    # a turn is never one whole attempt of a policy

    def __init__(self, settings, home, rng, policies=()):
        self._actions, self._radius = settings.problem.actions, settings.problem.radius
        self._horizon = settings.steps_horizon
        self.quantum = self._horizon    # steps of one turn: enough for the way to any state
        self._ways = {home: ()}    # the actions that lead from home to each state
        self._leads = {}           # from state and action to the next state
        self.interrupt()

    def _untried(self):
        return next(((state, action) for state, way in self._ways.items()
                     if len(way) + 1 <= self._radius for action in range(self._actions)
                     if (state, action) not in self._leads), None)

    @property
    def finished(self):
        return self._untried() is None

    def step_bound(self, known):
        # Each action of each known state costs a RESET, the way there and the action. A
        # rediscovery that takes more steps is cut off.
        return int(known * self._actions * (self._radius + 2))

    def next_action(self):
        return self._todo[0] if self._todo else RESET

    def observe(self, action, state):
        if action == RESET:
            last, untried = self._untried()
            self._todo = [*self._ways[last], untried]
        else:
            self._leads[self._here, action] = state
            self._ways.setdefault(state, (*self._ways[self._here], action))
            del self._todo[0]
        self._here = state

    def interrupt(self):
        self._here, self._todo = None, []

    @property
    def policies(self):
        states = tuple(self._ways)
        home, found = states[0], []
        for target, way in self._ways.items():
            row, here = {}, home
            for action in way:
                row[here], here = action, self._leads[here, action]
            found.append(Policy(target, self._horizon, states, (
                tuple(row.get(state, RESET) for state in states),)))
        return tuple(found)


class Corridor:
    """Go one state up or down, without ever failing; RESET leads to the lower end."""

    here = 0

    def step(self, action):
        self.here = 0 if action == RESET else min(max(self.here + (1, -1)[action], 0), 9)
        return self.here


def main():
    for base in ('own_base:SureSteps', 'disco'):
        result = explore(Corridor().step, actions=2, radius=9.0, overrides={'base': base})
        print(f'{base}: {len(result.known)} states after {result.exploration.steps} steps')


if __name__ == '__main__':
    main()
