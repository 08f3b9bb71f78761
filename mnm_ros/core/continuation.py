# SPDX-License-Identifier: Apache-2.0

"""How many steps are left: a simulation continues the exploration in the declared world."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from random import Random
from statistics import median
from time import process_time

from mnm_ros.core.mnm.mnm import Mnm
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.declared_world import declared_outcomes
from mnm_ros.core.model.problem import RESET

PATIENCE = 1.0    # s of computing, after which it is abandoned, as nothing else is done meanwhile
_PLAYS = 3
_AGAIN = 0.25     # of the steps that were left, after which they are simulated again
_SHORTEST = 10    # steps
_Counts = Mapping[Pair, Mapping[int, int]]
_Table = Mapping[Pair, Sequence[tuple[int, float]]]


class Continuation:
    """
    Knows how many steps are left until the first hypothesis, for display alone.

    It can be pickled, and holds nothing of the exploration.
    """

    def __init__(self) -> None:
        self._left: int | None = None    # at the last simulation
        self._begun = self._next = 0     # the step of the last simulation, and of the next one

    def is_due(self, step: int) -> bool:
        """Return whether to simulate again after so many steps."""
        return step >= self._next or step < self._begun

    def play(self, mnm: Mnm, step: int, here: int | None,
             players: Iterable[Mnm], counts: _Counts) -> None:
        """
        Find out how many steps are left, which may take ``PATIENCE``.

        :param mnm: whose steps they are; it stays as it is.
        :param step: the number of steps so far.
        :param here: where the robot is; None where it is unknown.
        :param players: each an MNM that does the same from here on, if there are any.
        :param counts: how often each transition was observed.
        """
        self._left = _played(mnm, step, here, players, counts)
        self._begun = step
        self._next = step + (max(_SHORTEST, int(_AGAIN * self._left))
                             if self._left is not None else max(_SHORTEST, step))

    def steps_left(self, step: int) -> int | None:
        """
        Return the steps of the last simulation, at least one.

        None if nothing was simulated, if the declaration lacks the ends of pairs within reach,
        or if the simulation takes too long.
        """
        return None if self._left is None else max(1, self._left - (step - self._begun))


def _played(mnm: Mnm, step: int, here: int | None, players: Iterable[Mnm],
            counts: _Counts) -> int | None:
    """Return the median of some plays, as 6 of 63 took over 1.5 times the steps left."""
    home, declared = mnm.home, mnm.support.declared
    if home is None or not declared.is_whole(home):
        return None
    end = process_time() + PATIENCE
    table = declared_outcomes(declared, counts)
    taken: list[int] = []
    for number, playing in enumerate(islice(players, _PLAYS)):
        steps = _play(playing, home, here, table, Random(f'{step} {number}'), end)
        if steps is None:
            break
        taken.append(steps)
    return round(median(taken)) if taken else None


def _play(mnm: Mnm, home: int, here: int | None, table: _Table, random: Random,
          end: float) -> int | None:
    """Return the steps until there is a hypothesis; None if ``end`` comes before."""
    taken = 0
    while mnm.hypothesis is None:
        if process_time() > end:
            return None
        action = mnm.next_action()
        if action == RESET or here is None:
            here = home
        elif outcomes := table.get((here, action), ()):
            here, = random.choices([to for to, _ in outcomes], [each for _, each in outcomes])
        mnm.observe(action, here)
        taken += 1
    return taken
