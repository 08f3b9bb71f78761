# SPDX-License-Identifier: Apache-2.0

"""Knowledge outlives the node: it goes on from ``checkpoint_dir``."""

from __future__ import annotations

from collections.abc import Callable
import json
import os
from pathlib import Path
import random
import re
import resource
import shutil
import signal
import sqlite3
import threading
import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from kept_exploration import keeping
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from mnm_ros import messages
from mnm_ros.checkpoint import input_log
from mnm_ros.core.progress.events import Event
from mnm_ros.messages import PolicySet
from mnm_ros.nodes.exploring import exploration_store
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from node_processes import DEADLINE, Peer, read_counts, ScriptedRobot, slow_down, soon
import pytest
from std_msgs.msg import Header, Int64MultiArray, String
from std_srvs.srv import SetBool, Trigger
from tiers import strength, thorough

KILLS = int(os.environ.get('MNM_KILLS', strength(2, 5)))
"""How often the explorer is killed; the documentation tells of a run with 100."""

Counts = dict[str, dict[str, dict[str, int]]]


def total(counts: Counts) -> int:
    return sum(n for row in counts.values() for nexts in row.values() for n in nexts.values())


def within(part: Counts, whole: Counts) -> bool:
    """Whether nothing was counted that did not happen."""
    return all(n <= whole.get(state, {}).get(action, {}).get(following, 0)
               for state, row in part.items() for action, nexts in row.items()
               for following, n in nexts.items())


def test_save(start: Callable, explorer: Callable, peer: Peer, scenario: str,
              tmp_path: Path) -> None:
    start('cmp_sim', scenario=scenario)
    process = explorer()
    assert "'checkpoint_dir' is ''" in peer.call(Trigger, 'save').message
    assert process.stop() == 0
    explorer(checkpoint_dir=str(tmp_path / 'new'))
    file = saved(peer)
    assert file.is_file() and file.parent == tmp_path / 'new'


def saved(peer: Peer) -> Path:
    """Have everything saved, which a disk that is busy may refuse, and return the file."""
    def answer() -> str:
        response = peer.call(Trigger, 'save')
        assert response.success or 'the disk is too slow' in response.message, response
        return response.message if response.success else ''
    return Path(peer.wait_for(answer, 'that all is saved'))


def test_a_restarted_node_publishes_at_once_what_it_knew(
        start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    start('cmp_sim', scenario=scenario)
    process = explorer(checkpoint_dir=str(tmp_path / 'kept'))
    policies, trust = peer.listen(Int64MultiArray, 'policies'), peer.listen(String, 'trust')

    def since() -> dict[str, int]:
        """Return since which step policies are proven, by state but home."""
        states = json.loads(trust[-1].data)['states'] if trust else {}
        return {state: each['since_step'] for state, each in states.items()
                if each['trust'] == 'proven' and each['since_step']}
    peer.wait_for(lambda: policies and len(since()) > 1, 'a hypothesis, and that it is proven')
    assert process.stop() == 0
    before, proven = PolicySet.from_msg(policies[-1]), since()
    policies.clear()
    trust.clear()
    process = explorer(checkpoint_dir=str(tmp_path / 'kept'))
    peer.wait_for(lambda: policies, 'the hypothesis of before')
    assert PolicySet.from_msg(policies[0]).version >= before.version
    assert 'going on from' in process.output
    peer.wait_for(lambda: proven.keys() <= since().keys(), 'that the same is proven')
    assert {state: since()[state] for state in proven} == proven


def test_a_disk_that_takes_nothing_is_told_and_stops_nothing(
        start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    folder = tmp_path / 'kept'
    diagnostics = peer.listen(DiagnosticArray, '/diagnostics', 10)

    def told(text: str) -> bool:
        values = {pair.key: pair.value for message in diagnostics[-1:]
                  for pair in message.status[0].values}
        return text in values.get('checkpoint', '') and int(values['steps']) > 100

    start('cmp_sim', scenario=scenario)
    explorer(checkpoint_dir=str(folder))
    peer.wait_for(lambda: told('ok'), 'exploring')
    slow_down(peer)
    shutil.rmtree(folder)
    folder.write_text('in the way')
    peer.wait_for(lambda: told(str(folder)), 'the reason')
    assert not peer.call(Trigger, 'save').success


def test_a_fault_of_a_disk_that_is_full_at_the_start_ends_once_it_is_freed(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, tmp_path: Path) -> None:
    before = explorer(checkpoint_dir=str(tmp_path / 'kept'))
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    saved(peer)
    before.kill()
    phases, statuses = peer.listen(String, 'phase'), peer.listen(String, 'status')
    process = explorer(checkpoint_dir=str(tmp_path / 'kept'), autostart=False)
    with peer.client(ChangeState, 'explorer/change_state') as change:
        _, most = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1000, most))    # as if full
        for transition in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
            assert change(ChangeState.Request(transition=Transition(id=transition))).success
    peer.wait_for(lambda: phases[-1].data == 'fault', 'a fault')
    peer.wait_for(lambda: statuses and 'nothing was loaded' in statuses[-1].data, 'why')
    executed = len(robot.executed)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most, most))
    peer.wait_for(lambda: len(robot.executed) > executed + 30, 'that it goes on')
    peer.wait_for(lambda: phases[-1].data != 'fault', 'the end of the fault')
    saved(peer)
    assert 'refused' not in process.output and not [*(tmp_path / 'kept').glob('*.aside.*')]


def test_save_on_a_slow_disk_leaves_the_heartbeat_alone(
        start: Callable, peer: Peer, robot: ScriptedRobot, tmp_path: Path) -> None:
    """A robot that hears none any more gives up its action."""
    beats: list[float] = []
    peer.node.create_subscription(
        Header, 'heartbeat', lambda _: beats.append(time.monotonic()), messages.HEARTBEATS)
    start('slow_disk', actions=['east', 'west'], checkpoint_dir=str(tmp_path / 'kept'))
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    response = peer.call(Trigger, 'save')
    assert 'the disk is too slow' in response.message
    longest = max(after - before for before, after in zip(beats, [*beats[1:], time.monotonic()]))
    assert soon(longest, messages.HEARTBEAT.deadline.nanoseconds / 1e9)


def test_load(start: Callable, explorer: Callable, peer: Peer, scenario: str,
              tmp_path: Path) -> None:
    """Neither more nor less is known afterwards than what happened, and it goes on."""
    folder = tmp_path / 'kept'
    simulator = start('cmp_sim', scenario=scenario,
                      record=str(tmp_path / 'simulator'))
    process = explorer(checkpoint_dir=str(folder), record=str(tmp_path / 'explorer'))
    policies = peer.listen(Int64MultiArray, 'policies')
    phase, status = peer.listen(String, 'phase'), peer.listen(String, 'status')
    peer.wait_for(lambda: policies, 'a hypothesis')
    assert 'call explore with false first' in peer.call(Trigger, 'load').message
    explore(peer, False)
    peer.wait_for(lambda: phase[-1].data == 'paused', 'paused')
    response = peer.call(Trigger, 'load')
    assert response.success, response.message
    # A replay that takes long is answered before its end.
    told = re.match(r'step (\d+)|replaying', response.message)
    assert told, response.message
    peer.wait_for(lambda: status[-1].data == 'paused: loaded from the disk', 'the end of loading')
    steps = int(told[1] or 1)
    assert steps > 0 and phase[-1].data == 'paused'
    explore(peer, True)
    peer.wait_for(lambda: '/' in phase[-1].data, 'exploring again')
    explore(peer, False)
    peer.wait_for(lambda: phase[-1].data == 'paused', 'paused again')
    assert process.stop() == 0 and simulator.stop() == 0
    counted, played = read_counts(tmp_path / 'explorer'), read_counts(tmp_path / 'simulator')
    assert within(counted, played)
    # The first RESET of each way back to home starts from an unknown place.
    assert 0 <= total(played) - total(counted) <= 2 and total(counted) >= steps


@thorough(shown_by=(
    'nodes/test_exploration_store.py::test_load '
    'nodes/test_exploration_store.py::'
    'test_a_file_that_is_refused_is_told_until_somebody_accepts_it '
    'checkpoint/test_damaged_files.py::'
    'test_a_damaged_file_is_set_aside_and_the_older_generation_taken'))
def test_load_when_the_newest_file_is_damaged_and_when_all_are(
        start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    folder = tmp_path / 'kept'
    start('cmp_sim', scenario=scenario)
    process = explorer(checkpoint_dir=str(folder))
    phase = peer.listen(String, 'phase')
    policies = peer.listen(Int64MultiArray, 'policies')
    peer.wait_for(lambda: policies and len(generations(folder)) == 2, 'two generations')
    explore(peer, False)
    peer.wait_for(lambda: phase[-1].data == 'paused', 'paused')
    saved(peer)
    generations(folder)[-1].write_bytes(b'not a database' * 100)
    response = peer.call(Trigger, 'load')
    assert response.success, response.message
    assert [*folder.glob('*.aside.1')]
    saved(peer)    # a resume point, perhaps
    for file in generations(folder):
        file.write_bytes(b'')
    response = peer.call(Trigger, 'load')
    if response.success:    # it has followed another one so soon that its end was not awaited
        peer.wait_for(lambda: 'nothing loaded' in process.output, 'that nothing was loaded')
    else:
        assert 'nothing loaded' in response.message
    explore(peer, True)    # nothing is lost: it goes on from what it knows
    peer.wait_for(lambda: '/' in phase[-1].data, 'exploring again')
    peer.wait_for(lambda: peer.call(Trigger, 'save').success and generations(folder),
                  'a new generation')


@pytest.mark.parametrize('kept', ['kept', pytest.param('', marks=thorough(shown_by=(
    'nodes/test_exploration_store.py::test_a_pause_outlives_a_crash_until_explore_is_called')))])
def test_a_pause_outlives_a_crash_until_explore_is_called(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, tmp_path: Path, kept: str) -> None:
    given = {'checkpoint_dir': kept and str(tmp_path / kept)}
    process = explorer(**given)
    peer.wait_for(lambda: len(robot.executed) > 20, 'steps')
    explore(peer, False)
    process.kill()
    executed = len(robot.executed)
    status = peer.listen(String, 'status')
    for _ in range(2):    # the second one was not called at all
        status.clear()
        process = explorer(**given)
        peer.wait_for(lambda: status[-1].data == (
            'paused: service explore called before the restart'), 'the pause')
        assert 'paused, as before the restart: call explore with true' in process.output
        peer.spin(0.3)
        process.kill()
        assert len(robot.executed) == executed
    status.clear()
    process = explorer(**given)
    peer.wait_for(lambda: status, 'the explorer')
    explore(peer, True)
    peer.wait_for(lambda: len(robot.executed) > executed, 'steps')
    process.kill()
    executed = len(robot.executed)
    explorer(**given)
    peer.wait_for(lambda: len(robot.executed) > executed, 'that it goes on by itself')


def explore(peer: Peer, wanted: bool) -> None:
    assert peer.call(SetBool, 'explore', SetBool.Request(data=wanted)).success


def generations(folder: Path) -> list[Path]:
    return sorted(folder.glob('*.[0-9]*.sqlite'))


def test_a_lock_is_told_when_it_begins_and_when_it_ends(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_log, '_LONGEST_WAIT', 0.0)
    logged: list[str] = []
    keeper, simulator = keeping(tmp_path, logged), Simulator(load('corridor'), 1)

    def steps() -> None:
        for _ in range(100):
            action = keeper.exploration.next_action()
            keeper.exploration.observe(action, simulator.step(action))
        keeper.save()
        keeper.tell()

    steps()
    assert logged == []
    path = tmp_path / 'explorer.log.sqlite'
    other = sqlite3.connect(path)
    other.execute('BEGIN IMMEDIATE')
    for _ in range(2):
        steps()
        assert logged == [f'warning: not everything can be kept: {path}: database is locked']
        assert keeper.problem
    other.rollback()
    other.close()
    for _ in range(2):
        steps()
        assert logged[1:] == ['info: everything can be kept again'] and not keeper.problem
    keeper.close()
    logged.clear()
    for path in tmp_path.glob('*.sqlite'):
        path.unlink()
    keeper = keeping(tmp_path, logged)
    keeper.save()
    keeper.close()
    loss, = logged
    assert loss.startswith('error: checkpoint incomplete: ') and 'the inputs 1 to 500 were' in loss


def test_a_hypothesis_waits_until_it_is_kept_however_slow_the_disk_is(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, append, logged = threading.Event(), input_log.InputLog.append, []
    monkeypatch.setattr(input_log.InputLog, 'append', lambda log, inputs: (
        gate.wait(), append(log, inputs)))
    keeper = keeping(tmp_path, logged)
    keeper.exploration.observe(keeper.exploration.next_action(), 0)
    kept = keeper.kept_soon()
    for late in 0.0, 100.0:
        assert not kept(time.monotonic() + late)
    assert 'a hypothesis waits for the disk' in logged.pop() and not logged
    gate.set()
    end = time.monotonic() + DEADLINE
    while not kept(time.monotonic()):
        assert time.monotonic() < end
    keeper.close()


def test_resume_points_are_made_however_short_the_sessions(tmp_path: Path) -> None:
    simulator = Simulator(load('corridor'), 1)
    for _ in range(strength(3, 8)):
        keeper = keeping(tmp_path, [])
        if keeper.waiting:
            keeper.adopt(keeper.restore())
        for _ in range(1000):
            action = keeper.exploration.next_action()
            keeper.exploration.observe(action, simulator.step(action))
        keeper.close()
    assert len(generations(tmp_path)) == 2


def test_other_parameters_begin_anew_and_say_why(
        start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    start('cmp_sim', scenario=scenario)
    process = explorer(checkpoint_dir=str(tmp_path / 'kept'))
    saved(peer)
    assert process.stop() == 0
    process = explorer(checkpoint_dir=str(tmp_path / 'kept'), radius=3.0)
    saved(peer)
    aside = re.search(r'is for radius 4.0, expected 3.0; kept as (\S+)', process.output)
    assert aside and (tmp_path / 'kept' / aside[1]).is_file()
    peer.wait_for(lambda: 'building the first' in process.output, 'the first decision')
    assert process.stop() == 0 and process.output.count('building the first') == 1


def test_a_file_that_is_refused_is_told_until_somebody_accepts_it(
        start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    folder = tmp_path / 'kept'
    folder.mkdir()
    (folder / 'explorer.00000001.sqlite').write_bytes(b'not a database' * 100)
    events = peer.listen(String, 'events', messages.EVENTS)
    diagnostics = peer.listen(DiagnosticArray, '/diagnostics', 10)

    def said(level: bytes) -> str:
        status = diagnostics[-1].status[0] if diagnostics else None
        return status.message if status and status.level == level else ''

    start('cmp_sim', scenario=scenario)
    explorer(checkpoint_dir=str(folder))
    peer.wait_for(lambda: 'checkpoint refused: ' in said(DiagnosticStatus.WARN), 'a warning')
    kept_as = 'kept as explorer.00000001.sqlite.aside.1'
    assert kept_as in said(DiagnosticStatus.WARN)
    peer.wait_for(lambda: [event for event in events if kept_as in event.data], 'an event')
    told = [Event.from_json(event.data) for event in events if kept_as in event.data]
    assert [event.kind for event in told] == ['restart']
    saved(peer)
    peer.wait_for(lambda: said(DiagnosticStatus.OK), 'the end of the warning')


def test_what_is_missing_for_good_is_an_event_and_a_warning(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, tmp_path: Path) -> None:
    folder = tmp_path / 'kept'
    process = explorer(checkpoint_dir=str(folder))
    peer.wait_for(lambda: len(robot.executed) > 20, 'steps')
    assert process.stop() == 0
    file, = generations(folder)
    file.write_bytes(b'not a database' * 100)
    events = peer.listen(String, 'events', messages.EVENTS)
    diagnostics = peer.listen(DiagnosticArray, '/diagnostics', 10)
    explorer(checkpoint_dir=str(folder))
    lost = 'were kept, and are in no file that can be used'
    peer.wait_for(lambda: [event for event in events if lost in event.data], 'an event')
    event = next(Event.from_json(event.data) for event in events if lost in event.data)
    assert event.kind == 'restart' and event.text.startswith('checkpoint incomplete: ')
    peer.wait_for(lambda: diagnostics and lost in diagnostics[-1].status[0].message, 'a warning')
    assert diagnostics[-1].status[0].level != DiagnosticStatus.OK
    saved(peer)
    peer.wait_for(lambda: lost not in diagnostics[-1].status[0].message, 'the end of the warning')


def test_a_file_that_is_refused_is_told_until_the_next_resume_point(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploration_store, '_SHOWN', 0.0)
    (tmp_path / 'explorer.00000001.sqlite').write_bytes(b'not a database' * 100)
    keeper, simulator = keeping(tmp_path, []), Simulator(load('corridor'), 1)
    keeper.adopt(keeper.restore())
    steps = 0
    assert keeper.refusals
    while keeper.refusals:
        assert steps < 10**6
        action = keeper.exploration.next_action()
        keeper.exploration.observe(action, simulator.step(action))
        steps += 1
    assert len(generations(tmp_path)) == 2
    keeper.close()


@thorough(shown_by=(
    'nodes/test_durable_orders.py::test_a_hypothesis_that_was_heard_is_known_after_a_crash '
    'checkpoint/test_power_cut.py::test_no_moment_at_which_the_power_fails_costs_what_was_flushed_before'))
def test_an_explorer_that_is_killed_again_and_again_learns_nothing_wrong(
        start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    seed = int(os.environ.get('MNM_SEED', '0'))
    rng = random.Random(seed)
    simulator = start('cmp_sim', scenario=scenario,
                      record=str(tmp_path / 'simulator'))
    policies = peer.listen(Int64MultiArray, 'policies')
    phase = peer.listen(String, 'phase')
    given = {'checkpoint_dir': str(tmp_path / 'kept'), 'record': str(tmp_path / 'explorer')}
    for _ in range(KILLS):
        phase.clear()
        process = explorer(**given)
        peer.wait_for(lambda: any('/' in message.data for message in phase), 'exploring')
        peer.spin(rng.uniform(0.0, 1.0))
        assert process.running, process.output
        process.stop(signal.SIGKILL)
    policies.clear()
    process = explorer(**given)
    peer.wait_for(lambda: policies, f'a hypothesis, seed {seed}')
    assert process.stop() == 0 and simulator.stop() == 0
    assert judge(load(scenario).settings[0].cmp, PolicySet.from_msg(policies[-1]), 4.0, 1.0).ok
    counted, played = read_counts(tmp_path / 'explorer'), read_counts(tmp_path / 'simulator')
    assert within(counted, played), f'seed {seed}'
    assert total(counted) > 0


def test_a_long_replay_holds_nothing_up(
        start: Callable, explorer: Callable, peer: Peer, robot: ScriptedRobot,
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither at the start nor on ``load``: heartbeat, services and Ctrl-C are served."""
    given = {'actions': ['east', 'west'], 'checkpoint_dir': str(tmp_path / 'kept'),
             'record': str(tmp_path / 'record')}
    monkeypatch.setenv('REPLAY_UNTIL', str(tmp_path / 'heard'))
    process = explorer(**given)
    peer.wait_for(lambda: len(robot.executed) > 150, 'steps')
    assert process.stop() == 0
    counted = read_counts(tmp_path / 'record')
    process = start('slow_replay', **given)
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: status and 'is replayed' in status[-1].data, 'a replay')
    # The same after Ctrl-C, which the replay does not keep waiting, and which loses nothing.
    assert process.stop() == 0 and 'going on from' not in process.output
    assert read_counts(tmp_path / 'record') == counted
    assert len(generations(tmp_path / 'kept')) == 1
    beats: list[float] = []
    peer.node.create_subscription(
        Header, 'heartbeat', lambda _: beats.append(time.monotonic()), messages.HEARTBEATS)
    status.clear()
    process = start('slow_replay', **given)
    peer.wait_for(lambda: status and 'is replayed' in status[-1].data, 'a replay')
    executed = len(robot.executed)
    assert 'is being read' in peer.call(Trigger, 'save').message
    assert 'is being replayed' in peer.call(Trigger, 'load').message
    assert len(robot.executed) == executed
    (tmp_path / 'heard').touch()
    peer.wait_for(lambda: len(robot.executed) > executed + 10, 'exploring')
    explore(peer, False)
    peer.wait_for(lambda: status[-1].data == 'paused: service explore called', 'paused')
    response = peer.call(Trigger, 'load')
    assert response.success and response.message.startswith('replaying what is on the disk')
    peer.wait_for(lambda: status[-1].data == 'paused: loaded from the disk', 'the end')
    assert soon(max(after - before for before, after in zip(beats, beats[1:])), 1.8)
    assert process.stop() == 0
    assert within(counted, read_counts(tmp_path / 'record'))
