# SPDX-License-Identifier: Apache-2.0

"""
A simulated differential-drive robot in a world, and what its driver knows of that world.

The robot is moved one tick of time after the other. Its body is a disc. In each tick the speeds
approach the commanded ones as fast as the limits of acceleration allow, and the robot follows the
arc that its wheels describe, until a wall or a closed door stops it. Lengths are in m, angles in
rad, times in s, poses in the map frame.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from math import ceil, cos, hypot, pi, sin
from random import Random

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.driving.drive import ByName
from mnm_ros.driving.grid import Ways
from mnm_ros.driving.maneuvers import MOVES
from mnm_ros.driving.occupancy import Map
from mnm_ros.driving.pose import Pose, wrapped
from mnm_ros.simulation.cmp import TableCmp
from mnm_ros.simulation.graph_world import GraphWorld
from mnm_ros.simulation.plan_world import PlanWorld
from mnm_ros.simulation.scanner import Scanner
from mnm_ros.simulation.scenario import Scenario, Setting
from mnm_ros.simulation.world import Cell, World

_SIGMAS = 3.0       # standard deviations at which the noise of a localised pose is cut off
_JUMP = 0.1, 0.2    # m, at least and at most, by which a localised pose is wrong if it jumps
_BISECTIONS = 20    # to find the point of contact with a wall
_TIMEOUT = 0.05     # s without a command, after which time goes on by itself
_REST = 0.002       # s without a command, after which none is under way any more
_EVERY = 200        # ticks between two waits for commands that are too many
_ACTIONS = MOVES['compass']    # in the order of the headings


@dataclass(frozen=True)
class Body:
    """
    The properties of the robot, in m, s and rad.

    :ivar tick: the simulated time between two poses.
    :ivar command_timeout: the time after a command until the robot brakes.
    :ivar slip: the probability that a wheel slips in a tick: it turns, but moves nothing.
    :ivar odom_noise: the relative standard deviation of how far a wheel is measured to turn.
    :ivar pose_noise, heading_noise: the standard deviations of a localised pose.
    :ivar pose_jumps: the probability that a localised pose is 10 to 20 cm off.
    :ivar latency: the time from a command until the wheels begin to follow it.
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
    pose_jumps: float = 0.0
    latency: float = 0.0


def body_of(given: ByName) -> Body:
    """Return the properties that the parameters of ``diff_drive_sim`` say."""
    return Body(**{each.name: given['robot_radius' if each.name == 'radius' else each.name]
                   for each in fields(Body)})


@dataclass
class Battery:
    """
    A battery that lasts for a way and a time, and that is charged at the dock.

    :param idle: the part of it that is lost per s.
    :param drive: the part of it that is lost per m that the wheels turn.
    :param dock: the part of it that is charged per s at the dock.
    :ivar charge: from 0 to 1.
    """

    idle: float
    drive: float
    dock: float
    charge: float = 1.0

    def tick(self, seconds: float, metres: float, docked: bool) -> None:
        """Let time pass in which the wheels turn ``metres``."""
        gain = self.dock * seconds if docked else 0.0
        self.charge = min(max(
            self.charge + gain - self.idle * seconds - self.drive * metres, 0.0), 1.0)


class DiffDrive:
    """
    The robot; it begins at home, at rest, heading east, in the first setting of the doors.

    The seed and the commands determine everything that happens. A robot whose battery is
    empty does not move. It is at the dock where it stands with its body over the middle of home.

    :param battery: None for one that lasts for ever.
    :ivar ticks: how many ticks have passed.
    :ivar pose: the true pose.
    :ivar odometry: the pose by the wheels, with the start as its origin.
    :ivar speed, turn_rate: of the wheels, in m/s and rad/s.
    :ivar bumped: whether something stopped the robot in the last tick.
    :ivar setting: the index of the setting in force.
    :ivar doors: whether each door is open; a door does not close while the robot stands in it.
    :ivar closed: the cells of those that are not.
    :raises ValueError: if the robot does not fit into a cell.
    """

    def __init__(self, world: World, body: Body, seed: int = 0,
                 battery: Battery | None = None) -> None:
        most = world.grid.cell_size / 2
        if body.radius >= most:
            raise InvalidValueError(
                f'a radius of {body.radius:g} m does not fit into the cells of {world.name}, '
                f'expected less than {most:g} m')
        self.world = world
        self.body = body
        self.battery = battery
        self.ticks = 0
        self.pose = world.home_pose
        self.odometry = Pose(0.0, 0.0, 0.0)
        self.speed = self.turn_rate = 0.0
        self.bumped = False
        self.setting = 0
        self.doors = dict(world.settings[0])
        self.closed = world.closed(self.doors)
        self._target = (0.0, 0.0)
        self._ticks_until_braking = 0
        self._under_way: deque[tuple[int, float, float]] = deque()    # commands, from which tick
        # Generators of their own: to switch one noise on does not change the others.
        self._slips, self._wheels, self._localisation, self._jumps = (
            Random(f'{name} {seed}') for name in ('slip', 'odometry', 'localisation', 'jumps'))

    def command(self, speed: float, turn_rate: float) -> None:
        """Set the speeds to approach, in m/s and rad/s; they are clipped to the limits."""
        body = self.body
        self._under_way.append((
            self.ticks + ceil(body.latency / body.tick - 1e-9),
            _within(speed, body.max_speed), _within(turn_rate, body.max_turn_rate)))

    def change(self) -> bool:
        """Go to the next setting, after the last to the first; False if there is only one."""
        settings = self.world.settings
        if len(settings) == 1:
            return False
        self.setting = (self.setting + 1) % len(settings)
        self._move_doors()
        return True

    def tick(self) -> None:
        """Let one tick pass."""
        body = self.body
        while self._under_way and self._under_way[0][0] <= self.ticks:
            self._target = self._under_way.popleft()[1:]
            self._ticks_until_braking = ceil(body.command_timeout / body.tick - 1e-9)
        self.ticks += 1
        empty = self.battery is not None and not self.battery.charge
        stands = empty or self._ticks_until_braking <= 0
        speed, turn_rate = (0.0, 0.0) if stands else self._target
        self._ticks_until_braking -= 1
        self.speed = _towards(self.speed, speed, body.acceleration * body.tick)
        self.turn_rate = _towards(self.turn_rate, turn_rate, body.turn_acceleration * body.tick)
        outwards = self.turn_rate * body.wheel_separation / 2
        left, right = (
            (self.speed - outwards) * body.tick, (self.speed + outwards) * body.tick)
        self.odometry = self.odometry.moved(*self._arc(
            *map(self._measured, self._drive(left, right))))
        if self.doors != self.world.settings[self.setting]:
            self._move_doors()
        if self.battery is not None:
            self.battery.tick(body.tick, (abs(left) + abs(right)) / 2, self._docked)

    @property
    def touched(self) -> bool:
        """Whether the robot touched something in the last tick."""
        return self.bumped

    @property
    def _docked(self) -> bool:
        x, y, _ = self.world.home_pose
        moves = self.speed or self.turn_rate
        return not moves and hypot(self.pose.x - x, self.pose.y - y) < self.body.radius

    def scanner(self, rays: int, farthest: float, noise: float, seed: int) -> Scanner:
        """Return a laser scanner in the middle of it, as ``Scanner`` says."""
        return Scanner(self.world, rays, farthest, noise, seed)

    def localised(self) -> Pose:
        """Return the true pose with the noise of a localisation that has converged."""
        x, y, yaw = self.pose
        noise, jumps = self.body.pose_noise, self.body.pose_jumps
        if jumps and self._jumps.random() < jumps:
            far, way = self._jumps.uniform(*_JUMP), self._jumps.uniform(-pi, pi)
            x, y = x + far * cos(way), y + far * sin(way)
        return Pose(x + self._noise(noise), y + self._noise(noise),
                    wrapped(yaw + self._noise(self.body.heading_noise)))

    def _drive(self, left: float, right: float) -> tuple[float, float]:
        """
        Move as the wheels are to turn; return how far they do turn.

        A wall stalls them, so that odometry does not count the way that was blocked.
        """
        blocked = self._move(self._gripping(left), self._gripping(right))
        return left - blocked, right - blocked

    def _move(self, left: float, right: float) -> float:
        """Move by what the wheels grip; return the length of the way that was blocked."""
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
        """Return the part of the straight way to ``ahead`` that is free, from 0 to 1."""
        x, y, _ = self.pose
        dx, dy = ahead.x - x, ahead.y - y

        def free(part: float) -> bool:
            return self.world.is_free(
                x + part * dx, y + part * dy, self.body.radius, self.closed)

        # Points so close to each other that no corner is jumped over.
        points = ceil(hypot(dx, dy) / (self.body.radius / 4)) or 1
        for point in range(1, points + 1):
            if not free(point / points):
                low, high = (point - 1) / points, point / points
                for _ in range(_BISECTIONS):
                    middle = (low + high) / 2
                    low, high = (middle, high) if free(middle) else (low, middle)
                return low
        return 1.0

    def _move_doors(self) -> None:
        """
        Open and close the doors by the setting, except those in which the robot stands.

        By the rule by which it drives: else it might stand where it is not free to leave.
        """
        x, y, _ = self.pose
        for door, is_open in self.world.settings[self.setting].items():
            doors = {**self.doors, door: is_open}
            closed = self.world.closed(doors)
            if is_open or self.world.is_free(x, y, self.body.radius, closed):
                self.doors, self.closed = doors, closed

    def _arc(self, left: float, right: float) -> tuple[float, float]:
        return (left + right) / 2, (right - left) / self.body.wheel_separation

    def _gripping(self, turned: float) -> float:
        slip = self.body.slip
        return 0.0 if slip and self._slips.random() < slip else turned

    def _measured(self, turned: float) -> float:
        noise = self.body.odom_noise
        return turned * (1 + self._wheels.gauss(0.0, noise)) if noise else turned

    def _noise(self, deviation: float) -> float:
        if not deviation:
            return 0.0
        return deviation * _within(self._localisation.gauss(0.0, 1.0), _SIGMAS)


def _within(value: float, limit: float) -> float:
    return min(max(value, -limit), limit)


def _towards(value: float, target: float, step: float) -> float:
    return value + _within(target - value, step)


class Lockstep:
    """
    Waits for one command before each tick.

    A command that answers no pose, or answers late, would be one too many for ever: each command
    leads to a tick, each tick to a pose, and each pose to a command, so that the driver would
    always react to a pose of several ticks ago. Therefore now and then, and after each timeout,
    the next tick waits until no command has come for 2 ms.

    :ivar due: when the next tick is due, in s on the clock of ``now``; each call moves it.
    """

    def __init__(self, now: float) -> None:
        self.due = now + _TIMEOUT
        self._ticks = 0
        self._timed_out = True
        self._settling = False

    def ticked(self, now: float, timeout: float = _TIMEOUT) -> None:
        """Wait for a command from ``now`` on, for at most ``timeout`` s."""
        self._ticks += 1
        self._settling = self._timed_out or self._ticks % _EVERY == 0
        self._timed_out = True
        self.due = now + timeout

    def commanded(self, now: float) -> None:
        """Record a command."""
        self._timed_out = False
        self.due = now + _REST if self._settling else now


def scenario_of(world: World, radius: float = Body.radius) -> Scenario:
    """
    Return a world as its driver sees it, if moves always succeed; its states are cells.

    :param radius: of the robot in m, less than half a cell of the driver; a plan has its own.
    """
    if isinstance(world, PlanWorld):
        return world.scenario(_ACTIONS)
    if isinstance(world, GraphWorld):
        return world.scenario()
    home = world.grid.cell_at(*world.home_pose[:2])
    assert home is not None
    return Scenario(world.name, _ACTIONS, home, tuple(
        Setting(_cmp(world, home, setting, radius), None) for setting in world.settings),
        world.path)


def driver_parameters(
        world: World, body: Body | None = None) -> dict[str, bool | float | int | str]:
    """Return by name the parameters of the driver for a world and a simulated robot."""
    grid, body = world.grid, body or Body()
    fast: dict[str, bool | float | int | str] = {
        'pose_source': 'amcl_pose', 'max_speed': body.max_speed, 'max_turn': body.max_turn_rate,
        'acceleration': body.acceleration, 'turn_acceleration': body.turn_acceleration,
        'latency': body.latency}
    if isinstance(world, PlanWorld):
        return {**fast, 'plan': str(world.path.absolute()), 'declare_successors': True}
    if isinstance(world, GraphWorld):
        walls = {'use_map': True, 'robot_radius': body.radius} if world.map_file else {}
        return {**fast, 'graph': str(world.path.absolute()), **walls}
    home_x, home_y, _ = world.home_pose
    return {
        **fast, 'use_map': True, 'cell_size': grid.cell_size, 'origin_x': grid.origin_x,
        'origin_y': grid.origin_y, 'columns': grid.columns, 'rows': grid.rows, 'home_x': home_x,
        'home_y': home_y, 'robot_radius': body.radius}


def occupancy(world: World, occupied: Iterable[Cell]) -> Map:
    """Return a map with a pixel for each cell of a world."""
    columns, rows = world.size
    values = [0] * (columns * rows)
    for column, row in occupied:
        values[row * columns + column] = 100
    return Map(world.cell_size, columns, rows, Pose(0.0, 0.0, 0.0), values)


def _cmp(world: World, home: int, doors: Mapping[str, bool], radius: float) -> TableCmp:
    ways = Ways(world.grid)
    ways.read(occupancy(world, world.walls | world.closed(doors)), radius)
    return TableCmp(home, len(_ACTIONS), {
        (cell, heading): ((there, 1.0),) for cell in ways.free or ()
        for heading in range(len(_ACTIONS))
        if (there := ways.neighbour(cell, heading)) is not None})
