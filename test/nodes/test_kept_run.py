# SPDX-License-Identifier: Apache-2.0

"""The transition log of real nodes has what the robot has done, and a bag is made of it."""

from __future__ import annotations

from collections.abc import Callable
import io
from pathlib import Path

from mnm_ros.checkpoint.input_log import SavedInputs
from mnm_ros.checkpoint.warm_start import begun
from mnm_ros.command.main import main
from mnm_ros.core.inputs import Interruption, Observation, Relocation
from node_processes import Peer, ScriptedRobot
import pytest
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from tiers import strength

SOME = strength(12, 25)    # steps


def read(bag: bytes) -> tuple[list[tuple[int, int]], list[int]]:
    """Return action and next state of each step in a bag, and where the robot was moved."""
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory
    commands: dict[int, int] = {}
    answered, reports = [], []
    reader = make_reader(io.BytesIO(bag), decoder_factories=[DecoderFactory()])
    for _, channel, _, message in reader.iter_decoded_messages(topics=['/action', '/state']):
        seq, value = message.data
        if channel.topic == '/action':
            commands[seq] = value
        elif seq == -1:
            reports.append(value)
        else:
            answered.append((commands[seq], value))
    return answered, reports


def test_the_log_of_a_run_has_every_step_and_whatever_came_between(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, tmp_path: Path,
        capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """With a pause, a robot that is moved, a fault, and an explorer that is killed."""
    pytest.importorskip('mcap_ros2', reason='mcap-ros2-support is not installed')
    kept = {'checkpoint_dir': str(tmp_path), 'transition_log': True, 'step_timeout': 0.3,
            'reset_retries': 1}
    process = explorer(**kept)
    phases = peer.listen(String, 'phase')

    def steps(count: int) -> None:
        begun = len(robot.executed)
        peer.wait_for(lambda: len(robot.executed) >= begun + count, f'{count} steps')

    def explore(wanted: bool) -> None:
        peer.call(SetBool, 'explore', SetBool.Request(data=wanted))

    steps(SOME)
    robot.mute = 1                  # a command is given twice
    steps(SOME)
    explore(False)
    robot.send(-1, 2)               # moved by hand
    explore(True)
    steps(SOME)
    robot.send(-1, 1)
    steps(SOME)
    home, robot.move = robot.move, lambda action: 2    # RESET misses home: a fault
    peer.wait_for(lambda: phases[-1].data == 'fault', 'a fault')
    robot.move = home
    peer.call(Trigger, 'recover')
    steps(SOME)
    explore(False)
    peer.call(Trigger, 'save')
    if strength(False, True):    # else a test of the transition log shows what a crash leaves
        process.kill()
    else:
        assert process.stop() == 0
    process = explorer(**kept)
    explore(True)
    steps(SOME)
    assert process.stop() == 0
    log, = tmp_path.glob('*.log.sqlite')
    saved = SavedInputs(log)
    assert {type(made) for made in saved.inputs} == {Observation, Relocation, Interruption}
    saved.replay(begun(saved))
    assert main(['export', '--format', 'log-mcap', '--from', str(log)]) == 0
    answered, reports = read(capsysbinary.readouterr().out)
    assert 1 in reports
    # Where a step did not count, the robot has gone on from another one.
    executed = iter([(action, after) for _, action, after in robot.executed])
    assert all(step in executed for step in answered)
    assert 0 <= len(robot.executed) - len(answered) <= 12
