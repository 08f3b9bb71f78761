# SPDX-License-Identifier: Apache-2.0

"""
Seconds a step, ways home, failed moves and contact of the simulated TurtleBot in a flat.

The robot and the driver are those of config/turtlebot3.yaml, and 2% of the poses jump by 10 to 20
cm. The flat of benchmarks/hours, with L = 6 and its map declared,
is explored to the first hypothesis with its door open. Then the door is closed for the same time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean
import sys
from typing import Any

from arguments import Arguments
from code_version import ROOT
from driven import DrivenRobot
from hours import FLAT
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.model.support import Support
from mnm_ros.core.presets import settings
from mnm_ros.driving.drive import limits_of, Outcome
from mnm_ros.driving.grid import Place, Ways
from mnm_ros.driving.maneuvers import Move, MOVES, successors, WayHome
from mnm_ros.driving.pose import Pose
from mnm_ros.parameters import NODES
from mnm_ros.simulation.diff_drive import body_of, DiffDrive, occupancy
from mnm_ros.simulation.world import World
import yaml

RADIUS = 6.0
JUMPING = 0.02       # share of poses that jump
ACTIONS = MOVES['compass']
DOOR = (2, 3)        # column and row of the gap between the rooms in the west


def flat() -> World:
    """Return the flat of ``hours``, with a door and its walls outside."""
    rows = [*reversed(FLAT)]
    cells = {(column, row): letter for row, line in enumerate(rows)
             for column, letter in enumerate(line)}
    home, = (cell for cell, letter in cells.items() if letter == 'S')
    return World('flat', 0.5, (len(rows[0]), len(rows)), home,
                 frozenset(cell for cell, letter in cells.items() if letter == '#'),
                 {'D': frozenset({DOOR})}, ({'D': True}, {'D': False}), Path())


def shipped(node: str) -> dict[str, Any]:
    """Return what the file has for a node, and the defaults of what it leaves open."""
    file = yaml.safe_load((ROOT / 'config' / 'turtlebot3.yaml').read_text())
    return {**{spec.name: spec.default for spec in NODES[node]},
            **file[f'/**/{node}']['ros__parameters']}


@dataclass
class Tally:
    """
    What a phase took.

    :ivar home: s of each way home from another cell.
    :ivar failed: moves that had not led on, away from the door, of ``moves``.
    :ivar wrong: answers with another cell than that of the robot.
    :ivar contact: s in which something stopped the robot.
    """

    seconds: float = 0.0
    steps: int = 0
    moves: int = 0
    failed: int = 0
    wrong: int = 0
    contact: float = 0.0
    home: list[float] = field(default_factory=list)

    def row(self, name: str) -> str:
        """Return it as a row of the table."""
        return (f'| {name} | {self.steps:,} | {self.seconds / self.steps:.2f} | '
                f'{mean(self.home):.1f} | {sum(self.home) / self.seconds:.0%} | '
                f'{self.failed / self.moves:.2%} | '
                f'{self.wrong} | {self.contact / self.seconds:.2%} |')


class Driver(DrivenRobot):
    """Drives the simulated robot as ``grid_driver`` does, one order after the other."""

    def __init__(self, seed: int, given: Mapping[str, Any], simulated: Mapping[str, Any]) -> None:
        self.world = world = flat()
        self.ways = Ways(world.grid)
        self.ways.read(occupancy(world, world.walls), given['robot_radius'])
        self._given = given
        self.home = world.home_pose
        self.tally = Tally()
        self._at_home = True
        self._move: Move | None = None    # since the last way home
        super().__init__(
            DiffDrive(world, replace(body_of(simulated), pose_jumps=JUMPING), seed),
            Place(world.grid, given['hysteresis']), limits_of(given), given, simulated, seed)

    def order(self, action: int) -> int:
        """Execute an action; return the state that is answered."""
        begin, cell, contact = self.time, self.place.cell, self.contact
        if action == RESET and not self._at_home:
            self.play(WayHome(self.ways, self.home, self._given['home_retries'],
                              self._given['move_timeout'], False))
            if cell != self._cell(self.home):
                self.tally.home.append(self.time - begin)
        elif action != RESET:
            move = self._move = Move(
                self.ways, ACTIONS[action], cell, 0, self._given['move_timeout'], self.rolls,
                before=self._move)
            self.play(move)
            self._count(move, cell)
        if action == RESET:
            self._move = None
        state = self.place.state
        self._at_home = action == RESET and state == self._cell(self.home)
        self.tally.wrong += state != self._cell(self.robot.pose)
        self.think()
        self.tally.steps += 1
        self.tally.seconds += self.time - begin
        self.tally.contact += self.contact - contact
        return state

    def _cell(self, pose: Pose) -> int | None:
        return self.ways.grid.cell_at(pose.x, pose.y)

    def _count(self, move: Move, cell: int | None) -> None:
        there = move._there    # where it was to lead
        door = self.ways.grid.cell_at(*self.world.centre(DOOR))
        if there is not None and door not in (cell, there):
            self.tally.moves += 1
            self.tally.failed += move.outcome is not Outcome.REACHED


def explore(seed: int) -> tuple[Tally, Tally]:
    """Return what the way to the first hypothesis took, and as many steps with a closed door."""
    driver = Driver(seed, shipped('grid_driver'), shipped('diff_drive_sim'))
    problem = Problem(len(ACTIONS), RADIUS, 1.0, 0.1)
    exploration = Exploration(settings(replace(problem, support=Support(Declaration(
        successors(driver.ways, ACTIONS))))), seed)

    def step() -> None:
        action = exploration.next_action()
        exploration.observe(action, driver.order(action))

    while exploration.hypothesis is None:
        step()
    first, driver.tally = driver.tally, Tally()
    driver.robot.change()
    while driver.tally.seconds < first.seconds:
        step()
    return first, driver.tally


def main() -> int:
    """Print a row for each seed and phase."""
    parser = Arguments(__doc__)
    parser.seeds(3, 'explorations')
    given = parser.read()
    print('| exploration | steps | s a step | s a way home | share of time | failed moves | wrong '
          'cell | in contact |\n|---|---|---|---|---|---|---|---|')
    for seed in given.seeds:
        first, closed = explore(seed)
        print(first.row(f'{seed}, to the first hypothesis'), flush=True)
        print(closed.row(f'{seed}, then with the door closed'), flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
