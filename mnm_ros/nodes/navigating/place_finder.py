# SPDX-License-Identifier: Apache-2.0

"""Find the known state that nav2's clients mean by a pose."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import NamedTuple, Union

from geometry_msgs.msg import PoseStamped
from mnm_ros.core.progress.said import Reason
from mnm_ros.driving.pose import Transform
from mnm_ros.language import Phrase, Text
from mnm_ros.nodes.common.heard_frames import HeardFrames
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from mnm_ros.view.sentences import Sentence
from rclpy.node import Node

SAME = 1e-6        # m, between places that are one

# As nav2 calls them in ComputePathToPose.
TF_ERROR, GOAL_OUTSIDE_MAP = 202, 204


class Refusal(NamedTuple):
    """Why a pose is no goal, as a code and as a phrase."""

    code: int
    why: Text


class PlaceFinder:
    """
    Finds the known place at a pose.

    :param tolerance: returns how far a pose may be from a place, m.
    :param refusal: returns why there is no policy to follow to a state, or nothing.
    :ivar description: what the robot side has said about itself.
    :ivar frames: that poses may be in; None before ``hear_frames``.
    """

    def __init__(self, node: Node, tolerance: Callable[[], float],
                 refusal: Callable[[int], Reason]) -> None:
        self._node = node
        self._tolerance, self._refusal = tolerance, refusal
        self.description: RobotDescription = UNDESCRIBED
        self.frames: HeardFrames | None = None

    @property
    def offered(self) -> bool:
        """Whether poses may mean places at all."""
        return self._tolerance() > 0

    def hear_frames(self) -> None:
        """Take poses in other frames from now on."""
        self.frames = self.frames or HeardFrames(self._node)

    def place(self, asked: PoseStamped) -> Union[int, Refusal]:
        """Return the known state at a pose, or why there is none."""
        described, most = self.description, self._tolerance()
        frame, position = asked.header.frame_id.lstrip('/'), asked.pose.position
        x, y = position.x, position.y
        if not all(map(math.isfinite, (x, y, position.z))):
            return Refusal(GOAL_OUTSIDE_MAP, Phrase.of('poses.no_numbers', x=x, y=y))
        if not described.frame or frame != described.frame.lstrip('/'):
            link = self.frames.find(frame, described.frame) if self.frames else None
            if link is None:
                return Refusal(TF_ERROR, Phrase.of(
                    'poses.frame', frame=repr(frame), expected=repr(described.frame)))
            x, y, *_ = link.transform.then(Transform(x, y, position.z))
        near = sorted((math.dist((x, y), place), state)
                      for state, place in described.positions.items())
        # Several states may be at one place, such as those of several headings.
        there = [state for away, state in near if away <= min(most, near[0][0] + SAME)]
        found = next((state for state in there if not self._refusal(state)), None)
        if found is not None:
            return found
        why = Phrase.of('poses.place', place=described.label(there[0]), why=Sentence(
            self._refusal(there[0]))) if there else Phrase.of('poses.no_place')
        return Refusal(GOAL_OUTSIDE_MAP, Phrase.of(
            'poses.not_known', x=x, y=y, why=why, nearest=self._nearest_known(near, most)))

    def _nearest_known(self, near: list[tuple[float, int]], most: float) -> Phrase:
        for away, state in near:
            if not self._refusal(state):
                return Phrase.of('poses.nearest', place=self.description.label(state), away=away,
                                 most=most)
        return Phrase.of('poses.none_known')
