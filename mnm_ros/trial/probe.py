# SPDX-License-Identifier: Apache-2.0

"""A few steps that show how a robot and its world behave."""

from __future__ import annotations

from collections import Counter
import math
from random import Random

from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.problem import RESET
from mnm_ros.simulation.cmp import TableCmp
from mnm_ros.simulation.ground_truth import reachable_states


class Probe:
    """
    Plays every action from home, and then in each state the action tried least there.

    :param actions: the number of actions without RESET.
    :param radius: ``L``; a walk from home has at most twice as many steps.
    :param resets, steps: the least numbers of RESETs and of other actions to play.
    :param seed: of the choice among actions tried equally often.
    :ivar homes: how often a RESET ended in each state.
    :ivar counts: per (state, action), without RESET, how often each next state followed.
    """

    def __init__(self, actions: int, radius: float, resets: int, steps: int, seed: int) -> None:
        self.homes: Counter[int] = Counter()
        self.counts: dict[Pair, Counter[int]] = {}
        self._actions = range(actions)
        self._radius = radius
        self._longest = 2 * math.ceil(radius)
        self._resets = resets
        self._steps = steps
        self._random = Random(seed)
        self._from_home = list(self._actions)    # still to be played there
        self._here = 0    # of no effect, as the first action is RESET
        self._walked = self._played = 0
        self._next: int | None = RESET

    @property
    def over(self) -> bool:
        """Whether everything has been played; the robot is then at home."""
        return self._next is None

    @property
    def home(self) -> int:
        """Return the state in which RESET ended most often."""
        return self.homes.most_common(1)[0][0]

    @property
    def met(self) -> set[int]:
        """All states seen so far."""
        return {*self.homes, *(state for seen in self.counts.values() for state in seen)}

    def next_action(self) -> int:
        """Return the action to play, which is the same until ``observe`` or ``relocate``."""
        if self._next is None:
            raise RuntimeError('the probe is over')
        return self._next

    def observe(self, state: int) -> None:
        """Count the transition by the last ``next_action`` to ``state``."""
        action = self.next_action()
        if action == RESET:
            self.homes[state] += 1
            self._walked = 0
        else:
            self.counts.setdefault((self._here, action), Counter())[state] += 1
            self._walked += 1
            self._played += 1
        self._here = state
        self._next = self._choose()

    def relocate(self) -> None:
        """Take note that the robot may be anywhere; the next action is RESET."""
        self._next = RESET

    def estimate(self) -> tuple[int, bool]:
        """
        Return how many states seem to be within the radius, and whether these are all.

        The estimate takes the observed frequencies for the truth and lets untried actions stay
        put. There may be more states if an action is untried in one of those found.
        """
        found = reachable_states(TableCmp.from_counts(
            self.home, len(self._actions), self.counts), self._radius)
        return len(found), all((state, action) in self.counts
                               for state in found for action in self._actions)

    def _choose(self) -> int | None:
        if self._walked and (self._from_home or self._walked >= self._longest):
            return RESET
        if self._from_home:
            return self._from_home.pop(0)
        if self._played >= self._steps:
            enough = not self._walked and sum(self.homes.values()) >= self._resets
            return None if enough else RESET
        least = min(map(self._tried, self._actions))
        return self._random.choice(
            [action for action in self._actions if self._tried(action) == least])

    def _tried(self, action: int) -> int:
        return sum(self.counts.get((self._here, action), {}).values())
