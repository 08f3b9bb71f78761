# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from mnm_ros.core.model.problem import RESET
from mnm_ros.protocol.exchange import (
    AnswerTimes,
    Command,
    Reaction,
    REPORT,
    RetryTimer,
    SequenceNumbers,
    SoleCommander,
    StepClient,
    StepServer,
)
from mnm_ros.protocol.return_home import HomeProgress, ReturnHome
import pytest

FIRST = 1000


def client(timeout: float = 1.0, retries: int = 2) -> tuple[StepClient, RetryTimer]:
    patience = RetryTimer(timeout, retries)
    return StepClient(SequenceNumbers(FIRST), patience), patience


def test_seq_grows_by_one() -> None:
    steps, _ = client()
    for i in range(3):
        assert steps.start(i, now=0.0) == (FIRST + i, i)
        assert steps.receive(FIRST + i) == i
    assert steps.under_way is None


def test_it_knows_its_own_actions() -> None:
    numbers = SequenceNumbers(FIRST)
    assert not numbers.sent(FIRST)
    StepClient(numbers, RetryTimer(1.0, 2)).start(0, now=0.0)
    assert [numbers.sent(seq) for seq in (FIRST - 1, FIRST, FIRST + 1, REPORT)] == [
        False, True, False, False]


def test_one_action_under_way() -> None:
    steps, _ = client()
    steps.start(0, now=0.0)
    with pytest.raises(RuntimeError, match='action 0 is still under way'):
        steps.start(1, now=0.0)


@pytest.mark.parametrize('seqs, answered', [
    ([FIRST], [RESET]),
    ([FIRST, FIRST], [RESET, None]),
    ([FIRST - 1, FIRST], [None, RESET]),
    ([FIRST + 1, 0, -2], [None] * 3),
    ([REPORT, FIRST], [None, RESET]),
])
def test_meaning(seqs: list[int], answered: list[int | None]) -> None:
    steps, _ = client()
    steps.start(RESET, now=0.0)
    assert [steps.receive(seq) for seq in seqs] == answered


def test_answer_to_abandoned_action_is_stale() -> None:
    steps, _ = client()
    steps.start(0, now=0.0)
    steps.abandon()
    assert steps.receive(FIRST) is None
    assert steps.start(0, now=0.0) == (FIRST + 1, 0)


def test_resends_until_and_after_the_robot_counts_as_lost() -> None:
    steps, patience = client(timeout=1.0, retries=2)
    steps.start(5, now=10.0)
    timeline = []
    for tenths in range(100, 151):
        if steps.overdue(tenths / 10):
            timeline.append((tenths / 10, patience.exhausted))
    assert timeline == [(11.0, False), (12.0, False), (13.0, True), (14.0, True), (15.0, True)]
    assert patience.timeouts == 5
    assert steps.receive(FIRST) == 5
    steps.start(5, now=20.0)
    assert not patience.exhausted


def test_a_new_timeout_holds_for_the_action_under_way() -> None:
    steps, patience = client(timeout=3600.0)
    steps.start(5, now=0.0)
    patience.timeout = 1.0
    assert steps.overdue(1.0) == (FIRST, 5)


def test_nothing_overdue_without_action() -> None:
    steps, patience = client()
    assert steps.overdue(1e9) is None
    assert patience.timeouts == 0


def test_server_executes_once_and_repeats() -> None:
    server = StepServer()
    assert server.receive(Command(7, 0)) is Reaction.EXECUTE
    assert server.receive(Command(7, 0)) is Reaction.WAIT
    assert server.done(42) == (7, 42)
    assert server.receive(Command(7, 0)) is Reaction.REPEAT
    assert server.stored() == (7, 42)
    assert server.receive(Command(3, 1)) is Reaction.EXECUTE    # any other seq, smaller ones too


def test_server_keeps_the_latest_action_waiting() -> None:
    server = StepServer()
    server.receive(Command(1, 0))
    assert server.receive(Command(2, 1)) is Reaction.WAIT
    assert server.receive(Command(3, 2)) is Reaction.WAIT
    assert server.receive(Command(1, 0)) is Reaction.WAIT
    server.done(5)
    assert server.next_waiting() == Command(3, 2)
    assert server.next_waiting() is None


def test_server_complains_about_misuse() -> None:
    server = StepServer()
    with pytest.raises(RuntimeError, match='no action is being executed'):
        server.done(1)
    with pytest.raises(RuntimeError, match='no action has been executed'):
        server.stored()


@pytest.mark.parametrize('first_home, events, arrived', [
    (None, [('response', True), ('report', 5)], [None, 5]),
    (None, [('report', 5), ('response', True)], [None, None]),       # could be a move
    (5, [('report', 5), ('response', True)], [None, 5]),
    (5, [('report', 6), ('response', True)], [None, None]),
    (5, [('report', 6), ('response', True), ('report', 5)], [None, None, 5]),
    (None, [('report', 5), ('response', True), ('response', True), ('report', 6)],
     [None, None, None, 6]),
    (None, [('report', 5), *3 * [('response', True)]], [None, None, None, 5]),
    (None, [('response', False), ('report', 5)], [None, None]),
    (None, [('response', False), ('response', True), ('report', 5)], [None, None, 5]),
    (None, [('old response', True), ('report', 5)], [None, None]),
])
def test_way_home(
        first_home: int | None, events: list[tuple[str, int]], arrived: list[int | None]) -> None:
    home = ReturnHome(lambda attempt: None, RetryTimer(1.0, 2))
    if first_home is not None:
        home.start(now=0.0)
        home.respond(home.attempt, True, '')
        home.report(first_home)
    home.start(now=0.0)
    seen = []
    for kind, value in events:
        progress = home.report(value) if kind == 'report' else home.respond(
            home.attempt - (kind == 'old response'), bool(value), '')
        seen.append(home.state if progress is HomeProgress.ARRIVED else None)
    assert seen == arrived
    assert home.under_way == (arrived[-1] is None)


def test_an_answer_is_late_after_twice_the_usual_time() -> None:
    times = AnswerTimes()
    assert times.unanswered(99.0, 5.0) == 0.0
    times.ask(RESET, 0.0)
    assert times.unanswered(4.9, 5.0) == 0.0 and times.unanswered(5.5, 5.0) == 5.5
    times.end(20.0)
    now = 20.0
    for _ in range(5):
        times.ask(0, now)
        now += 3.0
        times.end(now)
    times.ask(1, now)
    assert times.unanswered(now + 5.9, 5.0) == 0.0
    assert times.unanswered(now + 6.5, 5.0) == pytest.approx(6.5)
    times.end(None)    # given up
    assert times.unanswered(now + 9.0, 5.0) == 0.0
    times.ask(RESET, now)    # which takes longer
    assert times.unanswered(now + 39.0, 5.0) == 0.0
    assert times.unanswered(now + 41.0, 5.0) == pytest.approx(41.0)


def test_the_mean_time_of_each_action_is_measured() -> None:
    times = AnswerTimes()
    assert times.seconds == {}
    for action, taken in ((RESET, 20.0), (0, 2.0), (0, 4.0), (1, 8.0)):
        times.ask(action, 100.0)
        times.end(100.0 + taken)
    times.ask(1, 200.0)
    times.end(None)    # given up, which is no time of the action
    assert times.seconds == {RESET: 20.0, 0: 3.0, 1: 8.0}


def test_simulated_time_is_told_and_real_time_is_waited_for() -> None:
    simulated = iter([0.0, 100.0, 106.0, 200.0, 202.0])
    times = AnswerTimes(lambda: next(simulated))
    times.ask(0, 0.0)    # before there is a simulated time
    times.end(5.0)
    assert times.seconds == {}
    for now in (10.0, 20.0):
        times.ask(0, now)
        times.end(now + 5.0)
    assert times.seconds == pytest.approx({0: 6.0 - 4.0 / 3})
    times._clock = None
    times.ask(0, 30.0)
    assert times.unanswered(39.9, 1.0) == 0.0 and times.unanswered(40.5, 1.0) == 10.5


def test_a_clock_that_is_set_back_measures_nothing() -> None:
    simulated = iter((100.0, 102.0, 103.0, 43.0, 44.0, 46.0))
    times = AnswerTimes(lambda: next(simulated))
    for now in range(3):
        times.ask(1, now)
        times.end(now + 0.5)
        assert times.seconds == {1: 2.0}


def test_a_moment_is_never_late() -> None:
    times = AnswerTimes()
    times.ask(0, 0.0)
    times.end(0.001)
    times.ask(0, 1.0)
    assert times.unanswered(2.9, 5.0) == 0.0 and times.unanswered(3.5, 5.0) == 2.5


def test_a_robot_is_kept_for_one_sender_until_it_is_silent() -> None:
    commander = SoleCommander()
    first, other = Command(FIRST, 0, None, '/a'), Command(10 * FIRST, 0, None, '/b')
    assert commander.admits(first, 0.0, 5.0)
    commander.take(first, 0.0)
    assert commander.name == '/a' and not commander.admits(other, 4.9, 5.0)
    assert commander.admits(other, 5.0, 5.0)
    commander.wait(4.0)    # it waits for the robot
    assert not commander.admits(other, 8.9, 5.0) and commander.admits(other, 9.0, 5.0)
    assert commander.admits(other, 4.0, 0.0)    # without a timeout any one is


def test_a_sender_is_known_by_name_and_numbers_and_one_started_again_by_its_name() -> None:
    commander = SoleCommander()
    commander.take(Command(FIRST, 0, None, '/a'), 0.0)
    assert commander.admits(Command(FIRST + 20, 0, None, '/a'), 0.0, 5.0)    # some were lost
    for another in ('', '/b'):    # which has its numbers
        assert not commander.admits(Command(FIRST + 1, 0, None, another), 0.0, 5.0)
    assert not commander.admits(Command(10 * FIRST, 0), 0.0, 5.0)
    again = Command(10 * FIRST, 0, None, '/a')
    assert commander.admits(again, 0.0, 5.0)
    commander.take(again, 0.0)
    assert not commander.admits(Command(FIRST + 21, 0, None, '/a'), 0.0, 5.0)    # the old one
    commander.take(Command(20 * FIRST, 0), 0.0)    # one without a name
    assert not commander.admits(Command(30 * FIRST, 0), 0.0, 5.0)
    assert commander.admits(Command(20 * FIRST + 1, 0), 0.0, 5.0)


def test_whether_reset_is_a_command_of_the_sender() -> None:
    commander = SoleCommander()
    assert commander.commands_reset    # before it is known
    for command, expected in ((Command(1, 0), False), (Command(2, -1), True),
                              (Command(3, 0), True), (Command(4, 0, None, '/b'), False)):
        commander.take(command, 0.0)
        assert commander.commands_reset is expected


def test_another_command_may_have_the_number_of_the_last_one() -> None:
    server = StepServer()

    def clashes(command: Command) -> bool:
        return 'another command' in server.refusal(command, None, (), False)
    assert not clashes(Command(7, 0))
    server.receive(Command(7, 0))
    assert clashes(Command(7, 1)) and not clashes(Command(7, 0))
    server.done(42)
    assert clashes(Command(7, -1)) and not clashes(Command(8, 1))


def test_a_command_is_refused_only_if_it_was_meant_for_another_state() -> None:
    server = StepServer()
    assert not server.refusal(Command(1, 0), 4, (), False)
    assert not server.refusal(Command(1, 0, 4), 4, (), False)
    assert server.refusal(Command(1, 0, 4), 5, (), False)
    assert server.refusal(Command(1, 0, 4), None, (), False)
    assert not server.refusal(Command(1, RESET, 4), 5, (), False)
