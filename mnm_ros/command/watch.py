# SPDX-License-Identifier: Apache-2.0

"""Show what a running explorer says about itself: live, line by line, or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import os
import sys
import time
from typing import TYPE_CHECKING

from mnm_ros.console.arguments import add_timeout, parser, split

if TYPE_CHECKING:
    from mnm_ros.subscriptions import Listener
    from mnm_ros.view.heard import Heard

_LOOK = 0.25    # s, between two looks


def main(arguments: Sequence[str], program: str) -> int:
    """Show it until Ctrl-C, which is the ordinary end; 1 if there is no explorer."""
    words, ros_arguments = split(arguments)
    made = parser(program, 'Show what a running explorer knows, does and decides, until Ctrl-C: '
                  'as a picture in a terminal, and else with a line for each change.')
    add_timeout(made)
    made.add_argument('--json', action='store_true',
                      help='print a JSON object with all of it, a line for each change')
    given = made.parse_args(words)

    from mnm_ros.subscriptions import Listener
    missing = (f'{program}: no node publishes %s (what does: explorer) after {given.timeout:g} s, '
               f'in ROS domain {os.environ.get("ROS_DOMAIN_ID") or "0"}')
    try:
        with Listener(given.namespace, ros_arguments) as listener:
            if not _heard(listener, given.timeout):
                print(missing % listener.topic, file=sys.stderr)
                return 1
            return _json(listener) if given.json else _shown(listener)
    except KeyboardInterrupt:
        return 0


def _heard(listener: Listener, timeout: float) -> bool:
    """Wait for the first message; return whether there was one."""
    from mnm_ros.view.heard import Heard
    end = time.monotonic() + timeout
    while listener.listen(_LOOK) == Heard():
        if time.monotonic() > end:
            return False
    return True


def _look(listener: Listener, show: Callable[[Heard], None]) -> int:
    while True:
        show(listener.listen(_LOOK))


def _json(listener: Listener) -> int:
    from mnm_ros.view.words import as_json
    before = ''

    def show(heard: Heard) -> None:
        nonlocal before
        if (now := as_json(heard)) != before:
            print(now, flush=True)
            before = now

    return _look(listener, show)


def _shown(listener: Listener) -> int:
    from mnm_ros.view.terminal import live_view
    if live_view.is_terminal(sys.stdout, os.environ):
        shown = live_view.choose(sys.stdout, live_view.Frame(
            listener.explorer, hint='Ctrl-C ends the watch; the explorer goes on'), os.environ)
    else:
        shown = live_view.Lines(sys.stdout)
    begun = time.monotonic()
    try:
        return _look(listener, lambda heard: shown.show(heard, time.monotonic() - begun))
    finally:
        shown.close()
