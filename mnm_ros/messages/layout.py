# SPDX-License-Identifier: Apache-2.0

"""Arrays of integers with labelled dimensions, made and strictly read."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from reprlib import repr as shortened

from mnm_ros.core.errors import MessageError
from std_msgs.msg import Int64MultiArray, MultiArrayDimension, MultiArrayLayout


def encode(
        dimensions: Mapping[str, int], head: Sequence[int],
        rows: Iterable[Sequence[int]]) -> Int64MultiArray:
    sizes = tuple(dimensions.values())
    begin = len(head)
    data = array('q', (0,)) * (begin + prod(sizes))    # may be large: grown, it is copied
    data[:begin] = array('q', head)
    for row in rows:
        data[begin:begin + len(row)] = array('q', row)
        begin += len(row)
    return Int64MultiArray(
        layout=MultiArrayLayout(
            dim=[MultiArrayDimension(label=label, size=size, stride=prod(sizes[i:]))
                 for i, (label, size) in enumerate(dimensions.items())],
            data_offset=len(head)),
        data=data)


def sizes(name: str, message: Int64MultiArray, labels: Sequence[str]) -> tuple[int, ...]:
    """Return the sizes of the dimensions; MessageError if labels or strides are wrong."""
    check_type(name, message, Int64MultiArray)
    dimensions = message.layout.dim
    found = [dimension.label for dimension in dimensions]
    if found != list(labels):
        raise MessageError(f'{name}: dimensions {found}, expected {list(labels)}')
    sizes = tuple(dimension.size for dimension in dimensions)
    for i, dimension in enumerate(dimensions):
        if dimension.stride != prod(sizes[i:]):
            raise MessageError(
                f'{name}: stride of dimension {dimension.label} is {dimension.stride}, '
                f'expected {prod(sizes[i:])}')
    return sizes


def check_type(name: str, message: object, kind: type) -> None:
    if not isinstance(message, kind):
        raise MessageError(f'{name}: {shortened(message)}, expected a message {kind.__name__}')


def check_length(name: str, message: Int64MultiArray, head: int, entries: int) -> None:
    if message.layout.data_offset != head:
        raise MessageError(
            f'{name}: data_offset is {message.layout.data_offset}, expected {head}')
    if len(message.data) != head + entries:
        raise MessageError(
            f'{name}: {len(message.data)} numbers, expected {head + entries}: '
            f'a head of {head} and {entries} entries')


def check_distinct(name: str, known: Sequence[int]) -> None:
    if len(set(known)) != len(known):
        raise MessageError(f'{name}: a state is listed twice, expected distinct ids')
