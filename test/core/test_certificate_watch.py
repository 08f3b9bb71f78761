# SPDX-License-Identifier: Apache-2.0

"""What is certified before the first hypothesis is watched: a move that fails is tried again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from mnm_ros.core import BaseAlgorithm, Foresees, Outlook, Policy, ProvisionalPolicy, RESET
from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.mnm.certificate_watch import (
    AGAIN,
    ALARMED,
    CertificateWatch,
    EVERY,
    LOOK_EVERY,
    WAITED,
)
from mnm_ros.core.mnm.schedule import StreamSchedule
from mnm_ros.core.model.counts import Pair
import pytest
from scripted import building_phase, HOME, policy, ScriptedBase

MOVE = (0, 0)
RUN = cast(BaseAlgorithm, SimpleNamespace(policies=(
    Policy(0, 9, (0,), ((RESET,),)), Policy(1, 9, (0,), ((0,),)))))


class Watched:
    """A run that has certified a policy, by default from 0 to 1, and what is executed."""

    def __init__(self, run: BaseAlgorithm = RUN) -> None:
        self.transitions = TransitionMonitor(0.01)
        self.watch = CertificateWatch(run, self.transitions)

    def executed(self, pair: Pair | None, next_state: int) -> tuple[Pair | None, bool]:
        """Return what is to be executed after a step, and whether it raises the alarm."""
        alarm = pair is not None and self.transitions.record(*pair, next_state) is not None
        return self.watch.executed(pair, next_state), alarm


@pytest.mark.parametrize('end', [0, 2])
@pytest.mark.parametrize('arrivals', [12, 30])
def test_a_move_that_fails_is_tried_again_until_the_alarm(end: int, arrivals: int) -> None:
    """Also once it has failed more often than it ever arrived."""
    watched = Watched()
    for _ in range(arrivals):
        watched.executed(MOVE, 1)
    for _ in range(LOOK_EVERY):
        watched.executed(None, 0)
    assert watched.executed(MOVE, end) == (None, False)
    for failures in range(2, 100):
        again, alarm = watched.executed(MOVE, end)
        if alarm:
            break
        assert again == MOVE, f'{failures} failures'
    else:
        raise AssertionError('no alarm')


@pytest.mark.parametrize(('rested', 'at_once'), [(WAITED - 3, False), (WAITED + 3, True)])
def test_a_first_failure_is_followed_up_at_once_only_after_a_long_rest(
        rested: int, at_once: bool) -> None:
    watched = Watched()
    for _ in range(WAITED + 2 * LOOK_EVERY):
        watched.executed(MOVE, 1)
    for _ in range(rested):
        watched.executed(None, 0)
    assert watched.executed(MOVE, 0)[0] == (MOVE if at_once else None)
    assert watched.executed(MOVE, 0)[0] == MOVE    # twice in a row


def test_a_move_that_has_waited_is_executed_again() -> None:
    watched = Watched()
    watched.executed(MOVE, 1)
    due = [step for step in range(2 * (WAITED + LOOK_EVERY + EVERY))
           if watched.executed(None, 0)[0] == MOVE]
    assert due and WAITED <= due[0] <= WAITED + 2 * LOOK_EVERY
    assert all(later - earlier >= EVERY for earlier, later in zip(due, due[1:]))


@pytest.mark.parametrize('before', [(), (2,)], ids=['nothing', 'an accident'])
def test_where_a_move_first_led_does_not_hold_the_robot_for_ever(before: tuple[int, ...]) -> None:
    """A fleet once tried three moves, all of which worked, until the end."""
    watched = Watched()
    for end in before:
        watched.executed(MOVE, end)
    for _ in range(LOOK_EVERY):
        watched.executed(None, 0)
    again = [watched.executed(MOVE, 1)[0] for _ in range(ALARMED + 2 * LOOK_EVERY)]
    assert MOVE not in again[ALARMED + LOOK_EVERY:] and (before or MOVE not in again)


class Foreseeing(ScriptedBase, Foresees):
    """Has met ten states, and has policies for half; its memory is how many it has examined."""

    outlook = Outlook(0, 1, 0.0, 0, ())
    candidates = tuple(range(1, 11))

    def __init__(self) -> None:
        super().__init__(0)
        self.examined, self.began = 0, 0

    def provisional(self, memory: Any = None, at_most: int | None = None,
                    ) -> tuple[list[ProvisionalPolicy], Any]:
        """Count what is examined, and how often it began without a memory."""
        assert at_most is not None
        self.began += memory is None
        self.examined = (memory or 0) + at_most
        return [ProvisionalPolicy(policy(target), True, None, None)
                for target in range(1, 6)], self.examined


@pytest.mark.parametrize('steps', [1_000, 40_000])
def test_states_are_examined_again_when_a_run_has_taken_a_part_of_its_steps_more(
        steps: int) -> None:
    """Or the certificates of many states take most of the time of a long run."""
    run = Foreseeing()
    watch = CertificateWatch(run, TransitionMonitor(0.01))
    for _ in range(steps):
        watch.executed(None, HOME)
    before = run.examined
    for _ in range(int(AGAIN * steps)):
        watch.executed(None, HOME)
    assert 8 <= run.examined - before <= 11    # of ten states and home


def test_what_was_found_in_a_run_is_kept_while_another_has_the_robot() -> None:
    phase = building_phase(lambda number: Foreseeing(), StreamSchedule(2), False,
                           TransitionMonitor(1e-3))
    turns = 0
    for _ in range(40 * LOOK_EVERY):
        stream = phase.base
        phase.observe(phase.next_action(), HOME)
        turns += phase.base is not stream
    assert turns > len(phase.streams) > 1
    assert all(isinstance(stream, Foreseeing) and stream.began <= 1 for stream in phase.streams)
    assert any(isinstance(stream, Foreseeing) and stream.examined > 10
               for stream in phase.streams)


def test_a_way_is_followed_on_when_it_is_learnt_where_it_leads() -> None:
    run = cast(BaseAlgorithm, SimpleNamespace(policies=(
        Policy(0, 9, (0, 1), ((RESET, RESET),)), Policy(2, 9, (0, 1), ((0, 0),)))))
    watched = Watched(run)
    for _ in range(LOOK_EVERY):    # nobody knows yet where the first move leads
        watched.executed(None, 0)
    for _ in range(LOOK_EVERY):
        watched.executed((0, 0), 1)
        watched.executed((1, 0), 2)
    watched.executed((1, 0), 1)
    assert watched.executed((1, 0), 1) == ((1, 0), False)
