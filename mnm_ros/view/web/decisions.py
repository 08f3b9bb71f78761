# SPDX-License-Identifier: Apache-2.0

"""The tests that are closest to a decision: in words, with their figures for those who ask."""

from __future__ import annotations

from html import escape
import re
from typing import NamedTuple

from mnm_ros.core.progress.activity import Evidence
from mnm_ros.view.telemetry import Telemetry
from mnm_ros.view.words import of_threshold, whole

_MOST = 5    # tests that are shown
_PARTS = ('hardly any', 'about a quarter', 'about half', 'about three quarters', 'nearly all')
_AMOUNTS = ('little', 'something', 'much')
_AGAINST = re.compile(r'evidence against it ([\d.]+) of ([\d.]+)')
_FOR = re.compile(r', for it ([\d.]+) of ([\d.]+)')


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
    """Return the tests that are closest to a decision."""
    return [DecisionRow(_subject(heard, test), _said(test), of_threshold(test),
                        min(1.0, max(0.0, test.share)))
            for test in heard.activity.tests[:_MOST]]


def decisions_table(heard: Telemetry) -> str:
    """Return them as HTML."""
    return ''.join(
        f'<div class="test"><div class="line"><span>{escape(row.subject)}</span>'
        f'<span>{escape(row.said)}<span class="figures"> ({row.figures})</span></span></div>'
        f'<div class="track"><div class="bar" style="width:{row.share:.0%}"></div></div></div>'
        for row in decisions(heard))


def without_figures(sentence: str) -> str:
    """Return a sentence about a test with the evidence in words."""
    against = _AGAINST.sub(lambda found: _speaks('against it', _share(found)), sentence)
    return _FOR.sub(lambda found: f', {_proof(_share(found))}', against)


_PLAIN = tuple((re.compile(found, re.IGNORECASE), said) for found, said in (
    (r'looking for what is new or has changed \(rediscovery \d+\): ',
     'looking for what is new or has changed, '),
    (r' \(stream \d+ of [^)]*\)$', ''), (r'^check-run: ', ''),
    (r'sampling on the way to (.*), to certify its policy: ', r'trying out the way to \1: '),
    (r'sampling (\d+) states: ', r'trying out \1 places: '),
    (r'sampling 1 state: ', 'trying out a place: '),
    (r'([\d,]+) executions? to go', r'moves to go: \1'),
    (r'policy to ', 'way to '),
    (r'^round \d+: (\d+) state(s?) known, now checking', r'\1 place\2 known, now checking'),
    (r'^round \d+: (.*) no longer reached by (?:its policy|their policies), deleted',
     r'\1 cannot be reached any more'),
    (r'^round \d+: (.*) found, added', r'\1 can be reached now'),
    (r'building the first hypothesis', 'looking around for the first time')))


def plain(sentence: str) -> str:
    """Return a sentence in the words of an operator, without terms of the algorithm."""
    for found, said in _PLAIN:
        sentence = found.sub(said, sentence)
    return sentence


def in_plain_words(sentence: str) -> str:
    """Return the same as a sentence of its own."""
    said = plain(sentence)
    return said[:1].upper() + said[1:]


def _share(found: re.Match[str]) -> float:
    evidence, threshold = (float(figure.rstrip('.')) for figure in found.groups())
    return evidence / threshold if threshold else 0.0


def _subject(heard: Telemetry, test: Evidence) -> str:
    name = '' if test.state is None else heard.description.name(test.state)
    action = '' if test.action is None else (
        heard.description.action_name(test.action, test.state))
    return {'certificate': f'certificate of {name}', 'policy': f'policy to {name}',
            'proof': f'policy to {name}, anew', 'detector': f'policy to {name}',
            'transition': f'{action} in {name}', 'rediscovery': 'search for what is new',
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
    return f'{_PARTS[round(4 * min(1.0, max(0.0, share)))]} of the proof is there'


def _speaks(what: str, share: float) -> str:
    amount = 'nothing' if share <= 0 else 'enough' if share >= 1 else _AMOUNTS[int(3 * share)]
    return f'{amount} speaks {what}'
