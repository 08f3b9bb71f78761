# SPDX-License-Identifier: Apache-2.0

"""Detectors of changes of transitions: their error, by theory and by trial, and their delay."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
import math
from typing import Any, NamedTuple

from binomial import binomial_tail
from mnm_ros.core import Policy, RESET
from mnm_ros.core.detection import transition_detector
from mnm_ros.core.detection.transition_detector import TransitionDetector
from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.statistics.delta_spending import EVEN_PARTS, share
import numpy as np
import pytest
from saved import again
from tiers import strength, thorough

EVEN_SPLITS = 30    # of the first splits have nearly the same weight
Draw = Callable[[np.random.Generator, int], list[int]]


def choice(*chances: float) -> Draw:
    """Return what draws next states with these chances."""
    return lambda rng, size: rng.choice(len(chances), size=size, p=chances).tolist()


def endless(rng: np.random.Generator, size: int) -> list[int]:
    """Draw from infinitely many next states."""
    return (rng.zipf(1.7, size=size) % (1 << 40)).tolist()


STATIONARY: dict[str, Draw] = {
    'rarely_something_else': choice(0.99, 0.01), 'slippery': choice(0.8, 0.1, 0.1),
    'even': choice(0.5, 0.5), 'many': choice(*[0.05] * 20), 'endless': endless}


def delay(before: Draw, past: int, after: Draw, delta: float, seed: int,
          limit: int = 5000) -> int:
    """Return after how many executions a change is noticed; -1 if it was before."""
    rng, detector = np.random.default_rng(seed), TransitionDetector(delta)
    for state in before(rng, past):
        detector.record(state)
        if detector.alarm:
            return -1
    for number, state in enumerate(after(rng, limit), 1):
        detector.record(state)
        if detector.alarm:
            return number
    return limit + 1


@pytest.mark.parametrize('name', ['slippery', 'endless', *(pytest.param(name, marks=thorough(
    'core/test_transition_detector.py::'
    'test_without_a_change_the_alarm_is_as_rare_as_the_delta_says'))
    for name in ('rarely_something_else', 'even', 'many'))])
def test_without_a_change_the_alarm_is_as_rare_as_the_delta_says(name: str) -> None:
    (delta, trials), alarms = strength((0.5, 14), (0.2, 150)), []
    for seed in range(trials):
        if delay(STATIONARY[name], 0, STATIONARY[name], delta, seed, limit=400) <= 400:
            alarms.append(seed)
    assert binomial_tail(trials, delta, len(alarms)) > 1e-3, f'alarms with seeds {alarms}'


@pytest.mark.parametrize('chances', [(1.0, 0.0, 0.0), (0.6, 0.4, 0.0), (0.5, 0.3, 0.2),
                                     (0.9, 0.05, 0.05)])
@pytest.mark.parametrize('tidy', [1, 2, 16])
def test_the_expected_evidence_is_at_most_one_at_every_time(
        chances: tuple[float, ...], tidy: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By summing over all sequences of outcomes."""
    monkeypatch.setattr(transition_detector, '_LOOK_EVERY', 0)
    monkeypatch.setattr(transition_detector, '_LOOK_EVERY_IF_SUSPICIOUS', 0)
    monkeypatch.setattr(transition_detector, '_TIDY_EVERY', tidy)
    for length in strength((3, 5), (3, 5, 7)):
        total = 0.0
        for outcomes in product(range(3), repeat=length):
            probability = math.prod(chances[outcome] for outcome in outcomes)
            if probability:
                detector = TransitionDetector(1e-9)
                for outcome in outcomes:
                    detector.record(outcome)
                total += probability * math.exp(detector.evidence)
        assert total <= 1


class Data(NamedTuple):
    """What a detector holds."""

    threshold: float
    executions: int
    evidence: float
    suspicion: float
    log_first: float
    bound: float
    looked: int
    shown: list[int]
    counts: list[int]
    splits: list[Any]


def data(detector: TransitionDetector) -> Data:
    return Data(detector.threshold, detector.executions, detector.evidence, detector.suspicion,
                detector._log_first, detector._bound, detector._looked, [*detector._index],
                [*detector._counts], [*detector._splits])


def detectors(watch: TransitionMonitor) -> dict[tuple[int, int], TransitionDetector]:
    """Return them by pair, in their order."""
    return again(watch._detectors)


def largest(counts: list[int]) -> float:
    """Return the log of the largest probability of outcomes, the first of each being new."""
    total = 0.0
    for place, count in enumerate(counts[:16]):
        again, later = count - 1, sum(counts[place + 1:])
        if again and later:
            total += again * math.log(again / (again + later))
            total += later * math.log(later / (again + later))
    return total


def after(before: list[int], counts: list[int]) -> float:
    """Return the log of the probability of what came after a split, one outcome at a time."""
    known, new = 1 / min(len(before), 16), 0.1 if len(before) > 1 else 0.5
    total, executed = 0.0, 0
    for symbol, count in enumerate(counts):
        earlier = before[symbol] if symbol < len(before) else 0
        for number in range(count - earlier):
            mass = (number + known if symbol < min(len(before), 16) else
                    number + new if symbol == 16 else number or new)
            total += math.log(mass / (executed + 1 + new))
            executed += 1
    return total


def log_sum(logs: list[float]) -> float:
    return math.log(math.fsum(math.exp(log - max(logs)) for log in logs)) + max(logs)


@pytest.mark.parametrize('draw', [
    choice(0.9, 0.1), choice(0.5, 0.3, 0.2), choice(*[0.05] * 20)], ids=['two', 'three', 'many'])
def test_the_evidence_is_that_of_the_text(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts of all splits, over the largest likelihood; and what is not spent yet."""
    monkeypatch.setattr(transition_detector, '_LOOK_EVERY', 0)
    monkeypatch.setattr(transition_detector, '_LOOK_EVERY_IF_SUSPICIOUS', 0)
    detector = TransitionDetector(1e-300)
    for outcome in draw(np.random.default_rng(4), 150):
        detector.record(outcome)
        found = data(detector)
        if len(found.counts) > 1:
            parts = [part + after(before, found.counts) for _, _, part, before in found.splits]
            likelihood = largest(found.counts)
            assert detector.evidence == pytest.approx(log_sum(parts) - likelihood)
            assert detector.suspicion == pytest.approx(max(
                first + after(before, found.counts)
                for _, first, _, before in found.splits) - likelihood)
            unspent = 1 - sum(share(number, EVEN_SPLITS) for number in range(1, found.executions))
            assert found.bound == pytest.approx(log_sum(
                [*parts, found.log_first + math.log(unspent)]))
    assert len(found.splits) > 5


def copy(detector: TransitionDetector) -> TransitionDetector:
    return again(detector)


@pytest.mark.parametrize('tidy', [1, 2])
def test_the_numerator_is_part_of_a_probability(tidy: int, monkeypatch: pytest.MonkeyPatch
                                                ) -> None:
    """By summing over all sequences of *new* and of next states shown before."""
    monkeypatch.setattr(transition_detector, '_LOOK_EVERY', 0)
    monkeypatch.setattr(transition_detector, '_LOOK_EVERY_IF_SUSPICIOUS', 0)
    monkeypatch.setattr(transition_detector, '_TIDY_EVERY', tidy)
    for length, symbols in strength(((6, 6), (9, 2)), ((7, 7), (10, 2))):
        detectors = [TransitionDetector(1e-9)]
        for _ in range(length):
            detectors = [after for detector in detectors
                         for after in one_more(detector, symbols)]
        total = math.fsum(math.exp(numerator(detector)) for detector in detectors)
        assert 0.01 < total <= 1


def one_more(detector: TransitionDetector, symbols: int = 99) -> list[TransitionDetector]:
    """Return what becomes of a detector by each possible outcome."""
    following = []
    for outcome in range(min(len(detector.following) + 1, symbols)):
        following.append(copy(detector))
        following[-1].record(outcome)
    return following


def numerator(detector: TransitionDetector) -> float:
    return detector.evidence + largest(data(detector).counts)


@pytest.mark.parametrize('before', [
    choice(0.9, 0.1), *(pytest.param(each, marks=thorough(
        'core/test_transition_detector.py::'
        'test_no_outcome_is_expected_to_add_to_the_numerator '
        'core/test_transition_detector.py::test_the_numerator_is_part_of_a_probability'))
        for each in (choice(0.5, 0.3, 0.2), choice(0.97, 0.03)))])
def test_no_outcome_is_expected_to_add_to_the_numerator(
        before: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    """Together with what is not spent yet, and also when splits begin to share a place."""
    monkeypatch.setattr(transition_detector, '_LOOK_EVERY', 0)
    monkeypatch.setattr(transition_detector, '_LOOK_EVERY_IF_SUSPICIOUS', 0)
    rng, detector, shared = np.random.default_rng(2), TransitionDetector(1e-300), 0
    for outcome in [*before(rng, 200), *choice(0.2, 0.2, 0.6)(rng, 60)]:
        if len(detector.following) > 1:
            before_it = data(detector)
            following = [data(each) for each in one_more(detector)]
            total = math.fsum(math.exp(each.bound - before_it.bound) for each in following)
            assert 0.5 < total <= 1 + 1e-9
            shared += len(following[0].splits) < len(before_it.splits)
        detector.record(outcome if outcome in detector.following else len(detector.following))
    assert shared > 8


def test_what_is_left_out_between_looks_would_not_have_raised_the_alarm(
        monkeypatch: pytest.MonkeyPatch) -> None:
    changes = [(choice(0.8, 0.1, 0.1), 300, choice(0.4, 0.5, 0.1)),
               (choice(1.0), 40, choice(0.0, 1.0)),
               (choice(0.3, 0.7), 500, choice(0.0, 1.0))]
    seeds = range(strength(2, 5))
    lazily = [delay(*change, 1e-4, seed) for change in changes for seed in seeds]
    monkeypatch.setattr(transition_detector, '_LOOK_EVERY', 0)
    assert lazily == [delay(*change, 1e-4, seed) for change in changes for seed in seeds]
    assert all(0 < number <= 1000 for number in lazily)


@pytest.mark.parametrize(('past', 'most'), [(100, 10), (1000, 7), (100_000, 6)])
def test_a_pair_that_always_did_the_same_is_noticed_after_few_executions(past: int,
                                                                         most: int) -> None:
    # The delta of pair number 500 out of a sixth of delta_1.
    assert 0 < delay(choice(1.0), past, choice(0.0, 1.0), 0.0076 / 6 / 500 / 501, 0) <= most


@pytest.mark.parametrize(('before', 'after', 'most'), [
    (choice(0.9, 0.1), choice(0.0, 1.0), 25), (choice(0.9, 0.1), choice(0.0, 0.1, 0.9), 10),
    (choice(0.3, 0.7), choice(0.0, 1.0), 150),
    # The likelihood ratio of the best split is 36 nats after about 1,500 executions: 19 for the
    # delta, 7 for not knowing when, and 10 for the three chances that have to be estimated.
    (choice(0.2, 0.8), choice(0.0975, 0.9025), 2000)])
def test_a_slippery_pair_is_noticed_when_the_counts_tell(before: Draw, after: Draw,
                                                         most: int) -> None:
    delays = [delay(before, 3000, after, 0.0076 / 6 / 500 / 501, seed)
              for seed in range(strength(3, 8))]
    assert min(delays) > 0 and np.mean(delays) <= most, delays


@pytest.mark.parametrize(('past', 'pair', 'least'), [(100, 1, 5), (150, 500, 6)])
def test_the_split_that_explains_best_is_not_lost_with_its_age(past: int, pair: int,
                                                               least: int) -> None:
    """Each was dropped too soon, so that this was hardly ever noticed, or never."""
    delta = 0.0076 / 6 * share(pair, EVEN_PARTS)
    delays = [delay(choice(1.0), past, choice(0.8, 0.2), delta, seed) for seed in range(6)]
    assert min(delays) > 0
    assert sum(number <= 2000 for number in delays) >= least, delays


def test_a_detector_goes_on_from_its_state_bit_for_bit() -> None:
    for before in (choice(1.0), choice(0.7, 0.2, 0.1), choice(*[0.04] * 25)):
        rng, first = np.random.default_rng(1), TransitionDetector(1e-6)
        for state in before(rng, 300):
            first.record(state)
        second = again(first)
        for state in choice(0.1, 0.2, 0.7)(rng, 60):
            first.record(state)
            second.record(state)
            assert (first.alarm, first.suspicion, first.surprised) == (
                second.alarm, second.suspicion, second.surprised)
        assert data(first) == data(second)


def test_its_memory_is_bounded() -> None:
    detector = TransitionDetector(1e-9)
    for state in endless(np.random.default_rng(0), strength(10_000, 50_000)):
        detector.record(state)
    splits = data(detector).splits
    assert len(splits) <= 16 + 16
    assert max(len(counts) for *_, counts in splits) <= 17
    assert len(detector.following) == 16


@thorough(shown_by='core/test_transition_detector.py::'
                   'test_without_a_change_the_alarm_is_as_rare_as_the_delta_says '
                   'core/test_transition_detector.py::'
                   'test_each_pair_and_each_new_beginning_has_its_part_of_the_delta')
def test_all_pairs_together_keep_the_delta() -> None:
    delta, trials, alarmed = 0.2, 60, []
    for seed in range(trials):
        rng, watch = np.random.default_rng(seed), TransitionMonitor(delta)
        outcomes = np.where(rng.random((40, 200)) < 0.85, 0, rng.integers(1, 4, (40, 200)))
        if any(watch.record(state, 0, int(outcomes[state, step]))
               for step in range(200) for state in range(40)):
            alarmed.append(seed)
    assert binomial_tail(trials, delta, len(alarmed)) > 1e-3, f'alarms with seeds {alarmed}'


def test_a_surprise_is_followed_up_until_it_is_explained() -> None:
    watch = TransitionMonitor(1e-6)
    for _ in range(200):
        watch.record(3, 1, 4)
        watch.record(4, 1, 5)
    assert not tuple(watch.raised)
    watch.record(3, 1, 3)
    assert tuple(watch.raised) == ((3, 1),)
    following = 0
    while tuple(watch.raised):
        watch.record(3, 1, 4)
        following += 1
    assert 3 <= following < 30
    alarms = [watch.record(4, 1, 4) is not None for _ in range(8)]
    assert sum(alarms) == 1
    # The detector has begun anew: what was a change is what is usual now.
    assert not any(watch.record(4, 1, 4) for _ in range(100))
    assert not tuple(watch.raised)


def test_which_policies_lead_through_a_pair() -> None:
    watch = TransitionMonitor(1e-6)
    for state, action, following in ((0, 0, 1), (0, 1, 2), (1, 0, 3), (2, 0, 3), (3, 0, 0)):
        watch.record(state, action, following)
    through_one = Policy(4, 9, (0, 1, 2, 3), ((0, 0, 0, 0),))
    through_two = Policy(5, 9, (0, 1, 2, 3), ((1, 0, 0, RESET),))
    ends_there = Policy(1, 9, (0, 1, 2, 3), ((0, 0, 0, 0),))
    home = Policy(0, 9, (0, 1, 2, 3), ((RESET,) * 4,))
    policies = (home, through_one, through_two, ends_there)
    assert watch.concerned((1, 0), policies) == (4,)
    assert watch.concerned((2, 0), policies) == (5,)
    assert watch.concerned((3, 0), policies) == (4,)
    assert watch.concerned((0, 0), policies) == (4, 1)
    assert watch.concerned((2, 1), policies) == ()


@pytest.mark.parametrize('same', [1, 2, 3, 4, 7, 8, 16, 63, 64, 100, 257, 1000])
def test_splits_are_there_after_a_pair_that_always_did_the_same_as_after_any_other(
        same: int) -> None:
    detector = TransitionDetector(1e-6)
    for state in (0,) * same + (1,):
        detector.record(state)
    first = [1.0, 1.0]
    for t in range(2, same + 1):
        first.append(first[-1] * (1 - 1 / t ** 2))
    places = [number for number in range(1, same + 1) if same - number < 2 * (number & -number)]
    found = data(detector)
    assert [place for place, *_ in found.splits] == places
    weights = [share(number, EVEN_SPLITS) for number in range(same + 1)]
    for (place, log_first, log_part, before), end in zip(
            found.splits, (*places[1:], same + 1)):
        assert before == (place,) and log_first == pytest.approx(math.log(first[place]))
        part = math.exp(log_part + after(before, [same, 1]))
        # The parts of all splits that it stands for.
        most = math.fsum(weights[k] * first[k] * math.exp(
            after([k], [same, 1])) for k in range(place, end))
        assert 0.2 * most < part <= most * (1 + 1e-9)
    assert found.log_first == pytest.approx(math.log(first[same] / (same + 1) ** 2))


def test_each_outcome_is_predicted_by_what_came_before_it() -> None:
    """The other part of the numerator, written out."""
    detector, expected, counts = TransitionDetector(1e-9), 0.0, dict[int, int]()
    for number, state in enumerate(np.random.default_rng(3).integers(0, 20, 200).tolist()):
        new, known = 1 / (number + 1) ** 2, min(state, 99)
        symbol = known if known in counts or len(counts) < 16 else 99
        if symbol == 99:    # all that is shown after the sixteenth counts as one
            expected += math.log((1 - new) * counts.get(99, 0) / number + new)
        else:
            expected += math.log((1 - new) * counts[symbol] / number
                                 if symbol in counts else new)
        counts[symbol] = counts.get(symbol, 0) + 1
        detector.record(state)
    assert data(detector).log_first == pytest.approx(expected)


def test_each_pair_and_each_new_beginning_has_its_part_of_the_delta() -> None:
    watch = TransitionMonitor(0.06)

    def thresholds() -> list[float]:
        return [detector.threshold for detector in detectors(watch).values()]

    for state in range(3):
        for _ in range(200):
            watch.record(state, 0, 7)
    parts = [pytest.approx(-math.log(share(n, EVEN_PARTS) * 0.06)) for n in range(1, 6)]
    assert thresholds() == parts[:3]
    while not watch.record(1, 0, 8):
        pass
    assert thresholds() == [parts[0], parts[3], parts[2]]
    watch.leave([2, 99])
    assert (2, 0) not in detectors(watch)
    watch.record(2, 0, 7)
    assert thresholds() == [parts[0], parts[3], parts[4]]


def test_policies_through_a_suspicious_pair_are_suspected_as_long_as_it_is() -> None:
    watch = TransitionMonitor(1e-9)
    policies = (Policy(0, 9, (0, 1), ((RESET, RESET),)), Policy(4, 9, (0, 1), ((0, 0),)),
                Policy(5, 9, (0, 1), ((1, 0),)))
    for _ in range(300):
        watch.record(0, 0, 1)
        watch.record(0, 1, 1 if _ % 2 else 0)
    watch.suspect((0, 0), policies)
    assert not watch.suspected and not tuple(watch.evidence)
    spoken: list[float] = []
    while not detectors(watch)[0, 0].suspicious:
        assert not watch.record(0, 0, 0) and not watch.suspected
        watch.suspect((0, 0), policies)
    assert watch.suspected == {4}
    while not tuple(watch.evidence):
        assert not watch.record(0, 0, 0)
    told, = watch.evidence
    assert (told.state, told.action) == (0, 0) and 0 < told.evidence < told.threshold
    kept = again(watch)
    assert kept.suspected == {4}
    assert tuple(kept.raised) == tuple(watch.raised) == ((0, 0),)
    while watch.suspected:
        assert not watch.record(0, 0, 1)
        watch.suspect((0, 0), policies)
        spoken.append(detectors(watch)[0, 0].evidence)
    assert len(spoken) < 5000 and not detectors(watch)[0, 0].suspicious
    while not kept.record(0, 0, 0):
        kept.suspect((0, 0), policies)
    assert not kept.suspected and not tuple(kept.raised)
