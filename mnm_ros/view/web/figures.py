# SPDX-License-Identifier: Apache-2.0

"""The figures of the page, the progress bar, and what is known of a state, in words."""

from __future__ import annotations

from dataclasses import asdict
from typing import NamedTuple

from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.trust import Trust
from mnm_ros.language import ENGLISH, phrase
from mnm_ros.view.scene import kinds
from mnm_ros.view.sentences import sentence
from mnm_ros.view.telemetry import Telemetry
from mnm_ros.view.words import (
    by_source,
    certified,
    duration,
    in_all,
    in_time,
    joined,
    late,
    made,
    per_second,
    remaining,
    rests_on,
    setting,
    trust_words,
    trusted,
    whole,
    worked,
)


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
         certified(heard, language) or trusted(heard, language, Trust.DOUBTED)
         or joined(phrase('remarks.known', language), rests_on(heard, language))),
        ('candidates', str(heard.candidates or 0),
         trusted(heard, language, *(
             () if certified(heard, language) else (Trust.CERTIFIED,)), Trust.ASSUMED)
         or phrase('remarks.candidates', language)),
        ('steps', whole(heard.steps, language), '; '.join(filter(None, (
            made_by and phrase('remarks.taken', language, made=made_by),
            worked(heard, language), by_source(heard.activity.sources, language),
            per_second(heard, language) or (
                '' if heard.heartbeat is None else phrase('figures.rate', language, rate='0')),
        )))),
        ('changes', '\u2013' if noticed is None else str(noticed),
         phrase('remarks.changes', language) if true is None else
         phrase('remarks.setting', language, setting=setting(true, 0, language)))]
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
    progress = heard.progress
    if progress is None or progress.expected <= 0:
        return None
    share = min(1.0, max(0.0, progress.done / progress.expected))
    detail = joined(phrase('bar.detail', language, **asdict(progress)), in_all(heard, language))
    return Bar(share, remaining(heard, language), detail)


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
