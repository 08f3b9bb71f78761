# SPDX-License-Identifier: Apache-2.0

"""States and actions as they come from elsewhere: integers of any type become an ``int``."""

from __future__ import annotations

import operator
from reprlib import repr as shortened
from typing import Any, TypeGuard

from mnm_ros.core.errors import InvalidTypeError, InvalidValueError

_INT64 = range(-2**63, 2**63)


def as_int(value: Any) -> int | None:
    """Return an integer of any type, as of numpy, as an int; None for all else, a bool too."""
    if type(value) is int:    # as a rule
        return value
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def is_state(value: Any) -> TypeGuard[int]:
    """Return whether a value may be a state as it is."""
    return type(value) is int and value in _INT64


def as_state(value: Any, what: str = 'state') -> int:
    """
    Return what should be a state as one.

    :param what: it is, for the error.
    :raises InvalidTypeError: if it is no integer.
    :raises InvalidValueError: if it has more than 64 bits.
    """
    if is_state(value):    # as a rule
        return value
    return _within(value, _INT64, what, 'a state, an int of 64 bits')


def as_action(value: Any, actions: int, what: str = 'action', reset: bool = True) -> int:
    """
    Return what should be one of so many actions, or RESET, as one.

    :param what: it is, for the error.
    :param reset: whether RESET will do, too.
    :raises InvalidTypeError: if it is no integer.
    :raises InvalidValueError: if there is no such action.
    """
    if type(value) is int and -reset <= value < actions:    # each step comes by here twice
        return value
    return _within(value, range(-reset, actions), what,
                   f'an int from {"-1 (RESET)" if reset else 0} to {actions - 1}')


def as_count(actions: Any) -> int:
    """Return what should be a number of actions as one; InvalidValueError if it is none."""
    found = as_int(actions)
    if found is None or found < 1:
        raise InvalidValueError(
            f'actions is {shortened(actions)}, expected an int, at least 1 besides RESET')
    return found


def _within(value: Any, allowed: range, what: str, expected: str) -> int:
    found = as_int(value)
    if found is None:
        raise InvalidTypeError(f'{what} is {shortened(value)}, expected {expected}')
    if found not in allowed:
        raise InvalidValueError(f'{what} is {found}, expected {expected}')
    return found
