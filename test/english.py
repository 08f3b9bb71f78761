# SPDX-License-Identifier: Apache-2.0

"""What is English in a text that should be in another language."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
import re
from string import Formatter

from mnm_ros.language import table

ENGLISH = re.compile(
    r'\b(?:the|of|is|are|be|to|and|or|not|no|with|by|has|have|had|its|it|this|that|from|for|at|on|'
    r'as|since|before|now|known|more|less|than|per|about|there|where|when|who|how|what|which|'
    r'state|states|place|places|step|steps|way|ways|round|robot|explorer|policy to|candidate|'
    r'change|tries|home|closed|open|blocked|paused|reached|requested|stopped)\b')
"""Frequent words that German does not have; *home* is a service."""


def english_in(texts: Iterable[str], language: str) -> list[str]:
    """Return the texts that have a phrase of the English table, or a word of ``ENGLISH``."""
    return [text for text in texts if ENGLISH.search(text) or any(
        each.search(text) for each in _patterns(language))]


@lru_cache(maxsize=None)
def _patterns(language: str) -> tuple[re.Pattern[str], ...]:
    """Return a pattern of each English phrase that the other language does not have."""
    own = {text for phrases in table(language).values() for text in phrases.values()}
    found = []
    for phrases in table('en').values():
        for template in {*phrases.values()} - own:
            parts = [text for text, *_ in Formatter().parse(template)]
            words = re.findall(r'[A-Za-z]{2,}', ' '.join(parts))
            if len(words) > 1:
                found.append(re.compile('.+'.join(map(re.escape, parts))))
            elif words:
                found.append(re.compile('^' + '.+'.join(map(re.escape, parts)) + '$'))
    return tuple(found)
