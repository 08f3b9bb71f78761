# SPDX-License-Identifier: Apache-2.0

"""Modules that take long to import, for the one worker that runs the tests which use them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest


class _Late:
    """Stands for a module, which is imported when something of it is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith(('__', '_mock', 'pytest')):    # looked for in all that a file has
            raise AttributeError(name)
        return getattr(import_module(self._name), name)


def late(name: str) -> Any:
    """Return what stands for a module; without its package, skip the file."""
    package = name.partition('.')[0]
    if find_spec(package) is None:
        pytest.skip(f'{package} is not installed', allow_module_level=True)
    return _Late(name)
