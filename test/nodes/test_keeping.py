"""Knowledge outlives the node: it goes on from ``checkpoint_dir``."""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path
import random
import re
import shutil
import signal

from diagnostic_msgs.msg import DiagnosticArray
from node_processes import Peer, read_counts
from std_msgs.msg import Int64MultiArray, String
from std_srvs.srv import Trigger

from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load
from mnm_ros.wire import PolicySet

KILLS = int(os.environ.get('MNM_KILLS', '10'))
"""How often the explorer is killed; the documentation tells of a run with 100."""

Counts = dict[str, dict[str, dict[str, int]]]


def total(counts: Counts) -> int:
    return sum(n for row in counts.values() for nexts in row.values() for n in nexts.values())


def within(part: Counts, whole: Counts) -> bool:
    """Whether nothing was counted that did not happen."""
    return all(n <= whole.get(state, {}).get(action, {}).get(following, 0)
               for state, row in part.items() for action, nexts in row.items()
               for following, n in nexts.items())


def test_save(start: Callable, explorer: Callable, peer: Peer, scenario: str,
              tmp_path: Path) -> None:
    start('cmp_sim', scenario=scenario)
    process = explorer()
    assert "'checkpoint_dir' is ''" in peer.call(Trigger, 'save').message
    assert process.stop() == 0
    explorer(checkpoint_dir=str(tmp_path / 'new'))
    response = peer.call(Trigger, 'save')
    assert response.success and Path(response.message).is_file()
    assert Path(response.message).parent == tmp_path / 'new'


def test_a_restarted_node_publishes_at_once_what_it_knew(
        start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    start('cmp_sim', scenario=scenario)
    process = explorer(checkpoint_dir=str(tmp_path / 'kept'))
    policies = peer.listen(Int64MultiArray, 'policies')
    peer.wait_for(lambda: policies, 'a hypothesis')
    assert process.stop() == 0
    before = PolicySet.from_msg(policies[-1])
    policies.clear()
    process = explorer(checkpoint_dir=str(tmp_path / 'kept'))
    peer.wait_for(lambda: policies, 'the hypothesis of before')
    assert PolicySet.from_msg(policies[0]).stamp >= before.stamp
    assert 'going on from' in process.output


def test_a_disk_that_takes_nothing_is_told_and_stops_nothing(
        start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    folder = tmp_path / 'kept'
    diagnostics = peer.listen(DiagnosticArray, '/diagnostics', 10)

    def told(text: str) -> bool:
        values = {pair.key: pair.value for message in diagnostics[-1:]
                  for pair in message.status[0].values}
        return text in values.get('checkpoint', '') and int(values['steps']) > 100

    start('cmp_sim', scenario=scenario)
    explorer(checkpoint_dir=str(folder))
    peer.wait_for(lambda: told('ok'), 'exploring')
    shutil.rmtree(folder)
    folder.write_text('in the way')
    peer.wait_for(lambda: told(str(folder)), 'the reason', deadline=60.0)
    assert not peer.call(Trigger, 'save').success


def test_other_parameters_begin_anew_and_say_why(
        start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    start('cmp_sim', scenario=scenario)
    process = explorer(checkpoint_dir=str(tmp_path / 'kept'))
    assert peer.call(Trigger, 'save').success
    assert process.stop() == 0
    process = explorer(checkpoint_dir=str(tmp_path / 'kept'), radius=3.0)
    assert peer.call(Trigger, 'save').success
    aside = re.search(r'is for radius 4.0, expected 3.0; kept as (\S+)', process.output)
    assert aside and (tmp_path / 'kept' / aside[1]).is_file()


def test_an_explorer_that_is_killed_again_and_again_learns_nothing_wrong(
        start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    seed = int(os.environ.get('MNM_SEED', '0'))
    rng = random.Random(seed)
    simulator = start('cmp_sim', scenario=scenario, record=str(tmp_path / 'simulator'))
    policies = peer.listen(Int64MultiArray, 'policies')
    phase = peer.listen(String, 'phase')
    given = {'checkpoint_dir': str(tmp_path / 'kept'), 'record': str(tmp_path / 'explorer')}
    for _ in range(KILLS):
        phase.clear()
        process = explorer(**given)
        peer.wait_for(lambda: any('/' in message.data for message in phase), 'exploring')
        peer.spin(rng.uniform(0.0, 1.0))
        assert process.running, process.output
        process.stop(signal.SIGKILL)
    policies.clear()
    process = explorer(**given)
    peer.wait_for(lambda: policies, f'a hypothesis, seed {seed}', deadline=60.0)
    assert process.stop() == 0 and simulator.stop() == 0
    assert judge(load(scenario).settings[0].cmp, PolicySet.from_msg(policies[-1]), 4.0, 1.0).ok
    counted, played = read_counts(tmp_path / 'explorer'), read_counts(tmp_path / 'simulator')
    assert within(counted, played), f'seed {seed}'
    assert total(counted) > 0
