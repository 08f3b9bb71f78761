# SPDX-License-Identifier: Apache-2.0

"""The runs of the base algorithm: each with its part of the delta, and with its own chance."""

from __future__ import annotations

from dataclasses import replace
from reprlib import repr as shortened

from mnm_ros.core.errors import InvalidTypeError
from mnm_ros.core.mnm.base import BaseAlgorithm, BaseFactory
from mnm_ros.core.mnm.capabilities import Steered
from mnm_ros.core.mnm.options import Settings
from mnm_ros.core.mnm.phase import Directives
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.statistics.delta_spending import round_delta, stream_delta
import numpy as np


class Runs:
    """
    Makes the runs of an exploration.

    :param settings: with the delta of the whole exploration.
    :param seed: of all random choices; run number ``n`` gets ``[seed, n]``.
    :param new_base: makes a run.
    :ivar made: how many so far.
    :ivar directives: what people wish; each run begins with the states that they prefer.
    """

    left_to_fresh = ('_settings', '_new_base')

    def __init__(self, settings: Settings, seed: int, new_base: BaseFactory) -> None:
        self.made = 0
        self.directives = Directives()
        self._settings = settings
        self._seed = seed
        self._new_base = new_base

    def problem_of_round(self, number: int) -> Problem:
        """Return the problem of the checking phase of a round."""
        problem = self._settings.problem
        return replace(problem, delta=round_delta(problem.delta, number))

    def new_stream(self, home: int, round_number: int, number: int) -> BaseAlgorithm:
        """Return a fresh run for a stream of the building phase of a round."""
        problem = self._settings.problem
        return self.new(home, replace(problem, delta=stream_delta(
            self._settings.budget, problem.delta, round_number, number)))

    def new(self, home: int, problem: Problem,
            policies: tuple[Policy, ...] = ()) -> BaseAlgorithm:
        """
        Return a fresh run.

        :param policies: that it may take as known, home first; none for home alone.
        :raises InvalidTypeError: if the base is of another package, and returns something else.
        """
        self.made += 1
        run = self._new_base(replace(self._settings, problem=problem), home,
                             np.random.default_rng([self._seed, self.made]), policies)
        if not isinstance(run, BaseAlgorithm):
            raise InvalidTypeError(
                f'base {self._settings.base} has returned {shortened(run)}, expected a '
                'BaseAlgorithm')
        if self.directives.preferred and isinstance(run, Steered):
            run.prefer(self.directives.preferred)
        return run
