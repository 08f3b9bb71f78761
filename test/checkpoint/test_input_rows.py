# SPDX-License-Identifier: Apache-2.0

"""A log of inputs has one row per input, which other programs can read."""

from __future__ import annotations

from pathlib import Path
import re
import sqlite3

from mnm_ros.checkpoint.input_log import InputLog, SavedInputs
from mnm_ros.checkpoint.input_rows import encoded
from mnm_ros.core.errors import CheckpointError
from mnm_ros.core.inputs import (
    DeclarationInput,
    ImproveInput,
    Interruption,
    LookInput,
    Observation,
    Preference,
    Relocation,
    WorkObservation,
)
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.problem import RESET
from pages import DOCS
import pytest


def test_a_file_has_the_rows_that_it_has_always_had(tmp_path: Path) -> None:
    """As the version 0.1.0 has written them, and as any other program reads them."""
    inputs = [
        Observation(RESET, 7), Observation(1, -3, 'deck/r2'), Relocation(5), Relocation(5, RESET),
        Relocation(5, 1), Interruption(), Interruption(RESET, 'r1'), Interruption(0),
        DeclarationInput(Declaration({7: ((7,), (8, 9))}, audit=0.01)),
        DeclarationInput(Declaration(), RESET)]
    log = InputLog.create(tmp_path / 'log.sqlite', {}, None)
    log.append(inputs)
    log.close()
    with sqlite3.connect(log.path) as database:
        rows = database.execute('SELECT * FROM inputs ORDER BY number').fetchall()
        robots = database.execute('SELECT * FROM robots ORDER BY number').fetchall()
    database.close()
    assert [row[:-1] for row in rows] == [
        (1, 0, 7, -1), (2, 0, -3, 1), (3, 1, 5, -1), (4, 1, 5, -2), (5, 1, 5, 1), (6, 2, 0, -1),
        (7, 2, 0, -2), (8, 2, 0, 0), (9, 3, 202426208, -1), (10, 3, 2745614147, -2)]
    assert rows[-1][-1] == 125452915
    assert robots == [
        (2, 'deck/r2'), (7, 'r1'), (9, '{"successors": {"7": [[7], [8, 9]]}, "audit": 0.01}'),
        (10, '{}')]
    assert SavedInputs(log.path).inputs == inputs


def test_what_others_have_had_executed_is_kept_with_all_that_belongs_to_it(tmp_path: Path) -> None:
    inputs = [WorkObservation(-3, 1, 2**40), WorkObservation(5, 0, None, RESET),
              WorkObservation(5, 0, 5, 2, 'deck/r2'), Preference(-3), Preference(7, 1),
              LookInput(), LookInput(-3, 2, RESET), LookInput(None, RESET, 1),
              ImproveInput(2**40, 0.05, RESET), ImproveInput(None, 0.0)]
    log = InputLog.create(tmp_path / 'log.sqlite', {}, None)
    log.append(inputs)
    log.close()
    assert SavedInputs(log.path).inputs == inputs
    with sqlite3.connect(log.path) as database:
        assert database.execute('SELECT kind, action FROM inputs').fetchall() == [
            (4, -1), (4, -2), (4, 2), (5, -1), (5, 1), (6, -1), (6, -2), (6, 1), (7, -2), (7, -1)]
        database.execute("UPDATE robots SET robot = replace(robot, '-3', '-4')")
    database.close()
    with pytest.raises(CheckpointError, match='has CRC-32'):
        SavedInputs(log.path)


def test_the_docs_name_the_kinds() -> None:
    made = [Observation(1, 2), Relocation(1), Interruption(), DeclarationInput(Declaration()),
            WorkObservation(1, 2, 3), Preference(1), LookInput(), ImproveInput(1, 0.1)]
    named = re.findall(r'^\| (\d) \| `(\w+)`', (DOCS / 'reference' / 'files_on_disk.md').read_text(
        encoding='utf-8'), re.MULTILINE)
    assert named == [(str(encoded(each)[0]), type(each).__name__) for each in made]
