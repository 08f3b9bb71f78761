# SPDX-License-Identifier: Apache-2.0

"""
The kinds of files that people give to commands, and refusals of the wrong kind.

The readers of YAML files use this module. Its errors name what a file is, and the command for it.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from pathlib import Path
import re
from shlex import quote

from mnm_ros.core.errors import FileError

_PICTURE = re.compile(rb'P[1-6]\s|\x89PNG|\xff\xd8\xff|BM.{4}\0{4}', re.DOTALL)
"""How pgm, pbm, ppm, png, jpeg and bmp files begin."""

_EXPLORE = 'mnm_ros explore {file} explores the {kind}'
_KINDS = {
    'map of nav2': ({'image', 'resolution'}, 'mnm_ros map {file} makes a route graph of the map'),
    'plan': ({'plan', 'map'}, 'mnm_ros map {file} checks the plan, and ' + _EXPLORE),
    'scenario': ({'actions', 'settings'}, _EXPLORE),
    'world': ({'cell_size', 'rows'}, _EXPLORE),
    'route graph': ({'nodes'}, _EXPLORE),
    'graph of Open-RMF': ({'levels'}, _EXPLORE),
    'parameter file': ({'/**'}, 'mnm_ros explore --robot --params-file {file} takes the file')}
"""By the name of each kind of YAML file, keys of such a file, and what can be done with it."""


def refuse_content(path: Path, data: bytes, what: str) -> None:
    """
    Refuse a picture and a Python program in the place of a YAML file.

    :param what: was expected there, such as ``map``.
    :raises FileError: with what the file is, what was expected, and what to do.
    """
    if _PICTURE.match(data):
        beside = path.with_suffix('.yaml')
        map_file = quote(str(beside)) if beside.is_file() else 'FILE.yaml'
        raise FileError(f'{path}: this is a picture, expected a {what} file; for the picture of a '
                        f'map of nav2, type mnm_ros map {map_file}')
    if path.suffix == '.py':
        raise FileError(f'{path}: this is a Python program, expected a {what} file; for a robot '
                        f'side, start python3 {quote(str(path))}, then mnm_ros explore --robot')


def refuse_kind(path: Path, keys: AbstractSet[str], *taken: str) -> None:
    """
    Refuse a YAML file of a known kind that is not taken.

    :param keys: of the mapping in the file.
    :param taken: names of ``_KINDS``.
    :raises FileError: with what the file is, what was expected, and what to do.
    """
    # Names of nodes, such as /**/explorer, are keys of parameter files alone.
    found = {'/**' if key.startswith('/') else key for key in keys}
    for kind, (names, hint) in _KINDS.items():
        if names <= found:
            if kind in taken:
                return
            expected = ', a '.join(taken[:-1]) + ' or a ' * (len(taken) > 1) + taken[-1]
            raise FileError(f'{path}: this is a {kind}, expected a {expected}; '
                            + hint.format(file=quote(str(path)), kind=kind))
