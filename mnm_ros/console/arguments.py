# SPDX-License-Identifier: Apache-2.0

"""Numbers and names on command lines, and what the subcommands have in common on theirs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
import math
import os
import re
from typing import Any, NoReturn, TypeVar

from mnm_ros.files import user_path
from mnm_ros.language import check, LANGUAGES
from mnm_ros.spelling import nearest
from mnm_ros.topics import namespace, ros_domain

_T = TypeVar('_T')


def explained(convert: Callable[[str], _T], text: str) -> _T:
    """Return what ``convert`` returns; of what it refuses, let argparse print the reason."""
    try:
        return convert(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def whole(minimum: int, text: str) -> int:
    """Return a whole number of at least ``minimum``."""
    if not text.isdecimal() or int(text) < minimum:
        raise argparse.ArgumentTypeError(
            f'{text!r}, expected a whole number of at least {minimum}')
    return int(text)


def number(text: str) -> float:
    """Return a number; NaN for what is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def seconds(text: str) -> float:
    """Return a time above 0."""
    value = number(text)
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f'{text!r}, expected a number of seconds above 0')
    return value


ROS_ARGUMENTS = '--ros-args'
COMPLETING = '_ARGCOMPLETE'    # variable that a shell sets, see ``argcomplete``: words to skip + 1
WAIT = 10.0    # s


class Parser(argparse.ArgumentParser):
    """A parser that names what may have been meant, and completes words for a shell."""

    def parse_args(self, *given: Any, **named: Any) -> Any:
        """Parse, unless the shell asks how a line goes on: then answer, and end the program."""
        if COMPLETING in os.environ:
            import argcomplete
            argcomplete.autocomplete(self)
        return super().parse_args(*given, **named)

    def error(self, message: str) -> NoReturn:
        """End the program with the message, a word like the refused one, and where help is."""
        unknown = re.search(r"invalid choice: '(.+?)'|unrecognized arguments: (--[\w-]+)", message)
        if unknown:
            choices = (str(choice) for action in self._actions for choice in action.choices or ())
            message += nearest(unknown[1] or unknown[2],
                               choices if unknown[1] else self._option_string_actions)
        self.exit(2, f'{self.prog}: error: {message}\n{self.prog} --help: all arguments\n')


def parser(program: str, description: str) -> Parser:
    """Return the parser of a subcommand, which already knows ``--namespace``."""
    made = Parser(
        prog=program, description=description,
        epilog='Arguments for ROS come last, after --ros-args.')
    made.add_argument(
        '--namespace', type=partial(explained, namespace), default='/', metavar='NS',
        help='of the nodes (default %(default)s)')
    return made


def add_language(made: argparse.ArgumentParser, what: str) -> None:
    """Let a parser know ``--language``."""
    made.add_argument('--language', type=partial(explained, _language), choices=LANGUAGES,
                      default=LANGUAGES[0], help=f'language of {what} (default: %(default)s)')


def _language(text: str) -> str:
    """Return a language; ValueError if its table of words has a fault."""
    if text in LANGUAGES:
        check(text)
    return text


def add_timeout(made: argparse.ArgumentParser) -> None:
    """Let a parser know ``--timeout``."""
    made.add_argument(
        '--timeout', type=seconds, default=WAIT, metavar='S',
        help='s to wait for nodes and for each answer (default %(default)g)')


def add_source(made: argparse.ArgumentParser) -> None:
    """Let a parser know where what was learnt comes from: ``--from`` or a running explorer."""
    add_file(made, 'a checkpoint, a transition log, or the folder with them')
    made.add_argument(
        '--base', default='', metavar='MODULE:FACTORY',
        help='base algorithm of another package; allow its import if the file names it')
    add_timeout(made)


def add_file(made: argparse.ArgumentParser, what: str) -> None:
    """Let a parser know a file to be read in place of a running explorer, and what it may be."""
    made.add_argument(
        '--from', dest='source', type=partial(explained, user_path), metavar='FILE',
        help=f'{what} (default: the running explorer)')


def in_domain() -> str:
    """Return for people in which ROS domain a node was missed, and how to set another one."""
    return (f'in ROS domain {ros_domain()}; scripts/explore prints its ROS_DOMAIN_ID, set the '
            'same here')


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments before those for ROS, and these with ``--ros-args`` before them."""
    at = list(words).index(ROS_ARGUMENTS) if ROS_ARGUMENTS in words else len(words)
    return list(words[:at]), list(words[at:])


def within(here: str, ros_arguments: Sequence[str]) -> list[str]:
    """Return arguments for ROS that put a node into a namespace, too."""
    given = list(ros_arguments)
    return given if here == '/' else [ROS_ARGUMENTS, '-r', f'__ns:={here}', *given]
