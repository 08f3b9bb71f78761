# SPDX-License-Identifier: Apache-2.0

"""What ``WatchPhase`` is doing, in figures and sentences for people; it only reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
import math
from typing import NamedTuple

from mnm_ros.core.detection.detector import Detector
from mnm_ros.core.progress.activity import Doing, Evidence


class Rediscovery(NamedTuple):
    """The rediscovery under way: its number, its steps and how many it may take, ``W_r``."""

    number: int
    steps: int
    most: int


def watching_now(run: Doing | None, target: int, rediscovery: Rediscovery,
                 detectors: Mapping[int, Detector], transitions: Iterable[Evidence]) -> Doing:
    """
    Return what the phase is doing.

    :param run: what the rediscovery is doing; None while it does not have the robot.
    :param target: of the policy under watch.
    :param detectors: of the policies by target.
    :param transitions: the evidence against pairs.
    """
    tests = (
        *(run.tests if run else ()), *_of_policies(detectors), *transitions,
        Evidence('rediscovery', None, None, float(rediscovery.steps), float(rediscovery.most)))
    if run is not None:
        return replace(run, tests=tests,
                       sentence='looking for what is new or has changed (rediscovery '
                                f'{rediscovery.number}): {run.sentence}')
    sentence = f'checking that the policy to {target} still works'
    if target in detectors:
        detector = detectors[target]
        sentence += (f': evidence against it {max(0.0, detector.evidence):.1f} of '
                     f'{detector.threshold:.1f}')
        if detector.proving and not detector.proven:
            sentence += ', for it {:.1f} of {:.1f}'.format(*detector.proof)
    return Doing('watching', sentence, target, None, tests)


def _of_policies(detectors: Mapping[int, Detector]) -> Iterator[Evidence]:
    for target, detector in detectors.items():
        yield Evidence(
            'detector', target, None, max(0.0, detector.evidence), detector.threshold)
        if detector.proving and not detector.proven:
            yield Evidence('proof', target, None, *detector.proof)


def attempts_left(unproven: Mapping[int, float], watched: int,
                  expected_steps: Mapping[int, float | None], limit: float, horizon: int) -> int:
    """
    Return the steps that it may take until all policies are proven.

    After each attempt, the rediscovery has the robot for a quantum, which is as long as the
    horizon. Every other attempt is that of a policy without a proof; for the others, policies take
    turns.

    :param unproven: targets without a proof, with the nats that each lacks.
    :param watched: policies in all.
    :param expected_steps: by target, as far as they are known.
    :param limit: ``m``, in steps.
    """
    attempts = steps = 0.0
    for target, lacking in unproven.items():
        takes = min(expected_steps.get(target) or 0.5 * limit, 0.9 * limit)
        count = math.ceil(lacking / math.log1p(_BET * (limit - takes) / (horizon + 1)))
        attempts += count
        steps += count * (takes + 1)
    if not attempts:
        return 0
    share = 0.5 + 0.5 * len(unproven) / watched
    return math.ceil((steps + attempts * horizon) / share)


_BET = 0.7    # about what the bets of a detector for a policy come to, see ``Detector``
