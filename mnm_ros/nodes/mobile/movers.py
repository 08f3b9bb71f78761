# SPDX-License-Identifier: Apache-2.0

"""Ways to move the robot along a leg: velocities, goals for a planner, or the platform's dock."""

from __future__ import annotations

from abc import ABC, abstractmethod
import math
import time

from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
from mnm_ros import messages
from mnm_ros.driving.drive import Drive, Lag, Leg, Limits, Outcome, STILL, Velocity
from mnm_ros.driving.measures import Odometer, Stopwatch
from mnm_ros.driving.occupancy import Map
from mnm_ros.driving.pose import Pose
from mnm_ros.driving.sight import MapSight
from mnm_ros.nodes.common.commanding import HomeService
from mnm_ros.nodes.mobile.eyes import Eyes
from mnm_ros.nodes.mobile.poses import set_pose, StampedPose
from rclpy.duration import Duration
from rclpy.node import Node

_REST = 0.5       # s of zero velocities after an action, before another node may drive
_REPEAT = 5.0     # s, after which a goal is published again
_DOCK_PAUSE = 1.0    # s, between two calls of the service dock
_ACKNOWLEDGE = Duration(seconds=0.5)    # for subscribers to confirm the last message


class Mover(ABC):
    """
    Moves the robot along one leg at a time.

    :ivar needs_time: whether ``update`` has to be called between two poses, too.
    :ivar detail: why the last leg has failed.
    """

    needs_time = True
    detail = ''

    @property
    def idle(self) -> bool:
        """Whether nothing more happens after a stop."""
        return True

    @property
    def rolling(self) -> bool:
        """Whether the robot still drives on to the end of a leg that is decided."""
        return False

    @property
    def missing(self) -> str:
        """Return who has to listen before a leg can begin, or nothing."""
        return ''

    @abstractmethod
    def start(self, leg: Leg, pose: StampedPose) -> None:
        """Begin a leg."""

    @abstractmethod
    def update(self, pose: StampedPose) -> Outcome | None:
        """Take a pose, new or with a later time; return how the leg has ended, None if not yet."""

    def know(self, map_: Map, radius: float) -> None:
        """Take a map whose walls a robot of that radius in m keeps from."""

    def bump(self) -> None:
        """Notice that the robot touches something."""

    def obstruct(self) -> None:
        """End the leg, the rest of which is not free on a new map."""

    def stop(self, pose: StampedPose | None) -> None:
        """Bring the robot to rest at once; None if it is unknown where it is."""

    def roll(self) -> bool:
        """Go on to the end of the leg while resting; return whether that is possible."""
        return False

    def ahead(self, pose: StampedPose) -> Pose:
        """Return where the robot will be when it begins to follow another leg."""
        return pose.pose

    def stop_rolling(self) -> None:
        """Stop if it goes on to the end of a leg."""

    def rest(self, pose: StampedPose) -> Outcome | None:
        """Take a pose while no leg is under way; return how one has ended that was decided."""
        return None

    def close(self) -> None:
        """Make sure, before the node ends, that the last message has arrived."""


class VelocityMover(Mover):
    """
    Publishes one velocity for each pose, zeros for a while afterwards, then none.

    :param limits: of velocities.
    :param frame: of the robot, with a stamp; None for velocities without frame and stamp.
    :param eyes: None for a robot that sees nothing.
    """

    needs_time = False

    def __init__(self, node: Node, limits: Limits, frame: str | None,
                 eyes: Eyes | None = None) -> None:
        self._node = node
        self._limits = limits
        self._frame = frame
        self._eyes = eyes
        self._walls: MapSight | None = None
        self._drive: Drive | None = None
        self._rolling = False            # to the end of a leg that is decided
        self._lag = Lag(limits.latency)
        self._now = 0.0                  # by the last pose
        self._answered_ahead = False     # whether the next pose has its velocity already
        self._resting: Stopwatch | None = None
        self._publisher = node.create_publisher(
            Twist if frame is None else TwistStamped, 'cmd_vel', messages.STEP)

    @property
    def rolling(self) -> bool:
        return self._rolling and self._drive is not None and self._drive.velocity.forward > 0

    @property
    def missing(self) -> str:
        """Return what a base has to subscribe: a move that it never hears of is not blocked."""
        if self._publisher.get_subscription_count():
            return ''
        topic, kind = self._publisher.topic_name, 'TwistStamped' if self._frame else 'Twist'
        others = {each.topic_type.rpartition('/')[2]
                  for each in self._node.get_subscriptions_info_by_topic(topic)}
        found = f', found {", ".join(sorted(others))} (parameter stamped)' if others else ''
        return f'subscriber of {kind} on {topic}{found}'

    def know(self, map_: Map, radius: float) -> None:
        self._walls = MapSight(map_, radius) if radius else None

    def start(self, leg: Leg, pose: StampedPose) -> None:
        before = self._drive
        velocity = before.velocity if before and self._rolling and not before.outcome else STILL
        self._rolling, self._resting = False, None
        self._drive = Drive(
            self._limits, leg, pose.time, self.ahead(pose), time.monotonic(), velocity)

    def update(self, pose: StampedPose) -> Outcome | None:
        """Answer a pose with a velocity."""
        if self._drive is None:
            return None
        if self._answered_ahead:
            self._answered_ahead = False
        else:
            self._publish(self._step(self._drive, pose))
        return self._drive.outcome

    def bump(self) -> None:
        """End the leg, unless it is a retreat."""
        if self._drive and not self._drive.outcome:
            self._drive.bump()
            if self._drive.outcome:
                self._halt()    # update() returns the outcome with the next pose

    def obstruct(self) -> None:
        if self._drive and not self._drive.outcome:
            self._drive.outcome = Outcome.OBSTRUCTED
            self._halt()

    def stop(self, pose: StampedPose | None) -> None:
        self._rolling = False
        if self._drive is not None:
            self._halt()

    def roll(self) -> bool:
        self._rolling = True
        return True

    def stop_rolling(self) -> None:
        if self._rolling:
            self.stop(None)

    def rest(self, pose: StampedPose) -> Outcome | None:
        """Answer a pose with zero for a while after the last leg, once that is at its end."""
        ended = self.update(pose) if self._rolling else None
        if self._rolling and ended is None:
            return None
        if self._drive is not None:
            self._drive, self._resting = None, Stopwatch(pose.time)
        if self._rolling or self._resting is None:
            self._rolling = False
            return ended
        self._now = pose.time
        self._resting.lap(pose.time)
        if self._resting.elapsed >= _REST:
            self._resting, self._answered_ahead = None, False
        elif self._answered_ahead:
            self._answered_ahead = False
        else:
            self._publish(STILL)
        return None

    def close(self) -> None:
        """Publish a last zero and wait for it to arrive: it would be lost with the node."""
        self._publish(STILL)
        self._publisher.wait_for_all_acked(_ACKNOWLEDGE)

    def ahead(self, pose: StampedPose) -> Pose:
        return self._lag.ahead(pose.time, pose.pose)

    def _step(self, drive: Drive, pose: StampedPose) -> Velocity:
        self._now, place = pose.time, self.ahead(pose)
        sight = self._eyes or self._walls
        aside = sight.aside(*drive.way(place)[:2]) if sight else 0.0
        room = self._eyes.room(drive.way(place, aside)) if self._eyes else math.inf
        return drive.step(pose.time, place, time.monotonic(), room, aside)

    def _halt(self) -> None:
        # A simulator that waits for a velocity after each pose must not get one too many.
        self._answered_ahead = True
        self._publish(STILL)

    def _publish(self, velocity: Velocity) -> None:
        self._lag.send(self._now, velocity)
        twist = Twist()
        twist.linear.x, twist.angular.z = velocity
        if self._frame is not None:
            message = TwistStamped(twist=twist)
            message.header.stamp = self._node.get_clock().now().to_msg()
            message.header.frame_id = self._frame
            self._publisher.publish(message)
        else:
            self._publisher.publish(twist)


class PlannerMover(Mover):
    """
    Leaves the way to a planner, and gives up a leg that goes wrong by what the poses say.

    :param limits: of tolerances.
    :param max_detour: the longest way of a move, in straight ways, or sides of a cell.
    :param cell_size: in m.
    """

    def __init__(self, node: Node, limits: Limits, max_detour: float, cell_size: float) -> None:
        self._node = node
        self._limits = limits
        self._max_detour = max_detour
        self._cell_size = cell_size
        self._leg: Leg | None = None
        self._held_up: Outcome | None = None    # by what is in its way
        self._watch = Stopwatch(0.0)
        self._way = Odometer(Pose(0.0, 0.0, 0.0), 0.0)
        self._longest = math.inf

    def start(self, leg: Leg, pose: StampedPose) -> None:
        self._leg, self._held_up = leg, None
        self._watch = Stopwatch(pose.time)
        self._way = Odometer(pose.pose, self._limits.tolerance)
        self._longest = math.inf if not leg.direct else (
            self._max_detour * max(leg.distance(pose.pose), self._cell_size))

    def bump(self) -> None:
        """End the leg, unless it is a retreat."""
        if self._leg is not None and not self._leg.retreat:
            self._held_up = Outcome.BUMPED

    def obstruct(self) -> None:
        self._held_up = self._held_up or Outcome.OBSTRUCTED

    def _given_up(self, leg: Leg, pose: StampedPose) -> Outcome | None:
        """Return why a leg that is under way has to end, or None."""
        self._watch.lap(pose.time)
        driven = self._way.lap(pose.pose)
        if self._held_up:
            return self._held_up
        if driven > self._longest:
            self.detail = f'{driven:.2f} m driven, expected <= {self._longest:.2f} m by max_detour'
            return Outcome.DETOUR
        return Outcome.TIMEOUT if self._watch.elapsed >= leg.timeout else None


class GoalMover(PlannerMover):
    """Publishes goals for a planner, and judges by the pose whether they are reached."""

    def __init__(self, node: Node, limits: Limits, max_detour: float, cell_size: float) -> None:
        super().__init__(node, limits, max_detour, cell_size)
        self._goal = Pose(0.0, 0.0, 0.0)
        self._published = Stopwatch(0.0)
        self._listeners = 0    # when it was published; one that comes later has missed the goal
        self._publisher = node.create_publisher(PoseStamped, 'goal_pose', messages.STEP)

    def start(self, leg: Leg, pose: StampedPose) -> None:
        super().start(leg, pose)
        self._goal, self.detail = goal_of(leg, pose.pose), ''
        self._publish(pose)

    def update(self, pose: StampedPose) -> Outcome | None:
        """Compare the pose with the goal, which is published again now and then."""
        if self._leg is None:
            return None
        self._published.lap(pose.time)
        given_up = self._given_up(self._leg, pose)
        if given_up:
            self.stop(pose)
            return given_up
        if (self._leg.distance(pose.pose) <= self._limits.tolerance
                and abs(self._leg.misalignment(pose.pose)) <= self._limits.heading_tolerance):
            return Outcome.REACHED
        listeners = self._publisher.get_subscription_count()
        if self._published.elapsed >= _REPEAT or listeners > self._listeners:
            self._publish(pose)
        return None

    def stop(self, pose: StampedPose | None) -> None:
        """Make a pose the goal: the present one, or a better one as soon as it is known."""
        self._leg = None
        if pose is not None:
            self._send(pose.frame, pose.pose)

    def close(self) -> None:
        self._publisher.wait_for_all_acked(_ACKNOWLEDGE)

    def _publish(self, pose: StampedPose) -> None:
        self._published = Stopwatch(pose.time)
        self._listeners = self._publisher.get_subscription_count()
        self._send(pose.frame, self._goal)

    def _send(self, frame: str, pose: Pose) -> None:
        self._publisher.publish(goal_message(self._node, frame, pose))


class DockMover(Mover):
    """Calls the service ``dock`` of the platform, which goes home by itself."""

    def __init__(self, node: Node) -> None:
        self._client = HomeService(node, self._on_response, 'dock')
        self._attempt = 0
        self._success: bool | None = None    # None before the response
        self._called = False
        self._docked: tuple[Pose, float] | None = None    # the last pose before it, and when
        self._timeout = 0.0
        self._watch = Stopwatch(0.0)

    def start(self, leg: Leg, pose: StampedPose) -> None:
        """Call the service as soon as it is offered."""
        self._attempt += 1
        self._called, self._success, self._docked = False, None, None
        self._timeout, self._watch = leg.timeout, Stopwatch(pose.time)
        self.detail = f'service {self._client.name} does not answer'

    def update(self, pose: StampedPose) -> Outcome | None:
        """Return how the call has ended; the next one does not follow at once."""
        self._watch.lap(pose.time)
        self._called = self._called or self._client.call(self._attempt)
        if self._success:
            # The last pose may be from before the response: home is judged by a later one.
            self._docked = self._docked or (pose.pose, self._watch.elapsed)
            docked, since = self._docked
            if pose.pose is not docked or self._watch.elapsed >= since + _DOCK_PAUSE:
                return Outcome.REACHED
        if self._success is False and self._watch.elapsed >= _DOCK_PAUSE:
            return Outcome.BLOCKED
        return Outcome.TIMEOUT if self._watch.elapsed >= self._timeout else None

    def _on_response(self, attempt: int, success: bool, message: str) -> None:
        if attempt == self._attempt:
            self._success, self.detail = success, message


def goal_of(leg: Leg, pose: Pose) -> Pose:
    """Return the pose that ends a leg; in the direction of travel if the heading is free."""
    course = math.atan2(leg.y - pose.y, leg.x - pose.x)
    return Pose(leg.x, leg.y, course if leg.yaw is None else leg.yaw)


def goal_message(node: Node, frame: str, pose: Pose) -> PoseStamped:
    """Return a pose as a message."""
    message = PoseStamped()
    message.header.frame_id = frame
    message.header.stamp = node.get_clock().now().to_msg()
    set_pose(message.pose, *pose)
    return message
