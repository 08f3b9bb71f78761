# SPDX-License-Identifier: Apache-2.0

"""What ``mnm_ros map`` costs is measured of the command itself."""

from __future__ import annotations

from pathlib import Path

import maps
import pytest


def test_a_map_that_is_refused_has_its_line_and_a_floor_that_takes_too_much_fails(
        tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    bad = tmp_path / 'bad.yaml'
    bad.write_text('image: none.pgm\n')
    assert maps.main([str(bad), '--sides', '12', '--seconds', '0.01']) == 1
    head, refused, floor = capsys.readouterr().out.splitlines()
    assert 'resolution is missing' in refused
    found = dict(zip(head.replace('CPU s', 'cpu').split(), floor.split()))
    rooms, places = int(found['rooms']), int(found['places'])
    assert found['map'] == 'floor_12' and 4 <= rooms <= 8 and places >= rooms
    assert float(found['cpu']) > 0 and 30 < int(found['MB']) < 1000
    assert int(found['ways']) >= places - 1


def test_sides_are_checked() -> None:
    with pytest.raises(SystemExit):
        maps.main(['--sides', '5'])
