# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""What a load may lead to; with nodes that are made up."""

from __future__ import annotations

from types import SimpleNamespace

from mnm_ros.core.policy import Hypothesis, Policy
from mnm_ros.nodes.exploring.publishers import Publishers
from mnm_ros.nodes.exploring.services import Services
from mnm_ros.wire import PolicySet
from std_srvs.srv import Trigger


def hypothesis(*known: int) -> Hypothesis:
    return Hypothesis(1, 0, 5, tuple(
        Policy(target, 5, known, ((0,) * len(known),)) for target in known))


def test_the_next_hypothesis_is_published_after_a_load_to_before_the_first() -> None:
    """It has the stamp of the one that is gone."""
    published: dict[str, list] = {}

    class Publisher:
        def __init__(self, kind: type, topic: str, qos: object) -> None:
            self.publish = published.setdefault(topic, []).append

    publishers = Publishers(SimpleNamespace(create_publisher=Publisher))
    for value in (hypothesis(0, 1), None, hypothesis(0, 2)):
        publishers.hypothesis(value)
    assert PolicySet.from_msg(published['policies'][-1]).targets == (0, 2)


def test_a_disk_that_is_gone_is_told() -> None:
    def load() -> None:
        raise OSError(5, 'Input/output error')

    served: dict[str, object] = {}
    node = SimpleNamespace(
        create_service=lambda kind, name, callback: served.update({name: callback}))
    Services(node, SimpleNamespace(running=False, load=load))
    response = served['load'](Trigger.Request(), Trigger.Response())
    assert not response.success and 'Input/output error' in response.message
