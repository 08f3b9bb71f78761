# SPDX-License-Identifier: Apache-2.0

"""The verdict on the last hypothesis, by the truth, and the last lines of a run."""

from __future__ import annotations

from collections.abc import Iterable

from mnm_ros.core.model.problem import Problem
from mnm_ros.simulation.ground_truth import judge, Verdict
from mnm_ros.simulation.scenario import Scenario
from mnm_ros.view.heard import Heard
from mnm_ros.view.words import known, LABEL, robots, setting, steps, version, whole


def verdict(heard: Heard, scenario: Scenario, problem: Problem) -> Verdict:
    """Compare the hypothesis with the setting in force."""
    cmp = scenario.settings[heard.true_setting or 0].cmp
    return judge(cmp, heard.hypothesis, problem.radius, problem.epsilon)


def beyond(heard: Heard, scenario: Scenario, found: Verdict) -> list[int]:
    """Return the states next to the known ones that are too far away to be learnt."""
    cmp = scenario.settings[heard.true_setting or 0].cmp
    near = {following for state in heard.known for action in range(cmp.actions)
            for following, _ in cmp.transitions(state, action)}
    return sorted(near - {*heard.known, *found.missing})


def learnt(heard: Heard, seconds: float) -> list[str]:
    """Return the last lines where nobody knows the truth; the other arguments are as below."""
    return [*_lines([
        ('hypothesis', version(heard)),
        ('known', known(heard)),
        ('steps', steps(heard) + (heard.made and f', {heard.made}')),
        *_robots(heard),
        ('wall time', f'{seconds:.1f} s from the start of the explorer to the goal'),
    ]), '', 'The explorer has ended; nobody here knows whether its hypothesis is right.']


def summary(
        heard: Heard, scenario: Scenario, problem: Problem, found: Verdict,
        seconds: float) -> list[str]:
    """Return the last lines; ``seconds`` is the time from the start of the nodes to the goal."""
    limit = f'limit {problem.limit:g} expected steps'
    far = beyond(heard, scenario, found)
    over = [f'state {state}: {tau:.2f}' for state, tau in found.over_limit]
    rows = [
        ('hypothesis', version(heard)),
        ('true setting', setting(heard.true_setting, len(scenario.settings))),
        ('known', f'{len(heard.known)} states'),
        ('missing', ' '.join(map(str, found.missing)) or 'none'),
        ('over the limit', f'{", ".join(over) or "none"} ({limit})'),
        *([('too far', f'{" ".join(map(str, far))} (seen, but not within the radius '
                       f'{problem.radius:g})')] if far else []),
        ('steps', steps(heard) + (heard.made and f', {heard.made}')),
        *([] if heard.exploration_steps is None else    # only cmp_sim counts them
          [('exploration', f'{whole(heard.exploration_steps)} steps')]),
        *_robots(heard),
        ('wall time', f'{seconds:.1f} s from the start of the nodes to the goal'),
    ]
    return [*_lines(rows), '',
            'The hypothesis is right.' if found.ok else 'The hypothesis is wrong.']


def _robots(heard: Heard) -> list[tuple[str, str]]:
    return [('' if index else 'robots', line)
            for index, line in enumerate(robots(heard, len(heard.robots)))]


def _lines(rows: Iterable[tuple[str, str]]) -> list[str]:
    return [f'{label:<{LABEL}}{value}' for label, value in rows]
