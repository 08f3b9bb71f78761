# SPDX-License-Identifier: Apache-2.0

"""What changes have deleted is remembered, and returns as soon as it works again."""

from __future__ import annotations

from mnm_ros.core.mnm.memory import Memory
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.events import PairChange

PAIR = 0, 1
BEHIND, ASIDE = 3, 2    # where the pair leads before and after it changes
WAY = Policy(BEHIND, 9, (0, 1, 2), ((1, 0, 0),))    # plays the pair
BY_CHANCE = Policy(4, 9, (0, 1, 2), ((1, 0, 0),))    # plays it, too, but not on its usual way
OTHER = Policy(ASIDE, 9, (0, 1, 2), ((0, 0, 0),))
ENOUGH = 10    # executions


def change(before: int, after: int, times: int = 20) -> PairChange:
    return PairChange(*PAIR, {before: times}, {after: times})


def deleted() -> Memory:
    """Return what remembers that the pair has changed, and that its policy was deleted by it."""
    memory = Memory()
    memory.note(change(BEHIND, ASIDE))
    memory.keep([WAY, BY_CHANCE, OTHER], {PAIR: [BEHIND]})
    return memory


def test_a_policy_returns_with_the_alarm_that_tells_that_its_pair_leads_there_again() -> None:
    memory = deleted()
    assert memory.recall(()) == ()
    memory.note(change(ASIDE, BEHIND))
    assert memory.recall([4]) == (WAY,) and memory.recall([4, BEHIND]) == ()


def test_without_an_alarm_it_returns_after_ten_executions_more_than_others() -> None:
    memory = deleted()
    for state, times in ((BEHIND, 4), (ASIDE, 6), (BEHIND, ENOUGH - 1)):
        assert not any(memory.executed(PAIR, state) for _ in range(times))
    assert memory.recall(()) == () and memory.executed(PAIR, BEHIND)
    assert memory.recall([4]) == (WAY,)


def test_that_is_said_once_for_each_change() -> None:
    memory = deleted()
    for _ in range(2):
        told = [memory.executed(PAIR, BEHIND) for _ in range(3 * ENOUGH)]
        assert told.index(True) == ENOUGH - 1 and sum(told) == 1
        memory.note(change(BEHIND, ASIDE))
        memory.keep([WAY], {PAIR: [BEHIND]})


def test_executions_that_lead_elsewhere_after_that_do_not_let_it_be_said_again() -> None:
    memory = deleted()
    assert [memory.executed(PAIR, BEHIND) for _ in range(ENOUGH)][-1]
    assert not any(memory.executed(PAIR, state) for state in (ASIDE, BEHIND) * ENOUGH)


def test_a_change_as_before_deletes_at_once_what_it_deleted_then() -> None:
    memory = deleted()
    memory.note(change(ASIDE, BEHIND))
    closes = change(BEHIND, ASIDE)
    memory.note(closes)
    assert memory.lost(closes, [WAY, BY_CHANCE, OTHER]) == [WAY]
    elsewhere = change(ASIDE, 1)
    memory.note(elsewhere)
    assert memory.lost(elsewhere, [WAY, BY_CHANCE, OTHER]) == []


def test_where_a_pair_led_is_remembered_if_it_has_returned_without_an_alarm() -> None:
    """Its counts still have more of where it led in between."""
    memory = deleted()
    assert [memory.executed(PAIR, BEHIND) for _ in range(ENOUGH)][-1]
    closes = PairChange(*PAIR, {ASIDE: 20, BEHIND: ENOUGH}, {ASIDE: 15})
    memory.note(closes)
    assert memory.lost(closes, [WAY]) == [WAY]


def test_a_pair_that_still_leads_there_now_and_then_deletes_nothing() -> None:
    memory = deleted()
    memory.note(change(ASIDE, BEHIND))
    rarer = PairChange(*PAIR, {BEHIND: 20}, {ASIDE: 17, BEHIND: 3})
    memory.note(rarer)
    assert memory.lost(rarer, [WAY]) == []


def test_a_policy_that_is_found_through_the_pair_tells_that_it_leads_there_again() -> None:
    """Another one is recalled that needs the pair, whose alarm has not come yet."""
    memory = deleted()
    memory.reached([OTHER, BY_CHANCE])    # these may be reached without it
    assert memory.recall([BEHIND]) == ()
    memory.reached([WAY])
    assert memory.recall([BEHIND]) == (BY_CHANCE,)


def test_a_pair_that_changes_again_and_again_is_tried_now_and_then() -> None:
    memory = deleted()
    assert not any(memory.step() for _ in range(100))
    memory.note(change(ASIDE, BEHIND))
    told = [memory.step() for _ in range(100)]
    assert {*told} == {None, PAIR} and 2 <= told.count(PAIR) <= 3
