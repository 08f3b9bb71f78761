# SPDX-License-Identifier: Apache-2.0

"""Sends the robot to known states by the policies that the explorer has published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import math
import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import messages
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.trust import Told, Trust
from mnm_ros.core.task.navigation import GoalReport, GoalStatus, Navigation, StepsToGo
from mnm_ros.nodes.common.callbacks import answering, every, hear
from mnm_ros.nodes.common.commanding import ExplorationPause, HomeService, step_limits, STOPPED
from mnm_ros.nodes.common.graph_watch import GraphWatch
from mnm_ros.nodes.common.spin import run
from mnm_ros.parameters import NODES, Parameters
from mnm_ros.protocol.step_loop import StepLoop
from rclpy.duration import Duration
from rclpy.node import Node
from std_msgs.msg import Bool, Int64, Int64MultiArray, String
from std_srvs.srv import Trigger

_TICK = 0.02     # s, resolution of timeouts
_LEAVE = 1.5     # s, that the answer under way is waited for before the node ends
_REPEAT = 0.5    # s, after which a policy is asked for again
_WAIT = 5.0      # s, for a policy that was asked for
_REMEMBERED = 20    # goals that are over
_PERIOD = 0.1    # s, at least between two messages that differ by the steps alone
_HEARD = 0.5     # s, that subscribers have at the end to hear the last result


class Navigator(Node):
    """
    Goes to one known state at a time, while exploration is paused.

    :raises ParameterError: if a parameter given at start is not allowed.
    """

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__('navigator', **node_arguments)
        self._given = Parameters(self, NODES['navigator'])
        self._goal: GoalReport | None = None
        self._next: GoalReport | None = None
        self._steps_to_go: dict[int, StepsToGo] = {}    # by target
        self._deadline = math.inf    # for the pause
        self._navigation: Navigation | None = None    # once exploration is paused
        self._loop: StepLoop | None = None    # from the first goal on
        self._leave_by: float | None = None
        self._stopped = False    # the robot, by its service
        self._board = GoalBoard(self)
        self._actions = self.create_publisher(Int64MultiArray, 'action', messages.STEP)
        self._states = hear(self, 'state', messages.decode_step, self._on_step, messages.STEP)
        self._home = (HomeService(self, self._on_home)
                      if self._given['reset_mode'] == 'service' else None)
        self._pause = ExplorationPause(self)
        self._learnt = LearntPolicies(self)
        self.create_subscription(Int64, 'goal', self._on_goal, messages.STEP)
        hear(self, 'goal/request', messages.decode_request, self._on_request, messages.STEP)
        self.create_subscription(Int64, 'goal/cancel', self._on_cancel_goal, messages.STEP)
        self._stops = self.create_subscription(Bool, 'stopped', self._on_stopped, messages.LATCHED)
        self.create_service(Trigger, 'cancel', self._on_cancel)
        self._graph = GraphWatch(self, self._actions, self._states, self._home)
        every(_TICK, self, self._tick)

    def leave(self) -> bool:
        """End the goal under way, and the pause; return whether that is over."""
        now = time.monotonic()
        if self._leave_by is None:
            self._leave_by = now + _LEAVE
            self._cancel('the node is ending')
        elif self._navigation and now >= self._leave_by:
            self._navigation.pause('the node is ending')
            self._settle()
        return self._goal is None and self._pause.over

    def close(self) -> None:
        """Make sure that the last result has been heard."""
        self._board.close()

    def _on_goal(self, message: Int64) -> None:
        self._accept(self._board.new_goal(message.data))

    def _on_request(self, request: tuple[int, int, Trust | None]) -> None:
        goal_id, target, least = request
        if not self._board.repeat(goal_id):
            self._accept(replace(self._board.new_goal(target, goal_id),
                                 least_trust=least.value if least else None))

    def _accept(self, goal: GoalReport) -> None:
        refusal = self._refusal(goal)
        if refusal:
            self._board.end(goal, f'refused {goal.target}: {refusal}')
        elif self._goal is None:
            self._begin(goal)
        else:
            reason = f'goal {goal.target} came'
            self._drop_next(reason)
            self._next = goal
            self._board.tell(goal)
            self._end_goal(reason)

    def _refusal(self, goal: GoalReport) -> str:
        """Return why there is no way to a state at present, or nothing."""
        if self._leave_by is not None:
            return 'the node is ending'
        if self._stopped and self.count_publishers(self._stops.topic_name):
            return STOPPED
        return self._learnt.refusal(
            goal.target, Trust(goal.least_trust or self._given['least_trust']))

    def _begin(self, goal: GoalReport) -> None:
        self._goal = goal
        self._deadline = time.monotonic() + self._given['pause_timeout']
        self._board.tell(goal)

    def _drive(self, goal: GoalReport) -> None:
        """Begin with the present policy, once it has been heard, and keep it to the end."""
        refusal, target = self._refusal(goal), goal.target
        if refusal or target is None:
            self._end(f'refused {target}: {refusal}')
            return
        try:
            policy = self._learnt.policy_for(target, time.monotonic())
        except TimeoutError as error:
            self._end(f'failed {target}: {error}')
            return
        if policy is None:
            return    # it is asked for
        self._navigation = Navigation(policy, policy.states[0], self._steps_to_go_by(policy))
        self._goal = replace(
            goal, status=GoalStatus.UNDER_WAY, text=f'on the way to {target}')
        self._board.tell(self._report(self._goal))
        if self._loop is None:
            self._loop = StepLoop(
                self._navigation, step_limits(self._given), time.time_ns(), self._send,
                self._home.call if self._home else None)
        self._loop.drive(self._navigation)
        self._loop.adjust(step_limits(self._given))
        self._graph.update()
        self._do(self._loop.resume)

    def _steps_to_go_by(self, policy: Policy) -> StepsToGo:
        """Return what is known of earlier ways by the policy; forget those by other ones."""
        targets = self._learnt.targets
        self._steps_to_go = {
            target: known for target, known in self._steps_to_go.items() if target in targets}
        known = self._steps_to_go.get(policy.target)
        if known is None or not known.policy.same_as(policy):
            known = self._steps_to_go[policy.target] = StepsToGo(policy)
        return known

    def _report(self, goal: GoalReport) -> GoalReport:
        """Return the goal with its present figures."""
        way = self._navigation
        return goal if way is None else replace(
            goal, steps=way.steps, attempts=way.attempts,
            expected_steps_left=way.expected_steps_left)

    def _end(self, result: str) -> None:
        if self._goal is not None:
            self._board.end(self._report(self._goal), result)
        self._goal = self._navigation = None
        if self._loop:
            self._loop.running = False    # also if an answer is still outstanding
        following, self._next = self._next, None
        if following is None:
            self._pause.end(time.monotonic())
        else:
            self._begin(following)

    def _end_goal(self, reason: str) -> None:
        """End the goal after the step under way."""
        way = self._navigation
        if way and self._loop:
            self._loop.pause_after_step(reason)
            self._settle()
            if self._goal and self._navigation is way:
                self._goal = replace(self._goal, text=f'ends after this step: {reason}')
        elif self._goal:
            self._end(f'cancelled {self._goal.target}: {reason}')

    def _drop_next(self, reason: str) -> None:
        if self._next is not None:
            self._board.end(self._next, f'cancelled {self._next.target}: {reason}')
            self._next = None

    def _cancel(self, reason: str) -> bool:
        """End all goals; return whether there are any."""
        self._drop_next(reason)
        if self._goal is None:
            return False
        self._end_goal(reason)
        return True

    def _on_stopped(self, message: Bool) -> None:
        self._stopped = message.data

    def _on_cancel_goal(self, message: Int64) -> None:
        goal_id, reason = message.data, 'its id came on goal/cancel'
        if self._goal and goal_id == self._goal.id:
            self._end_goal(reason)
        elif self._next and goal_id == self._next.id:
            self._drop_next(reason)
        elif not self._board.repeat(goal_id):
            # The request is on its way, or has been heard by a navigator that is gone.
            self._board.tell(self._board.new_goal(None, goal_id).over(
                'cancelled: its id came on goal/cancel before the goal itself', self._board.now))

    @answering
    def _on_cancel(self, _: Trigger.Request) -> tuple[bool, str]:
        if not self._cancel('service cancel called'):
            return False, 'no goal is under way'
        return True, 'cancelled' if self._goal is None else 'cancelling after the current step'

    def _tick(self) -> None:
        now = time.monotonic()
        if self._navigation and self._loop:
            self._loop.adjust(step_limits(self._given))
            if self._pause.disturbed:
                self._pause.forget()
                self._end_goal('exploration was resumed')
            self._do(self._loop.on_graph_change, *self._graph.update())
            self._do(self._loop.tick)
            if self._goal and self._navigation:
                self._board.progress(self._report(self._goal))
        elif self._goal is not None and self._pause.reached(now):
            self._drive(self._goal)
        elif self._goal is not None and now >= self._deadline:
            self._end(f'failed {self._goal.target}: exploration did not pause')

    def _do(self, method: Callable[..., None], *arguments: object) -> None:
        """Call a method of the loop, and end the goal if that has decided it."""
        method(*arguments, time.monotonic())
        self._settle()

    def _settle(self) -> None:
        if self._navigation and self._navigation.result:
            self._end(self._navigation.result)

    def _send(self, seq: int, action: int) -> None:
        self._actions.publish(messages.encode_step(seq, action))

    def _on_step(self, answer: tuple[int, int]) -> None:
        if self._loop:
            self._do(self._loop.on_state, *answer)

    def _on_home(self, attempt: int, success: bool, text: str) -> None:
        if self._loop:
            self._do(self._loop.on_home_response, attempt, success, text)


class GoalBoard:
    """
    Keeps the reports of the last goals and publishes them.

    Every message on ``goal/status`` is complete in itself and latched: a client that starts late
    or misses a message finds its goal in the next one, and takes no other goal for its own.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._results = node.create_publisher(String, 'goal_result', messages.LATCHED)
        self._statuses = node.create_publisher(DiagnosticArray, 'goal/status', messages.LATCHED)
        self._reports: dict[int, GoalReport] = {}    # by id, that of the last change at the end
        self._progress_due = 0.0
        self._last_id = 0
        self._publish()    # clients of a navigator that was here before hear that it is gone

    @property
    def now(self) -> int:
        """Return the time for stamps, in ns."""
        nanoseconds: int = self._node.get_clock().now().nanoseconds
        return nanoseconds

    def new_goal(self, target: int | None, goal_id: int | None = None) -> GoalReport:
        """Return a goal that has just come, with an id of its own if it came without one."""
        if goal_id is None:
            goal_id = self._last_id = max(time.time_ns(), self._last_id + 1)
        return GoalReport(
            goal_id, target, GoalStatus.WAITING, f'waiting to go to {target}', accepted=self.now)

    def repeat(self, goal_id: int) -> bool:
        """Publish all reports again if that of the goal is among them; return whether it is."""
        if goal_id in self._reports:
            self.tell(self._reports[goal_id])
            return True
        return False

    def tell(self, report: GoalReport) -> None:
        """Publish a report that has changed."""
        self._reports.pop(report.id, None)
        self._reports[report.id] = report
        over = [each.id for each in self._reports.values() if each.status.over]
        for goal_id in over[:-_REMEMBERED]:
            del self._reports[goal_id]
        self._publish()

    def progress(self, report: GoalReport) -> None:
        """Publish the figures of a goal under way, but not for every step of a quick robot."""
        now = time.monotonic()
        if report != self._reports.get(report.id) and now >= self._progress_due:
            self._progress_due = now + _PERIOD
            self.tell(report)

    def end(self, report: GoalReport, result: str) -> None:
        """Publish what has become of a goal; ``result`` begins with its status."""
        self._node.get_logger().info(result)
        self.tell(report.over(result, self.now))
        self._results.publish(String(data=result))

    def close(self) -> None:
        """Make sure that the last result has been heard."""
        end = time.monotonic() + _HEARD
        for publisher in (self._results, self._statuses):
            publisher.wait_for_all_acked(
                Duration(seconds=max(0.0, end - time.monotonic())))

    def _publish(self) -> None:
        self._statuses.publish(messages.encode_goals(
            self._node.get_clock().now().to_msg(), self._reports.values()))


class LearntPolicies:
    """
    The hypothesis from ``policies``; if it is too large, each policy when it is needed.

    What it has not is taken from ``provisional_policies``, as far as ``trust`` allows that.
    """

    def __init__(self, node: Node) -> None:
        self._policies: messages.PolicySet | None = None
        self._known: tuple[int, ...] | None = None
        self._provisional: messages.PolicySet | None = None
        self._told: dict[int, Told] = {}
        self._answer: messages.PolicyAnswer | None = None
        self._wanted: int | None = None
        self._ask_at = self._ask_until = 0.0
        hear(node, 'known_states', messages.decode_known_states, self._on_known, messages.LATCHED)
        hear(node, 'policies', messages.PolicySet.from_msg, self._on_policies, messages.LATCHED)
        hear(node, 'provisional_policies', messages.PolicySet.from_msg, self._on_provisional,
             messages.LATCHED)
        hear(node, 'trust', messages.decode_trust, self._on_trust, messages.LATCHED, String)
        hear(node, 'policy', messages.decode_policy, self._on_policy, messages.STEP)
        self._requests = node.create_publisher(Int64, 'policy/request', messages.STEP)

    @property
    def targets(self) -> tuple[int, ...]:
        """Return the states that there are policies for."""
        if self._policies is None:
            return ()
        if not self._policies.policies:    # too many: each is asked for
            return self._known or ()
        return self._policies.targets

    def refusal(self, target: int | None, least: Trust) -> str:
        """Return why there is no policy for a state that may be trusted enough, or nothing."""
        known = self._is_known(target)
        told = None if target is None else self._told.get(target)
        if known and (told is None or told.trust is not Trust.DOUBTED):
            return ''    # the hypothesis is newer than what was told of it
        if told is None or told.trust is Trust.PROVEN or not (
                known or self._provisional_for(target)):
            if self._policies is not None:
                return 'unknown state'
            return 'no policy for it yet' if self._provisional else 'no policies heard yet'
        if told.trust.rank <= least.rank:
            return ''
        return (f'its policy is {told.trust.value}, expected {least.value} (least_trust): '
                f'{told.why}')

    def _is_known(self, target: int | None) -> bool:
        # The two topics may be heard one after the other: a state has to be in both.
        return target in self.targets and (self._known is None or target in self._known)

    def _provisional_for(self, target: int | None) -> Policy | None:
        found = self._provisional.policies if self._provisional else ()
        return next((policy for policy in found if policy.target == target), None)

    def policy_for(self, target: int, now: float) -> Policy | None:
        """
        Return the policy for one of the targets; None while it is being asked for.

        :raises TimeoutError: with a sentence, if there was no answer.
        """
        if self._policies is None or not self._is_known(target):
            return self._provisional_for(target)
        if self._policies.policies:
            return self._policies.policy_for(target)
        answer = self._answer
        if answer and (answer.version, answer.target) == (self._policies.version, target):
            self._wanted = None
            return answer.policy
        if target != self._wanted:
            self._wanted, self._ask_at, self._ask_until = target, now, now + _WAIT
        if now >= self._ask_until:
            self._wanted = None
            raise TimeoutError(f'its policy was not heard within {_WAIT:g} s')
        if now >= self._ask_at:
            self._ask_at = now + _REPEAT
            self._requests.publish(Int64(data=target))
        return None

    def _on_known(self, said: tuple[object, tuple[int, ...]]) -> None:
        _, self._known = said

    def _on_policies(self, policies: messages.PolicySet) -> None:
        self._policies = policies

    def _on_provisional(self, policies: messages.PolicySet) -> None:
        self._provisional = policies

    def _on_trust(self, said: tuple[object, dict[int, Told]]) -> None:
        _, self._told = said

    def _on_policy(self, answer: messages.PolicyAnswer) -> None:
        if answer.target == self._wanted and answer.policy:    # others ask, too
            self._answer = answer


def main(args: list[str] | None = None) -> int:
    """Run the node ``navigator``."""
    return run('navigator', Navigator, args)


if __name__ == '__main__':
    sys.exit(main())
