# SPDX-License-Identifier: Apache-2.0

"""The explorer learns from what is published on ``work``, also while it is paused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import re
import sqlite3

from mnm_ros import messages
from mnm_ros.checkpoint.input_log import SavedInputs
from mnm_ros.core.progress.activity import Activity
from node_processes import Peer, ScriptedRobot
from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from std_msgs.msg import Int64MultiArray, String
from std_srvs.srv import SetBool
from tiers import thorough


def work_publisher(peer: Peer, activity: list[String]) -> Publisher:
    """Return a publisher that the explorer knows by name; one step of it has counted."""
    work = peer.node.create_publisher(Int64MultiArray, 'work', messages.STEP)

    def counts() -> bool:
        if not worked(activity):
            work.publish(messages.encode_work(0, 1, None))
        return bool(worked(activity))

    peer.wait_for(counts, 'the first step that counts')
    wait_for_two(peer, activity)
    return work


def wait_for_two(peer: Peer, activity: list[String]) -> None:
    """Wait for two that were sent after this; what is worked before is in the second."""
    heard = len(activity)
    peer.wait_for(lambda: len(activity) > heard + 2, 'what is said every second')


def worked(activity: list[String]) -> int:
    return Activity.from_json(activity[-1].data).work if activity else 0


def test_the_explorer_learns_while_it_is_paused_and_takes_back_what_one_source_said(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, tmp_path: Path) -> None:
    """From nothing that is no step; and it goes on after both."""
    activity, phase = peer.listen(String, 'activity'), peer.listen(String, 'phase')
    events = peer.listen(String, 'events', messages.EVENTS)
    process = explorer(checkpoint_dir=str(tmp_path), transition_log=True)
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    refused = forget(peer, source='/peer')
    assert not refused.successful and refused.reason.startswith('the explorer is exploring; ')
    pause(peer, phase)
    work = work_publisher(peer, activity)
    given = what_counts_is_a_step(peer, work, activity, lambda: process.output)
    goes_on(peer, robot)
    pause(peer, phase)
    peer.saved()
    log, = tmp_path.glob('*.log.sqlite')
    with sqlite3.connect(log) as database:
        assert database.execute('SELECT count(*) FROM inputs WHERE kind = 4').fetchone() == (
            given,)
    database.close()
    assert SavedInputs(log).sources()['/peer'] == given
    assert 'expected source, and perhaps since' in forget(peer, since='3').reason
    assert re.match(r"nothing removed: source '/nobody' has reported nothing, expected one of: "
                    r'/peer \(\d+ transitions\), robot', forget(peer, source='/nobody').reason)
    assert worked(activity) == given
    taken = forget(peer, source='/peer')
    assert taken.successful and taken.reason == (
        f'{given} transitions reported by /peer were taken back')
    # The event with the requester comes later.
    peer.wait_for(lambda: any(taken.reason in each.data for each in events), 'the event')
    goes_on(peer, robot)
    assert process.stop() == 0 and 'incomplete' not in process.output
    assert not SavedInputs(log).sources()['/peer']


def pause(peer: Peer, phase: list[String]) -> None:
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: phase[-1].data == 'paused', 'the pause')


def goes_on(peer: Peer, robot: ScriptedRobot) -> None:
    peer.call(SetBool, 'explore', SetBool.Request(data=True))
    count = len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) > count + 30, 'more steps')


def what_counts_is_a_step(peer: Peer, work: Publisher, activity: list[String],
                          output: Callable[[], str]) -> int:
    """Publish three that are steps and others that are none; return how many have counted."""
    before = worked(activity)
    for numbers in ([2], [2, 2, 0], [2, 1, 0, 3, 4]):
        work.publish(Int64MultiArray(data=numbers))

    def told() -> bool:    # one warning in 10 s, and what came before its sender was known had one
        work.publish(Int64MultiArray(data=[2, -1, 0]))    # a RESET is no pair
        peer.spin(0.2)
        return 'work ignored: action is -1, expected an int from 0' in output()

    peer.wait_for(told, 'it said')
    for after, seq in ((1, None), (1, 7), (1, 7), (1, 3), (None, None)):    # two are old
        work.publish(messages.encode_work(2, 1, after, seq))
    peer.wait_for(lambda: worked(activity) == before + 3, 'three executions')
    return before + 3


def forget(peer: Peer, **named: str) -> SetParametersResult:
    """Have what came from a source taken back, and return what is said of it."""
    request = SetParametersAtomically.Request(parameters=[
        Parameter(name, value=value).to_parameter_msg() for name, value in named.items()])

    def ended() -> SetParametersResult | None:
        result = peer.call(SetParametersAtomically, 'forget', request).result
        if result.reason.endswith('call again'):
            peer.spin(0.3)    # more than five calls a second are refused
            return None
        return result
    return peer.wait_for(ended, 'the end')


def test_what_a_commander_believes_is_no_evidence_nor_is_a_bag_that_is_played_back(
        explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    activity, phase = peer.listen(String, 'activity'), peer.listen(String, 'phase')
    process = explorer()
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: phase[-1].data == 'paused', 'the pause')
    commander = Node('commander', context=peer.context)
    # In this order: as long as the explorer has not found the first, it would be a watcher.
    actions = commander.create_publisher(Int64MultiArray, 'action', messages.STEP)
    peer.wait_for(actions.get_subscription_count, 'the subscription to what it commands')
    work = commander.create_publisher(Int64MultiArray, 'work', messages.STEP)
    peer.wait_for(work.get_subscription_count, 'the subscription')

    def is_refused() -> bool:
        work.publish(messages.encode_work(2, 1, 2))
        peer.spin(0.1)
        return 'work ignored: /commander commands the robot, expected' in process.output
    peer.wait_for(is_refused, 'it said')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))    # after what was sent before
    assert worked(activity) == 0
    commander.destroy_publisher(actions)    # from now on it only watches

    def counts() -> bool:
        work.publish(messages.encode_work(2, 1, 2))
        peer.spin(0.05)
        return worked(activity) > 0
    peer.wait_for(counts, 'the watcher')
    commander.destroy_node()
    peer.call(SetBool, 'explore', SetBool.Request(data=True))
    wait_for_two(peer, activity)
    before = worked(activity)
    player = Node('rosbag2_player', context=peer.context)
    played = player.create_publisher(Int64MultiArray, 'work', messages.STEP)
    peer.wait_for(played.get_subscription_count, 'the subscription')
    for _ in range(10):
        played.publish(messages.encode_work(2, 1, 2))
        peer.spin(0.01)
    wait_for_two(peer, activity)
    assert worked(activity) == before
    player.destroy_node()
    assert process.stop() == 0, process.output


@thorough('nodes/test_unseen_work.py::'
          'test_an_execution_waits_for_its_end_and_those_of_its_pair_wait_behind_it '
          'nodes/test_unseen_work.py::'
          'test_what_begins_in_an_unseen_state_is_dropped_whatever_comes_of_it '
          'nodes/test_work_topic.py::'
          'test_the_explorer_learns_while_it_is_paused_and_takes_back_what_one_source_said')
def test_invented_states_are_no_candidates_and_one_is_met_once_the_robot_side_has_seen_it(
        explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    activity, phase = peer.listen(String, 'activity'), peer.listen(String, 'phase')
    explorer(max_states=4)
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: phase[-1].data == 'paused', 'the pause')
    work = work_publisher(peer, activity)
    before = worked(activity)

    def report(state: int, after: int) -> None:
        work.publish(messages.encode_work(state, 1, after))
        peer.spin(0.002)

    for invented in range(100, 130):
        report(2, invented)
        report(invented, 0)
    report(0, 0)
    peer.wait_for(lambda: worked(activity) == before + 1, 'the last one')
    robot.send(7, 100)    # in answer to a number that is not the explorer's
    peer.wait_for(lambda: worked(activity) == before + 2, 'what has waited')
    peer.call(SetBool, 'explore', SetBool.Request(data=True))
    count = len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) > count + 30, 'more steps')


@thorough('nodes/test_work_topic.py::'
          'test_what_a_commander_believes_is_no_evidence_nor_is_a_bag_that_is_played_back')
def test_nothing_of_a_bag_that_is_played_back_counts(
        explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    activity = peer.listen(String, 'activity')
    process = explorer()
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    player = Peer(name='rosbag2_player')
    work = player.node.create_publisher(Int64MultiArray, 'work', messages.STEP)
    peer.wait_for(work.get_subscription_count, 'the subscription')

    def told() -> bool:
        work.publish(messages.encode_work(2, 1, 2))
        return 'work ignored: /rosbag2_player plays a bag' in process.output

    peer.wait_for(told, 'it said')
    wait_for_two(peer, activity)
    assert worked(activity) == 0
