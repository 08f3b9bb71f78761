# SPDX-License-Identifier: Apache-2.0

"""Read bags of explorations, recorded by ``ros2 bag``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
import json
from pathlib import Path
import sqlite3
from typing import Any

from mnm_ros.bags.writing import INSTALL
from mnm_ros.checkpoint.files import regular
from mnm_ros.checkpoint.input_log import Refused
from mnm_ros.core.interruption import Interruption

SUFFIXES = ('.mcap', '.db3')
"""How the name of a file ends that is a bag; a folder is one if it has ``metadata.yaml``."""


@dataclass
class Bag:
    """
    What a bag has of one exploration. All times are in ns.

    :ivar namespace: of the explorer, with a slash before and after it.
    :ivar orders: action by seq, as first ordered.
    :ivar answers: state and time by seq, as first answered.
    :ivar heard: all of ``state`` in its order: seq, state, time.
    :ivar ordered: when each order was first given, by seq.
    :ivar configuration: what the exploration was asked for; None if the bag does not have it.
    :ivar description: as published on ``robot_side``; empty if the bag does not have it.
    :ivar times: per name of a topic the times and values that were published there.
    :ivar cut: whether the file is not complete, as its recorder was killed.
    """

    path: Path
    namespace: str
    orders: dict[int, int] = field(default_factory=dict)
    answers: dict[int, tuple[int, int]] = field(default_factory=dict)
    heard: list[tuple[int, int, int]] = field(default_factory=list)
    ordered: dict[int, int] = field(default_factory=dict)
    interruptions: list[Interruption] = field(default_factory=list)
    configuration: dict[str, Any] | None = None
    description: str = ''
    times: dict[str, list[tuple[int, Any]]] = field(default_factory=dict)
    cut: bool = False

    def take(self, name: str, time: int, data: Any) -> None:
        """
        Take a message.

        :param name: of the topic, without the namespace.
        :param data: as published, of ``Int64MultiArray``, ``Int64`` or ``String``.
        """
        if name in ('action', 'state'):
            if len(data) == 2:    # otherwise it is malformed, and everybody ignores it
                self._step(name, time, int(data[0]), int(data[1]))
        elif name == 'interruption':
            found = Interruption.of(data)
            if found not in self.interruptions[-20:]:    # what was latched may come twice
                self.interruptions.append(found)
        elif name == 'configuration':
            self.configuration = json.loads(data)
        elif name == 'robot_side':
            self.description = data
        else:
            self.times.setdefault(name, []).append((time, data))

    def _step(self, name: str, time: int, seq: int, value: int) -> None:
        if name == 'action':
            self.orders.setdefault(seq, value)
            self.ordered.setdefault(seq, time)
        else:
            self.heard.append((seq, value, time))
            self.answers.setdefault(seq, (value, time))


_TYPES = {
    'action': 'Int64MultiArray', 'state': 'Int64MultiArray', 'interruption': 'Int64MultiArray',
    'configuration': 'String', 'robot_side': 'String', 'phase': 'String',
    'true_setting': 'Int64', 'exploration_steps': 'Int64'}
"""What is read, and the type that it has to have."""

_Message = tuple[str, str, int, Callable[[], Any]]
"""Topic, type, time and what decodes the message."""


def is_bag(path: Path) -> bool:
    """Return whether this seems to be a bag."""
    return path.suffix in SUFFIXES or (path / 'metadata.yaml').is_file()


def read_bag(path: Path, namespace: str = '') -> Bag:
    """
    Read a bag: an MCAP file, an SQLite file, or a folder that ``ros2 bag`` has made.

    :param namespace: of the explorer; not needed where the bag has only one.
    :raises Refused: if it cannot be read, or has no steps, or those of several namespaces.
    """
    by_namespace: dict[str, Bag] = {}
    cut = False
    try:
        for part in path.iterdir() if path.is_dir() else [path]:
            _check_part(part)
        try:
            _fill(by_namespace, path, _messages(path))
        except _Cut:
            cut = True
            by_namespace.clear()
            _fill(by_namespace, path, _messages_before_the_cut(path))
    except ImportError:
        raise Refused(INSTALL) from None
    except Refused:
        raise
    except Exception as error:    # whatever the libraries find wrong
        raise Refused(f'{path} cannot be read as a bag: {error}') from None
    found = {name: bag for name, bag in by_namespace.items() if bag.orders}
    if namespace:
        wanted = f'/{namespace.strip("/")}/'.replace('//', '/')
        found = {name: bag for name, bag in found.items() if name == wanted}
    if not found:
        raise Refused(f'{path} has no steps, expected the topics {namespace.rstrip("/")}/action '
                      f'and {namespace.rstrip("/")}/state')
    if len(found) > 1:
        raise Refused(f'{path} has the steps of {" and ".join(sorted(found))}, expected one of '
                      'them as --namespace')
    bag, = found.values()
    bag.cut = cut
    return bag


def _check_part(path: Path) -> None:
    """Raise ValueError where to read what is computed can take forever, and all memory."""
    if path.is_dir() or regular(path).suffix != '.db3':
        return
    database = sqlite3.connect(f'{path.resolve().as_uri()}?mode=ro', uri=True)
    try:
        for kind, name in database.execute('SELECT type, name FROM sqlite_master').fetchall():
            columns = database.execute('SELECT hidden FROM pragma_table_xinfo(?)', (name,))
            if kind not in ('table', 'index') or any(hidden for hidden, in columns):
                raise ValueError(f'{name!r} is computed, expected tables')
    finally:
        database.close()


class _Cut(Exception):
    """The file has no end."""


def _fill(bags: dict[str, Bag], path: Path, messages: Iterator[_Message]) -> None:
    for topic, kind, time, decoded in messages:
        before, _, name = topic.rpartition('/')
        if _TYPES.get(name) == kind.rpartition('/')[2]:
            bag = bags.setdefault(f'{before}/', Bag(path, f'{before}/'))
            bag.take(name, time, decoded().data)


def _messages(path: Path) -> Iterator[_Message]:
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import get_typestore, Stores
    try:
        with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
            wanted = [connection for connection in reader.connections
                      if connection.topic.rpartition('/')[2] in _TYPES]
            for connection, time, data in reader.messages(connections=wanted):
                kind = connection.msgtype
                yield connection.topic, kind, time, partial(reader.deserialize, data, kind)
    except Exception as error:
        if path.suffix == '.mcap' and 'magic' in str(error):
            raise _Cut from None
        raise


def _messages_before_the_cut(path: Path) -> Iterator[_Message]:
    """Yield what is left of an MCAP file whose writer was killed."""
    from mcap.exceptions import EndOfFile
    from mcap.records import Channel, Message, Schema
    from mcap.stream_reader import StreamReader
    from mcap_ros2.decoder import DecoderFactory
    decoders, schemas, channels = DecoderFactory(), {}, {}
    with path.open('rb') as file:
        try:
            for record in StreamReader(file).records:
                if isinstance(record, Schema):
                    schemas[record.id] = record
                elif isinstance(record, Channel):
                    channels[record.id] = record
                elif isinstance(record, Message):
                    channel = channels[record.channel_id]
                    schema = schemas[channel.schema_id]
                    decode = decoders.decoder_for(channel.message_encoding, schema)
                    if decode is not None:
                        yield (channel.topic, schema.name, record.log_time,
                               partial(decode, record.data))
        except EndOfFile:
            return
