# SPDX-License-Identifier: Apache-2.0

"""The command `mnm_ros` with real nodes: what it says, asks for and starts."""

from __future__ import annotations

from collections.abc import Callable
import json
import os
from pathlib import Path
import re
import shlex
import signal
import subprocess
import sys
import time

from mnm_ros import messages
from mnm_ros.contract.__main__ import main as contract
from mnm_ros.parameters import NODES
from node_processes import DEADLINE, NodeProcess, Peer
import pytest
from std_msgs.msg import Int64, Int64MultiArray, String

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, '-m', 'mnm_ros']


def command(*words: str, deadline: float = DEADLINE) -> subprocess.CompletedProcess:
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=deadline)


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


def test_help_through_the_command_is_the_same() -> None:
    assert command('run', 'grid_driver', '--help').stdout.startswith('usage: grid_driver ')


def test_an_explorer_is_run_told_and_watched(start: Callable, tmp_path: Path) -> None:
    # Slow enough for the first hypothesis to be built before the eyes of both.
    start('cmp_sim', '/robot_1', scenario='corridor', latency=0.004)
    here = ('--namespace', 'robot_1')
    watched = (tmp_path / 'watched.txt').open('w+')
    look = [*COMMAND, 'watch', *here, '--timeout', str(DEADLINE)]
    watch = subprocess.Popen(look, stdout=watched, stderr=subprocess.STDOUT)
    # A pipe that nobody reads would be full after some seconds, and hold up who writes to it.
    printed = (tmp_path / 'printed.txt').open('w')
    objects = subprocess.Popen([*look, '--json'], stdout=printed)
    processes = [watch, objects]
    try:
        wait_for_line(tmp_path / 'watched.txt', 'true setting 0')
        wait_for_line(tmp_path / 'printed.txt', '"true_setting":0')
        explorer = subprocess.Popen([
            *COMMAND, 'run', 'explorer', *here, '--ros-args', '-p', 'actions:=[east, west]',
            '-p', f'checkpoint_dir:={tmp_path / "kept"}'], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        processes.append(explorer)
        wait_for_line(tmp_path / 'watched.txt', r'known 4: 0 1 2 3')
        what_was_learnt_is_printed(*here)
        assert command('pause', *here).returncode == 0
        wait_for_line(tmp_path / 'watched.txt', r'phase paused')
        what_has_happened_is_printed(*here)
        saved = command('save', *here)
        assert saved.returncode == 0 and 'sqlite' in saved.stdout, saved
        resumed = command('resume', *here)
        assert (resumed.returncode, resumed.stdout) == (0, 'exploring\n'), resumed.stderr
        refused = command('recover', *here)
        assert refused.returncode == 1 and refused.stderr.startswith('refused: there is no fault')
        assert command('stop', *here).returncode == command('go', *here).returncode == 0
        watch.send_signal(signal.SIGINT)
        assert watch.wait(DEADLINE) == 0
        objects.send_signal(signal.SIGINT)
        assert objects.wait(DEADLINE) == 0
        said = [json.loads(line) for line in (tmp_path / 'printed.txt').read_text().splitlines()]
        explorer.send_signal(signal.SIGINT)
        assert explorer.wait(DEADLINE) == 0
    finally:
        for process in processes:
            process.kill()
            process.wait()
        watched.close()
        printed.close()
    lines = (tmp_path / 'watched.txt').read_text().splitlines()
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


def what_was_learnt_is_printed(*here: str) -> None:
    listed = json.loads(command('policies', '--json', *here).stdout)
    assert (listed['source'], listed['actions']) == ('/robot_1/explorer', ['east', 'west'])
    by_target = {policy['to']: policy for policy in listed['policies']}
    assert [leg['next'] for leg in by_target[3]['route']] == [1, 2, 3]
    assert 3 < by_target[3]['expected_steps'] < 8 == listed['limit']
    way = command('policies', '--to', '3', *here)
    assert way.returncode == 0 and way.stdout.count('east') == 3, way
    table = command('export', '--format', 'csv', *here)
    assert table.stdout.startswith('state,action,action_name,next,count,probability\n'), table
    assert re.search(r'^0,0,east,1,\d+,', table.stdout, re.MULTILINE)


def what_has_happened_is_printed(*here: str) -> None:
    told = command('events', *here).stdout.splitlines()
    assert all(re.match(r'\S+ \d\d:\d\d:\d\d  ', line) for line in told), told
    texts = [line.split('  ', 1)[1] for line in told]
    assert 'home is state 0, building the first hypothesis' in texts
    assert texts[-2].startswith('told to pause at state ')
    assert texts[-1] == 'paused by mnm_ros pause'


def wait_for_line(path: Path, pattern: str) -> None:
    end = time.monotonic() + DEADLINE
    while not re.search(pattern, path.read_text()):
        assert time.monotonic() < end, path.read_text()
        time.sleep(0.05)


def test_goals(start: Callable, peer: Peer) -> None:
    start('cmp_sim', scenario='corridor', latency=0.004)    # to leave time to the commands
    start('explorer', actions=['east', 'west'])
    start('navigator')
    known = peer.listen(Int64MultiArray, 'known_states')
    peer.wait_for(
        lambda: known and 3 in messages.decode_known_states(known[-1])[1], 'state 3')
    there = command('goal', '3')
    assert there.returncode == 0 and re.fullmatch(r'reached 3 in \d+ steps\n', there.stdout), there
    # The result of the goal before is still latched.
    again = command('goal', '3')
    assert again.returncode == 0 and again.stdout.startswith('reached 3'), again
    unknown = command('goal', '-7')
    assert (unknown.returncode, unknown.stderr) == (1, 'refused -7: unknown state\n')
    assert command('stop').returncode == 0
    held, home = command('goal', '3'), command('home')
    assert (held.returncode, held.stderr) == (1, home.stderr.replace('refused:', 'refused 3:'))
    assert 'the robot is stopped' in home.stderr and command('go').returncode == 0
    free = command('goal', '3')
    assert free.returncode == 0 and free.stdout.startswith('reached 3'), free
    nowhere = command('goal', 'kitchen')
    assert nowhere.returncode == 1 and "no state is called 'kitchen'" in nowhere.stderr


def test_a_policy_is_made_nearly_the_best(start: Callable, peer: Peer) -> None:
    start('cmp_sim', scenario='corridor')
    heard = peer.listen(String, 'events', messages.EVENTS)
    trust = peer.listen(String, 'trust', messages.LATCHED)
    doing = peer.listen(String, 'activity')
    start('explorer', actions=['east', 'west'])
    known = peer.listen(Int64MultiArray, 'known_states')
    peer.wait_for(
        lambda: known and 3 in messages.decode_known_states(known[-1])[1], 'state 3')
    asked = command('improve', '1')
    assert asked.returncode == 0 and asked.stdout.endswith(': state 1\n'), asked
    assert asked.stdout.startswith('told to improve policies, by mnm_ros improve'), asked
    unknown = command('improve', '99')
    assert unknown.returncode == 1 and 'refused, state 99 has no policy' in unknown.stderr, unknown
    nowhere = command('improve', 'kitchen')
    assert nowhere.returncode == 1 and "no state is called 'kitchen'" in nowhere.stderr
    peer.wait_for(lambda: any('policy to state 1 is within 10% of the best' in message.data
                              for message in heard), 'the end of the improvement')
    peer.wait_for(lambda: json.loads(trust[-1].data)['states']['1']['why'].endswith(
        'within 10% of the best'), 'what is told of it')
    assert command('improve', '3', '2').stdout.endswith(': state 3; state 2\n')
    peer.wait_for(lambda: any('improving the policy to state' in message.data
                              for message in doing), 'what it is doing')
    assert command('improve').stdout.endswith(': none any more\n')


def test_a_navigator_that_has_heard_no_policies_yet_is_asked_again(peer: Peer) -> None:
    results = peer.node.create_publisher(String, 'goal_result', messages.STEP)
    told = ['reached 2 in 1 steps', 'refused 2: no policies heard yet']
    peer.node.create_subscription(
        Int64, 'goal', lambda _: results.publish(String(data=told.pop())), messages.STEP)
    with subprocess.Popen([*COMMAND, 'goal', '2'], stdout=subprocess.PIPE, text=True) as goal:
        peer.wait_for(lambda: goal.poll() is not None, 'its end')
        assert (goal.returncode, goal.stdout.read()) == (0, 'reached 2 in 1 steps\n')


def test_ctrl_c_gives_a_goal_up(start: Callable, peer: Peer) -> None:
    start('cmp_sim', scenario='corridor', latency=0.0)
    start('explorer', actions=['east', 'west'])
    start('navigator', direct=False)    # the robot may be there already
    known = peer.listen(Int64MultiArray, 'known_states')
    peer.wait_for(
        lambda: known and 3 in messages.decode_known_states(known[-1])[1], 'state 3')
    assert peer.set_parameter('cmp_sim', 'latency', 2.0).successful
    results = peer.listen(String, 'goal_result')
    goal = subprocess.Popen([*COMMAND, 'goal', '3'], stderr=subprocess.PIPE, text=True)
    try:
        phases = peer.listen(String, 'phase')
        peer.wait_for(lambda: phases and phases[-1].data == 'paused', 'the pause for the goal')
        goal.send_signal(signal.SIGINT)
        _, said = goal.communicate(timeout=DEADLINE)
    finally:
        goal.kill()
        goal.wait()
    assert goal.returncode == 130 and said.startswith('cancelled 3: service cancel called'), said
    peer.wait_for(lambda: results and results[-1].data.startswith('cancelled 3'), 'the result')


@pytest.mark.parametrize('words, missing', [
    (['pause'], 'no node offers /robot_9/explore (what does: explorer)'),
    (['stop'], 'no node offers /robot_9/stop (what does: '),
    (['goal', '3'], 'no node subscribes /robot_9/goal (what does: navigator)'),
    (['watch'], 'no node publishes /robot_9/phase (what does: explorer)'),
    (['events'], 'no node publishes /robot_9/phase (what does: explorer)'),
    (['policies'], 'no node publishes /robot_9/phase (what does: explorer)'),
])
def test_what_no_node_offers_is_named(words: list[str], missing: str) -> None:
    done = command(*words, '--namespace', '/robot_9', '--timeout', '1')
    assert done.returncode == 1 and done.stdout == ''
    assert done.stderr.startswith(f'mnm_ros {words[0]}: {missing}')
    assert done.stderr.endswith(f' after 1 s, in ROS domain {os.environ["ROS_DOMAIN_ID"]}\n')


@pytest.mark.parametrize('name, words, complaint', [
    ('pause', ['--param', 'nonsense'], 'failed to initialize rcl: '),
    ('watch', ['--param', 'nonsense'], 'failed to initialize rcl: '),
    ('pause', ['--nonsense'], "ROS does not know the arguments ['--nonsense']\n"),
    ('explore', ['--nonsense'], "ROS does not know the arguments ['--nonsense']\n")])
def test_ros_arguments_that_are_none_are_refused_in_a_sentence(
        name: str, words: list[str], complaint: str) -> None:
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


def test_explore_with_ones_own_robot(start: Callable) -> None:
    start('cmp_sim', '/robot_1', scenario='corridor')
    done = command('explore', '--robot', '--namespace', 'robot_1', '--once', '--timeout',
                   str(DEADLINE), '--radius', '3', '-p', 'actions:=[east, west]')
    assert done.returncode == 0, done.stdout
    assert re.search(r'^known +\d: 0 1 2', done.stdout, re.MULTILINE)
    assert 'The hypothesis is right' not in done.stdout and 'nobody here knows' in done.stdout
    assert f'ROS_DOMAIN_ID={os.environ["ROS_DOMAIN_ID"]}' in done.stdout


def test_explore_with_ones_own_robot_says_why_it_did_not_start() -> None:
    done = command('explore', '--robot', '-p', 'actions:=[east, east]')
    assert done.returncode == 1 and "parameter 'actions' is ['east', 'east']" in done.stdout


def test_a_trial_and_its_report(start: Callable, peer: Peer, tmp_path: Path) -> None:
    start('cmp_sim', scenario='corridor')
    given = tmp_path / 'given.yaml'
    given.write_text('/**/explorer: {ros__parameters: {actions: [east, west], radius: 2.0}}')
    trial = subprocess.Popen([*COMMAND, 'trial', '--params-file', str(given), '--trial-dir',
                              str(tmp_path / 'trial')], stdout=subprocess.PIPE, text=True)
    known = peer.listen(Int64MultiArray, 'known_states')
    try:
        peer.wait_for(lambda: known and len(known[-1].data) > 3, 'a hypothesis')
        trial.send_signal(signal.SIGINT)
        said, _ = trial.communicate(timeout=DEADLINE)
    finally:
        trial.kill()
        trial.wait()
    assert said.startswith(f'the trial is kept in {tmp_path / "trial"}\n')
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


@pytest.mark.parametrize('words, status, said', [
    (['-m', 'mnm_ros.checkpoint', '--help'], 0, 'usage: '),
    ([str(ROOT / 'benchmarks' / 'promise.py'), '--base', 'mnm_ros.core.components:_disco',
      '--trials', '1', '--families', 'corridor', '--radius', '2', '--budget', '100'], None,
     'base mnm_ros.core.components:_disco'),
    ([str(ROOT / 'benchmarks' / 'promise.py'), '--base', 'nowhere:at_all'], 2, 'nowhere:at_all'),
    ([str(ROOT / 'benchmarks' / 'false_alarms.py'), '--base', 'mnm_ros.core.components:_disco',
      '--runs', '1', '--steps', '100', '--scenarios', 'corridor'], None,
     'base mnm_ros.core.components:_disco'),
    ([str(ROOT / 'benchmarks' / 'exploration_steps.py'), '--base', 'nowhere:at_all'], 2,
     'nowhere:at_all'),
])
def test_programs_take_what_they_say(words: list[str], status: int | None, said: str) -> None:
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, timeout=DEADLINE)
    assert said in done.stdout + done.stderr, done
    assert status is None or done.returncode == status


@pytest.mark.parametrize('word, status', [('--help', 0), ('many', 2)])
def test_the_lifecycle_benchmark_helps(word: str, status: int) -> None:
    done = subprocess.run([str(ROOT / 'benchmarks' / 'lifecycle'), word], capture_output=True,
                          text=True, timeout=DEADLINE)
    assert done.returncode == status and 'TRANSITIONS' in done.stdout + done.stderr
