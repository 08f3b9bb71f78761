# SPDX-License-Identifier: Apache-2.0

"""
The common parts of the nodes that command a robot, or keep it at rest.

How long to wait, RESET by a service, a goal that ends soon, and a pause of exploration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import math
import time

from mnm_ros import messages
from mnm_ros.core.progress.said import Reason
from mnm_ros.core.queries import Phase
from mnm_ros.core.task.navigation import GoalReport
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.common.request_topic import RequestTopic
from mnm_ros.parameters import Parameters
from mnm_ros.protocol.exchange import Command
from mnm_ros.protocol.loop import StepLimits
from mnm_ros.view.sentences import sentence
from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

STOPPED = 'the robot is stopped; mnm_ros go, or the service stop with false, frees it'
"""How a way is refused as long as the service ``stop`` keeps the robot at rest."""

# A std_srvs/Trigger and a SetParametersResult have a text and no code: where an answer has to say
# more than success, these constant texts are the contract.

CALL_AGAIN = ', call again'
"""Ends the answer of a service whose work is not finished yet."""

FORGETTING = f'taking back{CALL_AGAIN}'
"""The answer of ``forget`` until the disk has been replayed."""

GOING_HOME = f'on the way home{CALL_AGAIN}'
"""The answer of ``return_home`` once the way home has begun."""

FREE = 'the robot may move again'
"""The answer of ``stop`` with false."""

NOT_AT_REST = 'not at rest yet'
"""The answer of ``stop`` until the robot is at rest."""

_PAUSE = 0.05    # s, between two calls for one RESET: each may lead the robot home once more
_ASK_EVERY = 1.0    # s, after which the explorer is asked again to pause
_REPORT_PERIOD = 1.0    # s, between two reports that a robot stands

_QUIET = (Phase.PAUSED, Phase.FAULT, Phase.DONE)    # the explorer leaves the robot alone


def step_limits(given: Parameters, deadline: float = math.inf) -> StepLimits:
    """Return how long to wait for the robot, and when to stop."""
    return StepLimits(
        given['step_timeout'], given['step_retries'], given['reset_retries'],
        given['max_steps'], deadline)


def ends_after_step(goal: GoalReport, reason: Reason) -> GoalReport:
    """Return the report of a goal that ends after the step under way."""
    return replace(goal, text=f'ends after this step: {sentence(reason)}', ending=reason)


class HomeService:
    """
    Client of a service that leads the robot home.

    :param on_response: called with the number of the attempt, its success and the message.
    :param service: name of the service, a ``std_srvs/Trigger``.
    :param requests: where it is said that the robot is sent home for a goal, which is an event
        itself.
    """

    def __init__(
            self, node: NodeInterface, on_response: Callable[[int, bool, str], None],
            service: str = 'return_home', requests: RequestTopic | None = None) -> None:
        self._node = node
        self._on_response = on_response
        self._service = service
        self._requests = requests
        self._client = node.create_client(Trigger, service)
        self._pending: list[Future[Trigger.Response]] = []
        self._attempt = -1
        self._called = -math.inf

    @property
    def name(self) -> str:
        """Name of the service."""
        return self._node.resolve_service_name(self._service)

    @property
    def ready(self) -> bool:
        """Whether the service is offered."""
        return self._client.service_is_ready()

    def called_since(self, moment: float) -> bool:
        """Whether it was called after a moment in s, by the steady clock."""
        return self._called > moment

    def call(self, attempt: int) -> bool:
        """
        Call the service if it is offered; return whether it was called.

        The responses to earlier calls are still reported, with the number of their attempt.
        """
        now = time.monotonic()
        if not self.ready or (attempt == self._attempt and now < self._called + _PAUSE):
            return False
        if self._requests is not None and attempt != self._attempt:
            self._requests.say('home', part_of='goal')
        self._attempt, self._called = attempt, now
        if len(self._pending) > 10:
            self._client.remove_pending_request(self._pending.pop(0))
        future = self._client.call_async(Trigger.Request())
        self._pending.append(future)
        future.add_done_callback(lambda done: self._respond(attempt, done))
        return True

    def _respond(self, attempt: int, future: Future[Trigger.Response]) -> None:
        if future in self._pending and not future.cancelled():
            self._pending.remove(future)
            response = future.result()
            self._on_response(attempt, response.success, response.message)


class ExplorationPause:
    """
    Pauses exploration by the service ``explore``, and watches ``phase`` to see it paused.

    The explorer leaves a robot that rests alone only until it is to go on, so a pause is asked for
    then, too.

    :param requests: where it is said that it asks for that, for a stop that is an event itself.
    """

    def __init__(self, node: NodeInterface, requests: RequestTopic) -> None:
        self._node = node
        self._heard = False
        self._phase: Phase | None = None    # None also for one that is not known here
        self._rest: Reason = ''    # why the robot rests, without a pause that was asked for
        self._ask_at = -math.inf
        self._client = node.create_client(SetBool, 'explore')
        self._requests = requests
        self._phases = node.create_subscription(
            String, 'phase', self._on_phase, messages.LATCHED)
        messages.hear(node, String, 'rest/reason', messages.LATCHED, messages.decode_reason,
                      self._on_rest)

    @property
    def quiet(self) -> bool:
        """Whether an explorer has said that it leaves the robot alone."""
        return self._phase in _QUIET and not self._rest

    @property
    def disturbed(self) -> bool:
        """Whether an explorer explores all the same."""
        return self._offered and self._heard and self._phase not in _QUIET

    def reached(self, now: float) -> bool:
        """Return whether no explorer explores, after asking for a pause if that is necessary."""
        if not self._offered or self.quiet:
            return True
        if self._heard and now >= self._ask_at and self._client.service_is_ready():
            self._ask_at = now + _ASK_EVERY
            self._requests.say('pause', part_of='goal')
            self._client.call_async(SetBool.Request(data=False))
        return False

    @property
    def _offered(self) -> bool:
        """Whether there is an explorer that may command the robot."""
        return self._client.service_is_ready() or bool(
            self._node.count_publishers(self._phases.topic_name))

    def _on_phase(self, message: String) -> None:
        self._heard = True
        try:
            self._phase = Phase(message.data)
        except ValueError:    # of another version: the explorer may be driving the robot
            self._phase = None

    def _on_rest(self, reason: Reason) -> None:
        self._rest = reason


class Stand:
    """Keeps the robot where it is until an explorer is asked to go on."""

    def __init__(self, pause: ExplorationPause) -> None:
        self.command: Command | None = None    # the last one since the explorer paused
        self.paused = False
        self._pause = pause
        self._report_at = 0.0

    def report_due(self, now: float) -> bool:
        """Return whether to say where the robot is, which ends the step that is under way."""
        if self.paused or now < self._report_at:
            return False
        self._report_at = now + _REPORT_PERIOD
        reached, self.command = self._pause.reached(now), None
        self.paused = reached and self._pause.quiet
        return not reached

    @property
    def over(self) -> bool:
        """Whether an explorer explores again."""
        return self.paused and self._pause.disturbed
