# SPDX-License-Identifier: Apache-2.0

"""Libraries that only some of what can be written needs."""

from __future__ import annotations

import importlib
from typing import Any

from mnm_ros.core.errors import ExportError, how_to_install


def library(module: str, how: str) -> Any:
    """
    Import a module that need not be there.

    :param how: to install it, for people.
    :raises ExportError: if it is not there.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ExportError(f'{module.partition(".")[0]} cannot be imported: {how}') from None


def data_frame(columns: dict[str, list[Any]]) -> Any:
    """
    Return a ``pandas.DataFrame``; whole numbers stay whole where some are missing.

    :raises ExportError: if pandas is not there.
    """
    pandas = library('pandas', how_to_install('study', 'apt install python3-pandas'))
    frame = pandas.DataFrame(columns)
    for name, cells in columns.items():
        # Through floats, ids of 2**53 and more would lose their last digits.
        if all(type(cell) is int for cell in cells if cell is not None):
            frame[name] = pandas.array(cells, dtype='Int64')
    return frame
