# SPDX-License-Identifier: Apache-2.0

"""
Judges the certificates of an exploration by the truth in force, at all times.

A certificate that a change made false is wrong if it is not doubted although there was time to
notice: ``TO_NOTICE`` steps after a changed pair was executed for the ``EXECUTIONS``-th time since.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Observation, Update
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.trust import Trust
from mnm_ros.core.view import View
from mnm_ros.simulation.cmp import Cmp, Outcomes
from mnm_ros.simulation.ground_truth import expected_steps

EXECUTIONS, TO_NOTICE = 10, 300
_EVERY = 20    # steps, from one look at the certificates to the next
_TOLERANCE = 1 + 1e-9


class JudgedCertificates:
    """
    Looks on at an exploration.

    :param exploration: that is looked at.
    :param cmps: of the settings of the scenario, in their order.
    :param limit: the expected steps that a certificate promises.
    :ivar setting: the one in force.
    :ivar wrong: targets of certificates that were wrong, with the step at which that was seen.
    """

    def __init__(self, exploration: Exploration, cmps: Sequence[Cmp], limit: float) -> None:
        self.setting = 0
        self.wrong: dict[int, int] = {}
        self._exploration, self._view = exploration, View()
        self._cmps = cmps
        self._limit = limit * _TOLERANCE
        self._here: int | None = None
        self._executed: dict[tuple[Pair, int], int] = {}    # with the setting, since it changed
        self._due: dict[Pair, tuple[int, int]] = {}         # the step, and the setting
        self._told = _AsToBeKnown(cmps)
        self._begun_before: dict[Pair, int] = {}
        exploration.listeners.append(self._hear)

    def change(self, setting: int, waiting: Callable[[Pair], int] = lambda pair: 0) -> None:
        """
        Take note of a change.

        :param waiting: how many executions of a pair robots have begun that are not taken yet.
        """
        self.setting = setting
        self._begun_before = {pair: waiting(pair) for pair in self._exploration.counts}

    def _hear(self, update: Update) -> None:
        taken = update.input
        if not isinstance(taken, Observation):
            self._here = None
            return
        here, self._here = self._here, taken.state
        steps = self._exploration.steps
        if here is not None and taken.action != RESET:
            self._note((here, taken.action), steps)
        if self.setting and steps % _EVERY == 0:
            self._judge(steps)

    def _note(self, pair: Pair, steps: int) -> None:
        """Take note of an execution, if the pair is another one than is to be known."""
        if self._begun_before.get(pair):
            self._begun_before[pair] -= 1
            return
        if not self._told.differs(pair, self.setting):
            return
        times = self._executed[pair, self.setting] = self._executed.get(
            (pair, self.setting), 0) + 1
        if times == EXECUTIONS:
            self._due[pair] = steps + TO_NOTICE, self.setting

    def _judge(self, steps: int) -> None:
        for pair, (due, setting) in tuple(self._due.items()):
            if due <= steps:
                self._told.settings[pair] = setting
                del self._due[pair]
        for told in self._exploration.trust(None, self._view):
            if told.trust.rank <= Trust.CERTIFIED.rank and all(
                    expected_steps(cmp, told.policy) > self._limit
                    for cmp in (self._cmps[self.setting], self._told)):
                self.wrong.setdefault(told.policy.target, steps)


class _AsToBeKnown:
    """The CMP in which those pairs alone have changed whose change is to be known by now."""

    def __init__(self, cmps: Sequence[Cmp]) -> None:
        self.start, self.actions = cmps[0].start, cmps[0].actions
        self.settings: dict[Pair, int] = {}
        self._cmps = cmps

    def transitions(self, state: int, action: int) -> Outcomes:
        setting = self.settings.get((state, action), 0)
        return self._cmps[setting].transitions(state, action)

    def differs(self, pair: Pair, setting: int) -> bool:
        """Return whether the pair is another one in a setting."""
        return sorted(self.transitions(*pair)) != sorted(self._cmps[setting].transitions(*pair))
