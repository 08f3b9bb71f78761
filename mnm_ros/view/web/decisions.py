# SPDX-License-Identifier: Apache-2.0

"""The tests that are closest to a decision: in words, with their figures for those who ask."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from mnm_ros.core.progress.activity import Evidence
from mnm_ros.core.progress.trust import Trust
from mnm_ros.language import ENGLISH, phrase
from mnm_ros.view.telemetry import Telemetry
from mnm_ros.view.words import of_threshold

_MOST = 5    # tests that are shown


class DecisionRow(NamedTuple):
    """
    A test.

    :ivar subject: what it is about.
    :ivar said: how far it is, in words.
    :ivar figures: the evidence and its threshold.
    :ivar share: of the threshold that is there, at most 1.
    """

    subject: str
    said: str
    figures: str
    share: float


def decisions(heard: Telemetry, language: str = ENGLISH) -> list[DecisionRow]:
    """
    Return the tests that are closest to a decision.

    A detector without evidence is left out, and so is one of a policy that is doubted already.
    """
    shown = [test for test in heard.activity.tests
             if test.kind != 'detector' or test.share > 0 and not _doubted(heard, test.state)]
    return [DecisionRow(_subject(heard, test, language), _said(test, language),
                        of_threshold(test, language), min(1.0, max(0.0, test.share)))
            for test in shown[:_MOST]]


def _doubted(heard: Telemetry, state: int | None) -> bool:
    told = None if state is None else heard.trust.get(state)
    return told is not None and told.trust is Trust.DOUBTED


def decisions_table(heard: Telemetry, language: str = ENGLISH) -> str:
    """Return them as HTML."""
    return ''.join(
        f'<div class="test"><div class="line"><span>{escape(row.subject)}</span>'
        f'<span>{escape(row.said)}<span class="figures"> ({row.figures})</span></span></div>'
        f'<div class="track"><div class="bar" style="width:{row.share:.0%}"></div></div></div>'
        for row in decisions(heard, language))


def _subject(heard: Telemetry, test: Evidence, language: str) -> str:
    name = '' if test.state is None else heard.description.name(test.state)
    action = '' if test.action is None else (
        heard.description.action_name(test.action, test.state))
    return phrase(f'tests.{test.kind}', language, place=name, action=action) if (
        test.kind in _SAID) else ' '.join(filter(None, (test.kind, name, action)))


def _said(test: Evidence, language: str) -> str:
    name = _SAID.get(test.kind, '')
    part = min(4, max(0, round(4 * test.share)))
    amount = 'no' if test.share <= 0 else 'enough' if test.share >= 1 else (
        'little', 'some', 'much')[int(3 * test.share)]
    return phrase(f'decisions.{name}', language, made=round(test.evidence),
                  wanted=round(test.threshold),
                  part=phrase(f'parts.{part}', language) if name == 'proof' else '',
                  amount=phrase(f'amounts.{amount}', language)) if name else (
        of_threshold(test, language))


_SAID = {'certificate': 'executions', 'policy': 'proof', 'proof': 'proof', 'detector': 'against',
         'transition': 'change', 'rediscovery': 'steps'}
"""By the kind of a test, the phrase about how far it is."""
