# SPDX-License-Identifier: Apache-2.0

"""The robot's side of the step protocol on ``action`` and ``state``, with ``return_home``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
import math
import time
from typing import Any

from mnm_ros import messages
from mnm_ros.checkpoint.stop_record import StopRecord
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.model.support import Support
from mnm_ros.nodes.common.allowance import Allowance
from mnm_ros.nodes.common.callbacks import answering
from mnm_ros.nodes.common.commander_gate import CommanderGate
from mnm_ros.nodes.common.commanding import (
    CALL_AGAIN,
    ExplorationPause,
    FREE,
    GOING_HOME,
    NOT_AT_REST,
    Stand,
    STOPPED,
)
from mnm_ros.nodes.common.request_topic import HomeRecord, RequestTopic
from mnm_ros.nodes.common.robot_profile import DescriptionTopic
from mnm_ros.parameters import Parameters, ROBOT_SIDE
from mnm_ros.protocol.exchange import Command, Reaction, REPORT, StepServer
from mnm_ros.robot_description import RobotDescription
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from std_msgs.msg import Bool, Int64MultiArray, String
from std_srvs.srv import SetBool, Trigger

_WATCH_PERIOD = 0.1    # s, between two checks of the time and of which nodes are there


class RobotSide(Node):
    """
    A robot that executes one action at a time and publishes the state in which it ended.

    Subclasses set ``action_names`` before the first action arrives and implement ``execute`` and
    ``return_home``. Both return the state in which the robot has ended, or None if that takes
    time; the subclass then calls ``arrived`` at the end. It must not block meanwhile, and should
    implement ``cancel``.

    :ivar action_names: the names of the actions, RESET not among them.
    :ivar action_timeout: s, after which what is under way is cancelled; 0 for never.
    :ivar allowance: for calls that others may make as often as they like.
    :ivar requests: says who asks for what, for the record that the explorer keeps.
    :ivar steady_clock: for timers of the subclass that are not to follow simulated time.
    """

    action_names: Sequence[str] = ()
    action_timeout: float = 0.0

    def __init__(self, name: str, **node_arguments: Any) -> None:
        super().__init__(name, **node_arguments)
        self.steady_clock = Clock(clock_type=ClockType.STEADY_TIME)
        self._of_every_side = Parameters(self, ROBOT_SIDE, some=True)
        self._server = StepServer()
        # A way home for the service, its problem, and its end until that has been reported:
        self._going_home = False
        self._home_problem = ''
        self._unreported: int | None = None
        self._started_at = math.inf    # when what is under way has begun
        self._cancelled = False        # whether ``cancel`` has been called for it,
        self._uncounted = False        # and its end is no answer
        self._stopped = False          # by the service or a person,
        self._told: bool | None = None    # and what was last published of that
        self.keep_stops('')
        self._stand: Stand | None = None    # who may free it by the explorer, too
        self._reports: list[int] = []
        self._description = DescriptionTopic(self, self._describe)
        self._answer = messages.StepEncoder()
        self._state_publisher = self.create_publisher(Int64MultiArray, 'state', messages.STEP)
        self._actions = messages.hear(
            self, Int64MultiArray, 'action', messages.STEP, messages.decode_command,
            self._on_command)
        self._here: int | None = None    # where the robot is, while that is known
        self._witnessed: Pair | None = None    # under way, of no explorer
        self._forbidden = frozenset[Pair]()
        self._step_reports = self.create_publisher(String, 'step_report', messages.STEP)
        self._stopped_publisher = self.create_publisher(Bool, 'stopped', messages.LATCHED)
        self.requests = RequestTopic(self)
        self._pause = ExplorationPause(self, self.requests)
        self._home_record = HomeRecord(self.requests)
        self._gate = CommanderGate(self, self._actions.topic_name, self._pause,
                                   lambda: float(self._of_every_side['commander_timeout']))
        self.allowance = Allowance()
        # A call that waits for the end of a way begins none; RESET of a commander is a step.
        self.create_service(Trigger, 'return_home', answering(
            self._on_return_home, self.allowance, 'return_home',
            lambda request: self._going_home or not self._gate.commands_reset))
        self.create_service(SetBool, 'stop', answering(
            self._on_stop, self.allowance, 'stop', lambda request: request.data),    # always
            qos_profile=messages.REQUESTS)
        self._report_timer = self.create_timer(0.001, self._send_reports, clock=self.steady_clock)
        self._report_timer.cancel()
        self.create_timer(_WATCH_PERIOD, self._watch, clock=self.steady_clock)

    @property
    def busy(self) -> bool:
        """Whether an action or a way home is under way."""
        return self._server.executing or self._going_home

    def execute(self, action: int) -> int | None:
        """Execute an action other than RESET; return the state, or None if it takes time."""
        raise NotImplementedError

    def return_home(self) -> int | None:
        """Go to the start state, from any state; return it, or None if it takes time."""
        raise NotImplementedError

    def cancel(self, reason: str) -> int | None:
        """
        Give up what is under way and come to rest; return the state, or None if it takes time.

        Called after ``action_timeout``: the state is then the answer. Also called by the service
        ``stop``, when no node commands the robot any more, and before the node ends: the step then
        does not count. Unless this is overridden, the robot finishes what it does.
        """
        return None

    def keep_stops(self, folder: str) -> None:
        """
        Let a call of ``stop`` outlive this node: until it is called with false.

        :param folder: where that is kept; empty for nowhere.
        """
        self._stop_record = StopRecord(
            folder, self.get_fully_qualified_name(), self.get_logger().error)
        if self._stop_record.kept:
            self.get_logger().warning(f'as before the restart, {STOPPED}')
            self._halt('stopped before the restart')

    def describe(self) -> RobotDescription:
        """
        Return what the robot side is, for ``robot_side``; to be overridden for more.

        Called once there are ``action_names``, when these change, and by ``describe_again``.
        """
        return RobotDescription(tuple(self.action_names))

    def _describe(self) -> RobotDescription:
        """Return ``describe()``, guarded as every subclass is, and keep what it forbids."""
        described = replace(self.describe(), guarded=True)
        self._forbidden = Support(described.declaration).all_forbidden
        return described

    def describe_again(self) -> None:
        """Publish ``describe()`` if it is not what was published last."""
        self._description.publish()

    def arrived(self, state: int, problem: str = '') -> None:
        """
        End an action, or a way home, that took time.

        :param state: in which the robot has ended.
        :param problem: why the way home has not led home; the service ``return_home`` then fails.
        """
        self._started_at, self._cancelled, self._here = math.inf, False, state
        uncounted, self._uncounted = self._uncounted, False
        if self._going_home:
            self._going_home = False
            self._home_problem, self._unreported = problem, state
            self._home_record.ends(problem)
        elif self._server.executing and uncounted:
            self._server.done(state)     # not sent as an answer: the action was cancelled
            self._server.next_waiting()
            if not self._stopped:
                self.report(state)
        elif self._server.executing:
            self._finish(state)
        if self._stopped:
            self._reports = [state]      # sent when the robot is freed

    def report_legs(self, legs: Sequence[tuple[int, int, int]]) -> None:
        """
        Publish which executions the action under way has consisted of; ``arrived`` follows.

        :param legs: state, action and next state of each.
        """
        if legs and self._server.executing and self._server.last is not None:
            self._step_reports.publish(messages.encode_step_report(
                messages.StepReport(self._server.last, legs=tuple(legs))))

    def break_off(self, state: int, reason: str) -> None:
        """End an action that says nothing about the world: the step does not count."""
        self.get_logger().warning(
            f'this step does not count: {reason}', throttle_duration_sec=5.0)
        self._uncounted = True
        self.arrived(state, reason)

    def stand(self, reason: str) -> None:
        """
        Come to rest because a person has stopped the robot, though not by the service ``stop``.

        It stands until ``stop`` is called with false. An explorer that explores is paused, and
        frees the robot, too, as soon as it is asked to go on.
        """
        self.requests.say('stop', 'robot', text=reason)
        self._stand = Stand(self._pause)
        self._halt(reason)

    def report(self, state: int) -> None:
        """Report to the explorer that the robot was moved to ``state``."""
        self._unreported, self._here = None, state
        self.send_state(REPORT, state)

    def send_state(self, seq: int, state: int) -> None:
        """Publish ``[seq, state]``."""
        self._state_publisher.publish(self._answer.encode(seq, state))

    def leave(self) -> bool:
        """Come to rest before the node ends; return whether that is over."""
        self._cancel('the node is ending')
        return not self.busy

    def _cancel(self, reason: str, counts: bool = False) -> None:
        if not self.busy:
            return
        self._uncounted = self._uncounted or not counts
        if self._cancelled:
            return
        self._cancelled = True
        self.get_logger().warning(f'action cancelled: {reason}')
        state = self.cancel(reason)
        if state is not None:
            self.arrived(state, reason)

    def _watch(self) -> None:
        now = time.monotonic()
        lost = self._gate.look(now, self._started_at if self.busy else None)
        self._description.keep_up(self.action_names)
        if self._told is not self._stopped:
            self._told = self._stopped
            self._stopped_publisher.publish(Bool(data=self._stopped))
        if self._stand:
            self._stand_still(self._stand, now)
        if not self.busy:
            return
        self._gate.hold(now)
        if self.action_timeout and now > self._started_at + self.action_timeout:
            self._cancel(f'it takes longer than {self.action_timeout:g} s', counts=True)
        elif lost:
            self._cancel(lost)
        elif self._server.executing and self._gate.gone:
            self._cancel('its commander is gone')

    def _stand_still(self, stand: Stand, now: float) -> None:
        if not self.busy and self._reports and stand.report_due(now):
            self.send_state(REPORT, self._reports[-1])
        elif stand.over:
            self._reports = []    # the explorer knows
            self.requests.say('free', 'robot', text='exploration goes on')
            self._free()
            self.get_logger().info('free: exploration goes on')
            if stand.command:
                self._receive(stand.command)

    def _on_command(self, command: Command) -> None:
        if command.action != RESET and not 0 <= command.action < len(self.action_names):
            self.get_logger().warning(
                f'action {command.action} ignored: unknown, expected {RESET} for RESET or '
                f'0 .. {len(self.action_names) - 1}', throttle_duration_sec=5.0)
        elif self._admits(command):
            if self._stand:
                self._stand.command = command
            self._receive(command)

    def _admits(self, command: Command) -> bool:
        """Refuse a command if another node has the robot; its sender alone learns of that."""
        name = self._gate.occupant(command)
        if name:
            self._refuse(command.seq, f'commanded by {name}', name)
        return not name

    def _receive(self, command: Command) -> None:
        seq, action = command.seq, command.action
        if self._going_home or self._stopped:
            self._passed_over()
            return
        if self._unreported is not None and seq != self._server.last:
            home, self._unreported = self._unreported, None
            if action != RESET:
                # It was commanded for the state before the way home. RESET is right in any state.
                self.report(home)
                return
        if self._reports and seq != self._server.last:
            self._send_reports()    # the same, while the report waits for the response to go first
            if action != RESET:
                return
        if not self._refused(command):
            self._obey(command)

    def _obey(self, command: Command) -> None:
        action, decision = command.action, self._server.receive(command)
        if decision is Reaction.REPEAT:
            self.send_state(*self._server.stored())
        elif decision is Reaction.EXECUTE:
            self._witnessed = (None if self._here is None or action == RESET
                               or self._gate.is_explorer else (self._here, action))
            self._started_at, self._here = time.monotonic(), None
            state = self.return_home() if action == RESET else self.execute(action)
            if state is not None:
                self._finish(state)

    def _refused(self, command: Command) -> bool:
        """Refuse a command that must not be executed where the robot is, unless it is repeated."""
        refusal = self._server.refusal(command, self._here, self._forbidden, self.busy)
        if refusal:
            self._refuse(command.seq, refusal)
            if self._here is not None:    # else its sender will find that nobody answers
                here = self._here
                self.send_state(REPORT, here)    # what the sender had under way is no transition
                if not command.sender:    # it may wait for nothing else
                    self.send_state(command.seq, here)
        return bool(refusal)

    def _refuse(self, seq: int, reason: str, commander: str = '') -> None:
        self.get_logger().warning(f'command {seq} refused: {reason}', throttle_duration_sec=5.0)
        self._step_reports.publish(messages.encode_step_report(
            messages.StepReport(seq, reason, commander)))

    def _passed_over(self) -> None:
        """
        Let a robot that is freed report, so that the next command comes at once.

        The one that was not executed would be sent again after a timeout only.
        """
        if self._stopped and not (self.busy or self._stand or self._reports) and (
                self._server.answer is not None):
            self._reports = [self._server.answer]

    def _finish(self, state: int) -> None:
        self._here = state
        if self._witnessed:    # an explorer may learn from it
            self.report_legs([(*self._witnessed, state)])
        self.send_state(*self._server.done(state))
        waiting = self._server.next_waiting()
        if waiting:
            self._receive(waiting)

    def _on_return_home(self, _: Trigger.Request) -> tuple[bool, str]:
        problem, self._home_problem = self._home_problem, ''
        if self._stopped:
            return False, STOPPED
        if self._server.executing:
            return False, f'an action is being executed{CALL_AGAIN}'
        if problem:
            return False, problem
        state = None if self._going_home else self._start_home()
        if state is None:
            return False, GOING_HOME
        self._reports.append(state)
        self._report_timer.reset()    # the report has to follow the response
        return True, f'at home in {self._description.described.place(state)}'

    def _start_home(self) -> int | None:
        self._started_at = time.monotonic()
        self._home_record.begins(self._unreported is not None, self._started_at)
        self._here = state = self.return_home()
        self._going_home = state is None
        if state is not None:
            self._home_record.ends('')
        return state

    def _on_stop(self, request: SetBool.Request) -> tuple[bool, str]:
        if request.data:
            self._stand = None    # from now on only the service frees it
            self._halt('service stop called')
            self._stop_record.keep(True)
        elif self._stopped:
            self._free()
            self._send_reports()    # at once, so that no answer to an earlier command precedes it
        self._told = None    # also without a change: another robot side may have published
        return True, (FREE if not request.data else
                      NOT_AT_REST if self.busy else 'stopped')

    def _halt(self, reason: str) -> None:
        self._stopped = True
        self._server.next_waiting()
        self._cancel(reason)

    def _free(self) -> None:
        self._stand, self._stopped, self._home_problem = None, False, ''
        self._stop_record.keep(False)

    def _send_reports(self) -> None:
        self._report_timer.cancel()
        reports, self._reports = self._reports, []
        for state in reports:
            self.report(state)
