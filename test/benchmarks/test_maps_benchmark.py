# SPDX-License-Identifier: Apache-2.0

"""What ``mnm_ros map`` costs is measured of the command itself."""

from __future__ import annotations

from pathlib import Path

import maps
import pytest
from tiers import strength


def test_a_map_that_is_refused_has_its_line_and_a_floor_that_takes_too_much_fails(
        tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, part = maps.floor, strength(84, 200)    # of its pixels, on each side
    monkeypatch.setattr(maps, 'floor', lambda side, seed: whole(side, seed)[:part, :part])
    bad = tmp_path / 'bad.yaml'
    bad.write_text('image: none.pgm\n')
    assert maps.main([str(bad), '--sides', '10', '--seconds', '0.01']) == 1
    head, refused, floor = capsys.readouterr().out.splitlines()
    assert 'resolution is missing' in refused
    found = dict(zip(head.replace('CPU s', 'cpu').split(), floor.split()))
    rooms, places = int(found['rooms']), int(found['places'])
    assert found['map'] == 'floor_10' and strength(1, 4) <= rooms <= 8 and places >= rooms
    assert float(found['cpu']) > 0 and 30 < int(found['MB']) < 1000
    assert int(found['ways']) >= places - 1


def test_sides_are_checked() -> None:
    with pytest.raises(SystemExit):
        maps.main(['--sides', '5'])
