"""The checking phase of MNM: check-runs watch over a hypothesis for ever."""

from __future__ import annotations

from dataclasses import dataclass, field

from mnm_ros.core.base import BaseAlgorithm
from mnm_ros.core.episode import Episode
from mnm_ros.core.evaluation import Evaluation, Verdict
from mnm_ros.core.policy import Policy
from mnm_ros.core.problem import RESET


@dataclass
class CheckRun:
    """What one check-run found.

    cut_off: whether part 1 was still running after ``W_r`` steps.
    found: the output of part 1, by target; empty if cut off.
    failed: the targets whose policies failed their evaluation in part 2.
    mean_steps: of the policies that passed, estimated steps by target.
    """

    cut_off: bool = False
    found: dict[int, Policy] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)
    mean_steps: dict[int, float] = field(default_factory=dict)


class CheckRunner:
    """Executes one check-run: a fresh base run, then one evaluation of each policy.

    policies: of the hypothesis; the one for home needs no evaluation.
    limit: ``W_r``, the most steps of part 1.
    """

    def __init__(self, base: BaseAlgorithm, home: int, policies: tuple[Policy, ...],
                 limit: int) -> None:
        self.result = CheckRun()
        self.base = base
        self._home = home
        self._limit = limit
        self._known = len(policies)
        self._queue = [policy for policy in reversed(policies) if policy.target != home]
        self._steps = 0
        self.rediscovering = True
        self._here: int | None = None
        self._episode: Episode | None = None
        self._evaluation: Evaluation | None = None

    @property
    def over(self) -> bool:
        """Whether both parts are done."""
        return not self.rediscovering and not self._queue

    def next_action(self) -> int:
        """Return the action to execute next."""
        if self.rediscovering:
            return self.base.next_action()
        if self._here is None or self._episode is None:
            return RESET
        return self._episode.action(self._here)

    def observe(self, state: int) -> None:
        """Take note of the state in which the last action ended."""
        if self.rediscovering:
            self._rediscover(state)
        else:
            self._here = state
            self._evaluate(state)

    def interrupt(self) -> None:
        """The robot may be anywhere: start from home; an episode under way does not count."""
        self.base.interrupt()
        self._here = None
        self._episode = None

    def _rediscover(self, state: int) -> None:
        self.base.observe(state)
        self._steps += 1
        if self.base.finished:
            self.result.found = {policy.target: policy for policy in self.base.policies}
            self.rediscovering = False
        elif self._steps >= self._limit:
            self.result.cut_off = True
            self.rediscovering = False

    def _evaluate(self, state: int) -> None:
        policy = self._queue[-1]
        if self._evaluation is None:
            self._evaluation = self.base.evaluation(self._known)
        if self._episode is None:
            if state == self._home:
                self._episode = Episode(policy, self._evaluation.ends_outside)
            return
        self._episode.observe(state)
        if not self._episode.over:
            return
        verdict = self._evaluation.record(self._episode.length, self._episode.failed)
        self._episode = None
        if verdict is Verdict.UNDECIDED:
            return
        if verdict is Verdict.BAD:
            self.result.failed.add(policy.target)
        else:
            self.result.mean_steps[policy.target] = self._evaluation.mean_steps
        self._evaluation = None
        self._queue.pop()
