# SPDX-License-Identifier: Apache-2.0

"""The explorer learns from what is published on ``work``, also while it is paused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import sqlite3

from mnm_ros import messages
from mnm_ros.core.progress.activity import Activity
from node_processes import Peer, read_counts, ScriptedRobot
from rclpy.node import Node
from std_msgs.msg import Int64MultiArray, String
from std_srvs.srv import SetBool


def test_the_explorer_learns_while_it_is_paused_and_from_nothing_that_is_no_step(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, tmp_path: Path) -> None:
    activity, phase = peer.listen(String, 'activity'), peer.listen(String, 'phase')
    process = explorer(checkpoint_dir=str(tmp_path), transition_log=True)
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: phase[-1].data == 'paused', 'the pause')
    work = peer.node.create_publisher(Int64MultiArray, 'work', messages.STEP)
    peer.wait_for(work.get_subscription_count, 'the subscription')
    for numbers in ([5, -1, 0], [5], [5, 2, 0], [5, 1, 0, 3]):    # a RESET is no pair
        work.publish(Int64MultiArray(data=numbers))
    peer.wait_for(lambda: 'work ignored: action is -1, expected an int from 0' in process.output,
                  'it said')
    for after in (6, 6, None):
        work.publish(messages.encode_work(5, 1, after))
    peer.wait_for(lambda: Activity.from_json(activity[-1].data).work == 3, 'three executions')
    peer.call(SetBool, 'explore', SetBool.Request(data=True))
    count = len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) > count + 30, 'more steps')
    assert process.stop() == 0
    log, = tmp_path.glob('*.log.sqlite')
    with sqlite3.connect(log) as database:
        assert database.execute('SELECT count(*) FROM inputs WHERE kind = 4').fetchone() == (3,)
    database.close()


def test_what_a_commander_believes_is_no_evidence(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, tmp_path: Path) -> None:
    activity, phase = peer.listen(String, 'activity'), peer.listen(String, 'phase')
    process = explorer(record=str(tmp_path / 'counts'))
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: phase[-1].data == 'paused', 'the pause')
    commander = Node('commander', context=peer.context)
    work = commander.create_publisher(Int64MultiArray, 'work', messages.STEP)
    actions = commander.create_publisher(Int64MultiArray, 'action', messages.STEP)
    peer.wait_for(work.get_subscription_count, 'the subscription')

    def is_refused() -> bool:
        work.publish(messages.encode_work(5, 1, 6))
        peer.spin(0.1)
        return 'work ignored: /commander commands the robot, expected' in process.output
    peer.wait_for(is_refused, 'it said')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))    # after what was sent before
    commander.destroy_publisher(actions)    # from now on it only watches

    def counts() -> bool:
        work.publish(messages.encode_work(7, 1, 8))
        peer.spin(0.05)
        return Activity.from_json(activity[-1].data).work > 0
    peer.wait_for(counts, 'the watcher')
    commander.destroy_node()
    assert process.stop() == 0, process.output
    counted = read_counts(tmp_path / 'counts')
    assert '7' in counted and '5' not in counted
