# SPDX-License-Identifier: Apache-2.0

"""Snapshots of explorations that never were."""

from __future__ import annotations

from dataclasses import replace
import time

from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.progress.activity import Activity, Evidence, Progress
from mnm_ros.core.progress.events import Event
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.telemetry import RobotTelemetry, Telemetry

TEN = time.mktime((2026, 11, 23, 10, 0, 0, 0, 0, -1))    # o'clock


def hypothesis(*known: int) -> Hypothesis:
    return Hypothesis(2, 1, 9, tuple(
        Policy(state, 9, known, ((0,) * len(known),)) for state in known))


FULL = Telemetry(
    phase='checking/evaluation', status='round 2: state 17 added', hypothesis=hypothesis(0, 1),
    events=(Event(1, 'home is state 0', time=TEN),
            Event(9, 'round 2: state 17 added', time=TEN + 9)),
    known=(0, 1), reports=3, true_setting=1, exploration_steps=4500, counts={0: {0: {1: 1, 4: 1}}},
    report={'round': '2', 'candidates': '3', 'steps': '123456', 'steps_per_second': '4321.4',
            'changes_noticed': '1', 'changes_relearnt': '1'})

BUILDING = Telemetry(
    phase='building/evaluation', status='home is state 0, building', reports=3,
    pace=100.0,
    report={'round': '1', 'candidates': '2', 'steps': '812', 'steps_per_second': '101',
            'changes_noticed': '0', 'changes_relearnt': '0', 'phase': 'building/evaluation'},
    description=RobotDescription(('east', 'west')),
    counts={0: {-1: {0: 4}, 0: {1: 9, 0: 1}, 1: {0: 3}}, 3: {0: {6: 1}, 1: {1: 999, 3: 1}}, 5: {}},
    activity=Activity(
        step=812, doing='testing', target=7, sentence='testing the policy to 7', current=3, home=0,
        tests=(Evidence('policy', 7, None, 3.1, 5.3), Evidence('transition', 7, 1, 1.0, 5.3)),
        progress=Progress('first hypothesis', 812, 2838, 1800, 5000), candidates=(5, 6),
        limit=8.0))

FLEET = replace(BUILDING, robots=(
    RobotTelemetry('r1', 'ok', 'exploring', 1406, 3),
    RobotTelemetry('deck/r2', 'warning', 'waiting for robot: no node publishes /deck/r2/state', 12,
                   None),
    RobotTelemetry('r3', 'ok', 'exploring', 1399, 6)))
