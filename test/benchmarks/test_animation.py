# SPDX-License-Identifier: Apache-2.0

"""An exploration becomes a moving picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from late import late
import pytest
from tiers import strength

late('matplotlib')
images, animation = map(late, ('PIL.Image', 'animation'))

SMALL = {'FLAT': ('..#..', '.S...', '..#..', '.....'), 'DOOR': (1, 2), 'RADIUS': 6.0, 'CALM': 100}
"""Two rooms with two doors between them."""

PLACES = strength(16, 50)    # within reach
STRIDE = strength(100, 200)    # steps from a picture to the next


@pytest.fixture(scope='module')
def frames() -> Iterator[list]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in strength(SMALL, {}).items():
            patch.setattr(f'animation.{name}', value)
        yield list(animation.record(STRIDE, seed=3))


def test_a_picture_of_every_so_many_steps(
        tmp_path: Path, capsys: pytest.CaptureFixture[str], frames: list) -> None:
    path = tmp_path / 'moving.gif'
    assert animation.main(['--stride', '30', '--steps', '30', '--output', str(path)]) == 0
    assert '5 pictures' in capsys.readouterr().out
    with images.open(path) as picture:
        assert picture.is_animated and picture.info['loop'] == 0


def test_a_door_closes_and_a_way_round_is_found(frames: list) -> None:
    change = frames[-1].change
    before, after = ([frame for frame in frames if (frame.change is None) == early]
                     for early in (True, False))
    assert len(frames[0].routes) < 5 and PLACES < len(before[-1].routes) <= PLACES + 2
    assert any(f'door {animation.DOOR_NAME} ' in frame.sentence
               for frame in after if frame.steps < change + 300 + STRIDE)
    assert any('out of reach' in frame.sentence for frame in after)
    least = min(len(frame.routes) for frame in after)
    # What does not lead through the door stays.
    assert PLACES * 0.4 <= least < len(frames[-1].routes)
    assert all(route[0] == frames[-1].home and route[-1] == target
               for target, route in frames[-1].routes.items())


def test_no_colour_is_lost(frames: list) -> None:
    seen = {kind for frame in frames for kind in frame.kinds.values()}
    assert seen == animation.COLORS.keys() - {'never seen'}
    some = {next(frame.steps for frame in frames if kind in frame.kinds.values()): kind
            for kind in seen}
    pictures = animation.draw([frame for frame in frames if frame.steps in some])
    for wanted in map(animation.COLORS.__getitem__, seen):
        channels = [int(wanted[i:i + 2], 16) for i in (1, 3, 5)]
        assert any(sum(abs(one - other) for one, other in zip(channels, color)) < 24
                   for picture in pictures
                   for _, color in picture.convert('RGB').getcolors()), wanted


def test_bad_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        animation.main(['--stride', '3'])
    assert 'expected 10 <= --stride' in capsys.readouterr().err
