# SPDX-License-Identifier: Apache-2.0

"""
What a mobile robot with wheels, friction and contacts takes to explore a flat.

The real grid_driver drives the robot of diff_drive_sim with the physics of MuJoCo, slip, latency
and a localisation that jumps. An exploration runs until its first hypothesis and for --rest steps
after it; then every published policy is executed --executions times. All times are simulated.
With --changes the doors and persons are then as in the further settings, for so many s each.

s/step    with the ways home; home: mean way home in s; hours: to the first hypothesis
contact   % of the time in which the robot touches something, before the first hypothesis and after
failed    % of the moves that the flat allows that led nowhere; again: the same right after a move
          that did; wrong: states that were reported where the robot was not, of all steps
markov    p of a permutation test that whether a move fails does not depend on the step before
carried   by a person, after ten ways home have failed in a row
policies  mean steps of the slowest, of how many that are over the limit (1 + eps) L, of how many
first, straight, turn, round, vain    s of a move, and its part of the time before the first
          hypothesis: after a RESET, on from the move before, to a side, back, and where it failed
tries     of each change, the moves tried that it does not allow; noticed: until it was noticed;
          touched: the steps in which the robot touched something
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
import os
from pathlib import Path
from statistics import mean
import sys
import tempfile
import time
from typing import Any

from arguments import Arguments
from batch import exit_with, Row, run_batch
from mnm_ros import messages
from mnm_ros.console import environment
from mnm_ros.console.processes import Child, stop
from mnm_ros.core.errors import MissingPackageError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.presets import settings
from mnm_ros.nodes.common.spin import FastExecutor
from mnm_ros.nodes.diff_drive_sim import DiffDriveSim
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation import physics
from mnm_ros.simulation.diff_drive import scenario_of
from mnm_ros.simulation.scenario import Scenario
from mnm_ros.simulation.world import load, shipped, World
import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import Int64MultiArray, String

TICK = 0.05         # s, of the simulation, and from pose to pose
PATIENCE = 120.0    # s by the clock on the wall, for an answer
LOST = 10           # ways home that may fail in a row, until somebody carries it home
SHUFFLES = 999


@dataclass(frozen=True)
class Step:
    """
    One step of the robot.

    :ivar before: the state and the action of the step before, and whether it led nowhere.
    :ivar counts: False if it says nothing, as the driver has broken it off.
    :ivar seconds, touching: how long it took, and for how long the robot touched something.
    :ivar right: whether the robot is where it is reported to be.
    """

    before: tuple[int, int, bool] | None
    state: int | None
    action: int
    end: int
    counts: bool
    seconds: float
    touching: float
    right: bool

    @property
    def led_nowhere(self) -> bool:
        return self.end == self.state

    @property
    def kind(self) -> str:
        """Return what it is for the driver, by the step before."""
        if self.action == RESET:
            return 'home'
        if self.led_nowhere:
            return 'vain'
        if self.before is None or self.before[1] == RESET:
            return 'first'
        return ('straight', 'turn', 'round', 'turn')[(self.action - self.before[1]) % 4]


class DrivenRobot:
    """The simulator in this process, and grid_driver in another one, step by step."""

    def __init__(self, world: World, seed: int, log: Path) -> None:
        given = {**physics.simulator_parameters(), 'world': str(world.path), 'seed': seed,
                 'tick': TICK, 'real_time_factor': 0.0, 'publish_clock': False}
        self._sim = DiffDriveSim(
            parameter_overrides=[Parameter(name, value=value) for name, value in given.items()])
        self._node = Node('physics_benchmark')
        self._executor = FastExecutor()
        for node in (self._sim, self._node):
            self._executor.add_node(node)
        self._heard: list[tuple[int, int]] = []
        self._orders = self._node.create_publisher(Int64MultiArray, 'action', messages.STEP)
        self._node.create_subscription(
            Int64MultiArray, 'state', lambda message: self._heard.append(
                messages.decode_step(message)), messages.STEP)
        described: list[String] = []
        self._node.create_subscription(String, 'robot_side', described.append, messages.LATCHED)
        driver = physics.driver_parameters(world)
        self.driver = Child('grid_driver', [
            sys.executable, '-m', 'mnm_ros.nodes.grid_driver', '--ros-args', *(
                word for name, value in driver.items()
                for word in ('-p', f'{name}:={str(value).lower()}'))], log, os.environ)
        self._seq, self._state = 0, None
        self.carried = 0
        self._last: tuple[int, int, bool] | None = None
        self.description = self._await(lambda: next(
            (found for found in map(RobotDescription.from_text, (each.data for each in described))
             if found.declaration.successors), None), 'declaration')
        self._grid = world.grid

    def close(self) -> None:
        stop([self.driver])
        self._executor.shutdown()
        self._sim.close()
        for node in (self._sim, self._node):
            node.destroy_node()

    def step(self, action: int) -> Step:
        """Have an action executed, and wait for the end of it."""
        robot = self._robot
        began, touched, here = robot.ticks, robot.touching, self._state
        self._seq += 1
        self._heard.clear()
        self._orders.publish(messages.encode_step(self._seq, action))
        seq, state = self._await(lambda: next(
            (each for each in self._heard if each[0] in (self._seq, -1)), None), 'answer')
        counts, self._state = seq == self._seq, state
        step = Step(self._last, here, action, state, counts, (robot.ticks - began) * TICK,
                    robot.touching - touched, state == self._grid.state_at(robot.pose))
        failed = counts and action != RESET and step.led_nowhere
        self._last = None if here is None else (here, action, failed)
        return step

    def change(self) -> int:
        """Let the doors be as in the next setting; return its number."""
        self._robot.change()
        return self._robot.setting

    def carry_home(self) -> None:
        """Do what a person does with a robot that finds no way."""
        self.carried += 1
        self._robot.put(self._robot.world.home_pose)

    @property
    def _robot(self) -> physics.PhysicalDrive:
        robot = self._sim.robot
        assert isinstance(robot, physics.PhysicalDrive)
        return robot

    def _await(self, found: Callable[[], Any], what: str) -> Any:
        end = time.monotonic() + PATIENCE
        while (value := found()) is None:
            self._executor.spin_once(timeout_sec=0.05)
            if time.monotonic() > end or self.driver.status is not None:
                raise RuntimeError(f'no {what} of grid_driver: {self.driver.tail()}')
        return value


@contextmanager
def driven(world: World, seed: int) -> Iterator[DrivenRobot]:
    """Give a robot in a ROS domain of its own."""
    environment.prepare(os.environ)
    rclpy.init(args=[])
    try:
        with tempfile.TemporaryDirectory() as folder:
            robot = DrivenRobot(world, seed, Path(folder, 'grid_driver.log'))
            try:
                yield robot
            finally:
                robot.close()
    finally:
        rclpy.shutdown()


@dataclass(frozen=True)
class Change:
    """
    What one setting of the doors has done.

    :ivar tries: of moves that it does not allow.
    :ivar noticed: how many of them it took until that was noticed; None if it was not.
    :ivar touched: steps in which the robot touched something.
    """

    tries: int
    noticed: int | None
    touched: int


class Trial:
    """An exploration, the policies that come of it, and what it does when doors close."""

    def __init__(self, robot: DrivenRobot, given: argparse.Namespace, seed: int,
                 scenario: Scenario) -> None:
        self._robot = robot
        self._cmps = [setting.cmp for setting in scenario.settings]
        self.before: list[Step] = []
        self.after: list[Step] = []
        self.exploration = Exploration(settings(Problem(
            len(robot.description.actions), given.radius, given.epsilon, given.delta)), seed)
        self.exploration.declare(robot.description.declaration)
        while self.exploration.hypothesis is None and len(self.before) < given.most:
            self.before.append(self._explore())
        for _ in range(given.rest if self.exploration.hypothesis else 0):
            self.after.append(self._explore())
        hypothesis = self.exploration.hypothesis
        self.means = [] if hypothesis is None else [
            mean(self._execute(policy) for _ in range(given.executions))
            for policy in hypothesis.policies if policy.target != self.exploration.home]
        self.at_rest = self.exploration.changes_noticed
        self.changes = [self._change(seconds) for seconds in given.changes if hypothesis]

    def _change(self, seconds: float) -> Change:
        """Explore for so long with the doors of the next setting."""
        before, now = self._cmps[0], self._cmps[self._robot.change()]
        known, noticed = self.exploration.changes_noticed, None
        tries = touched = 0
        while seconds > 0:
            if self.exploration.closed:    # as the explorer does, by its clock
                self.exploration.leave_closed()
            step = self._explore()
            seconds -= max(step.seconds, TICK)
            touched += step.touching > 0
            tries += (step.state is not None and step.action != RESET
                      and before.transitions(step.state, step.action)
                      != now.transitions(step.state, step.action))
            if noticed is None and self.exploration.changes_noticed > known:
                noticed = tries
        return Change(tries, noticed, touched)

    def _explore(self) -> Step:
        action = self.exploration.next_action()
        step = self._go_home() if action == RESET else self._robot.step(action)
        if step.counts:
            self.exploration.observe(action, step.end)
        else:
            self.exploration.relocate(step.end)
        return step

    def _go_home(self) -> Step:
        """Send the robot home, as often as an explorer would."""
        home = self.exploration.home
        for failed in range(1, 3 * LOST):
            step = self._robot.step(RESET)
            if step.counts and home in (None, step.end):
                return step
            if failed % LOST == 0:
                self._robot.carry_home()
        raise RuntimeError(f'{failed} ways home have failed in a row, in {step.end}')

    def _execute(self, policy: Policy) -> int:
        """Return the steps until the policy has reached its target, failed attempts included."""
        state, steps, at = self._go_home().end, 0, 0
        while state != policy.target:
            action = policy.action(at, state)
            step = self._go_home() if action == RESET else self._robot.step(action)
            self.after.append(step)
            state, steps, at = step.end, steps + 1, 0 if action == RESET else at + 1
        return steps


def markov(moves: Sequence[Step], seed: int) -> float:
    """
    Return the p of a permutation test that failures of moves do not depend on the step before.

    The failures of each pair of a state and an action are dealt out anew among its executions. The
    statistic is the sum, over the pairs and over what came before, of the squares of how many
    failures there are more than expected, each divided by what is expected.
    """
    pairs: dict[tuple[int | None, int], list[Step]] = {}
    for step in moves:
        pairs.setdefault((step.state, step.action), []).append(step)
    strata = []
    for steps in pairs.values():
        failed = np.array([step.led_nowhere for step in steps], float)
        if 0 < failed.sum() < len(steps):
            groups = np.unique([str(step.before) for step in steps], return_inverse=True)[1]
            strata.append((groups, failed, failed.mean() * np.bincount(groups)))
    draw = np.random.default_rng(seed)

    def statistic(deal: Callable[[Any], Any]) -> float:
        return sum(float(((np.bincount(groups, deal(failed)) - expected) ** 2 / expected).sum())
                   for groups, failed, expected in strata)
    seen = statistic(lambda failed: failed)
    as_much = sum(statistic(draw.permutation) >= seen - 1e-9 for _ in range(SHUFFLES))
    return (1 + as_much) / (1 + SHUFFLES)


def trial(given: argparse.Namespace, task: tuple[str, int]) -> dict[str, object]:
    """Return the columns of a row."""
    plan, seed = task
    world, began = load(plan), time.monotonic()
    scenario = scenario_of(world, physics.TURTLEBOT.radius)
    with driven(world, seed) as robot:
        made = Trial(robot, given, seed, scenario)
    cmp = scenario.settings[0].cmp
    before, every = made.before, [*made.before, *made.after]
    allowed = [step for step in every if step.counts and step.action != RESET
               and step.state is not None
               and dict(cmp.transitions(step.state, step.action)).get(step.state, 0.0) < 1]
    homes = [step.seconds for step in before if step.action == RESET and step.seconds > 1]
    seconds, limit = sum(step.seconds for step in before), (1 + given.epsilon) * given.radius
    return {
        'steps': len(before), 'hours': f'{seconds / 3600:.2f}',
        's/step': f'{seconds / len(before):.2f}',
        'home': f'{mean(homes):.1f}' if homes else '-',
        'contact before': _percent(before), 'contact after': _percent(made.after),
        'failed': _failures(allowed), 'again': _failures(
            [step for step in allowed if step.before and step.before[2]]),
        'moves': len(allowed), 'wrong': sum(not step.right for step in every),
        'all': len(every), 'markov': f'{markov(allowed, seed):.3f}',
        'slowest': f'{max(made.means, default=0.0):.2f}',
        'over': sum(steps > limit for steps in made.means), 'policies': len(made.means),
        'carried': robot.carried, 'changes': made.at_rest,
        **{kind: _share([step.seconds for step in before if step.kind == kind], seconds)
           for kind in ('first', 'straight', 'turn', 'round', 'vain')},
        **{name: '+'.join(str(getattr(change, name)) for change in made.changes) or '-'
           for name in ('tries', 'noticed', 'touched')},
        'speed': f'{sum(step.seconds for step in every) / (time.monotonic() - began):.0f}'}


def _share(seconds: Sequence[float], of: float) -> str:
    return f'{mean(seconds):.1f}:{sum(seconds) / of:.0%}' if seconds else '-'


def _failures(moves: Sequence[Step]) -> str:
    return f'{100 * mean(step.led_nowhere for step in moves):.2f}' if moves else '-'


def _percent(steps: Sequence[Step]) -> str:
    seconds = sum(step.seconds for step in steps)
    return f'{100 * sum(step.touching for step in steps) / seconds:.2f}' if seconds else '-'


def table(rows: Sequence[Row]) -> list[str]:
    """Return a line for each trial, below the names of the columns."""
    names = [name for name in rows[0] if name not in ('version', 'numpy')]
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in names}
    return ['  '.join(f'{cells[name]:>{widths[name]}}' for name in names)
            for cells in ({name: name for name in names}, *rows)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything and print the table; return 1 if a policy is over the limit."""
    parser = Arguments(__doc__)
    parser.add_argument('--plans', nargs='+', default=list(shipped()), metavar='WORLD',
                        help=f'files, or of {", ".join(shipped())} (default: all of these)')
    parser.number('radius', 5.0, 'L')
    parser.number('epsilon', 1.0)
    parser.number('delta', 0.1)
    parser.number('rest', 500, 'steps after the first hypothesis', least=0)
    parser.number('executions', 200, 'of each policy', least=1)
    parser.add_argument('--changes', nargs='+', type=float, default=[], metavar='S',
                        help='s for which each further setting of the doors is in force')
    parser.number('most', 20_000, 'steps, after which an exploration is given up', least=1)
    parser.seeds(5, 'of each plan')
    parser.trials()
    given = parser.read(arguments)
    try:
        physics.check_installed('benchmarks/physics')
    except MissingPackageError as error:
        parser.exit(2, f'{error}\n')
    tasks = [(plan, seed) for plan in given.plans for seed in given.seeds]
    engine, output = given.engine, given.output
    shared = argparse.Namespace(**{name: getattr(given, name) for name in (
        'radius', 'epsilon', 'delta', 'rest', 'executions', 'changes', 'most')})
    rows = run_batch(partial(trial, shared), tasks, lambda task: {
        'plan': Path(task[0]).stem, 'seed': task[1], **{
            name: getattr(given, name) for name in ('radius', 'executions')}}, engine, output)
    print(*table(rows), sep='\n')
    return int(any(row['over'] != '0' for row in rows))


if __name__ == '__main__':
    exit_with(main)
