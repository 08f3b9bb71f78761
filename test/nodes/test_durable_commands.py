# SPDX-License-Identifier: Apache-2.0

"""What a restart must not forget: what is forbidden, which commands were given, what was told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import signal
import time

from kept_exploration import keeping
from mnm_ros import messages
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.messages import PolicySet
from mnm_ros.robot_description import RobotDescription
from node_processes import NodeProcess, Peer, ScriptedRobot
import pytest
from std_msgs.msg import Int64MultiArray, String
from test_exploration_store import KILLS
from tiers import strength, thorough

EAST = 0
FORBIDDEN = 1, EAST
STEPS = 40
KEEP_OUT = RobotDescription(('east', 'west'), declaration=Declaration(
    {0: ((1,), (0,)), 1: ((), (0,)), 2: ((2,), (1,))}))


@pytest.mark.parametrize('kill', range(strength(1, KILLS)))
def test_a_keep_out_that_was_taken_is_known_after_a_crash(
        explorer: Callable[..., NodeProcess], peer: Peer, robot: ScriptedRobot, tmp_path: Path,
        kill: int) -> None:
    """The robot side says nothing more; it is killed at once, or a little later."""
    kept = str(tmp_path / 'kept')
    process = explorer(checkpoint_dir=kept)
    peer.wait_for(lambda: len(robot.executed) > STEPS, 'steps')
    described = peer.node.create_publisher(String, 'robot_side', messages.LATCHED)
    described.publish(String(data=KEEP_OUT.to_text()))
    peer.wait_for(lambda: '1 state-action pair must never' in process.output, 'that it is taken')
    end = time.monotonic() + 0.6 * (kill % 4) / 4
    peer.wait_for(lambda: time.monotonic() >= end, 'the kill')
    process.kill()
    peer.node.destroy_publisher(described)
    peer.spin(0.1)    # what was on its way
    before = len(robot.executed)
    process = explorer(checkpoint_dir=kept)
    peer.wait_for(lambda: len(robot.executed) > before + STEPS, 'steps')
    assert 'going on from' in process.output
    steps = [step[:2] for step in robot.executed[before:]]
    assert FORBIDDEN not in steps and (0, EAST) in steps


@thorough(shown_by=(
    'nodes/test_exploration_store.py::'
    'test_a_hypothesis_waits_until_it_is_kept_however_slow_the_disk_is '
    'nodes/test_exploration_store.py::test_policies_are_published_once_they_are_kept '
    'nodes/test_exploration_store.py::test_a_restarted_node_publishes_at_once_what_it_knew '
    'checkpoint/test_power_cut.py::test_each_input_that_is_appended_is_there'))
@pytest.mark.parametrize('kill', range(KILLS))
def test_a_hypothesis_that_was_heard_is_known_after_a_crash(
        explorer: Callable[..., NodeProcess], peer: Peer, robot: ScriptedRobot, tmp_path: Path,
        kill: int) -> None:
    """The explorer is killed when it is heard, and the robot does nothing any more."""
    heard: list[PolicySet] = []
    process = explorer(checkpoint_dir=str(tmp_path), seed=kill)

    def on_policies(message: Int64MultiArray) -> None:
        process.send(signal.SIGKILL)
        heard.append(PolicySet.from_msg(message))

    subscription = peer.node.create_subscription(
        Int64MultiArray, 'policies', on_policies, messages.LATCHED)
    peer.wait_for(lambda: heard, 'a hypothesis')
    process.wait()
    peer.node.destroy_subscription(subscription)
    robot.deaf = 10**9
    again = peer.listen(Int64MultiArray, 'policies')
    process = explorer(checkpoint_dir=str(tmp_path), seed=kill)
    peer.wait_for(lambda: again, 'what was heard', deadline=60.0)
    assert 'going on from' in process.output
    assert PolicySet.from_msg(again[0]) == heard[-1]


def test_numbers_of_commands_go_on_from_those_that_were_kept(tmp_path: Path) -> None:
    """Ten years after the clock, as if it had been set back since."""
    ahead = time.time_ns() + 10 * 365 * 86400 * 10**9
    kept = tmp_path / 'explorer.commands'
    kept.write_text(f'{ahead}\n')
    last = ahead - 1
    for _ in range(3):
        store = keeping(tmp_path, [])
        assert last < store.files.numbers.first() < int(kept.read_text())
        last = int(kept.read_text()) + 10
        store.files.numbers.use(last)    # which is kept before it is used
        assert last < int(kept.read_text())
        store.close()


@thorough(shown_by=(
    'nodes/test_durable_commands.py::test_numbers_of_commands_go_on_from_those_that_were_kept '
    'nodes/test_durable_commands.py::test_what_means_nothing_is_told_once_for_each_file'))
def test_numbers_of_commands_grow_when_the_clock_was_set_back(
        explorer: Callable[..., NodeProcess], peer: Peer, robot: ScriptedRobot,
        tmp_path: Path) -> None:
    """Ten years back, as if what was kept were of a clock that was as far ahead."""
    ahead = time.time_ns() + 10 * 365 * 86400 * 10**9
    (tmp_path / 'explorer.commands').write_text(f'{ahead}\n')
    for _ in range(3):
        before = len(robot.received)
        process = explorer(checkpoint_dir=str(tmp_path))
        peer.wait_for(lambda before=before: len(robot.received) > before + STEPS, 'commands')
        process.kill()
    numbers = [number for number, _ in robot.received]
    assert numbers[0] >= ahead and numbers == sorted(numbers)


@pytest.mark.parametrize('bound', ['ten', f'{2**63 - 1}', '9' * 400, '-1'])
def test_a_bound_that_is_none_is_told(tmp_path: Path, bound: str) -> None:
    kept, logged = tmp_path / 'explorer.commands', list[str]()
    kept.write_text(f'{bound}\n')
    store = keeping(tmp_path, logged)
    first = store.files.numbers.first()
    assert int(kept.read_text()) > first > time.time_ns() - 10**12
    store.close()
    assert any(line.startswith('warning: numbers of commands start again: ') for line in logged)


def test_all_that_is_kept_is_for_its_owner_only(
        explorer: Callable[..., NodeProcess], peer: Peer, robot: ScriptedRobot,
        tmp_path: Path) -> None:
    """One of the files is a link to another one, which stays as it was."""
    kept, precious = tmp_path / 'kept', tmp_path / 'precious'
    kept.mkdir()
    precious.write_text('7\n')
    (kept / 'explorer.commands').symlink_to(precious)
    process = explorer(checkpoint_dir=str(kept), transition_log=True)
    described = peer.node.create_publisher(String, 'robot_side', messages.LATCHED)
    described.publish(String(data=KEEP_OUT.to_text()))
    wanted = {f'explorer{end}' for end in (
        '.events.jsonl', '.robot_side.json', '.worlds.jsonl', '.lock', '.log.sqlite')}
    peer.wait_for(lambda: wanted <= {path.name for path in kept.iterdir()}, 'all files')
    peer.wait_for(lambda: len(robot.executed) > STEPS, 'steps')
    assert process.stop() == 0
    assert {path.stat().st_mode & 0o777 for path in kept.iterdir()
            if not path.is_symlink()} == {0o600}
    assert precious.read_text() == '7\n' and robot.received[0][0] > time.time_ns() - 10**12
    assert 'explorer.commands is not written' in process.output


def test_what_means_nothing_is_told_once_for_each_file(
        explorer: Callable[..., NodeProcess], peer: Peer, robot: ScriptedRobot,
        tmp_path: Path) -> None:
    ends = 'events.jsonl', 'worlds.jsonl', 'lock', 'robot_side.json'
    for end in ends:
        (tmp_path / f'explorer.{end}').write_text('7 times\nseven\n')
    ahead = 2 * time.time_ns()    # which means something: commands go on from there
    (tmp_path / 'explorer.commands').write_text(f'{ahead}\n')
    process = explorer(checkpoint_dir=str(tmp_path))
    described = peer.node.create_publisher(String, 'robot_side', messages.LATCHED)
    described.publish(String(data=KEEP_OUT.to_text()))
    peer.wait_for(lambda: 'worlds.jsonl: 2 of the lines' in process.output, 'a warning')
    peer.wait_for(lambda: len(robot.executed) > STEPS, 'steps')
    assert process.stop() == 0
    assert robot.received[0][0] >= ahead
    for end, told in zip(ends, (
            '2 of the lines cannot be read; they are left out',
            '2 of the lines cannot be read; they are left out',
            'holds something else than how many inputs are saved: it is left as it is',
            'is not used, until a robot side says what it is')):
        warning, = (line for line in process.output.splitlines()
                    if f'{tmp_path}/explorer.{end}' in line)
        assert 'WARN' in warning and told in warning
