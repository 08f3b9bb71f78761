# SPDX-License-Identifier: Apache-2.0

"""What is known of a running exploration, from the latest message of each topic."""

from __future__ import annotations

from dataclasses import dataclass

from mnm_ros.heard import Heard
from mnm_ros.robot_description import Point

SILENCE = 3.0    # s without a heartbeat, of which there are two in a second


@dataclass(frozen=True)
class Ground:
    """
    What a robot moves on, in the frame of the positions of states.

    :ivar image: the map as a ``data:`` URL of a picture; '' for none.
    :ivar corner, size: of the picture, in m.
    :ivar doors: centres and whether they are open.
    :ivar door_size: of a door, in m.
    """

    image: str = ''
    corner: Point = (0.0, 0.0)
    size: Point = (0.0, 0.0)
    doors: tuple[tuple[float, float, bool], ...] = ()
    door_size: float = 0.0


@dataclass(frozen=True)
class Facts(Heard):
    """
    The latest of everything.

    :ivar phase, status: as published.
    :ivar stamp: ``(round, revision)`` of the hypothesis.
    :ivar ground: what the robot moves on.
    :ivar robot: x, y and yaw of the robot in the frame of the positions.
    :ivar offered: services that are there.
    :ivar navigator: whether there is a navigator.
    :ivar heard: when the last heartbeat was heard, in s of a clock that never goes back.
    """

    phase: str = ''
    status: str = ''
    stamp: tuple[int, int] | None = None
    ground: Ground = Ground()
    robot: tuple[float, float, float] | None = None
    offered: frozenset[str] = frozenset()
    navigator: bool = False
    heard: float | None = None

    def silent(self, now: float) -> float | None:
        """Return for how many s the explorer has been silent; None while it is not."""
        if self.heard is None or now - self.heard <= SILENCE:
            return None
        return now - self.heard

    @property
    def home(self) -> int | None:
        """Return the home state; None before it is known."""
        if self.activity.home is not None:
            return self.activity.home
        if self.known:
            return self.known[0]
        return self.description.home

    @property
    def steps(self) -> int:
        """Return the steps so far."""
        return max(self.activity.step, self.count('steps') or 0)

    @property
    def rate(self) -> float:
        """Return the steps in a second, by the last report."""
        return self.number('steps_per_second') or 0.0
