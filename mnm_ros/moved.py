# SPDX-License-Identifier: Apache-2.0

"""Modules that were documented under another name: both lead to the same one, for one release."""

from __future__ import annotations

from collections.abc import Sequence
import importlib
from importlib.machinery import ModuleSpec
import sys
from types import ModuleType
from typing import Any
import warnings

MOVED = {
    'mnm_ros.core.activity': 'mnm_ros.core.progress.activity',
    'mnm_ros.core.base': 'mnm_ros.core.mnm.base',
    'mnm_ros.core.goals': 'mnm_ros.core.task.navigation',
    'mnm_ros.core.incremental': 'mnm_ros.core.paper.incremental',
    'mnm_ros.core.options': 'mnm_ros.core.mnm.options',
    'mnm_ros.core.parts': 'mnm_ros.core.components',
    'mnm_ros.core.policy': 'mnm_ros.core.model.policy',
    'mnm_ros.core.prediction': 'mnm_ros.core.progress.prediction',
    'mnm_ros.core.problem': 'mnm_ros.core.model.problem',
    'mnm_ros.core.step_task': 'mnm_ros.core.task.step_task',
    'mnm_ros.core.task.goals': 'mnm_ros.core.task.navigation',
    'mnm_ros.interface': 'mnm_ros.topics',
    'mnm_ros.simulation.generators': 'mnm_ros.simulation.cmp',
    'mnm_ros.wire': 'mnm_ros.messages',
}


class Forwarding:
    """
    Finds modules by the names that they had, and says how they are called now.

    It is a finder and a loader without the base classes of these, which take long to import.
    """

    def find_spec(self, fullname: str, path: Sequence[str] | None,
                  target: ModuleType | None = None) -> ModuleSpec | None:
        """Return where a module is that has moved."""
        loader: Any = self
        return ModuleSpec(fullname, loader) if fullname in MOVED else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Have a module made as always."""

    def exec_module(self, module: ModuleType) -> None:
        """Let the old name lead to the module under its new name."""
        name = module.__name__
        warnings.warn(f'{name} is {MOVED[name]} now', DeprecationWarning, stacklevel=2)
        sys.modules[name] = importlib.import_module(MOVED[name])


def forward() -> None:
    """Let the old names be found from now on."""
    sys.meta_path.append(Forwarding())
