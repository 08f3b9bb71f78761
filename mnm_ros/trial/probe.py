"""A few steps that tell what kind of robot and world these are."""

from __future__ import annotations

from collections import Counter
import math
from random import Random

from mnm_ros.core.problem import RESET
from mnm_ros.simulation.cmp import TableCmp
from mnm_ros.simulation.ground_truth import reachable_states


class Probe:
    """Plays every action from home, and then in each state the action tried least there.

    actions: how many, without RESET. radius: ``L``; a walk is twice as long at most.
    resets, steps: least numbers of RESETs and of other actions to play. seed: of the ties.

    homes: how often each state was where a RESET ended.
    counts: per (state, action), without RESET, how often each next state came.
    """

    def __init__(self, actions: int, radius: float, resets: int, steps: int, seed: int) -> None:
        self.homes: Counter[int] = Counter()
        self.counts: dict[tuple[int, int], Counter[int]] = {}
        self._actions = range(actions)
        self._radius = radius
        self._longest = 2 * math.ceil(radius)
        self._resets = resets
        self._steps = steps
        self._random = Random(seed)
        self._first = list(self._actions)    # still to be played from home
        self._here = 0    # the first action is RESET
        self._walked = self._played = 0
        self._next: int | None = RESET

    @property
    def over(self) -> bool:
        """Whether everything has been played; the robot is at home then."""
        return self._next is None

    @property
    def home(self) -> int:
        """Where RESET ended most often."""
        return self.homes.most_common(1)[0][0]

    @property
    def met(self) -> set[int]:
        """All states seen so far."""
        return {*self.homes, *(state for seen in self.counts.values() for state in seen)}

    def next_action(self) -> int:
        """Return the action to play; the same until ``observe`` or ``relocate``."""
        if self._next is None:
            raise RuntimeError('the probe is over')
        return self._next

    def observe(self, state: int) -> None:
        """Take note of the state in which the last ``next_action`` ended."""
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
        """The robot may be anywhere: nothing is counted, the next action is RESET."""
        self._next = RESET

    def estimate(self) -> tuple[int, bool]:
        """Return how many states seem to be within the radius, and whether that is all.

        As if what was seen were the truth and what was not tried would stay put; it is not all
        if something was not tried in one of these states.
        """
        found = reachable_states(TableCmp.from_counts(
            self.home, len(self._actions), self.counts), self._radius)
        return len(found), all((state, action) in self.counts
                               for state in found for action in self._actions)

    def _choose(self) -> int | None:
        if self._walked and (self._first or self._walked >= self._longest):
            return RESET
        if self._first:
            return self._first.pop(0)
        if self._played >= self._steps:
            enough = not self._walked and sum(self.homes.values()) >= self._resets
            return None if enough else RESET
        least = min(map(self._tried, self._actions))
        return self._random.choice(
            [action for action in self._actions if self._tried(action) == least])

    def _tried(self, action: int) -> int:
        return sum(self.counts.get((self._here, action), {}).values())
