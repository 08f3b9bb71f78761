# SPDX-License-Identifier: Apache-2.0

"""The report of a run of real nodes agrees with what the robot did and the explorer published."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import re

from mnm_ros.messages import PolicySet
from mnm_ros.robot_description import RobotDescription
from node_processes import Done, Peer, read_counts
import pytest
from std_msgs.msg import Int64MultiArray
from tiers import strength


def test_of_a_real_run(start: Callable, explorer: Callable, begin_command: Callable,
                       commands: Callable[..., list[Done]], peer: Peer, scenario: str,
                       tmp_path: Path) -> None:
    """By the commands ``trial`` and ``report``."""
    robot = start('cmp_sim', scenario=scenario, record=str(tmp_path / 'robot'))
    given = tmp_path / 'given.yaml'
    given.write_text('/**/explorer: {ros__parameters: {actions: [east, west], '
                     f'delta: {strength(0.5, 0.1)}, radius: {strength(1.5, 4.0)}}}}}')
    process = begin_command(
        'trial', '--params-file', str(given), '--trial-dir', str(tmp_path / 'kept'))
    policies = peer.listen(Int64MultiArray, 'policies')
    peer.wait_for(lambda: policies and len(policies[-1].data) > 3, 'a hypothesis')
    assert process.stop() == 0 and robot.stop() == 0
    assert process.output.startswith(f'the trial is saved in {tmp_path / "kept"}\n')
    file, *_ = (tmp_path / 'kept').glob('explorer.0*.sqlite')
    done, held = commands(('report', str(tmp_path / 'kept')), ('checkpoint', str(file)))
    assert held.returncode == 0 and re.search(r'^inputs: \d+', held.stdout, re.MULTILINE)
    assert done.returncode == 0, done.stderr
    text = Path(done.stdout.strip()).read_text(encoding='utf-8')

    def told(name: str) -> str:
        return re.findall(rf'<(?:dt|td)>{name}</(?:dt|td)><(?:dd|td class="n")>(.*?)</', text)[0]

    counts = read_counts(tmp_path / 'robot')
    played = {action: sum(sum(row.get(action, {}).values()) for row in counts.values())
              for action in ('0', '1', '-1')}
    # At the end the robot is sent home once more, and a step under way may not be answered.
    assert 0 <= sum(played.values()) - int(
        told('steps').replace(',', '')) <= 2
    for action, name in (('0', 'east'), ('1', 'west'), ('-1', 'RESET')):
        assert 0 <= played[action] - int(told(name).replace(',', '')) <= 2
    known = PolicySet.from_msg(policies[-1]).targets
    assert told('known states') == str(len(known))
    described = (tmp_path / 'kept' / 'explorer.robot_side.json').read_text(encoding='utf-8')
    assert RobotDescription.from_text(described).actions == ('east', 'west')
    clock = r'<td class="when">\w+ [\d-]+ [\d:]+</td><td class="n">[\d,]+</td><td>'
    assert re.search(clock + 'home is state 0, building the first hypothesis', text)
    assert re.search(r'<td>east</td>.*\n.*[\d.]+%</td>.*\n.*\d\.\d\d s</td>', text)
    there = counts['0']['0']
    least, = re.findall(
        r'<td>\D*1\D*</td><td class="n">[\d,]+</td>\s*<td class="n">([\d.]+)<', text)
    assert float(least) == pytest.approx(sum(there.values()) / there['1'], rel=0.01)

    # The log can start another exploration.
    log = tmp_path / 'kept' / 'explorer.log.sqlite'
    robot = start('cmp_sim', scenario=scenario)
    refused = explorer(warm_start=str(log), base='ucb_explore')
    again = explorer(warm_start=str(log), radius=5.0)
    peer.wait_for(lambda: 'warm start with' in again.output, 'a warm start')
    assert refused.wait() == 1
    assert "parameter 'warm_start' is" in refused.output and 'cannot begin with' in refused.output
    assert again.stop() == 0 and robot.stop() == 0
