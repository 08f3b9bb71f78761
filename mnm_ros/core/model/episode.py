# SPDX-License-Identifier: Apache-2.0

"""
Attempts to reach the target of a policy from home.

Why a certificate holds for what is published later. A policy ``pi`` that plays the same at every
step and is certified on the states ``K1`` known then is published over more, ``K2``. In a state
of ``K2`` outside ``K1`` it plays a RESET that is one step of the attempt, whose clock goes on;
outside ``K2`` the attempt is over, and the next one begins with step 0. It is to be certified for
every ``K2``. Fix one, let ``W`` be ``tau`` of what is published, and ``w_h`` the expected steps to
go from home when the clock shows ``h``, so that ``w_0 = W``. Run ``pi`` from home once with ``H =
G - h`` steps left and once with all ``G``. Both go the same way until the ``H`` steps are over,
unless they arrive or leave ``K2`` before, after which they are equal. If not, one goes home for
``1 + W`` and the other still has at least one step to go. So ``w_h <= W + W c_H``, where ``c_H``
is the probability that ``pi``, going home wherever it leaves ``K1``, does not arrive within ``H``
steps: that does not depend on ``K2``. An attempt that first leaves ``K1`` after ``l < G`` steps
has at most ``l + 1 + max(W, w_(l+1))`` steps to come in all. With ``len`` and ``failed`` of an
attempt that is over where it leaves ``K1``,

    W <= E[len] + P(failed) (1 + W) + W P(it leaves K1, goes home and on, and has not arrived
                                          when the clock shows G).

So ``W <= m`` if ``E[Y] <= m``, where ``Y = len + 1{failed} (1 + m) + m 1{left K1 and not arrived
when the clock shows G}``: both say ``a + b W <= W`` with the same ``a > 0`` and ``b``. The test
sees this event, as an attempt that leaves ``K1`` goes on with a RESET until it arrives or the
clock shows ``G``. As ``w_(l+1) <= G - l + W`` in any case, attempts with ``l + m > R = max(G,
ceil(m + L))`` may count as failed at the horizon instead, so that ``Y`` stays in ``[0, R + 1 +
m]``; ``R = G`` for ``epsilon <= 1``. Only ``w_(l+1) <= G - l + W`` holds for a policy that does
not play the same at every step: every attempt with it that leaves ``K1`` counts so.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET


class Episode:
    """
    An attempt under way; it begins at home, before the first action.

    :param policy: what is attempted.
    :param ends_outside: whether the attempt is over (failed) as soon as it leaves the policy's
        states, as a published policy is executed. If not, the RESET executed there is one
        of its steps, as in the printed UcbExplore.
    :param certify: ``m``, the expected steps to certify for a policy that may be published over
        more states than it has now; 0 for one that is attempted as it is published.
    :param most: steps that may count for an attempt that has failed, at least the horizon.

    In a state learnt later, a published policy plays a RESET that is one of the steps of the
    attempt, while the attempt is over where the state is not learnt. To certify it either way, an
    attempt that leaves the states of the policy after ``l`` steps goes on with a RESET, only to
    see whether it arrives within the horizon ``G``. It has failed after ``l`` steps if so, after
    ``l + m`` if not, and after ``most`` at once if ``l + m`` is above that, or if the policy does
    not play the same at every step. The top of this file proves that this is enough.

    :ivar length: steps so far; at the end, those that count.
    :ivar over: whether it has ended; failed: whether it has ended without arriving.
    :ivar left: after how many steps it has left the states that count; 0 if it has not.
    """

    def __init__(self, policy: Policy, ends_outside: bool, certify: float = 0.0,
                 most: int = 0) -> None:
        self.policy = policy
        self.most = max(policy.horizon, most)
        self.length = 0
        self.over = False
        self.failed = False
        self._ends_outside = ends_outside
        self._certify = certify
        self.left = 0

    def action(self, here: int) -> int:
        """Return what the policy plays next in ``here``."""
        return self.policy.action(self.length, here)

    def observe(self, state: int) -> None:
        """Record the state after the action: one more step."""
        self.length += 1
        if state == self.policy.target:
            self._end(self.left or self.length, failed=self.left > 0)
        elif self.length >= self.policy.horizon:
            self._end(math.ceil(self.left + self._certify) if self.left else self.length)
        elif self._ends_outside and not self.left and not self.policy.covers(state):
            self._leave()

    def _leave(self) -> None:
        if not self._certify:
            self._end(self.length)
        elif self.length + self._certify > self.most or len(self.policy.actions) > 1:
            self._end(self.most)
        else:
            self.left = self.length

    def _end(self, length: int, failed: bool = True) -> None:
        self.over, self.failed, self.length = True, failed, length


class Attempts:
    """
    Makes one attempt after the other with the same policy, each from home.

    Between two attempts the robot goes home; whether it has arrived is judged by ``Homing``,
    so a step that is observed while no attempt is under way has led home.

    An attempt is one with the policies to states on its way, too, as long as they play the same.
    Before it begins it is said for which ones it counts; for one that would play something else
    before it has ended, it is broken off, and so it is for one that has not ended with it. So what
    an attempt counts for is decided by the past, and each policy has one attempt more that ends as
    it may, or as bad as any: what a test of it takes to be true holds as if it were alone.

    :param policy: what is attempted.
    :param ends_outside, certify, most: as for ``Episode``.
    :param passed: the policies for which an attempt counts beside.
    """

    def __init__(self, policy: Policy, ends_outside: bool, certify: float = 0.0,
                 most: int = 0, passed: Sequence[Policy] = ()) -> None:
        self.policy = policy
        self.passed = tuple(passed)
        self._ends_outside = ends_outside
        self._certify = certify
        self._most = most
        self._episode: Episode | None = None
        self._beside: Sequence[Episode] = ()
        self._ended: Sequence[tuple[Episode, bool]] = ()
        self._here: int | None = None

    @property
    def under_way(self) -> bool:
        """Whether an attempt has begun; if not, the next action is RESET."""
        return self._episode is not None

    def action(self, here: int) -> int:
        """Return the next action in ``here``: RESET unless an attempt is under way."""
        return RESET if self._episode is None else self._episode.action(here)

    def observe(self, state: int) -> Episode | None:
        """Record the state after the action; return the attempt that it has ended."""
        here, self._here = self._here, state
        episode = self._episode
        if episode is None:
            self._episode = self._begun(self.policy)
            self._beside = [self._begun(policy) for policy in self.passed]
            return None
        if self._beside:
            assert here is not None
            self._observe_beside(here, episode.action(here), state)
        episode.observe(state)
        if not episode.over:
            return None
        self._episode = None
        self._break_off_beside()
        return episode

    def take_ended(self) -> Sequence[tuple[Episode, bool]]:
        """Return once what has ended beside, and whether it was broken off."""
        ended, self._ended = self._ended, ()
        return ended

    def interrupt(self) -> Episode | None:
        """
        Break the attempt under way off, as the robot may be anywhere, and return it.

        A test of the policy has to count it: what is broken off is more often what takes
        long, so that the other attempts alone would flatter the policy.
        """
        broken, self._episode = self._episode, None
        self._break_off_beside()
        return broken

    def _begun(self, policy: Policy) -> Episode:
        return Episode(policy, self._ends_outside, self._certify, self._most)

    def _observe_beside(self, here: int, action: int, state: int) -> None:
        going_on = []
        for episode in self._beside:
            parts = episode.action(here) != action
            if not parts:
                episode.observe(state)
            if parts or episode.over:
                self._ended = (*self._ended, (episode, parts))
            else:
                going_on.append(episode)
        self._beside = going_on

    def _break_off_beside(self) -> None:
        self._ended = (*self._ended, *((episode, True) for episode in self._beside))
        self._beside = ()
