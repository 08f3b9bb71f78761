"""The check before a trial, without ROS: time is passed in, in seconds.

A probe is played through the step protocol, and what was seen on the way is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import mean, median

from mnm_ros.core.problem import RESET, Problem
from mnm_ros.protocol.clients import REPORT, Incoming, RetryTimer, StepClient
from mnm_ros.trial.prediction import LEARNT, MEASURED_STATES, PROBED, factors, predict
from mnm_ros.trial.probe import Probe

_REPORTS = 20    # of having been moved, after which the check is given up


@dataclass(frozen=True)
class Check:
    """One line of the verdict."""

    name: str
    ok: bool
    text: str

    def __str__(self) -> str:
        return f'{"ok    " if self.ok else "FAILED"}  {self.name:<12} {self.text}'


class ProbeRun:
    """Plays a probe and keeps what the checks look at.

    names: of the actions, in order. send: publishes ``[seq, action]``.
    first_seq: the time in nanoseconds. patience: with which an answer is waited for.
    """

    def __init__(self, names: Sequence[str], probe: Probe, patience: RetryTimer, first_seq: int,
                 send: Callable[[int, int], None]) -> None:
        self._names = [*names, 'RESET']    # -1 is the last one
        self._probe = probe
        self._patience = patience
        self._client = StepClient(first_seq, patience)
        self._send = send
        self._begun = 0.0
        self._again = False    # whether the order under way was sent again
        self._times: dict[int, list[float]] = {}
        self._late: list[str] = []
        self._answered: tuple[int, bool] | None = None
        self._twice = self._foreign = self._reports = 0
        self.given_up = ''

    @property
    def over(self) -> bool:
        """Whether the probe has been played, or the robot no longer answers."""
        return self._probe.over or bool(self.given_up)

    @property
    def steps(self) -> int:
        """Steps answered so far."""
        return sum(map(len, self._times.values()))

    def start(self, now: float) -> None:
        """Send the next order."""
        self._begun, self._again = now, False
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
        elif self._client.receive(seq) is Incoming.ANSWER:
            self._times.setdefault(self._probe.next_action(), []).append(now - self._begun)
            self._answered = seq, self._again
            self._probe.observe(state)
            if not self._probe.over:
                self.start(now)
        elif self._answered == (seq, False):
            self._twice += 1
        elif not self._client.sent(seq):
            self._foreign += 1

    def tick(self, now: float) -> None:
        """Send again what is overdue; to be called now and then."""
        if self.over:
            return
        order = self._client.overdue(now)
        if order is None:
            return
        name = self._names[order[1]]
        if self._patience.exhausted:
            self.given_up = f'{name} was not answered within {now - self._begun:.1f} s'
            return
        if not self._again and self.steps:    # the first RESET may be lost: not yet connected
            self._late.append(name)
        self._again = True
        self._send(*order)

    def checks(self) -> Iterator[Check]:
        """Yield the checks that can be judged by what has been seen."""
        homes = self._probe.homes
        if not homes:
            yield Check('RESET', False, self.given_up or 'RESET was not answered')
            return
        led = ', '.join(f'state {state} {count} times' for state, count in homes.most_common())
        yield Check('RESET', len(homes) == 1, f'led to {led}' + (
            '' if len(homes) == 1 else ', expected one and the same state'))
        yield Check('actions', not (self.given_up or self._late), self._answers())
        foreign = [f'{count} {what}' for count, what in (
            (self._twice, 'second answers'), (self._foreign, 'answers to somebody else'),
            (self._reports, 'reports of having been moved'))
            if count]
        yield Check('nothing else', not foreign, ' and '.join(foreign) + ', expected none'
                    if foreign else 'no second answers, no reports of having been moved')

    def outlook(self, problem: Problem, states: int) -> Iterator[str]:
        """Yield what to expect of an exploration.

        states: to be learnt; 0 to go by the probe.
        """
        times = sorted(chain.from_iterable(self._times.values()))
        if not self._probe.over or not times:
            return
        high = times[min(len(times) - 1, int(0.95 * len(times)))]
        yield f'a step takes {median(times):.3g} s (median; 95% {high:.3g} s)'
        found, complete = self._probe.estimate()
        met = len(self._probe.met)
        yield (f'{met} states met, {"" if complete else "at least "}{found} of them within '
               f'{problem.radius:g} steps by what was seen')
        prediction = predict(LEARNT if states else PROBED, factors(
            states or found, met, problem.actions, problem.radius, problem.epsilon,
            problem.delta))
        least, middle, most = (
            f'{_rounded(steps):,} steps ({duration(steps * mean(times))})'
            for steps in (prediction.low, prediction.steps, prediction.high))
        yield (f'first hypothesis predicted after about {middle}; in 9 of 10 worlds between '
               f'{least} and {most}')
        if not MEASURED_STATES[0] <= (states or found) <= MEASURED_STATES[1]:
            yield ('this prediction is an extrapolation: it was measured with '
                   f'{MEASURED_STATES[0]} to {MEASURED_STATES[1]} states')

    def _answers(self) -> str:
        if self.given_up:
            return self.given_up
        if self._late:
            names = ', '.join(dict.fromkeys(self._late))
            return (f'{len(self._late)} of {self.steps} steps took longer than '
                    f'{self._patience.timeout:g} s: {names}')
        return 'answered in time: ' + ', '.join(
            f'{self._names[action]} {median(self._times[action]):.3g} s'
            for action in (*range(len(self._names) - 1), RESET) if action in self._times)


def _rounded(steps: float) -> int:
    return int(float(f'{steps:.2g}'))


def duration(seconds: float) -> str:
    """Return a time span for people."""
    for unit, name in ((3600.0, 'hours'), (60.0, 'minutes')):
        if seconds >= 2 * unit:
            return f'{seconds / unit:.1f} {name}'
    return f'{seconds:.0f} seconds'
