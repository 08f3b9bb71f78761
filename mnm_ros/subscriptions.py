# SPDX-License-Identifier: Apache-2.0

"""What an ordinary node hears of an explorer: the one set of subscriptions of all that show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
import math
import time
from typing import Any, TYPE_CHECKING, TypeVar

from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import messages
from mnm_ros.core.errors import MessageError
from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.progress.activity import Activity
from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.said import WaysClosed, WayStillClosed
from mnm_ros.interrupt import held_back, InterruptedLate
from mnm_ros.request import Request
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.telemetry import RobotsMet, StepRate, Telemetry
from rcl_interfaces.srv import GetParameters
import rclpy
from rclpy.client import Client
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.subscription import Subscription
from std_msgs.msg import Bool, Int64, Int64MultiArray, String
from std_srvs.srv import Trigger

if TYPE_CHECKING:
    from rclpy.type_support import Srv

_MsgT = TypeVar('_MsgT')
_RequestT = TypeVar('_RequestT')
_ResponseT = TypeVar('_ResponseT')
_EVENTS = 50       # that are kept
_POLL = 0.2        # s, between two checks for an answer
_REQUEST = 0.5     # s, between two requests for one policy


class PolicyRequests:
    """
    Asks for one policy of the hypothesis after the other, as any thread may.

    :ivar answer: the last that was wanted, as other nodes ask, too; None to forget it.
    """

    def __init__(self, node: Node) -> None:
        self.answer: messages.PolicyAnswer | None = None
        self._asked: tuple[int | None, float] = None, -math.inf    # the state and when
        messages.hear(node, Int64MultiArray, 'policy', messages.STEP, messages.decode_policy,
                      self._take)
        self._requests = node.create_publisher(Int64, 'policy/request', messages.STEP)

    def policy_to(self, target: int, told: Hypothesis | None,
                  version: tuple[int, int] | None, now: float,
                  known: bool = True) -> Policy | None:
        """
        Return the policy to a state; until it is there None, and it is asked for again if known.

        :param told: the policies that were published without a request; of many that is none.
        :param version: that an answer has to be of.
        """
        if told is not None and target in told.targets:
            return told.policy_for(target)
        if not known:
            return None
        answer, (asked, when) = self.answer, self._asked
        if answer is not None and (answer.target, answer.version) == (target, version):
            return answer.policy
        if asked != target or now >= when + _REQUEST:
            self._asked = target, now
            self._requests.publish(Int64(data=target))
        return None

    def _take(self, answer: messages.PolicyAnswer) -> None:
        if answer.target == self._asked[0] and answer.policy:
            self.answer = answer


class Subscriptions:
    """
    Keeps the latest of each topic in ``heard``, which any thread may read.

    :param node: whose subscriptions these are.
    :param robots: of several, those that are known before the explorer names them.
    :param settings: how many a simulator has; None if that is not known.
    :param hypothesis: whether all policies are decoded as they come.
    :ivar heard: nothing that comes with each step.
    :ivar policies: the last message of all, read when a policy is wanted, if not as it comes.
    """

    def __init__(self, node: Node, robots: Iterable[str] = (), settings: int | None = None,
                 hypothesis: bool = False) -> None:
        self.heard = Telemetry()
        self._node, self._settings, self._decoding = node, settings, hypothesis
        self._namespace = node.get_namespace()
        self.policies: Int64MultiArray | None = None
        self._decoded: tuple[Int64MultiArray | None, Hypothesis | None] = None, None
        self._exploration_steps: int | None = None
        self._steps_reported = 0    # of them, with the last report
        self._robots, self._rate = RobotsMet(), StepRate()
        self._explorer = self._of_the_explorer()
        self._hear(String, 'robot_side', self._described)
        self._hear(Int64, 'true_setting', lambda message: {'true_setting': self._setting(message)})
        messages.hear(
            node, Int64, 'exploration_steps', messages.LATCHED, self._on_exploration_steps)
        messages.hear(node, DiagnosticArray, '/diagnostics', messages.STEP, self._on_diagnostics)
        self._requests = PolicyRequests(node)
        self._stops: dict[str, Subscription] = {}    # by robot; an only one has no name
        self._hear_stops('')
        for robot in self._robots.new(robots):
            self._follow(robot)

    @property
    def topic(self) -> str:
        """Return the full name of the topic ``phase``."""
        return str(self._explorer[0].topic_name)

    def policy_to(self, state: int) -> Policy | None:
        """Return the policy to a known state; None until it is there. Any thread may ask."""
        if (message := self.policies) is not self._decoded[0]:
            try:
                self._decoded = message, (
                    None if message is None else messages.PolicySet.from_msg(message))
            except MessageError:
                self._decoded = message, None
        return self._requests.policy_to(state, self._decoded[1], self.heard.version,
                                        time.monotonic(), state in self.heard.known)

    def forget(self) -> None:
        """Forget what an explorer has said, and hear what another one says."""
        for subscription in self._explorer:
            self._node.destroy_subscription(subscription)
        before = self.heard
        self.policies = self._requests.answer = None
        self.heard = Telemetry(
            description=before.description, true_setting=before.true_setting,
            exploration_steps=before.exploration_steps, ground=before.ground, pose=before.pose,
            reports=before.reports, offered=before.offered, navigator=before.navigator,
            stopped=before.stopped, heartbeat=before.heartbeat)
        self._explorer = self._of_the_explorer()

    def _of_the_explorer(self) -> list[Subscription]:
        return [
            self._hear(String, 'phase', lambda message: {'phase': messages.plain(message.data)}),
            self._hear(String, 'status', lambda message: {'status': messages.plain(message.data)}),
            self._hear(String, 'events', self._happened, messages.EVENTS),
            self._hear(Int64MultiArray, 'known_states', lambda message: dict(zip(
                ('version', 'known'), messages.decode_known_states(message)))),
            self._hear(Int64MultiArray, 'policies', self._learnt),
            self._hear(String, 'trust', lambda message: {
                'trust': messages.decode_trust(message)[1]}),
            self._hear(Int64MultiArray, 'model', lambda message: {
                'counts': messages.decode_model(message).counts}),
            self._hear(String, 'activity', lambda message: {
                'activity': Activity.from_json(message.data)})]

    def _hear(self, kind: type[_MsgT], topic: str, fields: Callable[[_MsgT], dict[str, Any]],
              qos: QoSProfile = messages.LATCHED) -> Subscription:
        def update(message: _MsgT) -> None:
            self.heard = replace(self.heard, **fields(message))
        return messages.hear(self._node, kind, topic, qos, update)

    def _happened(self, message: String) -> dict[str, Any]:
        event, events = Event.from_json(message.data), self.heard.events
        event = replace(event, text=messages.plain(event.text))
        # An explorer that is configured again publishes the last ones again.
        return {} if event in events else {'events': _newest((*events, event))}

    def _learnt(self, message: Int64MultiArray) -> dict[str, Any]:
        self.policies = message
        return {'hypothesis': messages.PolicySet.from_msg(message)} if self._decoding else {}

    def _described(self, message: String) -> dict[str, Any]:
        described = RobotDescription.from_text(message.data)
        return {'description': described.after(self.heard.description)}

    def _setting(self, message: Int64) -> int:
        found = messages.decode_count(message)
        if self._settings is not None and found >= self._settings:
            raise MessageError(
                f'found {found}, expected one of {self._settings} settings')
        return found

    def _on_exploration_steps(self, message: Int64) -> None:
        # It comes more often than the reports, and is shown with the next one.
        self._exploration_steps = messages.decode_count(message)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        report = messages.decode_report(message, self._namespace)
        if report is None:
            return
        robots = messages.decode_robots(message, self._namespace)
        heard = replace(
            self.heard, report=report, reports=self.heard.reports + 1, robots=robots)
        heard = replace(heard, exploration_steps=self._explored(heard.count('steps')))
        self.heard = replace(heard, pace=self._rate.update(
            heard.count('steps'), heard.exploring, time.monotonic()))
        for robot in self._robots.new(each.name for each in robots):
            self._follow(robot)

    def _explored(self, steps: int | None) -> int | None:
        """
        Return the exploration steps to show beside the steps of a report.

        The simulator counts a step before the explorer does, and its message may overtake the
        report. If there were more before, too, the explorer began later than the simulator.
        """
        found, before = self._exploration_steps, self._steps_reported
        if found is None or steps is None:
            return found
        self._steps_reported = found
        return min(found, steps) if before <= steps else found

    def _hear_stops(self, robot: str) -> None:
        self._stops[robot] = self._hear(
            Bool, f'{robot}/stopped'.lstrip('/'), lambda message: {
                'stopped': self.heard.stopped - {robot} | ({robot} if message.data else set())})

    def drop_stops(self) -> None:
        """Forget the stops of the robot sides that are gone."""
        if self.heard.stopped:
            there = {robot for robot, stops in self._stops.items()
                     if self._node.count_publishers(stops.topic_name)}
            self.heard = replace(self.heard, stopped=self.heard.stopped & there)

    def _follow(self, robot: str) -> None:
        """Hear what one of several robots says of itself."""
        self._hear_stops(robot)
        self._hear(String, f'{robot}/robot_side', self._described)
        self._hear(Int64, f'{robot}/true_setting', lambda message: {
            'true_setting': self._robots.reached(robot, self._setting(message))})


def _newest(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """
    Return the last events, and before them those that say which ways are blocked.

    Tries of closed ways are counted apart, so that they take the place of no other event.
    """
    tries, others = ([event for event in events if isinstance(
        event.said, (WaysClosed, WayStillClosed)) == is_try] for is_try in (True, False))
    changes = [event for event in others[:-_EVENTS] if event.kind == 'change' and event.change]
    kept = {id(event) for event in (*changes[-_EVENTS:], *others[-_EVENTS:], *tries[-_EVENTS:])}
    return tuple(event for event in events if id(event) in kept)


class Listener(InterruptedLate):
    """
    A context manager that runs a node ``console`` with ``Subscriptions``.

    :param namespace: of the explorer and the robot side.
    :param ros_arguments: for the node, ``--ros-args`` before them.
    :param robots, settings: as for the subscriptions.
    """

    def __init__(self, namespace: str = '/', ros_arguments: Sequence[str] = (),
                 robots: Iterable[str] = (), settings: int | None = None) -> None:
        self._robots, self._settings = tuple(robots), settings
        self._namespace = namespace
        self._ros_arguments = list(ros_arguments)

    def _begin(self) -> None:
        # The caller handles signals itself, while rclpy's handlers would end the context.
        rclpy.init(args=self._ros_arguments, signal_handler_options=SignalHandlerOptions.NO)
        self._node = Node('console', namespace=self._namespace)
        self._subscriptions = Subscriptions(self._node, self._robots, self._settings, True)
        self._changes = [self._node.create_client(Trigger, name) for name in (
            'change', *(f'{robot}/change' for robot in self._robots))]
        self._requests = self.publisher(String, 'requests', messages.STEP)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)

    def _end(self) -> None:
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.try_shutdown()

    @property
    def topic(self) -> str:
        """Return the full name of the topic ``phase``."""
        return self._subscriptions.topic

    @property
    def explorer(self) -> str:
        """Return the full name of the node that publishes ``phase``, or of the topic."""
        found = [f'{each.node_namespace.rstrip("/")}/{each.node_name}'
                 for each in self._node.get_publishers_info_by_topic(self.topic)
                 if each.node_name not in messages.NAMELESS]
        return found[0] if found else self.topic

    @property
    def found(self) -> bool:
        """Return whether a node publishes ``phase``."""
        return self._node.count_publishers('phase') > 0

    @property
    def may_be_described(self) -> bool:
        """Return whether a node publishes ``robot_side``, or no robot side is found yet."""
        return bool(self._node.count_publishers('robot_side')
                    or not self._node.count_subscribers('action'))

    def client(self, kind: type[Srv[_RequestT, _ResponseT]],
               service: str) -> Client[_RequestT, _ResponseT]:
        """Return a client of the node, which ``listen`` spins."""
        return self._node.create_client(kind, service)

    def publisher(self, kind: type[_MsgT], topic: str, qos: QoSProfile) -> Publisher[_MsgT]:
        """Return a publisher of the node."""
        return self._node.create_publisher(kind, topic, qos)

    def hear(self, kind: type[_MsgT], topic: str, qos: QoSProfile,
             take: Callable[[_MsgT], object]) -> None:
        """Call ``take`` with each message on a topic while ``listen`` spins the node."""
        messages.hear(self._node, kind, topic, qos, take)

    def change(self) -> None:
        """Ask for the next setting, wherever the service is offered, and say who does."""
        self._requests.publish(String(data=Request('change', 'mnm_ros explore').to_json()))
        for client in self._changes:
            if client.service_is_ready():
                client.call_async(Trigger.Request())

    def policy(self, target: int, timeout: float) -> Policy | None:
        """Ask for the policy to a known state; None if there is no answer in time."""
        found: Policy | None = self._until(
            lambda: self._subscriptions.policy_to(target), timeout)
        return found

    def provisional_policies(self, timeout: float) -> tuple[Policy, ...]:
        """Return every policy that there is; none if they are not heard in time."""
        heard: list[messages.PolicySet] = []
        messages.hear(self._node, Int64MultiArray, 'provisional_policies', messages.LATCHED,
                      messages.PolicySet.from_msg, heard.append)
        self._until(lambda: heard, timeout)
        return heard[0].policies if heard else ()

    def actions(self, timeout: float) -> tuple[str, ...]:
        """Return the names of the actions by the explorer's parameters; none if it is silent."""
        client = self._node.create_client(GetParameters, f'{self.explorer}/get_parameters')
        end = time.monotonic() + timeout
        self._until(client.service_is_ready, timeout)
        answer = self.ask(
            client, GetParameters.Request(names=['actions']), end - time.monotonic())
        return tuple(answer.values[0].string_array_value) if answer and answer.values else ()

    def ask(self, client: Client[_RequestT, _ResponseT], request: _RequestT,
            timeout: float) -> _ResponseT | None:
        """Call a service, listening meanwhile; return the response, None if none is in time."""
        answer = client.call_async(request)
        return answer.result() if self._until(answer.done, timeout) else None

    def _until(self, wanted: Callable[[], Any], timeout: float) -> Any:
        """Listen until something is there, or the time is over; return what there is then."""
        end = time.monotonic() + timeout
        while not (found := wanted()) and time.monotonic() < end:
            self.listen(_POLL)
        return found

    def listen(self, seconds: float) -> Telemetry:
        """Take in messages for so many seconds and return what is known then."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            with held_back():
                self._executor.spin_once(timeout_sec=left)
        self._subscriptions.drop_stops()
        return self._subscriptions.heard
