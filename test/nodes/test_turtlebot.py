# SPDX-License-Identifier: Apache-2.0

"""The page on TurtleBots, command by command, with a simulated Burger on the robot's topics."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
import json
from pathlib import Path
import re
import shlex
import signal

from flats import saved
from mnm_ros.command.main import main
from mnm_ros.driving.occupancy import Map
from mnm_ros.driving.pose import Pose
from mnm_ros.messages import PolicySet
from mnm_ros.plan.plan_file import load
from mnm_ros.simulation.diff_drive import scenario_of
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.plan_world import PlanWorld
from node_processes import NodeProcess, Peer
import numpy as np
import pytest
from std_msgs.msg import Int64MultiArray, String
from std_srvs.srv import Trigger
from tiers import strength

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / 'docs' / 'howto' / 'turtlebot.md').read_text(encoding='utf-8')
RADIUS = strength(1.5, 2.0)
TICK = strength(0.3, 0.1)    # s of a simulated robot
LEFT = strength(-1.55, -2.0)    # m: with the smaller radius, home is next to the door
# Two rooms of 1.1 by 1.1 m with a door between; home, at 0, 0, is in the right one. It is closed.
WALLS = ((0, 0, 2.5, 0.1), (0, 1.2, 2.5, 1.3), (0, 0, 0.1, 1.3), (2.4, 0, 2.5, 1.3),
         (1.2, 0, 1.3, 0.35), (1.2, 0.95, 1.3, 1.3))
YOURS: dict[str, str] = {}
if find_spec('tf2_msgs') is None:    # as with the wheels of ROS
    YOURS['pose_source: tf2'] = 'pose_source: amcl_pose'
WITHOUT = ('policies', 'go', 'export', 'report')
"""Commands during which the simulated world may stand still: it is computed all the time."""

REPORT = strength(False, find_spec('jinja2') and find_spec('matplotlib'))
"""Whether it is made; nodes/test_trial_report.py::test_of_a_real_run makes one by default."""

FILE = ['--ros-args', '--params-file', 'turtlebot.yaml']


def commands() -> list[list[str]]:
    """Return the words of the commands of this package after its name, in their order."""
    blocks = ''.join(re.findall(r'^```\n(.*?)^```', PAGE, re.DOTALL | re.MULTILINE))
    return [shlex.split(line, comments=True)[1:] for line in blocks.splitlines()
            if line.startswith('mnm_ros ')]


def drawn() -> None:
    """Draw the map of the page, as nav2 saves it."""
    rows = np.zeros((26, 50), np.int8)
    for wall in WALLS:
        left, low, right, high = (round(number / 0.05) for number in wall)
        rows[low:high, left:right] = 100
    saved(Path(), Map(0.05, 50, 26, Pose(LEFT, -0.8, 0.0), rows.ravel()))


def adapted() -> None:
    """Change the file that was written as its reader would."""
    text = Path('turtlebot.yaml').read_text(encoding='utf-8')
    for given, own in YOURS.items():
        assert text.count(f' {given} ') == 1, given
        text = text.replace(f' {given} ', f' {own} ')
    Path('turtlebot.yaml').write_text(text, encoding='utf-8')


def simulated(start: Callable, peer: Peer) -> NodeProcess:
    """Start what is there instead of a robot, and close its door."""
    world = start('diff_drive_sim', given=[
        *FILE, '-p', f'tick:={TICK}', '-p', 'real_time_factor:=0.0', '-p', 'publish_clock:=false',
        '-p', 'battery_idle:=0.001', '-r', 'battery:=battery_state'])
    assert peer.call(Trigger, 'change').success
    return world


def test_every_command_does_what_the_page_says(
        start: Callable, begin_command: Callable, peer: Peer, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.chdir(tmp_path)
    drawn()
    outcomes = peer.listen(String, 'outcome')
    policies = peer.listen(Int64MultiArray, 'policies')
    done, world = [], None
    for words in commands():
        background = words[-1] == '&'
        words = words[:-1] if background else words
        done.append(words[0])
        if world is not None:
            world.send(signal.SIGSTOP if words[0] in WITHOUT else signal.SIGCONT)
        if words[0] == 'run':
            start(words[1], given=words[2:])
        elif words[0] == 'preflight':
            check = start('preflight', given=[*words[1:], '-p', 'resets:=2', '-p', 'steps:=8'])
            assert check.wait() == 0, check.output
            assert 'ok      declaration' in check.output
        elif words[0] == 'trial':
            trial = begin_command(*words)
            peer.wait_for(lambda: policies, 'the first hypothesis')
            assert peer.node.count_subscribers('/battery_state') == 1
        elif words[0] == 'map':
            # With the radius of the page, the forecast takes all the time that it may.
            assert main([*words, '--radius', str(RADIUS)]) == 0, capsys.readouterr().err
            adapted()
            world = simulated(start, peer)
        elif words[0] in ('policies', 'export', 'stop', 'go'):    # a busy machine may take long
            peer.wait_for(lambda: main(words) == 0, words[0])    # noqa: B023
        elif words[0] != 'report' or REPORT:
            assert main(words) == 0, (words, capsys.readouterr().err)
    world.send(signal.SIGCONT)
    assert trial.stop() == 0, trial.output
    assert done == ['map', 'run', 'preflight', 'trial', 'policies', 'stop', 'go', 'run', 'goal',
                    'export', 'report']
    assert re.search(r'^reached (kitchen 1|3) in \d+ step', capsys.readouterr().out, re.MULTILINE)
    assert judge(scenario_of(PlanWorld.of(load(Path('flat.plan.yaml')))).settings[1].cmp,
                 PolicySet.from_msg(policies[-1]), RADIUS, 1.0).ok
    assert {message.data.split(',')[0] for message in outcomes} >= {
        'west: reached', 'south: reached', 'west: obstructed', 'RESET: reached'}
    assert len(json.loads(Path('flat.geojson').read_text())['features']) > 3
