# SPDX-License-Identifier: Apache-2.0

"""The command `mnm_ros` with real nodes: what it says, asks for and starts."""

from __future__ import annotations

from collections.abc import Callable
import json
import os
from pathlib import Path
import re
import shlex
import subprocess
import sys
import time
from types import ModuleType

import exploration_steps
import false_alarms
from mnm_ros import messages
from mnm_ros.checkpoint.__main__ import main as checkpoint
from mnm_ros.contract.__main__ import main as contract
from mnm_ros.parameters import NODES
from node_processes import DEADLINE, Done, NodeProcess, Peer, slow_down
import promise
import pytest
from std_msgs.msg import Int64, Int64MultiArray, String
from tiers import strength

ROOT = Path(__file__).resolve().parents[2]
BASE = 'mnm_ros.core.components:_disco'

Command = Callable[..., Done]
Commands = Callable[..., list[Done]]
Begin = Callable[..., NodeProcess]


def elsewhere() -> dict[str, str]:
    """Return an environment that does not know where the package is."""
    return {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}


@pytest.mark.parametrize('node', NODES)
def test_help_prints_the_parameters_and_starts_no_node(start: Callable, node: str) -> None:
    process = start(node, given=['--help'])
    assert process.wait() == 0 and process.output.startswith('usage: ')
    shown = re.findall(r'^  (\w+): ', process.output, re.MULTILINE)
    assert shown == [row.name for row in NODES[node]]
    example = re.search(rf'^  mnm_ros run {node} (.*)$', process.output, re.MULTILINE)
    assert example and shlex.split(example[1])[:2] == ['--ros-args', '-p']
    assert f'ros2 run mnm_ros {node} {example[1]}' in process.output


def test_help_through_the_command_is_the_same(command: Command) -> None:
    done = command('run', 'grid_driver', '--help')
    assert done.returncode == 0 and done.stdout.startswith('usage: grid_driver ')


def test_an_explorer_is_run_told_and_watched(
        start: Callable, begin_command: Begin, commands: Commands, command: Command, peer: Peer,
        tmp_path: Path) -> None:
    # Slow enough for the first hypothesis to be built before the eyes of both.
    start('cmp_sim', '/robot_1', scenario='corridor', latency=0.02)
    here = ('--namespace', 'robot_1')
    look = ('watch', *here, '--timeout', str(DEADLINE))
    watch, objects = begin_command(*look), begin_command(*look, '--json')
    wait_for_line(watch, 'true setting 0')
    wait_for_line(objects, '"true_setting":0')
    explorer = begin_command(
        'run', 'explorer', *here, '--ros-args', '-p', 'actions:=[east, west]',
        '-p', f'checkpoint_dir:={tmp_path / "kept"}', '-p', f'stop_dir:={tmp_path}')
    wait_for_line(watch, r'known 4: 0 1 2 3')
    slow_down(peer, '/robot_1/cmp_sim')
    assert command('pause', *here).returncode == 0
    wait_for_line(watch, r'phase paused')
    policies, way, table, events = commands(*((*words, *here) for words in (
        ('policies', '--json'), ('policies', '--to', '3'), ('export', '--format', 'csv'),
        ('events',))))
    learnt_is_printed(policies, way, table)
    happened_is_printed(events)
    saved, refused = commands(('save', *here), ('recover', *here))
    assert saved.returncode == 0 and 'sqlite' in saved.stdout, saved
    assert refused.returncode == 1 and refused.stderr.startswith('refused: there is no fault')
    resumed = command('resume', *here)
    assert (resumed.returncode, resumed.stdout) == (0, 'exploring\n'), resumed.stderr
    assert command('stop', *here).returncode == command('go', *here).returncode == 0
    assert [process.stop() for process in (watch, objects, explorer)] == [0, 0, 0]
    said = [json.loads(line) for line in objects.output.splitlines()]
    lines = watch.output.splitlines()
    kinds = ('(waiting for the robot$|(phase|round|known|beyond the radius|status:|true setting|'
             'no answer for) )')
    assert all(re.match(rf'\d\d:\d\d:\d\d {kinds}', line) for line in lines), lines
    assert all(one[9:] != other[9:] for one, other in zip(lines, lines[1:])), lines
    building = [row for row in said if not row['known'] and row['progress'] is not None]
    assert building and building[-1]['progress']['aim'] == 'first hypothesis', said[:3]
    assert {row['current'] for row in building} <= {0, 1, 2, 3, 4} and building[-1]['limit'] == 8.0
    learnt = next(row for row in reversed(said) if row['phase'].startswith('checking'))
    assert learnt['known'] == [0, 1, 2, 3] and learnt['expected_steps']['3'] > 3
    assert any(row['phase'] == 'paused' for row in said)


def learnt_is_printed(policies: Done, way: Done, table: Done) -> None:
    listed = json.loads(policies.stdout)
    assert (listed['source'], listed['actions']) == ('/robot_1/explorer', ['east', 'west'])
    by_target = {policy['to']: policy for policy in listed['policies']}
    assert [leg['next'] for leg in by_target[3]['route']] == [1, 2, 3]
    assert 3 < by_target[3]['expected_steps'] < 8 == listed['limit']
    assert way.returncode == 0 and way.stdout.count('east') == 3, way
    assert table.stdout.startswith('state,action,action_name,next,count,probability\n'), table
    assert re.search(r'^0,0,east,1,\d+,', table.stdout, re.MULTILINE)


def happened_is_printed(events: Done) -> None:
    lines = events.stdout.splitlines()
    assert all(re.match(r'\S+ \d\d:\d\d:\d\d  ', line) for line in lines), lines
    texts = [line.split('  ', 1)[1] for line in lines]
    assert 'home is state 0, building the first hypothesis' in texts
    assert texts[-2].startswith('told to pause at state ')
    assert texts[-1] == 'paused by mnm_ros pause'


def wait_for_line(process: NodeProcess, pattern: str) -> None:
    end = time.monotonic() + DEADLINE
    while not re.search(pattern, process.output):
        assert time.monotonic() < end, process.output
        time.sleep(0.05)


def test_goals(start: Callable, command: Command, commands: Commands, peer: Peer) -> None:
    start('cmp_sim', scenario='corridor', latency=0.004)    # to leave time to the commands
    start('explorer', actions=['east', 'west'])
    start('navigator')
    known = peer.listen(Int64MultiArray, 'known_states')
    peer.wait_for(
        lambda: known and 3 in messages.decode_known_states(known[-1])[1], 'state 3')
    slow_down(peer)    # enough is known
    there = command('goal', '3')
    assert there.returncode == 0 and re.fullmatch(r'reached 3 in \d+ steps\n', there.stdout), there
    unknown, nowhere = commands(('goal', '-7'), ('goal', 'kitchen'))
    assert (unknown.returncode, unknown.stderr) == (1, 'refused -7: unknown state\n')
    assert nowhere.returncode == 1 and "no state is called 'kitchen'" in nowhere.stderr
    assert command('stop').returncode == 0
    held, home = commands(('goal', '3'), ('home',))
    assert (held.returncode, held.stderr) == (1, home.stderr.replace('refused:', 'refused 3:'))
    assert 'the robot is stopped' in home.stderr and command('go').returncode == 0
    # The refusal is still latched.
    free = command('goal', '3')
    assert free.returncode == 0 and free.stdout.startswith('reached 3'), free


def test_a_policy_is_made_nearly_the_best(
        start: Callable, command: Command, commands: Commands, peer: Peer) -> None:
    share = strength(0.5, 0.1)    # 250 steps instead of 4,000
    within = f'within {share:.0%} of the best'
    start('cmp_sim', scenario='corridor', latency=strength(0.004, 0.0))
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
    assert asked.stdout.startswith('told to improve policies, by mnm_ros improve'), asked
    unknown, nowhere = commands(('improve', '99'), ('improve', 'kitchen'))
    assert unknown.returncode == 1 and 'refused, state 99 has no policy' in unknown.stderr, unknown
    assert nowhere.returncode == 1 and "no state is called 'kitchen'" in nowhere.stderr
    slow_down(peer, pause=strength(0.004, 0.0))
    peer.wait_for(lambda: any(f'policy to state 1 is {within}' in message.data
                              for message in heard), 'the end of the improvement')
    peer.wait_for(lambda: json.loads(trust[-1].data)['states']['1']['why'].endswith(within),
                  'what is told of it')
    slow_down(peer)
    assert peer.set_parameter('explorer', 'improve_within', 0.1).successful
    assert command('improve', '3', '2').stdout.endswith(': state 3; state 2\n')
    peer.wait_for(lambda: any('improving the policy to state' in message.data
                              for message in doing), 'what it is doing')
    assert command('improve').stdout.endswith(': none any more\n')


def test_a_navigator_that_has_heard_no_policies_yet_is_asked_again(
        begin_command: Begin, peer: Peer) -> None:
    results = peer.node.create_publisher(String, 'goal_result', messages.STEP)
    told = ['reached 2 in 1 steps', 'refused 2: no policies heard yet']
    peer.node.create_subscription(
        Int64, 'goal', lambda _: results.publish(String(data=told.pop())), messages.STEP)
    goal = begin_command('goal', '2')
    peer.wait_for(lambda: not goal.running, 'its end')
    assert (goal.wait(), goal.output) == (0, 'reached 2 in 1 steps\n')


def test_ctrl_c_gives_a_goal_up(start: Callable, begin_command: Begin, peer: Peer) -> None:
    start('cmp_sim', scenario='corridor', latency=0.0)
    start('explorer', actions=['east', 'west'])
    start('navigator', direct=False)    # the robot may be there already
    known = peer.listen(Int64MultiArray, 'known_states')
    peer.wait_for(
        lambda: known and 3 in messages.decode_known_states(known[-1])[1], 'state 3')
    assert peer.set_parameter('cmp_sim', 'latency', 2.0).successful
    results = peer.listen(String, 'goal_result')
    phases = peer.listen(String, 'phase')
    goal = begin_command('goal', '3')
    peer.wait_for(lambda: phases[-1].data == 'paused', 'the pause for the goal')
    assert goal.stop() == 130
    assert goal.errors.startswith('cancelled 3: service cancel called'), goal.errors
    peer.wait_for(lambda: results[-1].data.startswith('cancelled 3'), 'the result')


@pytest.mark.parametrize('words, missing', [
    (['pause'], 'no node offers /robot_9/explore (what does: explorer)'),
    (['stop'], 'no node offers /robot_9/stop (what does: '),
    (['goal', '3'], 'no node subscribes /robot_9/goal (what does: navigator)'),
    (['watch'], 'no node publishes /robot_9/phase (what does: explorer)'),
    (['events'], 'no node publishes /robot_9/phase (what does: explorer)'),
    (['policies'], 'no node publishes /robot_9/phase (what does: explorer)'),
])
def test_what_no_node_offers_is_named(
        command: Command, words: list[str], missing: str) -> None:
    done = command(*words, '--namespace', '/robot_9', '--timeout', '0.3')
    assert done.returncode == 1 and done.stdout == ''
    assert done.stderr.startswith(f'mnm_ros {words[0]}: {missing}')
    assert done.stderr.endswith(f' after 0.3 s, in ROS domain {os.environ["ROS_DOMAIN_ID"]}\n')


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
    monkeypatch.setattr('mnm_ros.contract.robot._FIND', 1.0)
    assert contract(['--actions', '2', '--namespace', 'robot_9']) == 1
    assert capsys.readouterr() == ('', (
        'no node subscribes /robot_9/action (reliable, volatile) in ROS domain '
        f'{os.environ["ROS_DOMAIN_ID"]}: start the robot side first\n'))


def test_explore_with_ones_own_robot(start: Callable, command: Command) -> None:
    start('cmp_sim', '/robot_1', scenario='corridor')
    done = command('explore', '--robot', '--namespace', 'robot_1', '--once', '--timeout',
                   str(DEADLINE), '--radius', '3', '-p', 'actions:=[east, west]')
    assert done.returncode == 0, done.stdout
    assert re.search(r'^known +\d: 0 1 2', done.stdout, re.MULTILINE)
    assert 'The hypothesis is right' not in done.stdout and 'nobody here knows' in done.stdout
    assert f'ROS_DOMAIN_ID={os.environ["ROS_DOMAIN_ID"]}' in done.stdout


def test_explore_with_ones_own_robot_says_why_it_did_not_start(command: Command) -> None:
    done = command('explore', '--robot', '-p', 'actions:=[east, east]')
    assert done.returncode == 1 and "parameter 'actions' is ['east', 'east']" in done.stdout


def test_a_trial_and_its_report(start: Callable, begin_command: Begin, command: Command,
                                peer: Peer, tmp_path: Path) -> None:
    start('cmp_sim', scenario='corridor')
    given = tmp_path / 'given.yaml'
    given.write_text('/**/explorer: {ros__parameters: {actions: [east, west], radius: 2.0}}')
    trial = begin_command('trial', '--params-file', str(given), '--trial-dir',
                          str(tmp_path / 'trial'))
    known = peer.listen(Int64MultiArray, 'known_states')
    peer.wait_for(lambda: known and len(known[-1].data) > 3, 'a hypothesis')
    assert trial.stop() == 0
    assert trial.output.startswith(f'the trial is kept in {tmp_path / "trial"}\n')
    done = command('report', str(tmp_path / 'trial'))
    assert done.returncode == 0, done.stderr
    report = Path(done.stdout.strip()).read_text()
    assert '<h2>Seen, but lost, beyond the radius or not learnt yet</h2>' in report
    file, *_ = (tmp_path / 'trial').glob('explorer.0*.sqlite')
    held = command('checkpoint', str(file))
    assert held.returncode == 0 and re.search(r'^inputs: \d+', held.stdout, re.MULTILINE)


def test_the_documented_frozen_lake_learns_its_goal(peer: Peer, tmp_path: Path) -> None:
    pytest.importorskip('gymnasium', reason='gymnasium is not installed')
    page = (ROOT / 'docs' / 'robot_sides.md').read_text(encoding='utf-8')
    shown = re.findall(r'^\$ ros2 run mnm_ros (gym_side|explorer) (.*)$', page, re.MULTILINE)
    shown = shown[:2]    # the others need recipes, see test_gym_recipes
    assert [node for node, _ in shown] == ['gym_side', 'explorer']
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
    assert done.returncode == 0 and 'A lift' in done.stdout, done.stderr


@pytest.mark.parametrize('program, words, said', [
    (promise, ['--trials', '1', '--families', 'corridor', '--radius', '2', '--budget', '100'],
     f'base {BASE}'),
    (false_alarms, ['--runs', '1', '--steps', '100', '--scenarios', 'corridor'], f'base {BASE}')])
def test_programs_take_a_base_of_another_module(
        program: ModuleType, words: list[str], said: str,
        capsys: pytest.CaptureFixture) -> None:
    program.main(['--base', BASE, *words])
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
