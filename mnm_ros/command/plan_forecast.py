# SPDX-License-Identifier: Apache-2.0

"""
How long the exploration of a plan, or of a place graph, will take.

The forecast is a simulation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from statistics import fmean
from typing import Any

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.problem import MARGIN, Problem, RADIUS, radius_for_all, RESET
from mnm_ros.core.progress.prediction import Prediction
from mnm_ros.driving.drive import limits_of
from mnm_ros.driving.maneuvers import MOVES, successors
from mnm_ros.driving.pace import Pace
from mnm_ros.files import config_file
from mnm_ros.language import ENGLISH, phrase
from mnm_ros.parameters import NODES
from mnm_ros.places.drives import Routes
from mnm_ros.places.place_graph import PlaceGraph
from mnm_ros.places.zones import Zones
from mnm_ros.plan.floor_plan import moves_to, Plan
from mnm_ros.plan.request import Wishes
from mnm_ros.trial.rehearsal import PATIENCE, rehearse, StepSeconds
from mnm_ros.view.words import duration
import yaml

_PATIENCE = 5.0    # s of computing, for a graph, which is made in less
_MOST_EDGES = 300    # of a graph that can be simulated in that time
_STEPS = (3.0, 1.5, 6.0)
"""Likely, least and most steps for each edge: six graphs with 60 to 437 edges took 2.1 to 4.2."""
_RESETS = 0.08    # of the steps: 0.06 to 0.12 there
_TURN = 2.0    # s of each drive along an edge, besides the way: to turn, and to come to rest


def shipped(node: str) -> Mapping[str, Any]:
    """Return the parameters of a node for a TurtleBot, as they are shipped."""
    file = yaml.safe_load(config_file('turtlebot3.yaml').read_text(encoding='utf-8'))
    return {**{spec.name: spec.default for spec in NODES[node]}, **file['/**']['ros__parameters'],
            **file.get(f'/**/{node}', {}).get('ros__parameters', {})}


def forecast(plan: Plan, wishes: Wishes, language: str = ENGLISH) -> Iterator[str]:
    """Yield the lines of the forecast; none if nothing can be explored."""
    home, radius = plan.home_cell, wishes.radius
    if home is None or home not in plan.reached:
        return
    ways, given, explorer = deepcopy(plan.ways), shipped('grid_driver'), shipped('explorer')
    problem = Problem(len(MOVES['compass']), radius, explorer['epsilon'], explorer['delta'])

    def timed() -> StepSeconds:
        pace = Pace(ways, limits_of(given), plan.home, given['decided_at'])
        return lambda cell, action, there: pace.seconds(
            cell, None if action == RESET else action, there)

    found = rehearse(problem, home, Declaration(successors(ways, MOVES['compass'])), {},
                     timed=timed)
    if found is None:
        yield phrase('forecast.too_long', language, radius=radius, seconds=PATIENCE)
        return
    low, likely, high = (found.pace * steps for steps in (
        found.prediction.low, found.prediction.steps, found.prediction.high))
    yield phrase(
        'forecast.plan', language, radius=radius, places=found.places, seconds=likely,
        likely=duration(likely, language), low=duration(low, language),
        high=duration(high, language), steps=found.prediction.steps, pace=found.pace,
        charges=_charges(likely / 3600 / wishes.battery, language))
    farthest = max(moves_to(ways, home).values())
    if farthest > radius:
        yield phrase('forecast.within', language, count=len(plan.reached), radius=farthest)


def graph_forecast(graph: PlaceGraph, language: str = ENGLISH) -> Iterator[str]:
    """
    Yield the forecast in one line, for a robot that drives along the edges.

    It is an estimate for a graph whose exploration is not simulated in ``_PATIENCE``.
    """
    speed, explorer = shipped('grid_driver')['max_speed'], shipped('explorer')
    declared, home = graph.declaration, graph.home
    try:
        radius = radius_for_all(declared, home)
    except InvalidValueError:
        steps_away = declared.depth(home)
        yield (phrase('forecast.too_far', language, steps=steps_away, most=RADIUS[1] / MARGIN)
               if steps_away else phrase('forecast.no_way', language, home=home))
        return
    ways = Routes(Zones(graph), 1 / speed, 0.0).towards(home, ())

    def seconds(place: int, action: int, there: int) -> float:
        drives = [graph.outgoing(place)[action]] if action != RESET else []
        while action == RESET and place != home:
            drives.append(ways[place].edge)
            place = drives[-1].end
        return sum(graph.length(edge) / speed + _TURN for edge in drives)

    problem = Problem(graph.actions, radius, explorer['epsilon'], explorer['delta'])
    found = None if len(graph.actions_of) > _MOST_EDGES else rehearse(
        problem, home, declared, {}, timed=lambda: seconds, patience=_PATIENCE)
    if found is not None:
        pace, steps, kind = found.pace, found.prediction, 'graph'
    else:
        pace, steps = _pace(graph, seconds, [*ways]), Prediction(*(
            each * len(graph.actions_of) for each in _STEPS))
        kind = 'estimate'
    low, likely, high = (duration(pace * each, language) for each in (
        steps.low, steps.steps, steps.high))
    yield phrase(f'forecast.{kind}', language, speed=speed, likely=likely, low=low, high=high,
                 steps=steps.steps)


def _pace(graph: PlaceGraph, seconds: StepSeconds, returning: Sequence[int]) -> float:
    """Return about how many s a step takes, if all edges are driven equally often."""
    drives = fmean(seconds(edge.start, action, edge.end)
                   for edge, action in graph.actions_of.items())
    homeward = fmean(seconds(place, RESET, graph.home) for place in returning or [graph.home])
    return drives + _RESETS * (homeward - drives)


def _charges(needed: float, language: str) -> str:
    """Return how often the robot has to be charged on the way, begun with a full battery."""
    times = int(needed)
    how = ('one_charge', 'charge_once', 'charge_twice', 'charge_often')[min(times, 3)]
    return phrase(f'forecast.{how}', language, times=times)
