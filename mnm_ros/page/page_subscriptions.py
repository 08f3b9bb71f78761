# SPDX-License-Identifier: Apache-2.0

"""The content of all pages of a dashboard: exploration, who is there, and the robot's world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
import math
import time
from typing import Any, TypeVar

from geometry_msgs.msg import Pose, PoseWithCovarianceStamped
from mnm_ros import messages
from mnm_ros.core.errors import MessageError
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.description_entries import FARTHEST
from mnm_ros.language import phrase
from mnm_ros.nodes.common.graph_watch import identities
from mnm_ros.page.commands import Commands
from mnm_ros.page.looking_back import LookingBack, Source
from mnm_ros.page.played_log import PlayedLog
from mnm_ros.subscriptions import Subscriptions
from mnm_ros.view.telemetry import Ground, Telemetry
from mnm_ros.view.web.layers import draw, Layers, picture, Places
from mnm_ros.view.web.panels import Timeline
from nav_msgs.msg import OccupancyGrid
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from std_msgs.msg import Header
from visualization_msgs.msg import MarkerArray

_MsgT = TypeVar('_MsgT')
_POSES = ('amcl_pose', 'pose')
_GRAPH = 1.0     # s, between two checks of who is there
_CHART = 2.0     # s, between two pictures of the timeline
_WORLD = 0.5     # s, between two checks of robot and doors
_BEST_EFFORT = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.BEST_EFFORT, durability=DurabilityPolicy.VOLATILE)


class PageSubscriptions(Subscriptions):
    """
    Keeps also the heartbeat, the map, the doors and the pose, and forgets who has gone.

    :param node: whose subscriptions these are.
    """

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._explorers: frozenset[Any] = frozenset()
        self._often_heard: dict[str, Callable[[], None]] = {}    # examined now and then
        self._poses: dict[str, Subscription] = {}
        self._next_graph = self._next_world = -math.inf
        self._hear(OccupancyGrid, 'map', self._mapped)
        self._often(MarkerArray, 'world_markers', self._on_markers, messages.LATCHED)
        messages.hear(node, Header, 'heartbeat', messages.HEARTBEATS, self._on_heartbeat)

    def look(self, now: float, offered: Callable[[], frozenset[str]]) -> None:
        """
        Take in who is there, and what comes too often to be examined each time.

        :param offered: returns the services that are there.
        """
        if now >= self._next_graph:
            self._next_graph = now + _GRAPH
            self._look_around()
            navigator = bool(self._node.count_publishers('goal/status'))
            self.heard = replace(self.heard, offered=offered(), navigator=navigator)
        if now >= self._next_world:
            self._next_world = now + _WORLD
            self._look_at_the_world()

    def _follow(self, robot: str) -> None:
        super()._follow(robot)
        self._hear(OccupancyGrid, f'{robot}/map', self._mapped)

    def _often(self, kind: type[_MsgT], topic: str, take: Callable[[_MsgT], None],
               qos: QoSProfile) -> Subscription:
        """Hear what comes too often to be unpacked each time."""
        def unpack(data: bytes) -> None:
            take(messages.unpack(data, kind))

        taken = messages.dropping(self._node, topic, unpack)

        def keep(data: bytes) -> None:
            self._often_heard[topic] = partial(taken, data)
        return self._node.create_subscription(kind, topic, keep, qos, raw=True)

    def _mapped(self, message: OccupancyGrid) -> dict[str, Any]:
        return {'ground': _with_map(self.heard.ground, message)}

    def _on_heartbeat(self, _: Header) -> None:
        self.heard = replace(self.heard, heartbeat=time.monotonic())

    def _look_around(self) -> None:
        """Forget what an explorer has said that is gone, once there is another one."""
        present = frozenset(identities(self._node.get_publishers_info_by_topic(self.topic)))
        if self._explorers and present - self._explorers:
            self.forget()
        self._explorers = present or self._explorers
        self.heard = replace(self.heard, gone=bool(self._explorers) and not present)
        self.drop_stops()
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
        if self.heard.description.frame:
            while self._often_heard:
                self._often_heard.popitem()[1]()

    def _on_pose(self, message: PoseWithCovarianceStamped) -> None:
        if message.header.frame_id == self.heard.description.frame:
            self.heard = replace(self.heard, pose=_planar(message.pose.pose))

    def _on_markers(self, message: MarkerArray) -> None:
        drawn = {marker.ns: marker for marker in message.markers
                 if marker.header.frame_id == self.heard.description.frame}
        doors = tuple(
            (_finite(point.x), _finite(point.y), name == 'open doors')
            for name in ('open doors', 'closed doors') if name in drawn
            for point in drawn[name].points)
        size = _finite(next((
            drawn[name].scale.x for name in ('open doors', 'closed doors', 'walls')
            if name in drawn), 0.0))
        pose = _planar(drawn['robot'].pose) if 'robot' in drawn else self.heard.pose
        self.heard = replace(self.heard, pose=pose, ground=replace(
            self.heard.ground, doors=doors, door_size=size))


class SharedLayers:
    """
    The telemetry as layers and as a chart, drawn when they have changed.

    :param commands: None for a page that commands nothing.
    :param of: the names of what is shown, as ``where`` takes them.
    :ivar log: that is shown in place of what is heard.
    """

    def __init__(self, subscriptions: Source, commands: Commands | None,
                 of: Mapping[str, str]) -> None:
        self.log = subscriptions if isinstance(subscriptions, PlayedLog) else None
        self.subscriptions, self.commands, self.of = subscriptions, commands, of
        self.places = Places()
        self.timeline = Timeline()
        self.looking_back = LookingBack(subscriptions)
        self.layers: Layers = {}
        self._drawn: tuple[Any, ...] = ()
        self._charted, self._new = 0.0, False
        self._charts: dict[str, dict[str, Any]] = {}    # by language, until something is new

    def remember(self, now: float) -> None:
        """Keep the course of things, whether a page is open or not."""
        self.looking_back.look(now)
        self._new |= self.timeline.update(self.subscriptions.heard)
        if self._new and now >= self._charted + _CHART:
            self._new, self._charted, self._charts = False, now, {}

    def chart(self, language: str) -> dict[str, Any]:
        """Return the timeline, the same one until something is new."""
        if language not in self._charts:
            self._charts[language] = self.timeline.options(language)
        return self._charts[language]

    def play(self, heard: Telemetry, hypothesis: Hypothesis | None) -> None:
        """Take in the next scene of the log."""
        assert self.log is not None
        self.log.take(replace(heard, reports=self.log.heard.reports + 1), hypothesis)
        self.looking_back.keep()
        if self.timeline.update(self.log.heard):
            self._charts = {}

    def update(self) -> Telemetry:
        """Draw what is new and return what has been heard that it shows."""
        heard = self.subscriptions.heard
        drawn = (heard.knowledge.kinds, heard.counts, heard.description, heard.ground, heard.pose,
                 [(robot.name, robot.place) for robot in heard.robots], heard.occupied)
        if len(drawn) != len(self._drawn) or any(
                one is not other and one != other
                for one, other in zip(drawn, self._drawn, strict=True)):
            self._drawn, self.layers = drawn, draw(heard, self.places)
        return heard


def where(of: Mapping[str, str], language: str) -> str:
    """Return what a page is of: the ``log`` of that name, or ``namespace`` and ``domain``."""
    return phrase(f'page.{"of_log" if "log" in of else "of_explorer"}', language, **of)


def _with_map(ground: Ground, message: OccupancyGrid) -> Ground:
    info = message.info
    cell = _finite(info.resolution)
    return replace(
        ground, image=picture(message.data, info.width, info.height),
        corner=(_finite(info.origin.position.x), _finite(info.origin.position.y)),
        size=(info.width * cell, info.height * cell))


def _planar(pose: Pose) -> tuple[float, float, float]:
    yaw = messages.yaw_of(pose.orientation)
    if yaw is None:
        raise MessageError(f'found {pose.orientation}, expected a rotation')
    return _finite(pose.position.x), _finite(pose.position.y), yaw


def _finite(number: float) -> float:
    """Return a length or an angle; MessageError if it cannot be drawn."""
    if not abs(number) < FARTHEST:
        raise MessageError(f'found {number}, expected a number below {FARTHEST:g}')
    return number
