# SPDX-License-Identifier: Apache-2.0

"""Who looks on costs little, and nothing at all while nobody does."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

from mnm_ros.core.progress.activity import Activity
from mnm_ros.core.task.step_task import RunState
from mnm_ros.messages import decode_model, Model
from mnm_ros.nodes.exploring.output import live_topics
from mnm_ros.nodes.exploring.output.live_topics import LiveTopics, Throttle
from mnm_ros.robot_description import RobotDescription
import pytest

CORRIDOR = RobotDescription(('east',), names={7: 'hall'})


class Topic:
    """A publisher that keeps what it publishes."""

    def __init__(self) -> None:
        self.heard: list = []
        self.publish = self.heard.append
        self.listeners = 0

    def get_subscription_count(self) -> int:
        return self.listeners


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the time on the clock by which it is measured how long something takes."""
    now = [0.0]
    monkeypatch.setattr(live_topics.time, 'monotonic', lambda: now[0])
    return now


class World:
    """An exploration and two topics about it."""

    def __init__(self) -> None:
        self.topics: dict[str, Topic] = {}
        self.asked = 0
        self.exploration = SimpleNamespace(
            steps=5, work=0, state=RunState.RUNNING, activity=self._activity,
            transitions=lambda: [(0, 1, 2, self.exploration.steps)])
        self.live = LiveTopics(SimpleNamespace(
            create_publisher=lambda kind, name, qos: self.topics.setdefault(name, Topic())))

    def _activity(self) -> Activity:
        self.asked += 1
        return Activity(step=self.exploration.steps, sentence='on the way to 7')

    def news(self, now: float) -> tuple[int, int]:
        """Return how many messages there were so far on both topics."""
        self.live.news(self.exploration, 'all is well', CORRIDOR, now)
        return len(self.topics['model'].heard), len(self.topics['activity'].heard)

    def listen(self) -> None:
        for topic in self.topics.values():
            topic.listeners += 1


def test_nothing_is_told_without_a_listener() -> None:
    world = World()
    assert world.news(0.0) == (0, 0) and not world.asked
    world.listen()
    assert world.news(0.1) == (1, 1)
    assert decode_model(world.topics['model'].heard[0]) == Model(5, {0: {1: {2: 5}}})
    told = Activity.from_json(world.topics['activity'].heard[0].data)
    assert told.sentence == 'on the way to hall'


def test_each_has_its_period_and_tells_only_what_is_new() -> None:
    world = World()
    world.listen()
    heard = []
    for tick in range(25):
        world.exploration.steps += tick < 20
        heard.append(world.news(0.1 * tick))
    assert heard[-1] == (3, 11) and heard[0] == (1, 1) and heard[9] == (1, 5)
    world.exploration.steps += 1
    assert world.news(10.0) == (4, 12)
    world.listen()    # somebody new gets the latest by the quality of service
    assert world.news(10.01) == (4, 12)
    world.exploration.steps += 1
    world.listen()
    assert world.news(10.02) == (5, 13)
    world.live.republish()
    assert world.news(10.03) == (6, 14)


def test_who_does_nothing_says_why_as_on_status() -> None:
    world = World()
    world.listen()
    world.exploration.state = RunState.PAUSED
    world.news(0.0)
    assert Activity.from_json(
        world.topics['activity'].heard[0].data).sentence == 'all is well'


def test_what_takes_long_is_done_rarely(clock: list[float]) -> None:
    def work(seconds: float) -> Callable[[], None]:
        return lambda: clock.__setitem__(0, clock[0] + seconds)

    each = Throttle(1.0)
    assert each.due(0.0)
    each.do(work(0.001), 0.0)
    assert not each.due(0.9) and each.due(1.0)
    each.do(work(0.1), 1.0)
    assert not each.due(5.9) and each.due(6.0)
    each.hurry()
    assert each.due(1.0)
