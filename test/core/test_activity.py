# SPDX-License-Identifier: Apache-2.0

"""What is written on ``activity`` is what is read from it."""

from __future__ import annotations

import json

from mnm_ros.core import Activity, Evidence, Progress
from mnm_ros.core.progress.activity import closest
import pytest

FULL = Activity(
    812, 'testing', 7, 2, 'testing the policy to 7: 12 of 14 attempts reached it',
    (Evidence('policy', 7, None, 3.1, 5.3), Evidence('transition', 2**40, 2, 1.0, 9.5)),
    Progress('first hypothesis', 812, 2838, 1800, 5000), 3, 0, (8, -9), (4,), 8.0,
    {7: 3.4, -9: None})


@pytest.mark.parametrize('activity', [Activity(), FULL])
def test_there_and_back(activity: Activity) -> None:
    assert Activity.from_json(activity.to_json()) == activity


def test_the_keys_are_those_that_other_programs_read() -> None:
    found = json.loads(FULL.to_json())
    assert found['tests'][0] == {
        'kind': 'policy', 'state': 7, 'action': None, 'evidence': 3.1, 'threshold': 5.3}
    assert found['progress'] == {
        'aim': 'first hypothesis', 'done': 812, 'expected': 2838, 'low': 1800, 'high': 5000,
        'smaller_radius': 0.0, 'smaller_expected': 0}
    assert found['expected_steps'] == {'7': 3.4, '-9': None}
    assert found['candidates'] == [8, -9] and found['target'] == 7


def test_what_is_unknown_is_ignored_and_what_is_missing_has_a_default() -> None:
    assert Activity.from_json('{"step": 5, "mood": "good"}') == Activity(step=5)
    read = Activity.from_json('{"tests": [{"kind": "policy", "colour": 3}], "progress": '
                              '{"aim": "check", "expected": 9}}')
    assert read.tests == (Evidence('policy', None, None, 0.0, 0.0),)
    assert read.progress == Progress('check', 0, 9, 9, 9)


@pytest.mark.parametrize('text, reason', [
    ('', 'no JSON'), ('[]', 'activity is [], expected a JSON object'),
    ('{"step": "5"}', 'activity: step is "5", expected an integer'),
    ('{"step": true}', 'step is true'), ('{"limit": NaN}', 'found NaN, expected finite numbers'),
    ('{"limit": 1e999}', 'limit is Infinity, expected a number'),
    ('{"doing": "sleeping"}', 'expected one of idle, sampling, testing, watching'),
    ('{"doing": []}', 'doing is []'),
    ('{"sentence": 5}', 'sentence is 5, expected a text'),
    ('{"tests": 5}', 'tests is 5, expected a list'),
    ('{"tests": [5]}', 'tests is 5, expected a JSON object'),
    ('{"candidates": [1, null]}', 'candidates is null, expected an integer'),
    ('{"expected_steps": {"a": 1}}', "invalid literal for int() with base 10: 'a'"),
    ('{"expected_steps": []}', 'expected_steps is []'),
    # What others would choke on: no float, no 64 bits, no text that can be sent on.
    ('{"limit": 1' + '0' * 400 + '}', 'limit is 1000'), ('{"limit": ' + '1' * 5000 + '}', ''),
    ('{"step": 9223372036854775808}', 'expected an integer of 64 bits'),
    ('{"sentence": "\\ud800"}', 'expected a text')])
def test_broken_text_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError) as error:
        Activity.from_json(text)
    assert reason in str(error.value)


def test_those_closest_to_a_decision_come_first() -> None:
    tests = [Evidence('policy', state, None, *figures) for state, *figures in (
        (1, 2.0, 8.0), (2, 3.0, 4.0), (3, 5.0, 0.0), (4, 0.0, 1.0))]
    assert [test.state for test in closest(tests)] == [2, 1, 4]
    assert [test.share for test in closest(tests, 2)] == [0.75, 0.25]


@pytest.mark.parametrize(('doing', 'published', 'told'), [
    ('watching', 'checking/rediscovery', 'checking/evaluation'),
    ('testing', 'building/discovery', 'building/evaluation'),
    ('sampling', 'paused', 'paused'), ('idle', 'checking/evaluation', 'checking/evaluation'),
    ('sampling', '', '')])
def test_the_phase_is_that_of_what_is_being_done(doing: str, published: str, told: str) -> None:
    assert Activity(doing=doing).within(published) == told
