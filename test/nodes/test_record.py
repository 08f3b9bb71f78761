# SPDX-License-Identifier: Apache-2.0

"""What is recorded of real nodes is what the explorer has learnt from, one by one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import time

from mnm_ros.bags.inputs import Recorded
from mnm_ros.bags.reading import read_bag
from mnm_ros.checkpoint.input_log import Saved
from mnm_ros.core.exploration import Input
from node_processes import arguments, Peer, ScriptedRobot
import pytest
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

pytest.importorskip('rosbags', reason='rosbags is not installed')
pytest.importorskip('mcap_ros2', reason='mcap-ros2-support is not installed')


ROOT = Path(__file__).resolve().parents[2]


def test_a_recorded_run_is_that_of_the_transition_log(
        start: Callable, explorer: Callable, peer: Peer, robot: ScriptedRobot,
        tmp_path: Path) -> None:
    """With a pause, a robot that is moved, a fault, a load, and an explorer that is killed."""
    # The step topics keep ten messages: nobody can record a robot that is too fast for that.
    robot.around = lambda seq, state: time.sleep(0.02)
    path = tmp_path / 'run.mcap'
    recorder = start(
        str(ROOT / 'mnm_ros' / '__main__.py'), given=['record', '--output', str(path)])
    peer.wait_for(lambda: 'recording into' in recorder.output, 'the recorder')
    peer.wait_for(lambda: peer.node.count_subscribers('/state') == 1, 'its subscription')
    kept = {'checkpoint_dir': str(tmp_path / 'kept'), 'transition_log': True, 'step_timeout': 0.3,
            'reset_retries': 1}
    process = explorer(**kept)
    phases = peer.listen(String, 'phase')

    def steps(count: int) -> None:
        begun = len(robot.executed)
        peer.wait_for(lambda: len(robot.executed) >= begun + count, f'{count} steps')

    steps(25)
    robot.mute = 1                  # an order is given twice
    steps(25)
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    robot.send(-1, 2)               # moved by hand
    peer.call(SetBool, 'explore', SetBool.Request(data=True))
    steps(25)
    robot.send(-1, 1)
    steps(25)
    home, robot.move = robot.move, lambda action: 2    # RESET misses home: a fault
    peer.wait_for(lambda: phases[-1].data == 'fault', 'a fault')
    robot.move = home
    peer.call(Trigger, 'recover')
    steps(25)
    process.kill()
    process = explorer(**kept)
    steps(75)    # in which the recorder finds the new explorer
    assert process.stop() == 0 and recorder.stop() == 0
    assert f'messages are in {path}' in recorder.output
    log, = (tmp_path / 'kept').glob('*.log.sqlite')
    recorded, saved = Recorded(read_bag(path)), Saved(log)
    assert {kind for kind, *_ in saved.inputs} == {*Input} and not recorded.inferred
    assert recorded.inputs == saved.inputs and recorded.identity == saved.identity
    assert {'phase', 'true_setting'} & {*recorded.bag.times} == {'phase'}


def test_a_file_that_exists_is_not_written_to(tmp_path: Path, capsys: object) -> None:
    from mnm_ros.command.main import main
    (tmp_path / 'a.mcap').write_text('kept')
    assert main(['record', '--out', str(tmp_path / 'a.mcap')]) == 1
    assert 'a.mcap exists, expected the name of a new file' in capsys.readouterr().err
    assert arguments({}) == ['--ros-args'] and (tmp_path / 'a.mcap').read_text() == 'kept'


def test_a_full_disk_ends_the_recording_in_a_sentence(
        tmp_path: Path, capsys: object, monkeypatch: pytest.MonkeyPatch) -> None:
    from mnm_ros.command.main import main

    def full(*_: object) -> int:
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr('mnm_ros.nodes.common.spin.run', full)
    assert main(['record', '--out', str(tmp_path / 'a.mcap')]) == 1
    assert 'a.mcap ends after 0 messages: [Errno 28] No space left' in capsys.readouterr().err
