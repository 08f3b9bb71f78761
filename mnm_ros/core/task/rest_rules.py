# SPDX-License-Identifier: Apache-2.0

"""When a robot rests at home instead of exploring: its battery is low, or it is not the hour."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time
import math
import re

from mnm_ros.core.errors import InvalidValueError

WORK_FIRST = 'work comes first'
"""Begins the reason of a rest that is for goals alone, so that these are taken meanwhile."""

_BATTERY = 'battery'    # begins a reason for which the robot has to be charged

_SILENT = 60.0    # s without a message after which a battery counts as silent
_PERCENT = 1.5    # what says more than that counts in percent instead of from 0 to 1
_EXPECTED = 'expected 0 to 1'


def is_for_battery(reason: str) -> bool:
    """Return whether a robot rests for its battery, by what ``RestRules.reason`` has returned."""
    return reason.startswith(_BATTERY)


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


class RestRules:
    """
    Says why a robot has to rest, from what its battery says and from the time of day.

    A battery that is low stays so until it is charged. What it said last holds as long as
    it says nothing else: a robot that rests because of it goes on resting, and one that explores
    goes on exploring.

    :param now: in s; as all times, on a clock that is never set.
    """

    def __init__(self, now: float) -> None:
        self._percent = math.nan    # as it was said last
        self._low = False           # since the battery was low, until it is charged
        self._in_percent = False
        self._heard_at = now
        self._nonsense = ''         # said since it last made sense

    def hear(self, percentage: float, now: float) -> None:
        """
        Take the charge of the battery, from 0 to 1.

        Some drivers count from 0 to 100; they are known by it once they say more than 1.5.
        """
        self._heard_at = now
        self._in_percent |= _PERCENT < percentage <= 100
        percent = percentage if self._in_percent else 100 * percentage
        if 0 <= percent <= 100 * _PERCENT:
            # The message has single precision: 0.9 is less than 90 %, but for the rounding.
            self._percent, self._nonsense = round(min(percent, 100.0), 3), ''
        else:
            self._nonsense = self._nonsense or f'percentage is {percentage:g}, {_EXPECTED}'

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

    def reason(self, low: float, charged: float, between: str, moment: time) -> str:
        """
        Return why the robot has to rest, and until when, or nothing.

        :param low: % below which the battery is low; 0 to leave it alone.
        :param charged: % from which on it is no longer low; at least ``low``.
        :param between: the hours to explore in; empty for all.
        :param moment: the time of day.
        """
        if math.isfinite(self._percent):
            self._low = low > 0 and self._percent < (max(low, charged) if self._low else low)
        why, until = [], []
        if self._low:
            was = '' if self._percent < low else 'was '
            why.append(f'{_BATTERY} {math.floor(self._percent)}%, {was}below {low:g}%')
            until.append(f'at {max(low, charged):g}%')
        if between and moment not in Hours.parse(between):
            why.append(f'outside of {between}')
            until.append(f'at {Hours.parse(between).begin:%H:%M}')
        return f'{", ".join(why)}; goes on {" and ".join(until)}' if why else ''
