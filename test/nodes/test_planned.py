# SPDX-License-Identifier: Apache-2.0

"""A plan is all that the robot side and the simulator need: no map server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import math
from pathlib import Path

from flats import DOOR, flat
from mnm_ros.driving.grid import Grid
from mnm_ros.driving.maneuvers import MOVES
from mnm_ros.driving.pose import Pose
from mnm_ros.messages import PolicySet
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.plan.plan_file import save
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation.diff_drive import driver_parameters, scenario_of
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.plan_world import PlanWorld
from nav_msgs.msg import OccupancyGrid
from node_processes import Peer
import pytest
from std_msgs.msg import Int64MultiArray, String

RADIUS = 2.0
YAW = 0.3


def turned(x: float, y: float) -> tuple[float, float]:
    """Return where a point of the flat is in the map: turned about the middle of the flat."""
    return (2 + math.cos(YAW) * (x - 2) - math.sin(YAW) * y,
            math.sin(YAW) * (x - 2) + math.cos(YAW) * y)


PLAN = Plan(
    'flat', flat(DOOR, yaw=YAW), Grid(*turned(-0.5, -1.05), 0.7, 8, 3, yaw=YAW),
    Pose(*turned(1.25, 0.0), YAW), 0.105, 0.05,
    {'kitchen': turned(0.5, 0.0), 'hall': turned(3.5, 0.0)},
    {'kitchen-hall': (turned(2.05, -0.45), turned(2.05, 0.45))})


def test_it_is_explored_by_the_names_of_rooms(
        start: Callable, peer: Peer, tmp_path: Path) -> None:
    """The flat is turned against the map, and so is its grid."""
    path = tmp_path / 'flat.plan.yaml'
    save(path, PLAN, 'flat.yaml')
    world = PlanWorld.of(replace(PLAN, path=path))
    truth = scenario_of(world).settings[0].cmp
    start('diff_drive_sim', plan=str(path), robot_radius=PLAN.robot_radius, real_time_factor=0.0,
          tick=0.1, publish_clock=False, pose_noise=0.01)
    driver = start('grid_driver', **driver_parameters(world))
    start('explorer', actions=list(MOVES['compass']), radius=RADIUS, step_timeout=60.0)
    policies = peer.listen(Int64MultiArray, 'policies')
    said = peer.listen(String, 'robot_side')
    maps = peer.listen(OccupancyGrid, 'map')

    peer.wait_for(lambda: policies and judge(
        truth, PolicySet.from_msg(policies[-1]), RADIUS, 1.0).ok, 'the first hypothesis')
    known = PolicySet.from_msg(policies[-1]).targets
    described = RobotDescription.from_text(said[-1].data)
    names = {described.names[state] for state in known}
    assert {name.split()[0] for name in names} == {'kitchen', 'hall'}, names
    assert described.home == PLAN.home_cell and described.walls and described.declaration
    assert peer.node.count_subscribers('/map') == 1    # ours: the driver asks for no map
    assert maps[-1].info.origin.position.x == pytest.approx(PLAN.map.origin.x)
    (state, action), *_ = described.doors['kitchen-hall']
    assert described.door(state, action) == 'kitchen-hall' and described.names[state]
    assert driver.stop() == 0, driver.output


@pytest.mark.parametrize(('node', 'changes', 'given', 'complaint'), [
    ('grid_driver', {}, {'plan': 'none.yaml'}, "parameter 'plan': none.yaml: cannot be read"),
    ('grid_driver', {}, {'cell_size': 0.4},
     "parameter 'cell_size' is 0.4, expected 0.7 as {path} has it, or none"),
    ('grid_driver', {'home': Pose(*turned(2.05, 1.0), YAW)}, {}, 'is in a wall'),
    ('diff_drive_sim', {'home': Pose(9.0, 9.0, 0.0)}, {}, 'is outside of the grid'),
])
def test_a_plan_that_is_of_no_use_is_refused(
        start: Callable, tmp_path: Path, node: str, changes: dict, given: dict,
        complaint: str) -> None:
    path = tmp_path / 'flat.plan.yaml'
    save(path, replace(PLAN, **changes), 'flat.yaml')
    refused = start(node, **{'plan': str(path), **given})
    assert refused.wait() != 0
    assert complaint.format(path=path) in refused.output, refused.output
