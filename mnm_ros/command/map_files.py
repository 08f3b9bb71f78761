# SPDX-License-Identifier: Apache-2.0

"""The common part of ``mnm_ros map`` for plans with cells and for place graphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
import math
from pathlib import Path

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.model.declaration import listed
from mnm_ros.places.graph_file import GEOJSON
from mnm_ros.plan.findings import Finding
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.plan.specks import Speck

MOST = 30
"""Rooms, doors or openings of a list."""

_SPECKS = 5    # of each kind


def refuse_existing(paths: Iterable[Path], mask: Path | None, overwrite: bool) -> None:
    """
    Check that files may be written.

    :param mask: of a mask, its picture is beside it; None for none.
    :raises InvalidValueError: if one is a link, or is there and must not be replaced.
    """
    for path in (*paths, *([] if mask is None else [mask, mask.with_suffix('.pgm')])):
        if path.is_symlink():
            raise InvalidValueError(f'{path} is a link, which is not followed: expected another '
                                    'name, or that the link is removed')
        if path.exists() and not overwrite:
            edit = f'--graph {path} to edit it, ' if path.suffix in GEOJSON else ''
            raise InvalidValueError(f'{path} is there already, and may have been edited: expected '
                                    f'another name, {edit}or --overwrite')


def specks_told(specks: Iterable[Speck]) -> Iterator[str]:
    """Yield which specks were taken for free."""
    for kind, occupied in (('unknown', False), ('occupied', True)):
        found = [speck for speck in specks if speck.occupied is occupied]
        if found:
            yield (f'taken for free: {len(found)} {kind} speck{"s" * (len(found) > 1)}, at '
                   + listed([f'({x:.2f}, {y:.2f})' for (x, y), *_ in found], _SPECKS))


def lines_told(plan: Plan) -> Iterator[str]:
    """Yield doors and openings with their widths."""
    for kind, lines in (('doors', plan.doors), ('openings', plan.openings)):
        if lines:
            yield f'{kind}: ' + listed([f'{name} ({math.dist(*line):.2f} m)'
                                        for name, line in lines.items()], MOST)


def findings_told(wrong: Iterable[Finding]) -> Iterator[str]:
    """Yield what is wrong."""
    yield from (f'{"WRONG" if finding.fatal else "look at"}: {finding.text}' for finding in wrong)
