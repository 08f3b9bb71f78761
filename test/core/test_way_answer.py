# SPDX-License-Identifier: Apache-2.0

"""What the topic ``way`` says, there and back."""

from __future__ import annotations

from mnm_ros.core import DirectWay, Policy
from mnm_ros.core.progress.way_answer import from_json, to_json, WayAnswer
import pytest

WAY = DirectWay(Policy(7, 24, (5, -3), ((0, 2),)), {5: 3.1, -3: 2.0}, 6.0, 8.0)


@pytest.mark.parametrize('answer', [
    WayAnswer(7, 2**62, WAY), WayAnswer(7, None, None), WayAnswer(-1, 0, None),
    WayAnswer(7, 0, DirectWay(Policy(7, 24, (), ((),)), {}, 6.0, 8.0))])
def test_there_and_back(answer: WayAnswer) -> None:
    assert from_json(to_json(answer)) == answer


@pytest.mark.parametrize(('message', 'error'), [
    ('[]', 'way is \\[\\], expected a JSON object'),
    ('{}', 'way: no "target", expected the state that was asked for'),
    ('{"target": "7"}', 'way: target is "7", expected an integer of 64 bits'),
    ('{"target": 7, "horizon": 0, "limit": 1, "by_home": 1, "from": {}}',
     'horizon is 0, expected at least 1'),
    ('{"target": 7, "from": {"5": {"action": -1, "expected_steps": 1}}}',
     'way: from: 5 is .*, expected "action", at least 0, and "expected_steps"')])
def test_what_does_not_fit_is_refused(message: str, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        from_json(message)
