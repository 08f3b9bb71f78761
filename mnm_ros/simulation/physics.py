# SPDX-License-Identifier: Apache-2.0

"""
The simulated robot of ``diff_drive`` with the physics of MuJoCo, the extra ``physics``.

The walls, doors and persons of a world become bodies, and the robot a round base on two driven
wheels and a castor: it slips where the wheels cannot hold it, on a carpet sooner than elsewhere,
it is held, turned or let slide along by what it touches, and its wheels turn on when it is stuck,
as far as their motors are strong enough. It is imported for physics alone, as MuJoCo is slow to be
(Todorov, Erez, Tassa 2012, *MuJoCo: a physics engine for model-based control*).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict
from html import escape
import math
from random import Random
from typing import Any

from mnm_ros.core.errors import MissingPackageError
from mnm_ros.driving.pose import Pose, Transform, wrapped
from mnm_ros.simulation import diff_drive
from mnm_ros.simulation.diff_drive import Battery, Body, DiffDrive
from mnm_ros.simulation.scanner import Ranges, Scanner
from mnm_ros.simulation.world import Cell, World
import numpy as np

try:
    import mujoco
except ImportError:
    mujoco = None

TURTLEBOT = Body(
    radius=0.17, wheel_separation=0.23, max_speed=0.3, max_turn_rate=1.5, acceleration=0.9,
    turn_acceleration=4.0, slip=0.01, odom_noise=0.03, pose_noise=0.015, heading_noise=0.015,
    pose_jumps=0.02, latency=0.15)
"""A base like that of a TurtleBot 4, in a flat where its localisation has its difficulties."""

_STEP = 0.01          # s, between two states of the physics
_MASS = 3.5           # kg
_WHEEL = 0.036        # m, radius
_CASTOR = 0.02        # m, radius
_TORQUE = 0.25        # Nm, at most, of a motor
_SERVO = 0.3          # Nm per rad/s, by which it follows its command
_GRIP = 0.9           # friction of a wheel on the floor,
_ON_CARPET = 0.25     # on a carpet,
_SLIPPING = 0.02      # and while it slips
_TOUCH = 1.0          # N, from which on a contact is one
_UNEQUAL = 0.01       # standard deviation of what a wheel is taken to be larger than it is
_LOCALISED = 0.5      # s between two corrections of the odometry
_SCANNER = 0.18       # m, its height
_TALL = 0.5           # m, as far above the floor as below, so that nothing gets over an edge
_AWAY = -5.0          # m, where open doors are
_THIN = 0.25          # of a cell, the radius of the leg of a table


def check_installed(what: str) -> None:
    """Raise MissingPackageError, which begins with ``what``, unless there is MuJoCo."""
    if mujoco is None:
        raise MissingPackageError(
            f'{what} needs the package mujoco, the extra physics: pip install mujoco')


def simulator_parameters(body: Body = TURTLEBOT) -> dict[str, bool | float]:
    """Return by name the parameters of ``diff_drive_sim`` for a body, but the tick."""
    given = {**asdict(body), 'robot_radius': body.radius, 'physics': True}
    return {name: value for name, value in given.items() if name not in ('tick', 'radius')}


def driver_parameters(
        world: World, body: Body = TURTLEBOT) -> dict[str, bool | float | int | str]:
    """Return by name the parameters of the driver for a body that has a scanner."""
    given = diff_drive.driver_parameters(world, body)
    return {**given, 'use_scan': True, **(
        {'robot_radius': body.radius} if 'graph' in given else {'declare_successors': True})}


class PhysicalDrive(DiffDrive):
    """
    The robot with wheels, friction and contacts; for the rest it is as ``DiffDrive`` says.

    Its bumper is the front half of it, as robots have it: what it backs into it does not notice.
    Its localisation corrects the odometry twice a second, and what is wrong with a correction
    stays until the next.

    :ivar touching: the s since the start in which it has touched something.
    :raises MissingPackageError: if MuJoCo is not installed.
    :raises ValueError: if the robot does not fit into a cell.
    """

    def __init__(self, world: World, body: Body, seed: int = 0,
                 battery: Battery | None = None) -> None:
        check_installed('physics')
        super().__init__(world, body, seed, battery)
        self.touching = 0.0
        self._touched = False
        self._model: Any = mujoco.MjModel.from_xml_string(described(world, body))
        self._data: Any = mujoco.MjData(self._model)
        self._steps = max(1, round(body.tick / _STEP))
        self._model.opt.timestep = body.tick / self._steps
        self._base, = _ids(self._model, 'BODY', ['base'])
        self._wheels_at = _ids(self._model, 'GEOM', ['left', 'right'])
        self._skirt, = _ids(self._model, 'GEOM', ['skirt'])
        self._doors_at = dict(zip(world.doors, self._model.body_mocapid[
            _ids(self._model, 'BODY', map(_door, world.doors))]))
        draw = Random(f'wheels {seed}')
        self._seen = [1 + draw.gauss(0.0, _UNEQUAL) if body.odom_noise else 1.0 for _ in range(2)]
        self._correction = Transform.planar(self.pose)    # from the map to where odometry begins
        self._move_doors()
        self.put(self.pose)

    def put(self, pose: Pose) -> None:
        """Carry the robot somewhere; its odometry does not notice, its localisation does."""
        self._data.qpos[:2], self._data.qpos[3] = pose[:2], pose.yaw
        self._data.qvel[:] = 0
        self.pose = pose
        mujoco.mj_forward(self._model, self._data)

    def localised(self) -> Pose:
        """Return the pose by the odometry since the last correction."""
        x, y, z, *turn = self._correction.then(Transform.planar(self.odometry))
        return Pose(x, y, wrapped(2 * math.atan2(turn[2], turn[3])))

    @property
    def touched(self) -> bool:
        return self._touched

    def tick(self) -> None:
        super().tick()
        self.touching += self._touched * self.body.tick
        if self.ticks % max(1, round(_LOCALISED / self.body.tick)) == 0:
            self._correction = Transform.planar(super().localised()).then(
                Transform.planar(self.odometry).inverse)

    def scanner(self, rays: int, farthest: float, noise: float, seed: int) -> Scanner:
        return _PhysicalScanner(self, rays, farthest, noise, seed)

    def distances(self, rays: int, farthest: float) -> Ranges:
        """
        Return what a scanner above the middle of the robot sees.

        :param rays: from straight ahead all round, counter-clockwise.
        :param farthest: m; what is further is infinitely far.
        :return: distances in m, shape (rays,).
        """
        ahead = self.pose.yaw + np.arange(rays) * math.tau / rays
        ways = np.stack([np.cos(ahead), np.sin(ahead), np.zeros(rays)], axis=1)
        eye = np.array([*self.pose[:2], _SCANNER])
        seen, found = np.zeros(rays, np.int32), np.zeros(rays)
        mujoco.mj_multiRay(self._model, self._data, eye, ways.ravel(), None, True, self._base,
                           seen, found, None, rays, farthest)
        return np.where((found < 0) | (found > farthest), np.inf, found)

    def _drive(self, left: float, right: float) -> tuple[float, float]:
        """Let the motors turn the wheels as far as they can; return how far that was."""
        model, data = self._model, self._data
        self._grip()
        data.ctrl[:] = [turned / self.body.tick / _WHEEL for turned in (left, right)]
        before = data.qpos[4:].copy()
        self.bumped = self._touched = False
        for _ in range(self._steps):
            mujoco.mj_step(model, data)
            self._feel()
        x, y, _, yaw = data.qpos[:4]
        self.pose = Pose(float(x), float(y), wrapped(float(yaw)))
        turned = (data.qpos[4:] - before) * _WHEEL * self._seen
        if self.bumped:    # from what the wheels do, not from what they were to do, it goes on
            self.speed = min(self.speed, float(turned.mean()) / self.body.tick, key=abs)
        return float(turned[0]), float(turned[1])

    def _grip(self) -> None:
        """Set how well each wheel holds in this tick."""
        size = self.world.cell_size
        for wheel in self._wheels_at:
            at = self._data.geom_xpos[wheel].tolist()
            x, y, _ = self.world.local(Pose(at[0], at[1], 0.0))
            cell = math.floor(x / size), math.floor(y / size)
            grip = _ON_CARPET if cell in self.world.carpet else _GRIP
            self._model.geom_friction[wheel, 0] = self._gripping(grip) or _SLIPPING

    def _feel(self) -> None:
        """Record what presses on the robot, and whether that is where its bumper is."""
        data, force = self._data, np.zeros(6)
        for index, (one, other) in enumerate(data.contact.geom):
            if self._skirt in (one, other):
                mujoco.mj_contactForce(self._model, data, index, force)
                if force[0] >= _TOUCH:
                    self._touched = True
                    ahead = data.xmat[self._base].reshape(3, 3)[:, 0]
                    apart = data.contact.pos[index] - data.xpos[self._base]
                    self.bumped = self.bumped or float(ahead @ apart) > 0

    def _move_doors(self) -> None:
        super()._move_doors()
        for door, mocap in self._doors_at.items():
            self._data.mocap_pos[mocap, 2] = _AWAY if self.doors[door] else 0.0


class _PhysicalScanner(Scanner):
    """Sees what the robot would touch."""

    def __init__(self, robot: PhysicalDrive, rays: int, farthest: float, noise: float,
                 seed: int) -> None:
        super().__init__(robot.world, rays, farthest, noise, seed)
        self._robot = robot

    def _free_ways(self, pose: Pose, closed: Collection[Cell]) -> Ranges:
        return self._robot.distances(len(self._angles), self.farthest)


def described(world: World, body: Body) -> str:
    """Return the world and the robot in it, in the XML of MuJoCo."""
    size, (columns, rows) = world.cell_size, world.size
    sides = ((-1, -1, 1, rows + 2), (columns, -1, 1, rows + 2), (0, -1, columns, 1),
             (0, rows, columns, 1))
    still = ''.join(_box(*each, size) for each in (*sides, *rectangles(world.walls - world.legs)))
    still += ''.join(_post(*_middle(leg, size), _THIN * size) for leg in sorted(world.legs))
    doors = ''.join(
        f'<body name="{escape(_door(door))}" mocap="true">{_standing(world, door)}</body>'
        for door in world.doors)
    corner = world.corner
    along, across = math.cos(corner.yaw / 2), math.sin(corner.yaw / 2)
    return f"""<mujoco>
  <option timestep="{_STEP}" integrator="implicitfast" iterations="10"/>
  <default>
    <geom condim="3" solref="0.01 1"/>
    <default class="obstacle">
      <geom contype="2" conaffinity="0" friction="0.3 0.005 0.0001"/>
    </default>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" contype="1" conaffinity="1"/>
    <frame pos="{corner.x} {corner.y} 0" quat="{along} 0 0 {across}">
      {still}{doors}
    </frame>
    {_robot(body)}
  </worldbody>
  <actuator>
    {''.join(f'<velocity joint="{side}" kv="{_SERVO}" forcerange="-{_TORQUE} {_TORQUE}"/>'
             for side in ('left', 'right'))}
  </actuator>
</mujoco>"""


def _robot(body: Body) -> str:
    behind, aside = 0.75 * body.radius, body.wheel_separation / 2
    wheels = ''.join(f"""<body pos="0 {y} 0">
        <joint name="{side}" type="hinge" axis="0 1 0" armature="0.0005" damping="0.001"/>
        <geom name="{side}" type="sphere" size="{_WHEEL}" mass="0.1" contype="1" conaffinity="1"
         priority="1"/></body>""" for side, y in (('left', aside), ('right', -aside)))
    # It rolls, turns and is held up by the floor, but does not tip over, as low as its weight is.
    joints = ''.join(f'<joint type="{kind}" axis="{axis}"/>' for kind, axis in (
        ('slide', '1 0 0'), ('slide', '0 1 0'), ('slide', '0 0 1'), ('hinge', '0 0 1')))
    inertia = _MASS * body.radius**2 / 2
    return f"""<body name="base" pos="0 0 {_WHEEL}">{joints}
      <inertial mass="{_MASS}" pos="{-behind / 3} 0 0"
       diaginertia="{inertia} {inertia} {inertia}"/>
      <geom name="skirt" type="capsule" size="{body.radius} {_WHEEL}" contype="0" conaffinity="2"
       friction="0.3 0.005 0.0001"/>
      <geom type="sphere" size="{_CASTOR}" pos="{-behind} 0 {_CASTOR - _WHEEL}" contype="1"
       conaffinity="1" friction="0.01 0.001 0.0001" priority="1"/>
      {wheels}</body>"""


def _standing(world: World, door: str) -> str:
    """Return what stands there while a door is closed, or a person not away."""
    cells = world.doors[door]
    if door not in world.persons:
        return ''.join(_box(*each, world.cell_size) for each in rectangles(cells))
    centres = [_middle(cell, world.cell_size) for cell in cells]
    x, y = (sum(parts) / len(centres) for parts in zip(*centres))
    return _post(x, y, max(math.dist((x, y), each) for each in centres) + world.cell_size / 2)


def rectangles(cells: Iterable[Cell]) -> Iterator[tuple[int, int, int, int]]:
    """Yield column, row, width and height of rectangles that cover the cells, each cell once."""
    left = set(cells)
    for cell in sorted(left):
        if cell not in left:
            continue
        column, row = cell
        height = width = 1
        while (column, row + height) in left:
            height += 1
        while all((column + width, row + up) in left for up in range(height)):
            width += 1
        left -= {(column + right, row + up) for right in range(width) for up in range(height)}
        yield column, row, width, height


def _box(column: int, row: int, width: int, height: int, size: float) -> str:
    return (f'<geom class="obstacle" type="box" size="{width * size / 2} {height * size / 2} '
            f'{_TALL}" pos="{(column + width / 2) * size} {(row + height / 2) * size} 0"/>')


def _post(x: float, y: float, radius: float) -> str:
    return (f'<geom class="obstacle" type="capsule" size="{radius} {_TALL}" '
            f'pos="{x} {y} 0"/>')


def _middle(cell: Cell, size: float) -> tuple[float, float]:
    column, row = cell
    return (column + 0.5) * size, (row + 0.5) * size


def _door(letter: str) -> str:
    return f'door {letter}'


def _ids(model: Any, kind: str, names: Iterable[str]) -> list[int]:
    return [mujoco.mj_name2id(model, getattr(mujoco.mjtObj, f'mjOBJ_{kind}'), name)
            for name in names]
