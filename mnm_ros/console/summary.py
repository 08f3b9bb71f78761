# SPDX-License-Identifier: Apache-2.0

"""The verdict on the last hypothesis, by the truth, and the last lines of a run."""

from __future__ import annotations

from collections.abc import Iterable

from mnm_ros.console.snapshot import Snapshot
from mnm_ros.console.wording import known, LABEL, robots, setting, stamp, steps, whole
from mnm_ros.core.model.problem import Problem
from mnm_ros.simulation.ground_truth import judge, Verdict
from mnm_ros.simulation.scenario import Scenario


def verdict(snapshot: Snapshot, scenario: Scenario, problem: Problem) -> Verdict:
    """Compare the hypothesis with the setting in force."""
    cmp = scenario.settings[snapshot.true_setting or 0].cmp
    return judge(cmp, snapshot.hypothesis, problem.radius, problem.epsilon)


def beyond(snapshot: Snapshot, scenario: Scenario, found: Verdict) -> list[int]:
    """Return the states next to the known ones that are too far away to be learnt."""
    cmp = scenario.settings[snapshot.true_setting or 0].cmp
    near = {following for state in snapshot.known for action in range(cmp.actions)
            for following, _ in cmp.transitions(state, action)}
    return sorted(near - {*snapshot.known, *found.missing})


def learnt(snapshot: Snapshot, seconds: float) -> list[str]:
    """Return the last lines where nobody knows the truth; the other arguments are as below."""
    return [*_lines([
        ('hypothesis', stamp(snapshot)),
        ('known', known(snapshot)),
        ('steps', steps(snapshot) + (snapshot.made and f', {snapshot.made}')),
        *_robots(snapshot),
        ('wall time', f'{seconds:.1f} s from the start of the explorer to the goal'),
    ]), '', 'The explorer has ended; nobody here knows whether its hypothesis is right.']


def summary(
        snapshot: Snapshot, scenario: Scenario, problem: Problem, found: Verdict,
        seconds: float) -> list[str]:
    """Return the last lines; ``seconds`` is the time from the start of the nodes to the goal."""
    limit = f'limit {problem.limit:g} expected steps'
    far = beyond(snapshot, scenario, found)
    over = [f'state {state}: {tau:.2f}' for state, tau in found.over_limit]
    rows = [
        ('hypothesis', stamp(snapshot)),
        ('true setting', setting(snapshot.true_setting, len(scenario.settings))),
        ('known', f'{len(snapshot.known)} states'),
        ('missing', ' '.join(map(str, found.missing)) or 'none'),
        ('over the limit', f'{", ".join(over) or "none"} ({limit})'),
        *([('too far', f'{" ".join(map(str, far))} (seen, but not within the radius '
                       f'{problem.radius:g})')] if far else []),
        ('steps', steps(snapshot) + (snapshot.made and f', {snapshot.made}')),
        *([] if snapshot.exploration_steps is None else    # only cmp_sim counts them
          [('exploration', f'{whole(snapshot.exploration_steps)} steps')]),
        *_robots(snapshot),
        ('wall time', f'{seconds:.1f} s from the start of the nodes to the goal'),
    ]
    return [*_lines(rows), '',
            'The hypothesis is right.' if found.ok else 'The hypothesis is wrong.']


def _robots(snapshot: Snapshot) -> list[tuple[str, str]]:
    return [('' if index else 'robots', line)
            for index, line in enumerate(robots(snapshot, len(snapshot.robots)))]


def _lines(rows: Iterable[tuple[str, str]]) -> list[str]:
    return [f'{label:<{LABEL}}{value}' for label, value in rows]
