# SPDX-License-Identifier: Apache-2.0

"""Numbers and names on command lines."""

from __future__ import annotations

import argparse
from collections.abc import Callable
import math
from typing import TypeVar

_T = TypeVar('_T')


def explained(convert: Callable[[str], _T], text: str) -> _T:
    """Return what ``convert`` returns; of what it refuses, let argparse print the reason."""
    try:
        return convert(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def whole(minimum: int, text: str) -> int:
    """Return a whole number of at least ``minimum``."""
    if not text.isdecimal() or int(text) < minimum:
        raise argparse.ArgumentTypeError(
            f'{text!r}, expected a whole number of at least {minimum}')
    return int(text)


def seconds(text: str) -> float:
    """Return a time above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f'{text!r}, expected a number of seconds above 0')
    return value
