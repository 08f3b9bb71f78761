# SPDX-License-Identifier: Apache-2.0

"""The topic ``improve``: floods do no harm, and who asks gets the answer to what was asked."""

from __future__ import annotations

from array import array
from collections.abc import Callable
import time
from types import SimpleNamespace

from mnm_ros import messages
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import settings
from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.said import NoPolicyYet, PoliciesRefused, Said
from mnm_ros.nodes.common.allowance import Allowance, AT_ONCE, EACH_SECOND
from mnm_ros.nodes.exploring.improve_topic import ImproveTopic
from mnm_ros.request import Request
from mnm_ros.view.sentences import sentence
from node_processes import NodeProcess, Peer, ScriptedRobot
from std_msgs.msg import Int64MultiArray, String
from tiers import thorough


def test_a_long_message_has_a_short_answer_and_most_of_a_flood_has_none() -> None:
    """Without a node, in one moment."""
    answers: list[tuple[Said, bool]] = []
    heard: list[Callable[[Int64MultiArray], None]] = []
    allowance, exploration = Allowance(lambda: 0.0), Exploration(
        settings(Problem(2, 4.0, 1.0, 0.1)))
    ImproveTopic(
        SimpleNamespace(create_subscription=lambda kind, topic, take, qos: heard.append(take)),
        SimpleNamespace(
            for_topic=lambda take, most: take, call=lambda method, states: method(states),
            limited=lambda topic, take: allowance.limited(topic, take, lambda said: None)),
        SimpleNamespace(exploration=exploration), {'improve_within': 0.1},
        lambda said, refused: answers.append((said, refused)))
    take, = heard
    take(Int64MultiArray(data=array('q', range(100, 100_100))))
    (said, refused), = answers
    assert refused and said == PoliciesRefused(100, 99_999, NoPolicyYet())
    assert sentence(said) == 'refused, state 100: no policy for it yet; 99,999 more are refused'
    assert sentence(said, language='de') == (
        'abgelehnt, Zustand 100: es gibt noch keine Policy dorthin; 99.999 weitere abgelehnt')
    for number in range(200):
        take(Int64MultiArray(data=array('q', [number + 100])))
    assert 1 < len(answers) <= AT_ONCE + EACH_SECOND + 1


@thorough('nodes/test_improve_topic.py::'
          'test_a_long_message_has_a_short_answer_and_most_of_a_flood_has_none '
          'nodes/test_floods.py::'
          'test_floods_of_services_become_two_events_and_leave_pauses_alone')
def test_a_flood_of_states_neither_stops_exploring_nor_fills_the_events(
        explorer: Callable[..., object], peer: Peer, robot: ScriptedRobot) -> None:
    explorer()
    events = peer.listen(String, 'events', messages.EVENTS)
    improve = peer.node.create_publisher(Int64MultiArray, 'improve', messages.STEP)
    peer.wait_for(lambda: improve.get_subscription_count() and len(robot.executed) > 10, 'steps')
    begun = time.monotonic()

    def told(text: str) -> list[str]:
        return [event.text for message in events if text in (
            event := Event.from_json(message.data)).text and event.what == 'improve']

    def refused() -> list[str]:
        return [message.data for message in events if 'calls a second come by improve' in (
            message.data)]

    improve.publish(Int64MultiArray(data=[*range(100, 100_100)]))
    peer.wait_for(lambda: told('99,999 more are refused'), 'a short answer')
    while not refused():
        for number in range(200):
            improve.publish(Int64MultiArray(data=[number + 100]))
        peer.spin(0.05)
        assert time.monotonic() < begun + 60
    executed = len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) > executed + 10, 'that it explores')
    assert len(refused()) == 1
    assert max(map(len, told(''))) < 500
    assert len(told('')) <= AT_ONCE + EACH_SECOND * (time.monotonic() - begun) + 2


def test_the_command_waits_for_the_answer_to_what_it_has_asked_for(
        begin_command: Callable[..., NodeProcess], peer: Peer) -> None:
    """Also if answers to others are heard in between, such as those of before that come late."""
    requests = peer.listen(String, 'requests', messages.REQUESTS)
    asked = peer.listen(Int64MultiArray, 'improve', messages.STEP)
    events = peer.node.create_publisher(String, 'events', messages.EVENTS)
    given_up = begin_command('improve')
    peer.wait_for(lambda: asked, 'what it asks for')
    mine = peer.wait_for(lambda: Request.from_json(requests[-1].data).id, 'who asks')
    for request, refused in ((None, False), ('another', False), (mine, True)):
        events.publish(String(data=Event(
            9, f'answer to {request}', 'command', what='improve', request=request,
            refused=refused).to_json()))
    peer.wait_for(lambda: not given_up.running, 'the answer')
    assert (given_up.wait(), given_up.output) == (1, '')
    assert given_up.errors == f'answer to {mine}\n'
