# SPDX-License-Identifier: Apache-2.0

"""Whether somebody explores, as ``phase`` tells; with a node that is made up."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

from mnm_ros.messages import encode_reason
from mnm_ros.nodes.common.commanding import ExplorationPause
import pytest
from std_srvs.srv import SetBool


class Made:
    """A node whose explorer offers the service and publishes what it is told to."""

    def __init__(self) -> None:
        self.asked: list[bool] = []
        self.said: list[str] = []
        requests = SimpleNamespace(say=lambda what, **more: self.said.append(what))
        self.pause = ExplorationPause(self, requests)    # type: ignore[arg-type]

    def create_client(self, kind: type, name: str) -> SimpleNamespace:
        return SimpleNamespace(
            service_is_ready=lambda: True,
            call_async=self._ask)

    def _ask(self, request: SetBool.Request) -> SimpleNamespace:
        self.asked.append(request.data)
        return SimpleNamespace()

    def create_subscription(self, kind: type, topic: str, callback: Callable[[object], None],
                            qos: object) -> SimpleNamespace:
        setattr(self, topic.split('/')[0], lambda data: callback(kind(data=data)))
        return SimpleNamespace(topic_name=topic)


@pytest.mark.parametrize('phase', ['building/discovery', 'of another version'])
def test_a_phase_that_is_not_quiet_is_exploring(phase: str) -> None:
    node = Made()
    assert not node.pause.reached(0.0) and node.asked == []    # nothing has been heard yet
    node.phase(phase)
    assert not node.pause.reached(0.0) and node.asked == [False] and node.pause.disturbed
    assert node.said == ['pause']
    node.phase('paused')
    assert node.pause.reached(0.1) and not node.pause.disturbed
    node.phase(phase)
    assert node.pause.disturbed


def test_a_rest_may_end_at_any_time_so_that_a_pause_is_asked_for() -> None:
    node = Made()
    node.phase('paused')
    node.rest(encode_reason('battery').data)
    assert not node.pause.quiet and not node.pause.disturbed
    assert not node.pause.reached(0.0) and node.asked == [False]
    node.rest('')    # as it is a pause that was asked for now
    assert node.pause.reached(0.1) and node.pause.quiet
