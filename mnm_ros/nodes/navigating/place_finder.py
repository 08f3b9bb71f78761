# SPDX-License-Identifier: Apache-2.0

"""Find the known state that nav2's clients mean by a pose."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import NamedTuple, Union

from geometry_msgs.msg import PoseStamped
from mnm_ros.driving.pose import Transform
from mnm_ros.nodes.common.heard_frames import HeardFrames
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from rclpy.node import Node

SAME = 1e-6        # m, between places that are one

# As nav2 calls them in ComputePathToPose.
TF_ERROR, GOAL_OUTSIDE_MAP = 202, 204


class Refusal(NamedTuple):
    """Why a pose is no goal, as a code and as a sentence."""

    code: int
    why: str


class PlaceFinder:
    """
    Finds the known place at a pose.

    :param tolerance: returns how far a pose may be from a place, m.
    :param refusal: returns why there is no policy to follow to a state, or nothing.
    :ivar description: what the robot side has said about itself.
    :ivar frames: that poses may be in; None before ``hear_frames``.
    """

    def __init__(self, node: Node, tolerance: Callable[[], float],
                 refusal: Callable[[int], str]) -> None:
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
            return Refusal(GOAL_OUTSIDE_MAP, f'the pose is at ({x}, {y}), expected numbers')
        if not described.frame or frame != described.frame.lstrip('/'):
            link = self.frames.find(frame, described.frame) if self.frames else None
            if link is None:
                return Refusal(TF_ERROR, f'the pose is in the frame {frame!r}, expected '
                               f'{described.frame!r}, in which the robot side has its places, or '
                               'one from which transforms lead there')
            x, y, *_ = link.transform.then(Transform(x, y, position.z))
        near = sorted((math.dist((x, y), place), state)
                      for state, place in described.positions.items())
        # Several states may be at one place, such as those of several headings.
        there = [state for away, state in near if away <= min(most, near[0][0] + SAME)]
        found = next((state for state in there if not self._refusal(state)), None)
        if found is not None:
            return found
        why = (f'{described.label(there[0])}: {self._refusal(there[0])}' if there
               else 'no place is there')
        return Refusal(GOAL_OUTSIDE_MAP, f'({x:.2f}, {y:.2f}) is no known place ({why}); '
                       f'{self._nearest_known(near, most)}')

    def _nearest_known(self, near: list[tuple[float, int]], most: float) -> str:
        for away, state in near:
            if not self._refusal(state):
                return (f'the nearest is {self.description.label(state)}, {away:.2f} m away, '
                        f'expected at most {most:g} m (pose_tolerance) and no other place nearer')
        return 'none is known yet'
