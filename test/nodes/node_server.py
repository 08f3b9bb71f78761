# SPDX-License-Identifier: Apache-2.0

"""
A process that starts nodes as forks of itself: what they import takes longer than most tests.

It never initialises ROS and has one thread. Each line of its input is a program to be started, as
JSON; each line of its output reports one that has started or ended: ``[pid, null, 0]`` or
``[pid, exit status, CPU time in s]``. At the end of its input it kills what is left.

``MNM_FORK=0`` has each node started anew, for a ROS 2 of which forks do not end well: those that
have the wheels of Kilted do so with SIGSEGV, which has nothing to do with the nodes. A test that
sets it has its own nodes started so.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from contextlib import suppress
import ctypes
from functools import partial, wraps
import gc
from importlib import import_module
from importlib.util import find_spec
import inspect
import json
import os
from pathlib import Path
import runpy
import select
import signal
import sys
import threading
import traceback
from typing import Any

# The tracing library of ROS starts threads, which a fork lacks, and cancels them when a program
# ends. In a fork, this is a SIGSEGV if the memory of the threads has been unmapped. A handler
# registered before ROS is loaded runs after the others, and skips the end of the libraries.
ctypes.CDLL(None).on_exit(ctypes.CDLL(None)._exit, None)    # is called with the exit status

from mnm_ros import language  # noqa: E402
from mnm_ros.core import libraries  # noqa: E402
from rclpy.node import Node  # noqa: E402

NODES = ('cmp_sim', 'diff_drive_sim', 'explorer', 'grid_driver', 'gym_side', 'navigator',
         'preflight')
COMMAND = 'mnm_ros'
"""The name of the command, which is a program, too."""

COMMAND_IMPORTS = ('call', 'knowledge', 'main', 'run', 'source', 'watch')
PAGE = 'mnm_ros.page.web_server'
HERE = Path(__file__).resolve().parent    # a script with ``main`` that is there is a program, too


_destroy_node = Node.destroy_node


@wraps(_destroy_node)
def destroy(node: Node) -> None:
    """Destroy a node; rclpy lets one with a lifecycle be seen until its process is taken down."""
    machine = getattr(node, '_state_machine', None)
    if machine is not None:
        machine.destroy_when_not_in_use()
    _destroy_node(node)


def get_ready() -> None:
    """Import the nodes, and do once what each of them would begin with."""
    Node.destroy_node = destroy
    for name in NODES:
        import_module(f'mnm_ros.nodes.{name}')
    for name in (*(f'command.{name}' for name in COMMAND_IMPORTS),
                 'subscriptions', 'view.event_words', 'view.terminal.live_view'):
        import_module(f'mnm_ros.{name}')
    libraries.load()
    for name in language.LANGUAGES:
        language.table(name)
    # Messages are made of C, which is loaded when the first one is published or subscribed.
    for name, module in [*sys.modules.items()]:
        if name.endswith(('.msg', '.srv', '.action')):
            for kind in vars(module).values():
                with suppress(AttributeError):
                    kind.__class__.__import_type_support__()
    inspect.getmodule(sys._getframe())    # rclpy looks for who logs in the files of all modules
    gc.collect()
    gc.freeze()    # what is never to be collected is neither looked through nor copied


def get_ready_for(order: dict[str, Any]) -> None:
    """Import the page before the first node that serves it, for all that come after it, too."""
    page = order['program'] == 'dashboard' or '--page' in order['arguments']
    if page and PAGE not in sys.modules and find_spec('nicegui'):
        import_module(PAGE)
        gc.collect()
        gc.freeze()


def become(order: dict[str, Any]) -> Callable[[], Any]:
    """Make a new process out of the fork that is running this; return what it has to do."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    null = os.open(os.devnull, os.O_RDONLY)
    output = _opened(order['output'])
    errors = _opened(order['errors']) if order['errors'] else output
    for number, source in enumerate((null, output, errors)):
        os.dup2(source, number)
    os.closerange(3, 256)
    path = os.environ.get('PYTHONPATH')
    os.environ.clear()
    os.environ.update(order['environment'])
    os.chdir(order['directory'])
    program, beside = order['program'], HERE / f'{order["program"]}.py'
    # Nothing imported so far may be wanted.
    if os.environ.get('MNM_FORK') == '0' or not _only_adds(path, os.environ.get('PYTHONPATH')):
        words = ([program] if program.endswith('.py') else ['-m', COMMAND] if program == COMMAND
                 else [str(beside)] if beside.exists() else ['-m', f'mnm_ros.nodes.{program}'])
        os.execv(sys.executable, [sys.executable, *words, *order['arguments']])
    sys.argv = [program, *order['arguments']]
    if program.endswith('.py'):
        sys.path.insert(0, str(Path(program).parent))
        work = partial(runpy.run_path, program, run_name='__main__')
    else:
        work = import_module('mnm_ros.command.main' if program == COMMAND else program
                             if beside.exists() else f'mnm_ros.nodes.{program}').main
    return partial(run if os.environ.get('MNM_TEST_ALL') else run_and_leave, work)


def _only_adds(before: str | None, now: str | None) -> bool:
    """Say whether another PYTHONPATH has all that it had, and only what is in this process."""
    folders, others = ({*(path or '').split(os.pathsep)} for path in (before, now))
    return folders <= others <= folders | {*sys.path}


def _opened(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)


def run(work: Callable[[], Any]) -> None:
    """Do what a fork has to do; a program returns its status, and a script ends by itself."""
    status = work()
    sys.exit(status if isinstance(status, int) else 0)


def run_and_leave(work: Callable[[], Any]) -> None:
    """
    Do what a fork has to do, and end it as a program ends, but leave its memory to the system.

    To take an interpreter down copies what the fork shares, as expensive as the start of a node.
    """
    status: object = 0
    try:
        run(work)
    except SystemExit as end:
        status = 0 if end.code is None else end.code
    except BaseException:
        traceback.print_exc()
        status = 1
    threading._shutdown()    # waits for threads
    atexit._run_exitfuncs()
    for node in [each for each in gc.get_objects() if issubclass(type(each), Node)]:
        with suppress(Exception):
            node.destroy_node()    # else it would be seen for 20 s
    if not isinstance(status, int):    # a text is an error
        print(status, file=sys.stderr)
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status & 0xff)


def serve() -> Callable[[], Any] | None:
    """Start what is ordered until the input ends; in a fork, return what it has to do."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    running: set[int] = set()
    unread = b''
    while True:
        ready, _, _ = select.select([0, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            for pid in [*running]:
                ended, status, used = os.wait4(pid, os.WNOHANG)
                if ended:
                    running.discard(pid)
                    tell(pid, os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime)
        if 0 in ready:
            read = os.read(0, 65536)
            if not read:
                break
            *lines, unread = (unread + read).split(b'\n')
            for order in map(json.loads, lines):
                get_ready_for(order)
                pid = os.fork()
                if not pid:
                    return become(order)
                running.add(pid)
                tell(pid, None, 0.0)
    for pid in running:
        os.kill(pid, signal.SIGKILL)
    return None


def tell(pid: int, status: int | None, cpu_time: float) -> None:
    os.write(1, f'{json.dumps([pid, status, cpu_time])}\n'.encode())


if __name__ == '__main__':
    get_ready()
    work = serve()
    if work:
        work()
