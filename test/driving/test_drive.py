# SPDX-License-Identifier: Apache-2.0

"""The controller with a simulated robot: poses are late, noisy and far between."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
import math
from random import Random

from mnm_ros.driving.drive import Drive, Lag, Leg, Limits, Outcome, STILL, Velocity
from mnm_ros.driving.measures import SteadyTrack, Stopwatch
from mnm_ros.driving.pose import Pose
import pytest
from tiers import strength

LIMITS = Limits(0.3, 1.0, 0.5, 2.0, 0.05, 0.1, 2.0)


@dataclass
class Robot:
    """Moves exactly as told, ``late`` ticks later, unless it is stuck."""

    pose: Pose
    tick: float
    noise: float
    random: Random
    late: int = 0
    stuck: bool = False
    time: float = 50.0
    sent: list[Velocity] = field(default_factory=list)

    def play(self, drive: Drive, ticks: int = 20_000) -> Outcome | None:
        waiting = deque([STILL] * self.late)
        for _ in range(ticks):
            waiting.append(drive.step(self.time, self._seen()))
            self.sent.append(waiting[-1])
            if drive.outcome:
                break
            self._move(waiting.popleft())
        return drive.outcome

    def _seen(self) -> Pose:
        x, y, yaw = (value + self.random.uniform(-self.noise, self.noise) for value in self.pose)
        return Pose(x, y, yaw)

    def _move(self, velocity: Velocity) -> None:
        self.time += self.tick
        if not self.stuck:
            x, y, yaw = self.pose
            yaw = math.remainder(yaw + velocity.turn * self.tick, math.tau)
            step = velocity.forward * self.tick
            self.pose = Pose(x + step * math.cos(yaw), y + step * math.sin(yaw), yaw)


@pytest.mark.parametrize('seed', range(strength(1, 4)))
@pytest.mark.parametrize(('tick', 'late', 'noise'), [
    (0.01, 0, 0.0), (0.05, 0, 0.0), (0.05, 2, 0.02), (0.1, 1, 0.01), (0.2, 0, 0.0)])
def test_arrives_within_the_limits(seed: int, tick: float, late: int, noise: float) -> None:
    random = Random(seed)
    for _ in range(strength(10, 20)):
        robot = Robot(Pose(0.0, 0.0, random.uniform(-3, 3)), tick, noise, random, late)
        leg = Leg(random.uniform(-2, 2), random.uniform(-2, 2),
                  random.choice((None, random.uniform(-3, 3))), 100.0,
                  random.choice((None, False, True)))
        context = seed, robot.pose, leg
        assert robot.play(Drive(LIMITS, leg, robot.time, robot.pose)) is Outcome.REACHED, context
        assert leg.distance(robot.pose) <= LIMITS.tolerance + 2 * noise + 0.03, context
        assert abs(leg.misalignment(robot.pose)) <= LIMITS.heading_tolerance + noise + 0.05
        assert robot.sent[-1] == STILL
        for before, now in zip([STILL, *robot.sent], robot.sent):
            assert abs(now.forward) <= 0.3 and abs(now.turn) <= 1.0, context
            assert abs(now.forward - before.forward) <= 0.5 * tick + 1e-9, context
            assert abs(now.turn - before.turn) <= 2.0 * tick + 1e-9, context
        if leg.backwards is not None:
            assert all(now.forward <= 0 if leg.backwards else now.forward >= 0
                       for now in robot.sent), context


def test_either_way_is_the_one_with_less_turning() -> None:
    for x, sign in ((1.0, 1), (-1.0, -1)):
        robot = Robot(Pose(0.0, 0.0, 0.3), 0.05, 0.0, Random(0))
        robot.play(Drive(LIMITS, Leg(x, 0.0, None, 100.0, None), robot.time, robot.pose))
        assert sign * sum(now.forward for now in robot.sent) > 0


@pytest.mark.parametrize('backwards', [None, True])
def test_a_base_that_must_not_drive_backwards_turns_first(backwards: bool | None) -> None:
    robot = Robot(Pose(0.0, 0.0, 0.3), 0.05, 0.0, Random(0))
    leg = Leg(-1.0, 0.0, 0.0, 100.0, backwards, retreat=True)
    limits = replace(LIMITS, reverse=False)
    assert robot.play(Drive(limits, leg, robot.time, robot.pose)) is Outcome.REACHED
    assert min(now.forward for now in robot.sent) >= 0
    assert leg.distance(robot.pose) < 0.1 and abs(leg.misalignment(robot.pose)) < 0.2


@pytest.mark.parametrize('seed', range(5))
def test_a_u_turn_goes_on_as_it_has_begun(seed: int) -> None:
    """Although noisy poses say now that the left, and now that the right is nearer."""
    robot = Robot(Pose(0.0, 0.0, math.pi), 0.02, 0.1, Random(seed))
    robot.play(Drive(LIMITS, Leg(1.0, 0.0, None, 100.0), robot.time, robot.pose), 60)
    turns = [velocity.turn for velocity in robot.sent[1:]]
    assert all(turn * turns[0] > 0 for turn in turns), seed


@pytest.mark.parametrize(('target', 'turned'), [((1.0, 0.0), 0.0), ((0.0, 1.0), 0.0)])
def test_stuck_is_blocked(target: tuple[float, float], turned: float) -> None:
    robot = Robot(Pose(0.0, 0.0, turned), 0.05, 0.01, Random(1), stuck=True)
    begin = robot.time
    drive = Drive(LIMITS, Leg(*target, None, 100.0), begin, robot.pose)
    assert robot.play(drive) is Outcome.BLOCKED and robot.sent[-1] == STILL
    assert robot.time - begin == pytest.approx(LIMITS.blocked_after, abs=1.0)


def test_timeout_by_the_stamps_that_may_jump_back() -> None:
    robot = Robot(Pose(0.0, 0.0, 0.0), 0.05, 0.0, Random(1))
    drive = Drive(LIMITS, Leg(100.0, 0.0, None, 20.0), robot.time, robot.pose)
    assert robot.play(drive, 200) is None
    robot.time -= 40.0
    assert robot.play(drive, 190) is None
    assert robot.play(drive, 20) is Outcome.TIMEOUT and robot.sent[-1] == STILL


def test_a_bump_ends_a_leg_but_not_a_retreat() -> None:
    for retreat, outcome in ((False, Outcome.BUMPED), (True, Outcome.REACHED)):
        robot = Robot(Pose(0.0, 0.0, 0.0), 0.05, 0.0, Random(1))
        leg = Leg(1.0, 0.0, None, 20.0, retreat=retreat)
        drive = Drive(LIMITS, leg, robot.time, robot.pose)
        robot.play(drive, 20)
        drive.bump()
        assert robot.play(drive) is outcome and robot.sent[-1] == STILL


def test_a_bump_while_it_turns_is_of_the_leg_before() -> None:
    """It may still roll towards what is not in the way of this leg."""
    robot = Robot(Pose(0.0, 0.0, 0.0), 0.05, 0.0, Random(1))
    drive = Drive(LIMITS, Leg(-1.0, 0.0, None, 20.0), robot.time, robot.pose, 0.0,
                  Velocity(0.2, 0.0))
    robot.play(drive, 5)
    drive.bump()
    assert robot.play(drive) is Outcome.REACHED


def test_a_gap_between_poses_is_no_leave_to_jump() -> None:
    drive = Drive(LIMITS, Leg(5.0, 0.0, None, 100.0), 0.0, Pose(0.0, 0.0, 0.0))
    assert drive.step(30.0, Pose(0.0, 0.0, 0.0)).forward <= 0.5 * 0.2


def test_braking_is_not_limited_by_stamps_that_hardly_advance() -> None:
    """The stamps advance by 1 us per pose once the robot is fast, and so it cannot speed up."""
    robot = Robot(Pose(0.0, 0.0, 0.0), 0.05, 0.0, Random(1))
    drive = Drive(LIMITS, Leg(0.3, 0.0, None, 20.0), robot.time, robot.pose)
    robot.play(drive, 10)
    fast, real = robot.sent[-1].forward, 100.0
    assert fast > 0.2
    drive.step(robot.time, robot.pose, real)
    for _ in range(round(fast / LIMITS.acceleration / 0.05) + 1):
        robot.time += 1e-6
        real += 0.05
        before = robot.sent[-1].forward
        robot.sent.append(drive.step(robot.time, Pose(0.3, 0.0, 0.0), real))
        assert before - 0.5 * 0.05 - 1e-9 <= robot.sent[-1].forward <= before
    assert robot.sent[-1] == STILL and drive.outcome is Outcome.REACHED


@pytest.mark.parametrize('seed', range(3))
def test_no_clock_allows_more_than_the_limits(seed: int) -> None:
    random, stamp, real, before = Random(seed), 0.0, 0.0, STILL
    drive = Drive(LIMITS, Leg(5.0, 0.0, None, 1e6), stamp, Pose(0.0, 0.0, 0.0), real)
    for _ in range(500):
        step, waited = random.choice((1e-6, 0.05, 0.3)), random.choice((0.001, 0.05, 0.3))
        stamp, real = stamp + step, real + waited
        now = drive.step(stamp, Pose(0.0, 0.0, random.uniform(-1, 1)), real)
        for value, earlier, most in zip(now, before, (0.5, 2.0)):
            slower = abs(value) < abs(earlier) and value * earlier >= 0
            allowed = min(0.2, max(step, waited) if slower else step)
            assert abs(value - earlier) <= most * allowed + 1e-9 or (
                drive.outcome and now == STILL)
        before = now


def test_stopwatch() -> None:
    watch = Stopwatch(10.0)
    assert [watch.lap(now) for now in (12.0, 5.0, 6.5)] == [2.0, 0.0, 1.5]
    assert watch.elapsed == 3.5


def test_one_that_rolls_does_not_stop_to_turn() -> None:
    """For a direction that is a little off, but for another one; at rest it turns first."""
    rolling = Velocity(0.2, 0.0)
    for velocity, yaw, goes_on in (
            (rolling, 0.4, True), (rolling, 1.5, False), (STILL, 0.4, False)):
        drive = Drive(LIMITS, Leg(2.0, 0.0, None, 20.0), 0.0, Pose(0.0, 0.0, yaw), 0.0, velocity)
        pose, least = Pose(0.0, 0.0, yaw), math.inf
        for tick in range(1, 40):
            velocity = drive.step(tick * 0.05, pose)
            pose = pose.moved(velocity.forward * 0.05, velocity.turn * 0.05)
            least = min(least, velocity.forward)
        assert (least > 0.1) is goes_on, (yaw, least)


def test_a_lag_is_foreseen() -> None:
    """By the velocities that are under way, whatever the clock does."""
    lag = Lag(0.2)
    assert lag.ahead(5.0, Pose(1.0, 2.0, 0.0)) == (1.0, 2.0, 0.0)
    for tick in range(10):
        lag.send(5.0 + tick * 0.1, Velocity(0.1 * tick, 0.0))
    # At 5.9 the robot follows that of 5.7; then those of 5.7 and 5.8 for 0.1 s each.
    assert lag.ahead(5.9, Pose(1.0, 2.0, 0.0)).x == pytest.approx(1.0 + 0.07 + 0.08)
    assert lag.ahead(5.95, Pose(1.0, 2.0, 0.0)).x == pytest.approx(1.0 + 0.035 + 0.08 + 0.045)
    assert lag.ahead(7.0, Pose(1.0, 2.0, 0.0)).x == pytest.approx(1.0 + 0.18)
    assert lag.ahead(1.0, Pose(1.0, 2.0, 0.0)) == (1.0, 2.0, 0.0)
    none = Lag(0.0)
    none.send(5.0, Velocity(1.0, 1.0))
    assert none.ahead(5.1, Pose(1.0, 2.0, 0.5)) == (1.0, 2.0, 0.5)


def test_how_far_poses_have_followed_one_another() -> None:
    """After a leap from 0; a pose or two that lie apart are none."""
    track = SteadyTrack(Pose(0.0, 0.0, 0.0), 0.1)

    def lengths(*places: float) -> list[float]:
        return [round(track.lap(Pose(x, 0.0, 0.0)), 9) for x in places]
    assert lengths(0.05, 0.1, 0.3, 0.12, 0.17) == [math.inf, math.inf, 0.0, math.inf, math.inf]
    assert lengths(0.32, 0.37, 0.42, 0.47, 0.27) == [0.0, 0.05, 0.1, 0.15, 0.0]
    assert lengths(0.32, 0.52, 0.53, 0.34) == [0.05, 0.15, 0.16, 0.0]
