# SPDX-License-Identifier: Apache-2.0

"""The knowledge of the explorer as markers for RViz and Foxglove, and the topic with them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
import pickle

from geometry_msgs.msg import Point, Vector3
from mnm_ros import messages
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.knowledge.knowledge import Knowledge
from mnm_ros.lookout import Throttle
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.output.live_topics import lookout
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from mnm_ros.view.shapes import Caption, Key, Picture, Shape
from rclpy.serialization import serialize_message
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

_TOPIC = 'exploration_markers'
_PERIOD = 0.5    # s, at least between two messages
_WHOLE = 2       # pictures for a new viewer: the first may come before the connection is there
_KINDS = {
    'cube': Marker.CUBE, 'cylinder': Marker.CYLINDER, 'sphere': Marker.SPHERE,
    'arrow': Marker.ARROW, 'lines': Marker.LINE_LIST, 'text': Marker.TEXT_VIEW_FACING}
_WITH_POINTS = ('arrow', 'lines')


class Markers:
    """Draws the present picture, and says what has changed in it."""

    def __init__(self) -> None:
        self._picture = Picture()
        self._frame = ''
        self._shown: dict[Key, Shape] = {}
        self._ids: dict[str, dict[object, int]] = {}    # by namespace: they stay the same

    def draw(self, knowledge: Knowledge, description: RobotDescription = UNDESCRIBED,
             caption: Caption | None = None) -> MarkerArray | None:
        """
        Return the markers to add, to change and to delete; None if there are none.

        :param description: where states are, and what they are called, if that is known.
        :param caption: is written above them.
        """
        before, self._shown = self._shown, self._picture.shapes(knowledge, description, caption)
        if self._picture.frame != self._frame:
            self._frame = self._picture.frame
            return self.whole()
        gone = [self._marker(key, Marker.DELETE) for key in before if key not in self._shown]
        changed = [self._drawn(key, shape) for key, shape in self._shown.items()
                   if before.get(key) != shape]
        return MarkerArray(markers=gone + changed) if gone or changed else None

    def whole(self) -> MarkerArray:
        """Return all that was drawn last, in place of whatever is shown."""
        clear = Marker(action=Marker.DELETEALL)
        clear.header.frame_id = self._frame
        return MarkerArray(markers=[
            clear, *(self._drawn(key, shape) for key, shape in self._shown.items())])

    def _marker(self, key: Key, action: int) -> Marker:
        name, what = key
        ids = self._ids.setdefault(name, {})
        marker = Marker(ns=name, id=ids.setdefault(what, len(ids)), action=action)
        marker.header.frame_id = self._frame
        return marker

    def _drawn(self, key: Key, shape: Shape) -> Marker:
        marker = self._marker(key, Marker.ADD)
        marker.type = _KINDS[shape.kind]
        marker.scale = Vector3(x=shape.size[0], y=shape.size[1], z=shape.size[2])
        red, green, blue, alpha = shape.colour
        marker.color = ColorRGBA(r=red, g=green, b=blue, a=alpha)
        marker.text = shape.text
        marker.pose.orientation.w = 1.0
        points = [Point(x=x, y=y, z=z) for x, y, z in shape.points]
        if shape.kind in _WITH_POINTS:
            marker.points = points
        else:
            marker.pose.position, = points
        return marker


class PictureTopic:
    """
    ``exploration_markers``: single markers as they change, and the whole to a new viewer.

    What is latched is the last change alone, so the whole follows as soon as a new viewer is
    seen. Nothing is drawn without a viewer.
    """

    def __init__(self, node: NodeInterface) -> None:
        self._node = node
        self._publisher = node.create_publisher(MarkerArray, _TOPIC, messages.LATCHED)
        self._markers = pickle.dumps(Markers())
        self._lookout = lookout(node, self._take, _PERIOD)
        self._look = Throttle(_PERIOD)
        self._viewers: frozenset[bytes] = frozenset()
        self._drawn: object = None    # what was drawn last
        self._whole = 0    # how many of the next pictures are whole

    @property
    def watched(self) -> bool:
        """Whether there was a viewer at the last check."""
        return bool(self._viewers)

    def close(self) -> None:
        """End what is under way."""
        self._lookout.close()

    def news(self, exploration: Exploration, description: RobotDescription,
             caption: Caption, trust: bytes, seen: int | None, now: float) -> None:
        """
        Publish what has changed, if it is due and there is a viewer.

        :param trust: as ``TrustTopics.told``.
        :param seen: the last state that the robot has reported, if any.
        """
        if not (self._lookout.collect() and self._lookout.pace.due(now) and self._look.due(now)):
            return
        if self._new_viewers(now):
            self._whole = _WHOLE
        here = exploration.last_state if seen is None else seen
        shown = (exploration, exploration.steps, exploration.work, here, description, caption,
                 trust)
        if self._viewers and (self._whole or shown != self._drawn):
            self._drawn = shown
            whole, self._whole = bool(self._whole), max(0, self._whole - 1)
            self._lookout.ask(
                lambda: self._draw(exploration, description, caption, trust, here, whole), now)

    def republish(self) -> None:
        """Publish the whole picture again, for viewers that lost some of it."""
        self._whole = max(self._whole, int(self._drawn is not None))

    def greet(self, now: float) -> None:
        """Publish the whole of what was drawn last to a new viewer, while a plan is made."""
        if (self._lookout.collect() and self._drawn is not None and self._look.due(now)
                and self._new_viewers(now)):
            self._lookout.ask(lambda: (self._markers, serialize_message(
                pickle.loads(self._markers).whole())), now)

    def _draw(self, exploration: Exploration, description: RobotDescription, caption: Caption,
              trust: bytes, here: int | None, whole: bool) -> tuple[bytes, bytes | None]:
        """Return the markers, pickled, and the message about them, if there is any."""
        markers: Markers = pickle.loads(self._markers)
        known = exploration.knowledge(pickle.loads(trust).values())
        message = markers.draw(
            replace(known, here=() if here is None else (here,)), description, caption)
        if whole:
            message = markers.whole()
        return pickle.dumps(markers), None if message is None else serialize_message(message)

    def _take(self, drawn: tuple[bytes, bytes | None]) -> None:
        self._markers, message = drawn
        if message is not None:
            self._publisher.publish(message)

    def _new_viewers(self, now: float) -> bool:
        """Return whether there is a viewer that was not there before."""
        def look() -> Iterable[bytes]:
            if not self._publisher.get_subscription_count():
                return ()
            topic = self._publisher.topic_name
            return [bytes(viewer.endpoint_gid) for viewer
                    in self._node.get_subscriptions_info_by_topic(topic)]
        before, self._viewers = self._viewers, frozenset(self._look.do(look, now))
        return not self._viewers <= before
