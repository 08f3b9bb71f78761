# SPDX-License-Identifier: Apache-2.0

"""What ``mnm_ros map`` costs is measured of the command itself."""

from __future__ import annotations

from pathlib import Path

import maps
import pytest


def test_a_generated_floor_is_a_map_with_rooms_behind_doors(
        tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    path = maps.generated(tmp_path, 12.0, 0)
    found = maps.cost(path, tmp_path)
    assert not found.refusal and 4 <= found.rooms <= 8 and found.places >= found.rooms
    assert 0 < found.cpu and 30 < found.megabytes < 1000 and found.ways >= found.places - 1


def test_a_map_that_is_refused_has_its_line_and_a_floor_that_takes_too_much_fails(
        tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    bad = tmp_path / 'bad.yaml'
    bad.write_text('image: none.pgm\n')
    assert maps.main([str(bad), '--sides', '10', '--seconds', '0.01']) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and 'resolution is missing' in lines[1]
    assert lines[2].startswith('floor_10')


def test_sides_are_checked() -> None:
    with pytest.raises(SystemExit):
        maps.main(['--sides', '5'])
