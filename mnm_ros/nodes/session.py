"""All that the explorer has between configure and cleanup: an exploration and its topics."""

from __future__ import annotations

from collections.abc import Callable
import math
import time
import traceback
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from std_msgs.msg import Int64MultiArray
from std_srvs.srv import SetBool, Trigger

from mnm_ros import wire
from mnm_ros.nodes.files import write_record
from mnm_ros.nodes.keeper import Keeper
from mnm_ros.nodes.publishers import Publishers
from mnm_ros.nodes.reset import HomeService
from mnm_ros.nodes.step_loop import StepLoop
from mnm_ros.parameters import Parameters
from mnm_ros.protocol import Patience

_TICK = 0.02           # s, resolution of timeouts
_DIAGNOSTICS = 1.0     # s


class Session:
    """One exploration, inactive until ``activate``.

    Raises ParameterError if the parameters do not make a problem that can be solved.
    """

    def __init__(self, node: Node, parameters: Parameters) -> None:
        self._node = node
        self._parameters = parameters
        self._keeper = Keeper(node, parameters)
        self._exploration = self._keeper.exploration
        self._active = False
        self._wanted = True    # as the service explore has it
        self._started = math.inf
        self._peers = (0, 0, False)    # subscribers of action, publishers of state, service
        self._publishers = Publishers(node)
        self._actions = node.create_publisher(Int64MultiArray, 'action', wire.STEP)
        self._home = (HomeService(node, self._on_home)
                      if parameters['reset_mode'] == 'service' else None)
        self._loop = StepLoop(
            self._exploration, Patience(parameters['step_timeout'], parameters['step_retries']),
            time.time_ns(), self._send, self._home.call if self._home else None)
        self._states = node.create_subscription(
            Int64MultiArray, 'state', self._on_state, wire.STEP)
        self._services = (
            node.create_service(SetBool, 'explore', self._on_explore),
            node.create_service(Trigger, 'save', self._on_save))
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timers = (
            node.create_timer(_TICK, self._tick, clock=steady),
            node.create_timer(_DIAGNOSTICS, self._diagnose, clock=steady))
        self._tick()

    def activate(self) -> None:
        """Explore, unless the service ``explore`` has paused it."""
        self._active = True
        self._started = min(self._started, time.monotonic())
        if self._wanted:
            self._guarded(self._loop.resume, time.monotonic())

    def deactivate(self) -> None:
        """Leave the robot alone, at once."""
        self._active = False
        self._guarded(self._loop.pause, 'node deactivated')

    def close(self) -> None:
        """Remove all topics, services and timers; keep the counts if asked to."""
        for timer in self._timers:
            self._node.destroy_timer(timer)
        for service in self._services:
            self._node.destroy_service(service)
        if self._home:
            self._home.destroy()
        self._node.destroy_subscription(self._states)
        self._node.destroy_publisher(self._actions)
        self._publishers.destroy()
        self._keeper.close()
        write_record(self._node, self._parameters['record'], self._exploration.counts)

    def _send(self, seq: int, action: int) -> None:
        self._actions.publish(wire.encode_step(seq, action))

    def _on_state(self, message: Int64MultiArray) -> None:
        try:
            seq, state = wire.decode_step(message)
        except wire.WireError as error:
            self._node.get_logger().warning(f'state ignored: {error}', throttle_duration_sec=5.0)
            return
        self._guarded(self._loop.on_state, seq, state, time.monotonic())

    def _on_home(self, attempt: int, success: bool, text: str) -> None:
        self._guarded(self._loop.on_home_response, attempt, success, text, time.monotonic())

    def _guarded(self, method: Callable[..., None], *arguments: Any) -> None:
        """Call a method of the loop; an error in there is a fault, not the end of the node."""
        try:
            method(*arguments)
            self._publishers.hypothesis(self._exploration.hypothesis)
        except Exception as error:
            self._node.get_logger().error(traceback.format_exc())
            self._loop.running = False
            self._exploration.fail(f'{type(error).__name__}: {error}')

    def _tick(self) -> None:
        now = time.monotonic()
        self._read_parameters()
        self._look_for_peers(now)
        self._guarded(self._loop.tick, now)
        self._publishers.news(self._exploration, self._missing(), now)

    def _read_parameters(self) -> None:
        loop, parameters = self._loop, self._parameters
        loop.patience.timeout = parameters['step_timeout']
        loop.patience.retries = parameters['step_retries']
        loop.max_steps = parameters['max_steps']
        loop.deadline = self._started + (parameters['max_duration'] or math.inf)

    def _look_for_peers(self, now: float) -> None:
        before = self._peers
        self._peers = (
            self._actions.get_subscription_count(),
            self._node.count_publishers(self._states.topic_name),
            bool(self._home and self._home.ready))
        if any(after > earlier for after, earlier in zip(self._peers, before)):
            self._guarded(self._loop.on_new_peer, now)

    def _missing(self) -> str:
        """Return what a robot side would have to offer and nobody does."""
        listeners, robots, home = self._peers
        if not listeners:
            return f'nobody subscribes to {self._actions.topic_name}'
        if not robots:
            return f'nobody publishes {self._states.topic_name}'
        if self._home and not home:
            return f'nobody offers {self._home.name}'
        return ''

    def _diagnose(self) -> None:
        self._publishers.diagnostics(
            self._exploration, self._loop.patience.timeouts, time.monotonic())

    def _on_explore(
            self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        response.success = False
        if self._loop.over:
            response.message = f'exploration is over: {self._exploration.status}'
        elif not self._active:
            response.message = 'the node is not active'
        else:
            response.success = True
            self._wanted = request.data
            if request.data:
                self._guarded(self._loop.resume, time.monotonic())
                response.message = 'exploring'
            else:
                self._guarded(self._loop.pause_after_step, 'service explore called')
                response.message = (
                    'pausing after the current step' if self._loop.running else 'paused')
        return response

    def _on_save(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self._keeper.save()
        return response
