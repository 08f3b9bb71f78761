# SPDX-License-Identifier: Apache-2.0

"""
A mobile robot as a robot side: what ``grid_driver`` and ``route_driver`` share.

A subclass says what a state is, and makes the maneuvers that lead from one to another.
"""

from __future__ import annotations

from collections.abc import Callable
import math
import time
from typing import Any

from mnm_ros import messages
from mnm_ros.core.model.problem import RESET
from mnm_ros.driving.drive import Outcome
from mnm_ros.driving.maneuvers import Maneuver
from mnm_ros.driving.measures import Stopwatch
from mnm_ros.driving.occupancy import Map
from mnm_ros.driving.pose import Pose
from mnm_ros.nodes.mobile.docking import Docking
from mnm_ros.nodes.mobile.driven_map import DrivenMap
from mnm_ros.nodes.mobile.driver_setup import (
    check,
    eyes_of,
    movers_of,
    poses_of,
    reach_of,
    suit_base,
)
from mnm_ros.nodes.mobile.eyes import hear_bumps
from mnm_ros.nodes.mobile.movers import Mover
from mnm_ros.nodes.mobile.planned import plan_of
from mnm_ros.nodes.mobile.pose_tracker import PendingAnswer, PoseTracker, Terrain
from mnm_ros.nodes.mobile.poses import Located, StampedPose
from mnm_ros.nodes.robot_side import RobotSide
from mnm_ros.parameters import NODES, Parameters
from mnm_ros.plan.floor_plan import Plan
from std_msgs.msg import String

_PERIOD = 0.05    # s, between two checks of the time
_PAUSE = 1.0      # s, until 'no way leads home' is logged: where the robot is may yet be corrected
_MANY = 10        # moves in a row that were broken off, after which an error is logged


class MobileDriver(RobotSide):
    """
    Drives from state to state; whatever it commands follows from the poses of the robot.

    Subclasses override what raises NotImplementedError, and ``describe``.

    :param name: of the node, whose parameters are in ``NODES``.
    """

    def __init__(self, name: str, **node_arguments: Any) -> None:
        super().__init__(name, **node_arguments)
        self._given = given = Parameters(self, NODES[name])
        self._plan = plan = plan_of(self, given)
        suit_base(given)
        terrain = self._prepare(given, plan)
        check(given)
        self._map = DrivenMap(self, given, plan, terrain.frame, self._read, self._on_map)
        self._described_frame = ''
        self._tracker = PoseTracker(self, given, terrain, reach_of(given, terrain.size))
        self._poses = poses_of(self, given, self._on_pose)
        self._eyes = eyes_of(self, given, self._poses.mount_of)
        self._base_mover, self._home_mover = movers_of(self, given, terrain.size, self._eyes)
        self._mover = self._base_mover    # that of the last maneuver
        if plan is not None:
            self._base_mover.know(plan.driven_map, given['robot_radius'])

        self._action = RESET              # that of the last maneuver, and what people call it
        self._action_name = 'RESET'
        self._requested: Callable[[], Maneuver] | None = None    # waits for a pose or the map
        self._maneuver: Maneuver | None = None
        self._stopwatch = Stopwatch(0.0)  # since it has begun
        self._failure = ''                # of the last way home, or why a move does not count
        self._broken_off = 0              # moves in a row that do not count
        self._late_answer = PendingAnswer()
        self._reported_state: int | None = None    # where the explorer believes the robot
        self._outcomes = self.create_publisher(String, 'outcome', messages.LATCHED)
        self._docking = None if given['docking'] == 'none' else Docking(
            self, given, lambda told: self._outcomes.publish(String(data=told)))
        hear_bumps(self, given['bump_type'], self._on_bump,
                   lambda hazard: self.requests.say('hazard', text=hazard))
        self.create_timer(_PERIOD, self._on_time, clock=self.steady_clock)
        self.keep_stops(given['stop_dir'])
        given.on_change = self.requests.setting

    def _prepare(self, given: Parameters, plan: Plan | None) -> Terrain:
        """
        Set ``action_names``; return what follows from the states.

        :raises ParameterError: if the parameters do not fit together.
        """
        raise NotImplementedError

    def _move(self, action: int) -> Maneuver:
        """Return the maneuver that executes an action other than RESET."""
        raise NotImplementedError

    def _way_home(self) -> Maneuver:
        """Return the maneuver that executes RESET."""
        raise NotImplementedError

    def _read(self, map_: Map) -> bool:
        """
        Take a map; return whether other moves are free now.

        :raises InvalidValueError: if the robot cannot drive by the map, which is not taken.
        """
        raise NotImplementedError

    def _astray(self, pose: Pose) -> str:
        """Return why nothing is driven from a pose, as it is too far outside; '' if it is not."""
        raise NotImplementedError

    def _name(self, action: int) -> str:
        """Return what people call an action other than RESET where the robot is."""
        return self.action_names[action]

    def execute(self, action: int) -> int | None:
        """Begin a move; return the state if nothing can be driven."""
        self._action_name = self._name(action)
        return self._request(action, lambda: self._move(action))

    def return_home(self) -> int | None:
        """Begin the way home; return the state if the robot is still at rest there."""
        self._action_name = 'RESET'
        if self._tracker.at_rest_at_home and self._is_free:
            self._action = RESET
            self._publish_outcome(Outcome.REACHED.value)
            return self._tracker.home_state
        if self._request(RESET, self._way_home) is not None:
            self._answer_later()    # a state returned at once would mean success
        return None

    def cancel(self, reason: str) -> int | None:
        """Stop; return the state, or None if it has to wait for a pose."""
        self._abort(f'cancelled: {reason}')
        if not self._tracker.fresh:
            self._late_answer.hold(reason)
            return None
        self._late_answer.drop()
        return self._tracker.place.state

    @property
    def _frame(self) -> str:
        """Return the frame of the map, or else of the poses; '' before there is either."""
        pose = self._tracker.last
        return self._map.frame or (pose.frame if pose else '')

    def arrived(self, state: int, problem: str = '') -> None:
        """End what took time, and remember its state: the robot was not moved there by hand."""
        self._reported_state = state
        super().arrived(state, problem)

    def send_state(self, seq: int, state: int) -> None:
        self._reported_state = state
        super().send_state(seq, state)

    def leave(self) -> bool:
        if self._docking:
            self._docking.stop()
        return super().leave() and self._base_mover.idle

    def close(self) -> None:
        """Make zero velocity the last command, and abandon a goal, after an exception, too."""
        self._abort('the node is ending')
        if self._docking:
            self._docking.stop()
        self._base_mover.close()

    @property
    def _is_free(self) -> bool:
        """Whether the robot is neither on its dock nor on the way onto it, or off it."""
        return self._docking is None or self._docking.free

    @property
    def _missing(self) -> str:
        """Return what has to come before a maneuver can begin."""
        if not self._tracker.fresh:
            return f'pose on {self._poses.name}'
        if self._docking and not self._docking.free:
            return f'robot that is off its dock: {self._docking.detail}'.removesuffix(': ')
        if self._map.awaited:
            return 'map'
        mover = self._home_mover if self._action == RESET else self._base_mover
        return self._blindness(mover) or mover.missing

    def _blindness(self, mover: Mover) -> str:
        """Return what a mover has to see and does not."""
        eyes = self._eyes if mover is self._base_mover else None
        return f'scan on {eyes.name}' if eyes and not eyes.fresh else ''

    def _request(self, action: int, make_maneuver: Callable[[], Maneuver]) -> int | None:
        self._action, self._requested = action, make_maneuver
        self._tracker.begin()
        return self._start_requested()

    def _start_requested(self) -> int | None:
        """Begin what is requested if that is possible; return the state if it is over at once."""
        missing, pose = self._missing, self._tracker.last
        if missing:
            self.get_logger().warning(f'waiting for a {missing}', throttle_duration_sec=5.0)
        if missing or self._requested is None or pose is None:
            return None
        make_maneuver, self._requested = self._requested, None
        if self._map.frame not in ('', pose.frame):
            self.get_logger().warning(
                f"the map is in the frame '{self._map.frame}', the poses in '{pose.frame}': "
                'they are taken for the same', once=True)
        self._maneuver = make_maneuver()
        self._mover = self._home_mover if self._action == RESET else self._base_mover
        if self._mover.needs_time:
            # A robot at rest may have been silent for long: that is no time of this maneuver.
            pose = self._tracker.as_of_now(pose)
        self._stopwatch = Stopwatch(pose.time)
        return self._next_leg(self._maneuver, pose, None)

    def _start_late(self) -> None:
        """Begin what is requested; if it is over at once, answer with the next pose."""
        if self._start_requested() is not None:
            self._answer_later()

    def _answer_later(self) -> None:
        self._late_answer.hold(
            self._failure, time.monotonic() + _PAUSE if self._failure else -math.inf)

    @property
    def _can_answer(self) -> bool:
        return self._tracker.fresh and self._late_answer.is_due(time.monotonic())

    def _next_leg(
            self, maneuver: Maneuver, pose: StampedPose, ended: Outcome | None) -> int | None:
        """Go on with the maneuver; return the state if it is over."""
        leg = maneuver.next(
            ended, self._tracker.place.cell, self._mover.ahead(pose), self._stopwatch.elapsed)
        if leg is not None:
            self._mover.start(leg, pose)
            return None
        self.report_legs(maneuver.legs)
        state, self._maneuver = self._tracker.place.state, None
        at_home = self._action == RESET and state == self._tracker.home_state
        self._failure = '' if at_home else maneuver.problem
        if self._failure and self._mover.detail:
            self._failure += f': {self._mover.detail}'
        if self._failure and self._action == RESET:
            self.get_logger().warning(
                f'the way home has failed: {self._failure}', throttle_duration_sec=5.0)
        if self._action == RESET and maneuver.outcome is Outcome.REACHED and (
                not self._mover.rolling):    # else it is not there yet
            self._tracker.reached_home = pose.pose
        self._publish_outcome(self._failure or maneuver.outcome.value)
        return state

    def _advance(self, maneuver: Maneuver, pose: StampedPose) -> None:
        self._stopwatch.lap(pose.time)
        astray = self._astray(pose.pose)
        if astray and self._mover is self._base_mover:
            self._cancel(astray)
            return
        outcome = self._mover.update(pose)
        if outcome is Outcome.STOPPED:
            self.stand(self._mover.detail)
            return
        if outcome is None and self._decided(maneuver, pose):
            outcome = Outcome.REACHED
        state = self._next_leg(maneuver, pose, outcome) if outcome else None
        if state is None:
            return
        if self._action != RESET:
            self._broken_off = self._broken_off + 1 if self._failure else 0
        if self._action == RESET or not self._failure:
            self.arrived(state, self._failure)
            return
        if self._broken_off % _MANY == 0:
            self.get_logger().error(f'nothing is learnt: {self._broken_off} moves in a row were '
                                    f'broken off, the last one because: {self._failure}')
        self.break_off(state, self._failure)

    def _decided(self, maneuver: Maneuver, pose: StampedPose) -> bool:
        """Return whether a leg has reached its end, to which the robot rolls on."""
        place = self._tracker.place
        return self._mover is self._base_mover and maneuver.is_decided(
            place.cell, place.heading, pose.pose, self._given['decided_at']) and self._mover.roll()

    def _abort(self, reason: str) -> None:
        self._requested = None
        if self._maneuver is not None:
            self.report_legs(self._maneuver.legs)
            self._maneuver = None
            self._mover.stop(self._tracker.last)
            self._publish_outcome(reason)

    def _publish_outcome(self, outcome: str) -> None:
        self._outcomes.publish(String(
            data=f'{self._action_name}: {outcome}, in state {self._tracker.place.state}'))

    def _on_pose(self, message: Located, received: float | None = None) -> None:
        pose = self._tracker.take(message, received)
        if pose is not None:
            self._go_on(pose)
        elif self._tracker.doubt and self._maneuver and self._mover is self._base_mover:
            self._cancel(self._tracker.doubt)
            return
        if self._tracker.doubt:
            self._base_mover.stop_rolling()
        if self._tracker.doubt and not self._late_answer.waits:
            self.get_logger().warning(self._tracker.doubt, throttle_duration_sec=5.0)

    def _go_on(self, pose: StampedPose) -> None:
        """Do what a pose that says where the robot is allows."""
        if self._eyes:
            self._eyes.locate(pose)
        if pose.frame != self._described_frame:
            self._described_frame = pose.frame
            self.describe_again()
        before, state = self._reported_state, self._tracker.place.state
        if self._requested and self._action != RESET and before not in (None, state):
            self._cancel(f'the robot was moved from state {before} to {state}')
        if self._requested:
            self._start_late()
        if self._maneuver:
            self._advance(self._maneuver, pose)
            return
        self._rest(pose)
        if self._late_answer.waits:
            if self._can_answer:
                self._mover.stop(pose)    # where it has stopped may not have been known then
                self.arrived(state, self._late_answer.drop())
        elif not (self.busy or self._stopped or self._docking and self._docking.away) and (
                self._reported_state not in (None, state)):
            self.get_logger().info(f'the robot was moved from state {before} to {state}')
            self._tracker.reached_home = None
            self.report(state)

    def _rest(self, pose: StampedPose) -> None:
        """Let the robot roll on to the end of what is decided, if it may, and stand."""
        if self._stopped or self._blindness(self._base_mover):
            self._base_mover.stop_rolling()
        if self._base_mover.rest(pose) is Outcome.REACHED and self._action == RESET:
            self._tracker.reached_home = pose.pose

    def _on_bump(self) -> None:
        if self._maneuver:
            self._mover.bump()
        else:
            self._base_mover.stop_rolling()

    def _on_map(self, map_: Map, changed: bool, news: bool) -> None:
        pose = self._tracker.last
        self._base_mover.know(map_, self._given['robot_radius'])
        if changed and pose and self._maneuver and self._maneuver.is_closed(pose.pose):
            self._mover.obstruct()
        if news:
            self.describe_again()

    def _on_time(self) -> None:
        """Do what cannot wait for a pose."""
        self._poses.ask_for_latched()
        if self._docking:
            last = self._tracker.last
            self._docking.tick(last.pose if last else None,
                               self._tracker.at_rest_at_home and not self.busy,
                               self._requested is not None, self._stopped)
        settled = self._tracker.settle()
        if settled:
            self._go_on(settled)
        pose, fresh, loss = self._tracker.last, self._tracker.fresh, self._tracker.loss
        if self._maneuver and self._blindness(self._mover):
            self._cancel(f'no {self._blindness(self._mover)}')
        elif self._maneuver and loss:
            self.get_logger().error(
                f'no {loss} on {self._poses.name} for {self._given["pose_timeout"]:g} s: stopped')
            self._abort('pose lost')
            self._late_answer.hold('the pose was lost')
        elif self._requested and fresh:
            self._start_late()
        elif self._can_answer:
            self.arrived(self._tracker.place.state, self._late_answer.drop())
        elif pose:
            present = self._tracker.as_of_now(pose)
            if self._maneuver and self._mover.needs_time and fresh:
                self._advance(self._maneuver, present)
            elif not fresh:
                self._base_mover.stop_rolling()
                self._base_mover.rest(present)
