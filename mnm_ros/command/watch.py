# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Print what a running explorer says about itself, a line for each change."""

from __future__ import annotations

from collections.abc import Sequence
import os
import sys
import time

from mnm_ros.command.arguments import add_timeout, parser, split

_LOOK = 0.25    # s, between two looks


def main(arguments: Sequence[str], program: str) -> int:
    """Print until Ctrl-C, which is the ordinary end; 1 if nobody is there."""
    words, ros_arguments = split(arguments)
    made = parser(program, 'Print phase, round, known states and status of a running explorer, a '
                  'line for each change, until Ctrl-C.')
    add_timeout(made)
    given = made.parse_args(words)

    from mnm_ros.console.observer import Listener
    from mnm_ros.console.render import changed
    from mnm_ros.console.snapshot import Snapshot
    before, end = Snapshot(), time.monotonic() + given.timeout
    try:
        with Listener(given.namespace, ros_arguments) as listener:
            while True:
                snapshot = listener.listen(_LOOK)
                for line in changed(before, snapshot, 0):
                    print(f'{time.strftime("%H:%M:%S")} {line}', flush=True)
                before = snapshot
                if snapshot == Snapshot() and time.monotonic() > end:
                    print(f'{program}: nobody publishes {listener.topic} (what does: explorer) '
                          f'after {given.timeout:g} s, in ROS domain '
                          f'{os.environ.get("ROS_DOMAIN_ID") or "0"}', file=sys.stderr)
                    return 1
    except KeyboardInterrupt:
        return 0
    except BrokenPipeError:
        # Nobody reads any more, so the interpreter must not flush it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
