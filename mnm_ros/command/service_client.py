# SPDX-License-Identifier: Apache-2.0

"""A node for the length of one command, which talks to nodes that are running."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import getpass
import time
from typing import Any, TYPE_CHECKING, TypeVar

from mnm_ros.console.arguments import in_domain
from mnm_ros.core.errors import NoAnswerError
from mnm_ros.interrupt import held_back, InterruptedLate
from mnm_ros.nodes.common.request_topic import RequestTopic
import rclpy
from rclpy.client import Client
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

if TYPE_CHECKING:
    from rclpy.type_support import Srv

_RequestT = TypeVar('_RequestT')
_ResponseT = TypeVar('_ResponseT')
_SPIN = 0.05      # s
_SETTLE = 0.5     # s, until a node that was found has found this one, too
_FOUND = 2.5      # s, until an explorer that is there has been found, and has heard
_HEARD = 0.3      # s, for a request to arrive: Fast DDS asks for acknowledgements every 3 s only
_AGAIN = 0.3      # s, after an answer that something is not done yet
_RETRY = 0.25     # s, after which a request that does no harm twice is sent again,
_SLOWER = 2.0     # and this many times as long after that: too many calls would be refused


class ServiceClient(InterruptedLate):
    """
    A context manager around such a node.

    :param namespace: of the nodes to call, with a slash before it.
    :param ros_arguments: of the command line, ``--ros-args`` before them.
    :param timeout: s to wait for the nodes that should be there, and for each answer.
    """

    def __init__(self, namespace: str, ros_arguments: Sequence[str], timeout: float) -> None:
        self._namespace = namespace
        self._ros_arguments = list(ros_arguments)
        self._timeout = timeout
        self._context = Context()

    def _begin(self) -> None:
        # Ctrl-C is a KeyboardInterrupt here; rclpy's own handler would end the context.
        rclpy.init(args=self._ros_arguments, context=self._context,
                   signal_handler_options=SignalHandlerOptions.NO)
        self.node = Node('command', namespace=self._namespace, context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._requests = RequestTopic(self.node)

    def _end(self) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        self._context.try_shutdown()

    def wait(self, condition: Callable[[], object], seconds: float | None = None) -> bool:
        """Spin until the condition is true; return whether it was before the timeout."""
        end = time.monotonic() + (self._timeout if seconds is None else seconds)
        while not condition():
            if time.monotonic() > end:
                return False
            with held_back():
                self._executor.spin_once(timeout_sec=_SPIN)
        return True

    def find(self, condition: Callable[[], object], missing: str) -> None:
        """Wait for a node; NoAnswerError says which is missing if that is in vain."""
        if not self.wait(condition):
            raise NoAnswerError(f'{missing} after {self._timeout:g} s, {in_domain()}')

    def settle(self) -> None:
        """Spin until the node that was found has surely found this one, too."""
        self.wait(lambda: False, _SETTLE)

    def record(self, what: str, command: str, since: float | None = None, **more: Any) -> None:
        """
        Say who asks for something, for the record of an explorer, if there is one.

        :param what, more: as ``RequestTopic.say`` has it.
        :param command: the subcommand.
        :param since: when it was asked for, in s of the steady clock; None if that comes now.
        """
        self.wait(lambda: self._requests.heard, _FOUND)
        ago = None if since is None else round(time.monotonic() - since, 3)
        self._requests.say(what, f'mnm_ros {command}', user=_user(), ago=ago, **more)
        self._requests.wait_until_heard(_HEARD)

    def call(self, kind: type[Srv[_RequestT, _ResponseT]], service: str, request: _RequestT,
             servers: str, repeat: bool,
             unfinished: Callable[[_ResponseT], bool] = lambda response: False) -> _ResponseT:
        """
        Call a service, and again as long as that is unfinished; return the last response.

        :param servers: who offers it, in words.
        :param repeat: whether the request does no harm twice. It is sent at once then, and again
            until there is a response: one is lost as long as the service has not found the
            client.
        :param unfinished: says of each response whether the service is to be called again.
        :raises NoAnswerError: if no node offers it or there is no response.
        """
        client = self.node.create_client(kind, service)
        name = self.node.resolve_service_name(service)
        self.find(client.service_is_ready, f'no node offers {name} ({servers})')
        if not repeat:
            self.settle()
        while unfinished(response := self._ask(client, name, request, repeat)):
            self.wait(lambda: False, _AGAIN)
        return response

    def _ask(self, client: Client[_RequestT, _ResponseT], name: str, request: _RequestT,
             repeat: bool) -> _ResponseT:
        futures: list[Future[_ResponseT]] = []
        end, patience = time.monotonic() + self._timeout, _RETRY if repeat else self._timeout
        while not futures or time.monotonic() < end:
            futures.append(client.call_async(request))
            if self.wait(lambda: any(future.done() for future in futures),
                         min(patience, end - time.monotonic())):
                return next(future for future in futures if future.done()).result()
            patience *= _SLOWER
        raise NoAnswerError(f'{name} has not answered after {self._timeout:g} s')


def _user() -> str | None:
    """Return who is logged in; None if the system does not know."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return None
