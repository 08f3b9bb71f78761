# SPDX-License-Identifier: Apache-2.0

"""A map as a picture that a browser shows: a PNG file within an address."""

from __future__ import annotations

from base64 import b64encode
import struct
from typing import Any
import zlib

import numpy as np

_OCCUPIED = 50          # of 100, from where on a cell is a wall
_MOST_CELLS = 16_000_000
_GREY, _ALPHA = 4, 8    # PNG: greyscale with alpha, 8 bits each


def picture(cells: Any, width: int, height: int) -> str:
    """
    Return walls in grey, and the rest transparent, as a ``data:`` URL; '' if it is too large.

    :param cells: how occupied each is, row by row from the bottom; below 0 where unknown.
    """
    if not 0 < width * height <= _MOST_CELLS or len(cells) != width * height:
        return ''
    rows = np.asarray(cells, dtype=np.int8).reshape(height, width)[::-1]
    pixels = np.zeros((height, 1 + 2 * width), np.uint8)    # each row begins with its filter, 0
    pixels[:, 1::2] = 128
    pixels[:, 2::2] = np.where(rows >= _OCCUPIED, 200, 0)
    png = b''.join((
        b'\x89PNG\r\n\x1a\n',
        _chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, _ALPHA, _GREY, 0, 0, 0)),
        _chunk(b'IDAT', zlib.compress(pixels.tobytes(), 6)), _chunk(b'IEND', b'')))
    return f'data:image/png;base64,{b64encode(png).decode()}'


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
