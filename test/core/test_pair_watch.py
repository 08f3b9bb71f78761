# SPDX-License-Identifier: Apache-2.0

"""The status of a pair changes as the table of the page on the algorithm has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TypeVar

from mnm_ros.core import PairChange
from mnm_ros.core.detection.pair_watch import News, PairWatch, Status, Ways
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.support import Support
from pages import DOCS
import pytest
from saved import again

_State = TypeVar('_State', bound=Enum)

PAIR = HERE, ACTION = 3, 1
THERE, ELSEWHERE = 4, 5
OLD = {THERE: 50}    # successors before any change
DECLARED = Support(Declaration({HERE: ((HERE, THERE),)}))


def execute(watch: PairWatch, next_state: int, times: int = 1, worked: int = 50) -> None:
    """Execute the pair after ``worked`` executions that led to its usual successor."""
    usual = HERE if watch.status(PAIR) is Status.CLOSED else THERE
    for _ in range(times):
        failures = watch.failures(PAIR) + (next_state != usual)
        watch.record(PAIR, next_state, (usual, worked, worked + failures), rests=True)


def alarm(watch: PairWatch, since: int) -> None:
    watch.change(PairChange(HERE, ACTION, OLD, {since: 9}))


def withdraw(watch: PairWatch) -> None:
    """No policy executes the pair: the phase asks for it where there is a hint."""
    if watch.suspected:
        watch.withdraw(PAIR)


EVENTS: Mapping[str, Callable[[PairWatch], None]] = {
    'it leads on': lambda watch: execute(watch, THERE),
    'it leads on, in three executions more than it failed': lambda watch: execute(watch, THERE, 3),
    'it stays, which happens by chance once in fifty times': lambda watch: execute(watch, HERE),
    'it stays, which happens by chance once in a million times': lambda watch: execute(
        watch, HERE, 4),
    'no policy executes it': withdraw,
    'its alarm, and it stays since the change': lambda watch: alarm(watch, HERE),
    'its alarm, and it leads elsewhere since the change': lambda watch: alarm(watch, ELSEWHERE),
    'a change of another pair is noticed': PairWatch.end_pauses,
    'the policy to its state is deleted': lambda watch: watch.leave([HERE])}
INTO: Mapping[Status, Callable[[PairWatch], None]] = {
    Status.NORMAL: lambda watch: execute(watch, THERE),
    Status.FAILING: lambda watch: execute(watch, HERE),
    Status.SUSPECTED: lambda watch: execute(watch, HERE, 4),
    Status.CLOSED: lambda watch: alarm(watch, HERE)}


def table(corner: str, of: type[_State]) -> dict[tuple[str, _State], _State]:
    """Return a table of the page: what follows by the event and what was before it."""
    page = (DOCS / 'explanation' / 'algorithm.md').read_text('utf-8')
    lines = page.partition(f'\n| {corner} |')[2].partition('\n\n')[0].splitlines()
    names, _, *rows = ([cell.strip() for cell in line.strip('|').split('|')] for line in lines)
    before = [*map(of, names)]
    return {(event, state): of(cell) if cell else state
            for event, *cells in rows for state, cell in zip(before, cells)}


TABLE = table('event', Status)


def test_the_table_has_each_event_and_each_status() -> None:
    assert {*TABLE} == {(event, status) for event in EVENTS for status in Status}


@pytest.mark.parametrize(('event', 'before'), TABLE)
def test_the_status_after_an_event_is_that_of_the_table(event: str, before: Status) -> None:
    watch = PairWatch()
    watch.leave_to_caller()
    INTO[before](watch)
    assert watch.status(PAIR) is before
    watch = again(watch)
    EVENTS[event](watch)
    assert watch.status(PAIR) is TABLE[event, before]


def fail(watch: PairWatch, times: int, worked: int = 50) -> None:
    """Let the pair fail after executions that all worked, until it has failed so often."""
    for failures in range(watch.failures(PAIR) + 1, times + 1):
        watch.record(PAIR, HERE, (THERE, worked, worked + failures), rests=True)


def work(watch: PairWatch) -> None:
    """Let the pair work, and stay suspected if it was."""
    watch.record(PAIR, THERE, (THERE, 51, 56), rests=True)


SEARCHED: Mapping[str, tuple[bool, bool, Callable[[PairWatch], None]]] = {
    'it stays, which happens by chance once in 10,000 times, and successors are declared':
        (True, False, lambda watch: fail(watch, watch.failures(PAIR) + 1)),
    'it is suspected after 10 executions or more': (False, False, lambda watch: fail(watch, 9)),
    'it is suspected after fewer executions': (True, True, lambda watch: fail(watch, 19, 2)),
    'ways around it are found before it is suspected': (True, False, PairWatch.found_ways),
    'a run only waits for it, which was executed 10 times or more':
        (True, False, PairWatch.insist),
    'a run only waits for it, which was executed fewer times, and successors are declared':
        (True, True, PairWatch.insist),
    'a run only waits for it, which was executed fewer times, without declared successors':
        (False, True, PairWatch.insist),
    'it leads on, and stays suspected': (True, True, work)}
"""Whether successors are declared, whether the pair was executed few times, and the event."""

SEARCH = table('event of the search', Ways)


def searched(ways: Ways, scarce: bool, support: Support) -> PairWatch:
    """Return a watch with this search, of a pair that was executed few times if scarce."""
    watch = PairWatch(support)
    if not (scarce and ways is Ways.ATTEMPTED):
        support.declared = DECLARED.declared
    sought = ways is not Ways.NOT_SOUGHT
    fail(watch, *((18 + sought, 2) if scarce else (1 + sought,)))
    if ways in (Ways.TRIED, Ways.ATTEMPTED):
        (PairWatch.insist if scarce else PairWatch.found_ways)(watch)
    if ways is Ways.IN_VAIN or ways is Ways.ATTEMPTED and not scarce:
        watch.insist()
    return watch


def ways_of(watch: PairWatch) -> Ways:
    row = watch.rows.get(PAIR)
    return row.ways if row else Ways.NOT_SOUGHT


def test_the_table_has_each_event_of_the_search_and_each_of_its_states() -> None:
    assert {*SEARCH} == {(event, ways) for event in SEARCHED for ways in Ways}


@pytest.mark.parametrize(('event', 'before'), SEARCH)
def test_the_search_for_ways_after_an_event_is_that_of_the_table(event: str, before: Ways) -> None:
    declared, scarce, happen = SEARCHED[event]
    if scarce and before is Ways.IN_VAIN:    # attempts decide at once about such a pair
        assert SEARCH[event, before] is before
        return
    support = Support()
    watch = searched(before, scarce, support)
    assert ways_of(watch) is before
    support.declared = DECLARED.declared if declared else Declaration()
    watch = again(watch)
    happen(watch)
    after = ways_of(watch)
    assert after is SEARCH[event, before]
    assert bool(watch.detoured) == (after in (Ways.SOUGHT, Ways.TRIED))
    if after in (Ways.TRIED, Ways.ATTEMPTED):
        assert not watch.resting


@pytest.mark.parametrize(('ways', 'scarce', 'due'), [
    (Ways.TRIED, False, True), (Ways.TRIED, True, False), (Ways.ATTEMPTED, False, False)])
def test_a_pair_without_pauses_is_due_after_a_failure_only_if_it_is_tried_and_not_suspected(
        ways: Ways, scarce: bool, due: bool) -> None:
    """Else a run would execute it before the ways around it, or before attempts decide."""
    watch = searched(ways, scarce, Support())
    assert bool(watch.suspected) == scarce
    fail(watch, watch.failures(PAIR) + 1, 2 if scarce else 50)
    assert ways_of(watch) is ways and bool(watch.suspected) == scarce and bool(watch.due) == due


@pytest.mark.parametrize(('status', 'avoided', 'due'), [
    (Status.NORMAL, False, False), (Status.FAILING, True, True),
    (Status.SUSPECTED, True, True), (Status.CLOSED, True, False)])
def test_what_is_avoided_is_due_after_its_pause_but_for_closed_pairs(
        status: Status, avoided: bool, due: bool) -> None:
    watch = PairWatch()
    watch.leave_to_caller()
    INTO[status](watch)
    assert watch.avoids(PAIR) == avoided and not watch.due
    assert sum(watch.step() for _ in range(20)) == due
    assert (PAIR in watch.due) == due and watch.avoids(PAIR) == (avoided and not due)
    watch.recheck(None)
    assert (PAIR in watch.due) == (status is not Status.NORMAL) and not watch.avoids(PAIR)


def test_no_pair_rests_while_a_change_is_open() -> None:
    watch = PairWatch()
    INTO[Status.SUSPECTED](watch)
    assert watch.resting
    watch.end_pauses()
    watch.record(PAIR, HERE, (THERE, 50, 55), rests=False)
    assert watch.suspected and not watch.avoids(PAIR) and not watch.due and not watch.step()


@pytest.mark.parametrize(('end', 'rests'), [(HERE, True), (ELSEWHERE, False)])
def test_of_pairs_executed_few_times_those_that_stay_rest_while_a_change_is_open(
        end: int, rests: bool) -> None:
    watch = PairWatch()
    for failures in range(1, 20):
        watch.record(PAIR, end, (THERE, 2, 2 + failures), rests=False)
    assert [*watch.suspected] == [PAIR] and bool(watch.resting) == rests


def test_a_closed_pair_has_pauses_that_double_while_a_change_is_open_and_none_afterwards() -> None:
    watch, pauses = PairWatch(), []
    alarm(watch, HERE)
    assert not watch.shut and not watch.due
    watch.pause_closed(True)
    for _ in range(4):
        watch = again(watch)
        pauses.append(next(step for step in range(1, 1000) if watch.step()))
        assert PAIR in watch.due and not watch.shut
        execute(watch, HERE)
        assert PAIR in watch.shut and watch.avoids(PAIR) and not watch.due
    assert pauses == [32, 64, 128, 128]
    assert watch.hurry(PAIR) and PAIR in watch.due and not watch.hurry(PAIR)
    watch.pause_closed(False)
    assert watch.status(PAIR) is Status.CLOSED and not (watch.shut or watch.due or watch.step())


def test_a_closed_pair_has_no_pauses_if_a_caller_schedules_its_re_checks() -> None:
    watch = PairWatch()
    watch.leave_to_caller()
    alarm(watch, HERE)
    watch.pause_closed(True)
    assert not any(watch.step() for _ in range(1000)) and not watch.hurry(PAIR)
    assert PAIR in watch.shut


def test_failures_are_counted_until_the_pair_is_known_to_lead_elsewhere_or_not_to_matter() -> None:
    for forget in (withdraw, lambda watch: alarm(watch, ELSEWHERE),
                   lambda watch: watch.leave([HERE])):
        watch = PairWatch()
        INTO[Status.SUSPECTED](watch)
        assert watch.failures(PAIR) == 4
        forget(watch)
        assert watch.failures(PAIR) == 0


def test_what_failures_are_is_said_by_what_was_usual_before_them() -> None:
    watch = PairWatch()
    news = [watch.record(PAIR, HERE, (
        *((THERE, 3) if times < 4 else (HERE, times)), times + 3), rests=True)
        for times in range(1, 10)]
    assert news == [None] * 8 + [News.SUSPECTED] and [*watch.detoured] == [PAIR]


@pytest.mark.parametrize('declared', [True, False])
def test_ways_around_are_sought_where_they_are_declared_or_little_was_seen(declared: bool) -> None:
    watch = PairWatch(DECLARED if declared else Support())
    fail(watch, 5)
    assert [*watch.suspected] == [PAIR] and bool(watch.detoured) == declared
    watch.insist()
    assert not watch.detoured and [*watch.resting] == [PAIR]


def test_a_way_that_opens_after_few_executions_is_not_suspected() -> None:
    """Else a door that closes again is not tried, and the policies through it stay."""
    watch = PairWatch()
    assert not any(watch.record(PAIR, THERE, (HERE, 3, 3 + times), rests=True)
                   for times in range(1, 30))
    assert not watch.suspected and not watch.resting


def test_the_pair_that_has_waited_longest_is_due_first() -> None:
    watch, other = PairWatch(), (6, 0)
    for state, action in (PAIR, other, PAIR):
        watch.record((state, action), state, (THERE, 50, 51), rests=True)
    over = [number for number in range(1, 10) if watch.step()]
    assert over == [4, 8]
    assert [*watch.due] == [other, PAIR]


def test_an_attempt_is_broken_off_before_failures_that_hardly_come_once_in_a_thousand_times(
        ) -> None:
    watch = PairWatch()
    execute(watch, HERE)
    assert [*watch.resting] == [PAIR] and not watch.stopping
    execute(watch, HERE)
    assert [*watch.stopping] == [PAIR]


def test_a_closed_pair_is_tried_as_any_other_if_nobody_schedules_re_checks() -> None:
    watch = PairWatch()
    INTO[Status.CLOSED](watch)
    assert not watch.avoids(PAIR) and not watch.shut
    watch.leave_to_caller()
    assert watch.avoids(PAIR) and [*watch.shut] == [PAIR]


def test_ways_around_are_sought_before_there_is_a_hint_which_then_comes_soon() -> None:
    watch, worked = PairWatch(DECLARED), 11

    def fail(times: int) -> News | None:
        return watch.record(PAIR, HERE, (THERE, worked, worked + times), rests=True)
    assert not fail(1) and not watch.detoured
    news = [fail(times) for times in range(2, 6)]
    assert not any(news) and [*watch.detoured] == [PAIR] and not watch.suspected
    assert watch.resting and watch.avoids(PAIR)
    watch.found_ways()
    times = 5
    while watch.status(PAIR) is Status.FAILING:    # tried at once after each failure
        assert PAIR in watch.due and times < 20
        times += 1
        news.append(fail(times))
    assert news[-1] is News.SUSPECTED and PAIR in watch.resting


def test_a_pair_around_which_no_way_was_found_is_not_sought_ways_around_again() -> None:
    watch = PairWatch(DECLARED)
    fail(watch, 3)
    assert watch.detoured
    watch.insist()
    fail(watch, 11)
    assert watch.suspected and not watch.detoured
