# SPDX-License-Identifier: Apache-2.0

"""
Steps of one stationary run of UcbExplore with each preset, and their ratio.

No ROS and no MNM around it: what a preset's parts alone cost on a CMP that does not change.
"""

from __future__ import annotations

import argparse
from statistics import mean

from mnm_ros.core.model.policy import Hypothesis, over_own_targets
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import new_base, settings
from mnm_ros.simulation.ground_truth import judge, Verdict
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator

TASKS = (('corridor', 3.0), ('grid_3x3', 4.0))
EPSILON, DELTA = 1.0, 0.1


def run(scenario_name: str, radius: float, preset: str, seed: int) -> tuple[int, int, Verdict]:
    """Return the steps, the number of known states and the verdict of the ground truth."""
    scenario = load(scenario_name)
    simulator = Simulator(scenario, seed)
    problem = Problem(len(scenario.actions), radius, EPSILON, DELTA)
    base = new_base(settings(problem, preset), scenario.start, seed)
    while not base.finished:
        action = base.next_action()
        base.observe(action, simulator.step(action))
    hypothesis = Hypothesis(1, 0, base.quantum, over_own_targets(base.policies))
    return simulator.steps, len(hypothesis.targets), judge(
        simulator.cmp, hypothesis, radius, EPSILON)


def main() -> None:
    """Print one line per scenario and preset, and the ratio of the presets."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--seeds', type=int, default=10, help='runs of onboard (default 10)')
    parser.add_argument('--paper-seeds', type=int, default=1, help='runs of paper (default 1)')
    arguments = parser.parse_args()
    print(f'{"scenario":<10} {"L":>2} {"preset":<8} {"runs":>4} {"mean steps":>11} '
          f'{"most":>9} {"known":>5}  wrong')
    for scenario, radius in TASKS:
        means = {}
        for preset, seeds in (('paper', arguments.paper_seeds), ('onboard', arguments.seeds)):
            runs = [run(scenario, radius, preset, seed) for seed in range(seeds)]
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
