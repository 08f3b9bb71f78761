# SPDX-License-Identifier: Apache-2.0

"""The explorer's end of the step protocol: from the answer of one robot to the next command."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import time
from typing import cast

from mnm_ros import messages
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.said import (
    ExplorerEnding,
    ExplorerInactive,
    LastHomeMissed,
    NodeEnding,
    Reason,
)
from mnm_ros.core.task.step_task import OVER, StepTask
from mnm_ros.nodes.common.callbacks import seconds_of
from mnm_ros.nodes.common.commanding import HomeService, step_limits
from mnm_ros.nodes.common.graph_watch import (
    apart,
    bag_played,
    CommandPublisher,
    Endpoints,
    GraphWatch,
)
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.link.arbitration import Arbitration, LISTENING
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.nodes.exploring.link.goal_drive import GoalDrive
from mnm_ros.nodes.exploring.link.robot_link import RobotLink
from mnm_ros.parameters import Parameters
from mnm_ros.protocol.exchange import CommandNumbers, REPORT, SequenceNumbers
from mnm_ros.protocol.loop import StepLimits
from mnm_ros.protocol.return_home import LastReset
from mnm_ros.protocol.single_robot_guard import SingleRobotGuard
from mnm_ros.protocol.step_loop import StepLoop
from mnm_ros.view.sentences import sentence
from std_msgs.msg import String

_JUST_NOW = 0.5    # s, in which a robot side says that it was called
_REMEMBERED = 100    # reports that may come twice
_WAITING = 1000    # reports that wait for the end of a plan: none is lost
_REST = 2.0    # s, for a robot side to say that the robot has come to rest; it may be busy


class CommandLink(RobotLink):
    """
    Commands the robot on ``action``, unless another explorer does.

    :param task: what is explored.
    :param numbers: of commands.
    :param robot: the namespace of one of several robots.
    :param ask: calls a function with the exploration, once that may be touched; None where the
        exploration is the task.
    """

    loop: StepLoop

    def __init__(self, node: NodeInterface, parameters: Parameters, task: StepTask,
                 guard: CallbackGuard, numbers: CommandNumbers, robot: str = '',
                 ask: Callable[[Callable[[Exploration], None]], None] | None = None) -> None:
        super().__init__(node, parameters, guard,
                         SingleRobotGuard(parameters['reset_mode'] == 'action'))
        self._last_reset: LastReset | None = None
        self._rest_by: float | None = None    # when the robot should have come to rest
        self._commands = CommandPublisher(node)
        self._home = (HomeService(node, guard.while_open(self._on_home))
                      if parameters['reset_mode'] == 'service' else None)
        self.numbers = SequenceNumbers(numbers.first(), numbers)
        self._arbitration = Arbitration(
            node, self._commands.topic_name, time.time_ns(), time.monotonic())
        self.loop = StepLoop(
            task, step_limits(parameters), self.numbers,
            lambda seq, action: self.send_command(seq, action, self.loop.task.last_state),
            self._home.call if self._home else None, seconds_of(node))
        self.loop.before_step = self._before_step
        if ask is None:    # a robot of a fleet follows a plan that the fleet makes aside
            self.loop.aside = guard.aside
        states = self._subscribe('state', self._on_state)
        self.graph = GraphWatch(
            node, self._commands, states, self._home, sides=self._robots)
        self.robot, self._ask = robot, ask
        self._name = node.get_fully_qualified_name()
        self._refused: int | None = None    # the last command that the robot side has refused
        self._actions = len(parameters['actions'])
        messages.hear(node, String, 'step_report', messages.STEP, messages.decode_step_report,
                      guard.for_topic(self._on_step_report, _WAITING))
        self._witnessed: deque[int] = deque(maxlen=_REMEMBERED)
        self._resets: deque[int] = deque(maxlen=_REMEMBERED)    # numbers of own ones
        self._reporters = Endpoints(
            node, node.resolve_topic_name('step_report'), publishers=True)
        self._goals = GoalDrive(node, parameters, self, guard.allowance)

    def ask(self, question: Callable[[Exploration], None]) -> None:
        """Call a function with the exploration, once that may be touched."""
        if self._ask is not None:
            self._ask(question)
        else:
            self._guard.call(lambda: question(cast(Exploration, self.loop.task)))

    @property
    def refused(self) -> bool:
        """Whether the robot side has refused the last command."""
        return self._refused == self.numbers.last

    def _on_step_report(self, report: messages.StepReport) -> None:
        own = self.numbers.sent(report.seq)
        if own and report.refused and report.commander != self._name:    # else another's number
            self._refused = report.seq
        # A robot side reports each step if it does not know yet that this node is an explorer. Its
        # answer counts. Those of several robots count in the order of their ends.
        if report.legs and not (own and (self.robot or report.seq not in self._resets)):
            self._learn_once(report)
        if report.commander and report.seq == self._refused:
            now = time.monotonic()
            self._arbitration.on_refusal(report.commander, now)
            self._arbitrate(now)

    def _learn_once(self, report: messages.StepReport) -> None:
        """Learn from what was executed besides commands, if it is the robot side that says so."""
        reporters = self._reporters.known()
        others = apart(reporters, self._robots.tellers.known())
        if others:    # it cannot be known which node has sent the message
            self._node.get_logger().warning(
                f'step_report ignored: {", ".join(others)} publishes it, expected robot sides '
                'alone, which publish state, too', throttle_duration_sec=10.0)
        elif report.seq not in self._witnessed and not bag_played(reporters):
            self._witnessed.append(report.seq)
            for state, action, after in report.legs:
                if 0 <= action < self._actions:
                    self.learn(state, action, after)

    def learn(self, state: int, action: int, after: int | None) -> None:
        """Let the exploration learn from a step that is none of its own, unless it is over."""
        def take(exploration: Exploration) -> None:
            if exploration.state not in OVER:
                exploration.observe_work(state, action, after, self.robot)
        self.ask(take)

    def lend(self, reason: Reason) -> None:
        """Let the exploration wait for a goal, or go on if the reason is empty."""
        self._guard.call(self.loop.lend_robot, reason, time.monotonic())

    @property
    def commands(self) -> bool:
        """Whether this explorer is the one that commands the robot."""
        return self._arbitration.commands and self._commands.reachable

    def serve_goals(self, wanted: bool) -> None:
        if wanted:
            self._goals.open()
        else:
            self._goals.close(ExplorerInactive())

    def end_stays(self) -> None:
        self._goals.leave()

    def look_at_declared(self, exploration: Exploration) -> None:
        self._goals.look_at_declared(exploration)

    @property
    def last_command(self) -> int | None:
        return self.loop.last_command if self._arbitration.commands else None

    @property
    def standing_by(self) -> bool:
        return self._arbitration.stands_by

    def resets_by_service(self, robot: str = '') -> bool:
        return self._home is not None and self._home.called_since(time.monotonic() - _JUST_NOW)

    def unanswered(self, now: float) -> float:
        return 0.0 if self.missing(now) else self.loop.unanswered(now)

    def tick(self, limits: StepLimits, now: float) -> None:
        super().tick(limits, now)
        if self.loop.idle:    # else it begins before the next step
            self._goals.at_rest()
        self._goals.tick(now)
        if self._last_reset:
            self._last_reset.tick(now)

    def announce(self) -> None:
        self._arbitration.publish()

    def leave(self, how: str, limit: float) -> bool:
        if self._last_reset is None and self._rest_by is None:
            goal = self._goals.driving
            driving, under_way = self.loop.driving or goal, self.loop.under_way or goal
            if driving:
                self._guard.call(self.loop.pause, NodeEnding())
            self._goals.close(ExplorerEnding())
            if not driving:
                return True
            if how == 'reset':
                self._go_home(limit)
            elif how == 'rest' and under_way:
                self._commands.close()    # which shows the robot side that it is not commanded
                self._rest_by = time.monotonic() + _REST
            else:
                return True
        if self._last_reset:
            reachable = self.graph.has_home_service if self._home else self.graph.has_partner
            return self._last_reset.over or not reachable
        return not self._awaits_rest or time.monotonic() >= (self._rest_by or 0.0)

    @property
    def _awaits_rest(self) -> bool:
        """Whether a robot side has not said yet that the robot has come to rest."""
        return self.loop.under_way and bool(self._robots.look())

    def close(self) -> None:
        """Say how the robot is left, once the last action has been heard."""
        self._say_how_it_was_left()
        if self._last_reset and not self._last_reset.over:
            self._commands.wait_until_heard()

    def _before_step(self) -> None:
        self._look_again()
        self._goals.at_rest()

    def _on_graph_change(self, joined: bool, left: bool, now: float) -> None:
        super()._on_graph_change(joined, left, now)
        self._goals.on_graph_change(joined, left, now)

    def send_command(self, seq: int, action: int, here: int | None) -> None:
        """Send a command that is meant for a robot in the state ``here``."""
        if action == RESET:
            self._resets.append(seq)
        self._single.sent(seq, time.monotonic())
        self._commands.send(seq, action, here, self.profile.description.guarded)

    def _go_home(self, limit: float) -> None:
        self._node.get_logger().info(f'going home before the node ends, at most {limit:g} s; a '
                                     'second Ctrl-C ends at once')
        self._last_reset = LastReset(
            lambda seq, action: self.send_command(seq, action, None),
            self._home.call if self._home else None, self.numbers, time.monotonic())

    def _say_how_it_was_left(self) -> None:
        logger, home = self._node.get_logger(), self.loop.task.homing.home
        if self._last_reset and not self._last_reset.over:
            logger.warning('the robot has not come home')
        elif self._last_reset and self._last_reset.state not in (None, home) and home is not None:
            logger.warning(sentence(
                LastHomeMissed(self._last_reset.state, home), self.profile.names))
        elif self._last_reset:
            logger.info('the robot is at home')
        elif self._rest_by is not None and self._awaits_rest:
            logger.warning('the robot has not said that it has come to rest')

    def _on_state(self, step: tuple[int, int]) -> None:
        seq, state = step
        self._seen = state
        now = time.monotonic()
        if self._last_reset:
            self._last_reset.on_state(seq, state)
        self._look_who_answers()
        foreign = seq != REPORT and not self.numbers.sent(seq)
        if seq == self._refused and self.refused:
            seq = REPORT    # it was not executed, and the report of that was lost
        self._goals.on_state(seq, state, now)
        driving = self.loop.running or self._goals.driving
        if driving and foreign:
            self._arbitration.on_foreign_answer(now)
        elif seq == REPORT:
            self._single.reported()
        elif not foreign:
            self._single.answered(seq, now)
        if driving and (foreign or self._single.several):
            self._arbitrate(now)
        self._guard.call(self.loop.on_state, seq, state, now)
        self.after_state()

    def _on_home(self, attempt: int, success: bool, text: str) -> None:
        if self._last_reset:
            self._last_reset.on_home_response(success)
        self._guard.call(self.loop.on_home_response, attempt, success, text, time.monotonic())
        self.after_state()

    def _arbitrate(self, now: float) -> None:
        # Both keep count, so they are always asked.
        objection = self.profile.objection(now)
        reason = self._arbitration.reason_to_yield(now)
        if self._last_reset or self._rest_by is not None:
            return
        if self._arbitration.commands:
            self._commands.open()
            reason = reason or self._single.objection(self.loop.timer.timeout, now)
            if not reason and not self._commands.reachable:
                reason = LISTENING
        else:
            self._commands.close()
        self._guard.call(self.loop.yield_robot, objection or reason, now)
        self._goals.yield_robot(self.profile.mismatch or reason, objection, now)
