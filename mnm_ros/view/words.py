# SPDX-License-Identifier: Apache-2.0

"""
Say of an explorer in words and figures what was heard, without a terminal or a browser.

The functions for lines and the live view stand first, then those for the page. Each takes the
language of its words, which are in ``config/words``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import inf
from typing import NamedTuple

from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.activity import Evidence
from mnm_ros.core.progress.trust import PolicyTrust, Trust
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from mnm_ros.view.language import ENGLISH, number, phrase, phrase_or
from mnm_ros.view.scene import kinds
from mnm_ros.view.sentences import sentence
from mnm_ros.view.telemetry import RobotTelemetry, Telemetry

LABEL = 16    # columns of what a figure is called
LINE = 160     # characters of a line that may be cut
_MOMENTS = 10.0   # s, below which a prediction has no figure


def version(heard: Telemetry) -> str:
    """Return the round and revision of the hypothesis as ``2.1``, or ``-``."""
    hypothesis = heard.hypothesis
    return '-' if hypothesis is None else '{}.{}'.format(*hypothesis.version)


def steps(heard: Telemetry, language: str = ENGLISH) -> str:
    """Return the steps of the exploration, and those that several robots have made."""
    count = whole(heard.count('steps'), language)
    return phrase('figures.taken', language, count=count) if heard.robots else count


def made(heard: Telemetry, language: str = ENGLISH) -> str:
    """
    Return how many steps several robots have made, in words; nothing for one.

    The steps of the exploration are those that it has taken of them; see
    ``docs/explanation/fleet.md``.
    """
    return phrase('figures.made', language, robots=len(heard.robots), steps=sum(
        robot.steps or 0 for robot in heard.robots)) if heard.robots else ''


def late(heard: Telemetry, language: str = ENGLISH) -> str:
    """Return which robots that may move owe an answer for unusually long; or nothing."""
    return '; '.join(
        (f'{robot}: ' if robot else '') + phrase('figures.late', language, seconds=seconds)
        for robot, seconds in heard.late)


def known(heard: Telemetry, width: float = inf, language: str = ENGLISH) -> str:
    """Return how many states are known and which, as many as fit; before, what can be used."""
    return numbered(heard.known, width, heard.description, language) if heard.known else (
        _certified(heard, language) or '-')


def numbered(states: Sequence[int], width: float = inf,
             description: RobotDescription = UNDESCRIBED, language: str = ENGLISH) -> str:
    """Return how many states there are, and as many of them as fit, by name if they have any."""
    count = whole(len(states), language)
    between = ', ' if description.names.keys() & {*states} else ' '
    text, shown = count, ''
    for place, name in enumerate(map(description.name, states)):
        left = len(states) - place - 1
        shown = f'{shown}{between}{name}' if shown else name
        found = f'{count}: ' + (phrase('words.more', language, first=shown, count=left)
                                if left else shown)
        if len(found) > width:
            break
        text = found
    return text


def setting(index: int | None, settings: int, language: str = ENGLISH) -> str:
    """
    Return the index of the setting in force and the range of the indices, or ``-``.

    :param settings: how many there are; 0 if that is not known.
    """
    if index is None:
        return '-'
    return phrase('figures.setting', language, index=index, last=settings - 1) if (
        settings) else str(index)


def whole(value: int | None, language: str = ENGLISH) -> str:
    """Return a count with separated thousands, or ``-``."""
    return '-' if value is None else number(value, language)


def clock(seconds: float) -> str:
    """Return a time span as ``h:mm:ss``."""
    minutes, rest = divmod(int(seconds), 60)
    return f'{minutes // 60}:{minutes % 60:02}:{rest:02}'


def rate(heard: Telemetry, language: str = ENGLISH) -> str:
    """Return the steps per second in brackets, or nothing."""
    found = _per_second(heard, language)
    return found and f' ({found})'


def _per_second(heard: Telemetry, language: str) -> str:
    """Return the steps per second: where a step takes long, the mean, as one second has none."""
    found = heard.number('steps_per_second')
    if found is None:
        return ''
    if heard.exploring and heard.pace is not None and heard.pace < 9.5:
        return phrase('figures.rate', language, rate=number(heard.pace, language, '.2g'))
    return phrase('figures.rate', language, rate=number(found, language, ',.0f'))


def clip(text: str, width: int) -> str:
    """Return one line of at most ``width`` characters, which ends with dots if it is cut."""
    line = ' '.join(text.split())
    if len(line) <= width:
        return line
    return (line[:max(0, width - 3)] + '...')[:max(0, width)]


def robots(heard: Telemetry, most: int, language: str = ENGLISH) -> list[str]:
    """
    Return a line for each robot, if there are several, or for as many as fit.

    Those that do nothing come first if there is not room for all.

    :param most: lines.
    """
    found = heard.robots
    if len(found) > most:
        found = tuple(sorted(found, key=lambda robot: robot.level == 'ok'))[:max(0, most - 1)]
    lines = [phrase('figures.robot', language, robot=robot.name, status=robot.status,
                    steps=whole(robot.steps, language), where=_place(heard, robot, language))
             for robot in found]
    left = len(heard.robots) - len(found)
    return [*lines, phrase('figures.more', language, count=left)] if (
        left and most > 0) else lines


def _place(heard: Telemetry, robot: RobotTelemetry, language: str) -> str:
    return phrase('figures.nowhere', language) if robot.place is None else phrase(
        'figures.there', language, place=heard.description.name(robot.place))


def changed(before: Telemetry, after: Telemetry, settings: int,
            language: str = ENGLISH) -> list[str]:
    """Return a line for each change of the phase, round, states, status and setting."""
    lines = []
    if after.phase_group != before.phase_group:
        lines.append(phrase('terminal.phase_now', language, phase=after.phase)
                     if after.phase != 'waiting_for_robot' else
                     phrase('phases.waiting_for_robot', language))
    if after.count('round') not in (None, before.count('round')):
        lines.append(phrase('terminal.round_now', language, round=after.count('round')))
    if after.known != before.known:
        lines.append(phrase('terminal.known_now', language, known=known(after, LINE, language)))
    if after.status != before.status:
        lines.append(phrase('terminal.status_now', language, status=after.status))
    said = {robot.name: robot.status for robot in before.robots}
    lines += [phrase('terminal.robot_now', language, robot=robot.name, status=robot.status)
              for robot in after.robots if robot.status != said.get(robot.name)]
    if after.late and not before.late:
        lines.append(late(after, language))
    if after.true_setting != before.true_setting:
        lines.append(phrase('terminal.setting_now', language, setting=setting(
            after.true_setting, settings, language)))
    return lines


def _trusted(heard: Telemetry, language: str, *wanted: Trust) -> str:
    """Return how many policies there are of each trust wanted, in words; or nothing."""
    counts = Counter(told.trust for told in heard.trust.values())
    return ', '.join(
        f'{counts[trust]} {phrase(f"trust.{trust.value}", language)}'
        for trust in wanted if counts[trust])


def _certified(heard: Telemetry, language: str) -> str:
    """Return how many states can be gone to although none is known yet; or nothing."""
    return '' if heard.known else _trusted(heard, language, Trust.CERTIFIED)


def rests_on(heard: Telemetry, language: str = ENGLISH) -> str:
    """Return what the proofs of the known states rest on besides what was seen; or nothing."""
    return phrase('trust.by_map', language) if any(
        told.declared for told in heard.trust.values() if told.trust is Trust.PROVEN) else ''


def trust_words(told: PolicyTrust, language: str = ENGLISH) -> str:
    """Return how far a policy may be trusted, and whether the proof rests on declarations."""
    return joined(phrase(f'trust.{told.trust.value}', language),
                  phrase('trust.by_map', language) if told.declared else '')


def joined(*texts: str) -> str:
    """Return the texts that are not empty, with commas between them."""
    return ', '.join(filter(None, texts))


def progress(heard: Telemetry, language: str = ENGLISH) -> str:
    """Return one line that says how far the exploration is."""
    waits, left = heard.phase == 'waiting_for_robot', to_go(heard, language)
    return joined(
        phrase('phases.waiting_for_robot', language) if waits else
        heard.phase or phrase('figures.starting', language),
        phrase('figures.known', language, count=len(heard.known)), _certified(heard, language),
        rests_on(heard, language),
        phrase('figures.candidates', language, count=heard.candidates),
        phrase(f'figures.steps{"_taken" if heard.robots else ""}', language,
               count=heard.count('steps')) + rate(heard, language),
        made(heard, language), _worked(heard, language), late(heard, language),
        '' if heard.exploration_steps is None else    # only cmp_sim counts them
        phrase('figures.exploration', language, count=heard.exploration_steps), left)


def _worked(heard: Telemetry, language: str) -> str:
    """Return how many executions that others have ordered count beside the steps, or nothing."""
    count = heard.activity.work
    return phrase('figures.work', language, count=count) if count else ''


def by_source(sources: Mapping[str, int], language: str = ENGLISH) -> str:
    """Return how many transitions each source has reported, if there are several; or nothing."""
    return ', '.join(
        phrase('figures.by_source', language, count=count, source=source)
        for source, count in sorted(sources.items())) if len(sources) > 1 else ''


def to_go(heard: Telemetry, language: str = ENGLISH) -> str:
    """Return how much of the present aim is done, and how long it still takes, or nothing."""
    found = heard.activity.progress
    if found is None:
        return ''
    share = min(1.0, found.done / found.expected) if found.expected > 0 else 1.0
    seconds = heard.seconds_left()
    aim = phrase_or(f'aims.{found.aim}', language, found.aim)
    if seconds is None:
        return phrase('figures.done', language, share=share, aim=aim)
    left = duration(seconds, language) if seconds >= _MOMENTS else (
        phrase('figures.a_little', language))
    return joined(phrase('figures.to_go', language, share=share, left=left, aim=aim),
                  _in_all(heard, language))


def _in_all(heard: Telemetry, language: str) -> str:
    """Return how long the first hypothesis takes, and a smaller radius, where that is hours."""
    found, pace = heard.activity.progress, heard.pace
    if found is None or not pace or heard.seconds_left() is None or (
            found.aim != 'first hypothesis' or found.expected < 3600 * pace):
        return ''
    smaller = phrase(
        'figures.smaller', language, radius=found.smaller_radius,
        time=duration(found.smaller_expected / pace, language)) if found.smaller_radius else ''
    return phrase(
        'figures.in_all', language, time=duration(found.expected / pace, language)) + smaller


def of_threshold(test: Evidence, language: str = ENGLISH) -> str:
    """Return how much evidence there is, and how much is needed."""
    evidence, threshold = (number(value, language, ',.0f' if abs(value) >= 100 else '.3g')
                           for value in (test.evidence, test.threshold))
    return phrase('decisions.figures', language, evidence=evidence, threshold=threshold)


class Bar(NamedTuple):
    """
    A progress bar.

    :ivar share: between 0 and 1.
    :ivar text: what is left.
    :ivar detail: the prediction that it follows from.
    """

    share: float
    text: str
    detail: str


def tile_label(name: str, value: str, language: str = ENGLISH) -> str:
    """Return what is written below a figure of ``tiles``."""
    return phrase(f'tiles.{name}', language, count=1 if value == '1' else None)


def tiles(heard: Telemetry, language: str = ENGLISH) -> list[tuple[str, str, str]]:
    """Return the figures to be seen first, each as name, value and a remark."""
    noticed = heard.count('changes_noticed')
    true = heard.true_setting
    exploration = heard.exploration_steps
    made_by = made(heard, language)
    found = [
        ('known', str(len(heard.known)),
         _certified(heard, language) or _trusted(heard, language, Trust.DOUBTED)
         or joined(phrase('remarks.known', language), rests_on(heard, language))),
        ('candidates', str(heard.candidates or 0),
         _trusted(heard, language, Trust.CERTIFIED, Trust.ASSUMED)
         or phrase('remarks.candidates', language)),
        ('steps', whole(heard.steps, language), '; '.join(filter(None, (
            made_by and phrase('remarks.taken', language, made=made_by),
            _worked(heard, language), by_source(heard.activity.sources, language),
            _per_second(heard, language) or (
                '' if heard.heartbeat is None else phrase('figures.rate', language, rate='0')),
        )))),
        ('changes', '\u2013' if noticed is None else str(noticed),
         phrase('remarks.changes', language) if true is None else
         phrase('remarks.setting', language, setting=true))]
    if exploration is not None:
        found.append(('exploration', whole(exploration, language),
                      phrase('remarks.exploration', language)))
    return found


def presence(heard: Telemetry, now: float, where: str, language: str = ENGLISH) -> str:
    """
    Return a sentence if there is no explorer, or a robot owes an answer; empty else.

    :param where: namespace and domain, for people.
    """
    if heard.heartbeat is None:
        return phrase('presence.never', language, where=where)
    silence = heard.silent(now)
    if silence is None:
        owed = late(heard, language)
        return owed and phrase(f'presence.{"robots" if heard.robots else "robot"}', language,
                               late=owed)
    return phrase(f'presence.{"gone" if heard.gone else "silent"}', language,
                  time=duration(silence, language))


def bar(heard: Telemetry, language: str = ENGLISH) -> Bar | None:
    """Return how far it is; None if that is not known."""
    progress = heard.activity.progress
    if progress is None or progress.expected <= 0:
        return None
    aim = phrase_or(f'until.{progress.aim}', language, phrase(
        'until.other', language, aim=progress.aim))
    left, seconds = heard.steps_left(), heard.seconds_left()
    share = min(1.0, max(0.0, progress.done / progress.expected))
    detail = joined(phrase('bar.detail', language, **asdict(progress)), _in_all(heard, language))
    kind = ('longer' if progress.done >= progress.expected else 'unsure' if left is None else
            'steps' if seconds is None else 'time' if seconds >= _MOMENTS else 'moments')
    return Bar(share, phrase(f'bar.{kind}', language, aim=aim, steps=left,
                             time=duration(seconds or 0.0, language)), detail)


def about(heard: Telemetry, state: int, language: str = ENGLISH) -> list[str]:
    """Return what is known of a state, a sentence for each thing."""
    kind = kinds(heard).get(state, 'unmet')
    lines = [phrase(f'meanings.{kind}', language)]
    told = heard.trust.get(state)
    if state in heard.known or told is not None and state != heard.home:
        expected = heard.knowledge.steps_to(state)
        limit = heard.activity.limit
        lines.append(joined(
            phrase('about.unknown', language) if expected is None else
            phrase('about.steps', language, steps=expected),
            in_time(told.expected_seconds, language) if told else '',
            phrase('about.limit', language, limit=limit) if limit else ''))
    if told is not None and (told.trust is not Trust.PROVEN or told.declared):
        lines.append(phrase(
            'about.trust', language, trust=trust_words(told, language),
            why=sentence(told.said, heard.description, language) or told.why) + (
            phrase('about.declared', language, count=told.declared) if told.declared else ''))
    said = heard.description
    for action in sorted({*heard.counts.get(state, ())} - {RESET}):
        led = sorted(heard.knowledge.after(state, action), key=lambda each: -each.times)
        lines.append(phrase(
            'about.action', language, action=said.action_name(action, state),
            times=sum(each.times for each in led)) + ', '.join(phrase(
                'about.led', language, share=each.probability, place=said.name(each.following))
                for each in led[:3]))
    return lines


def in_time(seconds: float | None, language: str = ENGLISH) -> str:
    """Return about how long steps take; nothing where it is not worth a word."""
    return '' if seconds is None or seconds < 1 else phrase(
        'figures.about', language, time=duration(seconds, language))


def duration(seconds: float, language: str = ENGLISH) -> str:
    """Return a time span in words, of two units at most."""
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    if seconds < 1:
        kind = 'moment'
    elif seconds < 90:
        kind = 'seconds'
    elif minutes < 90:
        kind = 'minutes'
    elif hours < 10 and rest:
        kind = 'both'
    elif minutes < 48 * 60:
        kind, hours = 'hours', round(minutes / 60)
    else:
        kind = 'days'
    return phrase(f'duration.{kind}', language, seconds=seconds, minutes=minutes, hours=hours,
                  rest=rest, days=round(hours / 24))
