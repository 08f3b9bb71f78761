# SPDX-License-Identifier: Apache-2.0

"""A bag holds what an exploration has learnt from, and other libraries open it."""

from __future__ import annotations

from pathlib import Path
import sqlite3
import sys

from mnm_ros.bags.inputs import Recorded
from mnm_ros.bags.reading import Bag, is_bag, read_bag
from mnm_ros.bags.writing import write_mcap
from mnm_ros.checkpoint.input_log import Inputs, Refused
from mnm_ros.core.exploration import Exploration, Input, Listener
from mnm_ros.core.interruption import Break, Interruption
from mnm_ros.core.presets import OPTIONS, settings_by_name
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
import pytest

pytest.importorskip('rosbags', reason='rosbags is not installed')
pytest.importorskip('mcap_ros2', reason='mcap-ros2-support is not installed')

ROOMS = load('two_rooms')
IDENTITY = {'version': '0.1.0', 'actions': list(ROOMS.actions), 'radius': 2.0, 'epsilon': 1.0,
            'delta': 0.1, 'preset': 'onboard', 'seed': 1,
            **{option.name: option.default for option in OPTIONS}}


def explored(steps: int = 800) -> Inputs:
    """Return what an exploration has learnt from that was broken off in several ways."""
    simulator, log = Simulator(ROOMS, 1), Inputs(Path('log'), IDENTITY, None)
    exploration = Exploration(settings_by_name(IDENTITY), 1)
    exploration.listeners.append(Listener(lambda taken: log.inputs.append(taken.entry)))
    for step in range(steps):
        if step % 37 == 36:
            exploration.lose_place()
        if step % 101 == 100:
            exploration.next_action()
            exploration.relocate(3)
        action = exploration.next_action()
        if step % 53 == 52:
            exploration.lose_place()
            action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
    return log


@pytest.fixture(scope='module')
def log() -> Inputs:
    return explored()


@pytest.fixture(scope='module')
def path(log: Inputs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp('bag') / 'a.mcap'
    write_mcap(log, found, namespace='robot_1')
    return found


def test_a_log_comes_back_from_a_bag_bit_for_bit(log: Inputs, path: Path) -> None:
    recorded = Recorded(read_bag(path))
    assert {kind for kind, *_ in log.inputs} == {*Input}
    assert {action for kind, _, action in log.inputs if kind is Input.INTERRUPTED} > {-1, -2}
    assert recorded.inputs == log.inputs and recorded.identity == IDENTITY
    assert len(recorded.times) == len(recorded.inputs) and not recorded.inferred
    recorded.replay(Exploration(settings_by_name(IDENTITY), 1))


def test_both_libraries_read_it(log: Inputs, path: Path) -> None:
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory
    from rosbags.highlevel import AnyReader
    steps = sum(kind is Input.OBSERVED for kind, *_ in log.inputs)
    with path.open('rb') as file:
        reading = make_reader(file, decoder_factories=[DecoderFactory()])
        orders = [list(message.data) for _, _, _, message in reading.iter_decoded_messages(
            topics=['/robot_1/action'])]
    with AnyReader([path]) as reader:
        connection, = (each for each in reader.connections if each.topic == '/robot_1/action')
        assert list(orders[7]) == list(reader.deserialize(
            list(reader.messages([connection]))[7][2], connection.msgtype).data)
        breaks, = (each for each in reader.connections if each.topic.endswith('interruption'))
        assert breaks.ext.offered_qos_profiles[0].durability.name == 'TRANSIENT_LOCAL'
    assert len(orders) == steps and orders[0][1] == -1


@pytest.mark.parametrize('storage', ['MCAP', 'SQLITE3'])
def test_a_bag_of_ros2_bag_is_read(log: Inputs, path: Path, tmp_path: Path, storage: str) -> None:
    """A folder as it makes it, with either storage; what is written twice counts once."""
    from rosbags.highlevel import AnyReader
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import get_typestore, Stores
    made = tmp_path / 'bag'
    with AnyReader([path]) as reader, Writer(
            made, version=8, storage_plugin=StoragePlugin[storage]) as writer:
        numbers = {each.id: writer.add_connection(
            each.topic, each.msgtype, typestore=get_typestore(Stores.ROS2_HUMBLE))
            for each in reader.connections}
        for connection, time, data in reader.messages():
            writer.write(numbers[connection.id], time, data)
            writer.write(numbers[connection.id], time + 1, data)
    assert is_bag(made) and not is_bag(tmp_path)
    assert Recorded(read_bag(made)).inputs == log.inputs


def test_a_file_without_an_end_is_read_as_far_as_it_goes(log: Inputs, path: Path,
                                                         tmp_path: Path) -> None:
    cut = tmp_path / 'cut.mcap'
    cut.write_bytes(path.read_bytes()[:path.stat().st_size * 2 // 3])
    bag = read_bag(cut)
    found = Recorded(bag).inputs
    assert bag.cut and 100 < len(found) < len(log.inputs) and found == log.inputs[:len(found)]


def test_what_came_before_the_recorder_was_found_is_filled_in(log: Inputs, path: Path) -> None:
    bag = read_bag(path)
    first = min(bag.orders)
    for seq in range(first, first + 20):
        del bag.orders[seq]
    del bag.answers[first]
    assert Recorded(bag).inputs == log.inputs


def test_a_bag_that_lacks_a_step_is_refused(path: Path) -> None:
    bag = read_bag(path)
    del bag.answers[min(bag.orders) + 10]
    with pytest.raises(Refused, match=rf'lacks the answer to the order {min(bag.orders) + 10} af'):
        Recorded(bag)
    bag = read_bag(path)
    del bag.answers[max(bag.orders) - 1]
    with pytest.raises(Refused, match='lacks the answer to the order'):
        Recorded(bag)


def bag_of(breaks: list[Interruption], steps: list[tuple[int, int, int]]) -> Bag:
    bag = Bag(Path('made'), '/')
    bag.configuration = dict(IDENTITY)
    for interruption in breaks:
        bag.take('interruption', 0, interruption.numbers())
    for seq, action, state in steps:
        bag.take('action', seq, (seq, action))
        bag.take('state', seq, (seq, state))
    return bag


def test_steps_that_did_not_count_are_left_out() -> None:
    """An order that was given up and answered late, one of another sender, one in a fault."""
    bag = bag_of(
        [Interruption(0, Break.BEGUN, 0, -1, 10), Interruption(2, Break.INTERRUPTED, 0, 1, 13),
         Interruption(3, Break.OVER, 0, -1, 14), Interruption(3, Break.INTERRUPTED, 0, -1, 15)],
        [(10, -1, 0), (11, 0, 1), (12, 1, 0), (13, -1, 0), (14, -1, 0), (15, -1, 0), (16, 0, 1),
         (900_000_000, 0, 7)])
    observed = Input.OBSERVED
    assert Recorded(bag).inputs == [
        (observed, 0, -1), (observed, 1, 0), (Input.INTERRUPTED, 0, 1), (observed, 0, -1),
        (Input.INTERRUPTED, 0, -1), (observed, 0, -1), (observed, 1, 0)]


def test_an_explorer_that_goes_on_from_before_its_last_steps_is_followed() -> None:
    bag = bag_of(
        [Interruption(0, Break.BEGUN, 0, -1, 10), Interruption(2, Break.INTERRUPTED, 0, 1, 12),
         Interruption(2, Break.BEGUN, 1, -1, 500)],
        [(10, -1, 0), (11, 0, 1), (12, 1, 0), (500, -1, 0)])
    assert Recorded(bag).inputs == [
        (Input.OBSERVED, 0, -1), (Input.OBSERVED, 1, 0), (Input.INTERRUPTED, 0, -1),
        (Input.OBSERVED, 0, -1)]


def test_without_interruptions_they_are_inferred() -> None:
    """From orders without an answer, from reports, and from a RESET that is not its own."""
    exploration = Exploration(settings_by_name(IDENTITY), 1)
    inputs: list = []
    exploration.listeners.append(Listener(lambda taken: inputs.append(taken.entry)))
    simulator, seq, messages = Simulator(ROOMS, 1), 100, []
    for step in range(400):
        action = exploration.next_action()
        messages.append(('action', (seq, action)))
        if step % 41 == 40:
            exploration.lose_place()
        elif step % 67 == 66:
            messages.append(('state', (-1, 3)))
            exploration.relocate(3)
        else:
            state = simulator.step(action)
            messages.append(('state', (seq, state)))
            exploration.observe(action, state)
        seq += 1
    bag = bag_of([], [])
    for time, (name, data) in enumerate(messages):
        bag.take(name, time, data)
    recorded = Recorded(bag)
    assert recorded.inputs == inputs and recorded.inferred
    bag.orders[max(bag.answers)] = 1 - bag.orders[max(bag.answers)] % 2
    with pytest.raises(Refused, match='other parameters, another version, or messages'):
        Recorded(bag)


@pytest.mark.parametrize('spoil, complaint', [
    (lambda bag: bag.orders.clear(), 'has no steps, expected the topics'),
    (lambda bag: setattr(bag, 'configuration', None), 'expected --params-file')])
def test_what_is_no_bag_of_an_exploration_is_refused(
        path: Path, tmp_path: Path, spoil: object, complaint: str) -> None:
    if complaint.startswith('has no steps'):
        with pytest.raises(Refused, match=complaint):
            read_bag(path, 'robot_2')
        (tmp_path / 'b.mcap').write_bytes(b'nothing')
        with pytest.raises(Refused, match='b.mcap cannot be read as a bag'):
            read_bag(tmp_path / 'b.mcap')
        return
    bag = read_bag(path)
    spoil(bag)
    with pytest.raises(Refused, match=complaint):
        Recorded(bag)


def test_what_a_column_of_a_bag_computes_is_not_read(tmp_path: Path) -> None:
    for number, made in enumerate((
            'CREATE TABLE topics (id INTEGER, name TEXT AS (hex(zeroblob(id))))',
            'CREATE VIEW topics AS SELECT 1 AS id')):
        database = sqlite3.connect(tmp_path / f'{number}.db3')
        database.execute(made)
        database.close()
        with pytest.raises(Refused, match="'topics' is computed, expected tables"):
            read_bag(tmp_path / f'{number}.db3')


def test_without_the_libraries_a_sentence_says_what_to_install(
        log: Inputs, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for missing in ('rosbags.highlevel', 'mcap.writer'):
        monkeypatch.setitem(sys.modules, missing, None)
    for act in (lambda: read_bag(path), lambda: write_mcap(log, tmp_path / 'new.mcap')):
        with pytest.raises(Refused, match=r"pip install 'mnm_ros\[bags\]'"):
            act()
    assert not (tmp_path / 'new.mcap').exists()
