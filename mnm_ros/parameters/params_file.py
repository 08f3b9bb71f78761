# SPDX-License-Identifier: Apache-2.0

"""Parameter files of ROS: what is wrong with one is said with its line, before any node starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import re
from typing import Any

from mnm_ros.parameters.declaration import ParameterError
import yaml

PARAMETERS = 'ros__parameters'
_SHAPE = 'expected, for example, "/**/explorer: {ros__parameters: {radius: 4.0}}"'


def check(path: str | Path, gaps: bool = False) -> dict[str, Any]:
    """
    Return what a parameter file says, as plain data.

    :param gaps: whether a name of a node may stand there with nothing below it, which ROS refuses.
    :raises ParameterError: with the file, the line and what was expected there.
    """
    try:
        text = Path(path).read_text(encoding='utf-8')
    except OSError as error:
        raise ParameterError(f'{path}: cannot be read ({error.strerror}), expected a file of '
                             'parameters') from None
    except UnicodeDecodeError as error:
        raise ParameterError(f'{path}: {error}, expected UTF-8') from None
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is not None:
            _check_entries(path, root, gaps)
        return yaml.safe_load(text) or {}
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        reason = ' '.join(filter(None, (error.context, error.problem)))
    except yaml.reader.ReaderError as error:
        line, reason = text[:error.position].count('\n') + 1, error.reason
    except (RecursionError, ValueError, TypeError) as error:    # what PyYAML lets through
        if isinstance(error, ParameterError):
            raise
        line, reason = 1, str(error)
    raise ParameterError(f'{path}:{line}: not YAML: {reason}')


def entries(tree: Any, path: str = '') -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entries of a parameter file: the names that it gives for nodes, and parameters."""
    for key, value in tree.items() if isinstance(tree, dict) else ():
        if key == PARAMETERS:
            yield path, value if isinstance(value, dict) else {}
        else:
            yield from entries(value, f'{path}/{str(key).strip("/")}')


def _check_entries(path: str | Path, node: yaml.Node, gaps: bool) -> None:
    """Raise ParameterError unless all that a mapping holds leads to mappings of parameters."""
    if not isinstance(node, yaml.MappingNode):
        raise _error(path, node, f'found {_found(node)}, expected a mapping from names of nodes; '
                     f'{_SHAPE}')
    for key, value in node.value:
        if key.value != PARAMETERS:
            if gaps and isinstance(value, yaml.ScalarNode) and not value.value:
                continue
            if not isinstance(value, yaml.MappingNode):
                raise _error(path, key, f"found {_found(value)} below '{key.value}', expected "
                             f'{PARAMETERS} there; {_SHAPE}')
            _check_entries(path, value, gaps)
            continue
        if not isinstance(value, yaml.MappingNode):
            hint = ' (with every line below it commented out, leave it out, too)'
            raise _error(path, key, f'found {_found(value)} below {PARAMETERS}, expected a '
                         f'mapping from names to values{"" if value.value else hint}; '
                         f'{_SHAPE}')
        for name, given in value.value:
            if isinstance(given, yaml.ScalarNode) and given.tag.endswith(':null'):
                raise _error(path, name, f"found nothing for '{name.value}', expected a value")


def _found(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return 'a mapping'
    if isinstance(node, yaml.SequenceNode):
        return 'a list'
    return f"'{node.value:.60}'" if node.value else 'nothing'


def _error(path: str | Path, node: yaml.Node, message: str) -> ParameterError:
    return ParameterError(f'{path}:{node.start_mark.line + 1}: {message}')


class Configured:
    """
    What a parameter file says about the nodes of a namespace.

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
