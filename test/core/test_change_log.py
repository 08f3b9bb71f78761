# SPDX-License-Identifier: Apache-2.0

"""What the log of changes reports, and when a change counts."""

from __future__ import annotations

from mnm_ros.core.mnm.change_log import ChangeLog, ChangeNoticed
from mnm_ros.core.progress.said import (
    DeclarationsExtended,
    DeclarationsWithdrawn,
    DeclarationWithdrawn,
    EndAdded,
    EndsAdded,
)
import pytest
from scripted import decided

PAIR = 3, 1


def test_a_change_is_reported_once_until_it_is_relearnt() -> None:
    log = ChangeLog()
    for number in (1, 2):
        for _ in range(3):
            log.notice()
        assert log.take() == [ChangeNoticed()] and log.open
        assert (log.noticed, log.relearnt, log.notices) == (number, number - 1, 3 * number)
        log.settle()
        assert log.take() == [] and not log.open and log.relearnt == number


@pytest.mark.parametrize(('added', 'said'), [
    ((), DeclarationWithdrawn(*PAIR, 7, (3, 4))), ((7,), EndAdded(*PAIR, 7, (3, 4))),
    ((7, 8, 9), EndsAdded(*PAIR, 7, (3, 4), 2))])
def test_ends_added_beside_the_one_that_was_seen_are_counted(
        added: tuple[int, ...], said: object) -> None:
    log = ChangeLog()
    log.tell_refuted(PAIR, 7, (3, 4), added)
    assert [each.said for each in decided(log)] == [said]


def test_declarations_that_contradict_what_was_seen_are_extended_or_withdrawn() -> None:
    log, wrong = ChangeLog(), [(state, 0) for state in range(99)]
    log.tell_wrong(wrong, True)
    log.tell_wrong(wrong[:1], False)
    extended, withdrawn = (each.said for each in decided(log))
    assert isinstance(extended, DeclarationsExtended) and extended.count == 99
    assert withdrawn == DeclarationsWithdrawn(1, ((0, 0),))
