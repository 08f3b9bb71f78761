# SPDX-License-Identifier: Apache-2.0

"""What pairs have certified given the map is looked at again when an end was missing."""

from __future__ import annotations

from mnm_ros.core import Exploration, Problem, settings, Support
from mnm_ros.simulation.cmp import support
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator


def test_a_missing_end_leaves_what_still_stands_and_lets_the_rest_go_on() -> None:
    """Policies that do not come to the pair stay, and no test under way is lost."""
    simulator = Simulator(load('two_rooms'), 0)
    declared = Support(support(simulator.cmp))
    exploration = Exploration(settings(Problem(4, 4.0, 1.0, 0.1, declared)), 0)
    known: tuple[int, ...] = ()
    while exploration.hypothesis is None and len(known) < 7:
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
        base = exploration.mnm.phase.base
        known = tuple(policy.target for policy in base.policies) if base else ()
    assert base is not None and exploration.hypothesis is None, known
    certifier = base.certifier
    policies = certifier.known.policies
    last = policies[known[-1]]
    pair = next(pair for pair in certifier.examiner.executed(last) if not any(
        pair in certifier.examiner.executed(policies[target]) for target in known[1:-1]))
    tests = {**certifier._tests.begun}
    exploration.mnm.refute(*pair, 1000)
    left = {policy.target for policy in base.policies}
    assert {*known[:-1]} <= left, (known, left)
    for target, test in tests.items():
        assert certifier._tests.begun[target] is test, target
    if known[-1] not in left:
        assert known[-1] in certifier._tests.begun
