# SPDX-License-Identifier: Apache-2.0

"""Parameter files of ROS: what is wrong with one is said with its line, before any node starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import re
from typing import Any

from mnm_ros.core.errors import FileError, ParameterError
from mnm_ros.located_yaml import Entry, read

PARAMETERS = 'ros__parameters'
_SHAPE = 'expected, for example, "/**/explorer: {ros__parameters: {radius: 4.0}}"'


def check(path: str | Path, gaps: bool = False) -> dict[str, Any]:
    """
    Return what a parameter file says, as plain data.

    :param gaps: whether a name of a node may stand there with nothing below it, which ROS refuses.
    :raises ParameterError: with the file, the line and what was expected there.
    """
    try:
        root = read(Path(path), 'parameter')
        if root.found == 'nothing':
            return {}
        _check_entries(root, gaps)
        return dict(_data(root))
    except FileError as error:
        raise ParameterError(str(error)) from None


def _data(entry: Entry) -> Any:
    """Return an entry as plain data; what YAML alone takes for something else is text."""
    if entry.kind is dict:
        return {_name(key): _data(value) for key, value in entry.pairs('a mapping')}
    if entry.kind is list:
        return [_data(each) for each in entry.content]
    try:
        return entry.scalar('a value')
    except FileError:
        return entry.content


def entries(tree: Any, path: str = '') -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entries of a parameter file: the names that it gives for nodes, and parameters."""
    for key, value in tree.items() if isinstance(tree, dict) else ():
        if key == PARAMETERS:
            yield path, value if isinstance(value, dict) else {}
        else:
            yield from entries(value, f'{path}/{str(key).strip("/")}')


def _name(key: Entry) -> str:
    if key.kind is not str:
        raise key.unexpected('a name')
    return str(key.content)


def _check_entries(tree: Entry, gaps: bool) -> None:
    """Raise FileError unless all that a mapping holds leads to mappings of parameters."""
    for key, value in tree.pairs(f'a mapping from names of nodes; {_SHAPE}'):
        name, found, gap = _name(key), value.found, value.found == 'nothing'
        if name != PARAMETERS:
            if gaps and gap:
                continue
            if value.kind is not dict:
                raise key.error(
                    f"found {found} below '{name}', expected {PARAMETERS} there; {_SHAPE}")
            _check_entries(value, gaps)
            continue
        if value.kind is not dict:
            hint = ' (with every line below it commented out, leave it out, too)' if gap else ''
            raise key.error(f'found {found} below {PARAMETERS}, expected a mapping from names to '
                            f'values{hint}; {_SHAPE}')
        for parameter, given in value.pairs('a mapping'):
            if _data(given) is None:
                raise parameter.error(f"found nothing for '{_name(parameter)}', expected a value")


class ParameterFile:
    """
    The entries of a parameter file for the nodes of a namespace.

    :raises ParameterError: if it is no such file; with the line.
    """

    def __init__(self, path: str, namespace: str) -> None:
        self._tree = check(path)
        self._namespace = ('/' + namespace.strip('/')).rstrip('/')

    def value(self, node: str, parameter: str) -> Any:
        """Return the last value that the file gives, or None."""
        values = [
            parameters[parameter] for whom, parameters in entries(self._tree)
            if parameter in parameters
            and re.fullmatch(self._pattern(whom), f'{self._namespace}/{node}')]
        return values[-1] if values else None

    def _pattern(self, whom: str) -> str:
        """Return a regular expression for the names of nodes that an entry is for."""
        wildcards = {'*': '/[^/]+', '**': '(/[^/]+)*'}
        return ''.join(wildcards.get(token, '/' + re.escape(token))
                       for token in whom.strip('/').split('/'))
