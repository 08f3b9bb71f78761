# SPDX-License-Identifier: Apache-2.0

"""
What a run of ``disco`` does next: sample, attempt, or finish.

``Disco`` asks after each step whether the last answer is outdated, and then has another one. The
order is: states that come first, urgent samples, the samples of what seems near and of what is to
be ruled out, certificates. The run is finished when nothing of that is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
import math

from mnm_ros.core.disco.certify import Certifier
from mnm_ros.core.disco.rule_out import Exclusion
from mnm_ros.core.disco.sample import Sampling
from mnm_ros.core.model.problem import Problem


class Next(Enum):
    """What a plan has found to do, by the name of the transition in ``DISCO_TRANSITIONS``."""

    SAMPLE = 'undersampled'
    ATTEMPT = 'target_chosen'
    FINISH = 'nothing_left'


class Agenda:
    """
    Says what is to be done, and when to ask again.

    :param problem: with the radius.
    :param sampling, ruling_out, certifier: of the run, which do what was found.
    :param at_once: whether a state that is new is certified before all else.
    :ivar preferred: states to which somebody wants to go.
    :ivar outdated: whether the last plan says no more what is to be done.
    :ivar news: whether a new state was met twice since the last plan.
    """

    def __init__(self, problem: Problem, sampling: Sampling, ruling_out: Exclusion,
                 certifier: Certifier, at_once: bool) -> None:
        self._radius = problem.radius
        self._sampling = sampling
        self._ruling_out = ruling_out
        self._certifier = certifier
        self._at_once = at_once
        self.preferred: tuple[int, ...] = ()
        self.outdated = self.news = False

    def is_due(self, was_urgent: bool) -> bool:
        """
        Return whether to plan after a step of sampling.

        :param was_urgent: whether anything was urgent before the step.
        """
        sampling = self._sampling
        if not sampling.open or self.outdated or sampling.plan_is_due():
            return True
        return (self._certifier.sampled.first and not sampling.preferred) or (
            (self._at_once or bool(self.preferred))
            and (self.news or was_urgent and not sampling.urgent))

    def may_be_due(self) -> bool:
        """Return whether ``is_due`` may say so after the next step."""
        sampling = self._sampling
        return (self._at_once or len(sampling.open) <= 1 or sampling.plan_is_due(1)
                or self.outdated or bool(self.preferred)
                or self._certifier.sampled.first)

    def plan(self) -> Next:
        """Find out what is left to do, and make known what can be."""
        certifier, ruling_out = self._certifier, self._ruling_out
        known = certifier.known.policies
        self.news = self.outdated = False
        certifier.begin()
        while True:
            near = ruling_out.near(known)
            before = len(known)
            first = self.come_first(near) if self._at_once else self._on_preferred_way(near)
            if first and certifier.certify({state: near[state] for state in first}, True):
                return self._sample_or_attempt()
            if self.preferred and len(known) > before:
                continue
            if self._sampling.urgent:
                return Next.SAMPLE
            inside = (*known, *near)
            again = not ruling_out.has_ruled_out_all_but(inside)
            if self._sampling.open or again and ruling_out.lacks(inside):
                return Next.SAMPLE
            before = len(known)
            if certifier.certify(near, self._at_once):
                return self._sample_or_attempt()
            if len(known) == before and (
                    again and not near or not ruling_out.lacks(tuple(known))):
                return Next.FINISH

    def come_first(self, states: Iterable[int]) -> list[int]:
        """Return which of these states may be certified now: what is urgent is before far ones."""
        distance = self._ruling_out.distance
        return [state for state in states if not self._sampling.urgent
                or distance.get(state, math.inf) <= self._radius]

    def _on_preferred_way(self, near: Mapping[int, float]) -> Sequence[int]:
        """
        Return what is not known on the way to the nearest preferred state that is not.

        It has to seem within the radius: farther away, a certificate may take very long. A move
        that has not led on from what is known yet is tried.
        """
        target = min((state for state in self.preferred
                      if near.get(state, math.inf) <= self._radius),
                     key=near.__getitem__, default=None)
        if target is None:
            return []
        unknown = [move for move in self._sampling.way_to(target) if move[2] in near]
        state, action, after = unknown[0]
        if after not in self._certifier.examiner.counts.next_states(state, action):
            self._sampling.urge((state, action))
        way = {state for _, _, state in unknown}
        # A test that has begun may go on another way, and waits for the states there.
        way.update(*map(self._certifier.tested_through, tuple(way)))
        return [state for state in near if state in way]

    def _sample_or_attempt(self) -> Next:
        """Return what the certifier has asked for."""
        return Next.SAMPLE if self._certifier.attempts is None else Next.ATTEMPT
