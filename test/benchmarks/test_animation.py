# SPDX-License-Identifier: Apache-2.0

"""An exploration becomes a moving picture."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip('matplotlib')
Image = pytest.importorskip('PIL.Image')

import animation  # noqa: E402, I100


def test_a_picture_of_every_so_many_steps(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / 'moving.gif'
    assert animation.main(['--stride', '10', '--steps', '10', '--output', str(path)]) == 0
    assert '10 pictures' in capsys.readouterr().out
    with Image.open(path) as picture:
        assert picture.is_animated and picture.info['loop'] == 0


def test_no_colour_is_lost() -> None:
    frames = list(animation.record(800, seed=1))
    last = animation.draw([frames[0], frames[-1]])[-1].convert('RGB')
    shown = [color for _, color in last.getcolors()]
    for name, wanted in animation.COLORS.items():
        channels = [int(wanted[i:i + 2], 16) for i in (1, 3, 5)]
        assert any(sum(abs(one - other) for one, other in zip(channels, color)) < 20
                   for color in shown), name


def test_both_changes_are_in_it_and_are_relearnt() -> None:
    frames = list(animation.record(500, seed=1))
    assert len(frames[-1].changes) == 2
    known = [len(frame.routes) for frame in frames]
    assert known[0] == 0 and max(known) == 13 and known[-1] >= 12    # state 14 is not due
    assert min(known[known.index(13):]) == 6
    first = next(frame for frame in frames if frame.routes)
    assert all(route[0] == first.home and route[-1] == target
               for target, route in first.routes.items())


def test_bad_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        animation.main(['--stride', '3'])
    assert 'expected 10 <= --stride' in capsys.readouterr().err
