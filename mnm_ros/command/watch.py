# SPDX-License-Identifier: Apache-2.0

"""Show what an explorer says about itself: live, line by line, as JSON, or its events."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import suppress
import os
from pathlib import Path
import sys
import time
from typing import TYPE_CHECKING

from mnm_ros.console.arguments import add_file, add_language, add_timeout, parser, split
from mnm_ros.core.errors import CheckpointError

if TYPE_CHECKING:
    from mnm_ros.core.progress.events import Event
    from mnm_ros.subscriptions import Listener
    from mnm_ros.view.telemetry import Telemetry

_LOOK = 0.25    # s, between two checks
_QUIET = 0.5     # s without another event, after which the last ones have come
_FIRST = 5.0    # s, in which those of an explorer arrive that was found, on a busy machine


def main(arguments: Sequence[str], program: str) -> int:
    """Show it until Ctrl-C, which is the ordinary end."""
    words, ros_arguments = split(arguments)
    made = parser(program, 'Show the knowledge, activity and decisions of a running explorer '
                  'until Ctrl-C: as a picture in a terminal, else with a line for each change.')
    add_timeout(made)
    made.add_argument('--json', action='store_true',
                      help='print a line with one JSON object for each change')
    add_language(made, 'the picture and the lines')
    given = made.parse_args(words)

    from mnm_ros.command.source import first
    from mnm_ros.subscriptions import Listener
    from mnm_ros.view.telemetry import Telemetry
    with suppress(KeyboardInterrupt), Listener(given.namespace, ros_arguments) as listener:
        first(listener, given.timeout, lambda heard: heard != Telemetry())
        if given.json:
            _json(listener)
        else:
            _shown(listener, given.language)
    return 0


def events(arguments: Sequence[str], program: str) -> int:
    """Print the last events with clock times, and with ``--follow`` each new one."""
    words, ros_arguments = split(arguments)
    made = parser(program, 'Print the last events of a running explorer, or all events of a run '
                  'that has ended: decisions, changes, hints, pauses, faults.')
    add_file(made, 'a file of an explorer in its checkpoint_dir, or that folder')
    add_timeout(made)
    made.add_argument('--follow', action='store_true', help='print new events until Ctrl-C')
    given = made.parse_args(words)
    if given.source is None:
        return _of_explorer(given, ros_arguments)
    if given.follow:
        made.error('--follow: no event follows in a file, expected no --from')
    try:
        return _kept(given.source)
    except CheckpointError as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1


def _kept(source: Path) -> int:
    from mnm_ros.checkpoint.event_log import read_kept
    from mnm_ros.view.event_words import merged
    found, left_out = read_kept(source)
    if left_out:
        print(left_out, file=sys.stderr)
    for event in merged(found):
        _print(event, '%Y-%m-%d %H:%M:%S')
    return 0


def _of_explorer(given: argparse.Namespace, ros_arguments: Sequence[str]) -> int:
    from mnm_ros.command.source import first
    from mnm_ros.subscriptions import Listener
    from mnm_ros.view.event_words import merged
    with suppress(KeyboardInterrupt), Listener(given.namespace, ros_arguments) as listener:
        heard = first(listener, given.timeout, lambda heard: heard.phase or heard.events)
        told: tuple[Event, ...] = ()
        quiet_at = time.monotonic() + (_QUIET if heard.events else _FIRST)
        while given.follow or time.monotonic() < quiet_at:
            for event in merged(heard.events):
                if event not in told and _print(event, '%a %H:%M:%S'):
                    quiet_at = time.monotonic() + _QUIET
            told, heard = heard.events, listener.listen(_LOOK)
    return 0


def _print(event: Event, clock: str) -> bool:
    """Print an event if it has a time; return whether it has."""
    from mnm_ros.language import moment
    if event.time:
        print(f'{moment(event.time, clock)}  {event.text}', flush=True)
    return bool(event.time)


def _look(listener: Listener, show: Callable[[Telemetry], None]) -> None:
    while True:
        show(listener.listen(_LOOK))


def _json(listener: Listener) -> None:
    from mnm_ros.view.telemetry import as_json
    before = ''

    def show(heard: Telemetry) -> None:
        nonlocal before
        if (now := as_json(heard)) != before:
            print(now, flush=True)
            before = now

    _look(listener, show)


def _shown(listener: Listener, language: str) -> None:
    from mnm_ros.language import phrase
    from mnm_ros.view.terminal import live_view
    if live_view.is_terminal(sys.stdout, os.environ):
        shown = live_view.choose(sys.stdout, live_view.Frame(
            listener.explorer, hint=phrase('terminal.ends_watch', language),
            language=language), os.environ)
    else:
        shown = live_view.Lines(sys.stdout, language=language)
    begun = time.monotonic()
    try:
        _look(listener, lambda heard: shown.show(heard, time.monotonic() - begun))
    finally:
        shown.close()
