# SPDX-License-Identifier: Apache-2.0

"""Print what has happened, with clock times."""

from __future__ import annotations

from collections.abc import Sequence
import sys
import time

from mnm_ros.console.arguments import add_timeout, NoAnswer, parser, split

_LOOK = 0.25    # s, between two looks
_QUIET = 0.5    # s without another event, after which the last ones have come


def main(arguments: Sequence[str], program: str) -> int:
    """Print the last events, and with ``--follow`` each new one; 1 if there is no explorer."""
    words, ros_arguments = split(arguments)
    made = parser(program, 'Print what has happened last: decisions, changes, hints, pauses, '
                  'faults.')
    add_timeout(made)
    made.add_argument('--follow', action='store_true', help='go on with each event until Ctrl-C')
    given = made.parse_args(words)

    from mnm_ros.command.source import first
    from mnm_ros.subscriptions import Listener
    from mnm_ros.view.event_words import moment
    try:
        with Listener(given.namespace, ros_arguments) as listener:
            heard = first(listener, given.timeout, lambda heard: heard.phase or heard.events)
            told, quiet_at = 0.0, time.monotonic() + _QUIET
            while given.follow or time.monotonic() < quiet_at:
                for event in heard.events:
                    if event.time > told:
                        print(f'{moment(event.time, "%a %H:%M:%S")}  {event.text}', flush=True)
                        told, quiet_at = event.time, time.monotonic() + _QUIET
                heard = listener.listen(_LOOK)
    except NoAnswer as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0
