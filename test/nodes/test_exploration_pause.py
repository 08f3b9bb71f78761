# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Whether somebody explores, as ``phase`` tells; with a node that is made up."""

from __future__ import annotations

from types import SimpleNamespace

from mnm_ros.nodes.common.exploration_pause import ExplorationPause
import pytest
from std_msgs.msg import String


class Made:
    """A node whose explorer offers the service and publishes what it is told to."""

    def __init__(self) -> None:
        self.asked: list[bool] = []
        self.pause = ExplorationPause(self)    # type: ignore[arg-type]

    def create_client(self, kind: type, name: str) -> SimpleNamespace:
        return SimpleNamespace(
            service_is_ready=lambda: True,
            call_async=lambda request: self.asked.append(request.data))

    def create_subscription(self, kind: type, topic: str, callback: object,
                            qos: object) -> SimpleNamespace:
        self.hear = lambda phase: callback(String(data=phase))
        return SimpleNamespace(topic_name=topic)


@pytest.mark.parametrize('phase', ['building/discovery', 'of another version'])
def test_a_phase_that_is_not_quiet_is_exploring(phase: str) -> None:
    node = Made()
    assert not node.pause.reached(0.0) and node.asked == []    # nothing has been heard yet
    node.hear(phase)
    assert not node.pause.reached(0.0) and node.asked == [False] and node.pause.disturbed
    node.hear('paused')
    assert node.pause.reached(0.1) and not node.pause.disturbed
    node.hear(phase)
    assert node.pause.disturbed
