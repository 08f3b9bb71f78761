# SPDX-License-Identifier: Apache-2.0

"""Make the sentences about events, with the names of the robot side and with clock times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import math
import re
import time

from mnm_ros.core.model.counts import Pair, usual
from mnm_ros.core.model.declaration import listed
from mnm_ros.core.progress.events import Event, MovesChange, PairChange, WaysChange
from mnm_ros.core.progress.said import (
    Because,
    ExploreCalled,
    ExploreCalledBefore,
    HintWithdrawn,
    MostHasChanged,
    PausedBy,
    PausedToGoHomeBy,
    Reason,
    WaysClosed,
)
from mnm_ros.core.task.navigation import GoalReport
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.sentences import places, sentence

_MOST_NAMED = 5    # states in a sentence
_ASKED = {'stop': 'stopped', 'free': 'free to move again', 'pause': 'pause requested',
          'resume': 'resume requested', 'home': 'sent home', 'rest': 'sent home to rest',
          'recover': 'recovery requested', 'save': 'save requested', 'load': 'load requested',
          'forget': 'removal of a source requested',
          'look': 'test moves at closed ways requested',
          'improve': 'improvement of policies requested',
          'cancel': 'end of the goal requested',
          'change': 'change of the simulated world requested',
          'at_home': 'arrived at home', 'not_home': 'did not get home', 'hazard': 'hazard'}
"""Words for a request, or for its outcome, by ``Event.what``."""
_NOWHERE = ('look', 'improve', 'forget')    # the place of the robot says nothing there
_LATE = 10.0    # s, by which an event may be published after a later one, at most


def moment(seconds: float, form: str = '%a %H:%M') -> str:
    """Return the day of the week and the time of the day; of s since 1970."""
    return time.strftime(form, time.localtime(seconds))


def merged(events: Sequence[Event]) -> list[Event]:
    """
    Return events without those that say the same of a way as another one, or as ``closed``.

    A hint is left out if a change of the same pair follows before the hint is withdrawn, and an
    event about a single pair if many moves share its change. The diagnostics ``closed`` say when a
    closed way is tried again. Of a call whose caller was named late, the corrected event is kept.
    The events are in the order of their times.
    """
    shared = [event for event in events if event.moves]
    corrected = {(event.what, event.robot, event.corrects, event.time)
                 for event in events if event.corrects}
    kept: list[Event] = []
    confirmed: set[Pair] = set()
    for event in reversed(_by_time(events)):
        if (event.what, event.robot, event.by, event.time) in corrected:
            continue
        if event.change is not None and event.kind == 'change':
            confirmed.add(event.change.pair)
        elif isinstance(event.said, HintWithdrawn):
            confirmed.discard((event.said.state, event.said.action))
        elif isinstance(event.said, WaysClosed) or event.kind == 'hint' and (
                event.change is not None and event.change.pair in confirmed):
            continue
        if not any(_covers(each, event) for each in shared):
            kept.append(event)
    return kept[::-1]


def _by_time(events: Sequence[Event]) -> list[Event]:
    """Return events in the order of their times; a clock that was set back changes nothing."""
    found: list[Event] = []
    for event in events:
        at = len(found)
        while at and 0 < found[at - 1].time - event.time < _LATE:
            at -= 1
        found.insert(at, event)
    return found


def _covers(shared: Event, event: Event) -> bool:
    """Return whether the change of a pair is part of a change of many moves."""
    moves, change = shared.moves, event.change
    if moves is None or change is None or moves.action not in (None, change.action):
        return False
    began = event.step if change.step is None else change.step
    return event.step <= shared.step and any(
        change.pair == (state, action) for state, action, _ in moves.moves) or (
        moves.step is not None and moves.step <= began <= shared.step)


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


@dataclass(frozen=True)
class ClosedWay:
    """
    The words about a way that is closed.

    :ivar name: of the way, and since when it is closed.
    :ivar next_try: when the robot tries the way again; empty for now, or for no known time.
    """

    name: str
    next_try: str

    def __str__(self) -> str:
        return ', '.join(filter(None, (self.name, self.next_try)))


def closed_way(pair: Pair, since: float | None, look: float,
               description: RobotDescription) -> ClosedWay:
    """
    Return the words about a way that is closed.

    :param pair: state and action.
    :param since: s since 1970; None if that is not known.
    :param look: when it is tried again, s since 1970; infinite for now, or for no known time.
    """
    door = description.door(*pair)
    began = '' if since is None else f' since {moment(since)}'
    return ClosedWay(
        f'{_way(pair, door, description)} {"closed" if door else "blocked"}{began}',
        f'next try {moment(look)}' if math.isfinite(look) else '')


def _way(pair: Pair, door: str, description: RobotDescription) -> str:
    """Return the name of a way: of its door, or of its action if ``door`` is empty."""
    state, action = pair
    return f'door {door}' if door else (
        f'"{description.action_name(action, state)}" in {description.place(state)}')


def pause_after(pause: Event | None, event: Event) -> Event | None:
    """
    Return the pause that lasts after an event; None without one, or if nobody is named.

    :param pause: the one that lasted before the event.
    """
    if event.kind == 'pause' and not isinstance(event.said, ExploreCalledBefore):
        return event if isinstance(event.said, PausedBy) else None
    if pause and event.what == 'pause' and event.corrects:
        return replace(pause, by=event.by, said=PausedBy(event.by or ''))
    return None if event.what == 'resume' else pause


def paused(status: Reason, pause: Event | None, here: str = '') -> str:
    """
    Return who has paused the exploration, and when; empty if ``status`` or nobody says so.

    :param pause: the last one, as ``pause_after`` has it.
    :param here: the page that shows the sentence, as ``Event.by`` names it.
    """
    why = status.said if isinstance(status, Because) and status.what == 'paused' else None
    if pause is None or not isinstance(why, (ExploreCalled, ExploreCalledBefore)):
        return ''
    form = '%a %H:%M' if isinstance(why, ExploreCalledBefore) else '%H:%M'
    home = ' to go home' if isinstance(pause.said, PausedToGoHomeBy) else ''
    by = 'from this page' if pause.by == here else f'by {pause.by}'
    return f'paused{home} {by} at {moment(pause.time, form)}'


def told(event: Event, description: RobotDescription) -> str:
    """Return the sentence about an event."""
    if event.what is not None:
        return _asked(event, description)
    if event.change is not None and event.change.before and event.change.after:
        return _pair(event.change, description, hint=event.kind == 'hint')
    if event.moves is not None:
        ends = isinstance(event.said, MostHasChanged)
        return _moves(event.moves, description) + '; the next round begins' * ends
    if event.ways is not None:
        return f'{_ways(event.ways, description)}; {event.text or sentence(event.said)}'
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
    if event.corrects:
        more += f'{"; " if more else ": "}first reported as by {event.corrects}'
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
    Return where an action leads now, since when, and how often each outcome was seen.

    :param hint: whether that is not proven yet: somebody may stand in the way, and leave again.
    """
    (now, times, tried), (was, worked, before) = _usual(change.after), _usual(change.before)
    stays, stayed = now == change.state, was == change.state
    door = description.door(change.state, change.action) if stays != stayed else ''
    subject = _way(change.pair, door, description)
    leads = ('closed' if stays else 'open') if door else 'blocked' if stays else (
        f'leads to {description.place(now)}')
    if now == was:
        leads += ' less often' if times * before < worked * tried else ' more often'
    made = f'{times:,} of {tried:,} tries' + (
        '' if stays == stayed else ' failed' if stays else ' worked')
    if hint:
        may = leads.replace('leads', 'lead', 1) if leads.startswith('leads') else f'be {leads}'
        return f'{subject} may {may} ({made}); not certain yet'
    earlier = f'{worked:,} of {before:,}' + (
        '' if now == was else ' worked' if stays else ' failed' if stayed else
        f' to {description.place(was)}')
    since = '' if change.time is None else f' since {moment(change.time)}'
    return f'{subject} {leads}{since} ({made}, {earlier} before)'


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
    """Return what has come of a change, the places that are out of reach first."""
    rooms = _lost_rooms(ways.lost, ways.reached, description)
    reasons: dict[str, list[int]] = {}
    for state in ways.lost:
        if description.room(state) not in rooms:
            reasons.setdefault(_why_lost(state, ways), []).append(state)
    lost = [f'{_named(rooms)} out of reach'] * bool(rooms) + [
        f'{_places(states, description)} out of reach{why}' for why, states in reasons.items()]
    found = f'{_places(ways.found, description)} within reach now' if ways.found else ''
    other = ''
    if ways.other:
        through = _through(ways, description)
        other = (f'another way is taken to {len(ways.other)} place{"s" * (len(ways.other) != 1)}'
                 f'{through and f", through {through}"}')
    return '; '.join(filter(None, (*lost, found, other))) or 'all places are reached as before'


def out_of_reach(lost: Sequence[int], reached: Sequence[int],
                 description: RobotDescription) -> str:
    """Return the rooms, then the other places, that are lost; empty without any."""
    rooms = _lost_rooms(lost, reached, description)
    others = places([state for state in lost if description.room(state) not in rooms], description)
    return _named([*rooms, *others])


def _why_lost(state: int, ways: WaysChange) -> str:
    """Return why a state is lost, in brackets; nothing if that is not known."""
    if not ways.radius:
        return ''
    if state not in ways.away:
        return ' (no known way)'
    steps = ways.away[state]
    far = f'now {steps:.3g} step{"s" * (steps != 1)} away'
    return (f' ({far}, L is {ways.radius:g})' if steps > ways.radius else
            f' ({far}, by no certified policy)')


def _lost_rooms(lost: Sequence[int], reached: Sequence[int],
                description: RobotDescription) -> list[str]:
    """Return the rooms of which no place is reached any more."""
    left = {description.room(state) for state in reached}
    return [room for room in dict.fromkeys(map(description.room, lost))
            if room and room not in left] if reached else []


def _through(ways: WaysChange, description: RobotDescription) -> str:
    """Return through which room places are reached now; empty for none but that of home."""
    at_home = description.room(description.home) if description.home is not None else ''
    rooms = (description.room(state) for state in ways.by)
    return next((room for room in rooms if room and room != at_home), '')


def _places(states: Sequence[int], description: RobotDescription) -> str:
    return _named(places(states, description))


def _named(texts: Sequence[str]) -> str:
    """Return a few texts as people list them, or the first ones and how many more there are."""
    if not 1 < len(texts) <= _MOST_NAMED:
        return listed(texts, _MOST_NAMED)
    return f'{", ".join(texts[:-1])} and {texts[-1]}'
