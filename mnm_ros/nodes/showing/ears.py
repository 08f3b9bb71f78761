# SPDX-License-Identifier: Apache-2.0

"""What the node ``dashboard`` hears, as facts: nothing that comes with each step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
import math
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Pose, PoseWithCovarianceStamped
from mnm_ros import wire
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.activity import Activity
from mnm_ros.dashboard.facts import Facts, Ground
from mnm_ros.dashboard.map_image import picture
from mnm_ros.heard import Pace, RobotsMet
from mnm_ros.nodes.common.graph_watch import identities
from mnm_ros.robot_description import FARTHEST, RobotDescription
from nav_msgs.msg import OccupancyGrid
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from std_msgs.msg import Header, Int64, Int64MultiArray, String
from visualization_msgs.msg import MarkerArray

_POSES = ('amcl_pose', 'pose')
_GRAPH = 1.0     # s, between two looks at who is there
_WORLD = 0.5     # s, between two looks at where robot and doors are
_BEST_EFFORT = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.BEST_EFFORT, durability=DurabilityPolicy.VOLATILE)


class Ears:
    """
    Keeps the latest of each topic in ``facts``, which any thread may read.

    :param node: whose subscriptions and timer these are.
    """

    def __init__(self, node: Node) -> None:
        self.facts = Facts()
        self._node = node
        self._explorer: list[Subscription] = []    # what is heard from the explorer
        self._explorers: frozenset[Any] = frozenset()
        self._policies: Int64MultiArray | None = None
        self._answer: wire.PolicyAnswer | None = None
        self._asked: tuple[int, float] = (0, -math.inf)
        self._often_heard: dict[str, Callable[[], None]] = {}    # looked at now and then
        self._poses: dict[str, Subscription] = {}
        self._next_graph = self._next_world = -math.inf
        self._listen()
        self._robots, self._pace = RobotsMet(), Pace()
        self._hear(String, 'robot_side', self._described)
        self._hear(Int64, 'true_setting', lambda message: {
            'true_setting': wire.decode_count(message)})
        self._hear(Int64, 'exploration_steps', lambda message: {
            'exploration_steps': wire.decode_count(message)})
        self._hear(OccupancyGrid, 'map', self._mapped)
        self._often(MarkerArray, 'world_markers', self._on_markers, wire.LATCHED)
        wire.hear(node, Header, 'heartbeat', self._on_heartbeat, wire.HEARTBEATS)
        wire.hear(node, DiagnosticArray, '/diagnostics', self._on_diagnostics, wire.STEP)
        wire.hear(node, Int64MultiArray, 'policy', self._on_policy, wire.STEP)
        self._requests = node.create_publisher(Int64, 'policy/request', wire.STEP)

    def policy_to(self, state: int) -> Policy | None:
        """Return the policy to a known state; None until it is there. Any thread may ask."""
        message = self._policies
        try:
            found = wire.decode_policy_to(message, state) if message else None
        except wire.WireError:
            return None
        if found is not None or state not in self.facts.known:
            return found
        return self._requested(state)

    def look(self, now: float, offered: frozenset[str]) -> None:
        """
        Take in who is there, and what comes too often to be looked at each time.

        :param offered: services that are there.
        """
        if now >= self._next_graph:
            self._next_graph = now + _GRAPH
            self._look_around()
            navigator = bool(self._node.count_publishers('goal/status'))
            self.facts = replace(self.facts, offered=offered, navigator=navigator)
        if now >= self._next_world:
            self._next_world = now + _WORLD
            self._look_at_the_world()

    def _requested(self, state: int) -> Policy | None:
        """Return the answer to a request, which is made again as long as there is none."""
        answer, now = self._answer, time.monotonic()
        if answer is not None and answer.target == state and answer.stamp == self.facts.stamp:
            return answer.policy
        asked, when = self._asked
        if asked != state or now > when + 1.0:
            self._asked = state, now
            self._requests.publish(Int64(data=state))
        return None

    def _listen(self) -> None:
        self._explorer = [
            self._hear(String, 'phase', lambda message: {'phase': message.data}),
            self._hear(String, 'status', lambda message: {'status': message.data}),
            self._hear(Int64MultiArray, 'known_states', _known),
            self._hear(Int64MultiArray, 'policies', self._keep_policies),
            self._hear(Int64MultiArray, 'model', lambda message: {
                'counts': wire.decode_model(message).counts}),
            self._hear(String, 'activity', lambda message: {
                'activity': Activity.from_json(message.data)})]

    def _hear(self, kind: type, topic: str,
              fields: Callable[[Any], dict[str, Any]]) -> Subscription:
        def update(message: Any) -> None:
            self.facts = replace(self.facts, **fields(message))
        return wire.hear(self._node, kind, topic, update)

    def _described(self, text: String) -> dict[str, Any]:
        described = RobotDescription.from_text(text.data)
        return {'description': described.after(self.facts.description)}

    def _mapped(self, message: OccupancyGrid) -> dict[str, Any]:
        return {'ground': _with_map(self.facts.ground, message)}

    def _often(self, kind: type, topic: str, take: Callable[[Any], None],
               qos: QoSProfile) -> Subscription:
        """Hear what comes too often to be unpacked each time."""
        taken = wire.dropping(self._node, topic, lambda data: take(wire.unpack(data, kind)))

        def keep(data: bytes) -> None:
            self._often_heard[topic] = partial(taken, data)
        return self._node.create_subscription(kind, topic, keep, qos, raw=True)

    def _keep_policies(self, message: Int64MultiArray) -> dict[str, Any]:
        """Keep what is only decoded if somebody wants to see it."""
        self._policies = message
        return {}

    def _on_policy(self, message: Int64MultiArray) -> None:
        self._answer = wire.decode_policy(message)

    def _on_heartbeat(self, _: Header) -> None:
        self.facts = replace(self.facts, heard=time.monotonic())

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        report = wire.decode_report(message, self._node.get_namespace())
        if report is not None:
            robots = wire.decode_robots(message, self._node.get_namespace())
            self.facts = replace(
                self.facts, report=report, reports=self.facts.reports + 1, robots=robots)
            self.facts = replace(self.facts, pace=self._pace.update(
                self.facts.count('steps'), self.facts.exploring, time.monotonic()))
            for robot in self._robots.new(each.name for each in robots):
                self._follow(robot)

    def _follow(self, robot: str) -> None:
        """Hear what one of several robots says of itself and of where it is."""
        self._hear(String, f'{robot}/robot_side', self._described)
        self._hear(Int64, f'{robot}/true_setting', lambda message: {
            'true_setting': self._robots.reached(robot, wire.decode_count(message))})
        self._hear(OccupancyGrid, f'{robot}/map', self._mapped)

    def _look_around(self) -> None:
        """Forget what an explorer has said that is gone, once there is another one."""
        present = frozenset(identities(
            self._node.get_publishers_info_by_topic(self._explorer[0].topic_name)))
        if self._explorers and present - self._explorers:
            for subscription in self._explorer:
                self._node.destroy_subscription(subscription)
            before = self.facts
            self._policies = self._answer = None
            self.facts = Facts(
                description=before.description, true_setting=before.true_setting,
                exploration_steps=before.exploration_steps, ground=before.ground,
                robot=before.robot, reports=before.reports, offered=before.offered,
                navigator=before.navigator, heard=before.heard)
            self._listen()
        self._explorers = present or self._explorers
        self._look_for_poses()

    def _look_for_poses(self) -> None:
        """Hear the pose of a real robot; the simulated one is in its world's markers."""
        if self._node.count_publishers('world_markers'):
            return
        for topic in _POSES:
            if topic not in self._poses and self._node.count_publishers(topic):
                self._poses[topic] = self._often(
                    PoseWithCovarianceStamped, topic, self._on_pose, _BEST_EFFORT)

    def _look_at_the_world(self) -> None:
        if self.facts.description.frame:
            while self._often_heard:
                self._often_heard.popitem()[1]()

    def _on_pose(self, message: PoseWithCovarianceStamped) -> None:
        if message.header.frame_id == self.facts.description.frame:
            self.facts = replace(self.facts, robot=_planar(message.pose.pose))

    def _on_markers(self, message: MarkerArray) -> None:
        drawn = {marker.ns: marker for marker in message.markers
                 if marker.header.frame_id == self.facts.description.frame}
        doors = tuple(
            (_finite(point.x), _finite(point.y), name == 'open doors')
            for name in ('open doors', 'closed doors') if name in drawn
            for point in drawn[name].points)
        size = _finite(next((
            drawn[name].scale.x for name in ('open doors', 'closed doors', 'walls')
            if name in drawn), 0.0))
        robot = _planar(drawn['robot'].pose) if 'robot' in drawn else self.facts.robot
        self.facts = replace(self.facts, robot=robot, ground=replace(
            self.facts.ground, doors=doors, door_size=size))


def _known(message: Int64MultiArray) -> dict[str, Any]:
    stamp, known = wire.decode_known_states(message)
    return {'stamp': stamp, 'known': known}


def _with_map(ground: Ground, message: OccupancyGrid) -> Ground:
    info = message.info
    cell = _finite(info.resolution)
    return replace(
        ground, image=picture(message.data, info.width, info.height),
        corner=(_finite(info.origin.position.x), _finite(info.origin.position.y)),
        size=(info.width * cell, info.height * cell))


def _planar(pose: Pose) -> tuple[float, float, float]:
    turn = pose.orientation
    yaw = math.atan2(2 * (turn.w * turn.z + turn.x * turn.y),
                     1 - 2 * (turn.y * turn.y + turn.z * turn.z))
    return _finite(pose.position.x), _finite(pose.position.y), _finite(yaw)


def _finite(number: float) -> float:
    """Return a length or an angle; WireError if it cannot be drawn."""
    if not abs(number) < FARTHEST:
        raise wire.WireError(f'found {number}, expected a number below {FARTHEST:g}')
    return number
