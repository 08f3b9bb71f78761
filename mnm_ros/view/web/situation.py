# SPDX-License-Identifier: Apache-2.0

"""
Make the sentences at the top of the page: the consequences of changes, and the present activity.

They are made of values, in plain words, without terms of the algorithm.
"""

from __future__ import annotations

from functools import reduce

from mnm_ros.core.knowledge.knowledge import StateKind
from mnm_ros.core.progress.said import Because, Idle, is_for_goal
from mnm_ros.language import ENGLISH, phrase, phrase_or
from mnm_ros.view.event_words import closed_way, out_of_reach, pause_after, paused
from mnm_ros.view.sentences import place, sentence
from mnm_ros.view.telemetry import Telemetry


def consequences(heard: Telemetry, language: str = ENGLISH) -> str:
    """Return the rooms and places out of reach, then the closed ways; empty without any."""
    lost = out_of_reach(
        heard.knowledge.of(StateKind.LOST), heard.known, heard.description, language)
    return ' '.join(f'{as_sentence(said)}.' for said in (
        lost, '; '.join(closed_way(way, heard.description, language)
                        for way in heard.activity.closed)) if said)


def doing(heard: Telemetry, here: str = '', language: str = ENGLISH) -> str:
    """
    Return what the explorer is doing now.

    :param here: the page that shows it, as ``Event.by`` names it.
    """
    if heard.all_stopped:
        return phrase('doing.stopped', language)
    if _behind(heard):
        return as_sentence(phase_words(heard, language))
    at_home, why = _at_home(heard, language), heard.activity.said
    if at_home and isinstance(why, Because):
        why = why.said    # that the exploration is paused is in the head of the page
    said = _paused(heard, here, language) or (
        sentence(why, heard.description, language, plain=True)
        or heard.activity.sentence or heard.status)
    return f'{at_home}{as_sentence(said)}' if said else phrase('doing.nothing', language)


def phase_words(heard: Telemetry, language: str = ENGLISH) -> str:
    """Return the phase in plain words; empty if no phase is known."""
    if paused_for_goal(heard):
        return phrase('phases.for_goal', language)
    phase = heard.activity.within(heard.phase)
    return phrase_or(f'phases.{phase}', language, phase)


def paused_for_goal(heard: Telemetry) -> bool:
    """Return whether a goal has the robot, in a pause that ends by itself."""
    return heard.phase == 'paused' and is_for_goal(heard.activity.said or '')


def _behind(heard: Telemetry) -> bool:
    """Return whether the activity is still that of before the last pause, or of the pause."""
    said, phase = heard.activity.said, heard.phase.partition('/')[0]
    if isinstance(said, (Because, Idle)):
        return said.what == 'paused' and phase in (
            'building', 'checking', 'waiting_for_robot')
    return phase == 'paused' and said is not None


def in_terms(heard: Telemetry, language: str = ENGLISH) -> str:
    """Return the same in the terms of the algorithm."""
    return _paused(heard, '', language) or sentence(
        heard.activity.said, heard.description, language) or heard.activity.sentence


def as_sentence(said: str) -> str:
    """Return words with a capital letter at their beginning, unless a name like r1c2 is there."""
    return said[:1].upper() + said[1:] if said.split(' ')[0].rstrip(',:').isalpha() else said


def _paused(heard: Telemetry, here: str, language: str) -> str:
    """Return from where the pause was asked for, and when; empty if that is not known."""
    return paused(heard.activity.said or '', reduce(pause_after, heard.events, None), here,
                  language)


def _at_home(heard: Telemetry, language: str) -> str:
    """Return that the robot rests at home, by the name of home; empty if it does not."""
    home = heard.home
    if (heard.phase != 'paused' or home is None or heard.activity.current != home
            or paused_for_goal(heard)):
        return ''
    return phrase('doing.at_home', language, place=place(home, heard.description, language)) + ' '
