# SPDX-License-Identifier: Apache-2.0

"""An action of nav2 that the navigator serves as long as no other node does."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from mnm_ros.nodes.navigating.place_finder import PlaceFinder
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node


def nav2_type(group: str, name: str) -> Any:
    """Return a type of ``nav2_msgs``; None if that is not installed, or too old to have it."""
    try:
        return getattr(import_module(f'nav2_msgs.{group}'), name, None)
    except ImportError:
        return None


class _DeferredServer(ActionServer):
    """
    Has goals executed from when they are accepted, and ended by a callback when they are over.

    A coroutine that waits for the end would keep an executor of rclpy busy.
    """

    def notify_execute(self, goal_handle: Any, execute_callback: Any) -> None:
        if execute_callback is not None:
            super().notify_execute(goal_handle, execute_callback)


class Nav2Server:
    """
    Serves the action where its type can be imported, as long as it is left to the navigator.

    It is not while another node serves it, which is nav2, or while the robot side sends its moves
    to it: these are no goals for the navigator.

    :param name: of the action.
    :param kind: the name of its type.
    :param places: what poses mean. It is served if they may mean places, once there are any.
    :param take: called with this and the handle of each goal, which is executing, and has to be
        ended.
    :param cancel: called with a handle whose end is asked for; returns whether that follows.
    :ivar kind: its type; None where it cannot be imported.
    """

    def __init__(self, node: Node, name: str, kind: str, places: PlaceFinder,
                 take: Callable[[Nav2Server, Any], None],
                 cancel: Callable[[Any], bool] = lambda handle: False) -> None:
        self._node, self._name, self._places = node, name, places
        self.kind = nav2_type('action', kind)
        self._take, self._cancel = take, cancel
        self._server: _DeferredServer | None = None
        self._ending = 0    # goals whose result is not sent yet
        self._told = ''     # who takes goals, as logged last

    @property
    def idle(self) -> bool:
        """Whether every goal that was ended has got its result."""
        return not self._ending

    @property
    def serves(self) -> bool:
        """Whether the action is served."""
        return self._server is not None

    def look(self) -> None:
        """Serve the action if it is free, else leave it; to be called now and then."""
        if self.kind is None:
            self._tell('not served, as the package nav2_msgs is not installed')
            return
        if not (self._places.description.positions or self.serves):
            return
        ours = self._is_ours()
        self._tell('goals on it are known places' if ours else
                   'left to another node, or switched off')
        if ours and self._server is None:
            self._server = _DeferredServer(
                self._node, self.kind, self._name, lambda handle: self.kind.Result(),
                goal_callback=lambda _: (
                    GoalResponse.ACCEPT if self._is_ours() else GoalResponse.REJECT),
                handle_accepted_callback=self._on_goal,
                cancel_callback=lambda handle: (
                    CancelResponse.ACCEPT if self._cancel(handle) else CancelResponse.REJECT))
        elif self._server is not None and not ours:
            self._server.destroy()
            self._server, self._ending = None, 0

    def succeed(self, handle: Any, **fields: Any) -> None:
        """End a goal well; the result has the fields that its type has."""
        self._end(handle, lambda ended: ended.succeed(), fields)

    def abort(self, handle: Any, code: int, why: str, **fields: Any) -> None:
        """End a goal, as cancelled if its client has asked for that, else as aborted, and why."""
        def give_up(ended: Any) -> None:
            if ended.is_cancel_requested:
                ended.canceled()
            else:
                ended.abort()
        self._end(handle, give_up, {'error_code': code, 'error_msg': why, **fields})

    def _end(self, handle: Any, how: Callable[[Any], None], fields: dict[str, Any]) -> None:
        def end(ended: Any) -> Any:
            self._ending -= 1
            how(ended)
            result = self.kind.Result()
            for name, value in fields.items():
                if hasattr(result, name):    # Humble has no error_code, Jazzy no error_msg in all
                    setattr(result, name, value)
            return result
        if self._server is not None:
            self._ending += 1
            self._server.notify_execute(handle, end)

    def _on_goal(self, handle: Any) -> None:
        handle.execute()
        self._take(self, handle)

    def _tell(self, who: str) -> None:
        if who != self._told:
            self._told = who
            self._node.get_logger().info(f'{self._name}: {who}')

    def _is_ours(self) -> bool:
        status = self._node.resolve_topic_name(f'{self._name}/_action/status')
        if not self._places.offered or self._node.count_publishers(status) > self.serves:
            return False
        requests = self._node.resolve_service_name(f'{self._name}/_action/send_goal')
        sides = {(side.node_name, side.node_namespace) for side in
                 self._node.get_publishers_info_by_topic(self._node.resolve_topic_name('state'))}
        try:
            asked = {service for side in sides for service, _ in
                     self._node.get_client_names_and_types_by_node(*side)}
        except RuntimeError:    # it is not known yet, or no more
            return False
        return requests not in asked
