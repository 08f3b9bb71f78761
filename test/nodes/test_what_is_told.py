# SPDX-License-Identifier: Apache-2.0

"""What the terminal of an explorer and its topic ``status`` tell, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
import os
from pathlib import Path
import re

from faulty_robot import as_steps
from mnm_ros import messages
from mnm_ros.core.progress.events import Event
from node_processes import arguments, NodeProcess, Peer, read_counts, ScriptedRobot
from std_msgs.msg import Int64MultiArray, String

DECISION = re.compile(r'\[explorer\]: (step \d+: .*)')


def said(process: NodeProcess) -> list[str]:
    """Return the lines of the log without time and level."""
    return re.findall(r'explorer\]: (.*)', process.output)


def test_every_decision_is_one_line(explorer: Callable, peer: Peer,
                                    robot: ScriptedRobot) -> None:
    """Also those within a phase; and the status is published when its text has changed."""
    process = explorer()
    status = peer.listen(String, 'status')
    policies = peer.listen(Int64MultiArray, 'policies')
    peer.wait_for(lambda: policies[-1].layout.dim[0].size == 3, 'three states')
    robot.move = lambda action: 0 if action == -1 else robot.state    # everything is blocked
    peer.wait_for(lambda: policies[-1].layout.dim[0].size == 1, 'that this is noticed')
    decisions = DECISION.findall(process.output)
    # One who joins late is told all of them, too, as they were logged.
    heard = peer.listen(String, 'events', messages.EVENTS)
    peer.wait_for(lambda: len(heard) > len(decisions), 'the events')
    told = [Event.from_json(message.data) for message in heard]
    assert [f'step {event.step}: {event.text}' for event in told
            if event.kind in ('decision', 'change', 'hint')][:len(decisions)] == decisions
    assert ('robot', 'exploring') in [(event.kind, event.text) for event in told[:3]]
    assert {'decision', 'change'} <= {event.kind for event in told}
    assert all(one.time <= other.time for one, other in pairwise(told))
    assert 'home is state 0' in decisions[0]
    assert any('3 states known' in line for line in decisions)
    assert any('deleted' in line or 'is blocked (seen' in line for line in decisions)
    assert len(set(decisions)) == len(decisions)
    peer.spin(0.3)
    assert all(one.data != other.data for one, other in pairwise(status))
    changes = {event.text for event in told if event.change is not None}
    told_of = {re.split('; (next try|"[^"]*" in state [0-9]+ blocked)', each.data)[0]
               for each in status}
    assert {text for text in told_of if ' in state ' in text} <= changes
    assert process.stop() == 0


def test_the_first_line_after_a_restore_is_no_old_news(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, tmp_path: Path) -> None:
    process = explorer(checkpoint_dir=str(tmp_path / 'kept'))
    policies = peer.listen(Int64MultiArray, 'policies')
    peer.wait_for(lambda: policies, 'a hypothesis')
    assert process.stop() == 0
    old = [line.partition(': ')[2] for line in DECISION.findall(process.output)]
    again = explorer(checkpoint_dir=str(tmp_path / 'kept'))
    peer.wait_for(lambda: 'exploring' in said(again), 'exploration')
    lines = said(again)[:said(again).index('exploring')]
    lines.remove('waiting for the robot: first, the explorer replays the steps on the disk')
    assert lines[0].startswith('going on from')
    assert all(line.startswith('waiting for the robot: ') for line in lines[1:])
    assert not [line for line in lines for news in old if news in line]


def test_one_that_stands_by_finds_the_robot(
        explorer: Callable, start: Callable, peer: Peer, robot: ScriptedRobot,
        tmp_path: Path) -> None:
    """It says whom it waits for, and not that there is no robot, and counts what it has made."""
    records = [tmp_path / name for name in ('first', 'second')]
    first = explorer(record=str(records[0]))
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    remapped = [part for name in ('action', 'state') for part in ('-r', f'{name}:=/{name}')]
    second = start('explorer', given=[
        *arguments({'actions': ['east', 'west'], 'record': str(records[1])}, '/elsewhere'),
        *remapped])
    phases = peer.listen(String, '/elsewhere/phase')
    status = peer.listen(String, '/elsewhere/status')
    expected = 'waiting for the robot: another explorer, which started earlier, commands the robot'
    expected += f' in ROS domain {os.environ["ROS_DOMAIN_ID"]}: /explorer'
    peer.wait_for(lambda: status[-1].data == expected, 'the reason')
    peer.spin(0.7)
    assert status[-1].data == expected and said(second)[-1] == expected
    assert {message.data for message in phases} == {'waiting_for_robot'}
    assert peer.node.count_publishers('action') == 1
    assert first.stop() == 0
    peer.wait_for(lambda: 'exploring' in said(second), 'exploration')
    begun = len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) > begun + 10, 'steps')
    assert second.stop() == 0
    counted = [as_steps(read_counts(path)) for path in records]
    assert all(counted) and not sum(counted, Counter()) - as_steps(robot.counts())
    assert not first.running and said(second).count('exploring') == 1
