# SPDX-License-Identifier: Apache-2.0

"""When a robot rests at home instead of exploring: its battery is low, or it is not the hour."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import time
import math
import re

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.progress.said import (
    BatteryCharging,
    BatteryLow,
    Because,
    OutsideHours,
    OutsideHoursToo,
    Reason,
    Said,
)

_SILENT = 60.0    # s without a message after which a battery counts as silent
_FULL = {'fraction': 1, 'percent': 100}    # what a full battery says, by the scale
_MOST = 1.5       # times that: more is nonsense
_EMPTY = 5.0      # %, from above which no battery falls to 1.5% between two messages
_MEMORY = 20      # messages after which a scale that fits no longer is abandoned

SCALES = ('auto', *_FULL)
"""How to read the charge of a battery: from 0 to 1, from 0 to 100, or as most messages fit."""


@dataclass(frozen=True)
class Hours:
    """
    A part of each day; one that begins later than it ends spans midnight.

    :ivar begin: its first moment.
    :ivar end: the first moment after it.
    """

    begin: time
    end: time

    @classmethod
    def parse(cls, text: str) -> Hours:
        """
        Return what ``22:00-06:00`` says.

        :raises ValueError: if it says no two times of day, or twice the same.
        """
        found = re.fullmatch(r'(\d\d?):(\d\d)-(\d\d?):(\d\d)', text, re.ASCII)
        numbers = [int(number) for number in found.groups()] if found else [0] * 4
        begin, end = (time(hour, minute) for hour, minute in (numbers[:2], numbers[2:]))
        if begin == end:
            raise InvalidValueError(f'hours are {text!r}, expected two times such as 22:00-06:00')
        return cls(begin, end)

    @classmethod
    def is_written(cls, text: str) -> bool:
        """Return whether ``parse`` understands a text."""
        try:
            return bool(cls.parse(text))
        except ValueError:
            return False

    def __contains__(self, moment: time) -> bool:
        if self.begin < self.end:
            return self.begin <= moment < self.end
        return moment >= self.begin or moment < self.end


def asked_by(reason: Reason) -> str:
    """Return what makes the robot rest for a reason: ``battery``, ``hour`` or ``work``."""
    return ('battery' if isinstance(reason, (BatteryLow, OutsideHoursToo)) else
            'hour' if isinstance(reason, OutsideHours) else 'work')


def without_charge(reason: Reason) -> Reason:
    """Return the reason of a rest, or what holds it, without the charge, which always changes."""
    if isinstance(reason, BatteryLow):
        return BatteryLow(0, reason.low, reason.until)
    if isinstance(reason, (Because, OutsideHoursToo)):
        said = without_charge(reason.said)
        assert isinstance(said, Said)
        return replace(reason, said=said)
    return reason


class BatteryScale:
    """
    Finds out whether a battery counts from 0 to 1 or from 0 to 100.

    More than 1.5 speaks for percent. Less speaks for a fraction, unless the battery has run down
    to it.

    :ivar scale: ``fraction`` or ``percent``, as the last messages fit it.
    """

    def __init__(self) -> None:
        self.scale = 'fraction'
        self._balance = 0          # messages for percent, less those for a fraction
        self._last = math.inf      # the last message
        self._run_down = False     # whether what is below 1.5 since may be the rest of 100

    def take(self, percentage: float) -> None:
        """Take a message."""
        if not 0 <= percentage <= 100:
            return
        before, self._last = self._last, percentage
        if percentage > _MOST:
            change = 1
        else:
            self._run_down = self._run_down if before <= _MOST else before <= _EMPTY
            change = 0 if self._run_down else -1
        self._balance = max(-_MEMORY, min(_MEMORY, self._balance + change))
        self.scale = 'percent' if self._balance > 0 else 'fraction'


class RestRules:
    """
    Says why a robot has to rest, from what its battery says and from the time of day.

    A battery that is low stays so until it is charged. What it said last holds as long as
    it says nothing else: a robot that rests because of it goes on resting, and one that explores
    goes on exploring.

    :param now: in s; as all times, on a clock that is never set.
    :ivar scale: by which the last message was read; empty before the first one.
    """

    def __init__(self, now: float) -> None:
        self._percent = math.nan    # as it was said last
        self._low = False           # since the battery was low, until it is charged
        self._guess = BatteryScale()
        self.scale = ''
        self._heard_at = now
        self._nonsense = ''         # said since it last made sense

    def hear(self, percentage: float, now: float, scale: str = 'auto') -> None:
        """Take the charge of the battery, on one of the ``SCALES``."""
        self._heard_at = now
        self._guess.take(percentage)
        self.scale = self._guess.scale if scale == 'auto' else scale
        full = _FULL[self.scale]
        if 0 <= percentage <= _MOST * full:
            # The message has single precision: 0.9 is less than 90 %, but for the rounding.
            self._percent, self._nonsense = round(min(100 * percentage / full, 100.0), 3), ''
        else:
            self._nonsense = self._nonsense or (
                f'percentage is {percentage:g}, expected 0 to {full}')

    def trouble(self, low: float, now: float) -> str:
        """Return what is wrong with the battery, if it matters, and what follows, or nothing."""
        if not low:
            return ''
        silent = now >= self._heard_at + _SILENT
        wrong = f'nothing heard for {_SILENT:g} s' if silent else self._nonsense
        if not wrong:
            return ''
        follows = ('the robot rests until it is charged, as it was low last' if self._low
                   else 'exploration goes on as without it')
        return f'battery: {wrong}: {follows}'

    def reason(self, low: float, charged: float, between: str, moment: time) -> Said | None:
        """
        Return why the robot has to rest, and until when; None if it does not.

        :param low: % below which the battery is low; 0 to leave it alone.
        :param charged: % from which on it is no longer low; at least ``low``.
        :param between: the hours to explore in; empty for all.
        :param moment: the time of day.
        """
        if math.isfinite(self._percent):
            self._low = low > 0 and self._percent < (max(low, charged) if self._low else low)
        kind = BatteryLow if self._percent < low else BatteryCharging
        why = kind(math.floor(self._percent), low, max(low, charged)) if self._low else None
        if not between or moment in Hours.parse(between):
            return why
        until = f'{Hours.parse(between).begin:%H:%M}'
        return OutsideHoursToo(between, until, why) if why else OutsideHours(between, until)
