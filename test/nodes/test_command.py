# SPDX-License-Identifier: Apache-2.0

"""The command `mnm_ros` with real nodes: what it says, asks for and starts."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
import json
import os
from pathlib import Path
import re
import shlex
import subprocess
import sys
import time
from types import ModuleType

from diagnostic_msgs.msg import DiagnosticArray
import exploration_steps
import false_alarms
from mnm_ros import messages
from mnm_ros.checkpoint.__main__ import main as checkpoint
from mnm_ros.contract.__main__ import main as contract
from mnm_ros.core.progress.said import NoPoliciesHeard, NoPolicyYet
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.nodes.common import spin
from mnm_ros.parameters import NODES
from navigating import KNOWN, Operator, publish
from node_processes import DEADLINE, Done, NodeProcess, Peer, slow_down
import promise
import pytest
from std_msgs.msg import Int64MultiArray, String
from tiers import strength, thorough

ROOT = Path(__file__).resolve().parents[2]
BASE = 'mnm_ros.core.components:_disco'

Command = Callable[..., Done]
Commands = Callable[..., list[Done]]
Begin = Callable[..., NodeProcess]


def elsewhere() -> dict[str, str]:
    """Return an environment that does not know where the package is."""
    return {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}


@pytest.mark.parametrize('node', NODES)
def test_help_prints_the_parameters_and_starts_no_node(
        node: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(spin.rclpy, 'init', pytest.fail)
    assert import_module(f'mnm_ros.nodes.{node}').main(['--help']) == 0
    printed = capsys.readouterr().out
    assert printed.startswith('usage: ')
    assert re.findall(r'^  (\w+): ', printed, re.MULTILINE) == [row.name for row in NODES[node]]
    example = re.search(rf'^  mnm_ros run {node} (.*)$', printed, re.MULTILINE)
    assert example and shlex.split(example[1])[:2] == ['--ros-args', '-p']
    assert f'ros2 run mnm_ros {node} {example[1]}' in printed


def test_help_through_the_command_is_the_same(command: Command) -> None:
    done = command('run', 'grid_driver', '--help')
    assert done.returncode == 0 and done.stdout.startswith('usage: grid_driver ')


def test_an_explorer_is_run_told_and_watched(
        start: Callable, begin_command: Begin, commands: Commands, command: Command, peer: Peer,
        scenario: str, tmp_path: Path) -> None:
    # Slow enough for the first hypothesis to be built before the eyes of both.
    start('cmp_sim', '/robot_1', scenario=scenario, latency=0.02)
    here = ('--namespace', 'robot_1')
    look = ('watch', *here, '--timeout', str(DEADLINE))
    watch, objects = begin_command(*look), begin_command(*look, '--json')
    wait_for_line(watch, 'simulated world: setting 0')
    wait_for_line(objects, '"true_setting":0')
    explorer = begin_command(
        'run', 'explorer', *here, '--ros-args', '-p', 'actions:=[east, west]',
        '-p', f'checkpoint_dir:={tmp_path / "kept"}', '-p', f'stop_dir:={tmp_path}',
        '-p', 'improve_within:=0.5')
    wait_for_line(watch, r'known 3: 0 1 2')
    slow_down(peer, '/robot_1/cmp_sim')
    calls = [begin_command('pause', *here)]
    wait_for_line(watch, r'phase paused')
    answer(calls[0], peer)
    policies, way, table, events = commands(*((*words, *here) for words in (
        ('policies', '--json'), ('policies', '2'), ('export', '--format', 'csv'),
        ('events',))))
    learnt_is_printed(policies, way, table)
    happened_is_printed(events)
    heard = peer.listen(String, '/robot_1/events', messages.EVENTS)
    saved, refused, asked, nowhere = commands(
        ('save', *here), ('recover', *here), ('improve', '1', *here),
        ('improve', 'kitchen', *here))
    assert saved.returncode == 0 and 'sqlite' in saved.stdout, saved
    assert refused.returncode == 1 and refused.stderr.startswith('refused: there is no fault')
    assert asked.returncode == 0 and asked.stdout.endswith(': state 1\n'), asked
    assert asked.stdout.startswith('improvement of policies requested, by mnm_ros improve'), asked
    assert nowhere.returncode == 1 and "no state is called 'kitchen'" in nowhere.stderr
    resumed, unknown = commands(('resume', *here), ('improve', '99', *here))
    assert (resumed.returncode, resumed.stdout) == (0, 'exploring\n'), resumed.stderr
    assert unknown.returncode == 1 and (
        'refused, state 99: no policy leads there' in unknown.stderr), unknown
    assert [process.stop() for process in (watch, objects)] == [0, 0]
    slow_down(peer, '/robot_1/cmp_sim', 0.004)
    peer.wait_for(lambda: any('policy to state 1 is within 50% of the best' in message.data
                              for message in heard), 'the end of the improvement')
    calls.append(begin_command('stop', *here))
    assert answer(calls[1], peer) == 'stopped\n'
    calls.append(begin_command('go', *here))
    no_more = command('improve', *here)
    assert no_more.stdout.endswith(': no policy is improved any more\n'), no_more
    assert [call.wait() for call in calls] == [0, 0, 0] and explorer.stop() == 0
    said = [json.loads(line) for line in objects.output.splitlines()]
    lines = watch.output.splitlines()
    kinds = ('(waiting for the robot$|(phase|round|known|outside the radius|status:|'
             'simulated world:|no answer for) )')
    assert all(re.match(rf'\d\d:\d\d:\d\d {kinds}', line) for line in lines), lines
    assert all(one[9:] != other[9:] for one, other in zip(lines, lines[1:])), lines
    building = [row for row in said if not row['known'] and row['progress'] is not None]
    # The known states may come after the first progress of the checks: they are two topics.
    aims = [row['progress']['aim'] for row in building]
    assert aims and aims[0] == 'first hypothesis', said[:3]
    assert aims == sorted(aims, key='first hypothesis'.__ne__), aims
    assert {row['current'] for row in building} <= {0, 1, 2} and building[-1]['limit'] == 8.0
    learnt = next(row for row in reversed(said) if row['phase'].startswith('checking'))
    assert learnt['known'] == [0, 1, 2] and learnt['expected_steps']['2'] > 2
    assert any(row['phase'] == 'paused' for row in said)


def test_a_ctrl_c_waits_until_a_message_is_taken_in(start: Callable) -> None:
    """Else it may be lost in rclpy, or become another error, about once in a hundred times."""
    process = start('interrupted_listener')
    assert process.wait() == 0 and process.output == 'interrupted after hello\n', process.output


def learnt_is_printed(policies: Done, way: Done, table: Done) -> None:
    listed = json.loads(policies.stdout)
    assert (listed['source'], listed['actions']) == ('/robot_1/explorer', ['east', 'west'])
    by_target = {policy['to']: policy for policy in listed['policies']}
    assert [leg['next'] for leg in by_target[2]['route']] == [1, 2]
    assert 2 < by_target[2]['expected_steps'] < 8 == listed['limit']
    assert way.returncode == 0 and way.stdout.count('east') == 2, way
    assert table.stdout.startswith('state,action,action_name,next,count,probability\n'), table
    assert re.search(r'^0,0,east,1,\d+,', table.stdout, re.MULTILINE)


def happened_is_printed(events: Done) -> None:
    lines = events.stdout.splitlines()
    assert all(re.match(r'\S+ \d\d:\d\d:\d\d  ', line) for line in lines), lines
    texts = [line.split('  ', 1)[1] for line in lines]
    assert 'home is state 0, building the first hypothesis' in texts
    assert texts[-2].startswith('pause requested at state ')
    assert texts[-1] == 'paused by mnm_ros pause'


def answer(process: NodeProcess, peer: Peer) -> str:
    """Return what a command has printed, as soon as that is a line; its end takes longer."""
    return peer.wait_for(lambda: (said := process.output).endswith('\n') and said, 'a line')


def wait_for_line(process: NodeProcess, pattern: str) -> None:
    end = time.monotonic() + DEADLINE
    while not re.search(pattern, process.output):
        assert time.monotonic() < end, process.output
        time.sleep(0.05)


def test_goals(start: Callable, commands: Commands, begin_command: Begin, peer: Peer,
               scenario: str) -> None:
    start('cmp_sim', scenario=scenario)
    start('navigator', direct=False)    # the robot may be there already
    peer.listen(String, 'requests', messages.REQUESTS)    # as an explorer does, to be recorded
    publish(peer, KNOWN)
    Operator(peer).wait_for_navigator()
    there, unknown, nowhere = commands(('goal', '2'), ('goal', '-7'), ('goal', 'kitchen'))
    assert there.returncode == 0 and re.fullmatch(r'reached 2 in \d+ steps\n', there.stdout), there
    assert (unknown.returncode, unknown.stderr) == (1, 'refused -7: no policy leads there\n')
    assert nowhere.returncode == 1 and "no state is called 'kitchen'" in nowhere.stderr
    stop = begin_command('stop')
    assert answer(stop, peer) == 'stopped\n'
    held, home = commands(('goal', '2'), ('home',))
    assert (held.returncode, held.stderr) == (1, home.stderr.replace('refused:', 'refused 2:'))
    assert 'the robot is stopped' in home.stderr
    free = begin_command('go')
    answer(free, peer)
    slow_down(peer, pause=2.0)
    status = peer.listen(DiagnosticArray, 'goal/status')
    results = peer.listen(String, 'goal_result')
    goal = begin_command('goal', '2')
    # The refusal is still latched.
    peer.wait_for(lambda: status[-1].status[-1].message.startswith('on the way'), 'a step')
    assert goal.stop() == 130    # by Ctrl-C
    assert goal.errors.startswith('cancelled 2: the client has cancelled the goal'), goal.errors
    peer.wait_for(lambda: results[-1].data.startswith('cancelled 2'), 'the result')
    assert stop.wait() == free.wait() == 0


@thorough('nodes/test_command.py::test_an_explorer_is_run_told_and_watched '
          'core/test_improve.py::test_a_policy_becomes_nearly_the_best_and_that_is_right '
          'core/test_improve.py::test_what_cannot_be_improved_is_refused')
def test_a_policy_is_made_nearly_the_best(
        start: Callable, command: Command, commands: Commands, peer: Peer) -> None:
    share = 0.1    # 4,000 steps
    within = f'within {share:.0%} of the best'
    start('cmp_sim', scenario='corridor', latency=0.0)
    heard = peer.listen(String, 'events', messages.EVENTS)
    trust = peer.listen(String, 'trust', messages.LATCHED)
    doing = peer.listen(String, 'activity')
    start('explorer', actions=['east', 'west'], improve_within=share)
    known = peer.listen(Int64MultiArray, 'known_states')
    peer.wait_for(
        lambda: known and 3 in messages.decode_known_states(known[-1])[1], 'state 3')
    slow_down(peer)
    asked = command('improve', '1')
    assert asked.returncode == 0 and asked.stdout.endswith(': state 1\n'), asked
    assert asked.stdout.startswith('improvement of policies requested, by mnm_ros improve'), asked
    unknown, nowhere = commands(('improve', '99'), ('improve', 'kitchen'))
    assert unknown.returncode == 1 and (
        'refused, state 99: no policy leads there' in unknown.stderr), unknown
    assert nowhere.returncode == 1 and "no state is called 'kitchen'" in nowhere.stderr
    slow_down(peer, pause=0.0)
    peer.wait_for(lambda: any(f'policy to state 1 is {within}' in message.data
                              for message in heard), 'the end of the improvement')
    peer.wait_for(lambda: json.loads(trust[-1].data)['states']['1']['why'].endswith(within),
                  'what is told of it')
    slow_down(peer)
    assert peer.set_parameter('explorer', 'improve_within', 0.1).successful
    assert command('improve', '3', '2').stdout.endswith(': states 3, 2\n')
    peer.wait_for(lambda: any('improving the policy to state' in message.data
                              for message in doing), 'what it is doing')
    assert command('improve').stdout.endswith(': no policy is improved any more\n')


@pytest.mark.parametrize('refusal', [NoPoliciesHeard(), NoPolicyYet()])
def test_a_navigator_that_has_heard_no_policies_yet_is_asked_again(
        begin_command: Begin, peer: Peer, refusal: NoPolicyYet) -> None:
    statuses = peer.node.create_publisher(DiagnosticArray, 'goal/status', messages.LATCHED)
    peer.listen(String, 'requests', messages.REQUESTS)    # as an explorer does
    ends = [(GoalStatus.REACHED, 'in 1 steps', 0),
            (GoalStatus.REFUSED, 'in the words of this navigator', 0, refusal)]

    def answer_goal(message: Int64MultiArray) -> None:
        goal_id, target, _ = messages.decode_request(message)
        waiting = GoalReport(goal_id, target, GoalStatus.WAITING, '')
        statuses.publish(messages.encode_goals(
            peer.node.get_clock().now().to_msg(), [waiting.over(*ends.pop())]))
    peer.node.create_subscription(
        Int64MultiArray, 'goal/request', answer_goal, messages.STEP)
    goal = begin_command('goal', '2')
    peer.wait_for(lambda: not goal.running, 'its end')
    assert (goal.wait(), goal.output) == (0, 'reached 2 in 1 steps\n')


@pytest.mark.parametrize('words, missing', [
    (['pause'], 'no node offers /robot_9/explore (expected from the node explorer)'),
    (['goal', '3'], 'no node publishes /robot_9/goal/status (expected from the node navigator; '
                     'start it: mnm_ros run navigator) after'),
    (['watch'], 'no node publishes /robot_9/phase (expected from the node explorer)'),
    *(pytest.param([word], missing, marks=thorough(
        'nodes/test_command.py::test_what_no_node_offers_is_named')) for word, missing in (
            ('stop', 'no node offers /robot_9/stop (expected from the node '),
            ('events', 'no node publishes /robot_9/phase (expected from the node explorer)'),
            ('policies', 'no node publishes /robot_9/phase (expected from the node explorer)'))),
])
def test_what_no_node_offers_is_named(
        command: Command, words: list[str], missing: str) -> None:
    done = command(*words, '--namespace', '/robot_9', '--timeout', '0.3')
    assert done.returncode == 1 and done.stdout == ''
    assert done.stderr.startswith(f'mnm_ros {words[0]}: {missing}')
    assert done.stderr.endswith(
        f' after 0.3 s, in ROS domain {os.environ["ROS_DOMAIN_ID"]}; scripts/explore prints its '
        'ROS_DOMAIN_ID, set the same here\n')


@pytest.mark.parametrize('name, words, complaint', [
    ('pause', ['--param', 'nonsense'], 'failed to initialize rcl: '),
    ('watch', ['--param', 'nonsense'], 'failed to initialize rcl: '),
    ('pause', ['--nonsense'], "ROS does not know the arguments ['--nonsense']\n"),
    ('explore', ['--nonsense'], "ROS does not know the arguments ['--nonsense']\n")])
def test_ros_arguments_that_are_none_are_refused_in_a_sentence(
        command: Command, name: str, words: list[str], complaint: str) -> None:
    done = command(name, '--ros-args', *words)
    assert done.returncode == 1 and 'Traceback' not in done.stderr
    assert f'mnm_ros {name}: {complaint}' in done.stderr


def test_contract_without_a_robot_ends_in_a_sentence(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr('mnm_ros.contract.robot._FIND', 0.3)
    assert contract(['--actions', '2', '--namespace', 'robot_9']) == 1
    assert capsys.readouterr() == ('', (
        'no node subscribes /robot_9/action (reliable, volatile) in ROS domain '
        f'{os.environ["ROS_DOMAIN_ID"]}: start the robot side first\n'))


def test_explore_with_ones_own_robot(start: Callable, command: Command) -> None:
    start('cmp_sim', '/robot_1', scenario='corridor')
    done = command('explore', '--robot', '--namespace', 'robot_1', '--once', '--timeout',
                   str(DEADLINE), '--radius', *strength(('2', '--delta', '0.9'), ('3',)), '-p',
                   'actions:=[east, west]')
    assert done.returncode == 0, done.stdout
    assert re.search(r'^known +\d: 0 1 2', done.stdout, re.MULTILINE)
    assert 'The hypothesis is right' not in done.stdout and 'nobody here knows' in done.stdout
    assert f'ROS_DOMAIN_ID={os.environ["ROS_DOMAIN_ID"]}' in done.stdout


@thorough('console/test_live_run.py::test_a_page_outlives_the_explorer '
          'test_parameters.py::test_refused_at_start')
def test_explore_with_ones_own_robot_says_why_it_did_not_start(command: Command) -> None:
    done = command('explore', '--robot', '-p', 'actions:=[east, east]')
    assert done.returncode == 1 and "parameter 'actions' is ['east', 'east']" in done.stdout


@pytest.fixture
def shown() -> list[tuple[str, str]]:
    """Return two nodes and their arguments, as the page about Gymnasium shows them."""
    pytest.importorskip('gymnasium', reason='gymnasium is not installed')
    page = (ROOT / 'docs' / 'howto' / 'gymnasium_in_ros.md').read_text(encoding='utf-8')
    found = re.findall(r'^\$ ros2 run mnm_ros (gym_side|explorer) (.*)$', page, re.MULTILINE)
    assert [node for node, _ in found[:2]] == ['gym_side', 'explorer']
    return found[:2]    # the others need recipes, see test_gym_recipes


def test_the_documented_frozen_lake_is_explored(
        peer: Peer, tmp_path: Path, shown: list[tuple[str, str]]) -> None:
    """Its goal, which is six steps away, is within the radius."""
    doing = peer.listen(String, 'activity')
    radius = re.search(r'radius:=([\d.]+)', shown[1][1])
    assert r'is_slippery\": false' in shown[0][1] and radius and float(radius[1]) >= 6
    processes = [NodeProcess(node, tmp_path / f'{node}.txt', shlex.split(words))
                 for node, words in shown]
    peer.wait_for(lambda: json.loads(doing[-1].data)['step'] > 50, 'steps')
    assert 'exploring' in processes[1].output and all(each.running for each in processes)


@thorough('nodes/test_command.py::test_the_documented_frozen_lake_is_explored '
          'nodes/test_gym_side.py::test_every_step_is_possible_and_ends_are_left_by_reset_only '
          'nodes/test_gym_recipes.py::test_minigrid')
def test_the_documented_frozen_lake_learns_its_goal(
        peer: Peer, tmp_path: Path, shown: list[tuple[str, str]]) -> None:
    known = peer.listen(Int64MultiArray, 'known_states')
    for node, words in shown:
        NodeProcess(node, tmp_path / f'{node}.txt', shlex.split(words))
    peer.wait_for(lambda: known and 15 in messages.decode_known_states(known[-1])[1],
                  'the goal of FrozenLake')


@pytest.mark.parametrize('example', ['lift.py'])
def test_an_example_runs_from_a_clone(tmp_path: Path, example: str) -> None:
    """From anywhere, with the package neither installed nor in PYTHONPATH."""
    done = subprocess.run(
        [sys.executable, str(ROOT / 'examples' / example), '--help'], cwd=tmp_path,
        env=elsewhere(), capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 0 and 'Learn to write a robot side' in done.stdout, done


@pytest.mark.parametrize('program, words, said', [
    (promise, ['--trials', '1', '--families', 'corridor', '--radius', '2', '--budget', '100'],
     f'base {BASE}'),
    (false_alarms, ['--runs', '1', '--steps', '100', '--scenarios', 'corridor'], f'base {BASE}')])
def test_programs_take_a_base_of_another_module(
        program: ModuleType, words: list[str], said: str,
        capsys: pytest.CaptureFixture) -> None:
    program.main(['--base', BASE, '--jobs', '1', *words])
    assert said in capsys.readouterr().out


@pytest.mark.parametrize('program', [promise, exploration_steps])
def test_programs_refuse_a_base_that_is_nowhere(
        program: ModuleType, capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as ended:
        program.main(['--base', 'nowhere:at_all'])
    assert ended.value.code == 2 and 'nowhere:at_all' in capsys.readouterr().err


def test_the_help_of_checkpoint(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as ended:
        checkpoint(['--help'])
    assert not ended.value.code and capsys.readouterr().out.startswith('usage: ')


@pytest.mark.parametrize('word, status', [('--help', 0), ('many', 2)])
def test_the_lifecycle_benchmark_helps(word: str, status: int) -> None:
    done = subprocess.run([str(ROOT / 'benchmarks' / 'lifecycle'), word], capture_output=True,
                          text=True, timeout=DEADLINE)
    assert done.returncode == status and 'TRANSITIONS' in done.stdout + done.stderr
