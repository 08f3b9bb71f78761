# SPDX-License-Identifier: Apache-2.0

"""Base algorithms that learn a tree of two levels as fast as one likes, and the robot in it."""

from __future__ import annotations

from typing import Any

from mnm_ros.core.mnm.base import BaseAlgorithm
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from node_processes import Peer, ScriptedRobot

WIDTH = 40                                              # actions, and states of the first level
ACTIONS = [f'way_{number}' for number in range(WIDTH)]
HORIZON = 20
TREE = {'actions': ACTIONS, 'horizon': HORIZON}           # parameters of the explorer
LARGE, LARGER = 1000, 1003
MANY = 45
FAR = 43                                                # of the second level


def following(state: int, action: int) -> int:
    """Return where an action leads: 0 is home, then come 40 states, then 40 after each of them."""
    if action == RESET:
        return 0
    if state > WIDTH:
        return state
    return state * WIDTH + action + 1


def policies(count: int) -> tuple[Policy, ...]:
    """Return the right policies for the first ``count`` states."""
    states = tuple(range(count))
    found = []
    for target in states:
        row, state = [RESET] * count, target
        while state:
            state, action = divmod(state - 1, WIDTH)
            row[state] = action
        found.append(Policy(target, HORIZON, states, (tuple(row),)))
    return tuple(found)


class Learning(BaseAlgorithm):
    """Knows some states after its first step, and then one more after each, up to ``most``."""

    quantum = 1

    def __init__(self, known: tuple[Policy, ...], at_first: int, most: int) -> None:
        self._again = bool(known)
        self._count, self._most = len(known) or at_first, most
        self._steps = 0
        self._policies = known or policies(at_first)

    @property
    def finished(self) -> bool:
        return self._steps > 0 and not self._again

    @property
    def evaluating(self) -> bool:
        return False

    @property
    def policies(self) -> tuple[Policy, ...]:
        return self._policies

    def step_bound(self, known: int) -> int:
        return 10**9

    def next_action(self) -> int:
        return RESET

    def observe(self, action: int, state: int) -> None:
        self._steps += 1
        if self._again and self._count < self._most:
            self._count += 1
            self._policies = policies(self._count)

    def interrupt(self) -> None:
        pass


def one_by_one(settings: Any, home: int, rng: Any, known: Any = ()) -> BaseAlgorithm:
    """Learns ``MANY`` states, one with each step of a rediscovery."""
    return Learning(known, 2, MANY)


def large(settings: Any, home: int, rng: Any, known: Any = ()) -> BaseAlgorithm:
    """Learns 1,000 states at once and then a few more."""
    return Learning(known, LARGE, LARGER)


class TreeRobot(ScriptedRobot):
    """The robot in the tree, of which a test asks for a number of steps."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer)
        self.pause = 0.0

    def move(self, action: int) -> int:
        return following(self.state, action)
