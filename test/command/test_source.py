# SPDX-License-Identifier: Apache-2.0

"""For how long a command listens to a running explorer before it takes what it has heard."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from mnm_ros.command import source
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from mnm_ros.subscriptions import Listener
from mnm_ros.view.telemetry import Telemetry
import pytest


class Late:
    """Stands in for a listener: an explorer is there at once, what its robot side says later."""

    topic = '/phase'

    def __init__(self, after: float, published: bool, found: float) -> None:
        self.now, self._after, self._published, self._found = 0.0, after, published, found

    @property
    def may_be_described(self) -> bool:
        return self._published or self.now < self._found

    def monotonic(self) -> float:
        return self.now

    def listen(self, seconds: float) -> Telemetry:
        self.now += seconds
        return replace(Telemetry(), phase='checking/evaluation', description=RobotDescription(
            ('left', 'right')) if self.now >= self._after else UNDESCRIBED)


@pytest.mark.parametrize(('published', 'found', 'after', 'heard', 'until'), [
    (True, 0.0, 5.0, True, 5.2), (True, 0.0, 50.0, False, 10.2), (False, 0.0, 50.0, False, 2.3),
    (False, 4.0, 3.9, True, 4.1), (False, 4.0, 50.0, False, 4.2)])
def test_a_robot_side_is_waited_for_unless_it_is_there_and_says_nothing(
        monkeypatch: pytest.MonkeyPatch, published: bool, found: float, after: float, heard: bool,
        until: float) -> None:
    late = Late(after, published, found)
    monkeypatch.setattr(source, 'time', late)
    telemetry = source._listen(cast(Listener, late), 10.0)
    assert bool(telemetry.description.actions) is heard
    assert late.now <= until
