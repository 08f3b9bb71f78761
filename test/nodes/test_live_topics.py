# SPDX-License-Identifier: Apache-2.0

"""Who looks on costs little, and nothing at all while nobody does."""

from __future__ import annotations

from collections.abc import Callable
import time
from types import SimpleNamespace
from typing import Any

from mnm_ros import lookout
from mnm_ros.core.progress.activity import Activity
from mnm_ros.core.progress.said import TestingPolicy
from mnm_ros.core.task.step_task import RunState
from mnm_ros.messages import decode_model, Model
from mnm_ros.nodes.exploring.output import live_topics
from mnm_ros.nodes.exploring.output.live_topics import LiveTopics
from mnm_ros.robot_description import RobotDescription
from node_processes import DEADLINE
import pytest
from rclpy.serialization import deserialize_message
from std_msgs.msg import Int64MultiArray

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
    monkeypatch.setattr(live_topics, 'time', SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(lookout, 'time', SimpleNamespace(thread_time=lambda: now[0]))
    return now


class World:
    """An exploration and two topics about it."""

    def __init__(self) -> None:
        self.topics: dict[str, Topic] = {}
        self.takes = 0.0    # s, to work an activity out
        self.exploration = SimpleNamespace(
            steps=5, work=0, state=RunState.RUNNING, activity=self._activity, hypothesis=None,
            history=SimpleNamespace(rows=lambda: [(0, 1, 2, self.exploration.steps)]),
            play_on=lambda view: view.continuation.play(
                SimpleNamespace(home=None, support=SimpleNamespace(declared=None)),
                self.exploration.steps, None, lambda: None, {}))
        self.warnings: list[str] = []
        self.seen: int | None = None
        self.live = LiveTopics(SimpleNamespace(
            create_publisher=lambda kind, name, qos: self.topics.setdefault(name, Topic()),
            get_logger=lambda: SimpleNamespace(
                warning=lambda text, **_: self.warnings.append(text))), 'en')

    def _activity(self, view: Any) -> Activity:
        time.sleep(self.takes)
        return Activity(step=self.exploration.steps, current=3, said=TestingPolicy(7))

    def news(self, now: float) -> tuple[int, int]:
        """Return how many messages there were so far on both topics, once all is worked out."""
        live_topics.time.monotonic = lambda: now
        self.live.news(self.exploration, 'all is well', (), CORRIDOR, self.seen, now)
        end = time.monotonic() + DEADLINE
        while not (self.live._now.collect() and self.live._later.collect()):
            assert time.monotonic() < end, f'no answer for {DEADLINE:g} s'
            time.sleep(0.001)
        return self.heard

    @property
    def heard(self) -> tuple[int, int]:
        """Return how many messages there were so far on both topics."""
        return len(self.topics['model'].heard), len(self.topics['activity'].heard)

    def listen(self) -> None:
        for topic in self.topics.values():
            topic.listeners += 1


def test_nothing_is_told_without_a_listener() -> None:
    world = World()
    assert world.news(0.0) == (0, 0)
    world.listen()
    assert world.news(0.1) == (1, 1)
    model = deserialize_message(world.topics['model'].heard[0], Int64MultiArray)
    assert decode_model(model) == Model(5, {0: {1: {2: 5}}})
    told = Activity.from_json(world.topics['activity'].heard[0].data)
    assert told.sentence == 'testing the policy to hall'


def test_each_has_its_period_and_tells_only_what_is_new() -> None:
    world = World()
    world.listen()
    heard = []
    for tick in range(25):
        world.exploration.steps += tick < 20
        heard.append(world.news(0.1 * tick))
    assert heard[-1] == (3, 11) and heard[0] == (1, 1) and heard[9] == (1, 5)
    world.exploration.steps += 1
    assert world.news(10.0) == (4, 13)    # the last one again, before the new one is there
    world.listen()    # somebody new gets the latest by the quality of service
    assert world.news(10.01) == (4, 13)
    world.exploration.steps += 1
    world.listen()
    assert world.news(10.02) == (5, 14)
    world.live.republish()
    assert world.news(10.03) == (6, 15)


def test_the_robot_is_where_it_was_seen_last_also_on_the_way_to_a_goal() -> None:
    """The exploration has its last state from before the goal."""
    world = World()
    world.listen()
    for number, (world.seen, expected) in enumerate(((None, 3), (6, 6))):
        world.news(float(number))
        told = Activity.from_json(world.topics['activity'].heard[-1].data)
        assert told.current == expected


def test_an_activity_that_takes_long_holds_nothing_up_and_the_last_one_is_told_again() -> None:
    """Issue: one message in 35 s, and no heartbeat for 4 s."""
    world = World()
    world.listen()
    assert world.news(0.0) == (1, 1)
    world.takes = 0.5
    world.exploration.steps += 1
    begun = time.monotonic()
    live_topics.time.monotonic = lambda: 1.0
    world.live.news(world.exploration, 'all is well', (), CORRIDOR, None, 1.0)
    assert time.monotonic() < begun + 0.4
    assert world.heard == (1, 2)
    assert len({each.data for each in world.topics['activity'].heard}) == 1
    assert world.news(1.1) == (2, 3)
    world.live.while_busy(1.5)
    assert world.heard == (2, 3)
    world.live.while_busy(2.0)    # as while a plan is made
    assert world.heard == (2, 4) and not world.warnings


def test_what_goes_wrong_in_a_copy_is_logged_and_the_next_one_goes_on() -> None:
    world = World()
    world.listen()
    activity, world.exploration.activity = world.exploration.activity, None
    assert world.news(0.0) == (0, 0) and "'NoneType' object is not callable" in world.warnings[0]
    world.exploration.activity = activity
    world.exploration.steps += 1
    assert world.news(5.0) == (1, 1) and len(world.warnings) == 1


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

    each = lookout.Throttle(1.0)
    assert each.due(0.0)
    each.do(work(0.001), 0.0)
    assert not each.due(0.9) and each.due(1.0)
    each.do(work(0.1), 1.0)
    assert not each.due(5.9) and each.due(6.0)
    each.hurry()
    assert each.due(1.0)
