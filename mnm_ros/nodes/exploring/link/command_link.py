# SPDX-License-Identifier: Apache-2.0

"""The link of an explorer that commands its robot, as long as no other explorer does."""

from __future__ import annotations

from collections.abc import Callable
import time

from mnm_ros.core.task.step_task import RunState, StepTask
from mnm_ros.nodes.common.commanding import HomeService, Orders, step_limits
from mnm_ros.nodes.common.graph_watch import GraphWatch
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.link.arbitration import Arbitration, LISTENING
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.nodes.exploring.link.robot_link import RobotLink
from mnm_ros.parameters import Parameters
from mnm_ros.protocol.exchange import REPORT
from mnm_ros.protocol.loop import StepLimits
from mnm_ros.protocol.order_numbers import OrderNumbers
from mnm_ros.protocol.return_home import LastReset
from mnm_ros.protocol.single_robot_guard import SingleRobotGuard
from mnm_ros.protocol.step_loop import StepLoop
from mnm_ros.view.named import named

_REST = 1.0    # s, for a robot side to say that the robot has come to rest


class CommandLink(RobotLink):
    """
    Commands the robot on ``action``, unless another explorer does.

    :param task: what is explored.
    :param numbers: of orders.
    :ivar after_state: called after each message of the robot side.
    """

    loop: StepLoop
    after_state: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, node: NodeInterface, parameters: Parameters, task: StepTask,
                 guard: CallbackGuard, numbers: OrderNumbers) -> None:
        super().__init__(node, parameters, guard,
                         SingleRobotGuard(parameters['reset_mode'] == 'action'))
        self._last_reset: LastReset | None = None
        self._rest_by: float | None = None    # when the robot should have come to rest
        self._orders = Orders(node)
        self._home = (HomeService(node, guard.while_open(self._on_home))
                      if parameters['reset_mode'] == 'service' else None)
        self._numbers = numbers
        self._arbitration = Arbitration(
            node, self._orders.topic_name, time.time_ns(), time.monotonic())
        self.loop = StepLoop(
            task, step_limits(parameters), numbers.first(), self._order,
            self._home.call if self._home else None)
        self.loop.before_step = self._look_again
        states = self._subscribe('state', self._on_state)
        self.graph = GraphWatch(
            node, self._orders, states, self._home, sides=self._robots)

    @property
    def steady(self) -> bool:
        return self.loop.task.state is not RunState.WAITING_FOR_ROBOT

    @property
    def last_order(self) -> int | None:
        return self.loop.last_order if self._arbitration.commands else None

    @property
    def standing_by(self) -> bool:
        return self._arbitration.stands_by

    def unanswered(self, now: float) -> float:
        return 0.0 if self.missing(now) else self.loop.unanswered(now)

    def tick(self, limits: StepLimits, now: float) -> None:
        super().tick(limits, now)
        if self._last_reset:
            self._last_reset.tick(now)

    def announce(self) -> None:
        self._arbitration.publish()

    def leave(self, how: str, limit: float) -> bool:
        if self._last_reset is None and self._rest_by is None:
            if not self.loop.driving:
                return True
            self._guard.call(self.loop.pause, 'the node is ending')
            if how == 'reset':
                self._go_home(limit)
            elif how == 'rest' and self.loop.under_way:
                self._orders.close()    # which tells the robot side that it is not commanded
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
            self._orders.wait_until_heard()

    def _order(self, seq: int, action: int) -> None:
        self._numbers.use(seq)
        self._single.sent(seq, time.monotonic())
        self._orders.send(seq, action)

    def _go_home(self, limit: float) -> None:
        self._node.get_logger().info(f'going home before the node ends, at most {limit:g} s; a '
                                     'second Ctrl-C ends at once')
        self._last_reset = LastReset(
            self._orders.send, self._home.call if self._home else None, self._numbers.first(),
            time.monotonic())

    def _say_how_it_was_left(self) -> None:
        logger, home = self._node.get_logger(), self.loop.task.homing.home
        if self._last_reset and not self._last_reset.over:
            logger.warning('the robot has not come home')
        elif self._last_reset and self._last_reset.state not in (None, home):
            logger.warning(named(f'the last RESET led to state {self._last_reset.state} instead '
                                 f'of home, state {home}', self.profile.names))
        elif self._last_reset:
            logger.info('the robot is at home')
        elif self._rest_by is not None and self._awaits_rest:
            logger.warning('the robot has not said that it has come to rest')

    def _on_state(self, seq: int, state: int) -> None:
        now = time.monotonic()
        if self._last_reset:
            self._last_reset.on_state(seq, state)
        self._look_who_answers()
        foreign = self.loop.answers_another(seq)
        if self.loop.running and foreign:
            self._arbitration.on_foreign_answer(now)
        elif seq == REPORT:
            self._single.reported()
        elif not foreign:
            self._single.answered(seq, now)
        if self.loop.running and (foreign or self._single.several):
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
            self._orders.open()
            reason = reason or self._single.objection(self.loop.timer.timeout, now)
            if not reason and not self._orders.reachable:
                reason = LISTENING
        else:
            self._orders.close()
        self._guard.call(self.loop.yield_robot, objection or reason, now)
