# SPDX-License-Identifier: Apache-2.0

"""When a robot rests: levels with hysteresis, hours over midnight, and batteries in trouble."""

from __future__ import annotations

from datetime import time
from math import inf, nan
import struct

from mnm_ros.core import Said
from mnm_ros.core.progress.said import (
    BatteryCharging,
    BatteryLow,
    Because,
    OutsideHours,
    OutsideHoursToo,
)
from mnm_ros.protocol.rest_rules import asked_by, BatteryScale, Hours, RestRules, without_charge
import pytest

NOON = time(12)


def single(value: float) -> float:
    """Return a number as a message with single precision has it."""
    return float(struct.unpack('f', struct.pack('f', value))[0])


def reason(rules: RestRules, low: float = 20.0, charged: float = 80.0, between: str = '',
           moment: time = NOON) -> Said | None:
    return rules.reason(low, charged, between, moment)


@pytest.mark.parametrize(('text', 'inside', 'outside'), [
    ('22:00-06:00', ['22:00', '23:59', '00:00', '05:59'], ['06:00', '12:00', '21:59']),
    ('9:30-17:00', ['09:30', '16:59'], ['09:29', '17:00', '00:00']),
    ('00:00-00:01', ['00:00'], ['00:01', '23:59']),
    ('12:00-00:00', ['12:00', '23:59'], ['00:00', '11:59']),
])
def test_hours(text: str, inside: list[str], outside: list[str]) -> None:
    hours = Hours.parse(text)
    assert [time.fromisoformat(each) in hours for each in inside] == [True] * len(inside)
    assert [time.fromisoformat(each) in hours for each in outside] == [False] * len(outside)


@pytest.mark.parametrize('text', [
    '', '22-06', '22:00', '24:00-06:00', '22:60-06:00', '06:00-06:00', '6:00-06:00',
    ' 22:00-06:00', '22:00-06:00\n', '22:00 - 06:00', '٢٢:00-06:00'])
def test_what_is_no_hours_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Hours.parse(text)


def test_it_rests_from_low_to_charged() -> None:
    rules = RestRules(0.0)
    rested = []
    for percent in (100, 21, 20, 19.9, 20, 50, 79, 80, 79, 20, 18, 80):
        rules.hear(single(percent / 100), 0.0)
        rested.append(bool(reason(rules)))
    assert rested == [False] * 3 + [True] * 4 + [False] * 3 + [True, False]


def test_the_reason_has_both_levels_and_is_rounded_down() -> None:
    rules = RestRules(0.0)
    rules.hear(0.199, 0.0)
    assert reason(rules) == BatteryLow(19, 20.0, 80.0)
    rules.hear(0.42, 1.0)
    assert reason(rules) == BatteryCharging(42, 20.0, 80.0)


def test_the_hours_alone_and_both() -> None:
    rules = RestRules(0.0)
    assert reason(rules, between='22:00-06:00', moment=time(23)) is None
    assert reason(rules, between='22:00-06:00') == OutsideHours('22:00-06:00', '22:00')
    rules.hear(0.1, 0.0)
    assert reason(rules, between='22:00-06:00') == OutsideHoursToo(
        '22:00-06:00', '22:00', BatteryLow(10, 20.0, 80.0))
    assert [asked_by(reason(each, between=hours) or '') for each in (rules, RestRules(0.0))
            for hours in ('', '22:00-06:00')] == ['battery', 'battery', 'work', 'hour']


def test_without_a_level_the_battery_is_left_alone() -> None:
    rules = RestRules(0.0)
    rules.hear(0.01, 0.0)
    assert reason(rules, low=0.0) is None and rules.trouble(0.0, 1e9) == ''
    assert reason(rules)
    assert reason(rules, low=0.0) is None    # also while it rests
    rules.hear(0.3, 0.0)
    assert reason(rules) is None    # it was not low since


def test_a_level_to_go_on_at_below_the_other_is_that() -> None:
    rules = RestRules(0.0)
    rules.hear(0.1, 0.0)
    assert reason(rules, charged=5.0) == BatteryLow(10, 20.0, 20.0)
    rules.hear(0.2, 0.0)
    assert reason(rules, charged=5.0) is None


@pytest.mark.parametrize('said', [nan, inf, -inf, -0.01, 101.0, 255.0])
@pytest.mark.parametrize('before', [0.5, 0.1])
def test_what_makes_no_sense_leaves_all_as_it_was(said: float, before: float) -> None:
    rules = RestRules(0.0)
    rules.hear(before, 0.0)
    was = reason(rules)
    rules.hear(said, 1.0)
    assert reason(rules) == was
    told = rules.trouble(20.0, 1.0)
    assert f'percentage is {said:g}, expected 0 to 1' in told
    assert ('rests' if was else 'goes on') in told
    rules.hear(nan if said == said else -1.0, 2.0)
    assert rules.trouble(20.0, 2.0) == told    # once
    rules.hear(before, 3.0)
    assert rules.trouble(20.0, 3.0) == ''


def test_nothing_that_makes_sense_was_ever_said() -> None:
    rules = RestRules(0.0)
    assert reason(rules) is None and rules.trouble(20.0, 59.9) == ''
    assert 'nothing heard for 60 s: exploration goes on' in rules.trouble(20.0, 60.0)
    rules.hear(nan, 60.0)
    assert reason(rules) is None and 'percentage is nan' in rules.trouble(20.0, 60.0)


@pytest.mark.parametrize('percent', [50, 10])
def test_a_battery_that_falls_silent_is_as_it_was(percent: int) -> None:
    rules = RestRules(0.0)
    rules.hear(percent / 100, 100.0)
    was = reason(rules)
    assert rules.trouble(20.0, 159.9) == ''
    assert ('rests until' if was else 'as without it') in rules.trouble(20.0, 160.0)
    assert reason(rules) == was
    rules.hear(0.9, 1000.0)
    assert reason(rules) is None and rules.trouble(20.0, 1000.0) == ''


def test_a_battery_that_counts_in_percent() -> None:
    rules = RestRules(0.0)
    rules.hear(95.0, 0.0)
    assert reason(rules) is None
    rules.hear(19.0, 0.0)
    assert reason(rules) == BatteryLow(19, 20.0, 80.0)
    rules.hear(1.0, 0.0)
    assert reason(rules) == BatteryLow(1, 20.0, 80.0)


@pytest.mark.parametrize(('said', 'percents'), [
    ([0.9, 0.85, 55.0, 1.0], [90, 85, 85, 100]),             # a slip of a driver that counts to 1
    ([55.0, 0.9, 0.85], [55, 90, 85]),                       # even as its first message
    ([0.9, 55.0, 54.0, 53.0], [90, 90, 54, 53]),             # another driver
    ([3.0, 2.0, 1.4, *[1.0] * 50], [3, 2, 1.4, *[1] * 50]),  # a battery that runs down
    ([1.0, 2.0, 3.0], [100, 100, 3])])                       # one that is charged
def test_the_scale_is_what_most_messages_fit(said: list[float], percents: list[float]) -> None:
    rules, read = RestRules(0.0), []
    for percentage in said:
        rules.hear(single(percentage), 0.0)
        read.append(rules._percent)
    assert read == pytest.approx(percents)
    assert rules.scale == ('fraction' if said[-1] <= 1 and len(said) < 50 else 'percent')


@pytest.mark.parametrize(('scale', 'percent'), [('fraction', 90), ('percent', 0.9)])
def test_a_scale_that_is_fixed(scale: str, percent: float) -> None:
    rules = RestRules(0.0)
    for percentage in (55.0, 54.0, 0.9):
        rules.hear(percentage, 0.0, scale)
    assert rules._percent == pytest.approx(percent) and rules.scale == scale
    rules.hear(200.0, 0.0, scale)
    assert f'expected 0 to {1 if scale == "fraction" else 100}' in rules.trouble(20.0, 0.0)


def test_a_reason_without_the_charge_is_the_same_while_the_battery_is_charged() -> None:
    rules, found = RestRules(0.0), set()
    for percent in range(19, 80):
        rules.hear(percent / 100, 0.0)
        for between in ('', '22:00-06:00'):
            why = reason(rules, between=between)
            assert why is not None
            found.add(without_charge(Because('paused', why)))
    assert found == {Because('paused', BatteryLow(0, 20.0, 80.0)), Because('paused', (
        OutsideHoursToo('22:00-06:00', '22:00', BatteryLow(0, 20.0, 80.0))))}


def test_a_little_more_than_full_is_full() -> None:
    rules = RestRules(0.0)
    rules.hear(0.1, 0.0)
    assert reason(rules)
    rules.hear(1.08, 0.0)
    assert reason(rules, charged=100.0) is None and rules.trouble(20.0, 0.0) == ''


@pytest.mark.parametrize('nonsense', [100.5, 1e9, inf, -0.5, nan])
def test_the_scale_of_a_battery_does_not_follow_nonsense(nonsense: float) -> None:
    for said, scale in ((0.5, 'fraction'), (50.0, 'percent')):
        found = BatteryScale()
        found.take(said)
        for _ in range(3):
            found.take(nonsense)
        assert found.scale == scale
