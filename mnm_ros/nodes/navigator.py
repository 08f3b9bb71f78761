# SPDX-License-Identifier: Apache-2.0

"""Sends the robot to known states by the policies that the explorer has published."""

from __future__ import annotations

from dataclasses import replace
import math
import sys
import time
from typing import Any

from mnm_ros import messages
from mnm_ros.core.progress.said import (
    as_said,
    CancelCalled,
    CancelledEarly,
    ClientCancelled,
    ExplorerCommands,
    ExplorerGone,
    GoalNotBegun,
    NextGoalCame,
    NodeEnding,
    NoGoalUnderWay,
    NothingSaidOfGoal,
    PolicyNotHeard,
    Reason,
    RobotRests,
    RobotStopped,
    WorkComesFirst,
)
from mnm_ros.core.progress.trust import Trust
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.language import check, phrase
from mnm_ros.nodes.common.allowance import Allowance, TOO_MANY_GOALS
from mnm_ros.nodes.common.callbacks import answering, every
from mnm_ros.nodes.common.commanding import ends_after_step
from mnm_ros.nodes.common.graph_watch import CommandPublisher
from mnm_ros.nodes.common.request_topic import RequestTopic
from mnm_ros.nodes.common.spin import run
from mnm_ros.nodes.common.whereabouts import Whereabouts
from mnm_ros.nodes.navigating.explorer_goals import ExplorerGoals
from mnm_ros.nodes.navigating.goal_board import GoalBoard
from mnm_ros.nodes.navigating.learnt_policies import LearntPolicies, POLICY_WAIT
from mnm_ros.nodes.navigating.own_drive import OwnDrive
from mnm_ros.nodes.navigating.path_answers import PathAnswers
from mnm_ros.nodes.navigating.place_finder import PlaceFinder
from mnm_ros.nodes.navigating.pose_feedback import PoseFeedback
from mnm_ros.nodes.navigating.pose_goals import PoseGoals
from mnm_ros.parameters import NODES, Parameters
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.sentences import sentence
from rclpy.node import Node
from std_msgs.msg import Bool, Int64, Int64MultiArray, String
from std_srvs.srv import Trigger

_TICK = 0.02     # s, resolution of timeouts
_LOOK = 0.5      # s, between two checks for other robot sides as long as there is no goal
_LEAVE = 1.5     # s, that the answer under way is waited for before the node ends


class Navigator(Node):
    """
    Goes to one known state at a time.

    If an explorer commands the robot, the explorer plays the goal; without one the navigator
    commands the robot itself.

    :raises ParameterError: if a parameter set at start is not allowed.
    """

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__('navigator', **node_arguments)
        self._given = Parameters(self, NODES['navigator'])
        language = self._given['language']
        check(language)    # a table with a fault is to fail here, not later
        self._goal: GoalReport | None = None
        self._next: GoalReport | None = None
        self._deadline = math.inf    # for the explorer to begin
        self._leave_by: float | None = None
        self._end_reason: Reason = ''    # why the explorer is asked to end the goal
        self._look_at = 0.0    # for other robot sides, without a goal
        self._stopped = False    # the robot, by its service
        self._board = GoalBoard(self, language)
        self._accept = Allowance().limited('goals', self._take_goal, self._refuse)
        self._commands = CommandPublisher(self)
        self._whereabouts = Whereabouts(self, self._commands.topic_name)
        self._requests = RequestTopic(self)
        self._given.on_change = self._requests.setting
        self._drive = OwnDrive(    # without an explorer
            self, self._given, self._requests, self._commands, self._whereabouts, self._end)
        self._explorer = ExplorerGoals(self, self._commands.topic_name, self._on_report)
        self._rest: Reason = ''    # why the robot rests, as the explorer says
        self._rests = messages.hear(self, String, 'rest/reason', messages.LATCHED,
                                    messages.decode_reason, self._on_rest)
        self._learnt = LearntPolicies(self)
        self._places = PlaceFinder(
            self, lambda: float(self._given['pose_tolerance']),
            lambda state: self._learnt.refusal(state, Trust(self._given['least_trust'])))
        self._poses = PoseGoals(
            self, self._board, self._places, PoseFeedback(
                self, self._places, self._given['base_frame'], self._learnt.travel_time),
            self._accept, self._cancel_one)
        self._paths = PathAnswers(
            self, self._places, self._learnt, lambda: self._whereabouts.last_seen, language)
        messages.hear(
            self, String, 'robot_side', messages.LATCHED,
            lambda message: RobotDescription.from_text(message.data), self._on_description)
        self.create_subscription(Int64, 'goal', self._on_goal, messages.STEP)
        messages.hear(self, Int64MultiArray, 'goal/request', messages.STEP,
                      messages.decode_request, self._on_request)
        self.create_subscription(
            Int64, 'goal/cancel', lambda message: self._cancel_one(message.data),
            messages.REQUESTS)
        self._stops = self.create_subscription(Bool, 'stopped', self._on_stopped, messages.LATCHED)
        self.create_service(
            Trigger, 'cancel', answering(self._on_cancel), qos_profile=messages.REQUESTS)
        every(_TICK, self, self._tick)

    def leave(self) -> bool:
        """End the goal under way, and the stay at one; return whether that is over."""
        now = time.monotonic()
        if self._leave_by is None:
            self._leave_by = now + _LEAVE
            if not self._cancel(NodeEnding()):
                self._explorer.end()
        elif self._goal and now >= self._leave_by:
            self._end(GoalStatus.CANCELLED, NodeEnding())
        self._poses.tick(None)
        self._paths.tick(now)
        return self._goal is None and self._poses.idle and self._paths.idle

    def close(self) -> None:
        """Make sure that the last result has been heard."""
        self._board.close()

    def _on_goal(self, message: Int64) -> None:
        self._accept(self._board.new_goal(message.data))

    def _on_request(self, request: tuple[int, int, Trust | None]) -> None:
        goal_id, target, least = request
        if not self._board.repeat(goal_id):
            self._accept(replace(self._board.new_goal(target, goal_id, 'topic goal/request'),
                                 least_trust=least.value if least else None))

    def _refuse(self, goal: GoalReport) -> None:
        self.get_logger().warning(
            f'goals are refused: {sentence(TOO_MANY_GOALS)}', throttle_duration_sec=10.0)
        self._board.refuse(goal, TOO_MANY_GOALS)

    def _take_goal(self, goal: GoalReport) -> None:
        refusal = self._refusal(goal)
        if refusal:
            self._board.end(goal, GoalStatus.REFUSED, refusal)
        elif self._goal is None:
            self._begin(goal)
        else:
            assert goal.target is not None    # else there is no policy for it
            reason = NextGoalCame(goal.target)
            self._drop_next(reason)
            self._next = goal
            self._board.tell(goal)
            self._end_goal(reason)

    def _refusal(self, goal: GoalReport) -> Reason:
        """Return why there is no way to a state at present, or nothing."""
        if self._leave_by is not None:
            return NodeEnding()
        if self._stopped and self.count_publishers(self._stops.topic_name):
            return RobotStopped()
        rest = as_said(self._rest if self.count_publishers(self._rests.topic_name) else '')
        if rest and not (self._given['goals_at_rest'] or isinstance(rest, WorkComesFirst)):
            return RobotRests(rest)
        return self._learnt.refusal(
            goal.target, Trust(goal.least_trust or self._given['least_trust']))

    def _begin(self, goal: GoalReport) -> None:
        self._goal = goal
        before = self._board.report(self._explorer.goal_id or 0)
        if before is not None and before.stays:
            self._board.tell(replace(before, stays=None))
        self._deadline = time.monotonic() + self._given['pause_timeout']
        self._board.tell(goal)
        if self._explorer.offered and goal.target is not None:
            dwell = 0.0 if self._leave_by is not None else self._given['dwell']
            self._explorer.begin(messages.DriveGoal(
                goal.id, goal.target, dwell, self._given['direct'], self._given['max_steps']))
        else:
            self._explorer.forget()

    def _begin_drive(self, goal: GoalReport) -> None:
        """Begin with the present policy, once it has been heard, and keep it to the end."""
        refusal, target = self._refusal(goal), goal.target
        if refusal or target is None:
            self._end(GoalStatus.REFUSED, refusal)
            return
        if self._explorer.offered:    # since the goal has come
            self._begin(goal)
            return
        if not self._commands.reachable:    # since the explorer has gone
            return
        try:
            policy = self._learnt.policy_for(target, time.monotonic())
        except TimeoutError:
            self._end(GoalStatus.FAILED, PolicyNotHeard(POLICY_WAIT))
            return
        if policy is None:
            return    # it is asked for
        way = self._drive.plan(policy)
        objection = self._drive.objection(way)
        if objection:
            self._end(GoalStatus.REFUSED, objection)
            return
        self._under_way(replace(
            goal, status=GoalStatus.UNDER_WAY, text=f'on the way to {target} {way.plan}').on(
                way, self._drive.seconds))
        self._drive.begin(way)

    def _under_way(self, goal: GoalReport) -> None:
        self._goal = goal
        self.get_logger().info(goal.text)
        self._board.tell(goal)

    def _on_report(self, said: GoalReport) -> None:
        """Take what the explorer says of the goal that it has."""
        goal = self._goal
        if goal is None or goal.id != said.id:
            before = self._board.report(said.id)
            if before is not None and before.stays != said.stays:    # it leaves the goal
                self._board.tell(replace(before, stays=said.stays))
            if not said.status.over:    # it was heard after its end
                self._explorer.end()
            return
        goal = replace(
            goal, steps=said.steps, attempts=said.attempts,
            expected_steps_left=said.expected_steps_left,
            expected_seconds_left=said.expected_seconds_left)
        if said.status is GoalStatus.WAITING:    # again, if the explorer was started again
            goal = replace(goal, status=said.status)
        else:
            self._deadline = time.monotonic() + self._given['pause_timeout']
        if said.status.over:
            self._goal = replace(goal, stays=said.stays)
            self._end(said.status, self._end_reason or said.said or said.text)
        elif said.status is GoalStatus.UNDER_WAY and goal.text != said.text and (
                not self._end_reason):
            self._under_way(replace(goal, status=said.status, text=said.text))
        else:
            self._goal = goal
            self._board.progress(goal)

    def _end(self, status: GoalStatus, how: Reason) -> None:
        report = self._drive.report(self._goal) if self._goal else None
        self._goal = None
        self._end_reason = ''
        self._drive.stop()
        following, self._next = self._next, None
        if report and following is None:
            following = self._poses.following(report.id, status)
        if report:
            self._board.end(report, status, how)
        if following:
            self._begin(following)
        elif report and not report.stays:
            self._explorer.end()    # nothing keeps the robot there

    def _end_goal(self, reason: Reason) -> None:
        """End the goal after the step under way."""
        if self._drive.way:
            if self._drive.end_after_step(reason) and self._goal:
                self._goal = ends_after_step(self._goal, reason)
        elif self._goal and self._explorer.goal_id == self._goal.id and self._explorer.heard:
            self._end_reason = reason
            self._goal = ends_after_step(self._goal, reason)
            self._explorer.end()
        elif self._goal:
            self._end(GoalStatus.CANCELLED, reason)

    def _on_description(self, description: RobotDescription) -> None:
        """Take what the robot side says it is, and end a goal that would go against it."""
        self._places.description = description
        reason = self._drive.heed(description)
        if reason:
            self._end_goal(reason)

    def _drop_next(self, reason: Reason) -> None:
        if self._next is not None:
            self._board.end(self._next, GoalStatus.CANCELLED, reason)
            self._next = None

    def _cancel(self, reason: Reason) -> bool:
        """End all goals; return whether there are any."""
        self._drop_next(reason)
        if self._goal is None:
            return False
        self._end_goal(reason)
        return True

    def _on_stopped(self, message: Bool) -> None:
        self._stopped = message.data
        if self._stopped:
            self._whereabouts.heard = None

    def _on_rest(self, reason: Reason) -> None:
        self._rest = reason

    def _cancel_one(self, goal_id: int) -> None:
        reason = ClientCancelled()
        if self._goal and goal_id == self._goal.id:
            self._end_goal(reason)
        elif self._next and goal_id == self._next.id:
            self._drop_next(reason)
        elif not self._board.repeat(goal_id):
            # The request is on its way, or has been heard by a navigator that is gone.
            early = CancelledEarly()
            self._board.tell_soon(self._board.new_goal(None, goal_id).over(
                GoalStatus.CANCELLED, sentence(early), self._board.now, early))

    def _on_cancel(self, _: Trigger.Request) -> tuple[bool, str]:
        found = self._cancel(CancelCalled())
        language, none = self._board.language, NoGoalUnderWay()
        answer = sentence(none, language=language) if not found else phrase(
            f'answers.{"cancelled" if self._goal is None else "cancelling"}', language)
        return self._requests.called('cancel', 'cancel', (found, answer), language, none)

    def _tick(self) -> None:
        self._poses.tick(self._whereabouts.last_seen)
        now = time.monotonic()
        self._board.tick(now)
        self._paths.tick(now)
        self._explorer.tick(now)
        if not self._explorer.offered:
            self._commands.open()
        elif not self._drive.way:
            self._commands.close()
        if self._drive.way:
            self._tick_drive()
            return
        if now >= self._look_at:
            self._poses.look()
            self._paths.look()
        if self._goal is not None or now >= self._look_at:
            self._look_at = now + _LOOK
            self._drive.look()
        if self._goal is not None:
            self._tick_goal(self._goal, now)

    def _tick_drive(self) -> None:
        """Watch a goal for which this node commands the robot."""
        if self._explorer.offered:    # from now on an explorer does, so nothing is sent again
            self._drive.give_way(ExplorerCommands())
            return
        self._drive.tick()
        if self._goal and self._drive.way:
            self._board.progress(self._drive.report(self._goal))

    def _tick_goal(self, goal: GoalReport, now: float) -> None:
        """Begin a goal, or watch the explorer that has it."""
        if self._explorer.goal_id != goal.id:
            self._begin_drive(goal)
        elif not self._explorer.offered and not self._explorer.heard:
            self._explorer.forget()    # there is none
        elif not self._explorer.offered:
            self._end(GoalStatus.FAILED, ExplorerGone())
        elif now >= self._deadline:
            late = GoalNotBegun if goal.status is GoalStatus.WAITING else NothingSaidOfGoal
            self._end(GoalStatus.FAILED, late(self._given['pause_timeout']))


def main(args: list[str] | None = None) -> int:
    """Run the node ``navigator``."""
    return run('navigator', Navigator, args)


if __name__ == '__main__':
    sys.exit(main())
