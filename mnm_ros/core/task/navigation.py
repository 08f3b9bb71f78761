# SPDX-License-Identifier: Apache-2.0

"""The way to a known state by its published policy, and what is said about it as a goal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from statistics import mean

from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.direct_way import DirectWay
from mnm_ros.core.model.episode import Attempts
from mnm_ros.core.model.integers import as_state
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.said import PlaysForbidden, Reason, Said
from mnm_ros.core.task.step_task import Homing, RunState, StepTask

_MOST_REMEMBERED = 20    # ways, about as many as a mean is taken of
_MOST_TARGETS = 1000


class StepsToGo:
    """
    How many steps ways to the target of a policy still took, from each place on them.

    The places are the known states on an attempt, and None where RESET is next. Only ways that
    have arrived are taken into account, and the last ones most.

    :param policy: by which all these ways were made.
    :ivar credit: steps that direct ways may still lose, as ``Navigation`` has it.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.credit = float(policy.horizon)
        self._means: dict[int | None, tuple[int, float]] = {}    # ways, and their mean

    def expected(self, place: int | None) -> float | None:
        """Return the mean; None if no way that has arrived came through the place."""
        found = self._means.get(place)
        return found[1] if found else None

    def arrived(self, visits: dict[int | None, list[int]], steps: int) -> None:
        """
        Record a way.

        :param visits: for each place how often it was visited, and the sum of the steps so far.
        :param steps: of the whole way.
        """
        for place, (times, total) in visits.items():
            ways, mean = self._means.get(place, (0, 0.0))
            ways = min(ways + 1, _MOST_REMEMBERED)
            self._means[place] = ways, mean + (steps - total / times - mean) / ways


class EarlierWays:
    """Keeps what is known of ways to each of the last targets, as long as its policy stays."""

    def __init__(self) -> None:
        self._known: dict[int, StepsToGo] = {}    # by target

    def by(self, policy: Policy) -> StepsToGo:
        """Return what is known of earlier ways by a policy."""
        known = self._known.pop(policy.target, None)
        if known is None or not known.policy.same_as(policy):
            known = StepsToGo(policy)
        self._known[policy.target] = known
        if len(self._known) > _MOST_TARGETS:
            del self._known[next(iter(self._known))]
        return known


class Navigation(StepTask):
    """
    Attempts to reach the target of a policy until one succeeds, or until it is ended.

    It begins with a RESET, unless it is known where the robot is, and it is at home or may go
    directly. An attempt that leaves the known states, or has not arrived after the horizon, is
    followed by a RESET and the next one. Only the first one may be direct.

    **What is promised.** By way of home, a RESET and ``m`` expected steps (``limit``) at most. Let
    ``X`` be the steps of a direct attempt, and ``1 + m`` more if it fails: the whole goal is
    expected to take no more, whatever the counts are worth. Each direct attempt adds
    ``1 + m - X`` to a credit of the policy. It begins with ``horizon`` steps and has no more
    later, and while it is negative there are no direct attempts. An ``X`` is at most
    ``horizon + 1 + m``, so that the credit never falls below ``-horizon``: any ``n`` goals that
    began elsewhere take ``n (1 + m) + 2 horizon`` expected steps in all at most. A goal that is
    abandoned counts with the steps that it took.

    :param policy: how to reach the target.
    :param home: the state that RESET leads to.
    :param steps_to_go: of earlier ways by this policy; this way is added once it has arrived.
    :param here: where the robot is; None if it may be anywhere.
    :param direct: the way from elsewhere than home, if there is one.
    :ivar from_home: the attempts with the policy from home.
    :ivar steps: taken since the robot was first at home, RESETs included, or since the beginning
        if that is not with a RESET. The expectation from home is the ``expected_steps`` of the
        policy, which ``(1 + epsilon) * radius`` limits.
    :ivar attempts: begun so far.
    :ivar plan: how it begins, and what that is expected to take, in words.
    :ivar on_execution: called with state, action and next state of each step but RESETs that
        began where the robot was known to be; None instead of a state that is not known, as the
        step was broken off.
    :ivar outcome: what came of it, REACHED, CANCELLED or FAILED, and how, as ``GoalReport.over``
        takes them; None as long as it is under way.
    """

    def __init__(self, policy: Policy, home: int, steps_to_go: StepsToGo | None = None,
                 here: int | None = None, direct: DirectWay | None = None) -> None:
        self.state = RunState.RUNNING
        self.steps = 0
        self.attempts = 0
        self.homing = Homing(home)
        self.last_state = None
        self.outcome: tuple[GoalStatus, Reason] | None = None
        self.on_execution: Callable[[int, int, int | None], object] = lambda *execution: None
        self._open: Pair | None = None    # of the step under way
        self._target = policy.target
        self._steps_to_go = steps_to_go or StepsToGo(policy)
        self.from_home = self._attempts = Attempts(policy, ends_outside=True)
        self._direct: DirectWay | None = None    # as long as it is under way
        self._visits: dict[int | None, list[int]] = {}    # as ``StepsToGo.arrived`` takes them
        self.plan = self._begin(here, direct)

    def _begin(self, here: int | None, direct: DirectWay | None) -> str:
        """Begin where the robot is if that is no longer; return ``plan``."""
        if here is None:
            return 'by way of home'
        if here == self._target:
            self._end(GoalStatus.REACHED, 'in 0 steps')
            return 'it is there'
        if here != self.homing.home:
            if direct is None or here not in direct.expected_steps:
                return f'by way of home, as no shorter way is known from {here}'
            if self._steps_to_go.credit < 0:
                return 'by way of home, as direct ways took too long'
            self._direct, self._attempts = direct, Attempts(direct.policy, ends_outside=True)
        self.last_state = here
        self.attempts = 1
        self._attempts.observe(here)
        if self._direct:
            return (f'from where it is: about {self._direct.expected_steps[here]:.1f} steps; '
                    f'by way of home {self._direct.by_home:.1f}')
        self._visits[here] = [1, 0]
        return 'from home, where it is'

    @property
    def result(self) -> str:
        """Return what came of it as a sentence; '' as long as it is under way."""
        return self.outcome[0].sentence(self._target, self.outcome[1]) if self.outcome else ''

    @property
    def expected_steps_left(self) -> float | None:
        """
        Return the mean of what earlier ways by this policy took from here; None without any.

        On a direct way it is what the counts say.
        """
        if self._direct and self.last_state is not None and not self.outcome:
            return self._direct.expected_steps.get(self.last_state)
        # Steps before the robot is first at home do not count.
        return None if self.outcome else self._steps_to_go.expected(
            self._place if self.attempts else self.homing.home)

    @property
    def policies(self) -> tuple[Policy, ...]:
        """Return what it may still play."""
        return (self.from_home.policy, *((self._direct.policy,) if self._direct else ()))

    def objection(self, forbidden: frozenset[Pair]) -> Reason:
        """Return why it must not go on where these pairs are forbidden, or nothing."""
        return next((PlaysForbidden(*played) for policy in self.policies
                     if (played := policy.played(forbidden))), '')

    def next_action(self) -> int:
        if self.last_state is None:
            return RESET
        action = self._attempts.action(self.last_state)
        self._open = None if action == RESET else (self.last_state, action)
        return action

    def observe(self, action: int, state: int) -> None:
        state = as_state(state)
        self._end_step(state)
        self.steps += self.attempts > 0
        self.last_state = state
        if state == self._target:
            self._steps_to_go.arrived(self._visits, self.steps)
            self._end(GoalStatus.REACHED, f'in {self.steps} steps')
        elif self.homing.missed(action, state):
            self._attempts.interrupt()
        else:
            self.attempts += not self._attempts.under_way
            if self._attempts.observe(state) and self._direct:
                self._end_direct(failed=True)
                if state == self.homing.home:    # as if RESET had led there
                    self.attempts += 1
                    self._attempts.observe(state)
        if self.attempts and not self._direct and not self.outcome:
            visits = self._visits.setdefault(self._place, [0, 0])
            visits[0] += 1
            visits[1] += self.steps

    def relocate(self, state: int) -> None:
        """Record that the robot was moved to ``state``: the next attempt begins."""
        self.lose_place()
        self.last_state = state

    def lose_place(self) -> None:
        """Record that the robot may be anywhere: the next attempt begins."""
        self._end_step(None)
        self.last_state = None
        if self._direct:
            self._end_direct(failed=True)
        self._attempts.interrupt()

    def pause(self, reason: Reason) -> None:
        """End it between two steps; it cannot be resumed."""
        self._end(GoalStatus.CANCELLED, reason)

    def robot_lost(self, reason: Reason) -> None:
        """End it because the robot does not answer."""
        self._end(GoalStatus.FAILED, reason)

    def fail(self, reason: Reason, recoverable: bool = True) -> None:
        """End it because of a fault."""
        self._end(GoalStatus.FAILED, reason)

    def finish(self, reason: Reason) -> None:
        """End it because of a limit."""
        self._end(GoalStatus.FAILED, reason)

    @property
    def _place(self) -> int | None:
        """Where the attempt under way has got to; None if RESET is next."""
        return self.last_state if self._attempts.under_way else None

    def _end_step(self, state: int | None) -> None:
        """Report the step under way, if there is one, and where it has led."""
        if self._open is not None:
            execution, self._open = (*self._open, state), None
            self.on_execution(*execution)

    def _end_direct(self, failed: bool = False) -> None:
        """Settle what the direct way has cost; from now on it goes from home."""
        known, direct = self._steps_to_go, self._direct
        assert direct
        gain = (0.0 if failed else 1 + direct.limit) - self.steps
        known.credit = min(known.policy.horizon, known.credit + gain)
        self._direct, self._attempts = None, self.from_home

    def _end(self, status: GoalStatus, how: Reason) -> None:
        self._end_step(None)
        if self._direct:
            self._end_direct()
        self.outcome = self.outcome or (status, how)
        self.state = RunState.DONE


class GoalStatus(Enum):
    """How far a goal is."""

    WAITING = 'waiting'        # until exploration has paused and the goal before it is over
    UNDER_WAY = 'under_way'
    REACHED = 'reached'
    REFUSED = 'refused'        # nothing was moved for it
    CANCELLED = 'cancelled'
    FAILED = 'failed'
    LOST = 'lost'              # said by a client alone: the navigator does not answer any more

    @property
    def over(self) -> bool:
        """Whether the goal has ended."""
        return self not in (GoalStatus.WAITING, GoalStatus.UNDER_WAY)

    def sentence(self, target: int | None, how: Reason) -> str:
        """Return what is said of a goal that is over; ``how`` is why, or what reaching it took."""
        said = self.value if target is None else f'{self.value} {target}'
        return f'{said} {how}' if self is GoalStatus.REACHED else f'{said}: {how}'


@dataclass(frozen=True)
class GoalReport:
    """
    A goal and how far it is.

    :ivar id: distinguishes it from all other goals.
    :ivar target: the state to go to; None if that was never heard.
    :ivar status: how far it is.
    :ivar text: the same as a sentence for people.
    :ivar how: why it is over, unless it was reached, for people.
    :ivar said: the same as a value; None where it is in words only.
    :ivar ending: why it ends after the step under way; '' if it does not.
    :ivar steps, attempts: as ``Navigation`` has them.
    :ivar expected_steps_left: the mean, over earlier ways that have arrived, of the steps that
        were still to come, or what the counts say on a direct way; None without such a way, and
        when the goal is over.
    :ivar expected_seconds_left: what these take, by the mean time of a step.
    :ivar accepted: when the navigator has heard of it, in ns by the clock of the navigator.
    :ivar ended: when it was over; None before that.
    :ivar least_trust: that its policy needs; None for what the navigator asks for.
    :ivar stays: s for which the robot stays there from ``ended`` on, as long as it does; else
        None.
    :ivar by: from where it comes: ``topic goal``, ``topic goal/request`` or ``nav2``.
    """

    id: int    # noqa: A003
    target: int | None
    status: GoalStatus
    text: str
    steps: int = 0
    attempts: int = 0
    expected_steps_left: float | None = None
    accepted: int = 0
    ended: int | None = None
    least_trust: str | None = None
    expected_seconds_left: float | None = None
    stays: float | None = None
    by: str = ''
    how: str = ''
    said: Said | None = None
    ending: Reason = ''

    def on(self, way: Navigation | None, seconds: Mapping[int, float]) -> GoalReport:
        """
        Return the report with the present figures of a way; the same without a way.

        :param seconds: the mean time of each action, RESET included, as far as it is measured.
        """
        if way is None:
            return self
        left = way.expected_steps_left
        moves = [each for action, each in seconds.items() if action != RESET]
        return replace(self, steps=way.steps, attempts=way.attempts, expected_steps_left=left,
                       expected_seconds_left=left * mean(moves) if left and moves else None)

    def over(self, status: GoalStatus, how: str, ended: int | None,
             said: Said | None = None) -> GoalReport:
        """Return the report of its end; ``how`` is as for ``GoalStatus.sentence``."""
        return replace(self, status=status, text=status.sentence(self.target, how),
                       how='' if status is GoalStatus.REACHED else how,
                       said=None if status is GoalStatus.REACHED else said,
                       expected_steps_left=None, expected_seconds_left=None, ended=ended)
