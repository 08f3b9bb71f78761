# SPDX-License-Identifier: Apache-2.0

"""The tests that are closest to a decision: in words, with their figures for those who ask."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from mnm_ros.core.progress.activity import Evidence
from mnm_ros.core.progress.trust import Trust
from mnm_ros.view.telemetry import Telemetry
from mnm_ros.view.words import of_threshold, whole

_MOST = 5    # tests that are shown
_PARTS = ('hardly any', 'about a quarter', 'about half', 'about three quarters', 'nearly all')
_AMOUNTS = ('little', 'some', 'much')


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


def decisions(heard: Telemetry) -> list[DecisionRow]:
    """
    Return the tests that are closest to a decision.

    A detector without evidence is left out, and so is one of a policy that is doubted already.
    """
    shown = [test for test in heard.activity.tests
             if test.kind != 'detector' or test.share > 0 and not _doubted(heard, test.state)]
    return [DecisionRow(_subject(heard, test), _said(test), of_threshold(test),
                        min(1.0, max(0.0, test.share)))
            for test in shown[:_MOST]]


def _doubted(heard: Telemetry, state: int | None) -> bool:
    told = None if state is None else heard.trust.get(state)
    return told is not None and told.trust is Trust.DOUBTED


def decisions_table(heard: Telemetry) -> str:
    """Return them as HTML."""
    return ''.join(
        f'<div class="test"><div class="line"><span>{escape(row.subject)}</span>'
        f'<span>{escape(row.said)}<span class="figures"> ({row.figures})</span></span></div>'
        f'<div class="track"><div class="bar" style="width:{row.share:.0%}"></div></div></div>'
        for row in decisions(heard))


def _subject(heard: Telemetry, test: Evidence) -> str:
    name = '' if test.state is None else heard.description.name(test.state)
    action = '' if test.action is None else (
        heard.description.action_name(test.action, test.state))
    return {'certificate': f'certificate of {name}', 'policy': f'policy to {name}',
            'proof': f'new proof of the policy to {name}', 'detector': f'policy to {name}',
            'transition': f'{action} in {name}', 'rediscovery': 'search for new or changed ways',
            }.get(test.kind, ' '.join(filter(None, (test.kind, name, action))))


def _said(test: Evidence) -> str:
    made, wanted = round(test.evidence), round(test.threshold)
    return {'certificate': f'{whole(made)} of about {whole(wanted)} executions',
            'policy': _proof(test.share), 'proof': _proof(test.share),
            'detector': _speaks('against it', test.share),
            'transition': _speaks('for a change', test.share),
            'rediscovery': f'{whole(made)} of at most {whole(wanted)} steps',
            }.get(test.kind, of_threshold(test))


def _proof(share: float) -> str:
    return f'{_PARTS[round(4 * min(1.0, max(0.0, share)))]} of the proof is done'


def _speaks(what: str, share: float) -> str:
    amount = 'no' if share <= 0 else 'enough' if share >= 1 else _AMOUNTS[int(3 * share)]
    return f'{amount} evidence {what}'
