# SPDX-License-Identifier: Apache-2.0

"""What a load may lead to; with nodes that are made up."""

from __future__ import annotations

from collections.abc import Callable
import math
from types import SimpleNamespace

from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.messages import decode_known_states, PolicySet
from mnm_ros.nodes.common.allowance import Allowance
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.nodes.exploring.output.hypothesis_topics import HypothesisTopics
from mnm_ros.nodes.exploring.services import Services
from std_srvs.srv import Trigger


class MadeUpNode:
    """Keeps what is published, by topic."""

    def __init__(self) -> None:
        self.published: dict[str, list] = {}

    def create_publisher(self, kind: type, topic: str, qos: object) -> SimpleNamespace:
        return SimpleNamespace(
            publish=lambda message: self.published.setdefault(topic, []).append(message))

    def create_subscription(self, *arguments: object) -> None:
        pass

    destroy_publisher = destroy_subscription = create_subscription


def hypothesis(*known: int, revision: int = 0) -> Hypothesis:
    return Hypothesis(1, revision, 5, tuple(
        Policy(target, 5, known, ((0,) * len(known),)) for target in known))


def test_the_next_hypothesis_is_published_after_a_load_to_before_the_first() -> None:
    """It has the stamp of the one that is gone."""
    node = MadeUpNode()
    topics = HypothesisTopics(node, CallbackGuard(node, print, Allowance()), up_to=2)
    for now, value in ((0.0, hypothesis(0, 1)), (5.0, None), (5.0, hypothesis(0, 2))):
        topics.change(value, now)
    assert PolicySet.from_msg(node.published['policies'][-1]).targets == (0, 2)


def test_policies_are_published_at_most_once_a_second_and_the_last_is_not_lost() -> None:
    """The first at once, the last as soon as a second is over, and those between not at all."""
    node = MadeUpNode()
    topics = HypothesisTopics(node, CallbackGuard(node, print, Allowance()), up_to=2)
    heard = []
    for tick in range(301):
        now = tick / 100
        if tick <= 210:    # a hundred hypotheses a second
            topics.change(hypothesis(0, 1, revision=tick), now)
        topics.publish_due(now)
        topics.republish(now)
        for message in node.published.pop('policies', ()):
            stamp = PolicySet.from_msg(message).version
            assert decode_known_states(node.published['known_states'][-1])[0] == stamp
            heard.append((now, stamp[1]))
    assert heard == [(0.0, 0), (1.0, 100), (2.0, 200), (3.0, 210)]


def test_policies_are_published_however_soon_others_follow_on_a_slow_disk() -> None:
    """It takes 0.3 s to keep one, and there are ten hypotheses a second."""
    node, clock, asked = MadeUpNode(), [0.0], []

    def keep() -> Callable[[float], bool]:
        asked.append(done := clock[0] + 0.3)
        return lambda now: now >= done
    topics = HypothesisTopics(node, CallbackGuard(node, print, Allowance()), up_to=2, keep=keep)
    heard = []
    for tick in range(101):
        clock[0] = tick / 10
        if tick <= 60:
            topics.change(hypothesis(0, 1, revision=tick), clock[0])
        topics.publish_due(clock[0])
        heard += [(clock[0], PolicySet.from_msg(message).revision)
                  for message in node.published.pop('policies', ())]
    assert len(heard) >= 5 and heard[-1][1] == 60
    assert all(60 > revision > 10 * now - 5 for now, revision in heard[:-1])
    assert len(asked) == len(heard)    # the disk has no more to do than that


def test_the_last_hypothesis_is_published_at_the_end_though_an_earlier_one_is_being_kept() -> None:
    node = MadeUpNode()
    topics = HypothesisTopics(node, CallbackGuard(node, print, Allowance()), up_to=2,
                              keep=lambda: lambda now: now == math.inf)
    for revision in range(3):
        topics.change(hypothesis(0, 1, revision=revision), 0.0)
    topics.publish_due(math.inf)
    assert [PolicySet.from_msg(message).revision for message in node.published['policies']] == [2]


def test_a_hypothesis_that_was_given_up_is_not_published_later() -> None:
    node = MadeUpNode()
    topics = HypothesisTopics(node, CallbackGuard(node, print, Allowance()), up_to=2)
    for value in (hypothesis(0, 1), hypothesis(0, 1, revision=1), None):
        topics.change(value, 0.0)
    topics.publish_due(5.0)
    assert len(node.published['policies']) == 1


def test_the_last_hypothesis_is_published_before_the_topics_are_gone() -> None:
    node = MadeUpNode()
    topics = HypothesisTopics(node, CallbackGuard(node, print, Allowance()), up_to=2)
    for revision in range(3):
        topics.change(hypothesis(0, 1, revision=revision), 0.0)
    topics.publish_due(math.inf)
    assert [PolicySet.from_msg(message).revision
            for message in node.published['policies']] == [0, 2]


def test_a_disk_that_is_gone_is_told() -> None:
    served: dict[str, object] = {}
    node = SimpleNamespace(
        create_service=lambda kind, name, callback, qos_profile: served.update({name: callback}),
        create_publisher=lambda kind, name, qos: SimpleNamespace(publish=lambda message: None))
    called: list[tuple[str, ...]] = []
    Services(node, SimpleNamespace(
        running=False, language='en', allowance=Allowance(),
        record=SimpleNamespace(called=lambda *told: called.append(told)),
        disk=SimpleNamespace(
            load=lambda then, patience: then(OSError(5, 'Input/output error')))))
    response = served['load'](Trigger.Request(), Trigger.Response())
    assert not response.success and 'Input/output error' in response.message
    assert [told[0] for told in called] == ['load']
