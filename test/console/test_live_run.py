# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
import io
import os
from pathlib import Path
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

from mnm_ros.console import __main__ as program
from mnm_ros.console import environment
from mnm_ros.console.command_line import parse
from mnm_ros.console.options import Options
from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.progress.activity import Activity, Progress
from mnm_ros.view.telemetry import Telemetry
import pytest
from tiers import strength, thorough

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from mnm_ros.console import live_run  # noqa: E402, I100

STAND_IN = Path(__file__).with_name('stand_in.py')
CORRIDOR = """
name: short corridor
actions: [east, west]
start: 0
settings:
  - transitions:
      0: {east: {1: 1.0}}
      1: {east: {2: 1.0}, west: {0: 1.0}}
      2: {west: {1: 1.0}}
"""
DEADLINE_S = 240


class Console:
    """The console in a process of its own, its output in a file or a terminal."""

    def __init__(self, directory: Path, explorer: str, *arguments: str) -> None:
        self.directory = directory
        scenario = directory / 'corridor.yaml'
        scenario.write_text(CORRIDOR)
        self.command = [
            sys.executable, str(STAND_IN), 'console', str(scenario), *arguments]
        self.environment = {
            **os.environ, 'STAND_IN': explorer, 'STAND_IN_PIDS': str(directory),
            'TERM': 'xterm', 'TMPDIR': str(directory)}
        self.log = directory / 'console.log'

    def start(self, out: int | None = None) -> subprocess.Popen:
        if out is None:
            with self.log.open('w') as log:
                return self._popen(log)
        return self._popen(out)

    def _popen(self, out) -> subprocess.Popen:
        self.process = subprocess.Popen(
            self.command, stdout=out, stderr=subprocess.STDOUT, env=self.environment,
            start_new_session=True)
        return self.process

    def run(self) -> tuple[int, str]:
        return self.start().wait(DEADLINE_S), self.log.read_text()

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while text not in self.log.read_text():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def leftovers(self) -> list[str]:
        pids = [int(path.read_text()) for path in self.directory.glob('*.pid')]
        directories = self.directory.glob('mnm_ros_*')
        return [*(str(pid) for pid in pids if alive(pid)), *map(str, directories)]


Make = Callable[..., Console]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Make]:
    consoles: list[Console] = []

    def make(explorer: str, *arguments: str) -> Console:
        consoles.append(Console(tmp_path, explorer, *arguments))
        return consoles[-1]
    yield make
    for made in consoles:
        if made.process.poll() is None:
            made.process.terminate()
            made.process.wait(DEADLINE_S)
        assert made.leftovers() == []


BUILDING = Telemetry(phase='building/discovery')


class Run:
    """A run of one process that waits, of which a certain picture is heard."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, times: int = 0, number: int = 0,
                 heard: Telemetry = BUILDING) -> None:
        self._interrupt = SimpleNamespace(times=times, number=number)
        self.out = io.StringIO()
        self.children: list[live_run.Child] = []
        monkeypatch.setattr(live_run, 'Listener', lambda *_: nullcontext(SimpleNamespace(
            listen=lambda seconds: heard)))
        monkeypatch.setattr(live_run, 'is_reserved', lambda: True)
        monkeypatch.setattr(live_run, 'Child', self._child)
        monkeypatch.setattr(Options, 'commands', lambda self: {
            'waits': ['-c', 'import time; time.sleep(600)']})

    def _child(self, *arguments: object, make: type = live_run.Child) -> live_run.Child:
        self.children.append(make(*arguments))
        return self.children[-1]

    def end(self, *words: str, scenario: str = 'corridor') -> tuple[int, str]:
        """Return the exit status and the last line, once all processes have ended."""
        options = parse([scenario, *words])
        status = live_run.LiveRun(options, self._interrupt, self.out).run()
        assert all(child.status is not None for child in self.children)
        return status, self.out.getvalue().splitlines()[-1]


@pytest.mark.parametrize(('words', 'number', 'end'), [
    ([], signal.SIGINT, (0, 'Ended.')),
    (['--once'], signal.SIGINT, (130, 'Interrupted before the goal.')),
    (['--once'], signal.SIGTERM, (143, 'Interrupted before the goal.'))])
def test_what_a_signal_means(monkeypatch: pytest.MonkeyPatch, words: list[str],
                             number: signal.Signals, end: tuple[int, str]) -> None:
    assert Run(monkeypatch, 1, number).end(*words) == end


def test_what_may_be_a_mistake_in_a_scenario_is_said_first(
        monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / 'stuck.yaml'
    path.write_text('actions: [east]\nstart: 0\nsettings: [{transitions: {0: {east: {0: 1}}}}]\n')
    run = Run(monkeypatch, 1, signal.SIGINT)
    assert run.end(scenario=str(path))[0] == 0
    assert 'stuck.yaml' in (first := run.out.getvalue().splitlines()[0]) and (
        'no action leaves the start state 0' in first)


def test_what_was_missing_when_the_time_was_over(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Run(monkeypatch).end('--once', '--timeout', '0.1') == (
        1, 'Timeout after 0.1 s of waiting for the first hypothesis.')
    building = replace(BUILDING, activity=Activity(
        progress=Progress('first hypothesis', 30, 120, 80, 200)))
    assert Run(monkeypatch, heard=building).end('--once', '--timeout', '0.1') == (
        1, 'Timeout after 0.1 s of waiting for the first hypothesis (25% done, '
        'about 90 steps to the first hypothesis).')


def test_processes_end_when_the_output_is_read_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch)
    write = run.out.write

    def write_until_it_is_shown(text: str) -> int:
        if run.children:
            raise BrokenPipeError
        return write(text)

    monkeypatch.setattr(run.out, 'write', write_until_it_is_shown)
    with pytest.raises(BrokenPipeError):
        run.end()
    assert [child.status is not None for child in run.children] == [True]


@pytest.mark.parametrize(('words', 'status'), [([], 0), (['--once'], 1)])
def test_output_that_is_read_no_more_is_no_error(
        monkeypatch: pytest.MonkeyPatch, words: list[str], status: int) -> None:
    def run(self: live_run.LiveRun) -> int:
        raise BrokenPipeError(32, 'Broken pipe')

    replaced: list[int] = []
    monkeypatch.setattr(live_run.LiveRun, 'run', run)
    monkeypatch.setattr(program, 'environment', SimpleNamespace(prepare=lambda variables: None))
    monkeypatch.setattr(program, 'os', SimpleNamespace(
        environ={}, devnull=os.devnull, O_WRONLY=os.O_WRONLY, open=lambda *_: 0,
        dup2=lambda source, number: replaced.append(number)))
    assert program.main(['corridor', *words]) == status
    assert len(replaced) == 1


@thorough(shown_by='console/test_live_run.py::test_the_real_nodes '
                   'console/test_live_run.py::test_a_wrong_hypothesis_is_said')
def test_once_with_a_right_hypothesis(console: Make) -> None:
    status, output = console('right', '--once').run()
    assert status == 0, output
    assert re.search(r'^\d\d:\d\d:\d\d phase building/discovery$', output, re.MULTILINE)
    assert re.search(r'^\d\d:\d\d:\d\d known 3: 0 1 2$', output, re.MULTILINE)
    assert re.search(r'^steps +5,678$', output, re.MULTILINE)
    assert re.search(r'^exploration +1,234 steps$', output, re.MULTILINE)
    assert output.endswith('The hypothesis is right.\n')


def test_another_explorer_is_not_taken_for_the_one_that_starts(console: Make) -> None:
    """Issue: in a domain in which one ran, its hypothesis was judged."""
    second, domain = console('wrong', '--once'), str(environment.reserve_domain())
    given = {**second.environment, 'ROS_DOMAIN_ID': domain}
    environment.prepare(given)
    with subprocess.Popen([sys.executable, str(STAND_IN), 'explorer'],
                          env={**given, 'STAND_IN': 'right'}) as first:
        deadline = time.monotonic() + DEADLINE_S
        while not (second.directory / 'explorer.published').exists():
            assert time.monotonic() < deadline and first.poll() is None
            time.sleep(0.1)
        second.environment = given
        status, output = second.run()
        assert status == 1 and f'/explorer explores already in ROS domain {domain}' in output
        assert 'The hypothesis' not in output and first.poll() is None
        first.send_signal(signal.SIGINT)
        assert first.wait(DEADLINE_S) == 0


@thorough('console/test_live_run.py::test_what_a_signal_means '
          'console/test_live_run.py::test_another_explorer_is_not_taken_for_the_one_that_starts '
          'console/test_processes.py::test_interrupt_counts_signals_and_restores_their_handlers')
@pytest.mark.parametrize(
    'arguments, number, expected',
    [([], signal.SIGINT, 0), (['--once'], signal.SIGINT, 130), (['--once'], signal.SIGTERM, 143)],
    ids=['watching', 'goal', 'terminated'])
def test_a_signal_ends_everything(
        console: Make, arguments: list[str], number: signal.Signals, expected: int) -> None:
    running = console('none', *arguments)
    process = running.start()
    running.wait_for('phase building/discovery')
    process.send_signal(number)
    assert process.wait(DEADLINE_S) == expected
    assert 'Traceback' not in running.log.read_text()


@thorough('console/test_processes.py::test_a_child_ends_when_its_parent_is_killed')
@pytest.mark.skipif(sys.platform != 'linux', reason='asks the kernel of Linux')
def test_killed_with_everything(console: Make) -> None:
    """As by the kernel when memory is short; the nodes would go on unseen."""
    running = console('none')
    process = running.start()
    running.wait_for('phase building/discovery')
    process.kill()
    process.wait(DEADLINE_S)
    for logs in running.directory.glob('mnm_ros_*'):    # which nobody could remove
        shutil.rmtree(logs)
    deadline = time.monotonic() + DEADLINE_S
    while running.leftovers() and time.monotonic() < deadline:
        time.sleep(0.02)
    left = running.leftovers()
    for pid in left:
        os.kill(int(pid), signal.SIGKILL)
    assert left == []


@thorough(shown_by='console/test_live_run.py::test_a_page_outlives_the_explorer')
def test_a_node_that_ends_is_named_with_its_log(console: Make) -> None:
    status, output = console('die').run()
    assert status == 1
    assert 'explorer ended with exit status 1. The end of its log:\n  no luck today' in output


def test_a_page_outlives_the_explorer(console: Make) -> None:
    running = console('die', '--page')
    process = running.start()
    running.wait_for('The explorer has ended; the page stays at http://127.0.0.1:8080 until')
    assert ('explorer ended with exit status 1. The end of its log:\n  no luck today'
            in running.log.read_text())
    page = running.directory / 'dashboard.pid'
    deadline = time.monotonic() + DEADLINE_S
    while not page.exists() or not page.read_text():    # it may still be starting
        assert time.monotonic() < deadline
        time.sleep(0.02)
    left, _ = running.leftovers()    # the page, and the folder of the logs
    assert left == page.read_text()
    process.send_signal(signal.SIGINT)
    assert process.wait(DEADLINE_S) == 1 and running.leftovers() == []


@thorough('console/test_live_run.py::test_what_was_missing_when_the_time_was_over')
def test_timeout_says_what_was_missing(console: Make) -> None:
    # A busy machine may need longer to hear the explorer at all.
    for seconds in (4, 12, 40):
        status, output = console('none', '--once', '--timeout', str(seconds)).run()
        assert status == 1
        assert (told := re.search(rf'Timeout after {seconds} s of waiting for (.*)\.', output))
        if told[1] == 'the first hypothesis':
            break
    assert told[1] == 'the first hypothesis'


@thorough('console/test_live_run.py::test_processes_end_when_the_output_is_read_no_more '
          'console/test_live_run.py::test_output_that_is_read_no_more_is_no_error')
def test_output_without_a_reader_ends_the_nodes(console: Make) -> None:
    read, write = os.pipe()
    running = console('none')
    process = running.start(write)
    os.close(write)
    os.read(read, 1)
    os.close(read)
    assert process.wait(DEADLINE_S) == 0


def on_a_terminal(start: Callable[[int], subprocess.Popen]) -> tuple[int, str]:
    """Return the exit status of a process that has a terminal, and what it has written there."""
    mine, theirs = pty.openpty()
    process = start(theirs)
    os.close(theirs)
    output = ''
    while True:
        try:
            output += os.read(mine, 4096).decode()
        except OSError:
            break
    os.close(mine)
    return process.wait(DEADLINE_S), output


def is_redrawn_in_place(output: str) -> bool:
    return '\x1b[1A' in output and output.index('\x1b[?25l') < output.index('\x1b[?25h')


def test_a_wrong_hypothesis_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_run, 'REPORT_S', 0.0)    # no other report comes
    found = Hypothesis(1, 0, 9, tuple(
        Policy(state, 9, (0, 1), ((0, 0),)) for state in (0, 1)))
    run = Run(monkeypatch, heard=Telemetry(
        phase='checking', hypothesis=found, true_setting=0, exploration_steps=1234,
        report={'round': '1', 'steps': '5678', 'changes_relearnt': '0'}))
    assert run.end('--once') == (1, 'The hypothesis is wrong.')
    said = run.out.getvalue()
    assert re.search(r'^steps +5,678$', said, re.MULTILINE)
    assert re.search(r'^exploration +1,234 steps$', said, re.MULTILINE)
    assert re.search(r'^missing +2 ', said, re.MULTILINE)


@thorough('console/test_live_run.py::test_the_real_nodes '
          'console/test_live_run.py::test_a_wrong_hypothesis_is_said')
def test_a_terminal_is_redrawn_in_place_and_a_wrong_hypothesis_is_said(console: Make) -> None:
    status, output = on_a_terminal(console('wrong', '--once').start)
    assert status == 1 and is_redrawn_in_place(output), output
    assert re.search(r'^steps +5,678\r$', output, re.MULTILINE)
    assert re.search(r'^exploration +1,234 steps\r$', output, re.MULTILINE)
    assert re.search(r'^missing +2\r$', output, re.MULTILINE)
    assert output.endswith('The hypothesis is wrong.\r\n')


def test_the_real_nodes(tmp_path: Path) -> None:
    """On a terminal."""
    (tmp_path / 'corridor.yaml').write_text(CORRIDOR)
    status, output = on_a_terminal(lambda terminal: subprocess.Popen(
        [sys.executable, '-m', 'mnm_ros.console', str(tmp_path / 'corridor.yaml'), '--once',
         '--timeout', str(DEADLINE_S), *strength(('--radius', '2', '--delta', '0.9'), ())],
        env={**os.environ, 'TERM': 'xterm', 'TMPDIR': str(tmp_path)}, stdout=terminal,
        stderr=subprocess.STDOUT, start_new_session=True))
    assert status == 0 and is_redrawn_in_place(output), output
    assert re.search(r'^known +3 states\r$', output, re.MULTILINE), output
    assert output.endswith('The hypothesis is right.\r\n')
    assert not list(tmp_path.glob('mnm_ros_*'))
