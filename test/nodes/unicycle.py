# SPDX-License-Identifier: Apache-2.0

"""A perfect differential drive, played by the test over the topics of a real robot."""

from __future__ import annotations

from collections.abc import Callable
import math
import time
from typing import Any

from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped, Twist, TwistStamped
from mnm_ros import messages
from mnm_ros.simulation.diff_drive import Lockstep
from nav_msgs.msg import OccupancyGrid, Odometry
from node_processes import Peer
from std_msgs.msg import Bool

TICK = 0.05     # s, between two poses, by their stamps
_LOOK = 0.005   # s by the clock on the wall, between two looks whether it is time to go on
_ALONE = 0.05   # s, after which it goes on without a command,
_LATE = 0.5     # or this long after a command or a command, as one may be late on a busy machine,
_PATIENT = 1.0  # or this long while it moves, so that it does not drive on meanwhile


class Unicycle:
    """
    Moves on as soon as a pose has been answered with a velocity, like a simulator.

    wall: says whether a point cannot be entered. silent: no poses any more.
    frozen: the last pose again and again, with its stamp.
    shift: m along x by which the poses are wrong, and drift by how much more with each.
    pace: of the stamps, against the motion.
    commanded: how many of the next poses may be answered, as a command has been given.
    pause: s by the clock on the wall that a tick takes at least; without any, two processors are
        busy.

    commands: the time of the pose that each one followed, speed in m/s, turn in rad/s.
    """

    def __init__(self, peer: Peer, source: str = 'odom', stamped: bool = False,
                 kind: type | None = None) -> None:
        self.x = self.y = self.yaw = 0.0
        self.time = 1000.0
        self.shift, self.drift, self.pace = 0.0, 0.0, 1.0
        self.speed = self.turn = 0.0
        self.wall: Callable[[float, float], bool] = lambda x, y: False
        self.tells_bumps = True
        self.stuck = self.silent = self.frozen = False
        self.commanded = 0
        self.pause = 0.0
        self.headers: list[Any] = []    # of velocities with a stamp
        self.commands: list[tuple[float, float, float]] = []
        self.poses = 0
        self.goals: list[tuple[float, float, float]] = []
        self.frames: set[str] = set()
        self._stamped = stamped
        self._lockstep = Lockstep(time.monotonic())
        self._kind = kind or (Odometry if source == 'odom' else PoseWithCovarianceStamped)
        self._touching = False
        self._commanded = False    # since the last tick
        self._ticked = -math.inf   # by the clock on the wall
        node = peer.node
        self._poses = node.create_publisher(self._kind, source, 10)
        self._bumps = node.create_publisher(Bool, 'bump', messages.LATCHED)
        self._maps = node.create_publisher(OccupancyGrid, 'map', messages.LATCHED)
        node.create_subscription(
            TwistStamped if stamped else Twist, 'cmd_vel', self._on_command, 10)
        node.create_subscription(PoseStamped, 'goal_pose', self._on_goal, 10)
        node.create_timer(_LOOK, self._go_on)

    @property
    def heard(self) -> int:
        return self._poses.get_subscription_count()

    def publish_map(self, width: int, height: int, resolution: float, x: float, y: float,
                    values: list[int]) -> None:
        message = OccupancyGrid(data=values)
        message.header.frame_id = 'odom'
        message.info.width, message.info.height = width, height
        message.info.resolution = resolution
        message.info.origin.position.x, message.info.origin.position.y = x, y
        message.info.origin.orientation.w = 1.0
        self._maps.publish(message)

    def tick(self) -> None:
        """Move for TICK seconds and publish where that has led."""
        if not self.frozen:
            self.time += TICK * self.pace
            self.shift += self.drift
        if not self.stuck and not self.frozen:
            self._move()
        if not self.silent:
            self._publish()
        moving = self.speed or self.turn
        late = self._commanded or self.commanded
        self.commanded = max(0, self.commanded - 1)
        patience = _PATIENT if moving else _LATE if late else _ALONE
        self._commanded = False
        self._ticked = time.monotonic()
        self._lockstep.ticked(self._ticked, _ALONE if self.silent else patience)

    def touch(self) -> None:
        """Touch something."""
        self._bumps.publish(Bool(data=True))

    def _move(self) -> None:
        self.yaw = math.remainder(self.yaw + self.turn * TICK, math.tau)
        x = self.x + self.speed * TICK * math.cos(self.yaw)
        y = self.y + self.speed * TICK * math.sin(self.yaw)
        touching = self.wall(x, y)
        if not touching:
            self.x, self.y = x, y
        if touching != self._touching and self.tells_bumps:
            self._bumps.publish(Bool(data=touching))
        self._touching = touching

    def _publish(self) -> None:
        message = self._kind()
        message.header.frame_id = 'odom'
        message.header.stamp.sec = int(self.time)
        message.header.stamp.nanosec = int(self.time % 1 * 1e9)
        message.pose.pose.position.x, message.pose.pose.position.y = (
            self.x + self.shift, self.y)
        message.pose.pose.orientation.z = math.sin(self.yaw / 2)
        message.pose.pose.orientation.w = math.cos(self.yaw / 2)
        self._poses.publish(message)
        self.poses += 1

    def _on_command(self, message: Any) -> None:
        if self._stamped:
            self.headers.append(message.header)
        twist = message.twist if self._stamped else message
        self.speed, self.turn = twist.linear.x, twist.angular.z
        self.commands.append((self.time, self.speed, self.turn))
        self._commanded, self.commanded = True, 0
        self._lockstep.commanded(time.monotonic())
        self._go_on()

    def _on_goal(self, message: PoseStamped) -> None:
        """Be there at once, as far as walls allow, like a planner in a hurry."""
        position, q = message.pose.position, message.pose.orientation
        self.goals.append((position.x, position.y, 2 * math.atan2(q.z, q.w)))
        self.frames.add(message.header.frame_id)
        if not self.stuck and not self.wall(position.x, position.y):
            self.x, self.y, self.yaw = self.goals[-1]

    def _go_on(self) -> None:
        if time.monotonic() >= max(self._lockstep.due, self._ticked + self.pause):
            self.tick()
