# SPDX-License-Identifier: Apache-2.0

"""What an executable prints when it is asked for help, instead of starting its node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote
from textwrap import fill

from mnm_ros.parameters import is_required, NODES, ParameterSpec, REQUIRED

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
    specs = NODES.get(name, ())
    if not specs:
        return
    example = f'{name} --ros-args -p {_example(specs[0])}'
    yield from ('', 'give parameters after --ros-args, in either way:',
                f'  ros2 run mnm_ros {example}', f'  mnm_ros run {example}',
                '', 'parameters, with their defaults:')
    for spec in specs:
        default = 'not set' if spec.optional else _shown(spec)
        yield f'  {spec.name}: {"required" if is_required(spec) else default}'
        change = '; may change at any time' if spec.runtime else ''
        yield fill(f'{spec.description}; {spec.allowed}{change}', _WIDTH,
                   initial_indent=' ' * 6, subsequent_indent=' ' * 6)


def _example(spec: ParameterSpec) -> str:
    """Return ``NAME:=VALUE`` as a shell understands it."""
    value = REQUIRED.get(spec.name)
    if isinstance(value, list):
        return quote(f'{spec.name}:=[{", ".join(value)}]')
    return f'{spec.name}:={_shown(spec) if value is None else value}'


def _shown(spec: ParameterSpec) -> str:
    """Return the default as it is written on the command line."""
    if isinstance(spec.default, bool):
        return str(spec.default).lower()
    return "''" if spec.default == '' else str(spec.default)
