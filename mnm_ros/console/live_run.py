# SPDX-License-Identifier: Apache-2.0

"""Start the nodes, watch them, stop them, and say by the truth what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
import os
from pathlib import Path
import sys
import tempfile
import time
from typing import NamedTuple, TextIO

from mnm_ros.console.environment import is_reserved
from mnm_ros.console.options import Options, StopCondition
from mnm_ros.console.processes import Child, Interrupt, stop
from mnm_ros.core.knowledge.knowledge import NO_ONE_NUMBER, StateKind
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.queries import Phase
from mnm_ros.language import phrase
from mnm_ros.simulation.ground_truth import judge, Verdict
from mnm_ros.simulation.scenario import Scenario
from mnm_ros.subscriptions import Listener
from mnm_ros.topics import ros_domain
from mnm_ros.view.telemetry import Telemetry
from mnm_ros.view.terminal.live_view import choose, Frame
from mnm_ros.view.terminal.state_grid import pictures
from mnm_ros.view.words import (
    joined,
    known,
    LABEL,
    made,
    robots,
    setting,
    steps,
    to_go,
    version,
    whole,
)

TICK_S = 0.25      # between two pictures
SETTLE_S = 0.3     # in which all topics of one moment have arrived
PAGE = 'dashboard'
OTHERS_S = 3.0     # in which an explorer that is there already is found
HEARD_S = 10.0     # in which one that was found is heard, unless it was killed
REPORT_S = 10.0    # in which the next report arrives, one a second; later on a busy machine


GRACE_S = (5.0, 2.0)          # after SIGINT, and after SIGTERM
ROBOT_GRACE_S = (600.0, 5.0)  # the same; a robot may be led home first, which the explorer limits


class RunEnd(NamedTuple):
    """
    How a run ends: with these last lines and this exit status.

    :ivar page_stays: whether a page stays until Ctrl-C, as it was not ended by a person or a time.
    """

    lines: Sequence[str]
    status: int
    page_stays: bool = True


class LiveRun:
    """One run of all nodes, shown while it goes on."""

    def __init__(self, options: Options, interrupt: Interrupt, out: TextIO) -> None:
        self._options = options
        self._interrupt = interrupt
        self._out = out
        self._pictures = ((),) if options.scenario is None else pictures(
            options.scenario, options.world)
        self._children: list[Child] = []
        self._changed_from: int | None = None
        self._started = 0.0

    def run(self) -> int:
        """Watch until the goal, a signal, the timeout or the end of a node; return the status."""
        with ExitStack() as stack:
            logs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix='mnm_ros_')))
            listener = self._listener = stack.enter_context(Listener(
                self._options.namespace, self._options.ros_arguments, self._options.robots,
                None if self._options.scenario is None else self._options.settings))
            if not is_reserved() and self._is_there(listener):
                self._print(
                    f'{listener.explorer} explores already in ROS domain {ros_domain()}, and '
                    'would be taken for the one that starts here: end it, or choose another '
                    'ROS_DOMAIN_ID or --namespace. `mnm_ros watch` shows it.')
                return 1
            if self._options.scenario is not None:
                self._print(*self._options.scenario.warnings)
            ended = 'robot' if self._options.scenario is None else 'simulation'
            language = self._options.language
            self._display = choose(self._out, Frame(
                self._options.title, self._options.settings,
                self._options.address + phrase(
                    f'terminal.ends_{ended}', language, domain=ros_domain()),
                language), os.environ)
            stack.callback(self._display.close)
            stack.callback(self._stop)
            self._start(logs)
            ending = self._watch()
            if ending.page_stays and any(child.name == PAGE for child in self._running()):
                self._outlive(ending)
                return ending.status
        self._print(*ending.lines)
        return ending.status

    def _is_there(self, listener: Listener) -> bool:
        """Return whether an explorer publishes already; one that was killed does not."""
        begun, told = time.monotonic(), False
        while not self._interrupt.times and time.monotonic() < begun + (
                HEARD_S if listener.found else OTHERS_S):
            told = bool(listener.listen(TICK_S).phase)
            if told and listener.explorer != listener.topic:    # its name is known, too
                return True
        return told

    def _start(self, logs: Path) -> None:
        self._started = time.monotonic()
        for node, arguments in self._options.commands().items():
            log = logs / f'{node.replace("/", "-")}.log'
            self._children.append(Child(node, [sys.executable, *arguments], log, os.environ))

    def _stop(self, *kept: str) -> None:
        before = self._interrupt.times
        grace = GRACE_S if self._options.scenario is not None else ROBOT_GRACE_S
        stop([child for child in self._children if child.name not in kept], grace,
             hurry=lambda: self._interrupt.times > before)

    def _running(self) -> list[Child]:
        return [child for child in self._children if child.status is None]

    def _outlive(self, ending: RunEnd) -> None:
        """Leave the page as it is, and what sends one's own robot, until Ctrl-C or --timeout."""
        self._stop(PAGE, *(['navigator'] if self._options.scenario is None else []))
        self._display.close()
        where = self._options.address.removeprefix('page ').rstrip('; ')
        self._print(*ending.lines,
                    f'The explorer has ended; the page stays {where} until Ctrl-C.')
        while not self._interrupt.times and not self._too_late and any(
                child.name == PAGE for child in self._running()):
            time.sleep(TICK_S)

    def _print(self, *lines: str) -> None:
        if lines:
            print('\n'.join(lines), file=self._out, flush=True)

    @property
    def _too_late(self) -> bool:
        timeout = self._options.timeout
        return timeout is not None and self._elapsed() > timeout

    def _elapsed(self) -> float:
        return time.monotonic() - self._started

    def _show(self, heard: Telemetry) -> None:
        simulated = self._options.scenario is not None
        picture = self._pictures[heard.true_setting or 0 if simulated else 0]
        self._display.show(heard, self._elapsed(), picture)

    def _watch(self) -> RunEnd:
        while True:
            heard = self._listener.listen(TICK_S)
            self._show(heard)
            self._move_doors(heard)
            ending = self._ending(heard)
            if ending is not None:
                return ending

    def _move_doors(self, heard: Telemetry) -> None:
        """Put the next setting of a world in force once the present one has been learnt."""
        goal, setting = self._options.goal, heard.true_setting
        if self._options.world is None or setting is None or setting == self._changed_from:
            return
        last = self._options.settings - 1
        if (setting < (last if goal is None else goal.changes)
                and StopCondition(setting).reached(heard)):
            self._changed_from = setting
            self._listener.change()

    def _ending(self, heard: Telemetry) -> RunEnd | None:
        goal = self._options.goal
        if self._interrupt.times:
            return self._interrupted()
        for child in self._children:
            if child.status is not None:
                return RunEnd([f'{child.name} {child.ending}. The end of its log:',
                               *(f'  {line}' for line in child.tail())], 1)
        if goal is not None and goal.reached(heard):
            return self._reached()
        if goal is not None and heard.phase in (Phase.FAULT.value, Phase.DONE.value):
            return RunEnd([f'The explorer stopped before the goal: {heard.status}'], 1)
        if self._too_late:
            awaited = goal.awaited(heard) if goal else 'Ctrl-C'
            left = to_go(heard) if goal else ''
            return RunEnd([f'Timeout after {self._options.timeout:g} s of waiting for {awaited}'
                           + (f' ({left}).' if left else '.')], 1, False)
        return None

    def _interrupted(self) -> RunEnd:
        if self._options.goal is None:
            return RunEnd(['Ended.'], 0, False)
        return RunEnd(['Interrupted before the goal.'], 128 + self._interrupt.number, False)

    def _reached(self) -> RunEnd:
        seconds = self._elapsed()
        # The topics of one moment arrive one after the other. All are taken in before what is
        # judged, which is of before the next setting can be in force.
        judged = self._listener.listen(SETTLE_S)
        scenario, problem = self._options.scenario, self._options.problem
        latest = self._next_report(judged)
        self._show(latest)
        shown = replace(
            judged, report=latest.report, exploration_steps=latest.exploration_steps,
            robots=latest.robots,
            true_setting=(latest if judged.true_setting is None else judged).true_setting)
        if scenario is None:
            return RunEnd(learnt(shown, seconds), 0)
        found = verdict(shown, scenario, problem)
        return RunEnd(summary(shown, scenario, problem, found, seconds), int(not found.ok))

    def _next_report(self, heard: Telemetry) -> Telemetry:
        deadline = time.monotonic() + REPORT_S
        latest = heard
        options = self._options
        simulated = options.scenario is not None
        counts = simulated and options.world is None and not options.robots
        # On a busy machine a simulator may be found later than the explorer.
        while time.monotonic() < deadline and (
                latest.reports == heard.reports or _precedes_hypothesis(latest)
                or simulated and latest.true_setting is None
                or counts and latest.exploration_steps is None):
            latest = self._listener.listen(0.1)
        return latest


def _precedes_hypothesis(heard: Telemetry) -> bool:
    """Return whether the diagnostics are of an earlier round, or do not say of which."""
    hypothesis = heard.hypothesis
    return hypothesis is not None and (heard.count('round') or 0) < hypothesis.version[0]


def verdict(heard: Telemetry, scenario: Scenario, problem: Problem) -> Verdict:
    """Compare the hypothesis with the setting in force."""
    cmp = scenario.settings[heard.true_setting or 0].cmp
    return judge(cmp, heard.hypothesis, problem.radius, problem.epsilon)


def learnt(heard: Telemetry, seconds: float) -> list[str]:
    """Return the last lines where the truth is not known; the other arguments are as below."""
    return [*_lines([
        ('hypothesis', version(heard)),
        ('known', known(heard)),
        ('steps', joined(steps(heard), made(heard))),
        *_robots(heard),
        ('wall time', f'{seconds:.1f} s from the start of the explorer to the goal'),
    ]), '', *([NO_ONE_NUMBER] if heard.known else []),
            'The explorer has ended; nobody here knows whether its hypothesis is right.']


def summary(
        heard: Telemetry, scenario: Scenario, problem: Problem, found: Verdict,
        seconds: float) -> list[str]:
    """Return the last lines; ``seconds`` is the time from the start of the nodes to the goal."""
    limit = f'limit {problem.limit:g} expected steps'
    far = [state for state in heard.knowledge.of(StateKind.BEYOND) if state not in found.missing]
    over = [f'state {state}: {tau:.2f}' for state, tau in found.over_limit]
    rows = [
        ('hypothesis', version(heard)),
        ('simulated world', setting(heard.true_setting, len(scenario.settings))),
        ('known', f'{len(heard.known)} states'),
        ('missing', ' '.join(map(str, found.missing)) or 'none'),
        ('over the limit', f'{", ".join(over) or "none"} ({limit})'),
        *([('too far', f'{" ".join(map(str, far))} (seen, but not within the radius '
                       f'{problem.radius:g})')] if far else []),
        ('steps', joined(steps(heard), made(heard))),
        *([] if heard.exploration_steps is None else    # only cmp_sim counts them
          [('exploration', f'{whole(heard.exploration_steps)} steps')]),
        *_robots(heard),
        ('wall time', f'{seconds:.1f} s from the start of the nodes to the goal'),
    ]
    return [*_lines(rows), '',
            'The hypothesis is right.' if found.ok else 'The hypothesis is wrong.']


def _robots(heard: Telemetry) -> list[tuple[str, str]]:
    return [('' if index else 'robots', line)
            for index, line in enumerate(robots(heard, len(heard.robots)))]


def _lines(rows: Iterable[tuple[str, str]]) -> list[str]:
    return [f'{label:<{LABEL}}{value}' for label, value in rows]
