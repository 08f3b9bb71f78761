# SPDX-License-Identifier: Apache-2.0

"""
The words that the project's texts do not use, and the prose of a page in which they are sought.

The tests of the pages and of the help texts import this table, so that both apply one rule.
"""

from __future__ import annotations

import re

WORDS = {
    r'told|tells?|telling of': 'say who reports something, and to whom',
    r'given': '*declared*, *set*, *known*, or the verb with its agent',
    r'carried': '*kept*, *moved by hand*',
    r'look|looks|looked|looking': '*check*, *try again*, *see*; `look` the service is code',
    r'beyond': '*farther than*, *more than*, *outside*',
    r'left alone': '*not tried*, *not touched*',
    r'nats to begin': 'the number, and the probability that it stands for',
    r'what leads where': '*transitions*',
    r'by the counts': '*by the counted transitions*',
    r'anew': '*again*, *from the start*',
    r'is kept of': '*is recorded of*',
}
"""Patterns of whole words that are not in use, each with words to use in place of them."""

BEGINNINGS = r'What|Which|That which|Whatever|Whoever'
"""No sentence begins with one of these, unless the sentence is a question."""

MOST_WORDS = 25
"""In a sentence, which also ends with a colon or a semicolon; code counts as one word."""

_CODE = re.compile(
    r'<!-- generated: .*?<!-- end -->'          # a table that comes from the code
    r'|^( *)(```|~~~).*?^\1\2[^\n]*$'           # a block between fences
    r'|(?<=\n\n)(?: {4}[^\n]*\n)+'              # an indented block
    r'|(`+)(?!`).+?(?<!`)\3(?!`)'               # code within a line
    r'|<[^>\n]+>'                               # an address
    r'|(?<=\])\([^)\s]*\)', re.DOTALL | re.MULTILINE)    # the target of a link


def prose(page: str) -> str:
    """Return the text of a Markdown page without code, generated tables and targets of links."""
    return _CODE.sub(lambda found: '\n' * found[0].count('\n') or 'CODE', page)


def findings(text: str) -> list[str]:
    """Return each word that is not in use, and each forbidden beginning, with its line."""
    found = []
    for pattern, better in WORDS.items():
        words = pattern.replace(' ', r'\s+')    # perhaps over the end of a line
        found += [f'line {_line(match)}: "{match[0]}": {better}' for match in re.finditer(
            rf'\b(?:{words})\b', text, re.IGNORECASE)]
    text = re.sub(r'^#+ .*$', '', text, flags=re.MULTILINE)    # a title is no sentence
    for match in re.finditer(
            rf'(?:^[ *|>-]*|[.!?:|]\** +)((?:{BEGINNINGS})\b[^.?!|]*[.?!|]?)', text, re.MULTILINE):
        if not match[1].endswith('?'):
            found.append(f'line {_line(match, 1)}: a sentence begins with "{match[1].split()[0]}"')
    return found


def _line(match: re.Match[str], group: int = 0) -> int:
    return match.string.count('\n', 0, match.start(group)) + 1


def long_sentences(text: str) -> list[str]:
    """Return the sentences of a prose that have more words than ``MOST_WORDS``."""
    text = re.sub(r'^#+ .*$', '', text, flags=re.MULTILINE)
    blocks = re.split(r'\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) |\|)|\|', text)    # items, cells of tables
    sentences = (sentence for block in blocks
                 for sentence in re.split(r'(?<=[.!?:;])\**\s+', block))
    return [' '.join(sentence.split()) for sentence in sentences
            if len(re.findall(r'\S*\w\S*', sentence)) > MOST_WORDS]
