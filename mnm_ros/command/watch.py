# SPDX-License-Identifier: Apache-2.0

"""Show what a running explorer says about itself: live, line by line, or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import os
import sys
import time
from typing import TYPE_CHECKING

from mnm_ros.console.arguments import add_timeout, NoAnswer, parser, split

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

    from mnm_ros.command.source import first
    from mnm_ros.subscriptions import Listener
    from mnm_ros.view.heard import Heard
    try:
        with Listener(given.namespace, ros_arguments) as listener:
            first(listener, given.timeout, lambda heard: heard != Heard())
            return _json(listener) if given.json else _shown(listener)
    except NoAnswer as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0


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
