# SPDX-License-Identifier: Apache-2.0

"""Parameters of ``explorer``."""

from __future__ import annotations

from mnm_ros.core.presets import OPTIONS, PRESETS
from mnm_ros.parameters.common import PROBLEM, RECORD, SEED
from mnm_ros.parameters.declaration import Row

EXPLORER: tuple[Row, ...] = (
    Row('actions', None, 'names of the actions in order; RESET is always there besides. Not set: '
        'those that the robot side has, as it says on robot_side', optional=True),
    Row('robots', None, 'namespaces of several robots that explore together, relative to that of '
        'the explorer. Not set: one robot, in the namespace of the explorer', namespaces=True,
        optional=True, read_only=True),
    *PROBLEM,
    Row('delta', 0.1, 'probability with which the promise may fail',
        minimum=1e-12, maximum=1, open_ends=True),
    Row('preset', 'onboard', 'named set of parts and constants of the algorithm',
        choices=tuple(PRESETS)),
    SEED,
    Row('step_timeout', 5.0, 's, before an action is sent again', minimum=0.01, runtime=True),
    Row('step_retries', 3, 'times an action is sent again before the robot counts as not '
        'answering', minimum=0, runtime=True),
    Row('reset_mode', 'action', 'RESET as an action -1, or by calling the service return_home',
        choices=('action', 'service')),
    Row('reset_retries', 10, 'times RESET is tried again after it has failed or ended elsewhere '
        'than at home, before that is a fault', minimum=0, runtime=True),
    Row('autostart', True, 'configure and activate by itself', read_only=True),
    Row('advisory', False, 'command nothing: advise whoever drives the robot and learn from that'),
    Row('on_shutdown', 'rest', 'what becomes of a robot that is being driven when the node ends: '
        'it is brought to rest, goes home by a last RESET, or nothing is done about it',
        choices=('rest', 'reset', 'nothing'), runtime=True),
    Row('shutdown_timeout', 60.0, 's, that the end waits for the robot to come home with '
        'on_shutdown reset', minimum=0, runtime=True),
    Row('republish_period', 60.0, 's, after which all latched topics are published again; 0 for '
        'never', minimum=0, runtime=True),
    Row('policies_up_to', 1000, 'known states up to which the topic policies has all policies; '
        'beyond, each is asked for on policy/request', minimum=0),
    Row('max_steps', 0, 'steps after which exploration is done; 0 for no limit',
        minimum=0, runtime=True),
    Row('max_states', 10_000, 'different states met, candidates included, beyond which '
        'exploration pauses until this is raised and the service explore called; 0 for no limit',
        minimum=0, runtime=True),
    Row('max_duration', 0.0, 's since the first activation after which exploration is done; '
        '0 for no limit', minimum=0, runtime=True),
    Row('checkpoint_dir', '', 'folder in which the exploration is kept, to go on from after a '
        "restart; '' for off", read_only=True),
    Row('transition_log', False, 'keep every transition in checkpoint_dir, too, for replay'),
    Row('warm_start', '', 'transition log of another exploration of the same world, perhaps with '
        "another radius, epsilon, delta or preset, to begin with; '' for none", read_only=True),
    RECORD,
    *(Row(option.name, option.default, option.description, option.minimum, option.maximum,
          choices=option.choices, or_default=True, importable=option.importable,
          read_only=option.importable)    # over the network it would import any module
      for option in OPTIONS),
)
