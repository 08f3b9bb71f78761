# SPDX-License-Identifier: Apache-2.0

"""A declaration says where actions may lead; what cannot be meant is refused by its name."""

from __future__ import annotations

import json
import re
from typing import Any

from mnm_ros.core import Declaration
from mnm_ros.core.model import declaration
from mnm_ros.core.model.problem import MARGIN, radius_for_all
import pytest

DOOR = Declaration({0: ((0, 1), ()), -7: ((2**63 - 1,), (0, -7))},
                   {0: ((0.25, 0.75), ())})


def test_nothing_is_declared_by_default() -> None:
    empty = Declaration()
    assert not empty and empty.to_json() == {} and Declaration.from_json({}) == empty
    empty.check(4)


def test_json_returns_what_was_written() -> None:
    text = json.dumps(DOOR.to_json())
    assert json.loads(text) == {
        'successors': {'0': [[0, 1], []], '-7': [[2**63 - 1], [0, -7]]},
        'chances': {'0': [[0.25, 0.75], []]}}
    assert Declaration.from_json(json.loads(text)) == DOOR == Declaration.from_json(DOOR.to_json())
    assert DOOR


def test_it_says_in_what_share_of_the_steps_it_is_tried() -> None:
    assert DOOR.audit is None and DOOR.audited().audit == 1 / 200
    often = DOOR.audited(0.1)
    assert often.audited() == often == Declaration.from_json(often.to_json()) != DOOR
    assert DOOR.audited(0.0).audited().audit == 0
    assert Declaration().audited() == Declaration()    # there is nothing to try


def test_how_far_the_farthest_declared_state_is() -> None:
    ring = Declaration({each: (((each + 1) % 6, each), ((each - 1) % 6,)) for each in range(6)})
    assert (ring.depth(0), Declaration().depth(0), DOOR.depth(0), DOOR.depth(-7)) == (3, 0, 1, 2)
    assert radius_for_all(ring, 4) == 3 * MARGIN


@pytest.mark.parametrize('declared, home', [
    (Declaration(), 0), (DOOR, None), (DOOR, 5), (Declaration({5: ((5,), ())}), 5),
    (Declaration({state: ((state + 1,),) for state in range(1000)}), 0)])
def test_no_radius_takes_in_all(declared: Declaration, home: int | None) -> None:
    with pytest.raises(ValueError, match='radius is 0, .* home, .*expected .*or another radius'):
        radius_for_all(declared, home)


def test_each_action_has_its_list() -> None:
    DOOR.check(2)
    with pytest.raises(ValueError, match=re.escape(
            'successors of state 0 has 2 lists, expected 3: one for each action in order')):
        DOOR.check(3)


@pytest.mark.parametrize('found, message', [
    ({'successors': []}, 'successors is [], expected a JSON object with an entry for each state'),
    ({'successors': {'01': [[0]]}}, 'successors has the entry "01", expected the number of a'),
    ({'successors': {'up': [[0]]}}, 'successors has the entry "up", expected the number of a'),
    ({'successors': {str(2**63): [[0]]}}, f'a state of successors is {2**63}, expected a state'),
    ({'successors': {'3': [0]}}, 'successors of state 3 is [0], expected one list for each'),
    ({'successors': {'3': None}}, 'successors of state 3 is null, expected one list for each'),
    ({'successors': {'3': [[], [1, 1]]}},
     'successors of state 3, action 1: [1, 1], expected distinct states'),
    ({'successors': {'3': [[True]]}}, 'successors of state 3, action 0 is true, expected a state'),
    ({'successors': {'3': [[1.0]]}}, 'successors of state 3, action 0 is 1.0, expected a state'),
    ({'successors': {'3': [[2**63]]}}, f'state 3, action 0 is {2**63}, expected a state'),
    ({'successors': {'3': [[[1]]]}}, 'successors of state 3, action 0 is [1], expected a state'),
    ({'chances': {}}, 'chances without successors, expected both'),
    ({'successors': {'3': [[1]]}, 'audit': 1}, 'audit is 1, expected a number in [0, 1)'),
    ({'successors': {'3': [[1]]}, 'audit': '0'}, 'audit is "0", expected a number in [0, 1)'),
    ({'successors': {}, 'chances': {'3': [[1]]}}, 'chances of state 3 without its successors'),
    ({'successors': {'3': [[1]]}, 'chances': {'3': [[1], []]}},
     'chances of state 3 has 2 lists, expected 1, as its successors'),
    ({'successors': {'3': [[1, 2]]}, 'chances': {'3': [[1]]}},
     'chances of state 3, action 0: 1 numbers, expected 2, one for each successor'),
    ({'successors': {'3': [[1, 2]]}, 'chances': {'3': [[1.5, -0.5]]}},
     'chances of state 3, action 0: 1.5, expected a probability in [0, 1]'),
    ({'successors': {'3': [[1, 2]]}, 'chances': {'3': [[0.5, '0.5']]}},
     'chances of state 3, action 0: "0.5", expected a probability in [0, 1]'),
    ({'successors': {'3': [[1, 2]]}, 'chances': {'3': [[0.5, 0.499]]}},
     'chances of state 3, action 0: sum to 0.999, expected 1 (within 1e-09)'),
])
def test_what_cannot_be_meant_is_refused(found: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Declaration.from_json(found)


def test_a_declaration_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declaration, 'MAX_DECLARED', 2)
    monkeypatch.setattr(declaration, 'MAX_ENDS', 4)
    Declaration({0: ((0, 1),), 1: ((0, 1),)})
    with pytest.raises(ValueError, match='successors has 3 states, expected at most 2'):
        Declaration({0: (), 1: (), 2: ()})
    with pytest.raises(ValueError, match='successors has 5 ends, expected at most 4'):
        Declaration({0: ((0, 1),), 1: ((0, 1, 2),)})
