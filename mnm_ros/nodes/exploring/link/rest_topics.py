# SPDX-License-Identifier: Apache-2.0

"""Why the robot has to rest, by its battery and the time of day, and the topics that say so."""

from __future__ import annotations

from datetime import datetime
from importlib import import_module
import time
from typing import Any

from mnm_ros import messages
from mnm_ros.core.progress.said import Reason
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.parameters import Parameters
from mnm_ros.protocol.rest_rules import RestRules
from mnm_ros.view.sentences import sentence
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from std_msgs.msg import String

_BATTERY = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)    # matches every one


class RestTopics:
    """The topics ``battery``, once there is a ``battery_low``, and ``rest`` of one robot."""

    def __init__(self, node: NodeInterface, parameters: Parameters, guard: CallbackGuard) -> None:
        self._node = node
        self._given = parameters
        self._guard = guard
        self._rules = RestRules(time.monotonic())
        self._battery: Subscription | None = None
        self._warned = ''
        self._told: Reason = ''
        self._in_words = node.create_publisher(String, 'rest', messages.LATCHED)
        self._reasons = node.create_publisher(String, 'rest/reason', messages.LATCHED)
        self._publish('')    # instead of what one before may have said

    def reason(self, now: float) -> Reason:
        """Return why the robot has to rest, or nothing; to be called now and then."""
        low = self._given['battery_low']
        if low and self._battery is None:
            self._listen(now)
        warning = self._rules.trouble(low, now)
        if warning and warning != self._warned:
            self._node.get_logger().warning(warning)
        self._warned = warning
        return self._rules.reason(low, self._given['battery_ok'], self._given['explore_between'],
                                  datetime.now().time()) or ''

    def tell(self, resting: Reason) -> None:
        """Publish why the robot rests if that is news; nothing if it does not, or is paused."""
        if resting != self._told:
            self._told = resting
            self._publish(resting)

    def _publish(self, resting: Reason) -> None:
        self._reasons.publish(messages.encode_reason(resting))
        self._in_words.publish(String(data=sentence(
            resting, language=self._given['language'])))

    def _listen(self, now: float) -> None:
        self._rules = RestRules(now)
        kind = import_module('sensor_msgs.msg').BatteryState    # no other node needs the package
        self._battery = self._node.create_subscription(
            kind, 'battery', self._guard.while_open(self._on_battery), _BATTERY)

    def _on_battery(self, message: Any) -> None:
        before, given = self._rules.scale, self._given['battery_scale']
        self._rules.hear(message.percentage, time.monotonic(), given)
        if self._rules.scale != before:
            self._node.get_logger().info(
                f'battery: percentage {message.percentage:g} is read as a {self._rules.scale}, '
                + ('assumed from the messages; battery_scale fixes it' if given == 'auto' else
                   'as battery_scale says'))
