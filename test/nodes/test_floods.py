# SPDX-License-Identifier: Apache-2.0

"""However much others ask for, exploring goes on, and stops and pauses are obeyed."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable
import json
from pathlib import Path
import time
from types import SimpleNamespace

from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from mnm_ros import messages
from mnm_ros.core.progress.events import Event
from mnm_ros.nodes.common.allowance import Allowance, AT_ONCE, TOO_MANY, TOO_MANY_GOALS
from mnm_ros.nodes.explorer import _refuse_bad_transitions
from mnm_ros.view.sentences import sentence
from navigating import Operator
from node_processes import PAUSE, Peer, ScriptedRobot
from std_msgs.msg import Int64, Int64MultiArray, String
from std_srvs.srv import SetBool, Trigger


def events_of(heard: list[String]) -> list[Event]:
    return [Event.from_json(message.data) for message in heard]


def test_floods_of_services_become_two_events_and_leave_pauses_alone(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, tmp_path: Path) -> None:
    robot.pause = PAUSE
    process = explorer(checkpoint_dir=str(tmp_path))
    heard = peer.listen(String, 'events', messages.EVENTS)
    phases = peer.listen(String, 'phase')
    peer.wait_for(lambda: len(robot.executed) > 10, 'steps')
    answers: Counter[str] = Counter()
    clients = [(peer.node.create_client(kind, name), request) for kind, name, request in (
        (SetBool, 'explore', SetBool.Request(data=True)), (Trigger, 'save', Trigger.Request()))]
    for client, _ in clients:
        peer.wait_for(client.service_is_ready, 'a service')
    with peer.client(SetBool, 'explore') as pause:
        executed = len(robot.executed)
        for _ in range(30):
            futures = [client.call_async(request) for client, request in clients for _ in range(5)]
            peer.wait_for(lambda: all(each.done() for each in futures), 'answers')    # noqa: B023
            answers.update(each.result().message for each in futures)
        assert answers[sentence(TOO_MANY)] > 100
        peer.wait_for(lambda: len(robot.executed) > executed + 10, 'that it explores')
        # Calls are allowed again soon, which may be before the answer on a busy machine.
        peer.wait_for(lambda: not pause(SetBool.Request(data=True)).success, 'a refusal')
        assert pause(SetBool.Request(data=False)).success
    peer.wait_for(lambda: phases[-1].data == 'paused', 'a pause')


    def told(what: str) -> list[Event]:
        return [event for event in events_of(heard) if event.what == what]

    peer.wait_for(lambda: told('pause'), 'that it was told to pause')
    assert process.stop() == 0    # else the count is published 10 s later
    for what in ('resume', 'save'):
        peer.wait_for(lambda: len(told(what)) == 2, f'how often: {what}')    # noqa: B023
        first, others = told(what)
        assert first.count is None and others.count and others.count + 1 <= AT_ONCE + 10
        assert others.count and ' more times' in others.text and others.time > first.time
    kept = (tmp_path / 'explorer.events.jsonl').read_text().splitlines()
    assert sum(json.loads(line).get('what') in ('resume', 'save') for line in kept) == 4
    assert sum('calls a second come by' in message.data for message in heard) == 1


def test_a_flood_of_goals_is_refused_and_told_ten_times_a_second(
        navigator: Callable, peer: Peer, operator: Operator) -> None:
    process = navigator()
    statuses = peer.listen(DiagnosticArray, 'goal/status')
    results = peer.listen(String, 'goal_result')
    goals = peer.node.create_publisher(Int64, 'goal', messages.STEP)
    requests = peer.node.create_publisher(Int64MultiArray, 'goal/request', messages.STEP)
    cancels = peer.node.create_publisher(Int64, 'goal/cancel', messages.STEP)
    for publisher in (goals, requests, cancels):
        peer.wait_for(publisher.get_subscription_count, 'a navigator')
    begun = time.monotonic()
    for number in range(100):
        goals.publish(Int64(data=99))
        requests.publish(Int64MultiArray(data=array('q', (number, 99))))
        cancels.publish(Int64(data=number + 10_000))
        peer.spin(0.005)
    peer.wait_for(lambda: any(
        sentence(TOO_MANY_GOALS) in result.data for result in results), 'a refusal')
    seconds = time.monotonic() - begun
    assert len(statuses) < 2 * AT_ONCE + 20 * seconds
    assert process.output.count('\n') < 2 * AT_ONCE + 20


def test_a_robot_side_refuses_floods_of_change_and_of_free_but_no_stop(
        start: Callable, peer: Peer, scenario: str) -> None:
    start('cmp_sim', scenario=scenario)
    with peer.client(SetBool, 'stop') as stop, peer.client(Trigger, 'change') as change:
        free = [stop(SetBool.Request(data=False)).message for _ in range(3 * AT_ONCE)]
        changed = [change(Trigger.Request()).message for _ in range(3 * AT_ONCE)]
        assert changed[0] == 'the scenario has no other setting'
        for answers in (free, changed):
            assert sentence(TOO_MANY) in answers[AT_ONCE:]
        stopped = {stop(SetBool.Request(data=True)).message for _ in range(3 * AT_ONCE)}
        assert stopped == {'stopped'}


def test_a_flood_of_transitions_leaves_those_alone_that_leave_the_robot() -> None:
    asked: list[Transition] = []

    def change_state(request: ChangeState.Request, response: object) -> object:
        asked.append(request.transition)
        response.success = True
        return response

    service = SimpleNamespace(callback=change_state)
    node = SimpleNamespace(_service_change_state=service, _active=True)
    allowance = Allowance()
    _refuse_bad_transitions(node, allowance)

    def takes(**fields: object) -> bool:
        before = len(asked)
        response = service.callback(
            ChangeState.Request(transition=Transition(**fields)), ChangeState.Response())
        assert response.success == (len(asked) > before)
        return response.success

    activate, deactivate = Transition.TRANSITION_ACTIVATE, Transition.TRANSITION_DEACTIVATE
    assert sum(takes(id=activate) for _ in range(20 * AT_ONCE)) < 11 * AT_ONCE
    assert not takes(id=deactivate, label='activate')    # the label is what counts
    assert takes(id=deactivate) and takes(label='deactivate')
    assert takes(id=Transition.TRANSITION_ACTIVE_SHUTDOWN)
    node._active = False
    assert not takes(id=deactivate)    # the robot is left alone
