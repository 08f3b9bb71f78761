# SPDX-License-Identifier: Apache-2.0

"""The explorer: a managed node around an exploration."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
import math
import sys
import time
import traceback
from typing import Any

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from mnm_ros import messages
from mnm_ros.core.errors import ParameterError
from mnm_ros.core.model.problem import radius_for_all
from mnm_ros.core.progress.said import NoMovesYet, Reason
from mnm_ros.language import check
from mnm_ros.nodes.common.allowance import Allowance
from mnm_ros.nodes.common.callbacks import every
from mnm_ros.nodes.common.node_scope import NodeScope
from mnm_ros.nodes.common.robot_profile import AwaitedDescription
from mnm_ros.nodes.common.spin import run
from mnm_ros.nodes.exploring.exploration_store import concerns_graph
from mnm_ros.nodes.exploring.reliance import file_declaration
from mnm_ros.nodes.exploring.services import Services
from mnm_ros.nodes.exploring.session import ExplorationSession
from mnm_ros.parameters import NODES, Parameters
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from rclpy.duration import Duration
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.node import Node
from rclpy.timer import Timer
from std_msgs.msg import Header

try:
    from bondpy import bondpy
except ImportError:    # it is no part of ROS 2 itself, and nothing but the bond needs it
    bondpy = None

_SUCCESS = TransitionCallbackReturn.SUCCESS
_HEARTBEAT = 0.5    # s
_LEAVE = 2.0        # s, that the node may take to leave the robot where it is
_LEAVING = 0.02     # s, between two checks whether it has been left
_TIMES = 10    # as many transitions as calls: a manager makes several at once
_LABELS = {Transition.TRANSITION_DEACTIVATE: 'deactivate', **dict.fromkeys((
    Transition.TRANSITION_UNCONFIGURED_SHUTDOWN, Transition.TRANSITION_INACTIVE_SHUTDOWN,
    Transition.TRANSITION_ACTIVE_SHUTDOWN), 'shutdown')}
_BOND_PERIOD = 0.1     # s, as the nodes of nav2 have it
_BOND_TIMEOUT = 4.0    # s, of silence of the manager; it has its own, bond_timeout
_BOND_DECLARES = '/bond_disable_heartbeat_timeout'    # when a manager has fallen silent
_BOND_GOODBYE = 0.2    # s, for the manager to hear that the bond ends

Callback = Callable[['Explorer', LifecycleState], TransitionCallbackReturn]


def _logged(callback: Callback) -> Callback:
    """Log what goes wrong in a transition, which then is an error: rclpy keeps it to itself."""
    @wraps(callback)
    def guarded(node: Explorer, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            return callback(node, state)
        except Exception:
            node.get_logger().error(traceback.format_exc())
            return TransitionCallbackReturn.ERROR
    return guarded


class ManagerBond:
    """
    Lets the lifecycle manager of nav2 notice that the explorer has died, if there is ``bondpy``.

    It is made while the node is active, as the nodes of nav2 do.

    The manager makes its end of the bond once it has activated the node, and knows it by the
    node's name. The bond has a thread of its own: it shows that the process is gone, not that its
    callbacks hang.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._bond: Any = None

    def make(self) -> None:
        """Begin to report that the node is there."""
        self.end()
        if bondpy is None:
            return
        bond = bondpy.Bond(self._node, 'bond', self._node.get_name())
        bond.heartbeat_period = _BOND_PERIOD
        bond.heartbeat_timeout = _BOND_TIMEOUT
        bond.start()
        self._bond = bond

    def end(self) -> None:
        """Inform the manager that this is the end of the bond, if there is one."""
        bond, self._bond = self._bond, None
        if bond is not None:
            bond.break_bond()
            # What is destroyed before it is heard is lost, and the manager would wait in vain.
            bond.pub.wait_for_all_acked(Duration(seconds=_BOND_GOODBYE))
            bond.shutdown()
            # The bond destroys both, but the node would keep and serve them.
            self._node.destroy_subscription(bond.sub)
            self._node.destroy_publisher(bond.pub)
            if self._node.has_parameter(_BOND_DECLARES):    # it fails where that is there
                self._node.undeclare_parameter(_BOND_DECLARES)


class Explorer(LifecycleNode):
    """
    Explores while active; deactivating pauses, cleaning up forgets.

    It publishes on ``heartbeat`` as long as its callbacks are served, in every lifecycle state.

    :raises ParameterError: if a parameter set at start is not allowed.
    """

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__('explorer', **node_arguments)
        self._session: ExplorationSession | None = None
        self._awaited: AwaitedDescription | None = None    # before there can be a session
        self._active = self._keeps_graph = False
        self._given = Parameters(self, NODES['explorer'], lambda: self._session is not None)
        check(self._given['language'])    # a table with a fault is to fail here, not later
        self._bond = ManagerBond(self)
        self._leaving: Timer | None = None    # after the transition shutdown
        self._leave_by = math.inf
        self._robots: tuple[str, ...] = tuple(
            self._given['robots'] if self._given.is_set('robots') else ())
        self._hearts = [self.create_publisher(Header, topic, messages.HEARTBEAT) for topic in (
            'heartbeat', *(f'{robot}/heartbeat' for robot in self._robots))]
        every(_HEARTBEAT, self, self._beat)
        self._allowance = Allowance()
        _refuse_bad_transitions(self, self._allowance)

    def autostart(self) -> None:
        """
        Configure and activate if the parameter says so.

        :raises ParameterError: if the parameters do not make a problem that can be solved.
        """
        if self._given['autostart']:
            # Made here, so that a bad parameter ends the start instead of one transition.
            self._configure()
            self.trigger_configure()
            self.trigger_activate()

    @_logged
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Make the exploration and its topics, as soon as it is known what is to be explored."""
        try:
            self._configure()
        except ParameterError as error:
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        return _SUCCESS

    @_logged
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Explore."""
        self._active = True
        if self._session:
            self._session.activate()
        if not self._given['autostart']:    # no manager can manage what activates itself
            self._bond.make()
        return _SUCCESS

    @_logged
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Pause."""
        self._active = False
        self._bond.end()
        if self._session:
            self._session.deactivate()
        return _SUCCESS

    @_logged
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Drop the exploration; the node can be configured again."""
        self.close()
        return _SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Do the same after an error."""
        return self.on_cleanup(state)

    @_logged
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """
        Leave the robot and drop the exploration, for good.

        If that takes time, it goes on after the transition, in which nothing can be heard.
        """
        self._bond.end()
        if self.leave():
            self.close()
        else:
            self._leave_by = time.monotonic() + (self.leave_timeout or _LEAVE)
            self._leaving = every(_LEAVING, self, self._go_on_leaving)
        return _SUCCESS

    @property
    def leave_timeout(self) -> float | None:
        """How long ``leave`` may take in seconds; None if it takes no time to speak of."""
        return self._session.leave_timeout if self._session else None

    def leave(self) -> bool:
        """Leave the robot as ``on_shutdown`` says; return whether that is over."""
        return self._session is None or self._session.leave()

    def close(self) -> None:
        """Drop the exploration if there is one."""
        self._bond.end()
        if self._leaving:
            self.destroy_timer(self._leaving)
            self._leaving = None
        self._active = False
        awaited, self._awaited = self._awaited, None
        if awaited:
            awaited.node.destroy_all()
        session, self._session = self._session, None
        if session:
            session.close()
        group = self.default_callback_group    # which never forgets what has been destroyed
        group.entities = {entity for entity in group.entities if entity() is not None}

    def _configure(self) -> None:
        """
        Make the session, or wait for a robot side that says what is not set.

        :raises ParameterError: if the parameters do not make a problem that can be solved.
        """
        if self._session or self._awaited:
            return
        self._keeps_graph = concerns_graph(
            self, self._given['checkpoint_dir'], self._given['warm_start'])
        if self._all_set():
            self._begin_session()
        else:
            node = NodeScope(self)
            robots = [NodeScope(node, name) for name in self._robots] or [node]
            self._awaited = AwaitedDescription(
                node, robots, self._all_set, self._begin, self._given['language'])

    def _all_set(self) -> bool:
        """Return whether a session can begin before the robot side has said what it is."""
        return self._given.is_set('actions') and self._given.is_set('radius') and (
            not self._keeps_graph)    # which may be another one by now

    def _begin(self, description: RobotDescription) -> Reason:
        """Make the session for what a robot side is; return why not, or nothing."""
        given = self._given
        if description.moves and not description.declaration and (
                self._keeps_graph or not (given.is_set('radius') or file_declaration(given))):
            return NoMovesYet()
        given.find('actions', list(description.actions))
        try:
            if not given.is_set('radius'):
                declared = file_declaration(given) or description.declaration
                given.find('radius', radius_for_all(declared, description.home))
            session = self._begin_session(description)
        except ValueError as error:
            return str(error)
        self.get_logger().info(
            f'actions: [{", ".join(given["actions"])}]; radius {given["radius"]:g}')
        awaited, self._awaited = self._awaited, None
        if awaited:
            awaited.node.destroy_all()
        if self._active:
            session.activate()
        return ''

    def _begin_session(self, described: RobotDescription = UNDESCRIBED) -> ExplorationSession:
        session = self._session = ExplorationSession(
            self, self._given, self._allowance, described)
        Services(session.node, session)
        return session

    def _go_on_leaving(self) -> None:
        if self._leaving and (self.leave() or time.monotonic() >= self._leave_by):
            self.close()

    def _beat(self) -> None:
        beat = Header(
            stamp=self.get_clock().now().to_msg(), frame_id=self.get_fully_qualified_name())
        for heart in self._hearts:
            heart.publish(beat)


def _refuse_bad_transitions(node: Explorer, allowance: Allowance) -> None:
    """
    Answer a request for an impossible transition with failure instead of an exception.

    Too many are refused, too, but for those by which the node leaves the robot alone.
    """
    service = node._service_change_state
    change_state = service.callback

    def guarded(request: ChangeState.Request, response: ChangeState.Response) -> Any:
        asked = request.transition
        wanted = asked.label or _LABELS.get(asked.id, '')
        leaves = wanted == 'shutdown' or wanted == 'deactivate' and node._active
        if allowance.takes('service change_state', leaves, _TIMES):
            try:
                return change_state(request, response)
            except rclpy_implementation.RCLError as error:
                node.get_logger().warning(str(error), throttle_duration_sec=1.0)
        response.success = False
        return response

    service.callback = guarded


def main(args: list[str] | None = None) -> int:
    """Run the node ``explorer``."""
    return run('explorer', Explorer, args)


if __name__ == '__main__':
    sys.exit(main())
