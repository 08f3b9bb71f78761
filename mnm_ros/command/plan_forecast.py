# SPDX-License-Identifier: Apache-2.0

"""How long the exploration of a plan will take: it is played in simulation beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.driving.drive import limits_of
from mnm_ros.driving.maneuvers import MOVES, successors
from mnm_ros.driving.pace import Pace
from mnm_ros.parameters import NODES
from mnm_ros.plan.floor_plan import moves_to, Plan
from mnm_ros.plan.request import Wishes
from mnm_ros.simulation.config_files import shared
from mnm_ros.trial.rehearsal import PATIENCE, rehearse, StepSeconds
from mnm_ros.view.words import duration
import yaml


def shipped(node: str) -> Mapping[str, Any]:
    """Return the parameters of a node for a TurtleBot, as they are shipped."""
    file = yaml.safe_load(shared('turtlebot3.yaml').read_text(encoding='utf-8'))
    return {**{spec.name: spec.default for spec in NODES[node]}, **file['/**']['ros__parameters'],
            **file.get(f'/**/{node}', {}).get('ros__parameters', {})}


def forecast(plan: Plan, wishes: Wishes) -> Iterator[str]:
    """Yield the lines that tell of it; none if nothing can be explored."""
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
    head = f'exploring with L = {radius:g}'
    if found is None:
        yield f'{head} is not simulated: that takes more than {PATIENCE:g} s'
        return
    low, likely, high = (found.pace * steps for steps in (
        found.prediction.low, found.prediction.steps, found.prediction.high))
    yield (f'{head}: {found.places} places, {likely:,.0f} s ({duration(likely)}; 9 of 10 take '
           f'{duration(low)} to {duration(high)}; {found.prediction.steps:,.0f} steps '
           f'of {found.pace:.1f} s), {_charges(likely / 3600 / wishes.battery)}')
    farthest = max(moves_to(ways, home).values())
    if farthest > radius:
        yield f'all {len(plan.reached)} places are within L = {farthest}'


def _charges(needed: float) -> str:
    """Return how often the robot has to be charged on the way, begun with a full battery."""
    times = int(needed)
    return 'one charge will do' if not times else (
        f'keep it charged {("once", "twice")[times - 1] if times < 3 else f"{times} times"}')
