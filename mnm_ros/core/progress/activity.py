# SPDX-License-Identifier: Apache-2.0

"""
What an exploration is doing at the moment, as figures and one sentence.

It is published on ``activity`` as one JSON object with the fields of ``Activity`` as keys. A
reader ignores keys that are not known and takes the defaults for those that are missing, so that
an older program understands a newer explorer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
import json
import re
import sys
from typing import Any, TypeVar, Union

from mnm_ros.core.model.problem import RESET

DOINGS = ('idle', 'sampling', 'testing', 'watching')
"""What ``Activity.doing`` may be."""

_T = TypeVar('_T')


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
    action: Union[int, None]
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
class Doing:
    """
    What one part of the algorithm is doing; all else in ``Activity`` is added by those above it.

    :ivar doing, sentence, target, action, tests: as in ``Activity``; the tests in any order.
    """

    doing: str
    sentence: str
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
    """

    aim: str
    done: int
    expected: int
    low: int
    high: int


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
    :ivar target: the state that is sampled, or whose policy is tested or watched; None if there is
        none at the moment.
    :ivar action: the action that is sampled in ``target``; None for a policy.
    :ivar sentence: the same for people.
    :ivar tests: the tests and detectors under way, those closest to a decision first.
    :ivar progress: None where nothing can be said.
    :ivar current: where the robot was last.
    :ivar home: None before the first RESET.
    :ivar candidates: states met that are not known yet.
    :ivar lost: states whose policies were deleted since a change was noticed, and that have not
        been found again.
    :ivar limit: steps that a policy may take, ``(1 + epsilon) L``.
    :ivar expected_steps: by known state, what its policy takes from home if the counts were the
        truth; None where that is unknown.
    """

    step: int = 0
    doing: str = 'idle'
    target: Union[int, None] = None
    action: Union[int, None] = None
    sentence: str = ''
    tests: tuple[Evidence, ...] = ()
    progress: Union[Progress, None] = None
    current: Union[int, None] = None
    home: Union[int, None] = None
    candidates: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()
    limit: float = 0.0
    expected_steps: Mapping[int, Union[float, None]] = field(default_factory=dict)

    def within(self, phase: str) -> str:
        """
        Return the phase that goes with what is being done.

        :param phase: as published. It changes thousands of times a second, and few are published.
        """
        group, _, _ = phase.partition('/')
        return _PHASES.get((group, self.doing), phase)

    def to_json(self) -> str:
        """Return it as one JSON object."""
        return json.dumps(asdict(self), separators=(',', ':'), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Activity:
        """
        Read what ``to_json`` has returned.

        :raises ValueError: says which entry is wrong and what was expected.
        """
        try:
            found = json.loads(text, parse_constant=_no_constant)
        except (json.JSONDecodeError, RecursionError) as error:
            raise ValueError(f'activity: no JSON: {error}, expected a JSON object') from None
        return cls(**_read('activity', found, _ACTIVITY))


def _no_constant(name: str) -> None:
    raise ValueError(f'activity: found {name}, expected finite numbers')


_MOST = sys.float_info.max
_HALF = re.compile('[\ud800-\udfff]')    # what JSON may hold, but no text that is sent on
_Reader = Callable[[str, Any], Any]


def _read(what: str, found: Any, readers: Mapping[str, _Reader]) -> dict[str, Any]:
    """Return the entries that are known and there, each as its reader has it."""
    if not isinstance(found, dict):
        raise _wrong(what, found, 'a JSON object')
    return {key: reader(f'{what}: {key}', found[key])
            for key, reader in readers.items() if key in found}


def _wrong(what: str, found: Any, expected: str) -> ValueError:
    shown = json.dumps(found)
    return ValueError(f'{what} is {shown[:100]}, expected {expected}')


def _value(expected: str, fits: Callable[[Any], bool],
           kind: Callable[[Any], _T]) -> Callable[[str, Any], _T]:
    """Return what reads a value that fits, and refuses all others."""
    def read(what: str, found: Any) -> _T:
        if not fits(found):
            raise _wrong(what, found, expected)
        return kind(found)
    return read


_int = _value('an integer of 64 bits',
              lambda found: type(found) is int and -2**63 <= found < 2**63, int)
_action = _value(f'an action, {RESET} for RESET or at least 0',
                 lambda found: type(found) is int and RESET <= found < 2**63, int)
_float = _value('a number',
                lambda found: type(found) in (int, float) and abs(found) <= _MOST, float)
_str = _value('a text', lambda found: isinstance(found, str) and not _HALF.search(found), str)
_doing = _value(f'one of {", ".join(DOINGS)}', lambda found: found in DOINGS, str)


def _maybe(reader: Callable[[str, Any], _T]) -> Callable[[str, Any], Union[_T, None]]:
    return lambda what, found: None if found is None else reader(what, found)


def _list(reader: Callable[[str, Any], _T]) -> Callable[[str, Any], tuple[_T, ...]]:
    listed = _value('a list', lambda found: isinstance(found, list), list)
    return lambda what, found: tuple(reader(what, entry) for entry in listed(what, found))


def _test(what: str, found: Any) -> Evidence:
    return Evidence(**{'kind': '', 'state': None, 'action': None, 'evidence': 0.0,
                       'threshold': 0.0, **_read(what, found, {
                           'kind': _str, 'state': _maybe(_int), 'action': _maybe(_action),
                           'evidence': _float, 'threshold': _float})})


def _progress(what: str, found: Any) -> Progress:
    given = _read(what, found, {
        'aim': _str, 'done': _int, 'expected': _int, 'low': _int, 'high': _int})
    expected = given.get('expected', 0)
    return Progress(**{'aim': '', 'done': 0, 'expected': expected, 'low': expected,
                       'high': expected, **given})


def _steps(what: str, found: Any) -> dict[int, float | None]:
    if not isinstance(found, dict):
        raise _wrong(what, found, 'a JSON object with an entry for each known state')
    read = _maybe(_float)
    try:
        return {int(state): read(f'{what}: {state}', steps) for state, steps in found.items()}
    except ValueError as error:
        raise ValueError(f'{what}: {error}') from None


_ACTIVITY: Mapping[str, _Reader] = {
    'step': _int, 'doing': _doing, 'target': _maybe(_int), 'action': _maybe(_action),
    'sentence': _str, 'tests': _list(_test), 'progress': _maybe(_progress),
    'current': _maybe(_int), 'home': _maybe(_int), 'candidates': _list(_int),
    'lost': _list(_int), 'limit': _float, 'expected_steps': _steps}
