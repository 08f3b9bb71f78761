# SPDX-License-Identifier: Apache-2.0

"""What the subcommands have in common on their command lines."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from mnm_ros.console.argument_types import explained, seconds
from mnm_ros.topics import namespace

ROS_ARGUMENTS = '--ros-args'
WAIT = 10.0    # s


class NoAnswer(Exception):
    """Nothing was there, or nothing answered; the message is a sentence for people."""


def parser(program: str, description: str) -> argparse.ArgumentParser:
    """Return the parser of a subcommand, which already knows ``--namespace``."""
    made = argparse.ArgumentParser(
        prog=program, description=description,
        epilog='Arguments for ROS come last, after --ros-args.')
    made.add_argument(
        '--namespace', type=partial(explained, namespace), default='/', metavar='NS',
        help='of the nodes (default %(default)s)')
    return made


def add_timeout(made: argparse.ArgumentParser) -> None:
    """Let a parser know ``--timeout``."""
    made.add_argument(
        '--timeout', type=seconds, default=WAIT, metavar='S',
        help='s to wait for whoever should be there, and for each answer (default %(default)g)')


def add_source(made: argparse.ArgumentParser) -> None:
    """Let a parser know where what was learnt comes from: ``--from`` or a running explorer."""
    made.add_argument(
        '--from', dest='source', type=lambda text: Path(text).expanduser(), metavar='FILE',
        help='a checkpoint, a transition log, or the folder with them (default: the running '
        'explorer)')
    made.add_argument(
        '--base', default='', metavar='MODULE:FACTORY',
        help='base algorithm of another package that may be imported because the file names it')
    add_timeout(made)


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments before those for ROS, and these with ``--ros-args`` before them."""
    at = list(words).index(ROS_ARGUMENTS) if ROS_ARGUMENTS in words else len(words)
    return list(words[:at]), list(words[at:])


def within(here: str, ros_arguments: Sequence[str]) -> list[str]:
    """Return arguments for ROS that put a node into a namespace, too."""
    given = list(ros_arguments)
    return given if here == '/' else [ROS_ARGUMENTS, '-r', f'__ns:={here}', *given]
