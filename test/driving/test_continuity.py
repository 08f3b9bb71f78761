# SPDX-License-Identifier: Apache-2.0

"""Poses and stamps that jump, creep and run back, and those that only seem to."""

from __future__ import annotations

import math
from random import Random

from mnm_ros.driving.continuity import Continuity, PoseReach
from mnm_ros.driving.pose import Pose
import pytest

TICK = 0.05
HOME = Pose(0.0, 0.0, 0.0)
AWAY = Pose(100.0, 0.0, 0.0)


class Telemetry:
    """Poses as they come: ``tick`` by the stamps, ``real`` by the steady clock."""

    def __init__(self, timeout: float = 1.0, margin: float = 0.25) -> None:
        self.continuity = Continuity(PoseReach(0.3, 1.0, margin, math.pi / 4, 20.0), timeout)
        self.stamp, self.now = 1000.0, 50.0
        assert self.take(HOME)

    @property
    def fresh(self) -> bool:
        return self.continuity.fresh(self.now)

    def take(self, pose: Pose, tick: float = TICK, real: float = TICK) -> bool:
        self.stamp += tick
        self.now += real
        return self.continuity.take(self.stamp, pose, self.now)

    def until_lost(self, tick: float, real: float, longest: float = 10.0) -> float:
        """Return after how many s the pose is lost if the stamps go on like this."""
        begin = self.now
        while self.fresh and self.now < begin + longest:
            self.take(HOME, tick, real)
        return self.now - begin


@pytest.mark.parametrize('pose', [
    AWAY, Pose(0.4, 0.0, 0.0), Pose(0.0, 0.0, 3.0), Pose(1e8, -1e8, 0.0)])
def test_a_jump_is_believed_once_others_agree_with_it(pose: Pose) -> None:
    heard = Telemetry()
    for _ in range(5):
        assert not heard.take(pose) and not heard.fresh
    assert heard.continuity.doubt.startswith('the pose has jumped by ')
    assert not heard.continuity.lost(heard.now)
    assert heard.take(pose) and heard.fresh and not heard.continuity.doubt
    assert heard.take(pose)


def test_poses_that_come_slowly_are_doubted_and_not_lost() -> None:
    heard = Telemetry()
    for _ in range(5):
        assert not heard.take(AWAY, 0.4, 0.4) and not heard.continuity.lost(heard.now)
    assert heard.take(AWAY, 0.4, 0.4) and heard.fresh


def test_a_single_pose_elsewhere_changes_nothing() -> None:
    heard = Telemetry()
    assert not heard.take(AWAY) and heard.continuity.doubt == (
        'the pose has jumped by 100 m and 0.00 rad in 0.05 s')
    assert heard.take(HOME) and heard.fresh


def test_poses_that_do_not_agree_are_never_believed() -> None:
    heard, random = Telemetry(), Random(1)
    for _ in range(300):
        assert not heard.take(Pose(random.uniform(10, 100), random.uniform(10, 100), 0.0))
        assert not heard.fresh
    assert heard.continuity.lost(heard.now)


def test_what_a_robot_can_drive_and_a_localisation_can_correct() -> None:
    heard, x, random = Telemetry(), 0.0, Random(2)
    for _ in range(300):
        x += 0.3 * TICK + random.choice((-0.1, 0.0, 0.1))
        assert heard.take(Pose(x, 0.0, 0.0)) and heard.fresh
    assert heard.take(Pose(x + 3.0, 0.0, 1.0), 10.0, 10.0)    # after a gap


def test_a_stamp_that_leaps_ahead_is_no_leave_to_jump() -> None:
    heard = Telemetry()
    assert not heard.take(AWAY, 1e6)
    heard.stamp -= 1e6
    assert heard.take(HOME)


@pytest.mark.parametrize('tick', [1e-6, 0.009 * TICK, 0.0, -1e-6, -TICK])
@pytest.mark.parametrize('real', [TICK, 0.001])
def test_stamps_that_creep_stand_still_or_run_back(tick: float, real: float) -> None:
    """They are lost after the timeout, and do not become fresh again."""
    heard = Telemetry()
    tick *= real / TICK
    assert heard.until_lost(tick, real) <= 1.0 + 2 * real
    assert heard.continuity.creeping(heard.now) is (tick > 0)
    for number in range(round(3.0 / real)):
        heard.take(HOME, tick, 0.0 if number % 2 else 2 * real)    # two at a time
        assert not heard.fresh
    for _ in range(round(1.0 / TICK)):
        heard.take(HOME)
    assert heard.fresh


@pytest.mark.parametrize('pace', [0.015, 0.1, 1.0, 100.0])
def test_simulations_at_any_pace(pace: float) -> None:
    assert Telemetry().until_lost(TICK * pace, TICK) >= 10.0


def test_a_pause_of_the_simulation() -> None:
    heard = Telemetry()
    assert heard.until_lost(0.0, TICK) < 2.0
    heard.now += 600.0
    assert heard.take(HOME) and heard.fresh


def test_a_late_pose_refreshes_nothing() -> None:
    heard = Telemetry()
    for _ in range(50):
        heard.stamp -= 3 * TICK
        assert not heard.take(Pose(-1.0, 0.0, 0.0)) and heard.fresh
        assert heard.take(HOME, 3 * TICK)
    assert heard.until_lost(-TICK, TICK) < 1.1


def test_a_clock_that_begins_again() -> None:
    """Once in each order that is no reason to stop."""
    heard = Telemetry()

    def restart() -> list[bool]:
        heard.stamp -= 900.0
        return [heard.take(HOME) for _ in range(5)]

    heard.continuity.begin()
    assert restart() == [False] * 4 + [True] and heard.fresh
    assert restart() == [False] * 5 and not heard.fresh
    assert heard.continuity.doubt == 'the stamps of the poses have begun anew'
    assert heard.take(HOME) and heard.fresh
    heard.continuity.begin()
    assert restart()[-1] and heard.fresh


def test_a_simulation_that_begins_again_elsewhere() -> None:
    heard = Telemetry()
    heard.continuity.begin()
    heard.stamp = 0.0
    assert [heard.take(AWAY) for _ in range(5)] == [False] * 5 and not heard.fresh
    assert heard.take(AWAY) and heard.fresh


def test_a_robot_that_is_silent_at_rest() -> None:
    heard = Telemetry(timeout=math.inf)
    assert not heard.take(AWAY) and not heard.fresh
    assert not heard.continuity.settle(heard.now + 0.5)
    assert heard.continuity.settle(heard.now + 1.1) and heard.fresh
    assert heard.take(AWAY) and not heard.continuity.settle(heard.now + 10.0)
    heard = Telemetry()
    assert not heard.take(AWAY) and not heard.continuity.settle(heard.now + 10.0)
