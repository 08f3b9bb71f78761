# SPDX-License-Identifier: Apache-2.0

"""The benchmark of a step and of the start over a bare echo."""

from __future__ import annotations

import argparse

import bare
import echo
from mnm_ros import messages
import pytest


def test_what_is_compared_with_its_target() -> None:
    assert echo.ratios('two', [(3000.0, 4000.0), (4500.0, 5000.0)]) == [0.75, 0.9]
    assert echo.ratios('slow', [(0.02, 10.0)]) == [0.02]
    assert echo.verdict('two', 0.9) == '>= 0.9 met' and echo.verdict('two', 0.89)[-6:] == 'MISSED'
    assert echo.verdict('slow', 0.03) == '<= 0.03 met'
    assert echo.verdict('start', 1.51) == '<= 1.5 MISSED'
    assert '5,000 (4,000 .. 6,000)' in echo.line('two', [
        (4000.0, 8000.0), (6000.0, 8000.0), (5000.0, 8000.0)])


def test_the_bare_nodes_have_the_quality_of_service_of_the_protocol() -> None:
    for name in ('depth', 'reliability', 'durability', 'history'):
        assert getattr(bare.STEP, name) == getattr(messages.STEP, name), name


@pytest.mark.parametrize('argument', ['--rounds', '--seconds', '--plain-steps'])
def test_bad_arguments(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        echo.parse([argument, '0'])
    assert f'{argument} is 0, expected at least 1' in capsys.readouterr().err


def test_plain_python() -> None:
    given: argparse.Namespace = echo.parse(
        ['--after', '50', '--plain-steps', '50', '--scenario', 'corridor', '--radius', '3'])
    mine, alone = echo.plain(given)
    assert 0 < mine < alone
