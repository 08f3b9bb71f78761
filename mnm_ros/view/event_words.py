# SPDX-License-Identifier: Apache-2.0

"""Make the sentences about events, with the names of the robot side and with clock times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mnm_ros.core.model.counts import Pair, usual
from mnm_ros.core.progress.activity import ClosedWay
from mnm_ros.core.progress.events import Event, MovesChange, PairChange, WaysChange
from mnm_ros.core.progress.said import (
    Because,
    ExploreCalled,
    ExploreCalledBefore,
    HintWithdrawn,
    InSteps,
    InWords,
    MostHasChanged,
    PausedBy,
    PausedToGoHomeBy,
    Reason,
    Said,
    WayOpen,
    WaysClosed,
    WayStillClosed,
)
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.language import ENGLISH, enumerated, moment, phrase
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.sentences import action_name, origin, place, places, sentence

_NOWHERE = ('look', 'improve', 'forget', 'change')    # the place of the robot says nothing there
_LATE = 10.0    # s, by which an event may be published after a later one, at most


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


def condensed(events: Sequence[Event]) -> list[Event]:
    """
    Return ``merged`` events, with one event for the failed tries of a closed way in a row.

    It is the last one, with the others in its ``count``. An event does not name the event that it
    corrects, because that one is left out.
    """
    found: list[Event] = []
    tried: dict[Pair, int] = {}    # where in ``found`` the last of a row is
    for event in reversed(merged(events)):
        said, pair = event.said, _pair_of(event)
        if not isinstance(said, WayStillClosed) or pair is None:
            if pair is not None:
                tried.pop(pair, None)
        elif pair in tried:
            last = found[tried[pair]]
            found[tried[pair]] = replace(last, count=(last.count or 0) + 1)
            continue
        else:
            tried[pair] = len(found)
        found.append(replace(event, corrects=None) if event.corrects else event)
    return found[::-1]


def _pair_of(event: Event) -> Pair | None:
    """Return the pair that an event is about; None for no pair, or for many."""
    if event.change is not None:
        return event.change.pair
    said = event.said
    return (said.state, said.action) if isinstance(
        said, (HintWithdrawn, WayOpen, WayStillClosed)) else None


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
        (now, times, tried), (was, worked, before) = map(
            _usual, (event.change.after, event.change.before))
        less = now == was and times * before < worked * tried    # to stay less often is good
        return 'bad' if (now == event.change.state) != less else 'good'
    return ''


def closed_way(way: ClosedWay, description: RobotDescription, language: str = ENGLISH) -> str:
    """Return the name of a way that is closed, since when it is, and when it is tried again."""
    pair = way.state, way.action
    door = description.door(*pair)
    closed = phrase(f'outcome.{"closed" if door else "blocked"}', language,
                    way=_way(pair, door, description, language))
    tried = next_try(way, language)
    return closed + _since(way.since, language) + (tried and f', {tried}')


def next_try(way: ClosedWay, language: str = ENGLISH) -> str:
    """Return when a closed way is tried again; empty for now, or for no known time."""
    return '' if way.next_try is None else phrase(
        'event.next_try', language, time=moment(way.next_try, language=language))


def _way(pair: Pair, door: str, description: RobotDescription, language: str) -> str:
    """Return the name of a way: of its door, or of its action if ``door`` is empty."""
    state, action = pair
    return phrase('words.door', language, door=door) if door else phrase(
        'words.pair', language, action=action_name(action, state, description, language),
        state=place(state, description, language))


def _since(time: float | None, language: str) -> str:
    return '' if time is None else phrase(
        'event.since', language, time=moment(time, language=language))


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


def paused(status: Reason, pause: Event | None, here: str = '', language: str = ENGLISH) -> str:
    """
    Return who has paused the exploration, and when; empty if ``status`` or nobody says so.

    :param pause: the last one, as ``pause_after`` has it.
    :param here: the page that shows the sentence, as ``Event.by`` names it.
    """
    why = status.said if isinstance(status, Because) and status.what == 'paused' else None
    if pause is None or not isinstance(why, (ExploreCalled, ExploreCalledBefore)):
        return ''
    form = '%a %H:%M' if isinstance(why, ExploreCalledBefore) else '%H:%M'
    name = 'to_go_home' if isinstance(pause.said, PausedToGoHomeBy) else 'paused'
    by = phrase('event.from_this_page', language) if pause.by == here else (
        phrase('event.by', language, by=origin(pause.by or '', language)))
    return phrase(f'event.{name}', language, by=by, time=moment(pause.time, form, language))


def told(event: Event, description: RobotDescription, language: str = ENGLISH,
         plain: bool = False) -> str:
    """
    Return the sentence about an event, of its values; its text if it has no values.

    :param plain: whether to avoid the terms of the algorithm.
    """
    if event.what is not None:
        return _asked(event, description, language, plain)
    if event.change is not None and event.change.before and event.change.after:
        return _pair(event.change, description, language, hint=event.kind == 'hint')
    if event.moves is not None:
        ends = isinstance(event.said, MostHasChanged)
        return _moves(event.moves, description, language) + (
            phrase('event.next_round', language) if ends else '')
    said = (sentence(event.said, description, language, plain) or event.text) + _more(
        event.count or 0, language)
    if event.robot and event.said:
        said = f'{event.robot}: {said}'
    if event.ways is not None:
        return f'{_ways(event.ways, description, language)}; {said}'
    return said


def _asked(event: Event, description: RobotDescription, language: str, plain: bool) -> str:
    """Return what somebody has asked for, where and from where, or what has become of a goal."""
    if event.kind == 'goal' and event.what != 'goal':
        return _goal(event.what or '', event.target, event.said, description, language, plain)
    detail = sentence(event.said, description, language, plain)
    here = event.state is not None and event.what not in _NOWHERE and (
        event.kind in ('stop', 'free', 'command'))
    said, more = (detail, '') if event.kind == 'setting' else (phrase(
        f'asked.{event.what}', language,
        target='' if event.target is None else place(event.target, description, language)),
        detail)
    if here:
        said = phrase('event.at', language, said=said,
                      place=place(event.state or 0, description, language))
    more = '; '.join(filter(None, (more, event.corrects and phrase(
        'event.corrects', language, by=origin(event.corrects, language)))))
    return ''.join((
        f'{event.robot}: ' if event.robot else '', said, ', ',
        phrase('event.by', language, by=origin(event.by or '', language)),
        f' ({event.user})' if event.user else '',
        more and f': {more}', _more(event.count or 0, language)))


def _more(count: int, language: str) -> str:
    """Return in brackets how often something was asked for besides the first time."""
    return phrase('event.more', language, count=count) if count else ''


def goal_words(report: GoalReport, description: RobotDescription,
               language: str = ENGLISH, plain: bool = True) -> str:
    """Return how far a goal is, with the name of its state; ``plain`` is as for ``sentence``."""
    return _goal(
        report.status.value, report.target, goal_said(report), description, language, plain)


def goal_said(report: GoalReport) -> Said:
    """Return what reaching a goal took, or why it ended otherwise."""
    if report.status is GoalStatus.REACHED:
        return InSteps(report.steps)
    return report.said or InWords(report.how)


def _goal(status: str, target: int | None, said: Said | None, description: RobotDescription,
          language: str, plain: bool) -> str:
    """Return how far a goal is; ``said`` is what reaching it took, or why it ended otherwise."""
    return phrase(f'goal.{status}', language, said=sentence(said, description, language, plain),
                  place='' if target is None else f' {place(target, description, language)}')


def _pair(change: PairChange, description: RobotDescription, language: str, hint: bool) -> str:
    """
    Return where an action leads now, since when, and how often each outcome was seen.

    :param hint: whether that is not proven yet: somebody may stand in the way, and leave again.
    """
    (now, times, tried), (was, worked, before) = _usual(change.after), _usual(change.before)
    stays, stayed = now == change.state, was == change.state
    if stays and not stayed and not change.closed:    # it still leads there, less often
        stays, now, times = False, was, change.after.get(was, 0)
    door = description.door(change.state, change.action) if stays != stayed else ''
    outcome = ('closed' if stays else 'open') if door else 'blocked' if stays else (
        'again' if change.again else 'leads')
    if now == was:
        outcome += '_less' if times * before < worked * tried else '_more'
    result = phrase(f'{"possible" if hint else "outcome"}.{outcome}', language,
                    way=_way(change.pair, door, description, language),
                    end=place(now, description, language))
    made = phrase(f'tries.{"any" if stays == stayed else "failed" if stays else "worked"}',
                  language, times=times, tried=tried)
    if hint:
        return phrase('event.hint', language, result=result, made=made)
    earlier = 'same' if now == was else 'worked' if stays else 'failed' if stayed else 'led'
    return phrase(
        'event.change', language, result=result + _since(change.time, language), made=made,
        earlier=phrase(f'earlier.{earlier}', language, times=worked, tried=before,
                       end=place(was, description, language)))


def _moves(moves: MovesChange, description: RobotDescription, language: str) -> str:
    """Return since when many moves have become less reliable, or more, and how much."""
    before, after = moves.reliable
    kind = 'all' if moves.action is None else 'action'
    return phrase(
        f'moves.{kind}_{"less" if after < before else "more"}', language,
        action='' if moves.action is None else (
            action_name(moves.action, None, description, language)),
        began=_began(moves, language), before=before, after=after)


def _began(moves: MovesChange, language: str) -> str:
    """Return between which times, or else steps, a change of many moves has begun."""
    if moves.time is not None and moves.latest_time is not None:
        first, last = (moment(each, language=language)
                       for each in (moves.time, moves.latest_time))
    elif moves.step is not None and moves.latest is not None:
        first, last = (phrase('event.step', language, step=each)
                       for each in (moves.step, moves.latest))
    else:
        return ''
    return phrase('event.since', language, time=first) if first == last else phrase(
        'event.between', language, first=first, last=last)


def _usual(following: Mapping[int, int]) -> tuple[int, int, int]:
    """Return the most frequent next state, how often it was, and of how many executions."""
    most = usual(following)
    assert most is not None
    return most, following[most], sum(following.values())


def _ways(ways: WaysChange, description: RobotDescription, language: str) -> str:
    """Return what has come of a change, the places that are out of reach first."""
    rooms = _lost_rooms(ways.lost, ways.reached, description)
    reasons: dict[str, list[int]] = {}
    for state in ways.lost:
        if description.room(state) not in rooms:
            reasons.setdefault(_why_lost(state, ways, language), []).append(state)

    def out(texts: Sequence[str], why: str = '') -> str:
        return phrase('ways.lost', language, places=enumerated(texts, language)) + why

    found = [out(rooms)] * bool(rooms) + [
        out(places(states, description, language), why) for why, states in reasons.items()]
    if ways.found:
        found.append(phrase('ways.found', language, places=enumerated(
            places(ways.found, description, language), language)))
    if ways.other:
        through = _through(ways, description)
        found.append(phrase(f'ways.{"through" if through else "other"}', language,
                            count=len(ways.other), room=through))
    return '; '.join(found) or phrase('ways.same', language)


def out_of_reach(lost: Sequence[int], reached: Sequence[int], description: RobotDescription,
                 language: str = ENGLISH) -> str:
    """Return the rooms, then the other places, that are out of reach; empty without any."""
    rooms = _lost_rooms(lost, reached, description)
    others = places([state for state in lost if description.room(state) not in rooms],
                    description, language)
    return phrase('ways.lost', language, places=enumerated([*rooms, *others], language)) if (
        lost) else ''


def _why_lost(state: int, ways: WaysChange, language: str) -> str:
    """Return why a state is lost, in brackets; nothing if that is not known."""
    if not ways.radius:
        return ''
    if state not in ways.away:
        return phrase('ways.no_way', language)
    steps = ways.away[state]
    return phrase(f'ways.{"too_far" if steps > ways.radius else "not_certified"}', language,
                  steps=steps, radius=ways.radius)


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
