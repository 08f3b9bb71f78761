# SPDX-License-Identifier: Apache-2.0

"""``mnm_ros forget``: take back what was learnt from one robot or node."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
import sqlite3
import sys
import time
from typing import Any

from mnm_ros.console.arguments import add_timeout, parser, split
from mnm_ros.core.errors import CheckpointError, InvalidValueError, NoAnswerError
from mnm_ros.files import user_path


def main(arguments: Sequence[str], program: str = 'mnm_ros forget') -> int:
    """Take back what came from a source, and say what still holds; 1 if that is impossible."""
    words, ros_arguments = split(arguments)
    made = parser(program, 'Remove the data of one robot or node: replay the log without the '
                  'data, and keep the results that still hold. Without FOLDER, the running '
                  'explorer does that, while paused. The old files stay beside the new ones, with '
                  '.aside in their names.')
    add_timeout(made)
    made.add_argument('folder', type=Path, metavar='FOLDER', nargs='?',
                      help='the checkpoint_dir of an explorer that has ended')
    made.add_argument('--source', required=True, metavar='NAME',
                      help='name of the robot or node; robot for a robot without a name')
    made.add_argument('--since', default='', metavar='STEP|TIME',
                      help='first step or local time, like 14:05 or 2026-11-27T14:05, of the data '
                      'to remove; times are exact to 10 s (default: the beginning)')
    made.add_argument('--name', default='', metavar='EXPLORER',
                      help='with FOLDER: the first part of the names of the files, if several '
                      'explorers save theirs there')
    given = made.parse_args(words)
    if given.folder is None and given.name:
        made.error('argument --name: expected FOLDER; --namespace says which explorer is meant')
    try:
        if given.folder is None:
            return _ask(given, ros_arguments)
        _take_back(user_path(given.folder), given.source, given.since, given.name)
    except (CheckpointError, InvalidValueError, NoAnswerError, OSError,
            sqlite3.Error) as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1
    return 0


def _take_back(folder: Path, source: str, since: str, name: str) -> None:
    from mnm_ros.checkpoint.event_log import EventLog, KEPT
    from mnm_ros.checkpoint.forget import forget
    from mnm_ros.core.progress.events import Event
    found = forget(folder, source, since, name)
    EventLog(folder / f'{found.name}{KEPT}', lambda text: print(text, file=sys.stderr)).append(
        Event(found.steps, str(found), 'source', time=time.time()))
    kept = ', '.join(f'{count:,} by {source}' for source, count in sorted(found.kept.items()))
    print(f'{found}; {kept or "none"} count.')
    known = f'The hypothesis knows {found.known} states' if found.known else (
        'No hypothesis holds, and the explorer publishes the policies that are certified')
    print(f'{known}. Up to step {found.exact:,} all is as it was; later steps count as work.')
    print(f'The files that were there are kept as {", ".join(path.name for path in found.aside)}.')


def _ask(given: Any, ros_arguments: Sequence[str]) -> int:
    """Let the running explorer do it, and print its answer."""
    from mnm_ros.command.service_client import ServiceClient
    from mnm_ros.nodes.common.commanding import FORGETTING
    from rcl_interfaces.srv import SetParametersAtomically
    from rclpy.parameter import Parameter
    request = SetParametersAtomically.Request(parameters=[
        Parameter(name, value=getattr(given, name)).to_parameter_msg()
        for name in ('source', 'since')])
    with ServiceClient(given.namespace, ros_arguments, given.timeout) as client:
        result = client.call(SetParametersAtomically, 'forget', request,
                             'expected from the node explorer', repeat=False,
                             unfinished=lambda response: response.result.reason == FORGETTING
                             ).result
        client.record('forget', 'forget')
    print(result.reason, file=sys.stdout if result.successful else sys.stderr)
    return int(not result.successful)
