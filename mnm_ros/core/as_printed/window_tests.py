"""The statistics of the checking phase: when a hypothesis is given up, reduced or extended."""

from __future__ import annotations

from abc import ABC, abstractmethod
import math

from mnm_ros.core.problem import Problem


class Checks(ABC):
    """Decides over the last check-runs of a round; adding a way is adding a class.

    The delta of ``problem`` is that of the round, ``delta_r``.

    window: ``n_r``, the most check-runs looked back at.
    threshold: a share of failures above which a decision falls, for diagnostics.
    quiet: check-runs without any contradiction after which a revision counts as relearnt.
    forgets: whether a deleted state loses the sightings made before its policy first failed,
        which in a short window would bring it back at once.
    """

    window: int
    threshold: float
    quiet: int
    forgets: bool

    @abstractmethod
    def ready(self, runs: int) -> bool:
        """Return whether ``runs`` check-runs of the round are enough to decide."""

    @abstractmethod
    def refutes(self, failures: int, runs: int) -> bool:
        """Are ``failures`` of the last ``runs`` too many? For cut-off runs and for policies."""

    @abstractmethod
    def adds(self, seen: int, runs: int) -> bool:
        """Is a state in the output of ``seen`` of the last ``runs`` to be added?"""


class HoeffdingTests(Checks):
    """The printed tests (Gajane et al. 2019, section 5) with ``n_r`` and ``alpha_r``.

    known: ``|K_r|``. window: replaces ``n_r`` if positive.
    printed_addition: take the addition test as printed, ``delta_r - (1 - v/n) > alpha_r``. It can
        hold only if ``alpha_r < delta_r``, which no real ``n_r`` gives: nothing is ever added.
        The sound reading ``(1 - v/n) - delta_r <= alpha_r`` adds what is missed no more often than
        a reachable state would be.
    """

    forgets = False

    def __init__(self, problem: Problem, known: int, window: int = 0,
                 printed_addition: bool = False) -> None:
        self._delta = problem.delta
        # A epsilon so large that the logarithm is below 1 is beyond what the formulas are for.
        log = max(1.0, math.log(known * problem.all_actions * problem.radius
                                / (problem.epsilon * problem.delta)))
        self.window = window or math.ceil(log ** 3)
        self.alpha = math.sqrt(-math.log(problem.delta) / (2 * log ** 3))
        self.threshold = self.alpha + self._delta
        self.quiet = self.window
        self._printed_addition = printed_addition

    def ready(self, runs: int) -> bool:
        """``n_r`` check-runs are executed, then each further one is followed by a decision."""
        return runs > self.window

    def refutes(self, failures: int, runs: int) -> bool:
        """``b / n_r > alpha_r + delta_r``."""
        return failures / runs > self.alpha + self._delta

    def adds(self, seen: int, runs: int) -> bool:
        """The addition test in the reading chosen."""
        missed = 1 - seen / runs
        if self._printed_addition:
            return self._delta - missed > self.alpha
        return missed - self._delta <= self.alpha


class BinomialChecks(Checks):
    """Exact binomial tails over a short window.

    In a CMP that does not change, a check-run fails, or has a wrong state in its output, with
    probability at most ``delta_r``. The critical number is the least ``k`` with
    ``P(Bin(window, delta_r) >= k) <= delta_r``: one look is wrong with probability at most
    ``delta_r``. A window that is not full yet is held to the same number, which is stricter.
    A state is added when its sightings are more than wrong outputs can explain.

    window: ``n_r``, at least 2.
    """

    quiet = 1
    forgets = True

    def __init__(self, problem: Problem, window: int) -> None:
        self.window = window
        self.critical = next(
            k for k in range(1, window + 2)
            if binomial_tail(window, problem.delta, k) <= problem.delta)
        self.threshold = (self.critical - 1) / window

    def ready(self, runs: int) -> bool:
        """The critical number holds for windows that are not full yet, too."""
        return runs >= 1

    def refutes(self, failures: int, runs: int) -> bool:
        """As many failures as chance hardly explains."""
        return failures >= self.critical

    def adds(self, seen: int, runs: int) -> bool:
        """As many sightings as wrong outputs hardly explain."""
        return seen >= self.critical


def binomial_tail(n: int, p: float, k: int) -> float:
    """Return ``P(Bin(n, p) >= k)``."""
    return math.fsum(math.comb(n, j) * p ** j * (1 - p) ** (n - j) for j in range(k, n + 1))
