# SPDX-License-Identifier: Apache-2.0

"""
Lifecycle transitions in random order, from another process, while a robot is explored.

``MNM_TRANSITIONS`` sets how many; ``benchmarks/lifecycle`` makes 1,000 and shows the figures. What
nothing refers to any more is counted in this process, where nothing else disturbs the count; the
memory of a process is measured over many transitions, by the median of its slopes.
"""

from __future__ import annotations

from collections.abc import Callable
import gc
from itertools import combinations
import math
import os
from pathlib import Path
import random
from statistics import median
import threading
import time

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from mnm_ros.core import libraries
from mnm_ros.nodes.explorer import Explorer
from mnm_ros.nodes.exploring.session import ExplorationSession
from node_processes import NodeProcess, Peer
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from std_msgs.msg import String
from tiers import thorough

TRANSITIONS = int(os.environ.get('MNM_TRANSITIONS', '150'))
WARM = 50    # transitions before the first figures, for people
SPARE = {'files': 5, 'threads': 5}    # less than a leak in each round would take
FIRST = 220      # transitions, in which the allocator and DDS take what they need
MANY = 420       # transitions, of which the last 200 are measured
EVERY = 15       # transitions from one measurement to the next
MOST = 0.010     # MB per transition; 0.002 are for the allocator
ALLOWED = {
    ('unconfigured', Transition.TRANSITION_CONFIGURE): 'inactive',
    ('inactive', Transition.TRANSITION_ACTIVATE): 'active',
    ('active', Transition.TRANSITION_DEACTIVATE): 'inactive',
    ('inactive', Transition.TRANSITION_CLEANUP): 'unconfigured'}
NO_TRANSITION = 200    # an id that nobody uses
SHUTDOWN = {
    'unconfigured': Transition.TRANSITION_UNCONFIGURED_SHUTDOWN,
    'inactive': Transition.TRANSITION_INACTIVE_SHUTDOWN,
    'active': Transition.TRANSITION_ACTIVE_SHUTDOWN}


class Manager:
    """Makes transitions and knows which state the node ought to be in."""

    def __init__(self, peer: Peer, seed: int) -> None:
        self.state = 'unconfigured'
        self._peer = peer
        self._random = random.Random(seed)
        self._change = peer.node.create_client(ChangeState, 'explorer/change_state')
        self._get = peer.node.create_client(GetState, 'explorer/get_state')
        for client in (self._change, self._get):
            peer.wait_for(client.service_is_ready, client.srv_name)
        # Until the services know the clients, too, a response may be lost, and nothing tells.
        # So what changes nothing is asked for until it is answered.
        self._prime(self._change, ChangeState.Request(transition=Transition(id=NO_TRANSITION)))
        self._prime(self._get, GetState.Request())

    def step(self) -> None:
        """Ask for a random transition, one in five anything at all; then it is where it was."""
        possible = [number for state, number in ALLOWED if state == self.state]
        if self._random.random() < 0.2:
            possible = sorted({number for _, number in ALLOWED})
        number = self._random.choice(possible)
        expected = ALLOWED.get((self.state, number))
        assert self.change(number) == (expected is not None), (self.state, number)
        self.state = expected or self.state
        assert self.label() == self.state
        if self.state == 'active':
            self._peer.spin(self._random.choice((0.0, 0.03)))

    def change(self, number: int) -> bool:
        request = ChangeState.Request(transition=Transition(id=number))
        return self._ask(self._change, request).success

    def label(self) -> str:
        return self._ask(self._get, GetState.Request()).current_state.label

    def go(self, *states: str) -> None:
        for state in states:
            number, = (number for (before, number), after in ALLOWED.items()
                       if (before, after) == (self.state, state))
            assert self.change(number)
            self.state = state

    def back(self) -> None:
        self.go(*{'active': ('inactive', 'unconfigured'), 'inactive': ('unconfigured',)}.get(
            self.state, ()))

    def _prime(self, client: object, request: object) -> None:
        futures: list[object] = []
        asked = -math.inf

        def answered() -> bool:
            nonlocal asked
            if time.monotonic() > asked + 1.0:
                futures.append(client.call_async(request))
                asked = time.monotonic()
            return any(future.done() for future in futures)

        self._peer.wait_for(answered, client.srv_name)

    def _ask(self, client: object, request: object) -> object:
        future = client.call_async(request)
        self._peer.wait_for(future.done, client.srv_name)
        return future.result()


def figures(process: NodeProcess) -> dict[str, float]:
    """Return memory in MB, open files and threads of a process."""
    proc = Path('/proc') / str(process.pid)
    status = dict(line.split(':', 1) for line in (proc / 'status').read_text().splitlines())
    return {'MB': int(status['VmRSS'].split()[0]) / 1024,
            'files': len(list((proc / 'fd').iterdir())), 'threads': int(status['Threads'])}


def endpoints(peer: Peer) -> dict[str, int]:
    """Return how many publishers and subscriptions the explorer has on each topic."""
    node, found = peer.node, {}
    for topic, _ in node.get_topic_names_and_types():
        known = node.get_publishers_info_by_topic(topic) + node.get_subscriptions_info_by_topic(
            topic)
        found[topic] = sum(info.node_name == 'explorer' for info in known)
    return {topic: number for topic, number in found.items() if number}


@pytest.mark.skipif(not Path('/proc/self/status').exists(), reason='needs the /proc of Linux')
@thorough(shown_by=(
    'nodes/test_lifecycle.py::test_round_trip '
    'nodes/test_lifecycle_random.py::test_nothing_is_left_after_cleanup'))
@pytest.mark.parametrize('kept', [True, False], ids=['checkpoint', ''])
def test_random_transitions(start: Callable, explorer: Callable, peer: Peer, scenario: str,
                            tmp_path: Path, kept: bool) -> None:
    start('cmp_sim', scenario=scenario)
    # With limited steps, or what has been learnt would grow too.
    process = explorer(autostart=False, max_steps=500 if kept else 0,
                       checkpoint_dir=str(tmp_path / 'kept') if kept else '')
    manager = Manager(peer, seed=1)
    shown = {}
    for done in range(TRANSITIONS):
        if done in (WARM, TRANSITIONS // 2):
            manager.back()
            shown[done] = figures(process)
        manager.step()
    manager.back()
    shown[TRANSITIONS] = figures(process)
    for done, measured in shown.items():
        print(f'{done:>6} transitions:', *(f'{measured[key]:g} {key}' for key in measured))
    before, after = shown[TRANSITIONS // 2], shown[TRANSITIONS]    # the first half warms up
    assert all(after[key] < before[key] + SPARE[key] for key in SPARE), shown
    manager.go('inactive')
    wanted = {'/action', '/state', '/known_states', '/policies', '/phase', '/status',
              '/model', '/activity', '/exploration_markers', '/diagnostics', '/heartbeat'}
    peer.wait_for(lambda: {topic: number for topic, number in endpoints(peer).items()
                           if topic in wanted} == dict.fromkeys(wanted, 1), 'each topic once')
    manager.back()
    peer.wait_for(lambda: wanted & set(endpoints(peer)) == {'/heartbeat'}, 'no topics')
    assert process.stop() == 0 and 'Traceback' not in process.output


@pytest.mark.skipif(not Path('/proc/self/status').exists(), reason='needs the /proc of Linux')
@thorough('nodes/test_lifecycle_random.py::test_no_round_keeps_anything_from_being_collected')
@pytest.mark.parametrize('kept', [False, True], ids=['', 'checkpoint'])
def test_memory_stays(start: Callable, explorer: Callable, peer: Peer, scenario: str,
                      tmp_path: Path, kept: bool) -> None:
    start('cmp_sim', scenario=scenario)
    process = explorer(autostart=False, max_steps=500 if kept else 0,
                       checkpoint_dir=str(tmp_path / 'kept') if kept else '')
    manager, measured = Manager(peer, seed=1), []
    for done in range(MANY):
        manager.step()
        if done % EVERY == 0 and done >= FIRST:
            manager.back()
            measured.append((done, figures(process)['MB']))
    slope = median((after - before) / (late - early)
                   for (early, before), (late, after) in combinations(measured, 2))
    assert slope < MOST, measured


@thorough(shown_by=(
    'nodes/test_lifecycle.py::test_round_trip '
    'nodes/test_lifecycle.py::test_configure_fails_on_a_bad_parameter_and_not_on_missing_actions '
    'nodes/test_leaving.py::test_shutdown_by_a_lifecycle_manager'))
@pytest.mark.parametrize('states', [(), ('inactive',), ('inactive', 'active')])
def test_shutdown_from_every_state(explorer: Callable, peer: Peer, states: tuple) -> None:
    process = explorer(autostart=False)
    manager = Manager(peer, seed=0)
    manager.go(*states)
    assert manager.change(SHUTDOWN[manager.state])
    assert manager.label() == 'finalized'
    assert not manager.change(Transition.TRANSITION_CONFIGURE)
    assert process.stop() == 0


def entities(node: Explorer) -> tuple[int, ...]:
    return tuple(len(list(kind)) for kind in (
        node.timers, node.publishers, node.subscriptions, node.services, node.clients))


@pytest.mark.parametrize('parameters', [
    {'reset_mode': 'service'}, {'advisory': True}, pytest.param({}, marks=thorough(
        'nodes/test_lifecycle_random.py::test_nothing_is_left_after_cleanup'))])
def test_nothing_is_left_after_cleanup(
        peer: Peer, tmp_path: Path, parameters: dict[str, object]) -> None:
    given = {'actions': ['east'], 'autostart': False, 'checkpoint_dir': str(tmp_path),
             **parameters}
    node = make_explorer(peer, given)
    before = entities(node)

    def remembered() -> tuple[int, ...]:
        """Return how many entities, threads and open files there are after one more round."""
        gc.collect()    # what the round before has dropped
        make_round(node)
        assert entities(node) == before
        files = Path('/proc/self/fd')    # of Linux
        return (len(node.default_callback_group.entities), threading.active_count(),
                len([*files.iterdir()]) if files.exists() else 0)

    remembered()
    second = remembered()

    def no_more() -> bool:
        return all(now <= then for now, then in zip(remembered(), second))
    # A thread of a round that ends late may hold some of it until the next one.
    peer.wait_for(no_more, 'that no more is remembered', deadline=60.0)
    node.destroy_node()


def test_no_round_keeps_anything_from_being_collected(peer: Peer) -> None:
    """A node keeps what it has imported aside from collections, and no more with each round."""
    libraries.load()    # else the first round would import them
    node = make_explorer(peer, {'actions': ['east'], 'autostart': False})
    aside = []
    gc.collect()
    gc.freeze()    # as nodes do before they spin
    try:
        for _ in range(6):
            make_round(node)
            gc.collect()
            aside.append(gc.get_freeze_count())
    finally:
        gc.unfreeze()
        node.destroy_node()
    assert aside[-1] <= aside[1], aside


def make_round(node: Explorer) -> None:
    for trigger in (node.trigger_configure, node.trigger_activate, node.trigger_deactivate,
                    node.trigger_cleanup):
        assert trigger() == TransitionCallbackReturn.SUCCESS


@pytest.mark.parametrize('method', ['activate', pytest.param('deactivate', marks=thorough(
    'nodes/test_lifecycle_random.py::test_an_error_in_a_transition'))])
def test_an_error_in_a_transition(peer: Peer, monkeypatch: pytest.MonkeyPatch, capfd,
                                  method: str) -> None:
    """An error leads to a node that can be configured again, and is told."""
    node = make_explorer(peer, {'actions': ['east'], 'autostart': False})
    before = entities(node)
    phase = peer.listen(String, 'phase')
    triggers = {'activate': node.trigger_activate, 'deactivate': node.trigger_deactivate}
    with monkeypatch.context() as patched:
        patched.setattr(ExplorationSession, method, lambda _: 1 / 0)
        node.trigger_configure()
        for trigger in list(triggers.values())[:list(triggers).index(method) + 1]:
            result = trigger()
        assert result == TransitionCallbackReturn.ERROR
    assert entities(node) == before
    assert 'ZeroDivisionError' in capfd.readouterr().err
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    peer.wait_for(lambda: phase, 'a phase')
    node.destroy_node()


def make_explorer(peer: Peer, parameters: dict[str, object]) -> Explorer:
    """Make an explorer in the process of the test, which does not spin it."""
    return Explorer(context=peer.context, parameter_overrides=[
        Parameter(name, value=value) for name, value in parameters.items()])
