"""The picture behind a grid scenario."""

from __future__ import annotations

from pathlib import Path

import yaml


def grids(path: Path) -> tuple[tuple[str, ...], ...]:
    """Return the rows of each setting of a scenario file, empty where it is no grid.

    The file must have been loaded as a scenario before: nothing is checked here.
    """
    settings = yaml.safe_load(path.read_text(encoding='utf-8'))['settings']
    return tuple(tuple(setting.get('grid', {}).get('rows', ())) for setting in settings)
