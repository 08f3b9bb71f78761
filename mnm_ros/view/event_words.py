# SPDX-License-Identifier: Apache-2.0

"""What has happened, as people say it: with the names that the robot side gives, and the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
import time

from mnm_ros.core.model.counts import Pair, usual
from mnm_ros.core.progress.events import Event, PairChange, WaysChange
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.named import named, place, places

_MOST_NAMED = 5    # states in a sentence


def moment(seconds: float, form: str = '%a %H:%M') -> str:
    """Return the day of the week and the time of the day; of s since 1970."""
    return time.strftime(form, time.localtime(seconds))


def closed_way(pair: Pair, since: float | None, look: float, description: RobotDescription) -> str:
    """
    Return that a way is closed.

    :param pair: state and action.
    :param since: s since 1970; None if that is not known.
    :param look: when it is tried again, s since 1970; infinite for now, or for no known time.
    """
    state, action = pair
    door = description.door(state, action)
    what = f'the door {door}' if door else (
        f'"{description.action_name(action)}" in {place(state, description)}')
    began = '' if since is None else f' since {moment(since)}'
    return f'{what} is closed{began}' + (
        f', next look at {moment(look)}' if math.isfinite(look) else '')


def told(event: Event, description: RobotDescription) -> str:
    """Return the sentence about an event."""
    if event.change is not None and event.change.before and event.change.after:
        hint = event.kind == 'hint'
        return ('hint, outside of the promise: ' * hint) + _pair(event.change, description, hint)
    if event.ways is not None:
        return f'{event.text}: {_ways(event.ways, description)}'
    return named(event.text, description)


def _pair(change: PairChange, description: RobotDescription, hint: bool) -> str:
    """
    Return since when an action has led where, and where it did before.

    :param hint: whether that is not proven: somebody may stand there, and go again.
    """
    since = '' if change.time is None else f'since {moment(change.time)} '
    (now, times, tried), (was, worked, before) = _usual(change.after), _usual(change.before)
    stays = 'is occupied, or blocked' if hint else 'is blocked'
    leads = stays if now == change.state else f'leads to {place(now, description)}'
    there = '' if now == was else (
        ' blocked' if was == change.state else f' to {place(was, description)}')
    door = description.door(change.state, change.action)
    if door and (now == change.state) != (was == change.state):
        since += f'the door {door} is {"closed" if now == change.state else "open"}: '
    return (f'{since}"{description.action_name(change.action)}" in '
            f'{place(change.state, description)} {leads} (seen {times:,} of {tried:,} times; '
            f'before {worked:,} of {before:,}{there})')


def _usual(following: Mapping[int, int]) -> tuple[int, int, int]:
    """Return the most frequent next state, how often it was, and of how many executions."""
    most = usual(following)
    assert most is not None
    return most, following[most], sum(following.values())


def _ways(ways: WaysChange, description: RobotDescription) -> str:
    """Return what has come of a change."""
    rooms = _unreached(ways, description)
    parts = [f'{room} cannot be reached' for room in rooms]
    if ways.other:
        several = len(ways.other) != 1
        by = _by(ways, description)
        parts.append(f'{len(ways.other)} place{"s" * several} {"are" if several else "is"} now '
                     f'reached another way{f", by {by}" if by else ""}')
    lost = [state for state in ways.lost if description.room(state) not in rooms]
    if lost:
        parts.append(f'{_places(lost, description)} not at all')
    if ways.found:
        parts.append(f'new: {_places(ways.found, description)}')
    return ', '.join(parts) or 'all places are reached as before'


def _unreached(ways: WaysChange, description: RobotDescription) -> list[str]:
    """Return the rooms of which nothing is reached any more."""
    left = {description.room(state) for state in ways.reached}
    return [room for room in dict.fromkeys(map(description.room, ways.lost))
            if room and room not in left] if ways.reached else []


def _by(ways: WaysChange, description: RobotDescription) -> str:
    """Return through which room places are reached now; empty for none but that of home."""
    at_home = description.room(description.home) if description.home is not None else ''
    rooms = (description.room(state) for state in ways.by)
    return next((room for room in rooms if room and room != at_home), '')


def _places(states: Sequence[int], description: RobotDescription) -> str:
    names = places(states, description)
    more, first = len(names) - _MOST_NAMED, ', '.join(names[:_MOST_NAMED])
    return f'{first} and {more:,} more' if more > 0 else first
