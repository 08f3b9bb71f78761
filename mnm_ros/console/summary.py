"""The verdict on the last hypothesis, by the truth, and the last lines of a run."""

from __future__ import annotations

from mnm_ros.console.render import LABEL, setting, stamp, whole
from mnm_ros.console.snapshot import Snapshot
from mnm_ros.core.problem import Problem
from mnm_ros.simulation.ground_truth import Verdict, judge
from mnm_ros.simulation.scenario import Scenario


def verdict(snapshot: Snapshot, scenario: Scenario, problem: Problem) -> Verdict:
    """Compare the hypothesis with the setting in force."""
    cmp = scenario.settings[snapshot.true_setting or 0].cmp
    return judge(cmp, snapshot.hypothesis, problem.radius, problem.epsilon)


def summary(
        snapshot: Snapshot, scenario: Scenario, problem: Problem, found: Verdict,
        seconds: float) -> list[str]:
    """Return the last lines; ``seconds`` is the time from the start of the nodes to the goal."""
    limit = f'limit {problem.limit:g} expected steps'
    over = [f'state {state}: {tau:.2f}' for state, tau in found.over_limit]
    rows = [
        ('hypothesis', stamp(snapshot)),
        ('true setting', setting(snapshot.true_setting, len(scenario.settings))),
        ('known', f'{len(snapshot.known)} states'),
        ('missing', ' '.join(map(str, found.missing)) or 'none'),
        ('over the limit', f'{", ".join(over) or "none"} ({limit})'),
        ('steps', whole(snapshot.count('steps'))),
        *([] if snapshot.exploration_steps is None else    # only cmp_sim counts them
          [('exploration', f'{whole(snapshot.exploration_steps)} steps')]),
        ('wall time', f'{seconds:.1f} s from the start of the nodes to the goal'),
    ]
    lines = [f'{label:<{LABEL}}{value}' for label, value in rows]
    return [*lines, '', 'The hypothesis is right.' if found.ok else 'The hypothesis is wrong.']
