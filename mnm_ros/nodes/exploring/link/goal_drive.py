# SPDX-License-Identifier: Apache-2.0

"""Plays goals on a robot between two steps of its exploration: one node commands, the explorer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
import math
import time
from typing import Protocol

from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import messages
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.said import (
    ExplorerInactive,
    GoalUnderWay,
    NavigatorCancelled,
    NavigatorGone,
    NextGoalCame,
    NoPolicy,
    PlaysClosed,
    Reason,
    Said,
    StaysAtGoal,
)
from mnm_ros.core.task.navigation import EarlierWays, GoalReport, GoalStatus, Navigation
from mnm_ros.nodes.common.allowance import Allowance, TOO_MANY_GOALS
from mnm_ros.nodes.common.callbacks import seconds_of
from mnm_ros.nodes.common.commanding import ends_after_step, HomeService, step_limits
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.common.whereabouts import Whereabouts
from mnm_ros.parameters import Parameters
from mnm_ros.protocol.exchange import REPORT, SequenceNumbers
from mnm_ros.protocol.loop import StepLimits
from mnm_ros.protocol.step_loop import StepLoop
from mnm_ros.view.sentences import sentence
from std_msgs.msg import Int64, Int64MultiArray

_LINGER = 0.5    # s, for which the robot waits where a goal was reached: the next may follow
_PERIOD = 0.1    # s, at least between two reports that differ by the steps alone
_LEFT = 5.0      # s, without a request of the navigator, after which its goal is abandoned
_KEPT = 20       # reports of goals that are over: a navigator may ask again


class _Host(Protocol):
    """The part of the link to a robot that a goal needs."""

    loop: StepLoop
    numbers: SequenceNumbers

    @property
    def refused(self) -> bool:
        """Whether the robot side has refused the last command."""

    @property
    def commands(self) -> bool:
        """Whether this explorer is the one that commands the robot."""

    def send_command(self, seq: int, action: int, here: int | None) -> None:
        """Send a command that is meant for a robot in the state ``here``."""

    def ask(self, question: Callable[[Exploration], None]) -> None:
        """Call a function with the exploration, once that may be touched."""

    def learn(self, state: int, action: int, after: int | None) -> None:
        """Let the exploration learn from a step."""

    def lend(self, reason: Reason) -> None:
        """Let the exploration wait, because of a reason, or go on if it is empty."""


class GoalDrive:
    """
    Takes goals from ``goal/drive`` and says on ``goal/drive/status`` what becomes of them.

    A goal begins when the step of the exploration under way is over. The exploration learns from
    each step of the goal, and goes on with a RESET afterwards. A navigator asks again as long as
    it wants the goal. So the explorer notices that the navigator has gone, and hears of the goal
    after a restart.

    :param host: the link to the robot, whose numbers the commands have.
    :ivar reason: why the exploration leaves the robot alone; empty if it does not.
    """

    def __init__(self, node: NodeInterface, parameters: Parameters, host: _Host,
                 allowance: Allowance) -> None:
        self.reason: Reason = ''
        self._node, self._given, self._host = node, parameters, host
        self._report: GoalReport | None = None
        self._over: dict[int, GoalReport] = {}    # the last goals, by id
        self._asked = messages.DriveGoal(0, 0, 0.0, True, 0)
        self._leave_at = math.inf            # when the robot leaves the goal that it has reached
        self._way: Navigation | None = None
        self._loop: StepLoop | None = None    # from the first goal on
        self._home: HomeService | None = None
        self._ways = EarlierWays()
        self._whereabouts = Whereabouts(node, node.resolve_topic_name('action'))
        self._told_at = self._seen_at = 0.0
        self._untold = self._open = False
        self._take = allowance.limited(
            node.resolve_topic_name('goal/drive').lstrip('/'), self._take_goal, self._refuse)
        messages.hear(node, Int64MultiArray, 'goal/drive', messages.STEP, messages.decode_drive,
                      self._on_goal)
        node.create_subscription(Int64, 'goal/drive/cancel', self._on_cancel, messages.STEP)
        self._status = node.create_publisher(
            DiagnosticArray, 'goal/drive/status', messages.LATCHED)

    @property
    def driving(self) -> bool:
        """Whether a goal has the robot, or is to have it after the step under way."""
        return self._report is not None and (
            not self._report.status.over or self._leave_at < math.inf)

    def open(self) -> None:    # noqa: A003
        """Take goals from now on."""
        self._open = True

    def close(self, reason: Reason) -> None:
        """Give the goal up at once, and refuse others."""
        self._open = False
        self.end(GoalStatus.CANCELLED, reason)

    def end(self, status: GoalStatus, how: Reason) -> None:
        """End the goal, at once, and the stay at one."""
        self._end_report(status, how)
        self._stop(how)
        self._release()

    def _end_report(self, status: GoalStatus, how: Reason) -> None:
        """Say that the goal is over, if it is not."""
        if self._report is not None and not self._report.status.over:
            self._tell(_over(self._report.on(self._way, self._seconds), status, how))

    def _stop(self, how: Reason) -> None:
        """End the way to the goal, and the stay there."""
        self._leave_at = math.inf
        way, self._way = self._way, None
        if self._loop:
            self._loop.running = False
        if way is not None and not way.outcome:
            way.pause(how)

    def leave(self) -> None:
        """End the stay at the goal that the robot has reached, if it stays at one."""
        if self._leave_at < math.inf and self._report is not None:
            self._leave_at = math.inf
            self._tell(replace(self._report, stays=None))
            self._release()

    def yield_robot(self, fails: Reason, waits: Reason, now: float) -> None:
        """
        Leave the robot alone.

        :param fails: why the goal fails at once; empty if it goes on.
        :param waits: why the goal waits until this is empty, and goes on with a RESET.
        """
        if fails and self.driving:
            self.end(GoalStatus.FAILED, fails)
        elif self._way is not None and self._loop and bool(waits) is self._loop.running:
            if waits:
                self._loop.running = False
                self._loop.drive(self._way)    # the answer to the command under way is too late
                self._way.lose_place()
            else:
                self._loop.resume(now)
            self._settle()

    def at_rest(self) -> None:
        """Begin a goal that waits: no order of the exploration is open."""
        if self._report and self._report.status is GoalStatus.WAITING and not self.reason:
            self._take_robot(self._report)

    def on_state(self, seq: int, state: int, now: float) -> None:
        """Take a ``state`` message."""
        if self._way is not None and self._loop:
            self._loop.on_state(seq, state, now)
            self._settle()
        self._whereabouts.heard = seq, state
        if (seq == REPORT and self._leave_at < math.inf and self._report is not None
                and state != self._report.target):    # it was moved, perhaps home
            self._leave_at = -math.inf

    def tick(self, now: float) -> None:
        """Watch the times; to be called often."""
        if self._untold and now >= self._told_at + _PERIOD:
            self._told_at = now
            self._publish()
        if self._report is None or not self.driving:
            return
        if now > self._seen_at + _LEFT:
            self.end(GoalStatus.CANCELLED, NavigatorGone())
        if now >= self._leave_at:
            self.leave()
        if self._way is None or self._loop is None:
            return
        self._loop.adjust(self._limits)
        self._loop.tick(now)
        self._settle()
        if self._way is not None and now >= self._told_at + _PERIOD:
            figures = self._report.on(self._way, self._seconds)
            if figures != self._report:
                self._tell(figures)

    def on_graph_change(self, joined: bool, left: bool, now: float) -> None:
        """Record that a node, perhaps a robot, has joined or left: the robot may be anywhere."""
        self._whereabouts.heard = None
        if self._way is not None and self._loop:
            self._loop.on_graph_change(joined, left, now)
            self._settle()

    def look_at_declared(self, exploration: Exploration) -> None:
        """End a goal whose policy plays what is declared by now never to be commanded."""
        way = self._way
        if way is None or self._loop is None:
            return
        reason = way.objection(exploration.mnm.support.all_forbidden)
        if reason and exploration.mnm.support.forbids(
                way.last_state if way.last_state is not None else RESET, way.next_action()):
            self.end(GoalStatus.CANCELLED, reason)    # the command is not sent again either
        elif reason:
            self._loop.pause_after_step(reason)
            self._settle()
            if self._way is way and self._report:
                self._tell(ends_after_step(self._report, reason))

    def _on_goal(self, asked: messages.DriveGoal) -> None:
        if not self._host.commands:
            return    # the explorer that does takes it
        now = time.monotonic()
        own = self._report is not None and asked.id == self._report.id
        if own or asked.id in self._over:
            self._seen_at = now if own else self._seen_at
            self._untold = True
        else:
            self._take(asked)

    def _refuse(self, asked: messages.DriveGoal) -> None:
        """Say soon that a goal of too many is refused."""
        self._end_soon(_over(_waiting(asked.id, asked.target), GoalStatus.REFUSED, TOO_MANY_GOALS))

    def _take_goal(self, asked: messages.DriveGoal) -> None:
        self._end_report(GoalStatus.CANCELLED, NextGoalCame(asked.target))
        self._stop(NextGoalCame(asked.target))
        self._asked, self._seen_at = asked, time.monotonic()
        goal = _waiting(asked.id, asked.target)
        self._tell(goal)
        if not self._open:
            self.end(GoalStatus.REFUSED, ExplorerInactive())
        elif self.reason:    # the robot waits where the last one has ended
            self._take_robot(goal)

    def _on_cancel(self, message: Int64) -> None:
        if not self._host.commands:
            return
        if self._report is None or message.data != self._report.id:
            if message.data not in self._over:    # the goal itself may be on its way
                self._end_soon(_over(
                    _waiting(message.data, None), GoalStatus.CANCELLED, NavigatorCancelled()))
            return
        self.leave()
        if self._way is not None and self._loop:
            self._loop.pause_after_step(NavigatorCancelled())
            self._settle()
        elif not self._report.status.over:
            self.end(GoalStatus.CANCELLED, NavigatorCancelled())

    def _take_robot(self, goal: GoalReport) -> None:
        assert goal.target is not None
        self._wait(GoalUnderWay(goal.target))
        self._host.ask(lambda exploration: self._begin(goal, exploration))

    def _begin(self, goal: GoalReport, exploration: Exploration) -> None:
        if goal is not self._report or goal.status.over or goal.target is None:
            return
        policy = exploration.policy_to(goal.target)
        if policy is None or exploration.home is None:
            self.end(GoalStatus.REFUSED, NoPolicy())
            return
        here = self._whereabouts.here(self._host.numbers.last) if self._asked.direct else None
        direct = None if here in (None, exploration.home) else exploration.direct_way(goal.target)
        way = Navigation(policy, exploration.home, self._ways.by(policy), here, direct)
        reason = (way.objection(exploration.mnm.support.all_forbidden)
                  or _closed_on(policy, exploration))
        if reason:
            self.end(GoalStatus.REFUSED, reason)
            return
        way.on_execution = self._learn
        self._way = way
        if self._loop is None:
            service = self._given['reset_mode'] == 'service'
            self._home = HomeService(self._node, self._on_home) if service else None
            self._loop = StepLoop(
                way, self._limits, self._host.numbers, self._order,
                self._home.call if self._home else None, seconds_of(self._node))
        self._loop.drive(way)
        self._tell(replace(goal, status=GoalStatus.UNDER_WAY,
                           text=f'on the way to {goal.target} {way.plan}'))
        self._loop.resume(time.monotonic())
        self._settle()

    def _learn(self, state: int, action: int, after: int | None) -> None:
        """Let the exploration learn from a step, unless the robot side has refused it."""
        if after is not None or not self._host.refused:
            self._host.learn(state, action, after)
            if after == state:
                self._host.ask(self._look_at_closed)

    def _look_at_closed(self, exploration: Exploration) -> None:
        """End a goal whose way turns out to be closed: nothing is relearnt while it is driven."""
        if self._way is not None and not self._way.outcome:
            reason = _closed_on(self._way.from_home.policy, exploration)
            if reason:
                self.end(GoalStatus.FAILED, reason)

    def _order(self, seq: int, action: int) -> None:
        self._host.send_command(seq, action, self._way.last_state if self._way else None)

    @property
    def _limits(self) -> StepLimits:
        return replace(step_limits(self._given), max_steps=self._asked.most)

    @property
    def _seconds(self) -> Mapping[int, float]:
        return self._loop.seconds if self._loop else {}

    def _settle(self) -> None:
        """End the goal if its way has ended."""
        way = self._way
        if way is None or not way.outcome or self._report is None:
            return
        status, how = way.outcome
        if status is not GoalStatus.REACHED:
            self.end(status, how)
            return
        assert self._loop
        self._way, self._loop.running = None, False
        stays = self._asked.stays if self._host.loop.running else 0.0
        self._leave_at = time.monotonic() + max(_LINGER, stays)
        if stays and self._report.target is not None:
            self._wait(StaysAtGoal(self._report.target, stays))
        self._tell(replace(self._report.on(way, self._seconds), status=status, text=sentence(how),
                           stays=stays or None))

    def _wait(self, reason: Reason) -> None:
        self.reason = reason
        self._host.lend(reason)

    def _release(self) -> None:
        if self.reason:
            self._wait('')

    def _on_home(self, attempt: int, success: bool, text: str) -> None:
        if self._loop and self._way is not None:
            self._loop.on_home_response(attempt, success, text, time.monotonic())
            self._settle()

    def _tell(self, report: GoalReport) -> None:
        self._report, self._told_at = report, time.monotonic()
        if report.status.over:
            self._end_soon(report)
        self._publish()

    def _end_soon(self, report: GoalReport) -> None:
        """Keep the report of a goal that is over, for the next message."""
        self._over[report.id] = report
        while len(self._over) > _KEPT:
            del self._over[next(iter(self._over))]
        self._untold = True

    def _publish(self) -> None:
        self._untold = False
        reports = {**self._over, **({self._report.id: self._report} if self._report else {})}
        self._status.publish(messages.encode_goals(
            self._node.get_clock().now().to_msg(), reports.values()))


def _waiting(goal_id: int, target: int | None) -> GoalReport:
    """Return the report of a goal that has just come."""
    return GoalReport(goal_id, target, GoalStatus.WAITING, 'waits for the step under way')


def _over(report: GoalReport, status: GoalStatus, how: Reason) -> GoalReport:
    """Return the report of a goal that is over; the navigator adds the target to the text."""
    return replace(report, status=status, text=sentence(how),
                   said=how if isinstance(how, Said) else None,
                   expected_steps_left=None, expected_seconds_left=None)


def _closed_on(policy: Policy, exploration: Exploration) -> Reason:
    """Return which closed way a policy plays, or nothing."""
    played = policy.played(exploration.closed)
    return PlaysClosed(*played) if played else ''
