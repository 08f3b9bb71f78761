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
from mnm_ros.plan.plan_file import text_of
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation.diff_drive import driver_parameters, scenario_of
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.plan_world import PlanWorld
from nav_msgs.msg import OccupancyGrid
from node_processes import Peer
import pytest
from std_msgs.msg import Int64, Int64MultiArray, String
from std_srvs.srv import Trigger
from tiers import thorough

RADIUS = 2.0
HOME_X = 1.0    # m, in the flat: the door may close before the robot has passed it
YAW = 0.3


def turned(x: float, y: float) -> tuple[float, float]:
    """Return where a point of the flat is in the map: turned about the middle of the flat."""
    return (2 + math.cos(YAW) * (x - 2) - math.sin(YAW) * y,
            math.sin(YAW) * (x - 2) + math.cos(YAW) * y)


PLAN = Plan(    # the door is on a border of cells: else one may be reached that is half in it
    'flat', flat(DOOR, yaw=YAW), Grid(*turned(-0.75, -1.05), 0.7, 8, 3, yaw=YAW),
    Pose(*turned(HOME_X, 0.0), YAW), 0.105, 0.05,
    {'kitchen': turned(0.5, 0.0), 'hall': turned(3.5, 0.0)},
    {'kitchen-hall': (turned(2.05, -0.45), turned(2.05, 0.45))})


class Flat:
    """The flat of a plan with simulator, driver and explorer, until the first hypothesis."""

    def __init__(self, start: Callable, peer: Peer, path: Path) -> None:
        path.write_text(text_of(PLAN, 'flat.yaml'), encoding='utf-8')
        self._peer = peer
        world = PlanWorld.of(replace(PLAN, path=path))
        self._truth = [setting.cmp for setting in scenario_of(world).settings]
        start('diff_drive_sim', plan=str(path), robot_radius=PLAN.robot_radius,
              real_time_factor=0.0, tick=0.1, publish_clock=False, pose_noise=0.01)
        self.driver = start('grid_driver', **driver_parameters(world))
        start('explorer', actions=list(MOVES['compass']), radius=RADIUS, step_timeout=60.0)
        self.policies = peer.listen(Int64MultiArray, 'policies')
        self.phases = peer.listen(String, 'phase')
        self.status = peer.listen(String, 'status')
        self._setting = peer.listen(Int64, 'true_setting')
        self.wait_until_right('the first hypothesis')

    def wait_until_right(self, what: str) -> None:
        """Wait for policies that are right in what is in force now."""
        self._peer.wait_for(lambda: self.policies and judge(
            self._truth[self._setting[-1].data], PolicySet.from_msg(self.policies[-1]),
            RADIUS, 1.0).ok, what)


def explored_by_names(said: String, known: PolicySet) -> None:
    """See that what is known has the names of rooms and doors."""
    described = RobotDescription.from_text(said.data)
    names = {described.names[state] for state in known.targets}
    assert {name.split()[0] for name in names} == {'kitchen', 'hall'}, names
    assert described.home == PLAN.home_cell and described.walls and described.declaration
    assert {described.names[state].split()[0] for state in described.rooms['hall']} == {'hall'}
    (state, action), *_ = described.doors['kitchen-hall']
    assert described.door(state, action) == 'kitchen-hall' and described.names[state]


@thorough(shown_by=(
    'nodes/test_turtlebot.py::test_every_command_does_what_the_page_says '
    'nodes/test_robot_profile.py::test_a_grid_driver_says_where_its_cells_are'))
def test_it_is_explored_by_the_names_of_rooms_and_a_door_closes_and_opens(
        start: Callable, peer: Peer, tmp_path: Path) -> None:
    """
    The flat is turned against the map, and so is its grid.

    The door closes while the robot is in the kitchen, and while it is in the hall: no other way
    leads home.
    """
    said, maps = peer.listen(String, 'robot_side'), peer.listen(OccupancyGrid, 'map')
    flat_ = Flat(start, peer, tmp_path / 'flat.plan.yaml')
    explored_by_names(said[-1], PolicySet.from_msg(flat_.policies[-1]))
    assert peer.node.count_subscribers('/map') == 1    # ours: the driver asks for no map
    assert maps[-1].info.origin.position.x == pytest.approx(PLAN.map.origin.x)
    outcomes = peer.listen(String, 'outcome')
    behind = {cell for cell in PLAN.reached if PLAN.cell_names[cell].startswith('hall')}

    def wait_for(inside: bool, last: str) -> None:
        peer.wait_for(lambda: outcomes[-1].data.startswith(last) and (int(
            outcomes[-1].data.rpartition(' ')[2]) in behind) == inside, f'inside: {inside}')

    with peer.client(Trigger, 'change') as change:
        wait_for(False, 'RESET: reached')
        assert change(Trigger.Request()).success
        flat_.wait_until_right('that nothing behind the door is known')
        peer.wait_for(lambda: any(
            'door kitchen-hall closed' in each.data for each in flat_.status), 'which door it is')
        assert change(Trigger.Request()).success
        flat_.wait_until_right('that it is found again')

        wait_for(True, 'east: reached')
        assert change(Trigger.Request()).success
        peer.wait_for(lambda: flat_.phases[-1].data == 'fault', 'that it is locked in')
        peer.wait_for(lambda: 'RESET led to hall ' in flat_.status[-1].data, 'that this is said')
        assert change(Trigger.Request()).success
    assert peer.call(Trigger, 'recover').success
    peer.wait_for(lambda: flat_.phases[-1].data != 'fault', 'that it goes on')
    flat_.wait_until_right('what is behind the open door')
    assert flat_.driver.stop() == 0, flat_.driver.output


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
    path.write_text(text_of(replace(PLAN, **changes), 'flat.yaml'), encoding='utf-8')
    refused = start(node, **{'plan': str(path), **given})
    assert refused.wait() != 0
    assert complaint.format(path=path) in refused.output, refused.output
