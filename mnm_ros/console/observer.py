# SPDX-License-Identifier: Apache-2.0

"""An ordinary node that listens to the public topics of the other nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import wire
from mnm_ros.console import grid
from mnm_ros.console.snapshot import phase_of, Snapshot
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.activity import Activity
from mnm_ros.heard import Pace, RobotsMet
from mnm_ros.robot_description import RobotDescription
from rcl_interfaces.srv import GetParameters
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.signals import SignalHandlerOptions
from rclpy.subscription import Subscription
from std_msgs.msg import Int64, Int64MultiArray, String
from std_srvs.srv import Trigger

_DECISIONS = 40    # sentences that are kept
_AGAIN = 0.2       # s, between two looks for an answer


class Observer(Node):
    """
    Keeps the latest message of each topic in ``snapshot``.

    :param namespace: of the explorer and the robot side.
    :param robots: of several, those that are known before the explorer tells of them.
    :param settings: how many a simulator has; None if that is not known.
    """

    def __init__(self, namespace: str = '/', robots: Iterable[str] = (),
                 settings: int | None = None) -> None:
        super().__init__('console', namespace=namespace)
        self._settings = settings
        self.snapshot = Snapshot()
        self.phases = self._latest(String, 'phase', lambda m: {'phase': phase_of(m.data)})
        self._latest(String, 'status', self._decided)
        self._latest(Int64MultiArray, 'known_states',
                     lambda m: {'known': wire.decode_known_states(m)[1]})
        self._latest(Int64MultiArray, 'policies',
                     lambda m: {'hypothesis': wire.PolicySet.from_msg(m)})
        self._latest(Int64, 'true_setting', lambda m: {'true_setting': self._setting(m)})
        self._latest(String, 'activity', lambda m: {'activity': Activity.from_json(m.data)})
        self._latest(Int64MultiArray, 'model', self._counted)
        self._latest(String, 'robot_side', self._described)
        self._exploration_steps: int | None = None
        wire.hear(self, Int64, 'exploration_steps', self._on_exploration_steps)
        self.changes = [self.create_client(Trigger, 'change')]
        self._robots, self._pace = RobotsMet(), Pace()
        wire.hear(self, DiagnosticArray, '/diagnostics', self._on_diagnostics, wire.STEP)
        self.policies: dict[int, Policy | None] = {}    # that were asked for, by target
        self._requests: Publisher | None = None
        for robot in self._robots.new(robots):
            self._follow(robot)

    def ask(self, target: int) -> None:
        """Ask for the policy to a state, which is in ``policies`` once it was answered."""
        if self._requests is None:    # whoever only watches has no need of it
            self._requests = self.create_publisher(Int64, 'policy/request', wire.STEP)
            wire.hear(self, Int64MultiArray, 'policy', self._on_policy, wire.STEP)
        self._requests.publish(Int64(data=target))

    def _on_policy(self, message: Int64MultiArray) -> None:
        answer = wire.decode_policy(message)
        self.policies[answer.target] = answer.policy

    def _latest(self, kind: type, topic: str, fields: Any) -> Subscription:
        def update(message: Any) -> None:
            self.snapshot = replace(self.snapshot, **fields(message))
        return wire.hear(self, kind, topic, update)

    def _setting(self, message: Int64) -> int:
        found = wire.decode_count(message)
        if self._settings is not None and found >= self._settings:
            raise wire.WireError(f'found {found}, expected one of {self._settings} settings')
        return found

    def _decided(self, message: String) -> dict[str, Any]:
        before = self.snapshot.decisions
        if before and before[-1][1] == message.data:
            return {}
        said = time.strftime('%H:%M:%S'), message.data
        return {'status': message.data, 'decisions': (*before, said)[-_DECISIONS:]}

    def _counted(self, message: Int64MultiArray) -> dict[str, Any]:
        counts = wire.decode_model(message).counts
        met = {*counts, *(following for actions in counts.values() for nexts in actions.values()
                          for following in nexts)}
        return {'counts': counts, 'met': frozenset(met)}

    def _described(self, message: String) -> dict[str, Any]:
        description = RobotDescription.from_text(message.data).after(self.snapshot.description)
        return {'description': description, 'picture': grid.described(description)}

    def _on_exploration_steps(self, message: Int64) -> None:
        # It comes more often than the reports and is shown with the next one, so that it never
        # exceeds the steps.
        self._exploration_steps = wire.decode_count(message)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        report = wire.decode_report(message, self.get_namespace())
        if report is not None:
            robots = wire.decode_robots(message, self.get_namespace())
            self.snapshot = replace(
                self.snapshot, report=report, reports=self.snapshot.reports + 1,
                exploration_steps=self._exploration_steps)
            self.snapshot = replace(self.snapshot, robots=robots, pace=self._pace.update(
                self.snapshot.count('steps'), self.snapshot.exploring, time.monotonic()))
            for robot in self._robots.new(each.name for each in robots):
                self._follow(robot)

    def _follow(self, robot: str) -> None:
        """Hear what one of several robots says of itself."""
        self._latest(String, f'{robot}/robot_side', self._described)
        self._latest(Int64, f'{robot}/true_setting', lambda message: {
            'true_setting': self._robots.reached(robot, self._setting(message))})
        self.changes.append(self.create_client(Trigger, f'{robot}/change'))


class Listener:
    """
    A context manager that runs an ``Observer``.

    :param namespace: of the explorer and the robot side.
    :param ros_arguments: for the observer, ``--ros-args`` before them.
    :param robots, settings: as for the observer.
    """

    def __init__(self, namespace: str = '/', ros_arguments: Sequence[str] = (),
                 robots: Iterable[str] = (), settings: int | None = None) -> None:
        self._robots, self._settings = tuple(robots), settings
        self._namespace = namespace
        self._ros_arguments = list(ros_arguments)

    def __enter__(self) -> Listener:
        # The caller handles signals itself, while rclpy's handlers would end the context.
        rclpy.init(args=self._ros_arguments, signal_handler_options=SignalHandlerOptions.NO)
        self._node = Observer(self._namespace, self._robots, self._settings)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.try_shutdown()

    @property
    def topic(self) -> str:
        """Return the full name of the topic ``phase``."""
        return str(self._node.phases.topic_name)

    @property
    def explorer(self) -> str:
        """Return the full name of the node that publishes ``phase``, or of the topic."""
        found = self._node.get_publishers_info_by_topic(self.topic)
        if not found:
            return self.topic
        return f'{found[0].node_namespace.rstrip("/")}/{found[0].node_name}'

    def change(self) -> None:
        """Ask for the next setting, wherever there is somebody to ask."""
        for client in self._node.changes:
            if client.service_is_ready():
                client.call_async(Trigger.Request())

    def policy(self, target: int, timeout: float) -> Policy | None:
        """Ask for the policy to a state; None if there is none, or no answer in time."""
        end = time.monotonic() + timeout
        while target not in self._node.policies and time.monotonic() < end:
            self._node.ask(target)
            self.listen(_AGAIN)
        return self._node.policies.get(target)

    def actions(self, timeout: float) -> tuple[str, ...]:
        """Return the names of the actions by the explorer's parameters; none if it is silent."""
        client = self._node.create_client(GetParameters, f'{self.explorer}/get_parameters')
        end = time.monotonic() + timeout
        while not client.service_is_ready() and time.monotonic() < end:
            self.listen(_AGAIN)
        answer = client.call_async(GetParameters.Request(names=['actions']))
        while not answer.done() and time.monotonic() < end:
            self.listen(_AGAIN)
        values = answer.result().values if answer.done() else ()
        return tuple(values[0].string_array_value) if values else ()

    def listen(self, seconds: float) -> Snapshot:
        """Take in messages for so many seconds and return the snapshot."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._executor.spin_once(timeout_sec=left)
        return self._node.snapshot
