# SPDX-License-Identifier: Apache-2.0

"""While a plan is made the node is served, and nothing else is different."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import os
from pathlib import Path
import signal
import threading
import time
from types import SimpleNamespace

from diagnostic_msgs.msg import DiagnosticArray
from faulty_robot import as_steps
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from mnm_ros import messages
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Update
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.presets import settings, settings_by_name
from mnm_ros.core.task.step_task import play
from mnm_ros.nodes.common.allowance import Allowance
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.protocol.exchange import REPORT, SequenceNumbers
from mnm_ros.protocol.loop import StepLimits
from mnm_ros.protocol.step_loop import StepLoop
from node_processes import as_counts, DEADLINE, NodeProcess, Peer, read_counts, ScriptedRobot, soon
import pytest
from rclpy.qos import qos_profile_system_default
from std_msgs.msg import Header, Int64MultiArray, String
from std_srvs.srv import SetBool
from thinking_base import EVERY
from tiers import strength, thorough

PLANS = strength(1, 3)
STEPS = PLANS * EVERY + 10    # the first of which is none of the base
QUIETLY = strength('thinking_base:quietly', 'thinking_base:shortly')
ENDLESSLY = strength('thinking_base:quietly_endlessly', 'thinking_base:endlessly')
SOON = 0.8                # s, much less than a plan takes

Explore = Callable[..., NodeProcess]


@pytest.fixture
def thinking(explorer: Explore, monkeypatch: pytest.MonkeyPatch) -> Explore:
    """
    Start an explorer that thinks for 1.5 s with each 40th step of its base.

    A test that is not about the processor lets it wait instead of computing, but with ``--all``.
    """
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(
        (str(Path(__file__).parent), os.environ['PYTHONPATH'])))

    def start(base: str = QUIETLY, **parameters: object) -> NodeProcess:
        return explorer(base=base, **parameters)
    return start


@pytest.fixture
def until_it_thinks(peer: Peer, robot: ScriptedRobot) -> Callable[..., None]:
    """Wait until a plan is made, the first or another: the step before has been answered."""
    def wait(plan: int = 1) -> None:
        peer.wait_for(lambda: len(robot.executed) == plan * EVERY + 1, f'plan {plan}')
        peer.spin(0.1)
        assert len(robot.executed) == plan * EVERY + 1
    return wait


def played(steps: int) -> list[tuple[int, int, int]]:
    """Return what the robot executes if it is driven in plain Python: state, action, next."""
    happened: list[tuple[int, int, int]] = []
    state = 0

    def move(action: int) -> int:
        nonlocal state
        before, state = state, 0 if action == -1 else min(max(state + 1 - 2 * action, 0), 2)
        happened.append((before, action, state))
        return state

    exploration = Exploration(settings_by_name({
        'actions': ['east', 'west'], 'radius': 4.0, 'epsilon': 1.0, 'delta': 0.1,
        'preset': 'onboard', 'base': 'disco'}))
    play(exploration, move, steps)
    return happened


def test_it_is_served_and_learns_the_same(thinking: Explore, peer: Peer, robot: ScriptedRobot,
                                          tmp_path: Path) -> None:
    beats: list[float] = []
    peer.node.create_subscription(
        Header, 'heartbeat', lambda _: beats.append(time.monotonic()), messages.HEARTBEAT)
    told: list[float] = []
    peer.node.create_subscription(
        DiagnosticArray, '/diagnostics', lambda _: told.append(time.monotonic()),
        qos_profile_system_default)
    answered: list[float] = []

    def note(seq: int, state: int) -> None:
        if len(robot.executed) > len(answered):    # and not a command that was sent again
            answered.append(time.monotonic())
    robot.around = note
    phase = peer.listen(String, 'phase')
    process = thinking(max_steps=STEPS, record=str(tmp_path / 'record'))
    peer.wait_for(lambda: phase[-1].data == 'done', 'the end')
    # However busy the machine is, a plan takes longer than the time between two of them.
    plans = [(answered[first], answered[first + 1]) for first in range(EVERY, STEPS - 1, EVERY)]
    for heard, least in (beats, PLANS), (told, 1):
        served = [any(begun < at < over for at in heard) for begun, over in plans]
        assert len(served) == PLANS and sum(served) >= least, (plans, heard)
    assert process.stop() == 0, process.output
    assert robot.executed == played(STEPS)
    counted = as_steps(read_counts(tmp_path / 'record'))
    assert sum(counted.values()) == STEPS - 1    # nobody knows where the first RESET began


def test_services_parameters_and_transitions(
        thinking: Explore, peer: Peer, robot: ScriptedRobot,
        until_it_thinks: Callable[..., None]) -> None:
    """Each is answered at once, and no action follows on the plan; then it goes on."""
    process = thinking()
    phase = peer.listen(String, 'phase')
    with (peer.client(SetBool, 'explore') as explore, peer.setter('explorer') as set_one,
          peer.client(ChangeState, 'explorer/change_state') as change,
          peer.client(GetState, 'explorer/get_state') as get):
        until_it_thinks()
        began = time.monotonic()
        assert set_one('step_timeout', 0.7).successful
        response = explore(SetBool.Request(data=False))
        assert response.success and response.message == 'pausing after the current step'
        assert soon(time.monotonic() - began, SOON)
        assert phase[-1].data != 'paused'
        peer.wait_for(lambda: phase[-1].data == 'paused', 'the end of the plan')
        peer.spin(0.3)
        assert len(robot.executed) == EVERY + 1
        assert explore(SetBool.Request(data=True)).success
        until_it_thinks(2)
        assert robot.executed[EVERY + 1][1] == -1
        began = time.monotonic()
        assert change(ChangeState.Request(
            transition=Transition(id=Transition.TRANSITION_DEACTIVATE))).success
        assert get(GetState.Request()).current_state.id == State.PRIMARY_STATE_INACTIVE
        assert soon(time.monotonic() - began, SOON)
        peer.spin(2.0)
        assert len(robot.executed) == 2 * EVERY + 1    # none followed on the plan
        for transition in (Transition.TRANSITION_CLEANUP, Transition.TRANSITION_CONFIGURE,
                           Transition.TRANSITION_ACTIVATE):
            assert change(ChangeState.Request(transition=Transition(id=transition))).success
    peer.wait_for(lambda: len(robot.executed) > 2 * EVERY + 10, 'steps')
    assert process.stop() == 0 and 'Traceback' not in process.output


class Planning:
    """A loop that makes a plan in another thread with its second step, until it is let go on."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, int]] = []
        self.errors: list[str] = []
        self.gate, self.broken = threading.Event(), False
        self.exploration = Exploration(settings(Problem(2, 4.0, 1.0, 0.1)))
        self.guard = CallbackGuard(SimpleNamespace(
            executor=None, get_logger=lambda: SimpleNamespace(error=lambda text, **_: None)),
            self.errors.append, Allowance())
        self.loop = StepLoop(self.exploration, StepLimits(1.0, 3), SequenceNumbers(1000),
                             lambda *command: self.sent.append(command), None)
        self.loop.aside = self.guard.aside
        self.on_state = self.guard.for_topic(
            lambda seq, state: self.guard.call(self.loop.on_state, seq, state, 0.0), 10)
        self._observe = self.exploration.observe
        self.exploration.observe = self._think
        self.loop.resume(0.0)
        self.on_state(1000, 0)    # at home
        self.on_state(1001, 1)
        assert self.guard.busy and len(self.sent) == 2

    def _think(self, action: int, state: int) -> None:
        if len(self.sent) == 2:
            self.gate.wait()
        if self.broken:
            raise ZeroDivisionError('injected')
        self._observe(action, state)

    def end(self) -> None:
        """Let the plan be made, and wait until it is."""
        self.gate.set()
        end = time.monotonic() + DEADLINE
        while self.guard.busy:
            assert time.monotonic() < end
            self.guard.look()
        self.guard.close()


def test_each_step_is_taken_aside_and_heard_of_in_the_thread_of_the_node() -> None:
    """A resume point of the store is made aside, too; what the node publishes is not."""
    planning = Planning()
    threads: list[threading.Thread] = []

    def note(update: Update) -> None:
        threads.append(threading.current_thread())

    planning.exploration.listeners += [
        partial(planning.guard.in_node_thread, note), note]
    planning.end()
    aside, node = threads
    assert node is threading.current_thread() and aside is not node
    assert len(planning.sent) == 3


def test_a_robot_that_is_moved_while_a_plan_is_made_is_sent_home_after_it() -> None:
    planning = Planning()
    planning.on_state(REPORT, 2)
    assert planning.guard.busy and len(planning.sent) == 2
    planning.end()
    assert len(planning.sent) == 3 and planning.sent[-1][1] == RESET
    assert planning.exploration.last_state == 2    # and the way there was no step
    (pair, nexts), = planning.exploration.counts.items()
    assert pair == (0, planning.sent[1][1]) and nexts == {1: 1}


def test_an_error_in_a_plan_is_told_and_no_action_follows() -> None:
    planning = Planning()
    planning.broken = True
    planning.end()
    assert planning.errors == ['ZeroDivisionError: injected'] and len(planning.sent) == 2


@thorough('nodes/test_liveness.py::'
          'test_a_robot_that_is_moved_while_a_plan_is_made_is_sent_home_after_it')
def test_a_robot_that_is_moved_meanwhile(
        thinking: Explore, peer: Peer, robot: ScriptedRobot, tmp_path: Path,
        until_it_thinks: Callable[..., None]) -> None:
    """The next action is RESET, and the way there was no step."""
    process = thinking(record=str(tmp_path / 'record'))
    phase = peer.listen(String, 'phase')
    until_it_thinks()
    robot.state = 2 - robot.state
    robot.send(REPORT, robot.state)
    peer.wait_for(lambda: len(robot.executed) > EVERY + 10, 'steps')
    assert robot.executed[EVERY + 1][1] == -1
    assert peer.call(SetBool, 'explore', SetBool.Request(data=False)).success
    peer.wait_for(lambda: phase[-1].data == 'paused', 'paused')
    assert process.stop() == 0, process.output
    # The first one begins where nobody knows.
    assert as_steps(read_counts(tmp_path / 'record')) == as_steps(as_counts(robot.executed[1:]))


@thorough(shown_by=(
    'nodes/test_liveness.py::test_an_error_in_a_plan_is_told_and_no_action_follows '
    'nodes/test_time_and_errors.py::test_an_exception_in_the_core_and_load_leads_out_of_it'))
def test_a_plan_that_fails(thinking: Explore, peer: Peer, robot: ScriptedRobot) -> None:
    process = thinking('thinking_base:in_vain')
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: status[-1].data == 'fault: ZeroDivisionError: injected',
                  'the fault')
    peer.wait_for(lambda: len(robot.executed) == EVERY + 2, 'the command to go home')
    assert robot.executed[-1][1] == -1
    assert process.stop() == 0 and 'ZeroDivisionError: injected' in process.output


@pytest.mark.parametrize('base, number', [
    (ENDLESSLY, signal.SIGINT),
    *(pytest.param(base, number, marks=thorough('nodes/test_liveness.py::test_the_end'))
      for base, number in ((QUIETLY, signal.SIGTERM), ('thinking_base:shortly', signal.SIGINT),
                           ('thinking_base:endlessly', signal.SIGTERM)))])
def test_the_end(thinking: Explore, peer: Peer, robot: ScriptedRobot, tmp_path: Path,
                 until_it_thinks: Callable[..., None], base: str, number: int) -> None:
    """It ends within 5 s, whatever the plan takes, and nothing is lost that happened."""
    process = thinking(base, record=str(tmp_path / 'record'))
    until_it_thinks()
    began = time.monotonic()
    process.send(number)
    peer.wait_for(lambda: not process.running, 'the end')
    assert soon(time.monotonic() - began, 5.0)
    assert process.wait() == 0 and 'Traceback' not in process.output, process.output
    assert len(robot.executed) == EVERY + 1
    assert sum(as_steps(read_counts(tmp_path / 'record')).values()) == EVERY


_SAYS_WHAT_IT_IMPORTS = """
import os
import sys
from mnm_ros.nodes import explorer
from mnm_ros.nodes.common.graph_watch import CommandPublisher
from mnm_ros.nodes.common.spin import run

if not os.fork():    # a process that ends has imported nothing more for this one
    import mnm_ros.nodes.cmp_sim
    print('scipy at first:', 'scipy' in sys.modules, flush=True)
    os._exit(0)
os.wait()
before = set()
send = CommandPublisher.send

def note_and_send(*arguments):
    if not before:
        before.update(sys.modules)
    send(*arguments)

CommandPublisher.send = note_and_send
status = run('explorer', explorer.Explorer)
late = {name.partition('.')[0] for name in sys.modules.keys() - before}
print('imported late:', sorted(late & {'mnm_ros', 'numpy', 'scipy'}), flush=True)
sys.exit(status)
"""


def test_no_library_is_imported_while_a_robot_waits_nor_before_the_node_is_there(
        start: Callable[..., NodeProcess], peer: Peer, robot: ScriptedRobot, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch) -> None:
    """
    That takes seconds on a busy machine, in which there would be no heartbeat.

    Scipy takes half a second and 30 MB, of which an explorer needs a part once the node is there.
    """
    script = tmp_path / 'says_what_it_imports.py'
    script.write_text(_SAYS_WHAT_IT_IMPORTS)
    monkeypatch.setenv('MNM_FORK', '0')    # a fork has imported all
    process = start(str(script), actions=['east', 'west'], delta=strength(0.5, 0.1))
    policies = peer.listen(Int64MultiArray, 'policies')
    peer.wait_for(lambda: policies, 'a hypothesis')
    assert process.stop() == 0
    assert 'imported late: []' in process.output and 'scipy at first: False' in process.output
