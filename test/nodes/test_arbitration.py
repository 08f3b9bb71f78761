# SPDX-License-Identifier: Apache-2.0

"""Who commands the robot when explorers come and go; with a graph that a test makes up."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

from mnm_ros.core.progress.said import EarlierExplorer, ListeningForExplorers, Reason
from mnm_ros.nodes.exploring.link.arbitration import Arbitration
from mnm_ros.topics import ros_domain
import pytest
from std_msgs.msg import Int64

OTHER = EarlierExplorer('/explorer_2', ros_domain())
LISTENING = ListeningForExplorers()


class Graph:
    """Stands in for a node; who has a claim on the robot, by identity."""

    def __init__(self) -> None:
        self.claims = [1, 2]
        self.warnings: list[str] = []
        self.publishers = 0    # of action: no node publishes it before it may command
        self.handle = nullcontext()
        self.handle.get_count_publishers = lambda topic: len(self.claims)

    def count_publishers(self, topic: str) -> int:
        return self.publishers

    def count_subscribers(self, topic: str) -> int:
        return 1

    def get_publishers_info_by_topic(self, topic: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(endpoint_gid=[claim], node_namespace='/',
                                node_name=f'explorer_{claim}') for claim in self.claims]

    def get_fully_qualified_name(self) -> str:
        return '/explorer_1'

    def get_logger(self) -> SimpleNamespace:
        return SimpleNamespace(
            warning=lambda text, **options: self.warnings.append(text))

    def create_publisher(self, *arguments: object) -> SimpleNamespace:
        return SimpleNamespace(publish=lambda message: None)

    def create_subscription(self, kind: object, topic: str, callback: object,
                            qos: object) -> None:
        self.hear = callback


def test_the_first_explorer_is_cleaned_up_and_configured_between_two_looks() -> None:
    """It comes back as the later one; were nothing noticed, each would wait for the other."""
    graph = Graph()
    claim = Arbitration(graph, '/action', 200, 0.0)
    claim.reason_to_yield(0.0)
    graph.hear(Int64(data=100))
    assert claim.reason_to_yield(10.0) == OTHER
    graph.claims = [2, 3]
    graph.hear(Int64(data=300))
    claim.reason_to_yield(10.1)
    assert claim.reason_to_yield(13.0) == ''


def test_listens_while_the_robot_answers_a_node_that_has_not_been_found() -> None:
    graph = Graph()
    graph.claims = [2]
    claim = Arbitration(graph, '/action', 200, 0.0)
    for tenth in range(20):
        assert claim.reason_to_yield(tenth / 10) == LISTENING
        claim.on_foreign_answer(tenth / 10)
    assert claim.reason_to_yield(2.3) == LISTENING and claim.reason_to_yield(2.5) == ''


def test_listens_to_nonsense_for_a_limited_time() -> None:
    graph = Graph()
    graph.claims = [2]
    claim = Arbitration(graph, '/action', 200, 0.0)
    for tenth in range(100):
        claim.on_foreign_answer(tenth / 10)
        assert claim.reason_to_yield(tenth / 10) == (LISTENING if tenth < 50 else '')


def test_one_of_several_leaves_and_the_first_one_stays() -> None:
    graph = Graph()
    graph.claims = [1, 2, 3]
    claim = Arbitration(graph, '/action', 200, 0.0)
    claim.reason_to_yield(0.0)
    graph.hear(Int64(data=100))
    graph.claims = [1, 2]
    assert claim.reason_to_yield(10.0) == OTHER
    graph.hear(Int64(data=100))    # once a second
    assert claim.reason_to_yield(13.0) == OTHER


def test_only_the_first_one_commands() -> None:
    """Robot sides know the commander by its publisher of action, which others do not make."""
    graph = Graph()
    claim = Arbitration(graph, '/action', 200, 0.0)
    claim.reason_to_yield(0.0)
    assert not claim.commands and not claim.stands_by    # it is listening
    claim.reason_to_yield(1.0)
    assert claim.commands
    graph.hear(Int64(data=100))
    claim.reason_to_yield(1.1)
    assert not claim.commands and claim.stands_by
    graph.claims = [2]
    claim.reason_to_yield(1.2)
    assert claim.commands and not claim.stands_by


@pytest.mark.parametrize('number', [-2**63, -1, 0])
def test_what_cannot_be_the_time_of_a_start_is_no_claim(number: int) -> None:
    graph = Graph()
    claim = Arbitration(graph, '/action', 200, 0.0)
    claim.reason_to_yield(0.0)
    graph.hear(Int64(data=number))
    assert claim.reason_to_yield(1.0) == '' and claim.commands
    assert graph.warnings == [
        f'{number} on /action/driver ignored, expected the time of a start in ns, above 0']


def looked(claim: Arbitration, begin: int, end: int) -> Reason:
    """Return the last reason to yield of those from begin to end, in tenths of a second."""
    return [claim.reason_to_yield(tenth / 10) for tenth in range(begin, end)][-1]


def test_a_claim_that_is_not_repeated_does_not_stand_for_ever() -> None:
    """As of a node that has sent one number and lives on."""
    graph = Graph()
    claim = Arbitration(graph, '/action', 200, 0.0)
    claim.reason_to_yield(0.0)
    graph.hear(Int64(data=100))
    assert looked(claim, 1, 90) == OTHER and not graph.warnings
    assert looked(claim, 90, 110) == '' and claim.commands and len(graph.warnings) == 1
    graph.hear(Int64(data=100))
    assert claim.reason_to_yield(11.0) == OTHER and not claim.commands


def test_a_claim_that_is_repeated_stands() -> None:
    graph = Graph()
    claim = Arbitration(graph, '/action', 200, 0.0)
    for second in range(30):
        graph.hear(Int64(data=100))
        assert looked(claim, 10 * second, 10 * second + 10) == OTHER


def test_who_was_held_up_has_to_listen_before_it_misses_a_claim() -> None:
    graph = Graph()
    claim = Arbitration(graph, '/action', 200, 0.0)
    graph.hear(Int64(data=100))
    claim.reason_to_yield(0.0)
    assert claim.reason_to_yield(60.0) == OTHER
    graph.hear(Int64(data=100))
    assert looked(claim, 601, 650) == OTHER
