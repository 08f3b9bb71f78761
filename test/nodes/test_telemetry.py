# SPDX-License-Identifier: Apache-2.0

"""Whatever is published on the topics that the displays hear, they go on, and can be drawn."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import replace
import io
import json
import random
import re
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import Point, PoseWithCovarianceStamped
from mnm_ros import messages
from mnm_ros.core.errors import ParameterError
from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.progress.activity import Activity, Evidence, Progress
from mnm_ros.core.progress.events import Event, PairChange, WaysChange
from mnm_ros.core.progress.said import WaysClosed, WayStillClosed
from mnm_ros.core.progress.trust import to_json, Trust, TrustedPolicy
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.nodes.dashboard import Dashboard
from mnm_ros.page.commands import Commands
from mnm_ros.page.page_subscriptions import PageSubscriptions, SharedLayers
from mnm_ros.robot_description import RobotDescription
from mnm_ros.subscriptions import Subscriptions
from mnm_ros.view import words
from mnm_ros.view.telemetry import as_json
from mnm_ros.view.terminal.live_view import Frame, Lines, View
from mnm_ros.view.terminal.state_grid import described
from mnm_ros.view.web import figures
from mnm_ros.view.web.decisions import decisions_table
from mnm_ros.view.web.layers import policy_arrows
from mnm_ros.view.web.panels import (
    CONTROLS,
    events_table,
    machine,
    refusal,
    refusal_to_go,
    robots_table,
)
from mnm_ros.view.web.situation import consequences, doing
from nav_msgs.msg import OccupancyGrid
from node_processes import NodeProcess, Peer, REST, ScriptedRobot
import pytest
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from rich.console import Console
from std_msgs.msg import Bool, Header, Int64, String
from tiers import strength
from visualization_msgs.msg import Marker, MarkerArray

MESSAGES = strength(3, 25)    # of each topic
FRAME = 'map'
INTEGERS = (0, 1, -1, -7, 2, 99, 2**31, 2**63 - 1, -2**63)
FLOATS = (0.0, -1.0, 1e-320, 1e308, -1e308, float('nan'), float('inf'), -float('inf'))
TEXTS = ('', 'a b', '/', '//', 'r1', 'ü', '\x1b[2J\x07', 'x' * 5000, '1e400', 'nan', '-1',
         '9' * 5000, ': robot ', '/explorer: robot r1', '/explorer: robot a b',
         '/explorer: robot ' + 'x' * 300, '/explorer: robot ../a', '/explorer: exploration',
         '[' * 5000, '{}', '[]', 'null')


def hypothesis() -> Hypothesis:
    return Hypothesis(1, 0, 4, tuple(Policy(state, 4, (0, 1), ((0, 1),)) for state in (0, 1)))


def goals() -> DiagnosticArray:
    return messages.encode_goals(Header().stamp, [
        GoalReport(5, 1, GoalStatus.UNDER_WAY, 'going', 3, 1, 2.5, 7)])


def diagnostics() -> DiagnosticArray:
    values = {'round': '1', 'steps': '40', 'steps_per_second': '3.1', 'known': '2',
              'candidates': '0', 'changes_noticed': '0', 'changes_relearnt': '0',
              'phase': 'building/discovery', 'unanswered': '0'}
    robot = {'steps': '9', 'place': '1', 'unanswered': '0'}
    return DiagnosticArray(status=[
        DiagnosticStatus(name=name, message='exploring', values=[
            KeyValue(key=key, value=value) for key, value in found.items()])
        for name, found in (('/explorer: exploration', values),
                            ('/explorer: robot r1', robot), ('/explorer: robot r2', robot))])


def world() -> MarkerArray:
    points = [Point(x=1.0), Point(x=2.0)]
    return MarkerArray(markers=[
        Marker(ns=name, points=points, header=Header(frame_id=FRAME))
        for name in ('walls', 'open doors', 'closed doors', 'robot')])


def floor() -> OccupancyGrid:
    found = OccupancyGrid(data=array('b', [0, 100, -1, 0, 0, 0]))
    found.info.width, found.info.height, found.info.resolution = 3, 2, 0.5
    return found


DESCRIPTION = RobotDescription(
    ('east', 'west'), 0, FRAME, {1: 'door'}, {0: (0.0, 0.0), 1: (1.0, 0.0)},
    ((0.0, 0.0, 1.0, 1.0),))
ACTIVITY = Activity(
    40, 'sampling', 1, 0, 'sampling', (Evidence('transition', 1, 0, 1.0, 2.0),),
    Progress('first hypothesis', 40, 100, 60, 200), 1, 0, (5,), (6,), 8.0, {0: 0.0, 1: None})

EVENT = Event(40, 'moved', 'change', PairChange(1, 0, {0: 9}, {1: 3}), WaysChange((1,)), 1.8e9)

EXAMPLES: dict[str, Callable[[], Any]] = {
    'robot_side': lambda: String(data=DESCRIPTION.to_text()),
    'activity': lambda: String(data=ACTIVITY.to_json()),
    'trust': lambda: String(data=to_json((1, 40), [TrustedPolicy(
        Trust.ASSUMED, 2.5, None, 7, 'few samples', hypothesis().policies[1])])),
    'events': lambda: String(data=EVENT.to_json()),
    'phase': lambda: String(data='building/discovery'), 'status': lambda: String(data='building'),
    'known_states': lambda: messages.encode_known_states(hypothesis()),
    'policies': lambda: messages.PolicySet.of(hypothesis()).to_msg(),
    'policy': lambda: messages.encode_policy(hypothesis(), 1),
    'model': lambda: messages.encode_model(40, [(0, 0, 1, 9), (1, 1, 0, 3), (0, -1, 0, 2)]),
    'stopped': lambda: Bool(data=True),
    'true_setting': lambda: Int64(data=0), 'exploration_steps': lambda: Int64(data=12),
    'diagnostics': diagnostics, 'heartbeat': Header, 'map': floor, 'world_markers': world,
    'amcl_pose': lambda: PoseWithCovarianceStamped(header=Header(frame_id=FRAME)),
    'pose': lambda: PoseWithCovarianceStamped(header=Header(frame_id=FRAME)),
    'goal/status': goals}
"""What is heard on each topic of a display, as it should be."""


def spoilt(value: Any, rng: random.Random) -> Any:
    """Return a value of the same kind that nobody expects."""
    if isinstance(value, str):
        if value[:1] + value[-1:] == '{}' and '}{' not in value and rng.random() < 0.8:
            return json.dumps(spoilt_json(json.loads(value), rng))
        return rng.choice((*TEXTS, value[:len(value) // 2], value * 2))
    if isinstance(value, bool):
        return not value
    return rng.choice({int: INTEGERS, float: FLOATS, bytes: (b'\x07', b'\x02')}.get(
        type(value), (value,)))


def spoilt_json(value: Any, rng: random.Random) -> Any:
    """Return the same with one entry that is missing, of another kind, or out of range."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(sorted(value))
        found = {**value, key: spoilt_json(value[key], rng)}
        if rng.random() < 0.1:
            found[rng.choice(TEXTS)] = found.pop(key)
        return found
    if isinstance(value, list) and value and rng.random() < 0.8:
        index = rng.randrange(len(value))
        return [*value[:index], spoilt_json(value[index], rng), *value[index + 1:]]
    return rng.choice((*INTEGERS, *FLOATS, *TEXTS, 2**70, None, True, [], {}, [[]], {'1': 2}))


def spoil(message: Any, rng: random.Random) -> None:
    """Change one field of a message, however deep."""
    name = rng.choice(sorted(message.get_fields_and_field_types()))
    value = getattr(message, name)
    if hasattr(value, 'get_fields_and_field_types'):
        spoil(value, rng)
    elif isinstance(value, (list, array)) and len(value):
        index = rng.randrange(len(value))
        if rng.random() < 0.2:
            del value[index]
        elif hasattr(value[index], 'get_fields_and_field_types'):
            spoil(value[index], rng)
        else:
            # What does not fit into the field cannot be published.
            limit = {'b': 100}.get(getattr(value, 'typecode', ''), 2**63 - 1)
            value[index] = max(-limit, min(limit, spoilt(value[index], rng)))
    else:
        try:
            setattr(message, name, spoilt(value, rng))
        except AssertionError:
            pass


@pytest.fixture(scope='module')
def context() -> Iterator[None]:
    rclpy.init()
    yield
    rclpy.shutdown()


class Display:
    """A node that hears, and whose callbacks can be called."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.callbacks: dict[str, tuple[Callable[[Any], None], bool]] = {}
        self.warnings: list[str] = []
        made = Node.create_subscription

        def create(node: Node, kind: type, topic: str, callback: Any, qos: Any,
                   **others: Any) -> Any:
            self.callbacks[topic.lstrip('/')] = callback, others.get('raw', False)
            return made(node, kind, topic, callback, qos, **others)

        monkeypatch.setattr(Node, 'create_subscription', create)

    def hear(self, topic: str, message: Any, rng: random.Random | None = None) -> None:
        callback, raw = self.callbacks[topic]
        if not raw:
            callback(message)
            return
        data = bytearray(serialize_message(message))
        if rng and rng.random() < 0.5:
            del data[rng.randrange(len(data)):]
        callback(bytes(data))


class Page(Display):
    """The page without a browser."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(monkeypatch)
        self.node = Node('dashboard')
        monkeypatch.setattr(self.node, 'count_publishers', lambda topic: topic in (
            'amcl_pose', 'pose'))
        self.subscriptions = PageSubscriptions(self.node)
        self.commands = Commands(self.node, lambda: self.subscriptions.heard)
        self.commands._navigator._last_id = time.time_ns() + 10**12    # so that its ids are small
        self.shared = SharedLayers(self.subscriptions, self.commands, {
            'namespace': '/', 'domain': '0'})
        self.subscriptions.look(0.0, frozenset)
        self.now = 0.0

    def show(self) -> None:
        self.now += 10.0
        self.subscriptions.look(self.now, lambda: frozenset(('explore', 'change')))
        self.shared.remember(self.now)
        heard = self.shared.update()
        policy = self.subscriptions.policy_to(1)
        json.dumps((self.shared.layers, self.shared.chart('de'), policy and policy_arrows(
            heard, policy, self.shared.places.latest)), allow_nan=False)
        for moment in self.shared.looking_back.past.moments[-1:]:
            then = self.shared.looking_back.then(
                moment, self.shared.places, self.shared.layers)
            json.dumps((then.told('de'), then.layers, then.arrows(1)), allow_nan=False)
        assert figures.presence(heard, self.now, 'here') is not None
        for say in (figures.tiles, consequences, doing, figures.bar, events_table, decisions_table,
                    robots_table):
            say(heard)
        for state in (0, 1, 5):
            figures.about(heard, state)
            refusal_to_go(state, heard)
        machine(heard.activity.within(heard.phase))
        for name in CONTROLS:
            refusal(name, heard, self.now)
        assert 'nan' not in str(self.commands.outcome_of_goal)

    def close(self) -> None:
        self.node.destroy_node()


class Watch(Display):
    """``mnm_ros watch``, and ``scripts/explore`` with two settings."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(monkeypatch)
        self.node = Node('console')
        self.subscriptions = Subscriptions(self.node, settings=2, hypothesis=True)
        self.written = io.StringIO()
        self.lines = Lines(self.written, 2, 1.0)
        self.seconds = 0.0

    def show(self) -> None:
        self.seconds += 1.0
        heard = self.subscriptions.heard
        self.subscriptions.policy_to(1)
        assert heard.true_setting in (None, 0, 1)
        console = Console(file=io.StringIO(), force_terminal=True, width=150, height=40)
        picture = described(heard.description)
        console.print(View(heard, Frame('somewhere', 2), self.seconds, picture))
        self.lines.show(heard, self.seconds)
        assert all(text.isprintable() for text in (
            *self.written.getvalue().split('\n'), *(event.text for event in heard.events)))
        json.loads(as_json(heard), parse_constant=lambda name: pytest.fail(name))

    def close(self) -> None:
        self.node.destroy_node()


@pytest.fixture(params=[Page, Watch])
def display(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch,
            context: None) -> Iterator[Any]:
    found = request.param(monkeypatch)
    yield found
    found.close()


def test_anything_may_come(display: Any) -> None:
    """Each topic that it hears, one field wrong at a time; ordinary ones are shown after it."""
    display.hear('diagnostics', diagnostics())    # the robots of which are followed
    examples = {topic: EXAMPLES[topic.removeprefix('r1/').removeprefix('r2/')]
                for topic in display.callbacks if topic != 'parameter_events'}
    assert len(examples) >= 15
    for seed in range(MESSAGES):
        rng = random.Random(seed)
        for topic, example in examples.items():
            message = example()
            for _ in range(rng.randrange(1, 3)):
                spoil(message, rng)
            display.hear(topic, message, rng)
            display.show()
    for topic, example in examples.items():
        display.hear(topic, example())
    display.show()


def test_what_is_told_again_has_happened_once(
        monkeypatch: pytest.MonkeyPatch, context: None) -> None:
    """As an explorer does that is configured again."""
    watch = Watch(monkeypatch)
    for number in (*range(60), *range(10, 60), 61):
        watch.hear('events', String(data=Event(1, f'{number}', time=5.0).to_json()))
    assert [event.text for event in watch.subscriptions.heard.events] == [
        *(f'{number}' for number in range(11, 60)), '61']
    watch.close()


def test_tries_of_closed_ways_take_the_place_of_no_other_event(
        monkeypatch: pytest.MonkeyPatch, context: None) -> None:
    watch = Watch(monkeypatch)
    for number in range(200):
        said = (WayStillClosed(1, 5, 0), WaysClosed(((5, 0),)), None)[min(number % 10, 2) if (
            number < 20) else number % 2]
        watch.hear('events', String(data=Event(number, '', said=said, time=5.0).to_json()))
    heard = watch.subscriptions.heard.events
    assert [event.step for event in heard if event.said is None] == [*range(2, 10), *range(12, 20)]
    assert [event.step for event in heard if event.said] == [*range(150, 200)]
    watch.close()


def test_no_more_exploration_steps_are_shown_than_steps(
        monkeypatch: pytest.MonkeyPatch, context: None) -> None:
    """The message of the simulator may overtake the report of the explorer."""
    watch = Watch(monkeypatch)

    def shown(explored: int, steps: int) -> int | None:
        watch.hear('exploration_steps', Int64(data=explored))
        watch.hear('diagnostics', DiagnosticArray(status=[DiagnosticStatus(
            name='/explorer: exploration', values=[KeyValue(key='steps', value=str(steps))])]))
        return watch.subscriptions.heard.exploration_steps

    assert [shown(1009, 1008), shown(2012, 2010), shown(2400, 3000)] == [1008, 2010, 2400]
    # An explorer that begins again beside the same simulator does have fewer steps.
    assert [shown(2500, 100), shown(2600, 200)] == [2500, 2600]
    watch.close()


def test_a_log_that_cannot_be_read_is_refused(context: None) -> None:
    pytest.importorskip('nicegui', reason='nicegui is not installed')
    with pytest.raises(ParameterError, match=r"^parameter 'log' is '/nowhere': /nowhere cannot"):
        Dashboard(parameter_overrides=[Parameter('log', value='/nowhere')])


def torn(topic: str) -> bytes:
    return serialize_message(EXAMPLES[topic]())[:-9]


@pytest.mark.parametrize('topic, bad', [
    ('diagnostics', ('/explorer: robot r1', '/explorer: robot a b')),
    ('diagnostics', ('/explorer: robot r1', '/explorer: robot ../r1')),
    ('activity', ('"action":0', '"action":-7')), ('robot_side', ('"x": 1.0', '"x": 1e300')),
    ('world_markers', None), ('amcl_pose', None)])
def test_what_cannot_be_read_is_dropped_with_one_warning(
        monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], context: None,
        topic: str, bad: tuple[str, str] | None) -> None:
    display = Page(monkeypatch)
    display.hear('robot_side', EXAMPLES['robot_side']())
    message: Any = EXAMPLES[topic]()
    for part in message.status if topic == 'diagnostics' else [message] if bad else []:
        name = 'name' if topic == 'diagnostics' else 'data'
        setattr(part, name, getattr(part, name).replace(*bad))
    for _ in range(3):
        if bad:
            display.hear(topic, message)
        else:
            display.callbacks[topic][0](torn(topic))
        display.show()
    display.hear(topic, EXAMPLES[topic]())
    display.show()
    heard = display.subscriptions.heard
    assert {'diagnostics': heard.reports == 1, 'activity': heard.activity == ACTIVITY,
            'robot_side': heard.description == DESCRIPTION,
            'world_markers': len(heard.ground.doors) == 4,
            'amcl_pose': heard.pose == (0.0, 0.0, 0.0)}[topic]
    display.close()
    assert len(re.findall(f'{topic} ignored: ', capfd.readouterr().err)) == 1


def test_a_policy_of_an_explorer_that_is_gone_is_forgotten(context: None) -> None:
    node = Node('console')
    subscriptions = Subscriptions(node)
    subscriptions.policies = messages.PolicySet.of(hypothesis()).to_msg()
    assert subscriptions.policy_to(1) == hypothesis().policies[1]
    subscriptions.forget()
    assert subscriptions.policy_to(1) is None
    node.destroy_node()


def test_a_stop_ends_with_the_robot_side(
        monkeypatch: pytest.MonkeyPatch, context: None) -> None:
    """Issue: the terminal showed a robot as stopped whose robot side had gone."""
    node = Node('console')
    subscriptions = Subscriptions(node)
    subscriptions.heard = replace(subscriptions.heard, stopped=frozenset(('',)))
    for publishers, stopped in ((1, True), (0, False)):
        monkeypatch.setattr(node, 'count_publishers', lambda topic: publishers)    # noqa: B023
        subscriptions.drop_stops()
        assert subscriptions.heard.all_stopped is stopped
    node.destroy_node()


def test_robots_are_counted(monkeypatch: pytest.MonkeyPatch, context: None) -> None:
    """More than an explorer may have are not listened to, all at once or one after the other."""
    display = Page(monkeypatch)

    def tell(first: int, count: int) -> None:
        message = diagnostics()
        message.status[1:] = [DiagnosticStatus(name=f'/explorer: robot r{number}')
                              for number in range(first, first + count)]
        display.hear('diagnostics', message)

    tell(0, 200)
    assert display.subscriptions.heard.robots == ()
    monkeypatch.setattr(display.subscriptions, '_follow', display.warnings.append)
    for first in range(0, 300, 50):
        tell(first, 50)
    assert len(display.subscriptions.heard.robots) == 50 and len(display.warnings) == 100
    display.close()


def test_a_page_stays(start: Callable[..., NodeProcess], peer: Peer) -> None:
    """What is torn comes over the network, latched, before everything else."""
    markers = peer.node.create_publisher(MarkerArray, 'world_markers', messages.LATCHED)
    markers.publish(torn('world_markers'))
    side = peer.node.create_publisher(String, 'robot_side', messages.LATCHED)
    side.publish(EXAMPLES['robot_side']())
    dashboard = start('dashboard', port=0)
    peer.wait_for(lambda: 'world_markers ignored' in dashboard.output, 'the warning')
    assert dashboard.running and dashboard.stop() == 0


def test_a_robot_that_hangs_is_told_of_long_before_it_is_asked_again(
        explorer: Callable[..., NodeProcess], peer: Peer, robot: ScriptedRobot) -> None:
    phases = peer.listen(String, 'phase')
    observer = Node('observer', context=peer.context)
    subscriptions = Subscriptions(observer)
    peer.spin_also(observer)
    process = explorer(step_timeout=1000.0)
    peer.wait_for(lambda: len(robot.executed) > 10, 'steps')
    robot.pause = REST
    peer.wait_for(lambda: subscriptions.heard.reports > 1, 'reports')
    assert subscriptions.heard.late == ()
    robot.deaf = 10**9
    peer.wait_for(lambda: subscriptions.heard.late, 'what is told')
    assert re.fullmatch(r'no answer for \d+ s', words.late(subscriptions.heard))
    assert phases[-1].data.startswith(('building', 'checking'))
    robot.deaf = 0
    robot.send(-1, robot.state)    # it is moved, and goes on
    peer.wait_for(lambda: subscriptions.heard.late == (), 'that it answers again')
    peer.destroy(observer)
    assert process.stop() == 0
