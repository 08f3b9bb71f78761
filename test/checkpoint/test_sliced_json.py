# SPDX-License-Identifier: Apache-2.0

"""What is made in slices is what ``json.dumps`` makes, and no slice is large."""

from __future__ import annotations

import json

from kept_explorations import CORRIDOR, drive, SETTINGS
from mnm_ros.checkpoint import sliced_json
from mnm_ros.core.exploration import Exploration
from mnm_ros.simulation.simulator import Simulator
import pytest

DEEP: object = 'end'
for _ in range(40):
    DEEP = {'in': [DEEP, 1]}


@pytest.mark.parametrize('value', [
    None, '', 'a "b"\n', 1.5, [], {}, [[]], {'a': {}}, {1: 2, None: [3], False: (4, 5), 2.5: 'x'},
    [*range(10_000)], [[1, 2], 3, {'a': [None, True]}], [1, [2, {'b': 3}]], DEEP])
def test_it_is_the_same(value: object) -> None:
    assert sliced_json.dumps(value) == json.dumps(value)


def test_no_slice_of_a_resume_point_is_large() -> None:
    exploration = Exploration(SETTINGS)
    drive(exploration, Simulator(CORRIDOR, 1), 5000)
    point = exploration.to_state()
    slices = [*sliced_json._slices({'point': point, 'more': [*range(10**5)]}, 0)]
    assert ''.join(slices) == json.dumps({'point': point, 'more': [*range(10**5)]})
    assert max(map(len, slices)) < 50_000    # characters, a fraction of a millisecond


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match='JSON'):
        sliced_json.dumps({'point': {'no JSON': object()}})
