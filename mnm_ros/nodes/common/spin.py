# SPDX-License-Identifier: Apache-2.0

"""How every node starts, or prints its help, how it spins and ends, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
import faulthandler
import gc
import json
from pathlib import Path
from shlex import quote
import signal
import sys
from textwrap import fill
import time
import traceback
from types import FrameType
from typing import Any

from mnm_ros.core.errors import FileError, ParameterError
from mnm_ros.files import open_streams, user_path, write_whole
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.parameters import check_files, is_required, NODES, ParameterSpec, REQUIRED
import rclpy
from rclpy.executors import Executor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

try:
    from rclpy.experimental import EventsExecutor as FastExecutor  # noqa: TID251
except ImportError:    # Humble
    from rclpy.executors import SingleThreadedExecutor as FastExecutor

_LIBRARIES = {'rclpy', *sys.stdlib_module_names} - {'__main__'}
_SPIN = 0.1     # s, after which a signal is noticed at the latest
_HANG = 10.0    # s, after which the end of a node in the middleware is not waited for any longer
_LEAVE = 2.0    # s, that a node may take to leave its robot, unless it says otherwise
_WIDTH = 90     # characters of a line of the help
_HELP = ('-h', '--help')
_REFUSALS = rclpy_implementation.RCLError, rclpy_implementation.UnknownROSArgsError


def run(
        name: str, make_node: Callable[[], Node], args: list[str] | None = None) -> int:
    """
    Run a node until SIGINT, SIGTERM or the end of its context; return the exit status.

    With ``--help`` print the parameters instead.

    The methods ``autostart``, ``leave`` and ``close`` of the node are called if it has them.
    ``autostart`` comes first, and may find a bad parameter, too. ``leave`` brings the robot to
    rest: it is called after a signal, and again between callbacks, until it returns True or 2 s
    have passed. If the node has an attribute ``leave_timeout`` that is not None, that many seconds
    may pass, and another signal ends the wait. ``close`` comes last, when the node can still
    publish and log.

    An exception in a callback ends the node with a traceback, after ``close``. One that rclpy
    raises without a callback of the node is logged, and the node goes on: a message that rclpy
    cannot read, on ``set_parameters`` or ``/clock``, is no reason to leave a robot alone.

    :param name: of the program, for error messages.
    :param make_node: called once ROS is initialised; a bad parameter that it raises, or a bad ROS
        argument, is printed as one line on stderr, and the status is 1.
    :param args: ROS arguments instead of those of the command line.
    """
    if help_wanted(sys.argv[1:] if args is None else args):
        described = getattr(sys.modules.get(make_node.__module__), '__doc__', None) or ''
        print(usage(name, described))
        return 0
    return run_together(name, (make_node,), args)


def run_together(name: str, makers: Iterable[Callable[[], Node]],
                 args: list[str] | None = None) -> int:
    """
    Run several nodes as ``run`` does, in one executor; return the exit status.

    They are left and closed in the order that is opposite to that in which they are made.

    :param name: of the program, for error messages.
    :param makers: as ``make_node`` of ``run``, for each node.
    :param args: ROS arguments instead of those of the command line.
    """
    open_streams()    # rclpy writes tracebacks to stderr, and needs one
    with _count_signals() as signals:
        nodes: list[Node] = []
        executor: Executor | None = None
        try:
            check_files(args)
            rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
            for make_node in makers:
                nodes.insert(0, make_node())
                autostart = getattr(nodes[0], 'autostart', None)
                if autostart:
                    autostart()
            # What is there by now stays: no collection of garbage is to examine it again.
            gc.collect()
            gc.freeze()
            executor = FastExecutor()
            for node in nodes:
                executor.add_node(node)
            while rclpy.ok() and not signals():
                _spin_once(nodes[0], executor)
            for node in nodes:
                _leave(node, executor, signals)
        except (FileError, ParameterError, *_REFUSALS) as error:
            if executor is not None:    # the node has started: no argument is wrong
                raise
            print(f'{name}: {refusal(error) or error}', file=sys.stderr, flush=True)
            return 1
        finally:
            _close(nodes, executor)
    return 0


def refusal(error: Exception) -> str:
    """Return why ROS has refused the arguments of the command line, or nothing."""
    if isinstance(error, rclpy_implementation.UnknownROSArgsError):
        return f'ROS does not know the arguments {error}'
    return str(error) if str(error).startswith('failed to initialize rcl') else ''


def _close(nodes: list[Node], executor: Executor | None) -> None:
    for node in nodes:
        close = getattr(node, 'close', None)
        if close:
            close()
        if executor is not None:
            executor.remove_node(node)
    # Fast DDS may wait for ever if another node is found at this moment, and keep the
    # interpreter's lock, so that no signal and no other thread would end the process.
    faulthandler.dump_traceback_later(_HANG, exit=True)
    for node in nodes:
        node.destroy_node()
    if executor is None:
        gc.collect()    # a node whose constructor has raised is among what refers to itself
    rclpy.try_shutdown()
    faulthandler.cancel_dump_traceback_later()


def _spin_once(node: Node, executor: Executor) -> None:
    """Serve what is due; plain spin() of the EventsExecutor delivers nothing on some releases."""
    try:
        executor.spin_once(timeout_sec=_SPIN)
    except Exception as error:
        if not rclpy.ok() or not _of_rclpy_alone(error):
            raise
        node.get_logger().error(
            f'ignored, as it concerns no callback of this node: {traceback.format_exc()}',
            throttle_duration_sec=5.0)


def _of_rclpy_alone(error: Exception) -> bool:
    """Return whether only this module, rclpy, messages and the library took part."""
    frames = (frame.f_globals.get('__name__', '') for frame, _ in traceback.walk_tb(
        error.__traceback__))
    return all(
        module == __name__ or module.partition('.')[0] in _LIBRARIES
        or module.split('.')[1:2] in (['msg'], ['srv'], ['action']) for module in frames)


def _leave(node: Node, executor: Executor, signals: Callable[[], int]) -> None:
    leave = getattr(node, 'leave', None)
    limit: float | None = getattr(node, 'leave_timeout', None)
    end, before = time.monotonic() + (_LEAVE if limit is None else limit), signals()
    while leave and rclpy.ok() and not leave() and time.monotonic() < end:
        if limit is not None and signals() > before:
            return
        _spin_once(node, executor)


_received: list[int] = []    # signals


def ending() -> bool:
    """Return whether a signal wants the nodes to end, which waits while one of them is made."""
    return bool(_received)


@contextmanager
def _count_signals() -> Iterator[Callable[[], int]]:
    """
    Count SIGINT and SIGTERM instead of interrupting a callback; yield how many have come.

    rclpy's own handlers end the context at once, after which nothing can be published.
    """
    received = _received
    received.clear()

    def remember(number: int, _: FrameType | None) -> None:
        received.append(number)

    before = {number: signal.signal(number, remember)
              for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: len(received)
    finally:
        for number, handler in before.items():
            # A second Ctrl-C would interrupt the end of the process.
            ending = handler in (signal.default_int_handler, signal.SIG_DFL)
            signal.signal(number, signal.SIG_IGN if ending else handler)


def write_json(path: str | Path, content: Mapping[str, Any]) -> Path:
    """
    Write a file and return its path; a reader sees the old file or the new one, never a part.

    Missing directories are made. OSError or FileError if that or the writing fails.
    """
    path = user_path(path).absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_whole(path, json.dumps(content))


def write_record(
        node: NodeInterface, path: str,
        counts: Mapping[tuple[int, int], Mapping[int, int]]) -> None:
    """
    Write counts ``{(state, action): {next: n}}`` as ``{state: {action: {next: n}}}``.

    Does nothing if ``path`` is empty; logs an error if the file cannot be written.
    """
    if not path:
        return
    record: dict[int, Any] = {}
    for (state, action), following in counts.items():
        record.setdefault(state, {})[action] = dict(following)
    steps = sum(sum(following.values()) for following in counts.values())
    try:
        write_json(path, {'steps': steps, 'counts': record})
    except (FileError, OSError) as error:
        node.get_logger().error(f'record not written: {error}')


def help_wanted(arguments: Sequence[str]) -> bool:
    """Return whether help is asked for, before the arguments that are for ROS."""
    words = list(arguments)
    own = words[:words.index('--ros-args')] if '--ros-args' in words else words
    return any(word in _HELP for word in own)


def usage(name: str, description: str) -> str:
    """
    Return what an executable is, its parameters, and how to give them.

    :param name: of the executable; one that is not of this package has no list of parameters.
    :param description: paragraphs, as in a docstring.
    """
    return '\n'.join(_lines(name, description))


def _lines(name: str, description: str) -> Iterator[str]:
    given = '--ros-args [-p NAME:=VALUE ...] [--params-file FILE] [-r __ns:=/NAMESPACE]'
    yield f'usage: {name} [--help] [{given}]'
    for paragraph in description.replace('``', '').strip().split('\n\n'):
        yield from ('', fill(paragraph, _WIDTH))
    specs = NODES.get(name, ())
    if not specs:
        return
    example = f'{name} --ros-args -p {_example(specs[0])}'
    yield from ('', 'give parameters after --ros-args, in either way:',
                f'  ros2 run mnm_ros {example}', f'  mnm_ros run {example}',
                '', 'parameters, with their defaults:')
    for spec in specs:
        default = 'not set' if spec.optional else _shown(spec)
        yield f'  {spec.name}: {"required" if is_required(spec) else default}'
        change = '; may change at any time' if spec.runtime else ''
        yield fill(f'{spec.description}; {spec.allowed}{change}', _WIDTH,
                   initial_indent=' ' * 6, subsequent_indent=' ' * 6)


def _example(spec: ParameterSpec) -> str:
    """Return ``NAME:=VALUE`` as a shell understands it."""
    value = REQUIRED.get(spec.name)
    if isinstance(value, list):
        return quote(f'{spec.name}:=[{", ".join(value)}]')
    return f'{spec.name}:={_shown(spec) if value is None else value}'


def _shown(spec: ParameterSpec) -> str:
    """Return the default as it is written on the command line."""
    if isinstance(spec.default, bool):
        return str(spec.default).lower()
    return "''" if spec.default == '' else str(spec.default)
