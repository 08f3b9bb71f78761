# SPDX-License-Identifier: Apache-2.0

"""The commands of the node ``dashboard``: services and goals, and their results."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from threading import RLock
import time
from typing import Any

from mnm_ros.core.progress.said import NoGoalUnderWay
from mnm_ros.language import Phrase, phrase, Text
from mnm_ros.navigator_client import NavigatorClient
from mnm_ros.nodes.common.commanding import CALL_AGAIN, NOT_AT_REST
from mnm_ros.nodes.common.request_topic import RequestTopic
from mnm_ros.page.repeated_calls import CommandOutcome, never, RepeatedCalls
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.event_words import goal_words
from mnm_ros.view.sentences import Sentence
from mnm_ros.view.telemetry import Telemetry
from mnm_ros.view.web.panels import BAR, CONTROLS, OF_ROBOTS
from mnm_ros.view.words import in_time, joined
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

_QUIET = ('paused', 'fault', 'done')    # phases in which the explorer leaves the robot alone
_ASK_EVERY = 1.0    # s, after which the explorer is asked again to pause
_WHOLE = ('stop', 'resume', 'home')     # controls of which the last one pressed counts

_WORDS: dict[str, tuple[Text, ...]] = {
    **{name: (Phrase.of(f'outcomes.{name}_done'), Phrase.of(f'outcomes.{name}_goes_on'))
       for name in ('stop', 'home')},
    'cancel': (Phrase.of('outcomes.cancel_done'), Phrase.of('outcomes.cancel_goes_on'),
               Sentence(NoGoalUnderWay())),    # the only reason to refuse it
    **{name: (Phrase.of(f'outcomes.{name}_done'),) * 2
       for name in ('pause', 'resume', 'recover', 'look', 'save', 'load', 'change')}}
"""How the page calls what has come of a control; its node may speak another language."""

_Errand = Iterator[CommandOutcome]


class Commands:
    """
    Does what the controls stand for; any thread may ask for it.

    :param heard: returns what has been heard.
    :ivar outcomes: what came of each control that was pressed.
    :ivar latest: the control of the bar that was pressed last, and when.
    """

    def __init__(self, node: Node, heard: Callable[[], Telemetry]) -> None:
        self.outcomes: dict[str, CommandOutcome] = {}
        self.latest = '', ''
        self._node, self._heard = node, heard
        self._lock = RLock()    # a robot is not to be freed by what a Stop has just ended
        self._errands: dict[str, _Errand] = {}
        self._clients: dict[str, Any] = {}
        for control in CONTROLS.values():
            self._client(control.service)
        self._navigator = NavigatorClient(node)
        self._requests = RequestTopic(node)
        self._advancing = False
        self._by = ''    # who has pressed the control last

    def offered(self) -> frozenset[str]:
        """Return the services that are there; those of robots if any robot has them."""
        return frozenset(
            service for service in {control.service for control in CONTROLS.values()}
            if any(client.service_is_ready() for client in self._at(service).values()))

    def outcome_of_goal(self, description: RobotDescription,
                        language: str) -> CommandOutcome | None:
        """Return what has become of the goal sent last."""
        goal = self._navigator.goal
        if goal is None:
            return None
        report = goal.report
        left = report.expected_steps_left
        return CommandOutcome(joined(
            goal_words(report, description, language),
            '' if left is None else phrase('goal.left', language, steps=left),
            in_time(report.expected_seconds_left, language) if left is not None else ''),
            goal.reached if goal.over else None)

    def press(self, name: str, by: str = '') -> None:
        """Do what a control stands for, at once; ``by`` is who has pressed it, for the record."""
        with self._lock:
            self._by = by
            self._requests.say(name, by)
            if name in _WHOLE:
                for each in _WHOLE:
                    self._errands.pop(each, iter(()))
                    self.outcomes.pop(each, None)
            if name in BAR:
                self.latest = name, time.strftime('%H:%M:%S')
            self._errands[name] = {
                'stop': self._stop, 'resume': self._go_on, 'home': self._go_home,
                }.get(name, lambda: self._ask(name))()
            self._advance()

    def go(self, state: int, by: str = '') -> None:
        """Send the robot to a state; ``by`` is who has asked for that, for the record."""
        self.latest = '', ''    # what came of another control is not of this goal
        self.outcomes.pop('cancel', None)
        goal = self._navigator.go(state)
        self._requests.say('goal', by, goal=goal.id, state=state)

    def look(self) -> None:
        """Carry on with what takes time; to be called several times a second."""
        with self._lock:
            self._advance()

    def _advance(self) -> None:
        if self._advancing:    # an answer came while it was asked for
            return
        self._advancing = True
        try:
            for name, errand in list(self._errands.items()):
                outcome = next(errand, None)
                if outcome is None:
                    del self._errands[name]
                else:
                    self.outcomes[name] = outcome
        finally:
            self._advancing = False

    def _client(self, name: str) -> Any:
        if name not in self._clients:
            service = name.rpartition('/')[2]
            simple = next(control.data is None for control in CONTROLS.values()
                          if control.service == service)
            self._clients[name] = self._node.create_client(Trigger if simple else SetBool, name)
        return self._clients[name]

    def _at(self, service: str) -> dict[str, Any]:
        """Return the clients of a service: of each robot, or the only one."""
        robots = [robot.name for robot in self._heard().robots] if service in OF_ROBOTS else []
        return {robot: self._client(f'{robot}/{service}'.lstrip('/')) for robot in robots or ['']}

    def _ask(self, name: str, unfinished: Callable[[Any], bool] = never) -> _Errand:
        """Call the service of a control until each of those who offer it has answered."""
        control = CONTROLS[name]
        request = Trigger.Request() if control.data is None else SetBool.Request(data=control.data)
        calls = RepeatedCalls(
            self._at(control.service), request, unfinished, repeat=control.data is not None,
            answered=self.look, words=_WORDS.get(name, ()))
        while (outcome := calls.look(time.monotonic())).good is None:
            yield outcome
        yield outcome

    def _stop(self) -> _Errand:
        return self._ask('stop', lambda response: response.message == NOT_AT_REST)

    def _free(self) -> Generator[CommandOutcome, None, bool]:
        """Free the robots that are there, which know best if they were stopped; return success."""
        clients = {robot: client for robot, client in self._at('stop').items()
                   if client.service_is_ready()}
        self._requests.say('free', self._by)
        calls = RepeatedCalls(clients, SetBool.Request(data=False))
        while clients and (outcome := calls.look(time.monotonic())).good is not True:
            yield outcome
            if outcome.good is False:
                return False
        return True

    def _go_on(self) -> _Errand:
        if not (yield from self._free()):
            return
        if self._explorer_there and self._heard().phase not in ('fault', 'done'):
            yield from self._ask('resume')
        else:
            yield CommandOutcome(Phrase.of('outcomes.free'), True)

    def _go_home(self) -> _Errand:
        """End a goal, pause the exploration, free the robot, and lead it home."""
        if self._client('cancel').service_is_ready():
            self._requests.say('cancel', self._by, part_of='home')
            for outcome in self._ask('cancel', lambda response: response.success):
                yield CommandOutcome(Phrase.of('outcomes.ending_goal', said=outcome.text), None)
        self._requests.say('pause', self._by, part_of='home')
        for outcome in self._ask('pause') if self._explorer_there else ():
            yield CommandOutcome(Phrase.of('outcomes.first', said=outcome.text), None)
        if not (yield from self._free()):
            return
        asked = time.monotonic()
        while self._exploring:
            if time.monotonic() > asked + _ASK_EVERY:    # a navigator may have let it go on
                asked = time.monotonic()
                self._requests.say('pause', self._by, part_of='home')
                self._client('explore').call_async(SetBool.Request(data=False))
            yield CommandOutcome(Phrase.of('outcomes.pauses_first'), None)
        yield from self._ask('home', lambda response: not response.success and (
            response.message.endswith(CALL_AGAIN)))

    @property
    def _explorer_there(self) -> bool:
        return bool(self._client('explore').service_is_ready()
                    and self._heard().silent(time.monotonic()) is None)

    @property
    def _exploring(self) -> bool:
        return self._explorer_there and self._heard().phase not in _QUIET
