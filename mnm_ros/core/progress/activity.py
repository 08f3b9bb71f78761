# SPDX-License-Identifier: Apache-2.0

"""
The activity of an exploration at the moment, as figures and as a value.

It is published on ``activity`` as one JSON object with the fields of ``Activity`` as keys. A
reader ignores keys that are not known and takes the defaults for those that are missing, so that
an older program understands a newer explorer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
import json
from typing import Annotated, Any, Union

from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.json_values import (
    by_state,
    maybe,
    number,
    one_of,
    read_json,
    reader_of,
    wrong,
)
from mnm_ros.core.progress.said import maybe_said, Said

DOINGS = ('idle', 'sampling', 'testing', 'watching')
"""What ``Activity.doing`` may be."""

_doing = partial(one_of, DOINGS)
_expected = by_state('known state', maybe(number))


def _action(what: str, found: Any) -> int:
    """Read an action, RESET among them."""
    if type(found) is int and RESET <= found < 2**63:
        return found
    raise wrong(what, found, f'an action, {RESET} for RESET or at least 0')


def _sources(what: str, found: Any) -> dict[str, int]:
    """Read how many of something came from each source."""
    if isinstance(found, dict) and all(type(count) is int for count in found.values()):
        return found
    raise wrong(what, found, 'counts by source')


@dataclass(frozen=True)
class Evidence:
    """
    A test or a detector, and how close it is to a decision.

    :ivar kind: ``certificate`` or ``policy`` while a state is to become known, ``detector`` for a
        policy under watch, ``proof`` for one that has to prove that it still works,
        ``transition`` for where an action leads, ``rediscovery`` for the steps of one.
    :ivar state: the target of the policy, or the state of the pair.
    :ivar action: of the pair; None for a policy.
    :ivar evidence, threshold: it decides once the evidence is at the threshold.
    """

    kind: str
    state: Union[int, None]
    action: Union[Annotated[int, _action], None]
    evidence: float
    threshold: float

    @property
    def share(self) -> float:
        """Return how much of the threshold is there."""
        return self.evidence / self.threshold if self.threshold > 0 else 0.0


def closest(tests: Iterable[Evidence], most: int = 20) -> tuple[Evidence, ...]:
    """Return the tests that are closest to a decision, the closest first."""
    return tuple(sorted((test for test in tests if test.threshold > 0),
                        key=lambda test: -test.share)[:most])


@dataclass(frozen=True)
class ClosedWay:
    """
    A way that is closed, with times in s since 1970.

    :ivar since: None if that is not known.
    :ivar next_try: when the robot tries the way again at the latest; None for now, or if unknown.
    """

    state: int
    action: int
    since: Union[float, None] = None
    next_try: Union[float, None] = None


@dataclass(frozen=True)
class PhaseActivity:
    """
    What one part of the algorithm is doing; all else in ``Activity`` is added by those above it.

    :ivar doing, said, target, action, tests: as in ``Activity``; the tests in any order.
    """

    doing: str
    said: Said
    target: Union[int, None] = None
    action: Union[int, None] = None
    tests: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class Progress:
    """
    How far it is.

    :ivar aim: ``first hypothesis``, ``check`` (the rediscovery under way) or ``relearning``.
    :ivar done: steps made for the aim so far.
    :ivar expected: steps that it is predicted to take in all.
    :ivar low, high: the range in which it was in 90% of the runs in which that was measured.
    :ivar smaller_radius, smaller_expected: an ``L`` that would take at most half of the steps
        from the start to the first hypothesis, and how many, by the states met; 0 for none.
    """

    aim: str
    done: int
    expected: int
    low: int
    high: int
    smaller_radius: float = 0.0
    smaller_expected: int = 0


def _progress(what: str, found: Any) -> Progress:
    """Read a progress, of which the range may be missing."""
    if isinstance(found, dict) and 'expected' in found:
        found = {**dict.fromkeys(('low', 'high'), found['expected']), **found}
    read: Progress = reader_of(Progress)(what, found)
    return read


_PHASES = {
    ('building', 'sampling'): 'building/discovery', ('building', 'testing'): 'building/evaluation',
    ('checking', 'sampling'): 'checking/rediscovery',
    ('checking', 'testing'): 'checking/rediscovery',
    ('checking', 'watching'): 'checking/evaluation'}


@dataclass(frozen=True)
class Activity:
    """
    What is being done now.

    :ivar step: steps so far.
    :ivar doing: one of ``DOINGS``.
    :ivar target: the state that is sampled, or whose policy is tested or checked; None if there is
        none at the moment.
    :ivar action: the action that is sampled in ``target``; None for a policy.
    :ivar sentence: the same for people, once it is published; the core leaves it empty.
    :ivar said: the same as a value; None while nothing is done.
    :ivar tests: the tests and detectors under way, those closest to a decision first.
    :ivar progress: None where nothing can be said.
    :ivar current: where the robot was last.
    :ivar home: None before the first RESET.
    :ivar candidates: states met that are not known yet.
    :ivar lost: states of which a change that was noticed took the policy, or what was certified
        while there was no hypothesis, and that have not been found again.
    :ivar limit: steps that a policy may take, ``(1 + epsilon) L``.
    :ivar expected_steps: by known state, what its policy takes from home if the counts were the
        truth; None where that is unknown.
    :ivar revising: whether a change is open, or another hypothesis is being built.
    :ivar work: executions beside the steps that others have ordered, and that count.
    :ivar sources: how many transitions each robot or node has reported, without RESETs.
    :ivar closed: the ways that are closed.
    """

    step: int = 0
    doing: Annotated[str, _doing] = 'idle'
    target: Union[int, None] = None
    action: Union[Annotated[int, _action], None] = None
    sentence: str = ''
    tests: tuple[Evidence, ...] = ()
    progress: Annotated[Union[Progress, None], maybe(_progress)] = None
    current: Union[int, None] = None
    home: Union[int, None] = None
    candidates: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()
    limit: float = 0.0
    expected_steps: Annotated[Mapping[int, Union[float, None]], _expected] = field(
        default_factory=dict)
    revising: bool = False
    work: int = 0
    sources: Annotated[Mapping[str, int], _sources] = field(default_factory=dict)
    said: Annotated[Union[Said, None], maybe_said] = None
    closed: tuple[ClosedWay, ...] = ()

    def within(self, phase: str) -> str:
        """
        Return the phase that goes with what is being done.

        :param phase: as published. It changes thousands of times a second, and few are published.
        """
        group, _, _ = phase.partition('/')
        return _PHASES.get((group, self.doing), phase)

    def to_json(self) -> str:
        """Return it as one JSON object."""
        return json.dumps({**asdict(self), 'said': self.said and self.said.to_plain()},
                          separators=(',', ':'), allow_nan=False)

    @classmethod
    def from_json(cls, told: str) -> Activity:
        """
        Read what ``to_json`` has returned.

        :raises ValueError: says which entry is wrong and what was expected.
        """
        return read_json(cls, 'activity', told)
