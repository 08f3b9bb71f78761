# SPDX-License-Identifier: Apache-2.0

"""Each stop of an explorer is reported once, and that it goes on. There are no nodes here."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.said import Because, ExploreCalled, GoalUnderWay, GoesOn, Reason
from mnm_ros.core.queries import Phase
from mnm_ros.nodes.exploring.output.stops import Stops
import pytest

CALLED = Phase.PAUSED, Because('paused', ExploreCalled())
LENT = Phase.PAUSED, Because('paused', GoalUnderWay(3))
ON, ALONE = (Phase.BUILDING_DISCOVERY, ''), (Phase.WAITING_FOR_ROBOT, '')


def heard(*phases: tuple[Phase, Reason]) -> tuple[list[Event], Stops]:
    """Return the events of what comes one after the other."""
    events: list[Event] = []
    stops = Stops(
        SimpleNamespace(tell=lambda event, names, why: events.append(event)),
        SimpleNamespace(resting='', loop=SimpleNamespace(seconds={1: 0.25}),
                        profile=SimpleNamespace(names=None)))
    for phase, why in phases:
        stops.hear(phase, phase.value, why, SimpleNamespace(steps=7, why=''))
    assert not events    # it may still be heard who has asked for it
    stops.tell()
    return events, stops


@pytest.mark.parametrize(('phases', 'kinds'), [
    ([ON], []), ([ALONE], []), ([ON, ALONE], ['robot']), ([ALONE, ON], ['robot']),
    ([ON, CALLED], ['pause']), ([CALLED, ON], ['pause', 'pause']),
    ([CALLED, ALONE, CALLED], ['pause', 'pause']), ([CALLED, ALONE], ['pause']),
    ([ON, LENT, ON], []), ([CALLED, LENT, CALLED], ['pause']),
    ([CALLED, LENT, ON], ['pause', 'pause']),
    ([ON, (Phase.DONE, 'all steps')], ['done']), ([ON, (Phase.FAULT, 'stuck')], ['fault'])])
def test_what_is_told(phases: Sequence[tuple[Phase, Reason]], kinds: Sequence[str]) -> None:
    events, stops = heard(*phases)
    assert [event.kind for event in events] == kinds
    goes_on = bool(kinds) and phases[-1] == ON
    for number, event in enumerate(events, 1):
        last = goes_on and number == len(events)
        assert (event.said == GoesOn() and event.seconds is None) is last
    stopped = {CALLED, *(each for each in phases if each[0] in (Phase.DONE, Phase.FAULT))}
    assert stops.told is (not goes_on and any(each in stopped for each in phases))
