# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""An ordinary node that listens to the public topics of the other nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import wire
from mnm_ros.console.snapshot import phase_of, Snapshot
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.subscription import Subscription
from std_msgs.msg import Int64, Int64MultiArray, String
from std_srvs.srv import Trigger


class Observer(Node):
    """
    Keeps the latest message of each topic in ``snapshot``.

    :param namespace: of the explorer and the robot side.
    """

    def __init__(self, namespace: str = '/') -> None:
        super().__init__('console', namespace=namespace)
        self.snapshot = Snapshot()
        self.phases = self._latest(String, 'phase', lambda m: {'phase': phase_of(m.data)})
        self._latest(String, 'status', lambda m: {'status': m.data})
        self._latest(Int64MultiArray, 'known_states',
                     lambda m: {'known': wire.decode_known_states(m)[1]})
        self._latest(Int64MultiArray, 'policies',
                     lambda m: {'hypothesis': wire.PolicySet.from_msg(m)})
        self._latest(Int64, 'true_setting', lambda m: {'true_setting': m.data})
        self._exploration_steps: int | None = None
        self.create_subscription(
            Int64, 'exploration_steps', self._on_exploration_steps, wire.LATCHED)
        self.change = self.create_client(Trigger, 'change')
        self.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)

    def _latest(self, kind: type, topic: str, fields: Any) -> Subscription:
        def update(message: Any) -> None:
            self.snapshot = replace(self.snapshot, **fields(message))
        return self.create_subscription(kind, topic, update, wire.LATCHED)

    def _on_exploration_steps(self, message: Int64) -> None:
        # It comes more often than the reports and is shown with the next one, so that it never
        # exceeds the steps.
        self._exploration_steps = message.data

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            node, _, kind = status.name.rpartition(': ')
            if kind == 'exploration' and (node.rpartition('/')[0] or '/') == self.get_namespace():
                report = {value.key: value.value for value in status.values}
                self.snapshot = replace(
                    self.snapshot, report=report, reports=self.snapshot.reports + 1,
                    exploration_steps=self._exploration_steps)


class Listener:
    """
    A context manager that runs an ``Observer``.

    :param namespace: of the explorer and the robot side.
    :param ros_arguments: for the observer, ``--ros-args`` before them.
    """

    def __init__(self, namespace: str = '/', ros_arguments: Sequence[str] = ()) -> None:
        self._namespace = namespace
        self._ros_arguments = list(ros_arguments)

    def __enter__(self) -> Listener:
        # The caller handles signals itself, while rclpy's handlers would end the context.
        rclpy.init(args=self._ros_arguments, signal_handler_options=SignalHandlerOptions.NO)
        self._node = Observer(self._namespace)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.try_shutdown()

    @property
    def topic(self) -> str:
        """The full name of the topic ``phase``."""
        return str(self._node.phases.topic_name)

    def change(self) -> None:
        """Ask for the next setting."""
        self._node.change.call_async(Trigger.Request())

    def listen(self, seconds: float) -> Snapshot:
        """Take in messages for so many seconds and return the snapshot."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._executor.spin_once(timeout_sec=left)
        return self._node.snapshot
