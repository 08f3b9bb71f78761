# SPDX-License-Identifier: Apache-2.0

"""
Time and memory of `mnm_ros map` over files of maps, and over generated office floors.

Each map is read in a process of its own, which writes a place graph into a temporary folder. A
generated floor has rooms of 5 by 5 m with doors and furniture along corridors, in pixels of 5 cm.
The exit status is 1 if a generated floor took more seconds of CPU or more MB than allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
import os
from pathlib import Path
import subprocess
import sys
from tempfile import TemporaryDirectory
import time
from typing import NamedTuple

from arguments import Arguments
from mnm_ros.core.errors import FileError
from mnm_ros.places.geojson import read_geojson
import numpy as np
from numpy.typing import NDArray

PIXEL = 0.05    # m
ROOM, CORRIDOR, WALL = 5.0, 2.0, 0.15
PIECES = 6      # of furniture in a room

FREE, TAKEN = 254, 0


class Cost(NamedTuple):
    """What a map has cost; places and rooms are 0 if it was refused."""

    seconds: float
    cpu: float
    megabytes: float
    places: int
    ways: int
    rooms: int
    refusal: str


def floor(side: float, seed: int) -> NDArray[np.uint8]:
    """Return the picture of an office floor with sides of so many m."""
    random, pixels = np.random.default_rng(seed), round(side / PIXEL)
    picture = np.full((pixels, pixels), FREE, np.uint8)

    def box(left: float, low: float, width: float, height: float, shade: int = TAKEN) -> None:
        first, begin = round(low / PIXEL), round(left / PIXEL)
        picture[first:first + max(1, round(height / PIXEL)),
                begin:begin + max(1, round(width / PIXEL))] = shade

    pitch = 2 * ROOM + CORRIDOR
    for low in np.arange(0, side, pitch):
        for wall, into in ((low + ROOM, low), (low + ROOM + CORRIDOR, low + ROOM + CORRIDOR)):
            box(0, wall, side, WALL)
            for left in np.arange(0, side, ROOM):
                box(left, into, WALL, ROOM)
                box(left + 2, wall, random.uniform(0.8, 1.0), WALL, FREE)
                for _ in range(PIECES):
                    at, size = random.uniform(0.5, 4.0, 2), random.uniform(0.1, 0.8)
                    box(left + at[0], into + at[1], size, size)
        box(0, low + pitch, side, WALL)
    box(side / 2 + 1, WALL, CORRIDOR, side - 2 * WALL, FREE)    # joins all corridors
    for edge in (picture[:2], picture[-2:], picture[:, :2], picture[:, -2:]):
        edge[:] = TAKEN
    return picture


def generated(folder: Path, side: float, seed: int) -> Path:
    """Write a generated floor; return the path of its YAML file."""
    picture = floor(side, seed)
    path = folder / f'floor_{side:g}.yaml'
    path.with_suffix('.pgm').write_bytes(
        f'P5\n{picture.shape[1]} {picture.shape[0]}\n255\n'.encode() + picture.tobytes())
    path.write_text(f'image: {path.stem}.pgm\nresolution: {PIXEL}\norigin: [0, 0, 0]\nnegate: 0\n'
                    'occupied_thresh: 0.65\nfree_thresh: 0.196\n', encoding='utf-8')
    return path


def cost(map_file: Path, folder: Path) -> Cost:
    """Run the command, and return what it has cost."""
    output, began = folder / f'{map_file.stem}.geojson', time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, '-m', 'mnm_ros', 'map', str(map_file), '--output', str(output)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    with ThreadPoolExecutor(1) as aside:
        said = aside.submit(process.stderr.read)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        refusal = said.result().strip()
    seconds = time.perf_counter() - began
    figures = seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    try:
        graph = read_geojson(output)
    except FileError:
        return Cost(*figures, 0, 0, 0, refusal)
    rooms = {place.room for place in graph.places.values()}
    return Cost(*figures, len(graph.places), len(graph.edges) // 2, len(rooms), '')


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each map; 1 if a generated one took too much."""
    parser = Arguments(__doc__)
    parser.add_argument('maps', nargs='*', type=Path, metavar='MAP', help='YAML files of nav2')
    parser.add_argument('--sides', nargs='*', type=float, default=[30.0, 100.0], metavar='M',
                        help='of generated floors (default 30 100)')
    parser.number('seed', 0)
    parser.number('seconds', 20.0, 'of CPU that a generated floor may take')
    parser.number('megabytes', 1000.0, 'that a generated floor may take')
    given = parser.read(arguments)
    for side in given.sides:
        if not 10 <= side <= 350:
            parser.error(f'--sides is {side:g}, expected m from 10 to 350')
    print(f'{"map":<20} {"s":>6} {"CPU s":>6} {"MB":>6} {"rooms":>6} {"places":>6} {"ways":>6}')
    well = True
    with TemporaryDirectory() as name:
        folder = Path(name)
        for path, own in (*((path, False) for path in given.maps), *(
                (generated(folder, side, given.seed), True) for side in given.sides)):
            found = cost(path, folder)
            well = well and not (own and (found.refusal or found.cpu > given.seconds
                                          or found.megabytes > given.megabytes))
            print(f'{path.stem[:20]:<20} {found.seconds:>6.1f} {found.cpu:>6.1f} '
                  f'{found.megabytes:>6.0f} {found.rooms:>6} {found.places:>6} {found.ways:>6}'
                  f'{"  " * bool(found.refusal)}{found.refusal}', flush=True)
    return int(not well)


if __name__ == '__main__':
    raise SystemExit(main())
