# SPDX-License-Identifier: Apache-2.0

"""Whatever goes on from a snapshot does the same as the original."""

from __future__ import annotations

from collections import deque
from functools import partial
import json
import math
from types import SimpleNamespace

from mnm_ros.core import Counts, Hypothesis, Policy, RESET, SnapshotError
from mnm_ros.core.detection.transition_detector import TransitionDetector
from mnm_ros.core.disco.disco import DiscoPhase
from mnm_ros.core.mnm.schedule import DoublingSchedule
from mnm_ros.core.model import snapshot
from mnm_ros.core.model.episode import Attempts
import numpy as np
import pytest
from saved import again

HOME = Policy(0, 5, (0,), ((-1,),))


def test_plain_values_keep_their_type_their_order_and_every_bit() -> None:
    values = {
        'none': None, 'yes': True, 'text': 'ä"', 'float': 0.1 + 0.2, 'far': math.inf,
        'numbers': [3, -(2**63), 2**63 - 1], 'huge': [2**70, 1], 'bools': [True, 1, False],
        'few': [1.0, 2, 'x'], 'pair': (1, (2.5, None)), 'queue': deque([2, 1]), 'set': {3, 4},
        'by pair': {(9, -1): 1, (0, 0): 300}, 'empty': {}, 'counts': {1: {5: 2, 4: 70_000}, 0: {}},
        'rows': [{7: 1}, {8: 2, 7: 1}], 'scalar': np.float64(1 / 3), 7: DiscoPhase.PLANNING}
    found = again(values)
    assert found == values and list(found) == list(values)
    assert list(found['counts'][1]) == [5, 4] and list(found['by pair']) == [(9, -1), (0, 0)]
    assert [type(each) for each in found['bools']] == [bool, int, bool]
    assert type(found['scalar']) is np.float64 and math.isnan(again([math.nan])[0])


def test_arrays_keep_layout_and_type() -> None:
    for array in (np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6).reshape(2, 3)),
                  np.zeros((0, 4), bool)):
        found = again(array)
        assert found.dtype == array.dtype and found.flags.writeable
        assert found.flags.f_contiguous == array.flags.f_contiguous
        np.testing.assert_array_equal(found, array)


def test_a_view_becomes_an_array() -> None:
    np.testing.assert_array_equal(again(np.arange(10)[::2]), np.arange(10)[::2])


def test_random_choices_go_on() -> None:
    rng = np.random.default_rng(3)
    rng.random(5)
    found = again(rng)
    assert found.random(4).tolist() == rng.random(4).tolist()


def test_the_same_object_stays_the_same_and_equal_ones_stay_two() -> None:
    shared, row = Counts(), [1, 2]
    found = again([shared, Counts(), shared, row, [1, 2], row])
    assert found[0] is found[2] is not found[1]
    assert found[3] is found[5] is not found[4]
    circle: list[object] = []
    circle.append(circle)
    found = again(circle)
    assert found[0] is found


def test_objects_with_slots_and_frozen_ones() -> None:
    detector = TransitionDetector(0.1)
    for state in (1, 1, 2, 1, 3, 3, 3):
        detector.record(state)
    found = again([HOME, detector])
    assert found[0] == HOME
    for each in (detector, found[1]):
        each.record(2)
    assert found[1].evidence == detector.evidence
    assert snapshot.take(found[1]) == snapshot.take(detector)


def test_functions_come_from_the_fresh_objects_which_are_used_once() -> None:
    old, fresh = DoublingSchedule(), DoublingSchedule()
    old.next()
    old.told, fresh.told = partial(list), partial(tuple)
    assert again(old, fresh) is fresh and fresh.quanta == 1
    assert fresh.told.func is tuple
    with pytest.raises(SnapshotError, match='lacks a function'):
        again(old, DoublingSchedule())
    one = DoublingSchedule()
    first, second = again([Counts(), Counts()], [one, one])
    assert first is not second
    counts = Counts()
    first, second = again([Counts(), Counts()], [counts, counts])
    assert first is counts and second is not counts


def test_what_was_divided_otherwise_then_is_refused() -> None:
    old = snapshot.take(DoublingSchedule())
    del old[2]['quanta']
    with pytest.raises(SnapshotError, match='DoublingSchedule lacks quanta'):
        snapshot.put(old, DoublingSchedule())


def test_only_what_the_core_holds() -> None:
    assert snapshot.covers(Attempts(HOME, True)) and not snapshot.covers(SimpleNamespace())
    for thing in (SimpleNamespace(), np.array([None]), object(), deque([1], maxlen=2), 1j):
        with pytest.raises(SnapshotError, match='no snapshot of'):
            snapshot.take([thing])


def test_policies_in_use_stay_what_they_are_while_a_snapshot_is_read() -> None:
    """They share the order of their states with those that the snapshot is read into."""
    kept = snapshot.take(Policy(2, 5, (2, 1, 0), ((0, 0, 0),)))
    fresh, in_use = Policy(0, 5, (0, 7), ((RESET, 1),)), Policy(7, 5, (0, 7), ((1, 1),))
    Hypothesis(1, 0, 5, (fresh, in_use))
    assert fresh._order is in_use._order
    assert snapshot.put(kept, fresh).action(0, 2) == 0
    assert in_use.action(0, 7) == 1 and not in_use.covers(2) and fresh.action(0, 0) == RESET


def test_a_snapshot_holds_nothing_that_is_worked_out_again_and_an_old_one_may() -> None:
    policy = Policy(2, 5, (0, 2), ((1, 1),))
    written = snapshot.take(policy)
    assert policy.action(0, 2) == 1 and snapshot.take(policy) == written
    before = {**written[2], '_order': ['o', 'mnm_ros.core.model.policy:StateOrder', {
        'states': snapshot.take((0, 2, 4)), 'column': snapshot.take({0: 0, 2: 1, 4: 2})}]}
    found = snapshot.put(['o', written[1], before])
    assert found == policy and not found.covers(4) and found.on((2,)) == policy.on((2,))


@pytest.mark.parametrize('data', [
    ['o', 'subprocess:Popen', {}], ['o', 'mnm_ros.core.model.counts:Iterable', {}],
    ['o', 'mnm_ros.core.model.snapshot:sys', {}], ['o', 'mnm_ros.nodes.explorer:Explorer', {}],
    ['o', 'elsewhere:Counts', {}], ['o', 'mnm_ros.core.nowhere:Popen', {}],
    ['e', 'mnm_ros.core.model.counts:Counts', 'x'],
    ['e', 'mnm_ros.core.disco.disco:DiscoPhase', 'RUNNING'], ['x'], ['column', 1], ['r', 0],
    ['l', ['x']],
    ['a', '|O', [1], 'C', 'AAAAAAAAAAA='], ['a', '<f8', [3], 'C', 'AAAAAAAAAAA='],
    ['l', ['<i8', 'no base64!']], ['d', ['v', [1]]], [], ['g', {'bit_generator': 'MT19937'}]])
def test_a_snapshot_from_elsewhere_runs_nothing(data: object) -> None:
    with pytest.raises(SnapshotError):
        snapshot.put(data)


@pytest.mark.parametrize('things', [
    [(1, 2), (3, 4, 5)], [(1, 2), (3, 4.0)], [(1.0, 2.0)] * 30, [(), ()], [(), (1,)],
    [(True, 2)] * 30, [{1: 2}, {}], [{1: 2.5}] * 30, [{1.5: 2}] * 30, [{(1, 2): 3}] * 30,
    [{1: 2}] * 30, [{1: (2,)}] * 30, list(range(300)), [2**31, -5] * 20, [2**63] * 20,
    [0.5] * 30, [0.5, 1] * 20, [True] * 30, [None] * 30, [(1, (2, 3)), (4, (5, 6))]])
def test_columns_of_any_mixture_come_back_with_their_types(things: list[object]) -> None:
    found = again(things)
    assert found == things and repr(found) == repr(things)
    assert again(dict(enumerate(things))) == dict(enumerate(things))
    assert repr(again(tuple(things))) == repr(tuple(things))


@pytest.mark.parametrize(('largest', 'width'), [
    (127, 1), (-128, 1), (128, 2), (-32769, 4), (2**31 - 1, 4), (2**31, 8)])
def test_many_numbers_take_no_more_bytes_than_the_longest_needs(largest: int, width: int) -> None:
    """In base64, also those in pairs and counts, of which there are the most."""
    many, room = 3000, 4 / 3 * width
    for things, numbers in (
            ([largest, 1] * many, 2), ([(largest, 1)] * many, 2), ([{largest: 1}] * many, 1)):
        assert again(things) == things
        size = len(json.dumps(snapshot.take(things)))
        others = 3 * 4 / 3 * many if numbers == 1 else 0
        assert size < numbers * many * room + others + 200
    assert len(json.dumps(snapshot.take([0.1] * many))) < 8 * 4 / 3 * many + 100


def test_a_strided_array_is_written_in_rows() -> None:
    for array in (np.arange(24).reshape(4, 6)[::2, ::3], np.arange(24.0).reshape(4, 6).T,
                  np.array(7), np.arange(3)):
        found = again(array)
        np.testing.assert_array_equal(found, array)
        assert found.flags.c_contiguous == (array.flags.c_contiguous or not (
            array.flags.f_contiguous))
