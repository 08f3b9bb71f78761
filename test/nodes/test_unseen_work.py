# SPDX-License-Identifier: Apache-2.0

"""No state is met by an exploration that only a node has named which is not the robot side."""

from __future__ import annotations

from mnm_ros.core import Exploration, Problem, RESET, settings
from mnm_ros.nodes.exploring.unseen_work import Execution, MOST_SEEN, MOST_WAITING, UnseenWork


def run_of(*states: int, node: str = '/liar') -> list[Execution]:
    return [Execution(0, 1, state, node) for state in states]


def test_an_execution_waits_for_its_end_and_those_of_its_pair_wait_behind_it() -> None:
    work = UnseenWork({0, 1}.__contains__)
    first, second, third, other = run_of(1, 7, 1)[:3] + run_of(1, node='/other')
    assert work.offer(first) == [first]
    assert work.offer(second) == work.offer(third) == []
    assert work.offer(other) == [other]    # another node's draws are not chosen by that
    assert work.saw(6) == []
    assert work.waiting == 2
    assert work.saw(7) == [second, third]
    assert work.waiting == 0
    assert work.offer(second) == [second]


def test_what_begins_in_an_unseen_state_is_dropped_whatever_comes_of_it() -> None:
    work = UnseenWork({0, 1}.__contains__)
    assert work.offer(Execution(5, 0, 1, '/node')) == []
    assert work.waiting == 0
    assert work.saw(5) == []
    assert work.offer(Execution(5, 0, 1, '/node')) == [Execution(5, 0, 1, '/node')]


def test_a_broken_off_step_of_a_seen_state_counts_at_once() -> None:
    step = Execution(0, 1, None, '/node')
    assert UnseenWork({0}.__contains__).offer(step) == [step]


def test_a_flood_of_invented_states_leaves_nothing_but_the_name_of_its_node() -> None:
    exploration = Exploration(settings(Problem(2, 4.0, 1.0, 0.1)))
    exploration.observe(RESET, 0)
    work = UnseenWork(exploration.history.met.__contains__)
    assert work.offer(Execution(0, 0, 99, '/honest')) == []
    for number in range(12_660):
        origin = number - 1 if number % 3 == 0 else 0    # some as a walk through its own states
        for made in work.offer(Execution(origin, 1, 1000 + number, '/liar')):
            exploration.observe_work(*made[:3])
        assert work.waiting <= MOST_WAITING
    assert exploration.states == 1 and exploration.work == 0
    assert [*work.dropped] == ['/liar'] and work.waiting == 1
    assert work.offer(Execution(0, 1, 0, '/liar')) == []    # nothing of it counts any more
    assert work.saw(99) == [Execution(0, 0, 99, '/honest')]


def test_only_the_latest_states_of_the_robot_side_are_remembered() -> None:
    work = UnseenWork(lambda state: False)
    for state in range(MOST_SEEN + 1):
        work.saw(state)
    assert work.offer(Execution(0, 0, 1, '/node')) == []
    assert work.offer(Execution(1, 0, MOST_SEEN, '/node'))
