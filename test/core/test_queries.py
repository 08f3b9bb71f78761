# SPDX-License-Identifier: Apache-2.0

"""A query of an exploration changes neither what is saved of it, nor anything else it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum
from functools import partial
import inspect
import io
import json
import pickle
from types import FunctionType, MethodType
from typing import Any

from mnm_ros.core import continuation, Exploration, Problem, settings, Support, View
from mnm_ros.core.model import snapshot
from mnm_ros.simulation.cmp import grid_cmp, support
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
import pytest
from small_worlds import scenario_of
from tiers import strength

COMMANDS = {
    'declare', 'explain', 'fail', 'finish', 'improve', 'improve_no_more',
    'leave_closed', 'look', 'lose_place', 'next_action', 'observe', 'observe_work', 'on_event',
    'pause', 'prefer', 'recover', 'relocate', 'resume', 'robot_answers', 'robot_lost', 'take',
    'trigger'}
"""The methods that change something. Every other public name is a query, also a new one."""

ARGUMENTS: dict[str, tuple[object, ...]] = {
    'policy_to': (1,), 'direct_way': (1,),
    'play_on': (View(),)}


def held(exploration: Exploration) -> bytes:
    """Return all that an exploration holds, whether it is saved or not."""
    file = io.BytesIO()
    Held(file).dump(vars(exploration))
    return json.dumps(exploration.to_state()).encode() + file.getvalue()


class Held(pickle.Pickler):
    """Writes what objects hold, but no functions, and no results that are worked out again."""

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, (FunctionType, MethodType, partial)):
            return str, ()
        if type(thing).__module__.startswith('mnm_ros.core.') and not isinstance(
                thing, (Enum, type)):
            return type(thing).__name__.upper, (), snapshot._held(thing)
        return NotImplemented


def queries(exploration: Exploration) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield every public query of an exploration."""
    for name in dir(exploration):
        if name.startswith('_') or name in COMMANDS or name in vars(exploration):
            continue
        member = inspect.getattr_static(exploration, name)
        if isinstance(member, property):
            yield name, lambda name=name: getattr(exploration, name)
        elif inspect.isfunction(member):
            yield name, lambda name=name: getattr(exploration, name)(*ARGUMENTS.get(name, ()))


def explorations(declared: bool, steps: int) -> Iterator[Exploration]:
    """Yield one exploration, while it builds and afterwards, with a change in between."""
    scenario = strength(
        scenario_of(grid_cmp(['S..'], 0.1, ('east', 'west'))), load('corridor'))
    simulator = Simulator(scenario, 1)
    problem = Problem(len(scenario.actions), 4.0, 1.0, 0.1)
    if declared:
        problem = replace(problem, support=Support(support(scenario.settings[0].cmp)))
    exploration = Exploration(settings(problem), 1)
    for number in range(steps):
        if number in (1, 100, steps - 1):
            yield exploration
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))


@pytest.mark.parametrize('declared', [False, True])
def test_no_query_has_an_effect(monkeypatch: pytest.MonkeyPatch, declared: bool) -> None:
    monkeypatch.setattr(continuation, 'PATIENCE', 0.02)
    called = set()
    for exploration in explorations(declared, strength(200, 3000)):
        before = held(exploration)
        for name, query in queries(exploration):
            result = query()
            if inspect.isgenerator(result):
                list(result)
            called.add(name)
            if strength(False, True):    # which one it is
                assert held(exploration) == before, f'{name} after {exploration.steps} steps'
        assert held(exploration) == before, f'any of {called} after {exploration.steps} steps'
    assert {'activity', 'trust', 'knowledge', 'policy_to', 'direct_way', 'diagnostics', 'to_state',
            'status', 'closed', 'play_on'} <= called


def test_a_view_remembers_and_the_exploration_does_not() -> None:
    exploration = [*explorations(False, 101)][1]
    view = View()
    found = [len(exploration.trust(1, view)) for _ in range(4)]
    assert found[-1] > found[0] == len(exploration.trust(1))
