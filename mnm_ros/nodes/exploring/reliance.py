# SPDX-License-Identifier: Apache-2.0

"""The declaration that an exploration relies on: of the robot side, of a file, or none."""

from __future__ import annotations

from mnm_ros.core.errors import ParameterError
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.progress.said import (
    DeclaredByRobotSide,
    DeclaredInFile,
    NeverCommanded,
    NothingDeclared,
    Said,
)
from mnm_ros.declaration_file import load as load_declaration
from mnm_ros.files import user_path
from mnm_ros.parameters import Parameters

_NOTHING = Declaration()


class Reliance:
    """
    Says what of all that is declared counts.

    :raises ParameterError: if there is a file that cannot be used.
    """

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._in_file = file_declaration(parameters)

    def on(self, described: Declaration) -> Declaration | None:
        """Return what is declared, if a robot side says this; None if nothing is."""
        if self._in_file is not None:
            return self._in_file
        return _NOTHING if self._parameters['ignore_declared'] else described or None

    def said(self, declared: Declaration) -> Said:
        """Return what an exploration relies on from now on, for people."""
        if not declared:
            return NothingDeclared()
        count, never = len(declared.successors), forbidden(declared)
        file = self._parameters['declaration']
        said = DeclaredInFile(count, file) if file else DeclaredByRobotSide(count)
        return NeverCommanded(said, never) if never else said


def file_declaration(parameters: Parameters) -> Declaration | None:
    """Return what the file declares that is named, if any; ParameterError if it cannot be used."""
    if not parameters['declaration']:
        return None
    try:
        return load_declaration(
            user_path(parameters['declaration']), len(parameters['actions']))
    except ValueError as error:
        raise ParameterError(f"parameter 'declaration': {error}") from None


def forbidden(declared: Declaration) -> int:
    """Return how many pairs are declared never to be commanded."""
    return sum(not ends for lists in declared.successors.values() for ends in lists)
