# SPDX-License-Identifier: Apache-2.0

"""Simulated robots of which is known what they have done, also when they are killed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from faulty_robot import Step
from node_processes import arguments, NodeProcess, PAUSE


def start_logged(start: Callable[..., NodeProcess], log: Path, scenario: str, seed: int = 0,
                 namespace: str = '', forbidden: Sequence[int] = (),
                 **parameters: object) -> NodeProcess:
    """
    Start a simulator that adds its steps to a log.

    :param forbidden: a state and an action that is never to be commanded there.
    """
    log.touch()
    given = arguments(
        {'scenario': scenario, 'seed': seed, 'latency': PAUSE, **parameters}, namespace)
    return start('logged_sim', given=[str(log), *map(str, forbidden), *given])


def played(*logs: Path) -> Counter[Step]:
    """Return how often each step stands in the logs."""
    return Counter(tuple(int(part) for part in line.split()[:3])
                   for log in logs for line in log.read_text().splitlines())
