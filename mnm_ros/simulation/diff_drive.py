"""A differential-drive robot in a world, one tick of simulated time after the other.

The body is a disc. In each tick the speeds approach the commanded ones within the limits, the
wheels turn, and the robot follows the arc that they describe, as far as walls and closed doors
let it. Lengths in m, angles in rad, times in s, all in the map frame unless said otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, hypot, remainder, tau
from random import Random

from mnm_ros.geometry import Pose
from mnm_ros.simulation.world import Cell, World

_SIGMAS = 3.0       # the noise of a localised pose is cut off there
_BISECTIONS = 20    # until contact with a wall


@dataclass(frozen=True)
class Body:
    """What the robot is like.

    tick: s. radius, wheel_separation: m. max_speed: m/s. max_turn_rate: rad/s.
    acceleration: m/s^2. turn_acceleration: rad/s^2.
    command_timeout: s after a command until the robot brakes.
    slip: probability that a wheel slips in a tick; it turns, but the robot does not follow it.
    odom_noise: standard deviation of what a wheel is seen to turn, relative.
    pose_noise, heading_noise: standard deviations of a localised pose, m and rad.
    """

    tick: float = 0.05
    radius: float = 0.15
    wheel_separation: float = 0.2
    max_speed: float = 0.5
    max_turn_rate: float = 2.0
    acceleration: float = 1.0
    turn_acceleration: float = 6.0
    command_timeout: float = 0.5
    slip: float = 0.0
    odom_noise: float = 0.0
    pose_noise: float = 0.0
    heading_noise: float = 0.0


class DiffDrive:
    """The robot; it begins at home, at rest, heading east, in the first setting of the doors.

    The seed and the commands decide everything; slip, odometry and localisation draw from
    generators of their own.

    ticks: how many have passed.
    pose: the true one. odometry: by the wheels, from the start as the origin.
    speed, turn_rate: of the wheels, m/s and rad/s. bumped: whether something stopped the robot
        in the last tick.
    setting: index of the setting. doors: whether each door is open; one that would close on the
        robot waits until it has left.

    Raises ValueError if the robot does not fit into a cell.
    """

    def __init__(self, world: World, body: Body, seed: int = 0) -> None:
        if body.radius >= world.cell_size / 2:
            raise ValueError(
                f'a radius of {body.radius:g} m does not fit into the cells of {world.name}, '
                f'expected less than {world.cell_size / 2:g} m')
        self.world = world
        self.body = body
        self.ticks = 0
        self.pose = Pose(*world.centre(world.home), 0.0)
        self.odometry = Pose(0.0, 0.0, 0.0)
        self.speed = self.turn_rate = 0.0
        self.bumped = False
        self.setting = 0
        self.doors = dict(world.settings[0])
        self._closed = self._closed_cells()
        self._target = (0.0, 0.0)
        self._left_until_rest = 0
        self._slips, self._wheels, self._fixes = (
            Random(f'{name} {seed}') for name in ('slip', 'odometry', 'localisation'))

    def command(self, speed: float, turn_rate: float) -> None:
        """Set the speeds to approach, m/s and rad/s; beyond the limits they are cut."""
        body = self.body
        self._target = (
            _within(speed, body.max_speed), _within(turn_rate, body.max_turn_rate))
        self._left_until_rest = ceil(body.command_timeout / body.tick - 1e-9)

    def change(self) -> bool:
        """Go to the next setting, from the last to the first; False if there is only one."""
        settings = self.world.settings
        if len(settings) == 1:
            return False
        self.setting = (self.setting + 1) % len(settings)
        self._move_doors()
        return True

    def tick(self) -> None:
        """Let one tick pass."""
        body = self.body
        self.ticks += 1
        speed, turn_rate = self._target if self._left_until_rest > 0 else (0.0, 0.0)
        self._left_until_rest -= 1
        self.speed = _towards(self.speed, speed, body.acceleration * body.tick)
        self.turn_rate = _towards(self.turn_rate, turn_rate, body.turn_acceleration * body.tick)
        outwards = self.turn_rate * body.wheel_separation / 2
        left, right = (
            (self.speed - outwards) * body.tick, (self.speed + outwards) * body.tick)
        blocked = self._drive(self._gripping(left), self._gripping(right))
        # A wall stalls the wheels; what they lose is no motion, and odometry knows that.
        self.odometry = self.odometry.moved(*self._arc(
            self._seen(left - blocked), self._seen(right - blocked)))
        if self.doors != self.world.settings[self.setting]:
            self._move_doors()

    def localised(self) -> Pose:
        """Return the true pose with the noise of a localisation that has converged."""
        x, y, heading = self.pose
        position, angle = self.body.pose_noise, self.body.heading_noise
        return Pose(
            x + self._noise(position), y + self._noise(position),
            remainder(heading + self._noise(angle), tau))

    def _drive(self, left: float, right: float) -> float:
        """Move by what the wheels grip; return how much of the way something blocked, in m."""
        distance, turn = self._arc(left, right)
        ahead = self.pose.moved(distance, turn)
        part = self._free_part(ahead)
        self.bumped = part < 1
        if not self.bumped:
            self.pose = ahead
            return 0.0
        x, y, _ = self.pose
        self.pose = Pose(x + part * (ahead.x - x), y + part * (ahead.y - y), ahead.yaw)
        self.speed = 0.0
        return (1 - part) * distance

    def _free_part(self, ahead: Pose) -> float:
        """Return which part of the straight way there is free, from 0 to 1."""
        x, y, _ = self.pose
        dx, dy = ahead.x - x, ahead.y - y

        def free(part: float) -> bool:
            return self.world.is_free(
                x + part * dx, y + part * dy, self.body.radius, self._closed)

        looks = ceil(hypot(dx, dy) / (self.body.radius / 4)) or 1    # none jumps over a corner
        for look in range(1, looks + 1):
            if not free(look / looks):
                low, high = (look - 1) / looks, look / looks
                for _ in range(_BISECTIONS):
                    middle = (low + high) / 2
                    low, high = (middle, high) if free(middle) else (low, middle)
                return low
        return 1.0

    def _move_doors(self) -> None:
        """Open and close as the setting has it, but close nothing on the robot."""
        here = set(self.world.touched(self.pose.x, self.pose.y, self.body.radius))
        for door, is_open in self.world.settings[self.setting].items():
            if is_open or not here & self.world.doors[door]:
                self.doors[door] = is_open
        self._closed = self._closed_cells()

    def _closed_cells(self) -> frozenset[Cell]:
        return frozenset().union(*(
            self.world.doors[door] for door, is_open in self.doors.items() if not is_open))

    def _arc(self, left: float, right: float) -> tuple[float, float]:
        return (left + right) / 2, (right - left) / self.body.wheel_separation

    def _gripping(self, turned: float) -> float:
        slip = self.body.slip
        return 0.0 if slip and self._slips.random() < slip else turned

    def _seen(self, turned: float) -> float:
        noise = self.body.odom_noise
        return turned * (1 + self._wheels.gauss(0.0, noise)) if noise else turned

    def _noise(self, deviation: float) -> float:
        return deviation * _within(self._fixes.gauss(0.0, 1.0), _SIGMAS) if deviation else 0.0


def _within(value: float, limit: float) -> float:
    return min(max(value, -limit), limit)


def _towards(value: float, target: float, step: float) -> float:
    return value + _within(target - value, step)
