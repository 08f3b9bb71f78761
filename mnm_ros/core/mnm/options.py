# SPDX-License-Identifier: Apache-2.0

"""The options of an exploration: each is declared once, with its value in every preset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import math
from typing import Any, Union

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.model.problem import Problem

Value = Union[str, int, float]

MAX_HORIZON = 10_000
"""Steps of an attempt. A base may plan for each of them, which takes seconds at ten times that."""
_HIGHEST = 1e9    # enough for any factor or number of steps, and far from where numbers overflow


def option(description: str, *, choices: tuple[str, ...] = (), minimum: float = 0.0,
           maximum: float = _HIGHEST, parameter: bool = False,
           **presets: Value) -> Any:
    """
    Declare a field of ``Settings``, or of a plug-in, as an option that can be overridden by name.

    :param description: one line for people.
    :param choices: allowed strings; a part is named as in ``components.PARTS``.
    :param minimum, maximum: allowed for a number; 0 always is, for the value of the preset.
    :param parameter: whether it is a parameter of the explorer by its own name.
    :param presets: the value in each preset, all of one type.
    """
    return field(metadata={
        'presets': presets, 'description': description, 'choices': choices, 'minimum': minimum,
        'maximum': maximum, 'parameter': parameter})


@dataclass(frozen=True)
class Settings:
    """
    A problem with every option resolved; the names of the fields are those of the options.

    :ivar problem: with the delta of the whole exploration, or of one run of the base algorithm.
    :ivar preset: the name of the preset that was resolved.
    :ivar of_plug_ins: the values of options that a plug-in declares, by name.
    :raises ValueError: if the streams would never take turns, or if an attempt would be too long.
    """

    problem: Problem
    preset: str
    base: str = option(
        'base algorithm, or the module:factory of one', parameter=True,
        onboard='disco', paper='ucb_explore')
    planner: str = option(
        'planner that rules states out in disco', onboard='optimistic', paper='optimistic')
    checks: str = option('how a hypothesis is checked', onboard='watch', paper='hoeffding')
    detector: str = option(
        'test by which the watch checks delete a policy', onboard='betting', paper='betting')
    budget: str = option(
        'deltas of the streams: parts that sum up to delta (summed), or the whole delta of the '
        'round for each stream (printed)',
        choices=('summed', 'printed'), onboard='summed', paper='printed')
    stream_data: str = option(
        'steps that a stream learns from: its own, or those of all streams since its start',
        choices=('own', 'shared'), onboard='shared', paper='own')
    streams: str = option(
        'when streams start: at 1000, 2000, 4000 quanta and so on (doubling), or by '
        'stream_exponent (printed)',
        choices=('doubling', 'printed'), onboard='doubling', paper='printed')
    stream_exponent: float = option(
        'stream p of printed streams starts at quantum (p-1)^exponent + 1, > 1',
        minimum=1, maximum=64,
        onboard=6.0, paper=2.0)
    accuracy_divisor: float = option(
        'inner accuracy e = min(epsilon, 1) / divisor', minimum=1, maximum=1000,
        onboard=2.0, paper=8.0)
    horizon: int = option(
        'steps of an attempt; 0 for ceil((1 + 1/e) radius)', maximum=MAX_HORIZON,
        parameter=True, onboard=0, paper=0)
    step_bound: str = option(
        'formula of W_r, the most steps of a rediscovery', onboard='empirical', paper='printed')
    c1: float = option('factor in W_r', onboard=3.0, paper=48661.0)
    check_steps: int = option(
        'most steps of a rediscovery, instead of W_r', parameter=True, onboard=0, paper=0)
    watch_every: int = option(
        'quanta of rediscovery between two patrols of the watch checks', parameter=True,
        onboard=4, paper=4)
    look_again: float = option(
        'share of the steps of the watch checks for pairs known to be blocked; 1 is no limit',
        minimum=0.001, maximum=1, parameter=True, onboard=0.025, paper=0.025)
    of_plug_ins: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.stream_exponent > 1:
            raise InvalidValueError(
                f'stream_exponent is {self.stream_exponent}, expected a number > 1')
        if self.steps_horizon > MAX_HORIZON:
            raise InvalidValueError(
                f'an attempt would take {self.steps_horizon} steps with radius '
                f'{self.problem.radius:g}, epsilon {self.problem.epsilon:g} and accuracy_divisor '
                f'{self.accuracy_divisor:g}, expected at most {MAX_HORIZON}')

    @property
    def accuracy(self) -> float:
        """Return the inner accuracy ``e = min(epsilon, 1) / accuracy_divisor``."""
        return min(self.problem.epsilon, 1.0) / self.accuracy_divisor

    @property
    def steps_horizon(self) -> int:
        """``G``: as overridden, else ``ceil((1 + 1/e) L)``."""
        return self.horizon or math.ceil((1 + 1 / self.accuracy) * self.problem.radius)
