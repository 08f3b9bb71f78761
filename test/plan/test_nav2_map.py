# SPDX-License-Identifier: Apache-2.0

"""Maps and masks of nav2: every mode, every kind of picture, every mistake."""

from __future__ import annotations

import os
from pathlib import Path
import sys
import tracemalloc

from flats import flat, saved, written
from mnm_ros.core.errors import FileError
from mnm_ros.driving.occupancy import Map
from mnm_ros.driving.pose import Pose
from mnm_ros.plan.nav2_map import lethal, load, read_map, save_mask
import numpy as np
from PIL import Image
import pytest

GREY = [0, 80, 100, 128, 200, 205, 210, 254]    # of 255, black first


def test_what_is_saved_is_read(tmp_path: Path) -> None:
    map_ = flat((1, 1, 1.2, 1.3, 100), (4, 2, 4.5, 2.1, -1))
    read = load(saved(tmp_path, map_))
    assert (read.pixel_rows == map_.pixel_rows).all()
    assert read.origin == pytest.approx(map_.origin) and read.resolution == 0.05


@pytest.mark.parametrize(('mode', 'negate', 'expected'), [
    # 1 - grey / 255: 1, 0.69, 0.61, 0.50, 0.22, 0.196 and less
    ('trinary', '0', [100, 100, -1, -1, -1, -1, 0, 0]),
    ('trinary', 'true', [0, -1, -1, -1, 100, 100, 100, 100]),
    ('scale', '0', [100, 100, 91, 67, 4, 0, 0, 0]),
    ('raw', '0', [0, 80, 100, -1, -1, -1, -1, -1]),
    ('raw', '1', [0, 80, 100, -1, -1, -1, -1, -1]),
    ('', '0', [100, 100, -1, -1, -1, -1, 0, 0])])
def test_modes(tmp_path: Path, mode: str, negate: str, expected: list[int]) -> None:
    for suffix, picture in (('pgm', np.array([GREY], np.uint8)),
                            ('png', np.array([[[grey] * 3 for grey in GREY]], np.uint8))):
        Image.fromarray(picture).save(tmp_path / f'flat.{suffix}')
        read = load(written(tmp_path, mode=mode, negate=negate, image=f'flat.{suffix}'))
        assert list(read.values) == expected, suffix


@pytest.mark.parametrize(('entries', 'resolution'), [
    ({'resolution': '5e-2', 'mode': 'Trinary', 'negate': "'0'"}, 0.05),
    ({'resolution': '"0.05"', 'origin': "['-1', -15e-1, '0']", 'negate': "'False'"}, 0.05),
    ({'resolution': "'1E-1'", 'free_thresh': '196e-3', 'occupied_thresh': '".65"'}, 0.1)])
def test_numbers_and_words_are_read_as_nav2_reads_them(
        tmp_path: Path, entries: dict[str, str], resolution: float) -> None:
    plain = load(saved(tmp_path, flat()))
    found = load(written(tmp_path, **{'origin': '[-1, -1.5, 0]', **entries}))
    assert found.resolution == resolution and found.origin == (-1, -1.5, 0)
    assert (found.pixel_rows == plain.pixel_rows).all()


@pytest.mark.parametrize('image', [
    '/home/somebody/maps/flat.pgm', 'maps/flat.pgm', r"'C:\maps\flat.pgm'"])
def test_a_picture_of_another_machine_is_taken_from_beside_the_file_and_that_is_said(
        tmp_path: Path, image: str) -> None:
    path = saved(tmp_path, flat())
    assert not read_map(path).remarks
    found = read_map(written(tmp_path, image=image, origin='[-1.2, -1.7, 0]'))
    assert (found.map.pixel_rows == flat().pixel_rows).all()
    said, = found.remarks
    assert said.endswith(f'is not there: the picture is {tmp_path / "flat.pgm"}')


def test_what_is_unknown_may_be_free_by_its_threshold_and_that_is_said(tmp_path: Path) -> None:
    Image.fromarray(np.array([[205] * 3 + [206, 254, 0]], np.uint8)).save(tmp_path / 'flat.pgm')
    path = written(tmp_path, free_thresh='0.25', resolution='1.0')
    free, kept = read_map(path), read_map(path, keep_unknown=True)
    assert list(free.map.values) == [0, 0, 0, 0, 0, 100] and not kept.remarks
    assert list(kept.map.values) == [-1, -1, -1, 0, 0, 100]
    assert ['taken for free: 3.0 m^2 of the shade 205' in said and '--keep-unknown' in said
            for said in free.remarks] == [True]


def test_what_is_transparent_is_unknown_in_scale_and_a_fourth_colour_in_trinary(
        tmp_path: Path) -> None:
    pixels = np.array([[[254] * 3 + [255], [254] * 3 + [0], [0] * 3 + [0]]], np.uint8)
    Image.fromarray(pixels).save(tmp_path / 'flat.png')
    values = {mode: list(load(written(tmp_path, mode=mode, image='flat.png')).values)
              for mode in ('scale', 'trinary', 'raw')}
    assert values == {'scale': [0, -1, -1], 'trinary': [0, -1, 100], 'raw': [-1, -1, 0]}


def test_grey_of_16_bits(tmp_path: Path) -> None:
    Image.fromarray(np.array([[0, 65535]], np.uint16)).save(tmp_path / 'flat.png')
    assert list(load(written(tmp_path, image='flat.png')).values) == [100, 0]


def test_the_first_row_of_a_picture_is_the_upper_one(tmp_path: Path) -> None:
    Image.fromarray(np.array([[0], [254]], np.uint8)).save(tmp_path / 'flat.pgm')
    read = load(written(tmp_path, origin='[1, 2, 1.5707963267948966]'))
    assert list(read.values) == [0, 100]
    # The corner of the second row, in a map that is turned by a quarter.
    assert read.points([(0, 1)])[0] == pytest.approx((0.95, 2))


@pytest.mark.parametrize(('entries', 'complaint'), [
    ({'resolution': ''}, 'resolution is missing'),
    ({'resolution': '0'}, ':3: found 0, expected the side of a pixel in m'),
    ({'origin': '[1, 2]'}, ':4: found 2 numbers, expected x, y and yaw'),
    ({'origin': '[1, x, 0]'}, ":4: found 'x', expected x, y and yaw"),
    ({'mode': 'grey'}, ":2: found 'grey', expected one of trinary, scale, raw"),
    ({'negate': '2'}, ':5: found 2, expected 0 or 1'),
    ({'free_thresh': '0.7'}, ':6: found 0.65, expected more than free_thresh, which is 0.7'),
    ({'occupied_thresh': 'high'}, ":6: found 'high', expected a number from 0 to 1"),
    ({'image': ''}, 'image is missing, expected the path of a picture'),
    ({'image': 'none.pgm'}, 'none.pgm: cannot be read'),
    ({'image': 'flat.yaml'}, 'flat.yaml: cannot be read'),
    ({'image': 'cut.pgm'}, 'cut.pgm: cannot be read'),
])
def test_mistakes_are_refused_with_their_line(
        tmp_path: Path, entries: dict, complaint: str) -> None:
    path = saved(tmp_path, flat())
    (tmp_path / 'cut.pgm').write_bytes((tmp_path / 'flat.pgm').read_bytes()[:200])
    with pytest.raises(FileError) as refusal:
        load(written(tmp_path, **entries))
    assert complaint in str(refusal.value) and str(path) in str(refusal.value)


@pytest.mark.parametrize('suffix', ['eps', 'gif', 'tiff', 'webp', 'avif', 'ico'])
def test_pictures_of_other_formats_are_not_opened(
        tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow would run the program gs of the path for an eps, and others have had faults."""
    program = tmp_path / 'gs'
    program.write_text(f'#!/bin/sh\ntouch {tmp_path}/ran\n')
    program.chmod(0o755)
    monkeypatch.setenv('PATH', str(tmp_path), prepend=os.pathsep)
    Image.new('RGB', (4, 4)).save(tmp_path / f'flat.{suffix}')
    with pytest.raises(FileError, match=r'flat\.\w+: cannot be read .* pgm, ppm, pbm, png, bmp'):
        load(written(tmp_path, image=f'flat.{suffix}'))
    assert not (tmp_path / 'ran').exists()


@pytest.mark.parametrize(('suffix', 'mode'), [
    ('pgm', 'L'), ('ppm', 'RGB'), ('pbm', '1'), ('png', 'P'), ('bmp', 'RGB'), ('jpeg', 'L')])
def test_pictures_of_these_formats_are_read(tmp_path: Path, suffix: str, mode: str) -> None:
    black = Image.new('L', (8, 16))
    black.paste(255, (0, 8, 8, 16))
    black.convert(mode).save(tmp_path / f'flat.{suffix}')
    rows = load(written(tmp_path, image=f'flat.{suffix}')).pixel_rows
    assert rows.shape == (16, 8) and (rows[8:] == 100).all() and (rows[:8] == 0).all()


@pytest.mark.parametrize('bytes_kept', range(8, 76, 4))
def test_a_damaged_picture_is_refused(tmp_path: Path, bytes_kept: int) -> None:
    Image.new('L', (64, 64)).save(tmp_path / 'flat.png')
    data = (tmp_path / 'flat.png').read_bytes()
    (tmp_path / 'flat.png').write_bytes(data[:bytes_kept] + data[bytes_kept + 1:])
    try:
        load(written(tmp_path, image='flat.png'))
    except FileError as error:
        assert 'flat.png: cannot be read' in str(error)


def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / 'pipe')
    (tmp_path / 'folder').mkdir()
    (tmp_path / 'link').symlink_to('/dev/zero')
    for name, reason in (('pipe', 'no regular file'), ('link', 'no regular file'),
                         ('folder', 'Is a directory'), ('"a\\0b"', 'null byte'),
                         ('~nosuchuser/a.png', "'~nosuchuser' has no home folder")):
        with pytest.raises(FileError, match=rf'flat\.yaml:1: .*{reason}'):
            load(written(tmp_path, image=name))
    for name in ('pipe', 'link'):
        with pytest.raises(FileError, match='no regular file'):
            load(tmp_path / name)


def test_too_many_pixels_are_refused_before_any_is_read(tmp_path: Path) -> None:
    (tmp_path / 'flat.pgm').write_bytes(b'P5\n8000 8000\n255\n')    # and no more
    with pytest.raises(FileError, match='found 8000 x 8000 pixels, expected at most 50,000,000'):
        load(written(tmp_path))


def test_a_large_picture_takes_little_memory(tmp_path: Path) -> None:
    """Each pixel takes some bytes, although colours are looked at as numbers of 8 bytes each."""
    Image.new('RGB', (2000, 2000), 'white').save(tmp_path / 'flat.png')
    path = written(tmp_path, image='flat.png')
    tracemalloc.start()
    try:
        assert not load(path).pixel_rows.any()
        assert tracemalloc.get_traced_memory()[1] < 30 * 2000 * 2000
    finally:
        tracemalloc.stop()


def test_without_pillow_it_is_said_what_to_install(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path, flat())
    monkeypatch.setitem(sys.modules, 'PIL', None)
    with pytest.raises(FileError, match=r"^to read .* Pillow is needed: .* -e '\.\[map\]', or"):
        load(path)


def test_masks_are_written_and_read(tmp_path: Path) -> None:
    map_ = flat()
    kept_out = np.zeros((map_.height, map_.width), np.bool_)
    kept_out[20:30, 40:60] = True
    save_mask(tmp_path / 'mask.yaml', map_, kept_out)
    assert (lethal(load(tmp_path / 'mask.yaml'), map_) == kept_out).all()


@pytest.mark.parametrize('resolution', [0.01, 0.05, 0.2])
def test_a_mask_may_have_other_pixels(resolution: float) -> None:
    """Each pixel of the map that a mask touches at its middle, or with one of its own, counts."""
    map_ = Map(0.05, 40, 40, Pose(0.0, 0.0, 0.0), [0] * 1600)
    size = round(0.4 / resolution)
    mask = Map(resolution, size, size, Pose(1.0, 0.6, 0.0), [100] * size * size)
    expected = np.zeros((40, 40), np.bool_)
    expected[12:20, 20:28] = True
    assert (lethal(mask, map_) == expected).all()
