"""How long an exploration will take, from what is known before it begins.

Two power laws, fitted to runs of MNM with the preset ``onboard`` in random CMPs, until the first
hypothesis: one for who knows how many states there are to be learnt, one for who has made a
probe. ``benchmarks/prediction`` makes the fits and measures how far runs held out are from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from types import MappingProxyType


@dataclass(frozen=True)
class PowerLaw:
    """``steps = exp(constant) * states^s * met^m * actions^a * radius^r / min(eps, 1)^e * ...``.

    The last factor is ``log(1 / delta)^d``.

    exponents: by the names in ``factors``; those of no weight are left out.
    low, high: 5% of the runs held out took less, and 5% more, than this many times the steps.
    """

    exponents: Mapping[str, float]
    low: float
    high: float

    def steps(self, factors: Mapping[str, float]) -> float:
        """Return the steps predicted."""
        return math.exp(sum(exponent * factors[name]
                            for name, exponent in self.exponents.items()))


LEARNT = PowerLaw(MappingProxyType({
    'constant': 4.48, 'states': 1.74, 'actions': 0.17, 'radius': 0.59, 'epsilon': 1.11,
    'delta': 0.22}), 0.50, 2.21)
"""``states`` is how many will be learnt."""

PROBED = PowerLaw(MappingProxyType({
    'constant': 3.06, 'states': 0.66, 'met': 0.83, 'actions': 0.69, 'radius': 1.40,
    'epsilon': 1.04, 'delta': 0.21}), 0.41, 2.13)
"""``states`` is estimated, and ``met`` counted, by a probe of ``PROBE_STEPS``."""

PROBE_STEPS = 100
MEASURED_STATES = (3, 15)
"""Within the radius; beyond these the laws are continued, not measured."""


@dataclass(frozen=True)
class Prediction:
    """Steps to the first hypothesis, and two numbers between which they were in 90% of runs."""

    steps: float
    low: float
    high: float


def factors(states: int, met: int, actions: int, radius: float, epsilon: float,
            delta: float) -> dict[str, float]:
    """Return the logarithms that the laws weigh.

    states: within the radius, or to be learnt. met: by the probe, in all. actions: without RESET.
    """
    return {'constant': 1.0, 'states': math.log(states), 'met': math.log(met),
            'actions': math.log(actions), 'radius': math.log(radius),
            'epsilon': -math.log(min(epsilon, 1.0)), 'delta': math.log(math.log(1 / delta))}


def predict(law: PowerLaw, weighed: Mapping[str, float]) -> Prediction:
    """Return what ``law`` makes of ``factors``."""
    steps = law.steps(weighed)
    return Prediction(steps, law.low * steps, law.high * steps)
