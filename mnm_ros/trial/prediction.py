# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""
How many steps an exploration will take, predicted before it begins.

Two power laws were fitted to the steps until the first hypothesis, in runs of MNM with the preset
``onboard`` in random CMPs. One needs the number of states to be learnt, the other a probe.
``benchmarks/prediction.py`` makes the fits and measures how far runs held out are from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from types import MappingProxyType


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
    'constant': 4.48, 'states': 1.74, 'actions': 0.17, 'radius': 0.59, 'epsilon': 1.11,
    'delta': 0.22}), 0.50, 2.21)
"""For ``states`` that will be learnt."""

PROBED = PowerLaw(MappingProxyType({
    'constant': 3.06, 'states': 0.66, 'met': 0.83, 'actions': 0.69, 'radius': 1.40,
    'epsilon': 1.04, 'delta': 0.21}), 0.41, 2.13)
"""For ``states`` estimated and ``met`` counted by a probe of ``PROBE_STEPS``."""

PROBE_STEPS = 100
MEASURED_STATES = (3, 15)
"""The range of states within the radius in the runs; beyond it the laws extrapolate."""


@dataclass(frozen=True)
class Prediction:
    """The steps to the first hypothesis, and the range in which they were in 90% of the runs."""

    steps: float
    low: float
    high: float


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
    steps = law.steps(logarithms)
    return Prediction(steps, law.low * steps, law.high * steps)
