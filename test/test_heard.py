# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""What has been heard of an explorer."""

from __future__ import annotations

from mnm_ros.heard import Heard, RobotsMet
import pytest


@pytest.mark.parametrize('text, number, count', [
    ('2', 2.0, 2), ('2.7', 2.7, 2), ('-1', -1.0, -1), ('many', None, None), ('inf', None, None),
    ('1e300', None, None), ('nan', None, None), ('', None, None)])
def test_numbers_of_the_diagnostics_may_be_garbled(
        text: str, number: float | None, count: int | None) -> None:
    heard = Heard(report={'steps': text})
    assert (heard.number('steps'), heard.count('steps')) == (number, count)
    assert heard.number('round') is None and heard.count('round') is None


def test_several_robots_are_met_once_and_have_reached_what_the_last_of_them_has() -> None:
    met = RobotsMet()
    assert met.new(['r1', 'r2', 'r1']) == ['r1', 'r2'] and met.new(['r2', 'r3']) == ['r3']
    assert [met.reached('r1', 1), met.reached('r2', 0), met.reached('r2', 1)] == [1, 0, 1]
