"""The explorer: a managed node around an exploration."""

from __future__ import annotations

import sys
import traceback
from typing import Any

from lifecycle_msgs.srv import ChangeState
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from mnm_ros.nodes.session import Session
from mnm_ros.nodes.spin import run
from mnm_ros.parameters import EXPLORER, ParameterError, Parameters

_SUCCESS = TransitionCallbackReturn.SUCCESS


class Explorer(LifecycleNode):
    """Explores while active; deactivating pauses, cleaning up forgets.

    Raises ParameterError if a parameter given at start is not allowed.
    """

    def __init__(self) -> None:
        super().__init__('explorer')
        self._session: Session | None = None
        self._given = Parameters(self, EXPLORER, lambda: self._session is not None)
        _refuse_bad_transitions(self)

    def autostart(self) -> None:
        """Configure and activate if the parameter says so; ParameterError if that fails."""
        if self._given['autostart']:
            # Made here, so that a bad parameter ends the start instead of one transition.
            self._session = Session(self, self._given)
            self.trigger_configure()
            self.trigger_activate()

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Make the exploration and its topics."""
        try:
            self._session = self._session or Session(self, self._given)
        except ParameterError as error:
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        except Exception:    # rclpy would swallow it
            self.get_logger().error(traceback.format_exc())
            return TransitionCallbackReturn.FAILURE
        return _SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Explore."""
        if self._session:
            self._session.activate()
        return _SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Pause."""
        if self._session:
            self._session.deactivate()
        return _SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Drop the exploration."""
        self.close()
        return _SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Drop the exploration, for good."""
        self.close()
        return _SUCCESS

    def close(self) -> None:
        """Drop the exploration if there is one."""
        session, self._session = self._session, None
        if session:
            session.close()


def _refuse_bad_transitions(node: LifecycleNode) -> None:
    """Answer a request for an impossible transition with failure instead of an exception."""
    service = node._service_change_state
    change_state = service.callback

    def guarded(request: ChangeState.Request, response: ChangeState.Response) -> Any:
        try:
            return change_state(request, response)
        except rclpy_implementation.RCLError as error:
            node.get_logger().warning(str(error))
            response.success = False
            return response

    service.callback = guarded


def main(args: list[str] | None = None) -> int:
    """Run the node ``explorer``."""
    def make() -> Explorer:
        node = Explorer()
        node.autostart()
        return node
    return run('explorer', make, args)


if __name__ == '__main__':
    sys.exit(main())
