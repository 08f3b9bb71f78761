# SPDX-License-Identifier: Apache-2.0

"""JSON of what is large, made in slices: ``json.dumps`` lets no other thread run meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
import json
from typing import Any

_DEEPEST = 10    # levels that are opened; most of what is below is small
_SLICE = 2000    # elements of a list that are taken at once


def dumps(value: Any) -> str:
    """Return the text that ``json.dumps`` returns; other threads may run in between."""
    return ''.join(_slices(value, 0))


def _slices(value: Any, level: int) -> Iterator[str]:
    if level == _DEEPEST or not value or not isinstance(value, (dict, list, tuple)):
        yield json.dumps(value)
    elif isinstance(value, dict):
        before = '{'
        for key, each in value.items():
            yield f'{before}{json.dumps({key: 0})[1:-2]}'    # whatever is no string becomes one
            yield from _slices(each, level + 1)
            before = ', '
        yield '}'
    elif isinstance(value[0], (dict, list, tuple)):
        before = '['
        for each in value:
            yield before
            yield from _slices(each, level + 1)
            before = ', '
        yield ']'
    else:
        before = '['
        for first in range(0, len(value), _SLICE):
            yield f'{before}{json.dumps(value[first:first + _SLICE])[1:-1]}'
            before = ', '
        yield ']'
