"""Who counts as a robot that lives, told a graph that a test makes up."""

from __future__ import annotations

from types import SimpleNamespace

from mnm_ros.nodes.exploring.census import Census


class Graph:
    """Stands in for a node and its orders; robots by number, all of one name."""

    topic_name = '/action'

    def __init__(self, *robots: int) -> None:
        self.robots = list(robots)
        self.confirmed = True
        self.census = Census(self, self, '/state', lambda: self.confirmed)
        self.now = 0.0

    def get_subscription_count(self) -> int:
        return len(self.robots)

    def _endpoints(self, topic: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(endpoint_gid=[robot], node_name='robot', node_namespace='/')
                for robot in self.robots]

    get_subscriptions_info_by_topic = get_publishers_info_by_topic = _endpoints

    def reason(self, seconds: float, late: bool = False) -> str:
        """Return the reason after some time; late since the beginning of it."""
        begun, self.now = self.now, self.now + seconds
        return self.census.reason_to_wait(True, begun if late else None, self.now)


def test_two_that_confirm_are_two() -> None:
    graph = Graph(1)
    assert graph.reason(1.0) == ''
    graph.robots.append(2)
    assert '2 nodes' in graph.reason(1.0)
    graph.robots.remove(1)
    assert graph.reason(1.0) == ''


def test_one_that_was_killed_does_not_count() -> None:
    graph = Graph(1)
    graph.reason(1.0)
    graph.confirmed = False
    graph.robots.append(2)
    assert 'somebody new' in graph.reason(0.1)
    assert graph.reason(1.0) == ''


def test_nor_do_two_of_them_that_have_not_answered() -> None:
    graph = Graph(1)
    graph.reason(1.0)
    graph.confirmed = False
    graph.reason(1.0, late=True)
    graph.robots.append(2)
    graph.reason(1.0)
    assert graph.reason(1.0) == ''
    graph.reason(1.0, late=True)
    graph.robots.append(3)
    graph.reason(0.1)
    assert graph.reason(1.0) == ''
    graph.robots.append(4)
    assert '2 nodes' in graph.reason(1.0)


def test_a_slow_one_counts_as_long_as_all_confirm() -> None:
    graph = Graph(1)
    graph.reason(1.0)
    graph.reason(1.0, late=True)
    graph.robots.append(2)
    assert '2 nodes' in graph.reason(1.0)


def test_three_of_which_one_was_killed_are_two() -> None:
    graph = Graph(1)
    graph.reason(1.0)
    graph.confirmed = False
    graph.robots += [2, 3]
    assert '3 nodes' in graph.reason(1.0)
