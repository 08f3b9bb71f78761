# SPDX-License-Identifier: Apache-2.0

"""Robot sides that join, work, hang, wake and die at random: no step may mix up two of them."""

from __future__ import annotations

from collections import deque
from math import inf
from random import Random

from mnm_ros.core.model.problem import RESET
from mnm_ros.core.task.step_task import Homing, RunState, StepTask
from mnm_ros.protocol.exchange import Command, Reaction, SequenceNumbers, StepServer
from mnm_ros.protocol.loop import StepLimits
from mnm_ros.protocol.single_robot_guard import SingleRobotGuard
from mnm_ros.protocol.step_loop import StepLoop
import pytest
from tiers import strength

TICK = 0.02
TIMEOUT = 0.3
KEPT = 20.0    # s, for which one that was killed is still seen
DEPTH = 10     # of the queue of commands


class Robot:
    """Ends its n-th action since RESET in state n, and says in thousands who it is."""

    def __init__(self, number: int, random: Random, now: float, slow: bool) -> None:
        self.number = number
        self.random = random
        self.slowest = 3 * TIMEOUT if slow else 0.02
        self.reached = now + random.choice([0.0, 0.05, 0.4])    # from when on commands arrive
        self.seen = self.reached - random.choice([0.0, 0.04])
        self.died = self.asleep = -inf
        self.queue: deque[tuple[int, int]] = deque(maxlen=DEPTH)
        self.answers: deque[tuple[float, int, int]] = deque()    # when they arrive, in order
        self.server = StepServer()
        self.place = 500    # anywhere
        self.ends: float | None = None

    def work(self, now: float) -> None:
        """Do what a process does at once: hear commands, end an action, in either order."""
        if self.died > -inf or now < self.asleep:
            return
        parts = [self.hear, self.end]
        self.random.shuffle(parts)
        for part in parts:
            part(now)

    def hear(self, now: float) -> None:
        while self.queue:
            self.receive(Command(*self.queue.popleft()), now)

    def receive(self, command: Command, now: float) -> None:
        decision = self.server.receive(command)
        if decision is Reaction.REPEAT:
            self.say(*self.server.stored(), now)
        elif decision is Reaction.EXECUTE:
            self.place = 0 if command.action == RESET else self.place + 1
            self.ends = now + self.random.choice([0.0, self.random.uniform(0, self.slowest)])
            if self.random.random() < 0.5:    # as a simulator, which takes no time
                self.ends = now
                self.end(now)

    def end(self, now: float) -> None:
        if self.ends is not None and now >= self.ends:
            self.ends = None
            self.say(*self.server.done(self.place), now)
            waiting = self.server.next_waiting()
            if waiting:
                self.receive(waiting, now)

    def say(self, seq: int, place: int, now: float) -> None:
        arrives = now + self.random.choice([0.001, 0.001, 0.1])
        before = self.answers[-1][0] if self.answers else 0.0
        self.answers.append((max(arrives, before), seq, 1000 * self.number + place))


class Task(StepTask):
    """Checks that each step has happened, from where it counts on, on one robot."""

    def __init__(self) -> None:
        self.state, self.steps, self.homing = RunState.RUNNING, 0, Homing()
        self.last_state: int | None = None

    def next_action(self) -> int:
        return RESET if self.last_state is None or self.last_state % 1000 > 5 else 0

    def observe(self, action: int, state: int) -> None:
        self.steps += 1
        if action == RESET:
            assert state % 1000 == 0
        else:
            assert self.last_state is not None and state == self.last_state + 1
        self.last_state = state

    def relocate(self, state: int) -> None:
        raise NotImplementedError

    def lose_place(self) -> None:
        self.last_state = None

    def robot_lost(self, reason: str) -> None: ...

    pause = fail = finish = robot_lost


class World:
    """An explorer and its robots, as the nodes put the parts together."""

    def __init__(self, seed: int, slow: bool = True) -> None:
        self.random = Random(seed)
        self.slow = slow
        self.now = 0.0
        self.robots: list[Robot] = []
        self.roll, self.task = SingleRobotGuard(), Task()
        self.loop = StepLoop(
            self.task, StepLimits(TIMEOUT, 3), SequenceNumbers(1), self.send_command, None)
        self.seen: set[object] = set()
        self.join()
        self.loop.resume(0.0)

    @property
    def living(self) -> list[Robot]:
        return [robot for robot in self.robots if robot.died == -inf]

    def join(self) -> None:
        self.robots.append(Robot(len(self.robots) + 1, self.random, self.now, self.slow))

    def kill(self, robot: Robot) -> None:
        robot.died = self.now
        if self.random.random() < 0.5:
            robot.answers.clear()

    def send_command(self, seq: int, action: int) -> None:
        self.roll.sent(seq, self.now)
        for robot in self.robots:
            if self.now + TICK >= robot.reached:    # it may be found since the last look
                robot.queue.append((seq, action))

    def look(self) -> None:
        self.roll.look({robot.number: str(robot.number) for robot in self.robots
                        if robot.seen <= self.now and not -inf < robot.died < self.now - KEPT})

    def arbitrate(self) -> None:
        self.loop.yield_robot(self.roll.objection(TIMEOUT, self.now), self.now)

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now += TICK
            for robot in self.robots:
                robot.work(self.now)
            self.hear()
            self.tick()

    def hear(self) -> None:
        arrived = [robot for robot in self.robots
                   if robot.answers and robot.answers[0][0] <= self.now]
        while arrived:
            robot = self.random.choice(arrived)
            _, seq, state = robot.answers.popleft()
            if not robot.answers or robot.answers[0][0] > self.now:
                arrived.remove(robot)
            self.look()
            self.roll.answered(seq, self.now)
            if self.roll.several:
                self.arbitrate()
            self.loop.on_state(seq, state, self.now)

    def tick(self) -> None:
        self.look()
        self.arbitrate()
        seen = {robot.number for robot in self.robots if robot.reached <= self.now}
        joined, self.seen = bool(seen - self.seen), seen
        self.loop.on_graph_change(joined, False, self.now)
        self.loop.tick(self.now)


def happen(world: World) -> None:
    """Let one die or hang, another take its place, and that which hangs wake or die."""
    random = world.random
    one = random.choice(world.living)
    world.run(random.choice([0.1, 1.0, 5.0]))
    if random.random() < 0.3:
        world.kill(one)
    else:
        one.asleep = world.now + random.choice([0.2, 1.0, 3.0, inf])
    world.run(random.choice([0.0, 0.02, random.uniform(0.0, 1.0)]))
    world.join()
    world.run(random.choice([0.02, random.uniform(0.0, 2.0), 4.0]))
    one.asleep = random.choice([one.asleep, -inf])
    world.run(random.choice([0.0, 1.0]))
    while len(world.living) > random.choice([1, 1, 2]):
        world.kill(world.living[random.choice([0, -1])])


@pytest.mark.parametrize('slow', [False, True])
def test_no_step_mixes_up_two_robots(slow: bool) -> None:
    steps = 0
    seeds = strength(15, 60)
    for seed in range(seeds):
        world = World(seed, slow)
        for _ in range(4):
            happen(world)
        steps += world.task.steps
    print(f'{steps} steps')
    assert steps > 16 * seeds


def test_one_that_is_killed_and_replaced_holds_it_up_for_two_seconds() -> None:
    late = []
    for seed in range(strength(40, 100)):
        world = World(seed, slow=False)
        world.run(world.random.uniform(1.0, 2.0))
        world.kill(world.robots[0])
        world.run(world.random.uniform(0.15, 1.0))    # a process takes longer to start
        world.join()
        world.run(3.0)
        steps = world.task.steps
        world.run(0.5)
        if world.task.steps <= steps:
            late.append(seed)
    assert not late
