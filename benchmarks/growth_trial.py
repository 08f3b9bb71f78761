# SPDX-License-Identifier: Apache-2.0

"""
One trial of benchmarks/growth, in a process of its own, whose peak memory is that of the trial.

What is counted depends on the task alone; seconds and memory also on the machine.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
import json
import os
from pathlib import Path
from statistics import mean
import subprocess
import sys
import tempfile
from threading import Thread
import time
from typing import Any, NamedTuple

from growth_truth import Truth
from growth_worlds import TOPICS, World, WORLDS
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.fleet.fleet import Fleet
from mnm_ros.core.inputs import Observation
from mnm_ros.core.knowledge.knowledge import Knowledge, nested
from mnm_ros.core.model.counts import Counts
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.presets import settings
from mnm_ros.simulation.simulator import Simulator
import numpy as np
from processes import megabytes
from references import Configuration
from robots import Robots

EPSILON, DELTA = 1.0, 0.1
LOGGED = 50_000    # of the first inputs, from which the bytes of each in the log are taken
BARE = 20_000      # steps by which a step without an explorer is measured
BUILT = 150        # executions of each pair in counts that no robot has made

COLUMNS = (
    'steps', 'least_steps', 'rounds', 'seconds', 'least_seconds', 'peak', 'grown',
    'known', 'reachable', 'met', 'missing', 'cold', 'warm',
    *(f'{least}{topic}' for topic in TOPICS for least in ('', 'least_')), 'checkpoint',
    'least_checkpoint', 'log', 'least_log')
"""Of the results; those that begin with ``least`` are beside what is without."""


class Task(NamedTuple):
    """
    What is measured.

    :ivar how: ``explored`` by one robot, ``fleet``, or ``built``: with the best
        policies of the CMP and counts that are drawn, of the size of an exploration.
    :ivar number: that grows, see ``WORLDS``; robots in a fleet.
    :ivar base: of the explorer; '' is that of the preset.
    """

    how: str
    world: str
    number: float
    seed: int
    limit: int
    base: str = ''


class Point(dict[str, float]):
    """The means of the trials of one number in one world; what was not measured is left out."""

    def __init__(self, task: Task, rows: Sequence[Mapping[str, str]]) -> None:
        columns = {name: [float(row[name]) for row in rows if row.get(name)]
                   for name in rows[0] if name not in ('version', 'numpy', 'how', 'world', 'base')}
        super().__init__({name: mean(found) for name, found in columns.items() if found})
        self.kind = task.how, task.world
        self.trials = len(rows)
        if 'grown' in self and 'least_checkpoint' in self:
            self['least_grown'] = self['least_checkpoint'] / 1e6


def trial(task: Task) -> Mapping[str, object]:
    """Return what came of a task; it is empty where something was not measured."""
    found = in_own_process(task)
    return {name: found.get(name, '') for name in COLUMNS}


def in_own_process(task: Task) -> Mapping[str, object]:
    """Run a task in a process that ends with this one."""
    command = [sys.executable, str(Path(__file__).resolve()), json.dumps(task)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        told = process.stdout.read()
    if process.returncode:
        raise RuntimeError(f'{task} ended with {process.returncode}')
    return dict(json.loads(told))


def run(task: Task) -> Mapping[str, object]:
    """Return what came of a task, in this process."""
    return {'explored': explored, 'fleet': fleet, 'built': built}[task.how](task)


def names(task: Task) -> Mapping[str, object]:
    """Return the columns of a row that tell its trial from all others."""
    return task._asdict()


def explored(task: Task) -> dict[str, object]:
    """Return the figures of an exploration until the first hypothesis, as columns."""
    world = WORLDS[task.world](task.number)
    simulator = Simulator(world.scenario, task.seed)
    before = megabytes('VmRSS')
    exploration = _exploration(world, task)
    states, actions = array('q'), array('b')

    began = time.process_time()
    while exploration.hypothesis is None and exploration.steps < task.limit:
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
        if len(states) < LOGGED:
            states.append(simulator.state)
            actions.append(action)
    seconds, peak = time.process_time() - began, megabytes('VmHWM')
    columns = {'steps': exploration.steps, 'seconds': seconds, 'peak': peak,
               'grown': peak - before, 'least_seconds': bare(world, task.seed) * exploration.steps}
    if exploration.hypothesis is None:
        return {**columns, 'known': 0}
    return {**columns, **_compared(world, exploration), **_bytes(world, exploration, [
        Observation(action, state) for state, action in zip(states, actions)])}


def _compared(world: World, exploration: Exploration) -> dict[str, object]:
    """Return what is known beside what there is to know, and the least steps for that."""
    truth = Truth(world.cmp, world.radius)
    assert exploration.hypothesis is not None
    known = exploration.hypothesis.targets
    return {'known': len(known), 'met': exploration.states, 'reachable': len(truth.members),
            'missing': len(set(truth.members) - set(known)),
            'least_steps': _least_steps(truth)}


def _least_steps(truth: Truth) -> float:
    from alternatives import Search
    from flows import Flows
    from lower_bound import nats_of_disco
    flows, search = Flows(truth), Search(truth)
    flows.demand(search.first(), range(search.pairs))
    return flows.least(nats_of_disco(len(truth.members), Configuration().delta_1))[0]


def _bytes(world: World, exploration: Exploration, inputs: list[Any]) -> dict[str, object]:
    from growth_sizes import checkpoint, least_log, sizes, transition_log  # takes memory
    assert exploration.hypothesis is not None
    found = sizes(exploration.knowledge(()), exploration.hypothesis, exploration.activity(),
                  exploration.steps, len(world.scenario.actions))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return {**found, 'checkpoint': checkpoint(folder, exploration.to_state()),
                'least_checkpoint': found['least_model'] + found['least_policies'],
                'log': transition_log(folder, inputs), 'least_log': least_log(exploration.counts)}


def fleet(task: Task) -> dict[str, object]:
    """Return the figures of several robots until the first hypothesis, as columns."""
    world = WORLDS[task.world](task.number)
    exploration = _exploration(world, task)
    together = Fleet(exploration, task.seed)
    robots = Robots(together, [Simulator(world.scenario, 1000 * task.seed + i)
                               for i in range(int(task.number))], seed=task.seed)
    began = time.process_time()
    while exploration.hypothesis is None and together.steps < task.limit:
        robots.step()
    seconds = time.process_time() - began
    columns = {'steps': together.steps, 'rounds': robots.now, 'seconds': seconds,
               'peak': megabytes('VmHWM'), 'known': 0,
               'least_seconds': bare(world, task.seed) * together.steps}
    return columns if exploration.hypothesis is None else {
        **columns, **_compared(world, exploration)}


def built(task: Task) -> dict[str, object]:
    """Return sizes and planning for a hypothesis that was not explored, as columns."""
    from grids import plan_seconds
    from growth_sizes import sizes
    from mnm_ros.core.progress.activity import Activity
    world = WORLDS[task.world](task.number)
    truth = Truth(world.cmp, world.radius)
    known, actions = truth.members, world.cmp.actions
    rng, counts = np.random.default_rng(task.seed), Counts()
    rows = []
    for state in known:
        for action in range(actions):
            after = world.cmp.transitions(state, action)
            numbers = rng.multinomial(BUILT, [chance for _, chance in after])
            for (following, _), number in zip(after, numbers):
                rows.append((state, action, following, int(number)))
                for _ in range(number):
                    counts.add(state, action, following)
    others = sorted({row[2] for row in rows} - set(known))
    hypothesis, steps = truth.hypothesis(), BUILT * actions * len(known)
    expected = {state: float(time) for state, time in zip(known, truth.times[0])}
    found = Knowledge(
        steps, known[0], known, tuple(others), counts=nested(rows), here=(known[0],),
        policies={policy.target: policy for policy in hypothesis.policies})
    told = Activity(steps, 'checking', candidates=tuple(others), current=known[0], home=known[0],
                    limit=2 * world.radius, expected_steps=expected)
    cold, warm = plan_seconds(counts, known, others, Configuration().delta_1, world.radius)
    return {'known': len(known), 'reachable': len(known), 'met': len(known) + len(others),
            'least_steps': _least_steps(truth), 'cold': cold, 'warm': warm,
            **sizes(found, hypothesis, told, steps, actions)}


def _exploration(world: World, task: Task) -> Exploration:
    problem = Problem(len(world.scenario.actions), world.radius, EPSILON, DELTA)
    exploration = Exploration(settings(problem, overrides={'base': task.base}), task.seed)
    exploration.robot_answers()
    return exploration


def bare(world: World, seed: int) -> float:
    """Return the seconds of a step that is simulated and counted, without any algorithm."""
    simulator, counts = Simulator(world.scenario, seed), Counts()
    actions = np.random.default_rng(seed).integers(RESET, world.cmp.actions, BARE).tolist()
    here = simulator.state
    began = time.process_time()
    for action in actions:
        after = simulator.step(action)
        counts.add(here, action, after)
        here = after
    return (time.process_time() - began) / BARE


def _end_with_parent() -> None:
    def wait() -> None:
        sys.stdin.read()
        os._exit(1)
    Thread(target=wait, daemon=True).start()


if __name__ == '__main__':
    _end_with_parent()
    print(json.dumps(run(Task(*json.loads(sys.argv[1])))))
