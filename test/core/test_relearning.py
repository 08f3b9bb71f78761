# SPDX-License-Identifier: Apache-2.0

"""What a change has made necessary, until it is relearnt."""

from __future__ import annotations

from mnm_ros.core import PairChange
from mnm_ros.core.watch.rediscovery import Relearning

PAIR = 3, 1


def test_only_a_rediscovery_begun_since_the_last_notice_has_swept_all() -> None:
    relearning = Relearning()
    relearning.begin_rediscovery()
    relearning.end_rediscovery()
    assert relearning.swept
    relearning.begin_rediscovery()
    relearning.notice()
    assert not relearning.swept
    relearning.end_rediscovery()
    assert not relearning.swept
    relearning.begin_rediscovery()
    relearning.end_rediscovery()
    assert relearning.swept


def test_pairs_to_be_examined_are_left_to_a_rediscovery_that_begins() -> None:
    relearning = Relearning()
    relearning.look_at([PAIR])
    assert relearning.seen(PAIR) and not relearning.seen(PAIR)    # twice
    relearning.look_at([PAIR])
    relearning.begin_rediscovery()
    assert not relearning.unseen and not relearning.seen(PAIR)


def test_nothing_of_a_change_that_is_relearnt_counts_for_the_next_one() -> None:
    relearning = Relearning()
    relearning.look_at([PAIR])
    relearning.concern([3])
    relearning.deleted[4] = None
    relearning.likely[3] = 9.0
    relearning.changed[PAIR] = PairChange(*PAIR, {4: 40}, {3: 9})
    relearning.steps, relearning.all_doubted, relearning.told_action = 77, True, True
    relearning.settle()
    assert not any((
        relearning.unseen, relearning.concerned, relearning.deleted, relearning.likely,
        relearning.changed, relearning.steps, relearning.all_doubted, relearning.told_action))
