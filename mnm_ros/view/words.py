# SPDX-License-Identifier: Apache-2.0

"""
Say of an explorer in words and figures what was heard, without a terminal or a browser.

Each function takes the language of its words, which are in ``config/words``. ``web/figures.py``
has the figures of the page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import inf

from mnm_ros.core.progress.activity import Evidence
from mnm_ros.core.progress.trust import PolicyTrust, Trust
from mnm_ros.language import ENGLISH, number, phrase, phrase_or
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from mnm_ros.view.telemetry import RobotTelemetry, Telemetry

LABEL = 16    # columns of what a figure is called
LINE = 160     # characters of a line that may be cut
MOMENTS = 10.0    # s, below which a prediction has no figure


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
        certified(heard, language) or '-')


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
    Return the setting in force, by its index, and the range of the indices; or ``-``.

    :param settings: how many there are; 0 if that is not known.
    """
    if index is None:
        return '-'
    return phrase(f'figures.setting{"_of" if settings else ""}', language, index=index,
                  last=settings - 1)


def whole(value: int | None, language: str = ENGLISH) -> str:
    """Return a count with separated thousands, or ``-``."""
    return '-' if value is None else number(value, language)


def clock(seconds: float) -> str:
    """Return a time span as ``h:mm:ss``."""
    minutes, rest = divmod(int(seconds), 60)
    return f'{minutes // 60}:{minutes % 60:02}:{rest:02}'


def rate(heard: Telemetry, language: str = ENGLISH) -> str:
    """Return the steps per second in brackets, or nothing."""
    found = per_second(heard, language)
    return found and f' ({found})'


def per_second(heard: Telemetry, language: str) -> str:
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


def trusted(heard: Telemetry, language: str, *wanted: Trust) -> str:
    """Return how many policies there are of each trust wanted, in words; or nothing."""
    counts = Counter(told.trust for told in heard.trust.values())
    return ', '.join(
        f'{counts[trust]} {phrase(f"trust.{trust.value}", language)}'
        for trust in wanted if counts[trust])


def certified(heard: Telemetry, language: str) -> str:
    """Return how many states can be gone to although none is known yet; or nothing."""
    return '' if heard.known else trusted(heard, language, Trust.CERTIFIED)


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
        phrase('figures.known', language, count=len(heard.known)), certified(heard, language),
        rests_on(heard, language),
        phrase('figures.candidates', language, count=heard.candidates),
        phrase(f'figures.steps{"_taken" if heard.robots else ""}', language,
               count=heard.count('steps')) + rate(heard, language),
        made(heard, language), worked(heard, language), late(heard, language),
        '' if heard.exploration_steps is None else    # only cmp_sim counts them
        phrase('figures.exploration', language, count=heard.exploration_steps), left)


def worked(heard: Telemetry, language: str) -> str:
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
    found = heard.progress
    if found is None:
        return ''
    share = min(1.0, found.done / found.expected) if found.expected > 0 else 1.0
    return joined(phrase('figures.done', language, share=share), remaining(heard, language),
                  in_all(heard, language))


def remaining(heard: Telemetry, language: str = ENGLISH) -> str:
    """Return how long the present aim still takes, in time or else in steps; or nothing."""
    found = heard.progress
    if found is None:
        return ''
    left, seconds, most = heard.steps_left(), heard.seconds_left(), ''
    if left is None:    # too near to the end to say more
        left, seconds, most = heard.most_steps_left(), heard.most_seconds_left(), 'most_'
    kind = ('longer' if left is None else f'{most}steps' if seconds is None else
            f'{most}time' if seconds >= MOMENTS else 'moments')
    aim = phrase_or(f'until.{found.aim}', language, phrase(
        'until.other', language, aim=found.aim))
    return phrase(f'remaining.{kind}', language, aim=aim, steps=left,
                  time=duration(seconds or 0.0, language))


def in_all(heard: Telemetry, language: str) -> str:
    """Return how long the first hypothesis takes, and a smaller radius, where that is hours."""
    found, pace = heard.progress, heard.pace
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
