# SPDX-License-Identifier: Apache-2.0

"""`python -m mnm_ros.console`; see `--help`."""

from __future__ import annotations

from collections.abc import Sequence
import errno
import os
import sys

from mnm_ros.console import command_line, environment
from mnm_ros.console.processes import Interrupt


def main(words: Sequence[str] | None = None, program: str = 'explore') -> int:
    """Run the console and return its exit status."""
    options = command_line.parse(sys.argv[1:] if words is None else words, program)
    if options.scenario is not None:    # one's own robot is in the domain in which it is
        environment.prepare(os.environ)
    with Interrupt() as interrupt:
        # Importing ROS takes a while, so bad arguments are refused before.
        from mnm_ros.console.live_run import LiveRun
        try:
            return LiveRun(options, interrupt, sys.stdout).run()
        except OSError as error:
            if error.errno not in (errno.EPIPE, errno.EIO):
                raise
            # The output is read no more, so the interpreter must not flush it at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0 if options.goal is None else 1


if __name__ == '__main__':
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
