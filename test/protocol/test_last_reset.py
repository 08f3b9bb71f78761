# SPDX-License-Identifier: Apache-2.0

"""The last RESET before a node ends: by action or by service, until the robot is home."""

from __future__ import annotations

from mnm_ros.core.model.problem import RESET
from mnm_ros.protocol.exchange import REPORT, SequenceNumbers
from mnm_ros.protocol.return_home import LastReset

HOME = 3


def test_by_action_the_answer_ends_it() -> None:
    sent: list[tuple[int, int]] = []
    last = LastReset(lambda *command: sent.append(command), None, SequenceNumbers(1000), 0.0)
    last.on_state(REPORT, 5)    # where it is on the way
    assert not last.over
    last.tick(0.4)
    assert sent == [(1000, RESET)]
    last.tick(0.6)
    assert sent == [(1000, RESET)] * 2
    last.on_state(1000, HOME)
    last.tick(9.0)
    assert last.over and last.state == HOME and len(sent) == 2


def test_by_service_only_a_success_ends_it() -> None:
    calls: list[int] = []
    last = LastReset(lambda *command: None, calls.append, SequenceNumbers(1000), 0.0)
    last.on_state(1000, HOME)    # answers an action, and none has been sent
    last.on_home_response(False)
    last.tick(0.6)
    assert not last.over and last.state is None and len(calls) == 2
    last.on_home_response(True)
    last.on_home_response(False)
    assert last.over
