# SPDX-License-Identifier: Apache-2.0

"""Several robots of one explorer, each in its namespace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
import json
import os
from pathlib import Path
import re
import shutil
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from faulty_robot import as_steps, end, FaultyRobot, is_right, learns
from logged_robot import played, start_logged
from mnm_ros.checkpoint import event_log
from mnm_ros.core.model.problem import RESET
from mnm_ros.robot_description import RobotDescription
from node_processes import DEADLINE, Done, Peer, read_counts, slow_down
import pytest
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from tiers import strength, thorough

ENDLESSLY = strength('thinking_base:quietly_endlessly', 'thinking_base:endlessly')


class Reports:
    """The last thing that the diagnostics have said of each robot."""

    def __init__(self, peer: Peer) -> None:
        self.of: dict[str, DiagnosticStatus] = {}
        peer.node.create_subscription(DiagnosticArray, '/diagnostics', self._hear, 10)

    def level(self, robot: str) -> bytes | None:
        return self.of[robot].level if robot in self.of else None

    def steps(self, robot: str) -> int:
        values = self.of[robot].values if robot in self.of else ()
        return next((int(each.value) for each in values if each.key == 'steps'), 0)

    def _hear(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self.of[status.name.rpartition(': robot ')[2]] = status


@thorough(shown_by=(
    'nodes/test_several_robots.py::'
    'test_what_a_fleet_is_told_by_one_of_its_robots_and_keeps_at_its_end '
    'nodes/test_several_robots.py::test_a_fleet_goes_on_where_it_was '
    'nodes/test_several_robots.py::test_a_fault_of_one_robot_is_no_fault_of_the_others '
    'protocol/test_single_robot_guard.py::test_one_that_was_killed_is_replaced'))
def test_three_robots_one_of_which_is_killed_and_replaced(
        start: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    """They name their actions, the hypothesis is right, and every step is one that was made."""
    records = {name: tmp_path / f'made_{number}' for number, name in enumerate(('r1', 'deck/r3'))}
    others = [start('cmp_sim', namespace=f'/{name}', scenario=scenario,
                    record=str(record)) for name, record in records.items()]
    log = tmp_path / 'log'    # which outlives SIGKILL
    killed = start_logged(start, log, scenario, namespace='/r2')
    reports = Reports(peer)
    process = start('explorer', robots=['r1', 'r2', 'deck/r3'], radius=4.0, step_timeout=0.3,
                    delta=0.1, record=str(tmp_path / 'record'))
    policies = learns(peer)
    for name in records:
        slow_down(peer, f'/{name}/cmp_sim')
    killed.kill()
    peer.wait_for(lambda: reports.level('r2') == DiagnosticStatus.WARN, 'that r2 is missed')
    before = {name: reports.steps(name) for name in records}
    for name, steps in before.items():
        peer.wait_for(lambda: reports.steps(name) > steps + 10,  # noqa: B023
                      f'that {name} goes on')
    size = log.stat().st_size
    start_logged(start, log, scenario, namespace='/r2')
    peer.wait_for(lambda: log.stat().st_size > size + 300, 'that r2 goes on')
    peer.wait_for(lambda: reports.level('r2') == DiagnosticStatus.OK, 'that it is said')
    counted = end(peer, process, tmp_path / 'record')
    assert is_right(policies, tmp_path, Path(scenario).read_text())
    assert all(robot.stop() == 0 for robot in others)
    made = sum((as_steps(read_counts(record)) for record in records.values()), played(log))
    assert not counted - made
    # Nobody knows where first RESETs began, and an answer is lost with the robot, or with a pause.
    assert sum((made - counted).values()) < 12
    assert 'Traceback' not in process.output


def test_a_fleet_goes_on_where_it_was(
        start: Callable, explorer: Callable, peer: Peer, learnt: Any, scenario: str,
        tmp_path: Path) -> None:
    """What the exploration has taken is kept; what waited to be taken is found out again."""
    shutil.copytree(learnt.folder, tmp_path / 'kept')
    for name in ('r1', 'r2'):
        start('cmp_sim', namespace=f'/{name}', scenario=scenario, latency=0.02)
    given = {'robots': ['r1', 'r2'], 'radius': 4.0, 'checkpoint_dir': str(tmp_path / 'kept'),
             'transition_log': True}
    reports = Reports(peer)
    first = explorer(**given)
    policies = learns(peer)
    peer.wait_for(lambda: min(map(reports.steps, ('r1', 'r2'))) > 10, 'steps of both')
    peer.saved()
    first.kill()
    reports, heard = Reports(peer), len(policies)
    again = explorer(**given)
    peer.wait_for(lambda: len(policies) > heard, 'what was known')
    assert 'going on from' in again.output
    peer.wait_for(lambda: min(map(reports.steps, ('r1', 'r2'))) > 30, 'reports of both')
    # More steps than this number have been taken long since, unless all is tested.
    assert peer.set_parameter('explorer', 'max_steps', strength(100, 6000)).successful
    phase = peer.listen(String, 'phase')
    peer.wait_for(lambda: phase[-1].data == 'done', 'the end')
    assert is_right(policies, tmp_path, Path(scenario).read_text())
    assert 'max_steps reached' in again.output
    assert again.stop() == 0 and 'Traceback' not in again.output


def test_what_a_fleet_is_told_by_one_of_its_robots_and_keeps_at_its_end(
        start: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    """The first robot may come last: the other one names and declares the actions."""
    records = [tmp_path / f'made_{number}' for number in (1, 2)]
    robots = [start('cmp_sim', namespace='/r2', scenario=scenario, declare_successors=True,
                    record=str(records[0]))]
    process = start('explorer', robots=['r1', 'r2'], radius=4.0, checkpoint_dir=str(tmp_path),
                    record=str(tmp_path / 'record'))
    policies = learns(peer)
    reports = Reports(peer)
    robots.append(start('cmp_sim', namespace='/r1', scenario=scenario, seed=1,
                        record=str(records[1])))
    peer.wait_for(lambda: reports.steps('r1') > 10, 'steps of the first')
    assert is_right(policies, tmp_path, Path(scenario).read_text())
    assert process.stop() == 0 and [robot.stop() for robot in robots] == [0, 0]
    counted = as_steps(read_counts(tmp_path / 'record'))
    assert counted and not counted - sum(map(as_steps, map(read_counts, records)), Counter())
    assert process.output.count('the robot side declares the successors') == 1
    found, = (event for event in event_log.read(tmp_path / f'explorer{event_log.KEPT}')
              if event.kind == 'pause')
    assert found.seconds and found.seconds.keys() == {RESET, 0, 1}


@pytest.fixture
def two(peer: Peer) -> tuple[FaultyRobot, FaultyRobot]:
    """Return two robots that are served with the peer."""
    peers = [Peer(namespace=f'/{name}') for name in ('r1', 'r2')]
    good, bad = (FaultyRobot(each) for each in peers)
    good.pause = bad.pause = 0.005
    # Who waits for the peer waits for all.
    spin = peer.spin_once

    def spin_all(seconds: float = 0.02) -> None:
        spin(seconds / 4)
        for each in peers:
            each.spin_once(seconds / 4)

    peer.spin_once = spin_all    # type: ignore[method-assign]
    return good, bad


def test_a_fault_of_one_robot_is_no_fault_of_the_others(
        explorer: Callable, peer: Peer, two: tuple[FaultyRobot, FaultyRobot]) -> None:
    good, bad = two
    reports, phase = Reports(peer), peer.listen(String, 'phase')
    process = explorer(robots=['r1', 'r2'], radius=4.0, reset_retries=2, step_timeout=0.5)
    peer.wait_for(lambda: len(good.executed) > 30 and len(bad.executed) > 30, 'steps of both')
    bad.deaf = 10**6
    peer.wait_for(lambda: reports.level('r2') == DiagnosticStatus.WARN, 'that r2 is missed')
    count = len(good.executed)
    peer.wait_for(lambda: len(good.executed) > count + 20, 'that the other one goes on')
    bad.deaf = 0
    peer.wait_for(lambda: reports.level('r2') == DiagnosticStatus.OK, 'that r2 goes on')
    bad.misses = 10**6
    peer.wait_for(lambda: reports.level('r2') == DiagnosticStatus.ERROR, 'the fault')
    assert 'RESET led to state 1 instead of home, state 0' in reports.of['r2'].message
    count = len(good.executed)
    peer.wait_for(lambda: len(good.executed) > count + 20, 'that the other one goes on')
    assert phase[-1].data != 'fault' and reports.level('r1') == DiagnosticStatus.OK
    bad.misses = 0
    assert peer.call(Trigger, 'recover').success
    count = len(bad.executed)
    peer.wait_for(lambda: len(bad.executed) > count + 10, 'that it goes on, too')
    assert 'there is no fault' in peer.call(Trigger, 'recover').message
    bad.misses = good.misses = 10**6
    peer.wait_for(lambda: phase[-1].data == 'fault', 'the fault of all')
    bad.misses = good.misses = 0
    assert peer.call(Trigger, 'recover').success
    peer.wait_for(lambda: phase[-1].data not in ('fault', 'waiting_for_robot'), 'the end of it')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: phase[-1].data == 'paused', 'paused')
    assert process.stop() == 0 and 'Traceback' not in process.output


def test_robots_stop_when_told_to_while_a_plan_is_made(
        explorer: Callable, peer: Peer, two: tuple[FaultyRobot, FaultyRobot],
        monkeypatch: pytest.MonkeyPatch) -> None:
    """They are served meanwhile, and obey; the plan takes a minute."""
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(
        (str(Path(__file__).parent), os.environ['PYTHONPATH'])))
    process = explorer(robots=['r1', 'r2'], radius=4.0, base=ENDLESSLY)
    reports = Reports(peer)
    peer.wait_for(lambda: min(len(robot.executed) for robot in two) > 50, 'steps meanwhile')
    for robot in ('r1', 'r2'):    # which are told of, too
        told = peer.wait_for(lambda name=robot: reports.steps(name), f'steps of {robot}')
        peer.wait_for(lambda name=robot, before=told: reports.steps(name) > before, 'more')
    assert peer.call(SetBool, 'explore', SetBool.Request(data=False)).success
    peer.wait_for_rest(lambda: [len(robot.executed) for robot in two], 'no more steps', 0.5)
    assert process.stop() == 0 and 'Traceback' not in process.output


@pytest.mark.parametrize(('parameters', 'said'), [
    ({'robots': ['r1', 'r1']}, "parameter 'robots' is ['r1', 'r1'], expected a string array of"),
    ({'robots': [f'r{number}' for number in range(101)]}, 'such as r1 or deck/r2, at most 100'),
    ({'robots': ['r-1']}, "parameter 'robots' is ['r-1'], expected a string array of distinct"),
    ({'robots': ['r1'], 'advisory': True}, "parameter 'robots' is set with 'advisory' True"),
    *(pytest.param({'robots': [name]}, f"parameter 'robots' is ['{name}'], expected a string",
                   marks=thorough('nodes/test_several_robots.py::test_robots_that_cannot_be'))
      for name in ('r_', '/r1'))])
def test_robots_that_cannot_be(explorer: Callable, parameters: dict, said: str) -> None:
    process = explorer(**parameters)
    assert process.wait() == 1 and said in process.output


def test_descriptions_are_those_of_each_robot(
        explorer: Callable, peer: Peer, two: tuple[FaultyRobot, FaultyRobot]) -> None:
    """A robot with other actions is not driven; the others are."""
    from mnm_ros import messages
    good, bad = two
    bad.pause = 0.5    # s, so that what it describes is heard before its first RESET has ended
    publisher = bad.peer.node.create_publisher(String, 'robot_side', messages.LATCHED)
    publisher.publish(String(data=RobotDescription(('up', 'down')).to_text()))
    reports = Reports(peer)
    process = explorer(robots=['r1', 'r2'], radius=4.0)
    peer.wait_for(lambda: len(good.executed) > 20, 'steps')
    peer.wait_for(lambda: 'r2' in reports.of and 'up' in reports.of['r2'].message, 'the reason')
    assert not [action for _, action in bad.received if action != -1]
    assert process.stop() == 0


@thorough(shown_by=(
    'console/test_arguments.py::test_a_fleet_has_simulators_of_its_own '
    'console/test_view.py::test_it_shows_where_several_robots_are '
    'console/test_live_run.py::test_the_real_nodes '
    'nodes/test_telemetry.py::test_anything_may_come '
    'nodes/test_several_robots.py::test_a_fleet_goes_on_where_it_was'))
def test_the_command_shows_each_robot_and_judges_what_came_of_it(
        scenario: str, tmp_path: Path, command: Callable[..., Done]) -> None:
    done = command(
        'explore', scenario, '--robots', 'r1 deck/r2',
        # Slow enough for both to be found before all is explored.
        '-p', 'latency:=0.01', '--once', '--timeout', str(DEADLINE),
        '-p', f'explorer:record:={tmp_path / "record"}')
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'The hypothesis is right.' in done.stdout and 'simulated world setting 0' in done.stdout
    steps = [int(figure.replace(',', '')) for figure in re.findall(
        r'(?:robots *| {16})(?:r1|deck/r2): ([0-9,]+) steps, in [^,]+, exploring', done.stdout)]
    assert len(steps) == 2 and all(steps), done.stdout
    assert re.search(r'robot deck/r2: exploring', done.stdout)
    assert sum(steps) <= json.loads((tmp_path / 'record').read_text())['steps'] + 2
