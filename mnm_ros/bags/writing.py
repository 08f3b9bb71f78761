# SPDX-License-Identifier: Apache-2.0

"""
Write MCAP files with messages of ROS 2, as they are: nothing is decoded or encoded.

The definitions of the messages are in the file, so that whatever reads MCAP can show them. They
come from the library ``rosbags``; what writes is the library ``mcap``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mnm_ros.checkpoint.input_log import Inputs, Refused
from mnm_ros.core.exploration import Input
from mnm_ros.core.interruption import Break, Interruption
from mnm_ros.core.model.problem import RESET

INSTALL = ('bags need the Python packages rosbags and mcap-ros2-support: pip install '
           "'mnm_ros[bags]', or pip install rosbags mcap-ros2-support")
"""What to do where a library is missing."""

_CHUNK = 2**16    # bytes, which are lost at most if the process is killed
_NEVER = '{sec: 9223372036, nsec: 854775807}'
_PROFILE = (
    '- {{history: 1, depth: 10, reliability: 1, durability: {durability}, '
    f'deadline: {{{_NEVER}}}, lifespan: {{{_NEVER}}}, '
    f'liveliness: 1, liveliness_lease_duration: {{{_NEVER}}}, '
    'avoid_ros_namespace_conventions: false}}\n')
"""The QoS of a topic as ROS 2 writes it into bags; Humble knows no names for the numbers."""
_NUMBERS, _TEXT = 'std_msgs/Int64MultiArray', 'std_msgs/String'


class BagWriter:
    """
    A file that is open for writing; it must be closed to be complete.

    :param path: must not exist yet.
    :raises Refused: if it does, or if a library is missing.
    :raises OSError: if it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        try:
            from mcap.writer import Writer
            from rosbags.typesys import get_typestore, Stores
        except ImportError:
            raise Refused(INSTALL) from None
        if path.exists():
            raise Refused(f'{path} exists, expected the name of a new file')
        self._types = get_typestore(Stores.ROS2_JAZZY)
        self._file = path.open('wb')
        self._writer = Writer(self._file, chunk_size=_CHUNK)
        self._writer.start(profile='ros2', library='mnm_ros')
        self._schemas: dict[str, int] = {}
        self._numbers: dict[int, int] = {}    # of messages, by channel

    def add_topic(self, topic: str, kind: str, latched: bool) -> int:
        """
        Return the channel of a topic; to be called once for each.

        :param kind: ``package/Message``.
        :raises Refused: if nothing is known of that type.
        """
        name = kind.replace('/', '/msg/')
        if name not in self._schemas:
            try:
                text, _ = self._types.generate_msgdef(name, ros_version=2)
            except Exception:
                raise Refused(f'{topic} has messages of the unknown type {kind}') from None
            self._schemas[name] = self._writer.register_schema(name, 'ros2msg', text.encode())
        channel: int = self._writer.register_channel(topic, 'cdr', self._schemas[name], {
            'offered_qos_profiles': _PROFILE.format(durability=1 if latched else 2)})
        self._numbers[channel] = 0
        return channel

    def write(self, channel: int, data: bytes, time: int) -> None:
        """Write a serialized message with a time in ns."""
        number = self._numbers[channel] = self._numbers[channel] + 1
        self._writer.add_message(channel, time, data, time, number)

    def encode(self, kind: str, value: Any) -> bytes:
        """Return a serialized message: numbers as ``data`` of an array, or a text."""
        types, name = self._types.types, kind.replace('/', '/msg/')
        if kind == _NUMBERS:
            import numpy as np
            layout = types['std_msgs/msg/MultiArrayLayout'](dim=[], data_offset=0)
            value = types[name](layout=layout, data=np.array(value, dtype=np.int64))
        else:
            value = types[name](data=value)
        return bytes(self._types.serialize_cdr(value, name))

    def flush(self) -> None:
        """Hand over to the system what is complete."""
        self._file.flush()

    def close(self) -> None:
        """Complete the file."""
        try:
            self._writer.finish()
        finally:
            self._file.close()


def write_mcap(log: Inputs, path: Path, begin: int = 10**9, period: int = 10**8,
               namespace: str = '/') -> None:
    """
    Write what a transition log holds as a bag of the step topics.

    A log has no times: the messages get times that are equally far apart. The bag can be replayed
    like one that was recorded.

    :param begin: time of the first message, in ns.
    :param period: between two steps, in ns.
    :raises Refused: if the log does not begin with the exploration, or the file exists.
    """
    if log.point is not None:
        raise Refused(f'{log.path} does not begin with the exploration, expected a transition log')
    writer = BagWriter(path)
    try:
        _write_log(writer, log, begin, period, f'/{namespace.strip("/")}/'.replace('//', '/'))
    finally:
        writer.close()


def _write_log(writer: BagWriter, log: Inputs, begin: int, period: int, before: str) -> None:
    orders, states, breaks = (
        writer.add_topic(before + name, _NUMBERS, latched)
        for name, latched in (('action', False), ('state', False), ('interruption', True)))
    text = writer.add_topic(f'{before}configuration', _TEXT, True)
    writer.write(text, writer.encode(_TEXT, _text(log.identity)), begin)
    seq, now, steps = begin, begin, 0

    def tell(kind: Break, state: int = 0, action: int = RESET) -> None:
        writer.write(breaks, writer.encode(_NUMBERS, Interruption(
            steps, kind, state, action, seq).numbers()), now)

    tell(Break.BEGUN)
    for kind, state, action in log.inputs:
        now += period
        if kind is Input.OBSERVED:
            writer.write(orders, writer.encode(_NUMBERS, (seq, action)), now - period // 2)
            writer.write(states, writer.encode(_NUMBERS, (seq, state)), now)
            seq, steps = seq + 1, steps + 1
            continue
        if kind is Input.RELOCATED:
            writer.write(states, writer.encode(_NUMBERS, (-1, state)), now)
        tell(Break(kind.value), state, action)


def _text(identity: Mapping[str, Any]) -> str:
    import json
    return json.dumps(identity, sort_keys=True)
