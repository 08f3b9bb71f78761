# SPDX-License-Identifier: Apache-2.0

"""
Autonomous exploration of changing controlled Markov processes, for ROS 2.

``explore`` explores a Gymnasium environment or a function in one call. Import the names below, or
those of ``mnm_ros.core``, the algorithm without ROS; ``docs/api.rst`` says which are stable. A
name is imported when it is first used. Only these names need ROS: nodes (``CmpSim``, ``Explorer``,
``RobotSide``, ``run``), ``NavigatorClient`` with its ``Goal``, and messages (``PolicySet``,
``PolicyAnswer``, ``Model``, ``decode_...`` and the profiles in capitals).
"""

from __future__ import annotations

import importlib
from typing import Any, TYPE_CHECKING

from mnm_ros.version import __version__ as __version__

if TYPE_CHECKING:
    from mnm_ros.checkpoint.input_log import SavedInputs
    from mnm_ros.checkpoint.warm_start import replay_log
    from mnm_ros.core import Declaration, Exploration, play, Problem, settings
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
    from mnm_ros.core.progress.way_answer import WayAnswer
    from mnm_ros.core.task.navigation import GoalReport, GoalStatus
    from mnm_ros.export.contents import ExportContents
    from mnm_ros.export.formats import export_as, Format
    from mnm_ros.export.recording import Recording
    from mnm_ros.messages import (
        decode_known_states,
        decode_model,
        decode_policy,
        decode_trust,
        decode_way,
        EVENTS,
        HEARTBEAT,
        LATCHED,
        Model,
        PolicyAnswer,
        PolicySet,
        STEP,
    )
    from mnm_ros.navigator_client import Goal, NavigatorClient
    from mnm_ros.nodes.cmp_sim import CmpSim
    from mnm_ros.nodes.common.spin import run
    from mnm_ros.nodes.explorer import Explorer
    from mnm_ros.nodes.robot_side import RobotSide
    from mnm_ros.robot_description import RobotDescription
    from mnm_ros.simulation.cmp import Cmp, TableCmp
    from mnm_ros.simulation.ground_truth import (
        best_time,
        expected_steps,
        judge,
        reachable_states,
        Verdict,
    )
    from mnm_ros.simulation.gym_robot import GymRobot
    from mnm_ros.simulation.scenario import load as load_scenario
    from mnm_ros.simulation.scenario import Scenario, Setting
    from mnm_ros.simulation.simulator import Simulator
    from mnm_ros.study.course import Course, Curve
    from mnm_ros.study.explore import explore
    from mnm_ros.study.study import run_study, Study
    from mnm_ros.view.sentences import sentence

__all__ = [
    'CheckpointError', 'Cmp', 'CmpSim', 'Course', 'Curve', 'Declaration', 'EVENTS',
    'Exploration', 'Explorer', 'ExportContents', 'ExportError', 'FileError', 'Format', 'Goal',
    'GoalReport', 'GoalStatus', 'GymRobot', 'HEARTBEAT', 'InvalidTypeError',
    'InvalidValueError', 'LATCHED', 'LaunchError', 'MessageError', 'MissingPackageError',
    'MnmError', 'Model', 'NavigatorClient', 'NoAnswerError', 'OtherCheckpointError',
    'ParameterError', 'PolicyAnswer', 'PolicySet', 'Problem', 'ProtocolError', 'Recording',
    'RobotDescription', 'RobotSide', 'STEP', 'SavedInputs', 'Scenario', 'Setting', 'Simulator',
    'SnapshotError', 'Study', 'TableCmp', 'UnknownStateError', 'Verdict', 'WayAnswer',
    'best_time', 'decode_known_states', 'decode_model', 'decode_policy', 'decode_trust',
    'decode_way', 'expected_steps', 'explore', 'export_as', 'judge', 'load_scenario', 'play',
    'reachable_states', 'replay_log', 'run', 'run_study', 'sentence',
    'settings']
_NAMES = {
    'checkpoint.input_log': 'SavedInputs',
    'checkpoint.warm_start': 'replay_log',
    'core': 'Declaration Exploration Problem play settings',
    'core.errors': 'CheckpointError ExportError FileError InvalidTypeError InvalidValueError '
                   'LaunchError MessageError MissingPackageError MnmError NoAnswerError '
                   'OtherCheckpointError ParameterError ProtocolError SnapshotError '
                   'UnknownStateError',
    'core.progress.way_answer': 'WayAnswer',
    'core.task.navigation': 'GoalReport GoalStatus',
    'export.contents': 'ExportContents',
    'export.formats': 'Format export_as',
    'export.recording': 'Recording',
    'messages': 'EVENTS HEARTBEAT LATCHED Model PolicyAnswer PolicySet STEP decode_known_states '
                'decode_model decode_policy decode_trust decode_way',
    'navigator_client': 'Goal NavigatorClient',
    'nodes.cmp_sim': 'CmpSim',
    'nodes.common.spin': 'run',
    'nodes.explorer': 'Explorer',
    'nodes.robot_side': 'RobotSide',
    'robot_description': 'RobotDescription',
    'simulation.cmp': 'Cmp TableCmp',
    'simulation.ground_truth': 'Verdict best_time expected_steps judge reachable_states',
    'simulation.gym_robot': 'GymRobot',
    'simulation.scenario': 'Scenario Setting load_scenario',
    'simulation.simulator': 'Simulator',
    'study.course': 'Course Curve',
    'study.explore': 'explore',
    'study.study': 'Study run_study',
    'view.sentences': 'sentence'}
_RENAMED = {'load_scenario': 'load'}


def __getattr__(name: str) -> Any:
    for module, names in _NAMES.items():
        if name in names.split():
            home = importlib.import_module(f'mnm_ros.{module}')
            return getattr(home, _RENAMED.get(name, name))
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
