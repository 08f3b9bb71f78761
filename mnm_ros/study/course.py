# SPDX-License-Identifier: Apache-2.0

"""The result of one exploration of a changing world, and of several as a curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnm_ros.core.model.counts import Floats
import numpy as np


@dataclass(frozen=True)
class Course:
    """
    How an exploration went.

    An exploration step is one after which the hypothesis held is not good enough for the world as
    it is then: it misses a state within ``L``, or has a policy over ``(1 + epsilon) L``.

    :ivar world: the name of its file.
    :ivar method: of ``METHODS``.
    :ivar steps: in all.
    :ivar ends: the steps after which each setting of the world was over; the last is ``steps``.
    :ivar wrong: the exploration steps, as pairs of the steps before the first and up to the last.
    :ivar first: steps until the first hypothesis; None if there was none.
    :ivar known: states known at the end.
    """

    world: str
    method: str
    base: str
    seed: int
    ends: tuple[int, ...]
    wrong: tuple[tuple[int, int], ...]
    first: int | None
    known: int

    @property
    def steps(self) -> int:
        return self.ends[-1]

    @property
    def total(self) -> int:
        """Exploration steps in all."""
        return sum(end - begin for begin, end in self.wrong)

    @property
    def by_setting(self) -> tuple[int, ...]:
        """Exploration steps in each setting of the world."""
        found = self.until(self.ends)
        return tuple(int(steps) for steps in np.diff(found, prepend=0))

    @property
    def right_at_the_end(self) -> bool:
        """Whether a good hypothesis was held after the last step."""
        return not self.wrong or self.wrong[-1][1] < self.steps

    def until(self, steps: Sequence[int] | Floats) -> Floats:
        """Return how many exploration steps there were up to each of some steps."""
        at, so_far = [0], [0]
        for begin, end in self.wrong:
            at += [begin, end]
            so_far += [so_far[-1], so_far[-1] + end - begin]
        return np.interp(np.asarray(steps, dtype=float), at, so_far)


@dataclass(frozen=True)
class Curve:
    """
    Exploration steps over the steps, of several seeds.

    :ivar steps: at which the others are measured; all arrays are of one length.
    :ivar mean: of the seeds.
    :ivar low, high: between which a share of the seeds is, as ``curve`` was asked.
    """

    steps: Floats
    mean: Floats
    low: Floats
    high: Floats


def curve(courses: Sequence[Course], share: float, points: int) -> Curve:
    """Return the curve of courses that are equally long; ``share`` of them are in its band."""
    steps = np.unique(np.concatenate((
        np.linspace(0, courses[0].steps, points), courses[0].ends)))
    found = np.array([course.until(steps) for course in courses])
    low, high = np.quantile(found, [(1 - share) / 2, (1 + share) / 2], axis=0)
    return Curve(steps, found.mean(axis=0), low, high)


class WrongSteps:
    """
    Puts exploration steps together as ``Course.wrong`` has them.

    :ivar found: from the earliest on.
    """

    def __init__(self) -> None:
        self.found: list[tuple[int, int]] = []

    def add(self, begin: int, end: int) -> None:
        """Take it that steps are exploration steps; none are before those taken earlier."""
        if begin == end:
            return
        if self.found and self.found[-1][1] == begin:
            begin = self.found.pop()[0]
        self.found.append((begin, end))
