# SPDX-License-Identifier: Apache-2.0

"""Knowledge outlives the node: it goes on from ``checkpoint_dir``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partialmethod
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
from types import SimpleNamespace

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from faulty_robot import as_steps
from kept_exploration import keeping
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from mnm_ros import messages
from mnm_ros.checkpoint import database as checkpoint_database
from mnm_ros.checkpoint import input_log
from mnm_ros.checkpoint import store as store_module
from mnm_ros.checkpoint.input_log import SavedInputs
from mnm_ros.checkpoint.store import LEAST_BETWEEN_POINTS, Store
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.presets import OPTIONS
from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.said import (
    DiskTooSlow,
    InWords,
    NothingKept,
    NothingSaved,
    ReadingDisk,
)
from mnm_ros.messages import PolicySet
from mnm_ros.nodes import explorer as explorer_node
from mnm_ros.nodes.explorer import Explorer
from mnm_ros.nodes.exploring import exploration_store, restoring
from mnm_ros.nodes.exploring.exploration_store import ExplorationStore
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from node_processes import DEADLINE, Peer, read_counts, ScriptedRobot, slow_down, soon
import pytest
from rclpy.parameter import Parameter
from std_msgs.msg import Header, Int64MultiArray, String
from std_srvs.srv import SetBool, Trigger
from tiers import strength, thorough

SLOW = exploration_store._SLOW    # s, before a test lets it be longer

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


class MadeUpNode(SimpleNamespace):
    """Has a name, and logs into a list."""

    def __init__(self) -> None:
        self.logged: list[str] = []
        super().__init__(**dict.fromkeys(
            ('info', 'warning', 'error'), lambda text, **_: self.logged.append(text)))

    def get_fully_qualified_name(self) -> str:
        return '/explorer'

    def get_logger(self) -> MadeUpNode:
        return self


def store_of(node: MadeUpNode, folder: str, **parameters: object) -> ExplorationStore:
    return ExplorationStore(node, {
        'actions': ['east', 'west'], 'radius': 4.0, 'epsilon': 1.0, 'delta': 0.1,
        'preset': 'onboard', 'seed': 0, 'checkpoint_dir': folder, 'transition_log': False,
        'warm_start': '', 'overrides': '', **{option.name: option.default for option in OPTIONS},
        **parameters})


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is saved in the process of a test wait for a busy disk."""
    monkeypatch.setattr(exploration_store, '_SLOW', DEADLINE)


def test_nothing_is_saved_without_a_folder() -> None:
    saved, message = store_of(MadeUpNode(), '').save()
    assert not saved and message == NothingSaved(NothingKept())


def test_a_restarted_node_publishes_at_once_what_it_knew(
        explorer: Callable, knowing: Callable, peer: Peer, robot: ScriptedRobot,
        tmp_path: Path) -> None:
    process = knowing()
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
    process = explorer(checkpoint_dir=str(tmp_path / 'known'))
    peer.wait_for(lambda: policies, 'the hypothesis of before')
    assert PolicySet.from_msg(policies[0]).version >= before.version
    assert 'going on from' in process.output
    peer.wait_for(lambda: proven.keys() <= since().keys(), 'that the same is proven')
    assert {state: since()[state] for state in proven} == proven


@thorough(shown_by=(
    'checkpoint/test_full_disk.py::test_a_disk_that_takes_nothing_stops_nothing_and_is_told '
    'nodes/test_exploration_store.py::test_a_lock_is_told_when_it_begins_and_when_it_ends '
    'nodes/test_diagnosis.py::test_levels'))
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


def test_a_disk_that_cannot_be_read_at_the_start_is_a_fault_until_it_can_be(
        peer: Peer, robot: ScriptedRobot, learnt: SimpleNamespace, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(learnt.folder, tmp_path / 'kept')
    monkeypatch.setattr(restoring, '_LOAD_AGAIN', 0.1)
    phases, statuses = peer.listen(String, 'phase'), peer.listen(String, 'status')
    with monkeypatch.context() as disk:
        disk.setattr(Store, 'load', lambda *_: _raise(OSError('the disk is full')))
        node = explorer_here(peer, checkpoint_dir=str(folder))
        peer.wait_for(lambda: phases[-1].data == 'fault', 'a fault')
        peer.wait_for(lambda: statuses and 'nothing was loaded' in statuses[-1].data, 'why')
        assert not robot.executed
    peer.wait_for(lambda: len(robot.executed) > 10, 'that it goes on')
    assert phases[-1].data != 'fault'
    assert node._session.exploration_store.exploration.steps > sum(learnt.counts.values())
    peer.saved()
    leave(peer, node)
    assert not [*folder.glob('*.aside.*')]


def _raise(error: Exception) -> None:
    raise error


def explorer_here(peer: Peer, **parameters: object) -> Explorer:
    """Make an explorer in the process of the test, which spins it."""
    given = {'actions': ['east', 'west'], **parameters}
    node = Explorer(context=peer.context, parameter_overrides=[
        Parameter(name, value=value) for name, value in given.items()])
    peer.spin_also(node)
    node.autostart()
    return node


def leave(peer: Peer, node: Explorer) -> None:
    peer.wait_for(node.leave, 'that the robot is left')
    node.close()
    peer.destroy(node)


@thorough(shown_by=(
    'nodes/test_exploration_store.py::'
    'test_a_disk_that_cannot_be_read_at_the_start_is_a_fault_until_it_can_be '
    'checkpoint/test_full_disk.py::test_a_disk_that_is_full_at_the_start_costs_no_file'))
def test_a_fault_of_a_disk_that_is_full_at_the_start_ends_once_it_is_freed(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, tmp_path: Path) -> None:
    before = explorer(checkpoint_dir=str(tmp_path / 'kept'))
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    peer.saved()
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
    peer.saved()
    assert 'refused' not in process.output and not [*(tmp_path / 'kept').glob('*.aside.*')]


def test_save_waits_for_a_slow_disk_for_less_than_a_heartbeat_may_be_late(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    late = messages.HEARTBEAT.deadline.nanoseconds / 1e9
    assert SLOW + explorer_node._HEARTBEAT < late
    gate, append = threading.Event(), input_log.InputLog.append
    monkeypatch.setattr(input_log.InputLog, 'append', lambda log, inputs: (
        gate.wait(), append(log, inputs)))
    monkeypatch.setattr(exploration_store, '_SLOW', 0.05)
    keeper = keeping(tmp_path, [])
    keeper.exploration.observe(keeper.exploration.next_action(), 0)
    begun = time.monotonic()
    assert keeper.save() == (False, NothingSaved(DiskTooSlow()))
    assert soon(time.monotonic() - begun, 0.5)
    gate.set()
    keeper.close()


@thorough(shown_by=(
    'nodes/test_exploration_store.py::'
    'test_save_waits_for_a_slow_disk_for_less_than_a_heartbeat_may_be_late'))
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
    answers = peer.listen(Int64MultiArray, 'state', messages.STEP)
    phase, status = peer.listen(String, 'phase'), peer.listen(String, 'status')
    peer.wait_for(lambda: len(answers) > 40, 'steps')
    file = peer.saved()
    assert file.is_file() and file.parent == folder
    assert 'is exploring' in peer.call(Trigger, 'load').message
    explore(peer, False)
    peer.wait_for(lambda: phase[-1].data == 'paused', 'paused')
    response = peer.call(Trigger, 'load')
    assert response.success, response.message
    # A replay that takes long is answered before its end.
    told = re.match(r'paused at step (\d+)|replaying', response.message)
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
    'test_what_is_refused_or_missing_is_told_until_somebody_accepts_it '
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
    peer.saved()
    generations(folder)[-1].write_bytes(b'not a database' * 100)
    response = peer.call(Trigger, 'load')
    assert response.success, response.message
    assert [*folder.glob('*.aside.1')]
    peer.saved()    # a resume point, perhaps
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


@pytest.mark.parametrize('parameter', ['checkpoint_dir', 'stop_dir'])
def test_a_pause_is_kept_until_explore_is_called(
        peer: Peer, tmp_path: Path, parameter: str) -> None:
    """Whatever becomes of the explorer after the call, which has kept it."""
    status = peer.listen(String, 'status')
    paused = ('paused: the pause began before the restart, and continues',
              'paused by service explore')

    def starts_with(wanted: bool) -> bool:
        """Start an explorer, call ``explore`` and return whether it was paused before that."""
        status.clear()
        node = explorer_here(peer, **{parameter: str(tmp_path)})
        peer.wait_for(
            lambda: status[-1].data.startswith(paused) or node._session.running, 'the start')
        begun = status[-1].data
        assert bool([*tmp_path.glob('*.paused')]) is begun.startswith(paused)
        explore(peer, wanted)
        assert bool([*tmp_path.glob('*.paused')]) is not wanted
        leave(peer, node)
        return begun.startswith(paused)

    assert not starts_with(False)
    assert starts_with(True)
    assert not starts_with(True)


@thorough('nodes/test_exploration_store.py::test_a_pause_is_kept_until_explore_is_called')
@pytest.mark.parametrize('kept', ['kept', ''])
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
        peer.wait_for(lambda: status[-1].data.startswith((
            'paused: the pause began before', 'paused by service explore')), 'the pause')
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
    monkeypatch.setattr(checkpoint_database, '_LONGEST_WAIT', 0.0)
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
        assert logged == [f'warning: not everything can be saved: {path}: database is locked']
        assert keeper.problem
        assert keeper.save() == (False, NothingSaved(InWords(f'{path}: database is locked')))
    other.rollback()
    other.close()
    for _ in range(2):
        steps()
        assert logged[1:] == ['info: everything can be saved again'] and not keeper.problem
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
    monkeypatch.setattr(exploration_store, '_SLOW', SLOW)
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


def test_the_inputs_before_an_event_are_written_at_once(
        peer: Peer, robot: ScriptedRobot, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch) -> None:
    """After a crash the same change would be noticed, and reported, again."""
    monkeypatch.setattr(store_module, '_WRITE_EVERY', 1000.0)    # it writes when it is asked to
    node = explorer_here(peer, checkpoint_dir=str(tmp_path))
    exploration = node._session.exploration
    peer.wait_for(lambda: exploration.events, 'the event that home was found')
    robot.deaf = 1000    # or the first hypothesis would come, which is written, too

    def written() -> int:
        return max((SavedInputs(path).number for path in generations(tmp_path)), default=0)

    peer.wait_for(written, 'the first input on the disk', deadline=20.0)
    assert exploration.hypothesis is None
    leave(peer, node)


def test_policies_are_published_once_they_are_kept(
        peer: Peer, robot: ScriptedRobot, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch) -> None:
    gate, append = threading.Event(), input_log.InputLog.append
    monkeypatch.setattr(input_log.InputLog, 'append', lambda log, inputs: (
        gate.wait(), append(log, inputs)))
    robot.pause = 0.0
    policies = peer.listen(Int64MultiArray, 'policies')
    node = explorer_here(peer, checkpoint_dir=str(tmp_path), delta=strength(0.5, 0.1),
                         radius=strength(1.5, 4.0))
    exploration = node._session.exploration
    peer.wait_for(lambda: exploration.hypothesis, 'a hypothesis')
    steps = exploration.steps
    peer.wait_for(lambda: exploration.steps > steps + 20, 'more steps')
    assert not policies
    gate.set()
    peer.wait_for(lambda: policies, 'policies')
    leave(peer, node)


def test_nothing_is_written_while_the_disk_is_read(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper, answers, revive = keeping(tmp_path, []), [], ExplorationStore._revive
    keeper.exploration.observe(keeper.exploration.next_action(), 0)

    def asking(store: ExplorationStore, saved: SavedInputs) -> Exploration:
        answers.append(store.save())
        return revive(store, saved)

    monkeypatch.setattr(ExplorationStore, '_revive', asking)
    keeper.restore()
    assert answers == [(False, NothingSaved(ReadingDisk()))] and keeper.save()[0]
    keeper.close()


def test_resume_points_are_made_however_short_the_sessions(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    between: int = strength(200, LEAST_BETWEEN_POINTS)    # inputs
    monkeypatch.setattr(Store, 'attach', partialmethod(Store.attach, between=between))
    simulator = Simulator(load('corridor'), 1)
    for _ in range(strength(2, 8)):    # each too short by itself
        keeper = keeping(tmp_path, [])
        if keeper.waiting:
            keeper.adopt(keeper.restore())
        for _ in range(between // 2):
            action = keeper.exploration.next_action()
            keeper.exploration.observe(action, simulator.step(action))
        keeper.close()
    assert len(generations(tmp_path)) == 2


def test_files_for_another_radius_are_set_aside_and_it_is_said_why(tmp_path: Path) -> None:
    node = MadeUpNode()
    for radius in (4.0, 3.0):
        store = store_of(node, str(tmp_path), radius=radius)
        if store.waiting:
            store.adopt(store.restore())
        assert store.save()[0] and store.exploration.steps == 0
        store.exploration.observe(store.exploration.next_action(), 0)
        store.close()
    aside = re.search(r'is for radius 4.0, expected 3.0; kept as (\S+)', ' '.join(node.logged))
    assert aside and (tmp_path / aside[1]).is_file()


@thorough(shown_by=(
    'nodes/test_exploration_store.py::'
    'test_files_for_another_radius_are_set_aside_and_it_is_said_why '
    'nodes/test_exploration_store.py::'
    'test_what_is_refused_or_missing_is_told_until_somebody_accepts_it'))
def test_other_parameters_begin_again_and_say_why(
        start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    start('cmp_sim', scenario=scenario)
    process = explorer(checkpoint_dir=str(tmp_path / 'kept'))
    peer.saved()
    assert process.stop() == 0
    process = explorer(checkpoint_dir=str(tmp_path / 'kept'), radius=3.0)
    peer.saved()
    aside = re.search(r'is for radius 4.0, expected 3.0; kept as (\S+)', process.output)
    assert aside and (tmp_path / 'kept' / aside[1]).is_file()
    peer.wait_for(lambda: 'building the first' in process.output, 'the first decision')
    assert process.stop() == 0 and process.output.count('building the first') == 1


def test_what_is_refused_or_missing_is_told_until_somebody_accepts_it(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, learnt: SimpleNamespace,
        tmp_path: Path) -> None:
    """Each is an event, and both are a warning."""
    folder = shutil.copytree(learnt.folder, tmp_path / 'kept')
    for file in generations(folder):
        file.write_bytes(b'not a database' * 100)
    kept_as = f'kept as {file.name}.aside.1'
    lost = 'were saved, and are in no file that can be used'
    events = peer.listen(String, 'events', messages.EVENTS)
    diagnostics = peer.listen(DiagnosticArray, '/diagnostics', 10)

    def said(level: bytes) -> str:
        status = diagnostics[-1].status[0] if diagnostics else None
        return status.message if status and status.level == level else ''

    def told(text: str) -> list[Event]:
        return [Event.from_json(event.data) for event in events if text in event.data]

    explorer(checkpoint_dir=str(folder))
    peer.wait_for(lambda: 'checkpoint refused: ' in said(DiagnosticStatus.WARN)
                  and lost in said(DiagnosticStatus.WARN), 'a warning')
    assert kept_as in said(DiagnosticStatus.WARN)
    for text in kept_as, lost:
        peer.wait_for(lambda text=text: told(text), 'an event')
        assert [event.kind for event in told(text)] == ['restart']
    peer.saved()
    peer.wait_for(lambda: said(DiagnosticStatus.OK), 'the end of the warning')


def test_a_file_that_is_refused_is_told_until_the_next_resume_point(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploration_store, '_SHOWN', 0.0)
    monkeypatch.setattr(Store, 'attach', partialmethod(
        Store.attach, between=strength(200, LEAST_BETWEEN_POINTS)))
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
    'nodes/test_durable_commands.py::test_a_keep_out_that_was_taken_is_known_after_a_crash '
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
        start: Callable, peer: Peer, robot: ScriptedRobot, learnt: SimpleNamespace,
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither at the start nor on ``load``: heartbeat, services and Ctrl-C are served."""
    folder = shutil.copytree(learnt.folder, tmp_path / 'kept')
    (tmp_path / 'record').write_text('of the start before')
    given = {'actions': ['east', 'west'], 'checkpoint_dir': str(folder),
             'record': str(tmp_path / 'record')}
    monkeypatch.setenv('REPLAY_UNTIL', str(tmp_path / 'heard'))
    monkeypatch.setenv('REPLAY_COMPUTES', strength('', 'yes'))    # as plans of test_liveness do
    process = start('slow_replay', **given)
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: status and 'replays the steps' in status[-1].data, 'a replay')
    # The same after Ctrl-C, which the replay does not keep waiting, and which loses nothing.
    assert process.stop() == 0 and 'going on from' not in process.output
    assert (tmp_path / 'record').read_text() == 'of the start before'
    assert len(generations(folder)) == len(generations(learnt.folder))
    beats: list[float] = []
    peer.node.create_subscription(
        Header, 'heartbeat', lambda _: beats.append(time.monotonic()), messages.HEARTBEATS)
    status.clear()
    process = start('slow_replay', **given)
    peer.wait_for(lambda: status and 'replays the steps' in status[-1].data, 'a replay')
    executed = len(robot.executed)
    assert 'is reading the files' in peer.call(Trigger, 'save').message
    assert 'is being replayed' in peer.call(Trigger, 'load').message
    assert len(robot.executed) == executed
    (tmp_path / 'heard').touch()
    peer.wait_for(lambda: len(robot.executed) > executed + 10, 'exploring')
    explore(peer, False)
    peer.wait_for(lambda: status[-1].data.startswith('paused by service explore'), 'it')
    response = peer.call(Trigger, 'load')
    assert response.success and response.message.startswith('replaying the steps on the disk')
    peer.wait_for(lambda: status[-1].data == 'paused: loaded from the disk', 'the end')
    assert soon(max(after - before for before, after in zip(beats, beats[1:])), 1.8)
    assert process.stop() == 0
    assert not learnt.counts - as_steps(read_counts(tmp_path / 'record'))
