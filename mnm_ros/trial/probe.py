# SPDX-License-Identifier: Apache-2.0

"""
The check of a robot side before a trial, without ROS: time is passed in, in seconds.

A probe, a few steps that show how a robot and its world behave, is executed by the step protocol.
Its answers lead to findings and to a prediction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
import math
from random import Random
from statistics import mean, median

from mnm_ros.core.errors import ProtocolError
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.progress.prediction import (
    factors,
    LEARNT,
    MEASURED_STATES,
    predict,
    PROBED,
    smaller_radius,
)
from mnm_ros.protocol.exchange import REPORT, RetryTimer, SequenceNumbers, StepClient
from mnm_ros.simulation.cmp import TableCmp
from mnm_ros.simulation.ground_truth import reachable_states
from mnm_ros.trial.rehearsal import rehearse, StepSeconds
from mnm_ros.view.words import duration


class Probe:
    """
    Plays every action from home, and then in each state the action tried least there.

    :param actions: the number of actions without RESET.
    :param radius: ``L``; a walk from home has at most twice as many steps.
    :param resets, steps: the least numbers of RESETs and of other actions to play.
    :param seed: of the choice among actions tried equally often.
    :ivar declaration: where actions may lead; a pair that leads nowhere is never executed.
    :ivar homes: how often a RESET ended in each state.
    :ivar counts: per (state, action), without RESET, how often each next state followed.
    """

    def __init__(self, actions: int, radius: float, resets: int, steps: int, seed: int) -> None:
        self.declaration = Declaration()
        self.homes: Counter[int] = Counter()
        self.counts: dict[Pair, Counter[int]] = {}
        self._actions = range(actions)
        self._radius = radius
        self._longest = 2 * math.ceil(radius)
        self._resets = resets
        self._steps = steps
        self._random = Random(seed)
        self._from_home = list(self._actions)    # still to be executed there
        self._here = 0    # of no effect, as the first action is RESET
        self._walked = self._played = 0
        self._next: int | None = RESET

    @property
    def over(self) -> bool:
        """Whether everything has been executed; the robot is then at home."""
        return self._next is None

    @property
    def home(self) -> int:
        """Return the state in which RESET ended most often."""
        return self.homes.most_common(1)[0][0]

    @property
    def met(self) -> set[int]:
        """All states seen so far."""
        return {*self.homes, *(state for seen in self.counts.values() for state in seen)}

    def next_action(self) -> int:
        """Return the action to play, which is the same until ``observe`` or ``relocate``."""
        if self._next is None:
            raise ProtocolError('an action is asked for, expected none as the probe is over')
        return self._next

    def observe(self, state: int) -> None:
        """Count the transition by the last ``next_action`` to ``state``."""
        action = self.next_action()
        if action == RESET:
            self.homes[state] += 1
            self._walked = 0
        else:
            self.counts.setdefault((self._here, action), Counter())[state] += 1
            self._walked += 1
            self._played += 1
        self._here = state
        self._next = self._choose()

    def relocate(self) -> None:
        """Record that the robot may be anywhere; the next action is RESET."""
        self._next = RESET

    def estimate(self, radius: float | None = None) -> tuple[int, bool]:
        """
        Return how many states seem to be within the radius, and whether these are all.

        The estimate takes the observed frequencies for the truth and lets untried actions stay
        put. There may be more states if an action is untried in one of those found.

        :param radius: None for that of the probe.
        """
        found = reachable_states(TableCmp.from_counts(
            self.home, len(self._actions), self.counts), radius or self._radius)
        return len(found), all((state, action) in self.counts
                               for state in found for action in self._allowed(state))

    def undeclared(self) -> Iterator[tuple[int, int, int]]:
        """Yield each state and action that has led where it is not declared to, and that end."""
        for (state, action), seen in self.counts.items():
            ends = self._declared(state, action)
            yield from ((state, action, end) for end in seen if ends and end not in ends)

    def _declared(self, state: int, action: int) -> Sequence[int] | None:
        """Return where an action may lead; None for anywhere."""
        lists = self.declaration.successors.get(state)
        return None if lists is None else lists[action]

    def _allowed(self, state: int) -> list[int]:
        return [action for action in self._actions if self._declared(state, action) != ()]

    def _choose(self) -> int | None:
        if self._walked and (self._from_home or self._walked >= self._longest):
            return RESET
        allowed = self._allowed(self._here)
        while self._from_home:
            action = self._from_home.pop(0)
            if action in allowed:
                return action
        if self._played >= self._steps or not allowed:
            enough = not self._walked and sum(self.homes.values()) >= self._resets
            return None if enough else RESET
        least = min(map(self._tried, allowed))
        return self._random.choice(
            [action for action in allowed if self._tried(action) == least])

    def _tried(self, action: int) -> int:
        return sum(self.counts.get((self._here, action), {}).values())


_SHOWN = 5       # steps that have ended elsewhere than declared
_REPORTS = 20    # reports of having been moved, after which the probe is abandoned


@dataclass(frozen=True)
class ProbeResult:
    """One line of the result: what was examined, whether it is as it should be, and details."""

    name: str
    ok: bool
    text: str

    def __str__(self) -> str:
        return f'{"ok    " if self.ok else "FAILED"}  {self.name:<12} {self.text}'


class ProbeRun:
    """
    Plays a probe by the step protocol and keeps what the findings need.

    :param names: of the actions, in order.
    :param timer: of the answers.
    :param first_seq: of the first action; the time in nanoseconds.
    :param send: publishes ``[seq, action]``.
    :param clock: by which the time of a step is measured; None for that of all times passed in.
    :ivar given_up: why the probe was abandoned, or ''.
    :ivar foreign: how many answers to commands of other nodes came.
    """

    def __init__(self, names: Sequence[str], probe: Probe, timer: RetryTimer, first_seq: int,
                 send: Callable[[int, int], None],
                 clock: Callable[[], float] | None = None) -> None:
        self.given_up = ''
        self._clock = clock
        self._begun_at = 0.0    # by the clock
        self._names = [*names, 'RESET']    # RESET is -1, hence the last one
        self._probe = probe
        self._timer = timer
        self._numbers = SequenceNumbers(first_seq)
        self._client = StepClient(self._numbers, timer)
        self._send = send
        self._begun = 0.0
        self._sent_again = False    # the action under way
        self._times: dict[int, list[float]] = {}    # until an answer, per action
        self._late: list[str] = []
        self._answered: tuple[int, bool] | None = None    # the last seq, and if sent again
        self.foreign = 0
        self._twice = self._reports = 0

    @property
    def over(self) -> bool:
        """Whether the probe has been executed or abandoned."""
        return self._probe.over or bool(self.given_up)

    @property
    def steps(self) -> int:
        """Return the number of steps answered so far."""
        return sum(map(len, self._times.values()))

    def start(self, now: float) -> None:
        """Send the next action."""
        self._begun, self._sent_again = now, False
        self._begun_at = self._clock() if self._clock else now
        self._send(*self._client.start(self._probe.next_action(), now))

    def on_state(self, seq: int, state: int, now: float) -> None:
        """Take a ``state`` message."""
        if self.over:
            return
        if seq == REPORT:
            self._reports += 1
            self._client.abandon()
            self._probe.relocate()
            if self._reports >= _REPORTS:
                self.given_up = f'given up after {self._reports} reports of having been moved'
            else:
                self.start(now)
        elif self._client.receive(seq) is not None:
            self._times.setdefault(self._probe.next_action(), []).append(
                (self._clock() if self._clock else now) - self._begun_at)
            self._answered = seq, self._sent_again
            self._probe.observe(state)
            if not self._probe.over:
                self.start(now)
        elif self._answered == (seq, False):
            self._twice += 1
        elif not self._numbers.sent(seq):
            self.foreign += 1

    def tick(self, now: float) -> None:
        """Send again an action that is overdue; to be called now and then."""
        if self.over:
            return
        command = self._client.overdue(now)
        if command is None:
            return
        name = self._names[command[1]]
        if self._timer.exhausted:
            self.given_up = f'{name} was not answered within {now - self._begun:.1f} s'
            return
        # The very first RESET may get lost before both sides are connected.
        if not self._sent_again and self.steps:
            self._late.append(name)
        self._sent_again = True
        self._send(*command)

    def findings(self) -> Iterator[ProbeResult]:
        """Yield what the answers so far show."""
        homes = self._probe.homes
        if not homes:
            yield ProbeResult('RESET', False, self.given_up or 'RESET was not answered')
            return
        led = ', '.join(f'state {state} {count} times' for state, count in homes.most_common())
        yield ProbeResult('RESET', len(homes) == 1, f'led to {led}' + (
            '' if len(homes) == 1 else ', expected one and the same state'))
        if self._probe.declaration:
            yield self._declared()
        yield ProbeResult('actions', not (self.given_up or self._late), self._answers())
        others = ' and '.join(f'{count} {what}' for count, what in (
            (self._twice, 'second answers'), (self.foreign, 'answers to other senders'),
            (self._reports, 'reports of having been moved')) if count)
        yield ProbeResult('nothing else', not others, f'{others}, expected none' if others else
                          'no second answers, no reports of having been moved')

    def outlook(self, problem: Problem, states: int) -> Iterator[str]:
        """
        Yield the lines that predict an exploration; none unless the probe is complete.

        :param states: the number of states to be learnt; 0 to estimate it by the probe.
        """
        times = sorted(chain.from_iterable(self._times.values()))
        if not self._probe.over or not times:
            return
        high = times[min(len(times) - 1, int(0.95 * len(times)))]
        yield f'a step takes {median(times):.3g} s (median; 95% {high:.3g} s)'
        found, complete = self._probe.estimate()
        met = len(self._probe.met)
        yield (f'{met} states met, {"" if complete else "at least "}{found} of them within '
               f'{problem.radius:g} steps by the observed transitions')
        rehearsed = None if states or not self._probe.declaration else rehearse(
            problem, self._probe.home, self._probe.declaration, self._probe.counts,
            timed=self._step_seconds)
        prediction = rehearsed.prediction if rehearsed else predict(
            LEARNT if states else PROBED, factors(
                states or found, met, problem.actions, problem.radius, problem.epsilon,
                problem.delta))
        pace = rehearsed.pace if rehearsed else mean(times)
        least, middle, most = (
            f'{_rounded(steps):,} steps ({duration(steps * pace)})'
            for steps in (prediction.low, prediction.steps, prediction.high))
        yield (f'first hypothesis predicted after about {middle}; in 9 of 10 worlds between '
               f'{least} and {most}')
        if rehearsed:
            yield (f'it is predicted by a simulation of the world as it is declared, in which '
                   f'{rehearsed.places} states became known')
        elif self._probe.declaration:
            yield ('what is declared is not in that: with a declaration it took 0.07 to 0.27 of '
                   'the steps (benchmarks/hours)')
        hours = prediction.steps * pace
        smaller = smaller_radius(problem.radius, lambda radius: self._probe.estimate(radius)[0])
        if smaller and hours >= 3600:
            yield (f'L = {smaller[0]:g} would take about {duration(smaller[1] * hours)}, by how '
                   'many of the states met are so near')
        if not rehearsed and not MEASURED_STATES[0] <= (states or found) <= MEASURED_STATES[1]:
            yield ('this prediction is an extrapolation: it was measured with '
                   f'{MEASURED_STATES[0]} to {MEASURED_STATES[1]} states')

    def _step_seconds(self) -> StepSeconds:
        """Return the s of a step: the mean of its action, or else of all."""
        means = {action: mean(times) for action, times in self._times.items()}
        whole = mean(chain.from_iterable(self._times.values()))
        return lambda _, action, __: means.get(action, whole)

    def _declared(self) -> ProbeResult:
        """Return whether the steps have ended where they are declared to."""
        elsewhere = [f'{self._names[action]} in state {state} led to {end}, declared were '
                     f'{list(self._probe.declaration.successors[state][action])}'
                     for state, action, end in self._probe.undeclared()]
        return ProbeResult('declaration', not elsewhere, '; '.join(elsewhere[:_SHOWN]) or (
            'every step has ended where it is declared to'))

    def _answers(self) -> str:
        if self.given_up:
            return self.given_up
        if self._late:
            names = ', '.join(dict.fromkeys(self._late))
            return (f'{len(self._late)} of {self.steps} steps took longer than '
                    f'{self._timer.timeout:g} s: {names}')
        return 'answered in time: ' + ', '.join(
            f'{self._names[action]} {median(self._times[action]):.3g} s'
            for action in (*range(len(self._names) - 1), RESET) if action in self._times)


def _rounded(steps: float) -> int:
    return int(float(f'{steps:.2g}'))
