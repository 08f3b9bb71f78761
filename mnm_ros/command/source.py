# SPDX-License-Identifier: Apache-2.0

"""What was learnt, from a running explorer or from a file, as the command line names it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
import time
from typing import TYPE_CHECKING

from mnm_ros.console.arguments import in_domain
from mnm_ros.core.errors import CheckpointError, NoAnswerError
from mnm_ros.core.knowledge.knowledge import StateKind
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.presets import base_factory
from mnm_ros.export.contents import ExportContents, read
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.telemetry import Telemetry

if TYPE_CHECKING:
    from mnm_ros.subscriptions import Listener

_LOOK = 0.1     # s, between two checks
_REST = 2.0     # s, in which the latched topics of an explorer that was found arrive


def find(given: argparse.Namespace, ros_arguments: Sequence[str], log: bool = False,
         target: str | None = None) -> ExportContents:
    """
    Return what was learnt.

    :param given: of ``console.arguments.add_source``.
    :param log: whether all transitions are wanted, which only a transition log has.
    :param target: whose policy is wanted.
    :raises CheckpointError: if the file cannot be used.
    :raises NoAnswerError: if there is no explorer.
    """
    if given.source is not None:
        try:
            if given.base:
                base_factory(given.base)
        except ValueError as error:
            raise CheckpointError(f'--base: {error}') from None
        return read(given.source, log)
    if log:
        raise NoAnswerError(
            'a running explorer does not tell every step, expected --from with a '
            '*.log.sqlite of an explorer with transition_log: true')
    # Only here, so that a file can be read without ROS.
    from mnm_ros.subscriptions import Listener
    with Listener(given.namespace, ros_arguments) as listener:
        heard = _listen(listener, given.timeout)
        learnt = _learnt(heard, listener)
        known = learnt.knowledge
        state = None if target is None else learnt.description.state(target)
        provisional = not known.known and known.of(StateKind.CERTIFIED)
        if state in known.policies or state is None and not provisional:
            return learnt
        found: Iterable[Policy] = ()
        if state is None:
            found = listener.provisional_policies(given.timeout)
        elif state in known.known:    # too many for one message, so that one is asked for
            asked = listener.policy(state, given.timeout)
            found = () if asked is None else (asked,)
        elif state in known.trust:
            found = listener.provisional_policies(given.timeout)
        return replace(learnt, knowledge=replace(known, policies={
            **{policy.target: policy for policy in found}, **known.policies}))


def first(listener: Listener, timeout: float, enough: Callable[[Telemetry], object]) -> Telemetry:
    """Return what is heard once it is enough; NoAnswerError if it is not in time."""
    end = time.monotonic() + timeout
    while not enough(heard := listener.listen(_LOOK)):
        if time.monotonic() > end:
            raise NoAnswerError(
                f'no node publishes {listener.topic} (expected from the node explorer) after '
                f'{timeout:g} s, {in_domain()}')
    return heard


def _listen(listener: Listener, timeout: float) -> Telemetry:
    """Return what is published, once all that is latched has come."""
    heard = first(listener, timeout, lambda heard: heard.phase)
    last = time.monotonic() + timeout
    end = min(last, time.monotonic() + _REST)
    # On a busy machine a robot side, without which no state has a place, is heard later.
    while not _complete(heard) and time.monotonic() < (
            last if listener.may_be_described and not heard.description.actions else end):
        heard = listener.listen(_LOOK)
    return heard


def _complete(heard: Telemetry) -> bool:
    known = heard.hypothesis is not None and heard.known
    building = heard.phase_group == 'building' and len(heard.trust) > 1    # home is one
    return bool((known or building) and heard.counts and heard.activity.limit
                and heard.reports and heard.description.actions)


def _learnt(heard: Telemetry, listener: Listener) -> ExportContents:
    description = heard.description
    if not description.actions and (names := listener.actions(_REST)):
        description = RobotDescription(names)
    return ExportContents(listener.explorer, heard.knowledge, description)
