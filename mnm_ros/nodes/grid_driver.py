"""A mobile robot as the robot: its pose is the state, its actions are moves between cells."""

from __future__ import annotations

from collections.abc import Callable
import math
import sys
import time

from nav_msgs.msg import OccupancyGrid
from std_msgs.msg import Bool, String

from mnm_ros import wire
from mnm_ros.core.problem import RESET
from mnm_ros.driving.drive import Outcome
from mnm_ros.driving.grid import Map, Place, free_cells
from mnm_ros.driving.maneuvers import MOVES, Maneuver, Move, WayHome
from mnm_ros.driving.route import Ways
from mnm_ros.geometry import Pose, wrapped
from mnm_ros.nodes.common.spin import run
from mnm_ros.nodes.mobile.driver_setup import check, grid_of, home_of, limits_of
from mnm_ros.nodes.mobile.movers import DockMover, GoalMover, Mover, StampedPose, VelocityMover
from mnm_ros.nodes.mobile.poses import Located, PoseTopic, planar
from mnm_ros.nodes.robot_side import RobotSide
from mnm_ros.parameters import GRID_DRIVER, Parameters

_LOOK = 0.05    # s, between two looks at the time


class GridDriver(RobotSide):
    """Drives from cell to cell. All that moves the robot follows from its poses."""

    def __init__(self) -> None:
        super().__init__('grid_driver')
        self._given = given = Parameters(self, GRID_DRIVER)
        check(given)
        self.action_names = MOVES[given['moves']]
        self._grid = grid_of(given)
        self._home = home_of(given)
        self._home_state = self._grid.state_at(self._home)
        self._place = Place(self._grid, given['hysteresis'])
        self._ways = Ways(self._grid)
        self._wheels = self._home_mover = self._mover = self._make_mover()
        if given['reset'] == 'service':
            self._home_mover = DockMover(self)

        self._fix: StampedPose | None = None
        self._heard = -math.inf     # when, by the steady clock,
        self._heard_at = 0.0        # and by the clock of the node, which may be simulated
        self._patience = given['pose_timeout'] or math.inf
        self._map_frame = ''
        self._action = RESET
        self._waiting: Callable[[], Maneuver] | None = None    # for a pose, or for the map
        self._maneuver: Maneuver | None = None
        self._failure = ''               # of the last way home
        self._settled: Pose | None = None    # where the last way home has led to, until it moves
        self._pending_answer: str | None = None    # why an answer waits for the next pose
        self._told: int | None = None    # the state that the explorer believes
        self._outcomes = self.create_publisher(String, 'outcome', wire.LATCHED)
        self._poses = PoseTopic(self, given['pose_source'], self._on_pose)
        self.create_subscription(Bool, 'bump', self._on_bump, wire.STEP)
        if given['use_map']:
            self.create_subscription(OccupancyGrid, 'map', self._on_map, wire.LATCHED)
        self.create_timer(_LOOK, self._look, clock=self.steady_clock)
        self.get_logger().info(
            f'actions: [{", ".join(self.action_names)}]; home is state '
            f'{self._home_state} of a grid of {self._grid.columns} x '
            f'{self._grid.rows} cells')

    def execute(self, action: int) -> int | None:
        """Begin a move; return the state if nothing can be driven."""
        return self._begin(action, lambda: Move(
            self._ways, self.action_names[action], self._place.cell, self._place.heading,
            self._given['move_timeout']))

    def return_home(self) -> int | None:
        """Begin the way home; return the state if the last one has led there and that is all."""
        if self._at_rest_at_home:
            self._action = RESET
            self._say(Outcome.REACHED.value)
            return self._home_state
        alone = isinstance(self._home_mover, VelocityMover)
        timeout = self._given['move_timeout' if alone else 'home_timeout']
        state = self._begin(RESET, lambda: WayHome(
            self._ways, self._home, self._given['home_retries'], timeout, not alone))
        if state is not None:
            self._pending_answer = self._failure    # a state returned at once would mean success
        return None

    def cancel(self, reason: str) -> int | None:
        """Stop; return the state, or None if it has to wait for a pose."""
        self._drop(f'cancelled: {reason}')
        self._pending_answer = None if self._fresh else reason
        return self._place.state if self._fresh else None

    def arrived(self, state: int, problem: str = '') -> None:
        """Say where what is over has ended; it was not somebody who moved the robot there."""
        self._told = state
        super().arrived(state, problem)

    def send_state(self, seq: int, state: int) -> None:
        """Publish ``[seq, state]`` and remember what was told."""
        self._told = state
        super().send_state(seq, state)

    def leave(self) -> bool:
        """Come to rest before the node ends; return whether that is over."""
        return super().leave() and self._wheels.idle

    def close(self) -> None:
        """Let zero velocity be the last command, and give up a goal, after an exception too."""
        self._drop('the node is ending')
        self._wheels.close()

    @property
    def _now(self) -> float:
        """The time by the clock of the node in s."""
        return self.get_clock().now().nanoseconds * 1e-9

    @property
    def _fresh(self) -> bool:
        """Whether it is known where the robot is."""
        return self._fix is not None and time.monotonic() <= self._heard + self._patience

    @property
    def _at_rest_at_home(self) -> bool:
        """Whether the last way home has led there, and nobody has moved or turned it since."""
        if not self._settled or not self._fix or not self._fresh:
            return False
        pose, given = self._fix.pose, self._given
        return (self._place.state == self._home_state
                and math.dist(pose[:2], self._settled[:2]) <= given['tolerance']
                and abs(wrapped(pose.yaw - self._settled.yaw)) <= given['heading_tolerance'])

    @property
    def _lacking(self) -> str:
        """What has to come before anything can begin."""
        if not self._fresh:
            return f'pose on {self._poses.name}'
        return 'map' if self._given['use_map'] and self._ways.free is None else ''

    def _late(self, fix: StampedPose) -> StampedPose:
        """Return the last pose with the time that it is now."""
        return fix._replace(time=fix.time + self._now - self._heard_at)

    def _make_mover(self) -> Mover:
        limits = limits_of(self._given)
        if self._given['drive'] == 'cmd_vel':
            return VelocityMover(self, limits, self._given['stamped'])
        if self._given['drive'] == 'goal_pose':
            return GoalMover(self, limits)
        from mnm_ros.nodes.mobile.nav2_mover import Nav2Mover
        return Nav2Mover(self)

    def _begin(self, action: int, make_maneuver: Callable[[], Maneuver]) -> int | None:
        self._action, self._waiting, self._settled = action, make_maneuver, None
        return self._set_out()

    def _set_out(self) -> int | None:
        """Begin what is waiting if that is possible; return the state if it is over at once."""
        lacking = self._lacking
        if lacking:
            self.get_logger().warning(f'waiting for a {lacking}', throttle_duration_sec=5.0)
        if lacking or self._waiting is None or self._fix is None:
            return None
        make_maneuver, self._waiting = self._waiting, None
        if self._map_frame not in ('', self._fix.frame):
            self.get_logger().warning(
                f"the map is in the frame '{self._map_frame}', the poses in '{self._fix.frame}': "
                'they are taken for the same', once=True)
        self._maneuver = make_maneuver()
        self._mover = self._home_mover if self._action == RESET else self._wheels
        # A robot at rest may have been silent for long: that is no time of this maneuver.
        fix = self._late(self._fix) if self._mover.ticks else self._fix
        return self._next_leg(self._maneuver, fix, None)

    def _next_leg(self, maneuver: Maneuver, fix: StampedPose, ended: Outcome | None) -> int | None:
        """Go on with the maneuver; return the state if it is over."""
        leg = maneuver.next(ended, self._place.cell, fix.pose)
        if leg is not None:
            self._mover.start(leg, fix)
            return None
        state, self._maneuver = self._place.state, None
        self._failure = '' if state == self._home_state else maneuver.problem
        if self._failure and self._mover.detail:
            self._failure += f': {self._mover.detail}'
        if self._action == RESET and maneuver.outcome is Outcome.REACHED:
            self._settled = fix.pose
        self._say(self._failure or maneuver.outcome.value)
        return state

    def _advance(self, maneuver: Maneuver, fix: StampedPose) -> None:
        outcome = self._mover.update(fix)
        state = self._next_leg(maneuver, fix, outcome) if outcome else None
        if state is not None:
            self.arrived(state, self._failure)

    def _drop(self, why: str) -> None:
        self._waiting = None
        if self._maneuver is not None:
            self._maneuver = None
            self._mover.stop(self._fix)
            self._say(why)

    def _say(self, how: str) -> None:
        name = 'RESET' if self._action == RESET else self.action_names[self._action]
        self._outcomes.publish(String(data=f'{name}: {how}, in state {self._place.state}'))

    def _on_pose(self, message: Located) -> None:
        pose = planar(message.pose.pose)
        if pose is None:
            self.get_logger().warning(
                'pose ignored: expected finite numbers and a quaternion that is not zero',
                throttle_duration_sec=5.0)
            return
        stamp = message.header.stamp
        now = stamp.sec + stamp.nanosec * 1e-9 or self._now
        if self._fix and now == self._fix.time:
            self.get_logger().warning(
                'pose ignored: its stamp is that of the last one', throttle_duration_sec=5.0)
            return
        self._fix = StampedPose(now, pose, message.header.frame_id)
        self._heard, self._heard_at = time.monotonic(), self._now
        state = self._place.update(pose)
        if self._waiting:
            self._resume()
        if self._maneuver:
            self._advance(self._maneuver, self._fix)
            return
        self._wheels.rest(self._fix)
        if self._pending_answer is not None:
            self._answer_pending()
        elif not self.busy and not self._stopped and self._told not in (None, state):
            self.get_logger().info(f'moved from state {self._told} to {state} by somebody')
            self._settled = None
            self.report(state)

    def _resume(self) -> None:
        state = self._set_out()
        if state is not None:
            self._pending_answer = self._failure

    def _answer_pending(self) -> None:
        """Give the answer that has waited."""
        problem, self._pending_answer = self._pending_answer, None
        self.arrived(self._place.state, problem or '')

    def _on_bump(self, message: Bool) -> None:
        if message.data and self._maneuver:
            self._mover.bump()

    def _on_map(self, message: OccupancyGrid) -> None:
        info = message.info
        origin = planar(info.origin)
        if origin is None or info.resolution <= 0 or len(message.data) != info.width * info.height:
            self.get_logger().warning(
                'map ignored: expected a resolution above 0, a pose as the origin and '
                f'{info.width} x {info.height} values')
            return
        self._map_frame = message.header.frame_id
        self._ways.free = free_cells(self._grid, Map(
            info.resolution, info.width, info.height, origin, message.data))
        home = self._grid.cell_at(self._home.x, self._home.y)
        if home not in self._ways.free:
            self.get_logger().error(f'home, cell {home}, is not free on the map')

    def _look(self) -> None:
        """Do what cannot wait for a pose."""
        self._poses.look()
        if self._maneuver and not self._fresh:
            self.get_logger().error(
                f'no pose on {self._poses.name} for {self._patience:g} s: stopped')
            self._drop('pose lost')
            self._pending_answer = 'the pose was lost'
        elif self._waiting and self._fresh:
            self._resume()
        elif self._pending_answer is not None and self._fresh:
            self._answer_pending()
        elif self._fix:
            late = self._late(self._fix)
            if self._maneuver and self._mover.ticks:
                self._advance(self._maneuver, late)
            elif not self._fresh:
                self._wheels.rest(late)


def main(args: list[str] | None = None) -> int:
    """Run the node ``grid_driver``."""
    return run('grid_driver', GridDriver, args)


if __name__ == '__main__':
    sys.exit(main())
