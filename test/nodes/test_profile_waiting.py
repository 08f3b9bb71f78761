# SPDX-License-Identifier: Apache-2.0

"""How long the explorer waits for what a robot side says; with a graph that a test makes up."""

from __future__ import annotations

from contextlib import nullcontext
import time
from types import SimpleNamespace

from mnm_ros.core.progress.said import NotDescribed
from mnm_ros.nodes.common.allowance import Allowance, AT_ONCE, PROBE
from mnm_ros.nodes.common.robot_profile import RobotProfile
from mnm_ros.robot_description import UNDESCRIBED
from std_msgs.msg import String

WAITING = NotDescribed()


class Graph:
    """Stands in for a node; who publishes on robot_side, by identity."""

    def __init__(self) -> None:
        self.publishers: list[int] = []
        self.handle = nullcontext()
        self.handle.get_count_publishers = lambda topic: len(self.publishers)
        self.errors: list[str] = []

    def get_publishers_info_by_topic(self, topic: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(endpoint_gid=[gid]) for gid in self.publishers]

    def resolve_topic_name(self, topic: str) -> str:
        return f'/{topic}'

    def create_subscription(self, *arguments: object) -> SimpleNamespace:
        self.hear = lambda text: arguments[2](String(data=text))
        return SimpleNamespace(topic_name='/robot_side')

    def destroy_subscription(self, subscription: object) -> None:
        del self.hear

    def get_logger(self) -> SimpleNamespace:
        return SimpleNamespace(error=self.errors.append)


def profile() -> tuple[Graph, RobotProfile, float]:
    graph = Graph()
    return graph, RobotProfile(graph, ['east'], lambda: None, Allowance()), time.monotonic()


def test_a_robot_side_without_the_topic_is_not_waited_for() -> None:
    _, robot, now = profile()
    assert robot.objection(now) == ''


def test_one_that_has_just_come_is_waited_for() -> None:
    graph, robot, now = profile()
    graph.publishers = [1]
    assert robot.objection(now) == robot.objection(now + 1.9) == WAITING
    graph.hear('{"actions": ["east"]}')
    assert robot.objection(now + 1.9) == ''


def test_one_that_stays_silent_is_not_waited_for_any_longer() -> None:
    graph, robot, now = profile()
    graph.publishers = [1]
    assert robot.objection(now) == WAITING
    assert robot.objection(now + 2.1) == ''


def test_its_message_may_come_before_it_is_seen() -> None:
    graph, robot, now = profile()
    graph.hear('{"actions": ["east"]}')
    graph.publishers = [1]
    assert robot.objection(now) == ''


def test_one_that_replaces_another_is_waited_for() -> None:
    graph, robot, now = profile()
    graph.publishers = [1]
    graph.hear('{"actions": ["east"]}')
    assert robot.objection(now) == ''
    graph.publishers = [1, 2]    # the old one, killed, is still seen
    assert robot.objection(now + 9) == WAITING
    graph.hear('{"actions": ["west"]}')
    graph.hear('{"actions": ["west"]}')
    assert '[west]' in robot.objection(now + 9) and len(graph.errors) == 1
    graph.publishers = [1]
    before = graph.hear
    assert '[west]' in robot.objection(now + 10)
    assert graph.hear is not before    # it is asked again, as it will not repeat itself
    graph.hear('{"actions": ["east"]}')
    assert robot.objection(now + 10) == '' and robot.description is not UNDESCRIBED
    graph.publishers = []
    assert robot.objection(now + 11) == '' and robot.description is UNDESCRIBED


def test_of_too_many_descriptions_the_last_one_counts_soon() -> None:
    taken: list[object] = []
    graph = Graph()
    graph.publishers.append(1)
    robot = RobotProfile(graph, ['east'], lambda: taken.append(robot.description), Allowance())
    now = time.monotonic()
    for number in range(3 * AT_ONCE):
        graph.hear(f'{{"actions": ["east"], "home": {number}}}')
        assert robot.objection(now) == ''
    assert len(taken) < 2 * AT_ONCE and robot.description.home < 2 * AT_ONCE
    for later in (PROBE - 0.5, PROBE + 0.5):
        before = len(taken)
        robot._take_soon = robot._take    # as the allowance does by then
        assert robot.objection(now + later) == ''
    assert len(taken) == before + 1 and robot.description.home == 3 * AT_ONCE - 1
