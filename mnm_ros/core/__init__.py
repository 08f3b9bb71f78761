# SPDX-License-Identifier: Apache-2.0

"""
The algorithm, without ROS: driven one step at a time, never blocking.

    from mnm_ros.core import Exploration, Problem, play, settings

    problem = Problem(actions=4, radius=4.0, epsilon=1.0, delta=0.1)
    exploration = Exploration(settings(problem), seed=1)
    play(exploration, robot, steps=20_000)     # robot(action) returns a state; -1 is RESET
    exploration.hypothesis.policies            # one policy for each known state
    exploration.counts, exploration.events     # what was observed, and decided when

``play`` calls ``next_action`` and ``observe`` in turn; call them yourself to make one step at a
time. ``mnm_ros.explore`` does all of this in one call, also for a Gymnasium environment. Several
robots of one kind explore together, each as a ``Member`` of a ``Fleet``: see
``docs/explanation/fleet.md``. Import the names below, of which ``docs/api.rst`` says which are
stable. A name is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from mnm_ros.core.detection.detector import Detector, DetectorFactory, PolicyDetector
    from mnm_ros.core.errors import (
        CheckpointError,
        ExportError,
        FileError,
        InvalidTypeError,
        InvalidValueError,
        LaunchError,
        MessageError,
        MissingPackageError,
        MnmError,
        NoAnswerError,
        OtherCheckpointError,
        ParameterError,
        ProtocolError,
        SnapshotError,
        UnknownStateError,
    )
    from mnm_ros.core.exploration import Exploration
    from mnm_ros.core.fleet.fleet import Fleet, Member
    from mnm_ros.core.inputs import (
        DeclarationInput,
        ImproveInput,
        Interruption,
        LookInput,
        Observation,
        Preference,
        Relocation,
        Update,
        WorkObservation,
    )
    from mnm_ros.core.knowledge.knowledge import Knowledge, KnownOfState, StateKind, Transition
    from mnm_ros.core.mnm.base import BaseAlgorithm, BaseFactory, Recollection
    from mnm_ros.core.mnm.capabilities import (
        CarriedPair,
        Certifies,
        Foresees,
        Learns,
        ProvisionalPolicy,
        Recollects,
        Relearns,
        Reports,
        Samples,
        Steered,
        TakesTurns,
    )
    from mnm_ros.core.mnm.checking_phase import (
        CheckingPhase,
        ChecksFactory,
        NearlyBest,
        Round,
    )
    from mnm_ros.core.mnm.options import Settings
    from mnm_ros.core.model.counts import Counts, NextStates
    from mnm_ros.core.model.declaration import Declaration
    from mnm_ros.core.model.direct_way import DirectWay
    from mnm_ros.core.model.empirical_model import EmpiricalModel, Equations
    from mnm_ros.core.model.policy import Hypothesis, over_own_targets, Policy
    from mnm_ros.core.model.problem import Problem, RESET
    from mnm_ros.core.model.support import Support
    from mnm_ros.core.model.transition_rows import TransitionRows
    from mnm_ros.core.paper.discovery import Discovery
    from mnm_ros.core.paper.optimism import Optimism, OptimisticPolicy
    from mnm_ros.core.planning.optimistic_planner import OptimisticPlanner
    from mnm_ros.core.planning.planner import OptimisticPlan, Planner, PlannerFactory
    from mnm_ros.core.presets import new_base, OPTIONS, PRESETS, settings
    from mnm_ros.core.progress.activity import Activity, Evidence, PhaseActivity, Progress
    from mnm_ros.core.progress.events import Event, MovesChange, PairChange, WaysChange
    from mnm_ros.core.progress.prediction import Outlook
    from mnm_ros.core.progress.said import InWords, Said
    from mnm_ros.core.progress.trust import PolicyTrust, Trust, TrustedPolicy
    from mnm_ros.core.queries import Phase
    from mnm_ros.core.task.navigation import Navigation, StepsToGo
    from mnm_ros.core.task.step_task import Homing, PausableTask, play, RunState, StepTask
    from mnm_ros.core.view import View

__all__ = [
    'Activity', 'BaseAlgorithm', 'BaseFactory', 'CarriedPair', 'Certifies',
    'CheckingPhase', 'CheckpointError', 'ChecksFactory', 'Counts', 'Declaration',
    'DeclarationInput', 'Detector', 'DetectorFactory', 'DirectWay', 'Discovery', 'EmpiricalModel',
    'Equations', 'Event', 'Evidence', 'Exploration', 'ExportError', 'FileError', 'Fleet',
    'Foresees', 'Homing', 'Hypothesis', 'ImproveInput', 'InWords',
    'Interruption', 'InvalidTypeError', 'InvalidValueError', 'Knowledge',
    'KnownOfState', 'LaunchError', 'Learns', 'LookInput', 'Member', 'MessageError',
    'MissingPackageError', 'MnmError', 'MovesChange', 'Navigation', 'NearlyBest', 'NextStates',
    'NoAnswerError', 'OPTIONS', 'Observation', 'Optimism', 'OptimisticPlan', 'OptimisticPlanner',
    'OptimisticPolicy', 'OtherCheckpointError', 'Outlook', 'PRESETS', 'PairChange',
    'ParameterError', 'PausableTask', 'Phase', 'PhaseActivity', 'Planner', 'PlannerFactory',
    'Policy', 'PolicyDetector', 'PolicyTrust', 'Preference', 'Problem', 'Progress',
    'ProtocolError', 'ProvisionalPolicy', 'RESET', 'Recollection', 'Recollects', 'Relearns',
    'Relocation', 'Reports', 'Round', 'RunState', 'Said', 'Samples', 'Settings', 'SnapshotError',
    'StateKind', 'Steered', 'StepTask', 'StepsToGo', 'Support',
    'TakesTurns', 'Transition', 'TransitionRows', 'Trust', 'TrustedPolicy',
    'UnknownStateError', 'Update', 'View', 'WaysChange', 'WorkObservation', 'new_base',
    'over_own_targets', 'play', 'settings']
_NAMES = {
    'detection.detector': 'Detector DetectorFactory PolicyDetector',
    'errors': 'CheckpointError ExportError FileError InvalidTypeError InvalidValueError '
              'LaunchError MessageError MissingPackageError MnmError NoAnswerError '
              'OtherCheckpointError ParameterError ProtocolError SnapshotError UnknownStateError',
    'exploration': 'Exploration',
    'fleet.fleet': 'Fleet Member',
    'inputs': 'DeclarationInput ImproveInput Interruption LookInput Observation '
              'Preference Relocation Update WorkObservation',
    'knowledge.knowledge': 'Knowledge KnownOfState StateKind Transition',
    'mnm.base': 'BaseAlgorithm BaseFactory Recollection',
    'mnm.capabilities': 'CarriedPair Certifies Foresees Learns ProvisionalPolicy Recollects '
                        'Relearns Reports Samples Steered TakesTurns',
    'mnm.checking_phase': 'CheckingPhase ChecksFactory NearlyBest Round',
    'mnm.options': 'Settings',
    'model.counts': 'Counts NextStates',
    'model.declaration': 'Declaration',
    'model.direct_way': 'DirectWay',
    'model.empirical_model': 'EmpiricalModel Equations',
    'model.policy': 'Hypothesis Policy over_own_targets',
    'model.problem': 'Problem RESET',
    'model.support': 'Support',
    'model.transition_rows': 'TransitionRows',
    'paper.discovery': 'Discovery',
    'paper.optimism': 'Optimism OptimisticPolicy',
    'planning.optimistic_planner': 'OptimisticPlanner',
    'planning.planner': 'OptimisticPlan Planner PlannerFactory',
    'presets': 'OPTIONS PRESETS new_base settings',
    'progress.activity': 'Activity Evidence PhaseActivity Progress',
    'progress.events': 'Event MovesChange PairChange WaysChange',
    'progress.prediction': 'Outlook',
    'progress.said': 'InWords Said',
    'progress.trust': 'PolicyTrust Trust TrustedPolicy',
    'queries': 'Phase',
    'task.navigation': 'Navigation StepsToGo',
    'task.step_task': 'Homing PausableTask RunState StepTask play',
    'view': 'View'}


def __getattr__(name: str) -> Any:
    for module, names in _NAMES.items():
        if name in names.split():
            return getattr(importlib.import_module(f'mnm_ros.core.{module}'), name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
