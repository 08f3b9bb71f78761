# SPDX-License-Identifier: Apache-2.0

"""
How many steps an exploration will take, predicted before it begins and while it is under way.

Power laws were fitted to the steps until the first hypothesis, in runs of MNM with the preset
``onboard`` in random CMPs. One needs the number of states to be learnt, one a probe, and one says
during the run how many steps are left. ``benchmarks/prediction.py`` makes the fits and measures
how far runs held out are from them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
import math
from types import MappingProxyType

from mnm_ros.core.model.problem import Problem


@dataclass(frozen=True)
class PowerLaw:
    """
    ``steps = exp(constant) * states^s * met^m * actions^a * radius^r / min(eps, 1)^e * ...``.

    The last factor is ``log(1 / delta)^d``.

    :ivar exponents: by the names in ``factors``; those that are 0 are left out.
    :ivar low, high: 5% of the runs held out took less than ``low`` times the predicted steps, and
        5% more than ``high`` times.
    """

    exponents: Mapping[str, float]
    low: float
    high: float

    def steps(self, factors: Mapping[str, float]) -> float:
        """Return the predicted steps for the logarithms of the factors."""
        return math.exp(sum(exponent * factors[name]
                            for name, exponent in self.exponents.items()))


LEARNT = PowerLaw(MappingProxyType({
    'constant': 2.54, 'states': 1.58, 'actions': 0.40, 'radius': 0.85, 'epsilon': 0.90,
    'delta': 0.27}), 0.32, 4.22)
"""For ``states`` that will be learnt."""

PROBED = PowerLaw(MappingProxyType({
    'constant': 0.62, 'states': 0.12, 'met': 1.42, 'actions': 1.18, 'radius': 1.47,
    'epsilon': 0.80, 'delta': 0.32}), 0.27, 4.51)
"""For ``states`` estimated and ``met`` counted by a probe of ``PROBE_STEPS``."""

REMAINING = PowerLaw(MappingProxyType({
    'constant': 1.90, 'prior': 0.59, 'done': 0.28, 'lacking': 0.13, 'ruled_out': -2.59}),
    0.26, 3.72)
"""For the steps that are left, from the result of ``factors_left``."""

SAME_WORLD = 1.3
"""With which power of the states within the radius steps grow where only the radius does.

In the flat and the open grid of ``benchmarks/hours``, with 2 <= L <= 8 and two seeds, the share of
the steps for the largest L was 0.6 to 1.4 times this; ``LEARNT``, which compares different worlds,
said 0.14 to 0.8 of what it was.
"""

DRIVES_LEFT = (0.33, 3.0)
"""The range of the steps that are left over the result of ``drives_left``."""

_NEARLY = 0.7    # ruled out

_WORTH_IT = 1 / 2    # of the steps, at most, for a smaller radius to be worth a word

PROBE_STEPS = 100
MEASURED_STATES = (3, 15)
"""The range of states within the radius in the runs; outside of it the laws extrapolate."""


@dataclass(frozen=True)
class Prediction:
    """The steps to the first hypothesis, and the range in which they were in 90% of the runs."""

    steps: float
    low: float
    high: float

    @classmethod
    def of(cls, steps: float, low: float, high: float) -> Prediction:
        """Return a prediction whose range is ``low`` to ``high`` times its steps."""
        return cls(steps, low * steps, high * steps)


def factors(states: int, met: int, actions: int, radius: float, epsilon: float,
            delta: float) -> dict[str, float]:
    """
    Return the logarithms of the factors of a law by name.

    :param states: estimated within the radius, or to be learnt.
    :param met: the number of all states that the probe has met.
    :param actions: the number of actions without RESET.
    """
    return {'constant': 1.0, 'states': math.log(states), 'met': math.log(met),
            'actions': math.log(actions), 'radius': math.log(radius),
            'epsilon': -math.log(min(epsilon, 1.0)), 'delta': math.log(math.log(1 / delta))}


def predict(law: PowerLaw, logarithms: Mapping[str, float]) -> Prediction:
    """Return what a law predicts for the result of ``factors``."""
    return Prediction.of(law.steps(logarithms), law.low, law.high)


def smaller_radius(radius: float, within: Callable[[float], int]) -> tuple[float, float] | None:
    """
    Return the largest whole radius that takes at most half of the steps, and their share.

    In one and the same world; None if there is no such radius.

    :param within: says how many states are within a radius, home among them.
    """
    states = max(1, within(radius))
    for whole in range(math.ceil(radius) - 1, 0, -1):
        share = (max(1, within(whole)) / states) ** SAME_WORLD
        if share <= _WORTH_IT:
            return float(whole), share
    return None


@dataclass(frozen=True)
class Outlook:
    """
    How much a run seems to have left to do.

    :ivar states: that will be learnt, as far as it knows.
    :ivar known: those that are known already.
    :ivar lacking: steps for the samples that it wants at the moment.
    :ivar ruled_out: how far all else is from being ruled out, 1 is enough.
    :ivar distances: of the states met, the estimated steps from home; empty if unknown.
    """

    states: int
    known: int
    lacking: float
    ruled_out: float
    distances: Collection[float] = ()


def drives_left(outlook: Outlook, done: int) -> Prediction | None:
    """
    Return the steps that are left where each action is declared to stay or to lead to one state.

    Such a world takes about two steps for each declared pair, a small part of what the laws say
    of worlds without a declaration. The numbers are those of four published route graphs and of
    random ones, of 8 to 190 places. In 28 runs in which drives failed with a probability of 0.01
    to 0.2, this was 0.3 to 2.8 times the steps that were left, at a tenth to nine tenths of the
    way. None before the first plan, and while much has to be ruled out.

    :param done: steps so far.
    """
    if outlook.ruled_out < _NEARLY:
        return None
    steps = 1.1 * outlook.lacking + 0.35 * (outlook.states - outlook.known) + 0.07 * done
    return Prediction.of(steps, *DRIVES_LEFT)


def factors_left(outlook: Outlook, done: int, problem: Problem) -> dict[str, float]:
    """
    Return the factors of ``REMAINING`` by name, most of them as logarithms.

    :param outlook: of the run.
    :param done: steps so far.
    :param problem: with the delta of the whole exploration.
    """
    prior = LEARNT.steps(factors(max(1, outlook.states), 1, problem.actions, problem.radius,
                                 problem.epsilon, problem.delta))
    return {'constant': 1.0, 'prior': math.log(prior), 'done': math.log(max(1, done)),
            'lacking': math.log(10 + outlook.lacking), 'ruled_out': min(1.0, outlook.ruled_out)}
