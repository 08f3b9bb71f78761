# SPDX-License-Identifier: Apache-2.0

"""Who did what is told once, with where the robot was and from where it came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import json
from pathlib import Path
import time
from types import SimpleNamespace
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import messages
from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.said import BatteryLow, OutsideHours
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.nodes.common.allowance import Allowance, AT_ONCE, EACH_SECOND
from mnm_ros.nodes.exploring.output import operator_record
from mnm_ros.nodes.exploring.output.operator_record import OperatorRecord
from mnm_ros.request import Request
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.event_words import told
from mnm_ros.view.sentences import sentence
from node_processes import Done, Peer, REST, ScriptedRobot
import pytest
from std_msgs.msg import Bool, String
from std_srvs.srv import SetBool, Trigger
from tiers import thorough

HOUSE = RobotDescription(('go',), names={5: 'hall', 7: 'kitchen'})


class World:
    """A record, what is said to it, and a clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *past: Event,
                 robots: tuple[str, ...] = ()) -> None:
        self.now = 100.0
        self.resets = False    # whether the exploration leads home by the service itself
        self.events: list[Event] = []
        self.topics: dict[str, Callable[[Any], None]] = {}
        monkeypatch.setattr(
            operator_record, 'time', SimpleNamespace(
                monotonic=lambda: self.now, time=lambda: 1.8e9 + self.now))
        allowance = Allowance(lambda: self.now)
        self.record = OperatorRecord(
            SimpleNamespace(get_name=lambda: 'explorer', create_subscription=self._hear),
            SimpleNamespace(
                while_open=lambda callback: callback, allowance=allowance,
                limited=lambda topic, take: allowance.limited(topic, take, lambda said: None)),
            robots, self.events.append, SimpleNamespace(exploration=SimpleNamespace(steps=42)),
            SimpleNamespace(last_seen=lambda robot: 5,
                            resets_by_service=lambda robot: self.resets), past)

    def _hear(self, kind: type, topic: str, callback: Callable, qos: object) -> None:
        self.topics[topic] = callback

    def say(self, what: str, by: str, topic: str = 'requests', **more: Any) -> None:
        self.topics[topic](String(data=Request(what, by, **more).to_json()))

    def stopped(self, stopped: bool, robot: str = '') -> None:
        self.topics[f'{robot}/stopped'.lstrip('/')](Bool(data=stopped))

    def after(self, seconds: float) -> list[str]:
        """Return what is told by so many s later, and has not been before."""
        self.now += seconds
        self.record.tick(self.now)
        found, self.events[:] = [told(event, HOUSE) for event in self.events], []
        return found


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


@pytest.mark.parametrize('first', [True, False])
def test_a_call_is_that_of_who_says_so_before_or_after(world: World, first: bool) -> None:
    if first:
        world.say('pause', 'page 192.0.2.7')
    world.record.called('explore', 'pause')
    if not first:
        assert world.after(0.2) == []
        world.say('pause', 'page 192.0.2.7')
    assert world.after(0.0) == ['pause requested at hall, by page 192.0.2.7']
    world.record.called('explore', 'pause')    # once more, as no answer was heard
    assert world.after(5.0) == []


def test_a_hazard_of_the_base_is_told_of(world: World) -> None:
    world.say('hazard', 'grid_driver', text='BACKUP_LIMIT (HazardDetection type 0)')
    assert [event.kind for event in world.events] == ['robot']
    assert world.after(0.0) == [
        'hazard, by grid_driver: BACKUP_LIMIT (HazardDetection type 0)']


def test_a_call_that_nobody_speaks_of_comes_by_the_service(world: World) -> None:
    world.record.called('recover', 'recover', 'refused, there is no fault')
    assert world.record.waiting and world.after(0.9) == []
    assert world.after(0.2) == [
        'recovery requested at hall, by service recover: refused, there is no fault']
    assert not world.record.waiting
    world.record.called('save', 'save')
    world.say('save', 'mnm_ros save', user='anna')
    assert world.after(0.0) == ['save requested at hall, by mnm_ros save (anna)']


@pytest.mark.parametrize('what', ['stop', 'pause', 'cancel'])
def test_who_says_late_what_was_called_is_told_of(world: World, what: str) -> None:
    def call() -> None:
        if what == 'pause':
            world.record.called('explore', what)
        elif what == 'stop':
            world.stopped(True)
        else:
            world.say(what, f'service {what}', text='refused, no goal')

    call()
    first, = world.after(1.5)
    assert ', by service ' in first
    world.say(what, f'mnm_ros {what}', user='anna', ago=1.6)
    corrected, = world.events
    assert (corrected.corrects, corrected.time) == (
        first.partition(', by ')[2].partition(':')[0], 1.8e9 + 100.0)    # when it was called
    late, = world.after(0.0)
    service = first.partition(', by ')[2].partition(':')[0]
    assert late == (first.replace(service, f'mnm_ros {what} (anna)', 1)
                    + f'{";" if what == "cancel" else ":"} first reported as by {service}')
    world.say(what, 'panel')    # something else
    assert world.after(9.0) == ([f'{first.partition(", by")[0]}, by panel'] * (what != 'pause'))


def test_a_refusal_is_told_with_who_was_refused(world: World) -> None:
    world.say('cancel', 'service cancel', text='refused, no goal is under way')
    world.say('cancel', 'mnm_ros cancel', user='anna', ago=0.1)
    assert world.after(9.0) == ['end of the goal requested at hall, by mnm_ros cancel (anna): '
                                'refused, no goal is under way']


def test_the_answer_on_a_topic_names_its_request(world: World) -> None:
    world.say('improve', 'mnm_ros improve', id='one')
    world.record.heard('improve', 'improve', 'refused, it is not known', True)
    world.record.tick(world.now)
    answer, = world.events
    assert (answer.request, answer.refused) == ('one', True)


def test_stops_are_told_by_what_the_robot_says_and_each_press(world: World) -> None:
    world.stopped(False)
    assert world.after(9.0) == []
    world.say('stop', 'page 192.0.2.7')
    assert world.after(0.0) == []
    for _ in range(3):
        world.stopped(True)
    world.say('stop', 'page 192.0.2.8')
    world.stopped(True)
    assert world.after(0.0) == [f'stopped at hall, by page 192.0.2.{n}' for n in (7, 8)]
    world.stopped(False)
    assert world.after(2.0) == ['free to move again at hall, by service stop']
    world.say('free', 'page 192.0.2.7')    # one that is free
    assert world.after(2.0) == []


def test_a_stop_is_remembered_over_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    past = Event(1, 'r2: stopped', 'stop', what='stop', robot='r2', by='robot')
    world = World(monkeypatch, past, robots=('r1', 'r2'))
    world.stopped(True, 'r2')
    assert world.after(2.0) == []
    world.say('stop', 'robot', 'r1/requests', text='bumped into something')
    world.stopped(True, 'r1')
    world.stopped(False, 'r2')
    assert world.after(2.0) == ['r1: stopped at hall, by robot: bumped into something',
                                'r2: free to move again at hall, by service stop']


def test_what_is_done_for_something_else_is_not_told_of_itself(world: World) -> None:
    world.say('home', 'page 192.0.2.7')
    world.say('pause', 'page 192.0.2.7', part_of='home')
    world.record.called('explore', 'pause')
    assert world.after(3.0) == ['sent home at hall, by page 192.0.2.7']


def test_a_goal_and_its_result_are_told_once(world: World) -> None:
    waiting = GoalReport(3, 7, GoalStatus.WAITING, 'waiting', by='topic goal')
    reached = replace(waiting, steps=1).over(GoalStatus.REACHED, 'in 1 steps', 9)
    old = GoalReport(1, 7, GoalStatus.REACHED, 'reached 7 in 4 steps')
    world.record.goals([old])
    world.record.goals([old, waiting])
    world.record.goals([old, reached])
    world.say('goal', 'mnm_ros goal', state=7)
    world.record.goals([old, reached])
    events = [*world.events]
    assert world.after(0.0) == ['goal kitchen, by mnm_ros goal', 'reached kitchen in 1 step']
    assert {(event.by, event.goal, event.target, event.state) for event in events} == {
        ('mnm_ros goal', 3, 7, 5)}
    world.record.goals([reached, GoalReport(4, 7, GoalStatus.WAITING, 'waiting', by='nav2')])
    assert world.after(0.0) == ['goal kitchen, by nav2']


def test_battery_and_hours_send_home(world: World) -> None:
    for reason in ('', BatteryLow(14, 20.0, 80.0), BatteryLow(15, 20.0, 80.0), '',
                   OutsideHours('22:00-06:00', '22:00')):
        world.record.rests({'': reason})
    assert [(event.kind, event.by) for event in world.events] == [
        ('command', 'battery'), ('command', 'hour')]
    assert world.after(0.0)[0] == (
        'sent home to rest at hall, by battery: battery 14%, below 20%; goes on at 80%')


def test_each_robot_of_a_fleet_rests_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, robots=('r1', 'r2'))
    low, late = BatteryLow(14, 20.0, 80.0), OutsideHours('22:00-06:00', '22:00')
    for one, other in (('', low), (late, low), ('', '')):
        world.record.rests({'r1': one, 'r2': other})
    assert world.after(0.0) == [
        f'r2: sent home to rest at hall, by battery: {sentence(low)}',
        f'r1: sent home to rest at hall, by hour: {sentence(late)}']


def test_a_door_that_mnm_ros_explore_moves_is_one_event_with_its_name(world: World) -> None:
    world.say('change', 'mnm_ros explore')
    world.say('change', 'service change')    # as the simulator says at once
    assert world.after(9.0) == ['change of the simulated world, by mnm_ros explore']


@pytest.mark.parametrize(('what', 'said'), [
    ('home', 'sent home at hall'), ('cancel', 'end of the goal requested at hall'),
    ('change', 'change of the simulated world')])
def test_a_bare_call_of_another_node_is_told_as_what_it_is(
        world: World, what: str, said: str) -> None:
    world.say(what, f'service {what}', text='refused, no')
    assert world.after(0.5) == []
    assert world.after(1.0) == [f'{said}, by service {what}: refused, no']
    world.say(what, 'page 192.0.2.7')    # which is told at once, and then what was called
    assert world.after(0.4) == [f'{said}, by page 192.0.2.7']
    world.say(what, f'service {what}')
    assert world.after(2.0) == []
    world.say(what, f'service {what}')
    world.say(what, 'mnm_ros x', user='anna')
    world.record.tick(world.now)
    assert world.after(30.0) == [f'{said}, by mnm_ros x (anna)']
    world.say(what, f'service {what}')
    assert world.after(2.0) == [f'{said}, by service {what}']


def test_who_is_sent_home_comes_home_once(world: World) -> None:
    world.say('home', 'page 192.0.2.7')
    assert world.after(20.0) == ['sent home at hall, by page 192.0.2.7']    # after a long step
    world.say('home', 'service return_home')
    assert world.after(3.0) == []
    world.say('at_home', 'service return_home')
    assert world.after(0.0) == ['arrived at home, by page 192.0.2.7']
    for what in ('home', 'not_home'):    # the next one is somebody else's
        world.say(what, 'service return_home', text='' if what == 'home' else 'a closed door')
    assert world.after(2.0) == ['sent home at hall, by service return_home',
                                'did not get home, by service return_home: a closed door']
    assert world.after(9.0) == []


def test_an_exploration_that_resets_by_the_service_is_not_told_of(world: World) -> None:
    world.resets = True
    for what in ('home', 'at_home') * 3:
        world.say(what, 'service return_home')
    world.resets = False
    world.say('home', 'navigator', part_of='goal')
    for what in ('home', 'at_home'):
        world.say(what, 'service return_home')
    assert world.after(5.0) == []


def test_each_robot_of_a_fleet_comes_home(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, robots=('r1', 'r2'))
    world.say('home', 'page 192.0.2.7')
    for robot in ('r1', 'r2'):
        for what in ('home', 'at_home'):
            world.say(what, 'service return_home', f'{robot}/requests')
    assert world.after(5.0) == ['sent home at hall, by page 192.0.2.7', *(
        f'{robot}: arrived at home, by page 192.0.2.7' for robot in ('r1', 'r2'))]
    world.say('home', 'service return_home', 'r2/requests')
    assert world.after(5.0) == ['r2: sent home at hall, by service return_home']


def test_bare_calls_late_words_and_refusals_are_told(
        start: Callable, peer: Peer, scenario: str, begin_command: Callable) -> None:
    heard = peer.listen(String, 'events', messages.EVENTS)
    start('cmp_sim', scenario=scenario, latency=REST)
    start('navigator')
    start('explorer')

    def has(what: str, by: str) -> dict[str, Any]:
        return peer.wait_for(lambda: [event for message in heard if (
            event := json.loads(message.data)).get('what') == what
            and event['by'] == by], f'{what} by {by}')[-1]

    requests = peer.node.create_publisher(String, 'requests', messages.STEP)
    peer.wait_for(lambda: heard and requests.get_subscription_count(), 'an explorer')
    cancel = begin_command('cancel')
    for what, refused in (('change', 'the scenario has no other setting'),
                          ('look', 'no way is closed')):
        assert not peer.call(Trigger, what).success
        assert has(what, f'service {what}')['text'].endswith(f'refused, {refused}')
    assert cancel.wait() == 1
    assert 'refused, no goal is under way' in has('cancel', 'mnm_ros cancel')['text']
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    has('pause', 'service explore')
    assert peer.wait_for(lambda: (
        answer := peer.call(Trigger, 'return_home')).success and answer, 'the way home')
    assert has('home', 'service return_home')['kind'] == 'command'
    assert has('at_home', 'service return_home')['kind'] == 'robot'
    assert not peer.call(Trigger, 'cancel').success
    assert has('cancel', 'service cancel')['text'].endswith('refused, no goal is under way')
    peer.call(SetBool, 'stop', SetBool.Request(data=True))
    assert 'first reported' not in has('stop', 'service stop')['text']
    requests.publish(String(data=Request('stop', 'mnm_ros stop', ago=2.0).to_json()))
    assert 'first reported as by service stop' in has('stop', 'mnm_ros stop')['text']


def test_it_is_told_logged_and_kept(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, tmp_path: Path,
        command: Callable[..., Done]) -> None:
    """Calls, a parameter and a goal, of which an explorer that is started again knows, too."""
    process = explorer(checkpoint_dir=str(tmp_path))
    heard = peer.listen(String, 'events', messages.EVENTS)

    def has(kind: str, what: str, by: str) -> dict[str, Any]:
        def found() -> list[dict[str, Any]]:
            return [event for message in heard
                    if (event := json.loads(message.data))['kind'] == kind
                    and event.get('what') == what and event.get('by') == by]
        return peer.wait_for(found, f'{what} by {by}')[-1]

    peer.wait_for(lambda: len(robot.executed) > 10, 'steps')
    robot.pause = REST
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    assert has('command', 'pause', 'service explore')['state'] in (0, 1, 2)
    peer.call(Trigger, 'save', Trigger.Request())
    has('command', 'save', 'service save')
    assert command('resume').returncode == 0
    assert has('command', 'resume', 'mnm_ros resume')['user']
    peer.set_parameter('explorer', 'step_timeout', 7.0)
    assert 'step_timeout is now 7.0' in has('setting', 'setting', 'service set_parameters')['text']
    assert process.stop() == 0
    assert 'pause requested at state' in process.output
    heard.clear()
    explorer(checkpoint_dir=str(tmp_path))
    has('command', 'pause', 'service explore')
    has('setting', 'setting', 'service set_parameters')


def test_a_flood_is_left_out_but_for_stops(world: World) -> None:
    for number in range(3000):
        world.now += 0.001
        world.say('setting', f'flood {number}')
        if number % 1000 == 500:
            for _ in range(100):
                world.say('stop', f'page {number}')
            world.stopped(True)
            world.stopped(False)
    told = world.after(0.0)
    assert [line for line in told if 'calls a second' in line] == [
        'too many calls a second come by requests: some are refused, except stops; the '
        'diagnostics count the refused calls']
    assert AT_ONCE <= sum(', by flood' in line for line in told) <= AT_ONCE + 3 * EACH_SECOND + 1
    assert [line for line in told if line.startswith('stopped')] == [
        f'stopped at hall, by page {number}' for number in (500, 1500, 2500)]
    assert world.record.dropped >= 3000 - AT_ONCE - 3 * EACH_SECOND - 3
    world.after(100.0)
    world.say('setting', 'page')
    assert world.after(0.0) == [', by page']


@thorough('nodes/test_operator_record.py::test_a_flood_is_left_out_but_for_stops '
          'nodes/test_floods.py::'
          'test_floods_of_services_become_two_events_and_leave_pauses_alone')
def test_a_flood_neither_hides_a_stop_nor_fills_the_events(
        explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    explorer()
    events = peer.listen(String, 'events', messages.EVENTS)
    diagnostics = peer.listen(DiagnosticArray, '/diagnostics', 10)
    requests = peer.node.create_publisher(String, 'requests', messages.REQUESTS)
    stopped = peer.node.create_publisher(Bool, 'stopped', messages.LATCHED)
    stopped.publish(Bool(data=False))
    peer.wait_for(lambda: requests.get_subscription_count() and len(robot.executed) > 10, 'steps')
    begun = time.monotonic()
    for number in range(2000):
        requests.publish(String(data=Request('setting', f'flood {number}').to_json()))
    requests.publish(String(data=Request('stop', 'panel').to_json()))
    stopped.publish(Bool(data=True))

    def told(text: str) -> list[Any]:
        return [event for message in events if text in (
            event := Event.from_json(message.data)).text]

    peer.wait_for(lambda: told('by panel'), 'the stop')
    peer.wait_for(lambda: told('calls a second'), 'that some are left out')
    peer.wait_for(lambda: diagnostics and int(next(
        pair.value for pair in diagnostics[-1].status[0].values
        if pair.key == 'requests_dropped')) > 0, 'how many')
    executed = len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) > executed + 10, 'that it explores')
    assert len(told('calls a second')) == 1
    most = AT_ONCE + EACH_SECOND * (time.monotonic() - begun) + 1
    assert 0 < len(told('by flood')) <= most
