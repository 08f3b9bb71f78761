# SPDX-License-Identifier: Apache-2.0

"""What an executable prints when it is asked for help, instead of starting its node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote
from textwrap import fill

from mnm_ros.parameters import is_required, NODES, REQUIRED, Row

_WIDTH = 90
_HELP = ('-h', '--help')


def help_wanted(arguments: Sequence[str]) -> bool:
    """Return whether help is asked for, before the arguments that are for ROS."""
    words = list(arguments)
    own = words[:words.index('--ros-args')] if '--ros-args' in words else words
    return any(word in _HELP for word in own)


def usage(name: str, description: str) -> str:
    """
    Return what an executable is, its parameters, and how to give them.

    :param name: of the executable; one that is not of this package has no list of parameters.
    :param description: paragraphs, as in a docstring.
    """
    return '\n'.join(_lines(name, description))


def _lines(name: str, description: str) -> Iterator[str]:
    given = '--ros-args [-p NAME:=VALUE ...] [--params-file FILE] [-r __ns:=/NAMESPACE]'
    yield f'usage: {name} [--help] [{given}]'
    for paragraph in description.replace('``', '').strip().split('\n\n'):
        yield from ('', fill(paragraph, _WIDTH))
    rows = NODES.get(name, ())
    if not rows:
        return
    example = f'{name} --ros-args -p {_example(rows[0])}'
    yield from ('', 'give parameters after --ros-args, in either way:',
                f'  ros2 run mnm_ros {example}', f'  mnm_ros run {example}',
                '', 'parameters, with their defaults:')
    for row in rows:
        default = 'not set' if row.optional else _shown(row)
        yield f'  {row.name}: {"required" if is_required(row) else default}'
        change = '; may change at any time' if row.runtime else ''
        yield fill(f'{row.description}; {row.allowed}{change}', _WIDTH,
                   initial_indent=' ' * 6, subsequent_indent=' ' * 6)


def _example(row: Row) -> str:
    """Return ``NAME:=VALUE`` as a shell understands it."""
    value = REQUIRED.get(row.name)
    if isinstance(value, list):
        return quote(f'{row.name}:=[{", ".join(value)}]')
    return f'{row.name}:={_shown(row) if value is None else value}'


def _shown(row: Row) -> str:
    """Return the default as it is written on the command line."""
    if isinstance(row.default, bool):
        return str(row.default).lower()
    return "''" if row.default == '' else str(row.default)
