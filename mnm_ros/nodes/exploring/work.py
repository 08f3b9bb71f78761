# SPDX-License-Identifier: Apache-2.0

"""
How work of the robot beside the exploration changes what is explored.

``WorkTopic`` learns from steps that others have commanded. ``WorkFirst`` hears of the goals of the
navigator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
import math
import time

from mnm_ros import messages
from mnm_ros.core.errors import MessageError
from mnm_ros.core.model.integers import as_action
from mnm_ros.core.progress.said import Reason, WorkComesFirst
from mnm_ros.core.task.navigation import GoalReport
from mnm_ros.core.task.step_task import OVER
from mnm_ros.nodes.common.graph_watch import bag_played, Endpoints, full_name
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.explored import Explored
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.nodes.exploring.link.link import Link
from mnm_ros.nodes.exploring.unseen_work import Execution, MOST_WAITING, UnseenWork
from mnm_ros.parameters import Parameters
from mnm_ros.protocol.exchange import REPORT
from mnm_ros.view.sentences import sentence
from std_msgs.msg import Int64MultiArray

_WAITING = 1000    # executions that wait for the end of a plan: none is lost for when it came
_TIMES = 20    # as many as calls: more than a robot makes steps
_GONE = 'a node that has left'    # before it was found
_GOALS = 'goal/status'


class WorkTopic:
    """
    Hands on each execution, whether the exploration is paused or not, unless it is over.

    Old messages are ignored: those of a bag that is replayed, and those whose ``seq``, if they
    say one, is not larger than the last one. An execution waits until the robot side has seen the
    states that it names.

    The middleware does not say which node has sent a message. Where several nodes publish
    ``work``, all of them together count as the source.

    :param actions: how many there are, without RESET.
    :param explored: what learns from it.
    :param link: hears what the robot side has seen.
    :param tell: called with a sentence when a node is dropped.
    """

    def __init__(self, node: NodeInterface, guard: CallbackGuard, actions: int,
                 explored: Explored, link: Link,
                 tell: Callable[[str], object]) -> None:
        self._actions = actions
        self._explored = explored
        self._link = link
        self._tell = tell
        self._unseen = UnseenWork(lambda state: state in explored.exploration.history.met)
        self._guard = guard
        self._senders, self._commanders = (
            Endpoints(node, node.resolve_topic_name(topic), publishers=True)
            for topic in ('work', 'action'))
        self._sender = _GONE
        self._newest = REPORT    # the largest seq of a step so far
        self._saw = guard.for_topic(
            lambda state: guard.call(self._take, self._unseen.saw, state), _WAITING)
        link.after_state = self._on_state
        take = guard.for_topic(lambda made: guard.call(self._take, self._offer, made), _WAITING)
        node.create_subscription(Int64MultiArray, 'work', guard.limited(
            'work', messages.dropping(node, 'work', self._read, take), _TIMES), messages.STEP)

    def _read(self, message: Int64MultiArray) -> Execution:
        state, action, after, seq = messages.decode_work(message)
        as_action(action, self._actions, reset=False)
        senders = self._senders.known()
        if any(endpoint.node_name in messages.NAMELESS for endpoint in senders):
            raise MessageError('it comes from a node without a name yet, expected to know who has '
                               'seen the robot arrive')
        names = sorted(set(map(full_name, senders)))
        if played := bag_played(senders):
            raise MessageError(f'{sentence(played)}, expected nodes alone that see the robot '
                               'arrive now')
        commanding = {*names} & {*map(full_name, self._commanders.known())}
        if commanding:    # of several, it cannot be known which one has sent the message
            raise MessageError(f'{", ".join(sorted(commanding))} commands the robot, expected a '
                               'node that has seen the robot arrive')
        self._sender = ' or '.join(names) or self._sender
        if seq is not None:
            if seq <= self._newest:
                raise MessageError(f'seq is {seq}, expected one above {self._newest}, that of the '
                                   'last step: it is an old message')
            self._newest = seq
        return Execution(state, action, after, self._sender)

    def _on_state(self) -> None:
        state = self._link.last_seen()
        if state is not None:
            self._saw(state)

    def _offer(self, made: Execution) -> list[Execution]:
        dropped = len(self._unseen.dropped)
        free = self._unseen.offer(made)
        for node in [*self._unseen.dropped][dropped:]:
            self._tell(f'work of {node} is ignored from now on: {MOST_WAITING:,} of its steps end '
                       'in states that the robot side has not seen')
        return free

    def _take(self, free: Callable[..., Iterable[Execution]], *arguments: object) -> None:
        exploration = self._explored.exploration
        if exploration.state not in OVER:
            for made in free(*arguments):
                exploration.observe_work(
                    made.state, made.action, made.after, node=made.node)


class WorkFirst:
    """
    Hears of goals, also of those that are refused, and has what they need certified first.

    With ``idle`` the robot rests for a while after each goal. A rest neither begins nor ends while
    there is a goal: the navigator has the exploration paused then, or is about to.

    :param explored: what has them certified.
    :ivar hear: to be called with what is heard of goals.
    """

    def __init__(self, node: NodeInterface, parameters: Parameters, guard: CallbackGuard,
                 explored: Explored) -> None:
        self._node = node
        self._given = parameters
        self._explored = explored
        self._heard: dict[int, bool] | None = None    # by id, whether it is over
        self._last = -math.inf    # when there was a goal last
        self._reason: Reason = ''
        self.hear = guard.for_topic(lambda reports: guard.call(self._take, reports), 1)

    def reason(self, now: float) -> Reason:
        """Return why the robot is to rest, or nothing; to be called now and then."""
        # A navigator that was killed leaves its last goal.
        if self._heard and not all(self._heard.values()) and (
                self._node.count_publishers(_GOALS)):
            self._last = now
        else:
            after = self._given['idle_after']
            idle = self._given['explore'] != 'idle' or now >= self._last + after
            self._reason = '' if idle else WorkComesFirst(after)
        return self._reason

    def _take(self, reports: Sequence[GoalReport]) -> None:
        before, self._heard = self._heard, {each.id: each.status.over for each in reports}
        new = [each for each in reports if before is None or each.id not in before]
        if new and before is not None:    # else they may be of long ago
            self._last = time.monotonic()
        exploration = self._explored.exploration
        if self._given['explore'] == 'always' or exploration.state in OVER:
            return
        for target in dict.fromkeys(each.target for each in new):
            if target is not None:
                exploration.prefer(target)
