# SPDX-License-Identifier: Apache-2.0

"""
Steps of one stationary run of the base with each preset, and their ratio.

No ROS and no MNM around it: what a preset's parts alone cost on a CMP that does not change. The
base of ``paper`` is always ``ucb_explore``; with ``--base ucb_explore`` the ratio is that of the
constants and tests alone.
"""

from __future__ import annotations

from statistics import mean

from arguments import Arguments
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import new_base, settings
from mnm_ros.simulation.ground_truth import judge, Verdict
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.study.methods import found_by

TASKS = (('corridor', 3.0), ('grid_3x3', 4.0))
EPSILON, DELTA = 1.0, 0.1


def run(scenario_name: str, radius: float, preset: str, base_name: str,
        seed: int) -> tuple[int, int, Verdict]:
    """Return the steps, the number of known states and the verdict of the ground truth."""
    scenario = load(scenario_name)
    simulator = Simulator(scenario, seed)
    problem = Problem(len(scenario.actions), radius, EPSILON, DELTA)
    base = new_base(settings(problem, preset, {'base': base_name}), scenario.start, seed)
    while not base.finished:
        action = base.next_action()
        base.observe(action, simulator.step(action))
    return simulator.steps, len(base.policies), judge(
        simulator.cmp, found_by(base), radius, EPSILON)


def main() -> None:
    """Print one line per scenario and preset, and the ratio of the presets."""
    parser = Arguments(__doc__)
    parser.number('seeds', 10, 'runs of onboard', least=1)
    parser.number('paper-seeds', 1, 'runs of paper', least=1)
    parser.base()
    given = parser.read()
    print(f'{"scenario":<10} {"L":>2} {"preset":<8} {"runs":>4} {"mean steps":>11} '
          f'{"most":>9} {"known":>5}  wrong')
    for scenario, radius in TASKS:
        means = {}
        for preset, base, seeds in (('paper', '', given.paper_seeds),
                                    ('onboard', given.base, given.seeds)):
            runs = [run(scenario, radius, preset, base, seed) for seed in range(seeds)]
            steps = [run[0] for run in runs]
            means[preset] = mean(steps)
            wrong = [seed for seed, (_, _, verdict) in enumerate(runs) if not verdict.ok]
            known = sorted({run[1] for run in runs})
            print(f'{scenario:<10} {radius:>2.0f} {preset:<8} {seeds:>4} {means[preset]:>11.0f} '
                  f'{max(steps):>9} {"-".join(map(str, known)):>5}  '
                  f'{", ".join(f"seed {seed}" for seed in wrong) or "none"}', flush=True)
        print(f'{scenario:<10}    paper takes {means["paper"] / means["onboard"]:.0f} times '
              'the steps of onboard')


if __name__ == '__main__':
    main()
