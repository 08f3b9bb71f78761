# SPDX-License-Identifier: Apache-2.0

"""Find the scenarios and worlds that come with the package, be it installed or not."""

from __future__ import annotations

from collections.abc import Iterator
import os
from pathlib import Path
import sys

from mnm_ros.simulation.located_yaml import listed, ScenarioError


def find(path_or_name: str, kind: str) -> Path:
    """
    Return the path of a file that is given by its path or by the name of a shipped file.

    :param kind: ``scenario`` or ``world``.
    :raises ScenarioError: if no shipped file of that kind has the name.
    """
    path = Path(path_or_name).expanduser()
    if path.name == path_or_name and not (path.suffix and path.is_file()):
        found = files(kind)
        name = path.stem if path.suffix == '.yaml' else path_or_name
        if name not in found:
            raise ScenarioError(
                f"no {kind} is called '{path_or_name}', expected a path or one of "
                f'{listed(found)}')
        path = found[name]
    return path


def files(kind: str) -> dict[str, Path]:
    """Return the paths of the shipped files of a kind by name, in the order of the names."""
    for directory in _directories(kind):
        found = {path.stem: path for path in sorted(directory.glob('*.yaml'))}
        if found:
            return found
    return {}


def _directories(kind: str) -> Iterator[Path]:
    folder = Path('config', f'{kind}s')
    yield Path(__file__).resolve().parents[2] / folder
    prefixes = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    for prefix in (*filter(None, prefixes), sys.prefix):
        yield Path(prefix, 'share', 'mnm_ros') / folder
