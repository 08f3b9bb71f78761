# SPDX-License-Identifier: Apache-2.0

"""A repeated call is one event, and one more with its count."""

from __future__ import annotations

from dataclasses import replace

from mnm_ros.core import Event, InWords
from mnm_ros.nodes.exploring.output.repeats import Repeats
import pytest

CALL = Event(3, 'told to save', 'command', by='service save', what='save')


@pytest.fixture
def repeats() -> Repeats:
    return Repeats()


def run(repeats: Repeats, *events: Event, until: float) -> list[Event]:
    """Return the events that are published, with those of each second that count repeats."""
    told, waiting = [], [*events]
    for second in range(round(until)):
        while waiting and waiting[0].time < second + 1:
            event = waiting.pop(0)
            if not repeats.takes(event):
                told.append(event)
        told += repeats.due(second + 1.0)
    return told


def test_calls_at_10_hz_are_one_event_and_a_count(repeats: Repeats) -> None:
    calls = [replace(CALL, time=number / 10, step=number) for number in range(300)]
    assert run(repeats, *calls, until=60.0) == [calls[0], replace(calls[-1], count=299)]


def test_an_endless_flood_is_told_every_ten_minutes(repeats: Repeats) -> None:
    calls = [replace(CALL, time=float(number)) for number in range(3600)]
    told = run(repeats, *calls, until=3700.0)
    assert len(told) <= 8 and sum(event.count or 1 for event in told) == 3600


def test_what_differs_is_told_and_so_is_the_same_later(repeats: Repeats) -> None:
    calls = [CALL, replace(CALL, by='page', time=1.0), replace(CALL, said=InWords('no'), time=2.0),
             replace(CALL, robot='r1', time=3.0), replace(CALL, time=30.0)]
    assert run(repeats, *calls, until=60.0) == calls
    assert repeats.due() == []


def test_what_the_exploration_decides_is_never_held_back(repeats: Repeats) -> None:
    assert not any(repeats.takes(Event(step, 'a decision')) for step in range(9))


def test_stops_are_told_one_by_one_unless_there_is_a_flood_of_them(repeats: Repeats) -> None:
    stops = [replace(CALL, kind='stop', what='stop', time=number / 10) for number in range(50)]
    told = run(repeats, *stops, until=30.0)
    assert told[:10] == stops[:10] and told[10:] == [replace(stops[-1], count=40)]
