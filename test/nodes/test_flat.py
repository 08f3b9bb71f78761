# SPDX-License-Identifier: Apache-2.0

"""From velocities to policies: a mobile robot explores a flat whose door closes and opens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from faulty_robot import as_steps
from mnm_ros.driving.maneuvers import MOVES
from mnm_ros.messages import PolicySet, STEP
from mnm_ros.simulation.diff_drive import driver_parameters, scenario_of
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load as load_scenario
from mnm_ros.simulation.world import load
from node_processes import PAUSE, Peer, read_counts
from std_msgs.msg import Int64, Int64MultiArray, String
from std_srvs.srv import Trigger
from tiers import strength, thorough

WORLD = load('two_room_flat')
TRUTH = [setting.cmp for setting in scenario_of(WORLD).settings]
RADIUS = 2.0
TICK = strength(0.2, 0.1)    # s of a simulated robot
SEED = 0
BOTH = {'radius': strength(1.5, 4.0), 'delta': strength(0.5, 0.1)}    # of two explorers


def start_flat(start: Callable, **simulation: object) -> list:
    """Start simulator, driver and explorer."""
    return [
        start('diff_drive_sim', world='two_room_flat', real_time_factor=0.0, tick=TICK, seed=SEED,
              publish_clock=False, **simulation),
        start('grid_driver', **driver_parameters(WORLD)),
        start('explorer', actions=list(MOVES['compass']), radius=RADIUS, step_timeout=60.0,
              delta=strength(0.5, 0.1))]


@thorough(shown_by=(
    'nodes/test_route_driver.py::test_an_explorer_learns_the_graph_and_that_a_passage_closes '
    'nodes/test_closed_ways.py::test_a_way_that_closes_is_left_alone_and_found_open_by_a_look '
    'nodes/test_turtlebot.py::test_every_command_does_what_the_page_says'))
def test_the_door_closes_and_opens(start: Callable, peer: Peer) -> None:
    processes = start_flat(start, slip=0.02, pose_noise=0.01, heading_noise=0.02)
    setting = peer.listen(Int64, 'true_setting')
    policies = peer.listen(Int64MultiArray, 'policies')
    status = peer.listen(String, 'status')

    def right() -> bool:
        return bool(policies) and judge(
            TRUTH[setting[-1].data], PolicySet.from_msg(policies[-1]), RADIUS, 1.0).ok

    peer.wait_for(right, 'the first hypothesis')
    for number in (1, 2):    # it closes, and opens
        assert peer.call(Trigger, 'change').success
        peer.wait_for(lambda number=number: setting[-1].data == number and right(),
                      f'what is true in setting {number}, seed {SEED}')
    peer.wait_for(lambda: any('no longer reached' in message.data for message in status),
                  'what is told of the door')
    for process in reversed(processes):
        assert process.stop() == 0, process.output


def test_two_robots_side_by_side(start: Callable, peer: Peer, tmp_path: Path) -> None:
    """Each learns its own world, from its own steps only."""
    worlds = {'/robot_1': load_scenario('corridor'), '/robot_2': load_scenario(
        strength('broken_wheel', 'grid_3x3'))}
    simulators = {robot: start('cmp_sim', robot, scenario=world.path.stem, latency=PAUSE,
                               record=str(tmp_path / f'simulator{robot}'))
                  for robot, world in worlds.items()}
    explorers = {robot: start('explorer', robot, actions=list(world.actions), **BOTH,
                              record=str(tmp_path / f'explorer{robot}'))
                 for robot, world in worlds.items()}
    policies = {robot: peer.listen(Int64MultiArray, f'{robot}/policies') for robot in worlds}
    peer.wait_for(lambda: all(policies.values()), 'two hypotheses')
    for robot, world in worlds.items():
        assert judge(
            world.settings[0].cmp, PolicySet.from_msg(policies[robot][-1]), BOTH['radius'],
            1.0).ok
        assert explorers[robot].stop() == 0 and simulators[robot].stop() == 0
        counted = as_steps(read_counts(tmp_path / f'explorer{robot}'))
        played = as_steps(read_counts(tmp_path / f'simulator{robot}'))
        # Not counted are the first and the last RESET, and the step under way at the end.
        assert not counted - played and sum((played - counted).values()) <= 3


@thorough(shown_by=(
    'nodes/test_grid_driver.py::test_home_by_service_is_reported_once '
    'nodes/test_reset_service.py::test_reset_by_service'))
def test_home_by_service(start: Callable, peer: Peer) -> None:
    """The way home is a call, which ends with one report and not with a move by hand."""
    flat = load('one_room')
    start('diff_drive_sim', world='one_room', real_time_factor=0.0, tick=TICK, publish_clock=False)
    driver = start('grid_driver', **driver_parameters(flat))
    start('explorer', actions=list(MOVES['compass']), radius=RADIUS, step_timeout=0.3,
          step_retries=100, reset_retries=100, reset_mode='service')
    answers = peer.listen(Int64MultiArray, 'state', STEP)
    peer.wait_for(lambda: len({message.data[0] for message in answers}) > 20, '20 actions')
    assert 'moved from' not in driver.output
