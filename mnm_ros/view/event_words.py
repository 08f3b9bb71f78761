# SPDX-License-Identifier: Apache-2.0

"""What has happened, as people say it: with the names that the robot side gives, and the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
import re
import time

from mnm_ros.core.model.counts import Pair, usual
from mnm_ros.core.model.declaration import listed
from mnm_ros.core.progress.events import Event, MovesChange, PairChange, WaysChange
from mnm_ros.core.progress.said import MostHasChanged
from mnm_ros.core.task.navigation import GoalReport
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.sentences import places, sentence

_MOST_NAMED = 5    # states in a sentence
_AT_ONCE = 1.0     # s, between a hint and the change that it has become
_SOON = 10         # steps, the same where times are not known
_ASKED = {'stop': 'stopped', 'free': 'free to move again', 'pause': 'told to pause',
          'resume': 'told to go on', 'home': 'sent home', 'rest': 'sent home to rest',
          'recover': 'told to recover', 'save': 'told to save', 'load': 'told to load',
          'forget': 'told to take back what came from a source',
          'look': 'told to look at closed ways', 'improve': 'told to improve policies',
          'cancel': 'told to give up its goal',
          'change': 'the simulated world is to change',
          'at_home': 'has come home', 'not_home': 'has not come home', 'hazard': 'hazard'}
"""What is said of what was asked for, by ``Event.what``."""
_NOWHERE = ('look', 'improve', 'forget')    # where the robot is would be read as what is meant


def moment(seconds: float, form: str = '%a %H:%M') -> str:
    """Return the day of the week and the time of the day; of s since 1970."""
    return time.strftime(form, time.localtime(seconds))


def merged(events: Sequence[Event]) -> list[Event]:
    """
    Return events without those that another one says, too.

    These are the hints that a change of the same pair has followed at once, and what is told of
    single pairs where many moves share one change.
    """
    changes = [event for event in events if event.kind == 'change' and event.change]
    shared = [event for event in events if event.moves]
    return [event for event in events if not (
        event.kind == 'hint' and event.change and any(_confirms(each, event) for each in changes)
        or event.change and any(_covers(each, event) for each in shared))]


def _covers(shared: Event, event: Event) -> bool:
    """Return whether the change of a pair is part of a change of many moves."""
    moves, change = shared.moves, event.change
    if moves is None or change is None or moves.action not in (None, change.action):
        return False
    began = event.step if change.step is None else change.step
    return event.step <= shared.step and any(
        change.pair == (state, action) for state, action, _ in moves.moves) or (
        moves.step is not None and moves.step <= began <= shared.step)


def _confirms(change: Event, hint: Event) -> bool:
    one, other = change.change, hint.change
    return (one is not None and other is not None
            and (one.state, one.action) == (other.state, other.action)
            and 0 <= change.step - hint.step
            and (change.time - hint.time < _AT_ONCE if change.time and hint.time
                 else change.step - hint.step < _SOON))


def tone(event: Event) -> str:
    """Return whether what has happened is ``bad`` or ``good`` news for who uses the robot."""
    if event.kind in ('fault', 'stop') or event.what in (
            'failed', 'refused', 'not_home', 'hazard'):
        return 'bad'
    if event.kind == 'free' or event.what in ('reached', 'at_home'):
        return 'good'
    if event.ways is not None:
        return 'bad' if event.ways.lost else 'good'
    if event.moves is not None:
        before, after = event.moves.reliable
        return 'bad' if after < before else 'good'
    if event.change is not None and event.change.before and event.change.after:
        return 'bad' if usual(event.change.after) == event.change.state else 'good'
    return ''


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
        f'"{description.action_name(action, state)}" in {description.place(state)}')
    began = '' if since is None else f' since {moment(since)}'
    return f'{what} is closed{began}' + (
        f', next look at {moment(look)}' if math.isfinite(look) else '')


def told(event: Event, description: RobotDescription) -> str:
    """Return the sentence about an event."""
    if event.what is not None:
        return _asked(event, description)
    if event.change is not None and event.change.before and event.change.after:
        hint = event.kind == 'hint'
        return ('hint, outside of the promise: ' * hint) + _pair(event.change, description, hint)
    if event.moves is not None:
        ends = isinstance(event.said, MostHasChanged)
        return _moves(event.moves, description) + '; the next round begins' * ends
    if event.ways is not None:
        return f'{event.text or sentence(event.said)}: {_ways(event.ways, description)}'
    return event.text or sentence(event.said, description)


def _asked(event: Event, description: RobotDescription) -> str:
    """Return what somebody has asked for, where and from where, or what has become of a goal."""
    target = '' if event.target is None else description.place(event.target)
    if event.kind == 'goal' and event.what != 'goal':
        return _one_step(_with_place(event.text, event.what or '', event.target, description))
    here = event.state is not None and event.what not in _NOWHERE and (
        event.kind in ('stop', 'free', 'command'))
    said, more = (f'goal {target}', '') if event.kind == 'goal' else (
        event.text, '') if event.kind == 'setting' else (
        _ASKED.get(event.what or '', event.what or ''), event.text and f': {event.text}')
    return ''.join((
        f'{event.robot}: ' if event.robot else '', said,
        f' at {description.place(event.state or 0)}' if here else '',
        f', by {event.by}', f' ({event.user})' if event.user else '', more))


def with_place(report: GoalReport, description: RobotDescription) -> str:
    """Return the text of a goal, which has the id of its state, with the name of that."""
    return _with_place(report.text, report.status.value, report.target, description)


def _with_place(text: str, what: str, target: int | None, description: RobotDescription) -> str:
    place = '' if target is None else description.place(target)
    return text.replace(f'{what} {target}', f'{what} {place}', 1)


def _one_step(text: str) -> str:
    return re.sub(r'\b1 steps\b', '1 step', text)


def _pair(change: PairChange, description: RobotDescription, hint: bool) -> str:
    """
    Return since when an action has led where, and where it did before.

    :param hint: whether that is not proven: somebody may stand there, and go again.
    """
    since = '' if change.time is None else f'since {moment(change.time)} '
    (now, times, tried), (was, worked, before) = _usual(change.after), _usual(change.before)
    stays = 'is occupied, or blocked' if hint else 'is blocked'
    leads = stays if now == change.state else f'leads to {description.place(now)}'
    there = '' if now == was else (
        ' blocked' if was == change.state else f' to {description.place(was)}')
    door = description.door(change.state, change.action)
    if door and (now == change.state) != (was == change.state):
        since += f'the door {door} is {"closed" if now == change.state else "open"}: '
    action = description.action_name(change.action, change.state)
    return (f'{since}"{action}" in {description.place(change.state)} {leads} '
            f'(seen {times:,} of {tried:,} times; before {worked:,} of {before:,}{there})')


def _moves(moves: MovesChange, description: RobotDescription) -> str:
    """Return since when many moves have become less reliable, or more, and how much."""
    which = 'all moves have' if moves.action is None else (
        f'"{description.action_name(moves.action)}" has')
    before, after = moves.reliable
    return (f'{which} become {"less" if after < before else "more"} reliable{_began(moves)}: '
            f'{after:.0%} instead of {before:.0%}')


def _began(moves: MovesChange) -> str:
    """Return between which times, or else steps, a change of many moves has begun."""
    if moves.time is not None and moves.latest_time is not None:
        first, last = moment(moves.time), moment(moves.latest_time)
    elif moves.step is not None and moves.latest is not None:
        first, last = f'step {moves.step:,}', f'step {moves.latest:,}'
    else:
        return ''
    return f' since {first}' if first == last else f' between {first} and {last}'


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
        reasons: dict[str, list[int]] = {}
        for state in lost:
            reasons.setdefault(_out_of_reach(state, ways), []).append(state)
        parts += [f'{_places(states, description)} not at all{why}'
                  for why, states in reasons.items()]
    if ways.found:
        parts.append(f'new: {_places(ways.found, description)}')
    return ', '.join(parts) or 'all places are reached as before'


def _out_of_reach(state: int, ways: WaysChange) -> str:
    """Return why a state is lost, in brackets; nothing if that is not told."""
    if not ways.radius:
        return ''
    if state not in ways.away:
        return ' (no way there is known any more)'
    steps = ways.away[state]
    far = f'now {steps:.3g} step{"s" * (steps != 1)} away'
    return (f' ({far}, beyond L = {ways.radius:g})' if steps > ways.radius else
            f' ({far}, but not by a policy that is sure enough)')


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
    return listed(places(states, description), _MOST_NAMED)
