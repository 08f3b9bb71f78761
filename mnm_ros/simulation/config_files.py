# SPDX-License-Identifier: Apache-2.0

"""What the files of scenarios and worlds share: where those of the package are, floor plans."""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path

from mnm_ros.core.errors import FileError
from mnm_ros.files import config_folders, user_path
from mnm_ros.located_yaml import Keys
from mnm_ros.spelling import nearest

MOST_CELLS = 250_000
MOST_CELLS_IN_ALL = 500_000
"""Of a floor plan, and of the grids of all settings of a file, with those that aliases repeat."""


def find(path_or_name: str, kind: str) -> Path:
    """
    Return the path of a file that is named by its path or by the name of a shipped file.

    :param kind: ``scenario`` or ``world``.
    :raises FileError: if no shipped file of that kind has the name.
    """
    path = user_path(path_or_name)
    if path.name == path_or_name and not (path.suffix and path.is_file()):
        found = files(kind)
        name = path.stem if path.suffix == '.yaml' else path_or_name
        if name not in found:
            raise FileError(
                (f'{path}: there is no such file' if path.suffix else
                 f"no {kind} is called '{path_or_name}'")
                + f', expected a path or one of {", ".join(found)}{nearest(name, found)}')
        path = found[name]
    return path


def files(kind: str) -> dict[str, Path]:
    """Return the paths of the shipped files of a kind by name, in the order of the names."""
    for directory in config_folders(f'{kind}s'):
        found = {path.stem: path for path in sorted(directory.glob('*.yaml'))}
        if found:
            return found
    return {}


def floor_plan(keys: Keys, doors: Set[str] = frozenset(),
               furniture: Mapping[str, str] | None = None) -> list[str]:
    """
    Return the ``rows`` of a floor plan, of equal length, with one ``S``.

    :param doors: other letters that are allowed.
    :param furniture: what else is allowed, with what it means.
    """
    plan = keys.required('rows', 'a list of strings')
    cells = "'.', '#', 'S' or a door, another capital letter" if doors else "'.', '#' or 'S'"
    cells += ''.join(f", or '{letter}', {what}" for letter, what in (furniture or {}).items())
    rows: list[str] = []
    items = plan.sequence('a list of strings', 'a list of at least one row')
    for item in items:
        row = item.text(f'a row of cells, in quotes, each {cells}')
        unknown = set(row) - doors - {*'.#S', *(furniture or ())}
        if unknown:
            raise item.error(f"found '{min(unknown)}' in row '{row}', expected {cells}")
        rows.append(row)
        if len(row) != len(rows[0]):
            raise item.error(
                f"row '{row}' has {len(row)} cells, expected {len(rows[0])} as in the first")
        if len(row) * len(items) > MOST_CELLS:
            raise item.error(f'the plan has {len(row) * len(items):,} cells, expected at most '
                             f'{MOST_CELLS:,}')
    starts = ''.join(rows).count('S')
    if starts != 1:
        raise plan.error(f"found {starts} cells 'S', expected exactly 1")
    return rows
