"""How every node of the package starts, spins and ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import signal
import sys
import time
from types import FrameType

import rclpy
from rclpy.executors import Executor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from mnm_ros.nodes.common.usage import help_wanted, usage
from mnm_ros.parameters import ParameterError, check_files

try:
    from rclpy.experimental import EventsExecutor as FastExecutor
except ImportError:    # Humble
    from rclpy.executors import SingleThreadedExecutor as FastExecutor

_SPIN = 0.1     # s, after which a signal is noticed at the latest
_LEAVE = 2.0    # s, that a node may take to leave its robot


def run(
        name: str, make_node: Callable[[], Node], args: list[str] | None = None) -> int:
    """Run a node until SIGINT, SIGTERM or the end of its context; return the exit status.

    With ``--help`` print the parameters instead.

    The methods ``leave`` and ``close`` of the node are called if it has them. ``leave`` brings
    the robot to rest: it is called after a signal, and again between callbacks, until it returns
    True or 2 s have passed. ``close`` comes last, when the node can still publish and log.

    Args:
        name: of the program, for error messages.
        make_node: called once ROS is initialised; a bad parameter that it raises, or a bad ROS
            argument, is printed as one line on stderr, and the status is 1.
        args: ROS arguments instead of those of the command line.
    """
    if help_wanted(sys.argv[1:] if args is None else args):
        described = getattr(sys.modules.get(make_node.__module__), '__doc__', None) or ''
        print(usage(name, described.partition('\n')[0]))
        return 0
    with _stop_on_signals() as stopped:
        try:
            check_files(args)
            rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
            node = make_node()
        except (ParameterError, rclpy_implementation.RCLError) as error:
            print(f'{name}: {error}', file=sys.stderr)
            rclpy.try_shutdown()
            return 1
        executor = FastExecutor()
        executor.add_node(node)
        try:
            # Plain spin() of the EventsExecutor delivers nothing on some distributions.
            while rclpy.ok() and not stopped():
                executor.spin_once(timeout_sec=_SPIN)
            _leave(node, executor)
        finally:
            close = getattr(node, 'close', None)
            if close:
                close()
            executor.remove_node(node)
            node.destroy_node()
            rclpy.try_shutdown()
    return 0


def _leave(node: Node, executor: Executor) -> None:
    leave = getattr(node, 'leave', None)
    end = time.monotonic() + _LEAVE
    while leave and rclpy.ok() and not leave() and time.monotonic() < end:
        executor.spin_once(timeout_sec=_SPIN)


@contextmanager
def _stop_on_signals() -> Iterator[Callable[[], bool]]:
    """Remember SIGINT and SIGTERM instead of interrupting a callback; yield whether one came.

    rclpy's own handlers end the context at once, after which nothing can be published.
    """
    received: list[int] = []

    def remember(number: int, _: FrameType | None) -> None:
        received.append(number)

    before = {number: signal.signal(number, remember)
              for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in before.items():
            # A second Ctrl-C would interrupt the end of the process.
            ending = handler in (signal.default_int_handler, signal.SIG_DFL)
            signal.signal(number, signal.SIG_IGN if ending else handler)
