# SPDX-License-Identifier: Apache-2.0

"""The question that follows a refused name, in the errors of commands, nodes and files."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a question for the known name that is spelt most like another one, or nothing."""
    names = [*known]
    found = [each for each in names if each.casefold() == name.casefold()] or get_close_matches(
        name, names, 1)
    return f'; did you mean {found[0]}?' if found else ''
