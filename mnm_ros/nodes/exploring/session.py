"""All that the explorer has between configure and cleanup: an exploration and its topics."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
import math
import time
import traceback
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.node import Node
from std_msgs.msg import Int64MultiArray

from mnm_ros import wire
from mnm_ros.nodes.common.files import write_record
from mnm_ros.nodes.common.graph_watch import GraphWatch
from mnm_ros.nodes.common.home_service import HomeService
from mnm_ros.nodes.exploring.arbitration import Arbitration
from mnm_ros.nodes.exploring.checkpointing import Checkpointing
from mnm_ros.nodes.exploring.publishers import Publishers
from mnm_ros.nodes.exploring.services import Services
from mnm_ros.parameters import ParameterError, Parameters
from mnm_ros.protocol.advisory_loop import AdvisoryLoop
from mnm_ros.protocol.clients import RetryTimer
from mnm_ros.protocol.last_reset import LastReset
from mnm_ros.protocol.step_loop import StepLoop

_TICK = 0.02           # s, resolution of timeouts
_DIAGNOSTICS = 1.0     # s


class ExplorationSession:
    """One exploration, inactive until ``activate``.

    exploration, loop, keeper: what it is made of. active: as the node's lifecycle has it.

    Raises ParameterError if the parameters do not make a problem that can be solved.
    """

    def __init__(self, node: Node, parameters: Parameters) -> None:
        self._node = node
        self._parameters = parameters
        self._advisory: bool = parameters['advisory']
        if self._advisory and parameters['reset_mode'] == 'service':
            raise ParameterError(
                "parameter 'advisory' is True with 'reset_mode' 'service', expected 'action': "
                'nobody can overhear a RESET that is a call of a service')
        self.keeper = Checkpointing(node, parameters)
        self.exploration = self.keeper.exploration
        self.active = self._closed = False
        self._wanted = True    # as the service explore has it
        self._started = math.inf
        self._looked = -math.inf
        self._farewell: LastReset | None = None
        self._publishers = Publishers(node)
        self._actions = (
            node.create_publisher(Int64MultiArray, 'advice', wire.LATCHED) if self._advisory
            else node.create_publisher(Int64MultiArray, 'action', wire.STEP))
        self._orders = (
            node.create_subscription(
                Int64MultiArray, 'action', self._open(self._on_order), wire.STEP)
            if self._advisory else None)
        self._home = (HomeService(node, self._open(self._on_home))
                      if parameters['reset_mode'] == 'service' else None)
        number = time.time_ns()
        self._claim = None if self._advisory else Arbitration(
            node, self._actions.topic_name, number, time.monotonic())
        self.loop = self._new_loop(number)
        self._states = node.create_subscription(
            Int64MultiArray, 'state', self._open(self._on_state), wire.STEP)
        self._peers = GraphWatch(node, self._actions, self._states, self._home, self._orders)
        self.loop.before_step = self._look_again
        self._services = Services(node, self)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timers = (
            node.create_timer(_TICK, self._open(self._tick), clock=steady),
            node.create_timer(_DIAGNOSTICS, self._open(self._diagnose), clock=steady))
        self._tick()

    def activate(self) -> None:
        """Explore, unless the service ``explore`` has paused it."""
        self.active = True
        self._started = min(self._started, time.monotonic())
        if self._wanted:
            self._guarded(self.loop.resume, time.monotonic())

    def deactivate(self) -> None:
        """Leave the robot alone, at once."""
        self.active = False
        self._guarded(self.loop.pause, 'node deactivated')

    def explore(self, wanted: bool) -> None:
        """Go on, or pause after the current step."""
        self._wanted = wanted
        if wanted:
            self._guarded(self.loop.resume, time.monotonic())
        else:
            self._guarded(self.loop.pause_after_step, 'service explore called')

    def recover(self) -> None:
        """Go on after a fault of the robot."""
        self._wanted = True
        self._guarded(self.loop.recover, time.monotonic())

    def load(self) -> None:
        """Go back to what is on the disk, paused; Refused if nothing there can be gone on from."""
        self.exploration = self.keeper.load()
        self.loop.drive(self.exploration)
        self._wanted = self._wanted and not self.active
        self._guarded(self.loop.pause, 'loaded from the disk')

    def leave(self) -> bool:
        """Send a robot that is being driven home; return whether that is over."""
        if not self._farewell:
            wanted = self._parameters['on_shutdown'] == 'reset' and not self._advisory
            if not wanted or not self.loop.driving:
                return True
            self.active = False    # whoever has exploration go on now comes too late
            self._guarded(self.loop.pause, 'the node is ending')
            self._farewell = LastReset(
                self._send, self._home.call if self._home else None, time.time_ns(),
                time.monotonic())
        reachable = self._peers.has_home_service if self._home else self._peers.has_partner
        return self._farewell.over or not reachable

    def close(self) -> None:
        """Remove all topics, services and timers; keep the counts if asked to."""
        if self._farewell and not self._farewell.over:
            self._actions.wait_for_all_acked(Duration(seconds=0.5))
        self._closed = True
        for timer in self._timers:
            self._node.destroy_timer(timer)
        self._services.destroy()
        if self._home:
            self._home.destroy()
        if self._orders:
            self._node.destroy_subscription(self._orders)
        if self._claim:
            self._claim.destroy()
        self._node.destroy_subscription(self._states)
        self._node.destroy_publisher(self._actions)
        self._publishers.destroy()
        self.keeper.close()
        write_record(self._node, self._parameters['record'], self.exploration.counts)

    def _open(self, callback: Callable[..., None]) -> Callable[..., None]:
        """A callback may still be on its way when its timer or topic has been removed."""
        @wraps(callback)
        def guarded(*arguments: Any) -> None:
            if not self._closed:
                callback(*arguments)
        return guarded

    def _new_loop(self, first_seq: int) -> StepLoop:
        parameters = self._parameters
        patience = RetryTimer(parameters['step_timeout'], parameters['step_retries'])
        if self._advisory:
            return AdvisoryLoop(self.exploration, patience, self._send)
        return StepLoop(
            self.exploration, patience, first_seq, self._send,
            self._home.call if self._home else None)

    def _send(self, seq: int, action: int) -> None:
        self._actions.publish(wire.encode_step(seq, action))

    def _on_order(self, message: Int64MultiArray) -> None:
        order = self._decoded('action', message)
        if order:
            self._guarded(self.loop.on_order, *order, time.monotonic())

    def _on_state(self, message: Int64MultiArray) -> None:
        answer = self._decoded('state', message)
        now = time.monotonic()
        if answer and self._farewell:
            self._farewell.on_state(answer[0])
        if (answer and self._claim and self.loop.running
                and self.loop.answers_another(answer[0])):
            self._claim.on_foreign_answer(now)
            self._look_for_rivals(now)
        if answer:
            self._guarded(self.loop.on_state, *answer, now)

    def _decoded(self, name: str, message: Int64MultiArray) -> tuple[int, int] | None:
        try:
            return wire.decode_step(message)
        except wire.WireError as error:
            self._node.get_logger().warning(f'{name} ignored: {error}', throttle_duration_sec=5.0)
            return None

    def _on_home(self, attempt: int, success: bool, text: str) -> None:
        if self._farewell:
            self._farewell.on_home_response(success)
        self._guarded(self.loop.on_home_response, attempt, success, text, time.monotonic())

    def _guarded(self, method: Callable[..., None], *arguments: Any) -> None:
        """Call a method of the loop; an error in there is a fault, not the end of the node."""
        try:
            method(*arguments)
            self._publishers.hypothesis(self.exploration.hypothesis)
        except Exception as error:
            self._node.get_logger().error(traceback.format_exc(), throttle_duration_sec=5.0)
            if not self.loop.over:
                self.loop.fail(
                    f'{type(error).__name__}: {error}', time.monotonic(), recoverable=False)

    def _tick(self) -> None:
        now = time.monotonic()
        self.loop.adjust(self._parameters)
        self.loop.deadline = self._started + (self._parameters['max_duration'] or math.inf)
        self._look_for_peers(now)
        self._look_for_rivals(now)
        self._guarded(self.loop.tick, now)
        if self._farewell:
            self._farewell.tick(now)
        self._guarded(self._publishers.news, self.exploration, self._peers.missing, now)
        self._publishers.republish(self._parameters['republish_period'], now)

    def _look_again(self) -> None:
        """What is sent next may reach another robot already, if this node was held up.

        Who has joined meanwhile has taken a robot's place: one that was killed is still seen.
        """
        now = time.monotonic()
        if now > self._looked + 2 * _TICK:
            self._look_for_peers(now, held_up=True)

    def _look_for_peers(self, now: float, held_up: bool = False) -> None:
        self._looked = now
        joined, left = self._peers.update()
        left |= joined and held_up
        if joined or left:
            self._guarded(self.loop.on_peers, joined, left, now)

    def _look_for_rivals(self, now: float) -> None:
        if self._claim:
            self._guarded(self.loop.yield_robot, self._claim.objection(now), now)

    def _diagnose(self) -> None:
        if self._claim:
            self._claim.publish()
        self._guarded(
            self._publishers.diagnostics, self.exploration, self.loop.patience.timeouts,
            self.keeper.problem, time.monotonic())
