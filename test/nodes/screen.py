# SPDX-License-Identifier: Apache-2.0

"""What a viewer of markers shows after some messages, as RViz does it."""

from __future__ import annotations

from visualization_msgs.msg import Marker, MarkerArray


class Screen:
    """Markers by namespace and id."""

    def __init__(self, *messages: MarkerArray | None) -> None:
        self.shown: dict[tuple[str, int], Marker] = {}
        self.frames: set[str] = set()
        for message in messages:
            self.take(message)

    def take(self, message: MarkerArray | None) -> None:
        for marker in message.markers if message else ():
            self.frames.add(marker.header.frame_id)
            if marker.action == Marker.DELETEALL:
                self.shown.clear()
                self.frames = {marker.header.frame_id}
            elif marker.action == Marker.DELETE:
                del self.shown[marker.ns, marker.id]
            else:
                assert marker.action == Marker.ADD and marker.pose.orientation.w == 1.0
                assert marker.color.a > 0 and marker.scale.x + marker.scale.z > 0
                listed = marker.type in (Marker.LINE_LIST, Marker.ARROW)
                assert bool(marker.points) == listed, 'RViz takes that for an error'
                self.shown[marker.ns, marker.id] = marker

    def named(self, name: str) -> list[Marker]:
        return [marker for (ns, _), marker in self.shown.items() if ns == name]

    def places(self, name: str) -> list[tuple[float, float]]:
        """Return where things of a namespace are; of lines and arrows, all their ends."""
        return [(round(point.x, 6), round(point.y, 6)) for marker in self.named(name)
                for point in marker.points or [marker.pose.position]]

    def labels(self) -> list[str]:
        return [marker.text for marker in self.named('labels')]
