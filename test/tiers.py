# SPDX-License-Identifier: Apache-2.0

"""
The three tiers of the tests, and what each test function has cost.

- ``scripts/test --quick`` runs the tests that need no nodes and cost at most ``QUICK``, or are
  marked ``quick``, as nothing else notices that a promise of ``promises.py`` is broken.
- ``scripts/test`` tests each claim once. Seeds are few and effects large, but a false claim fails.
- ``scripts/test --all`` adds what is marked ``thorough``, and the full ``strength`` of the others.

``costs.json`` holds the costs, as ``scripts/test --record-costs`` has measured them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import json
import os
from pathlib import Path
import time
from typing import NamedTuple, TypeVar

import pytest

_T = TypeVar('_T')

COSTS = Path(__file__).with_name('costs.json')

WITH_NODES = ('benchmarks', 'console', 'contract', 'launch', 'nodes')
"""Folders whose tests start nodes, other processes, or both."""

QUICK = 0.25
"""CPU time in s of a test function, all cases together: more is recorded, and not quick."""

LONG = 15.0
"""Wall time in s from which on a file is begun before all others, the longest first."""

_WORK = 20_000_000    # rounds of a loop: 0.5 s on a quick machine that does nothing else
_ALL = 'MNM_TEST_ALL'    # of the environment, so that programs started by a test know it, too


def choose(everything: bool) -> None:
    """Let this run have the full strength, or that of the default tier."""
    os.environ[_ALL] = '1' if everything else ''


def strength(default: _T, everything: _T) -> _T:
    """Return the first of two strengths of a test, or the second with ``--all``."""
    return everything if os.environ.get(_ALL) else default


def thorough(shown_by: str) -> pytest.MarkDecorator:
    """
    Mark a test, or a case of it, that only ``--all`` runs.

    :param shown_by: the tests of the default tier that fail if the same claim is false, each as
        ``folder/test_file.py::test_function`` below ``test``, separated by spaces. A case may name
        its own test if other cases of it remain.
    """
    return pytest.mark.thorough(shown_by=shown_by)


class Costs(NamedTuple):
    """
    What a run has cost, in seconds of a quick machine.

    :ivar functions: CPU time in s by ``folder/test_file.py::test_function``, all cases together.
    :ivar files: wall time in s by ``folder/test_file.py``, with the waiting.
    """

    functions: Mapping[str, float]
    files: Mapping[str, float]

    def keep(self) -> None:
        """Write what is worth it, the most expensive first."""
        slow = slowness(time.process_time)

        def worth(costs: Mapping[str, float], least: float) -> dict[str, float]:
            scaled = {name: round(cost / slow, 1) for name, cost in costs.items()}
            return {name: cost for name, cost in sorted(
                scaled.items(), key=lambda item: (-item[1], item[0])) if cost >= least}
        COSTS.write_text(json.dumps({
            'functions': worth(self.functions, QUICK), 'files': worth(self.files, LONG)},
            indent=1) + '\n', encoding='utf-8')


def slowness(clock: Callable[[], float] = time.monotonic) -> float:
    """
    Return how many times as long as on a quick machine computing takes here, at least 1.

    :param clock: by which the time is taken, in s; by default, who is busy counts, too.
    """
    begun = clock()
    for _ in range(_WORK):
        pass
    return max(1.0, (clock() - begun) / 0.5)


def recorded(path: Path = COSTS) -> Costs:
    """Return what was recorded; nothing of tests that are new or cost little."""
    try:
        return Costs(**json.loads(path.read_text(encoding='utf-8')))
    except FileNotFoundError:
        return Costs({}, {})
