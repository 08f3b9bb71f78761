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

    def __init__(self, after: float, published: bool) -> None:
        self.now, self._after, self.described = 0.0, after, published

    def monotonic(self) -> float:
        return self.now

    def listen(self, seconds: float) -> Telemetry:
        self.now += seconds
        return replace(Telemetry(), phase='checking/evaluation', description=RobotDescription(
            ('left', 'right')) if self.now >= self._after else UNDESCRIBED)


@pytest.mark.parametrize(('published', 'after', 'heard', 'until'), [
    (True, 5.0, True, 5.2), (True, 50.0, False, 10.2), (False, 50.0, False, 2.3)])
def test_a_robot_side_that_is_there_is_waited_for(
        monkeypatch: pytest.MonkeyPatch, published: bool, after: float, heard: bool,
        until: float) -> None:
    late = Late(after, published)
    monkeypatch.setattr(source, 'time', late)
    found = source._listen(cast(Listener, late), 10.0)
    assert bool(found.description.actions) is heard
    assert late.now <= until
