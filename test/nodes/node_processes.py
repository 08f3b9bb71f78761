# SPDX-License-Identifier: Apache-2.0

"""Real nodes in real processes, and a node in the test process to talk to them."""

from __future__ import annotations

from array import array
import atexit
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
import ctypes
from functools import lru_cache, wraps
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
from threading import Condition, Thread
import time
from typing import Any, NamedTuple
from weakref import WeakSet

from mnm_ros import messages
from node_server import COMMAND, destroy
from rcl_interfaces.srv import GetParameters, SetParameters
import rclpy
from rclpy.client import Client
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import Int64MultiArray
from std_srvs.srv import Trigger

try:
    from rclpy.event_handler import (  # noqa: TID251
        PublisherEventCallbacks,
        SubscriptionEventCallbacks,
    )
except ImportError:    # Humble
    from rclpy.qos_event import PublisherEventCallbacks, SubscriptionEventCallbacks

DEADLINE = 240.0    # s, for anything that ought to happen at once; generous on busy machines

PAUSE = 0.01      # s between the steps of robots that need not be quick
REST = 0.1        # s between those of robots that are not waited for: others have the processor

ONE_THREAD = {'OPENBLAS_NUM_THREADS': '1'}    # of each node; others would only wait for it, busily

_PYTHONPATH = os.environ.get('PYTHONPATH', '')    # before a test adds folders
_ANCHOR = 'tests_'
_QUIET = 1.0      # s, for what has ended to be gone from the graph
_LOST = 20.0      # s, after which a request, or its response, must have got lost
_MOMENT = 3.0     # s, for nodes to end by themselves; the graph shows one that is killed for 20 s

_peers: list[Peer] = []             # of this test
_processes: list[NodeProcess] = []
_anchors: list[Node] = []           # each lets a participant stay, for one peer of a test
_resting: list[Node] = []           # those that still see a node which was killed
_made: WeakSet[Node] = WeakSet()    # nodes of this test


def end_all() -> None:
    """End what a test has made, failed or not: whatever is left disturbs the tests after it."""
    while _peers:
        _peers.pop().close()
    for node in [*_made]:
        with suppress(Exception):    # most were destroyed by those that have made them
            node.destroy_node()
    _made.clear()
    for process in _processes:
        process.send(signal.SIGTERM)
    end = time.monotonic() + _MOMENT
    while any(process.running for process in _processes) and time.monotonic() < end:
        time.sleep(0.005)
    for process in _processes:
        process.kill()
    if any(process.wait() < 0 for process in _processes):    # it would be seen for 20 s more
        _rest()
    _processes.clear()
    quiet = time.monotonic() + _QUIET
    while any(map(_sees_others, _anchors)):
        if time.monotonic() >= quiet:    # the next test would take them for its own
            _rest()
        time.sleep(0.002)


def _rest() -> None:
    """Let no test have the participants until they see none of a test before."""
    _resting.extend(_anchors)
    _anchors.clear()


def _sees_others(anchor: Node) -> bool:
    return not all(name.startswith(_ANCHOR) for name in anchor.get_node_names())


def _context() -> Context:
    """
    Return a context of which no peer of this test has been given one.

    Fast DDS may crash, or wait for ever, when a participant leaves a domain in which others come
    and go. So none leaves before the process ends, and later tests have them again. Of more than
    some thirty on one machine, not all find each other.
    """
    if len(_peers) < len(_anchors):
        return _anchors[len(_peers)].context
    rested = next((anchor for anchor in _resting if not _sees_others(anchor)), None)
    if rested is not None:
        _resting.remove(rested)
        _anchors.append(rested)
    else:
        context = Context()
        rclpy.init(context=context)
        anchor = Node(f'{_ANCHOR}{len(_anchors) + len(_resting)}', context=context,
                      enable_rosout=False, start_parameter_services=False)
        _made.discard(anchor)
        for kept in (context, anchor, anchor.handle):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
        _anchors.append(anchor)
    return _anchors[len(_peers)].context


@wraps(Node.__init__)
def _remember(node: Node, *arguments: Any, **named: Any) -> None:
    _make_node(node, *arguments, **named)
    _made.add(node)


def _hears_no_event(create: Callable[..., Any], callbacks: type) -> Callable[..., Any]:
    """Let what is made hear of no QoS event unless asked: each is looked for at each message."""
    @wraps(create)
    def created(*arguments: Any, **named: Any) -> Any:
        return create(
            *arguments, **{'event_callbacks': callbacks(use_default_callbacks=False), **named})
    return created


_make_node, Node.__init__ = Node.__init__, _remember
Node.create_publisher = _hears_no_event(Node.create_publisher, PublisherEventCallbacks)
Node.create_subscription = _hears_no_event(
    Node.create_subscription, SubscriptionEventCallbacks)
Node.destroy_node = destroy


def _said() -> str:
    """Return the last lines of each node of this test, to see why it was waited for in vain."""
    return '\n'.join(f"-- {process.module}, {'running' if process.running else 'ended'}:\n"
                     f'{process.output[-1500:]}' for process in _processes)


def soon(seconds: float, limit: float) -> bool:
    """Say whether something was quick enough for a machine that is as busy as this one now."""
    from tiers import slowness  # bases of tests import this module where nodes run
    return seconds < limit or seconds < limit * slowness()


class _Server:
    """The process of ``node_server.py``, which every test of a run shares."""

    def __init__(self) -> None:
        script = Path(__file__).with_name('node_server.py')
        # One thread to fork safely.
        environment = {**os.environ, **ONE_THREAD, 'PYTHONPATH': _PYTHONPATH}
        self._process = subprocess.Popen(
            [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment)
        self._news = Condition()
        self._started: list[int] = []
        self._ended: dict[int, int] = {}
        self.cpu_time = 0.0    # s, of the nodes that have ended
        Thread(target=self._read, daemon=True).start()
        atexit.register(self._process.terminate)

    def start(self, program: str, output: Path, arguments: Sequence[str],
              errors: Path | None = None) -> int:
        """Start a node, a script or the command, and return its process id."""
        order = {'program': program, 'output': str(output), 'arguments': [*arguments],
                 'errors': str(errors or ''),
                 'directory': os.getcwd(), 'environment': {**os.environ, **ONE_THREAD}}
        assert self._process.stdin
        self._process.stdin.write(f'{json.dumps(order)}\n'.encode())
        self._process.stdin.flush()
        with self._news:
            assert self._news.wait_for(lambda: self._started, DEADLINE), 'no node was started'
            return self._started.pop()

    def status(self, pid: int, deadline: float) -> int | None:
        """Return the exit status, negative if a signal ended it; None if it is still running."""
        with self._news:
            self._news.wait_for(lambda: pid in self._ended, deadline)
            return self._ended.get(pid)

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            pid, status, used = json.loads(line)
            with self._news:
                self.cpu_time += used
                if status is None:
                    self._ended.pop(pid, None)    # of a process that had the same id before
                    self._started.append(pid)
                else:
                    self._ended[pid] = status
                self._news.notify_all()


if 'PYTEST_XDIST_WORKER' in os.environ:    # the participants that are left would be destroyed
    atexit.register(os._exit, 0)

_server = lru_cache(maxsize=None)(_Server)


def cpu_time() -> float:
    """Return the CPU time in s of all nodes that were started here and have ended."""
    return _server().cpu_time if _server.cache_info().currsize else 0.0


class NodeProcess:
    """
    One node of the package, a script, or the command ``mnm_ros``.

    Stops and pauses are kept beside the output, unless an argument says where.

    :param output: the file for its output.
    :param errors: the file for what it writes to stderr; without one, that is in the output, too.
    :param of_test: whether it ends with the test, at the latest; else its maker has to kill it.
    """

    def __init__(self, module: str, output: Path, arguments: Sequence[str],
                 errors: Path | None = None, of_test: bool = True) -> None:
        self.module, self._output, self._errors = module, output, errors or output
        self._status: int | None = None
        for each in (output, self._errors):    # the fork empties them later than it is seen
            each.write_text('')
        if module != COMMAND and '--ros-args' in arguments and not any(
                word.startswith('stop_dir:=') for word in arguments):
            arguments = [*arguments, '-p', f'stop_dir:={json.dumps(str(output.parent))}']
        self.pid = _server().start(module, output, arguments, errors)
        if of_test:
            _processes.append(self)

    @property
    def output(self) -> str:
        return self._output.read_text()

    @property
    def errors(self) -> str:
        return self._errors.read_text()

    @property
    def running(self) -> bool:
        return self._ended(0.0) is None

    @property
    def crashed(self) -> bool:
        """Whether it has ended with an error that it did not expect."""
        return self._ended(0.0) == 1 and 'Traceback' in self.errors

    def wait(self, deadline: float = DEADLINE) -> int:
        """Return the exit status; negative if a signal ended it."""
        status = self._ended(deadline)
        assert status is not None, f'not ended after {deadline} s: {self.output}'
        return status

    def send(self, number: int) -> None:
        if self.running:
            with suppress(ProcessLookupError):    # it has ended since
                os.kill(self.pid, number)

    def stop(self, number: int = signal.SIGINT, limit: float = DEADLINE) -> int:
        """Send the signal and return the exit status, which has to come within the limit."""
        begun = time.monotonic()
        self.send(number)
        # A robot that is played here answers meanwhile, for which an explorer waits a second.
        while self.running and time.monotonic() < begun + DEADLINE:
            self._ended(0.01)
            for peer in _peers:
                if not peer.closed:
                    peer.spin(0.01)
        status = self.wait()
        assert soon(time.monotonic() - begun, limit), self.output
        return status

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        self.wait()

    def _ended(self, deadline: float) -> int | None:
        if self._status is None:
            self._status = _server().status(self.pid, deadline)
        return self._status


class Done(NamedTuple):
    """The exit status and the output of a command."""

    returncode: int
    stdout: str
    stderr: str


def arguments(parameters: Mapping[str, Any], namespace: str = '') -> list[str]:
    given = ['--ros-args']
    for name, value in parameters.items():
        given += ['-p', f'{name}:={json.dumps(value)}']
    return given + (['-r', f'__ns:={namespace}'] if namespace else [])


class Peer:
    """A node in the test process, until the test ends; all that it waits for has a deadline."""

    def __init__(self, namespace: str = '', name: str = 'peer') -> None:
        self.context = _context()
        self.closed = False
        # Nobody asks it for parameters, and every node would have to discover six services.
        self.node = Node(name, namespace=namespace or None, context=self.context,
                         enable_rosout=False, start_parameter_services=False)
        # With rclpy's EventsExecutor, 7 of 2,400 first commands were lost: nodes that a test has
        # destroyed may stay for a while.
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        _peers.append(self)

    def spin_also(self, node: Node) -> None:
        """Spin another node of the same context too."""
        self._executor.add_node(node)

    def spin_without(self, node: Node) -> None:
        """Let it be silent from now on."""
        self._executor.remove_node(node)

    def destroy(self, node: Node) -> None:
        """Destroy a node that is spun."""
        self.spin_without(node)
        node.destroy_node()

    def spin_once(self, seconds: float = 0.02) -> None:
        """Take the next thing that has come, or wait for it for so long."""
        self._executor.spin_once(timeout_sec=seconds)

    def listen(self, kind: type, topic: str, qos: Any = messages.LATCHED) -> list[Any]:
        """Return a list that grows with each message."""
        heard: list[Any] = []
        self.node.create_subscription(kind, topic, heard.append, qos)
        return heard

    def wait_for(
            self, condition: Callable[[], Any], what: str, deadline: float = DEADLINE) -> Any:
        """Spin until the condition is true, with messages to look at, and return its value."""
        end = time.monotonic() + deadline
        while True:
            value = None
            with suppress(IndexError):    # of a topic on which nothing has been heard yet
                value = condition()
            if value:
                return value
            assert time.monotonic() < end, f'waited {deadline} s in vain: {what}\n{_said()}'
            assert not any(process.crashed for process in _processes), f'{what}:\n{_said()}'
            self.spin_once()

    def wait_for_rest(self, value: Callable[[], Any], what: str, seconds: float = 1.0) -> Any:
        """Spin until the value has stayed the same for so long, and return it."""
        last, since = value(), time.monotonic()

        def rests() -> bool:
            nonlocal last, since
            now = value()
            if now != last:
                last, since = now, time.monotonic()
            return time.monotonic() > since + seconds

        self.wait_for(rests, what)
        return last

    def spin(self, seconds: float) -> None:
        """Spin for a while, to see that something does not happen."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.spin_once()

    @contextmanager
    def client(self, kind: type, service: str) -> Iterator[Callable[[Any], Any]]:
        """Give a function that sends a request to a service and returns the response."""
        client = self._connected(kind, service)
        self._wait_until_known(service)

        def send(request: Any) -> Any:
            futures = [client.call_async(request)]
            again = time.monotonic() + _LOST

            def answered() -> list[Any]:
                if len(futures) == 1 and time.monotonic() > again:
                    futures.append(client.call_async(request))
                return [future.result() for future in futures if future.done()]
            return self.wait_for(answered, f'response of {service}')[0]

        yield send
        self.node.destroy_client(client)

    def _connected(self, kind: type, service: str) -> Client:
        """
        Return a client that sees its service.

        Rarely one never does while another of the same node would at once.
        """
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            client, until = self.node.create_client(kind, service), time.monotonic() + 10.0
            while time.monotonic() < until:
                if client.service_is_ready():
                    return client
                self.spin_once()
            self.node.destroy_client(client)
        raise AssertionError(f'waited {DEADLINE} s in vain: service {service}')

    def _wait_until_known(self, service: str) -> None:
        """
        Wait until who offers a service knows its client, too: a response is lost before.

        Clients become known in the order in which they were made, so a later one asks for
        nothing until it gets a response. Where the graph does not say which node it is, half a
        second has to be enough, as it is where nobody is busy.
        """
        name, end = self.node.resolve_service_name(service), time.monotonic() + 0.5
        owner = self._owner(name)
        while owner is None and time.monotonic() < end:
            self.spin_once()
            owner = self._owner(name)
        if owner is None:
            return
        probe = self._connected(
            GetParameters, f'{owner[1].rstrip("/")}/{owner[0]}/get_parameters')
        asked: list[Any] = []

        def answered() -> bool:
            if not asked or time.monotonic() > asked[-1][0] + 0.2:
                asked.append((time.monotonic(), probe.call_async(GetParameters.Request())))
            return any(future.done() for _, future in asked)

        self.wait_for(answered, f'a response of {owner}')
        self.node.destroy_client(probe)

    def _owner(self, service: str) -> tuple[str, str] | None:
        """Return the name and the namespace of a node that offers a service, if it is known."""
        return next((node for node in self.node.get_node_names_and_namespaces()
                     if service in self._services(*node)), None)

    def _services(self, name: str, namespace: str) -> set[str]:
        """Return the services of a node that may just have ended."""
        try:
            offered = self.node.get_service_names_and_types_by_node(name, namespace)
        except RuntimeError:    # it is not known any more
            return set()
        return {service for service, _ in offered}

    def call(self, kind: type, service: str, request: Any = None) -> Any:
        with self.client(kind, service) as send:
            return send(request or kind.Request())

    @contextmanager
    def setter(self, node: str) -> Iterator[Callable[[str, Any], Any]]:
        """Give a function that sets a parameter of a node; quicker if there are many to set."""
        with self.client(SetParameters, f'{node}/set_parameters') as send:
            yield lambda name, value: send(SetParameters.Request(
                parameters=[Parameter(name, value=value).to_parameter_msg()])).results[0]

    def saved(self) -> Path:
        """Have an explorer save everything, which a disk that is busy may refuse; the file."""
        def answer() -> str:
            response = self.call(Trigger, 'save')
            assert response.success or 'the disk is too slow' in response.message, response
            return response.message if response.success else ''
        return Path(self.wait_for(answer, 'that all is saved'))

    def set_parameter(self, node: str, name: str, value: Any) -> Any:
        with self.setter(node) as set_one:
            return set_one(name, value)

    def close(self) -> None:
        """Leave the graph, if it has not done so yet."""
        if not self.closed:
            self.closed = True
            self._executor.shutdown()
            self.node.destroy_node()


class ScriptedRobot:
    """
    A corridor of ``length`` states, deterministic, that speaks raw messages.

    pause: s that each action takes; without any, robot and explorer keep two processors busy.
    mute: how many of the next actions are executed without an answer.
    around: called before each answer with its seq and state; may send what it likes.
    """

    def __init__(self, peer: Peer, length: int = 3) -> None:
        self.state = 0
        self.received: list[tuple[int, int]] = []
        self.executed: list[tuple[int, int, int]] = []    # state, action, next state
        self.pause = PAUSE
        self.mute = 0
        self.deaf = 0
        self.around: Callable[[int, int], None] = lambda seq, state: None
        self.peer = peer
        self._length = length
        self._last: int | None = None
        self._publisher = peer.node.create_publisher(Int64MultiArray, 'state', messages.STEP)
        peer.node.create_subscription(Int64MultiArray, 'action', self._on_action, messages.STEP)

    def send(self, *numbers: int) -> None:
        self._publisher.publish(Int64MultiArray(data=array('q', numbers)))

    def _on_action(self, message: Int64MultiArray) -> None:
        seq, action = message.data
        self.received.append((seq, action))
        if self.deaf:
            self.deaf -= 1
            return
        if seq != self._last:
            self._last = seq
            time.sleep(self.pause)
            before = self.state
            self.state = self.move(action)
            self.executed.append((before, action, self.state))
        if self.mute:
            self.mute -= 1
            return
        self.around(seq, self.state)
        self.answer(seq)

    def move(self, action: int) -> int:
        """Return the state that an action leads to."""
        there = {0: self.state + 1, 1: self.state - 1, -1: 0}[action]
        return min(max(there, 0), self._length - 1)

    def answer(self, seq: int) -> None:
        self.send(seq, self.state)

    def counts(self) -> dict[str, dict[str, dict[str, int]]]:
        """Return what has been executed in the layout of the record files."""
        return as_counts(self.executed)


def slow_down(peer: Peer, robot: str = 'cmp_sim', pause: float = REST) -> None:
    """Let a simulated robot take so many s for each step from now on."""
    assert peer.set_parameter(robot, 'latency', pause).successful


def as_counts(steps: Sequence[tuple[int, int, int]]) -> dict[str, dict[str, dict[str, int]]]:
    counts: dict[str, dict[str, dict[str, int]]] = {}
    for before, action, after in steps:
        row = counts.setdefault(str(before), {}).setdefault(str(action), {})
        row[str(after)] = row.get(str(after), 0) + 1
    return counts


def read_counts(path: Path) -> dict[str, dict[str, dict[str, int]]]:
    return json.loads(path.read_text())['counts']
