# SPDX-License-Identifier: Apache-2.0

"""The declarations of the parameters of each node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
import math

from mnm_ros.core.model.declaration import AUDIT
from mnm_ros.core.model.problem import EPSILON, RADIUS
from mnm_ros.core.presets import DEFAULT, Option, OPTIONS, PRESETS, VARIED
from mnm_ros.core.progress.prediction import PROBE_STEPS
from mnm_ros.core.progress.trust import LEAST, Trust
from mnm_ros.driving.grid import FARTHEST
from mnm_ros.driving.maneuvers import MOVES
from mnm_ros.driving.pose import POSE_SOURCES
from mnm_ros.driving.sight import BUMP_TYPES
from mnm_ros.language import LANGUAGES
from mnm_ros.parameters.parameter_spec import ParameterSpec
from mnm_ros.protocol.rest_rules import SCALES

PROBLEM = (
    ParameterSpec('radius', 4.0, 'L: the explorer learns the states within this many expected '
                  'steps of home', minimum=RADIUS[0], maximum=RADIUS[1],
                  zero='all states that the declaration reaches'),
    ParameterSpec('epsilon', 1.0, 'a learnt policy may need (1 + epsilon) * radius expected steps',
                  minimum=EPSILON[0], maximum=EPSILON[1]),
)
LANGUAGE = ParameterSpec('language', LANGUAGES[0], 'language of the sentences for people, on '
                         'topics and in answers; logs and errors stay in English',
                         choices=LANGUAGES)
SEED = ParameterSpec('seed', 0, 'seed of every random choice', minimum=0)
RECORD = ParameterSpec('record', '', 'JSON file to write the transition counts to at shutdown; '
                       "'' for none", read_only=True)
STOP_DIR = ParameterSpec('stop_dir', '~/.ros/mnm_ros', 'folder that keeps a stop over a restart '
                         'until somebody ends it, and a pause if there is no checkpoint_dir; '
                         "'' for none", read_only=True)


def spec_of(option: Option) -> ParameterSpec:
    """Return an option of the presets as a parameter."""
    importable = option.importable and option.parameter    # ``overrides`` imports nothing
    return ParameterSpec(
        option.name, option.default, option.description, option.minimum, option.maximum,
        choices=option.choices, or_default=True, importable=importable,
        read_only=importable)    # over the network it would import any module


EXPLORER: tuple[ParameterSpec, ...] = (
    ParameterSpec('actions', None, 'names of the actions in order. Not set: the names that the '
                  'robot side publishes', optional=True),
    ParameterSpec('robots', None, 'namespaces of several robots that explore together. '
                  'Not set: one robot, in the namespace of the explorer',
                  namespaces=True, optional=True, read_only=True),
    *PROBLEM,
    ParameterSpec('delta', 0.1, 'probability with which the promise may fail', minimum=1e-12,
                  maximum=1, open_ends=True),
    ParameterSpec('preset', DEFAULT, 'named set of parts and constants of the algorithm',
                  choices=tuple(PRESETS)),
    SEED,
    LANGUAGE,
    ParameterSpec('step_timeout', 5.0, 's, from an unanswered action to its repetition',
                  minimum=0.01, runtime=True),
    ParameterSpec('step_retries', 3, 'repetitions of an action before the robot counts as not '
                  'answering', minimum=0, runtime=True),
    ParameterSpec('reset_mode', 'action', 'RESET as an action -1, or by calling the service '
                  'return_home', choices=('action', 'service')),
    ParameterSpec('reset_retries', 10, 'repetitions of a RESET that failed or missed home, before '
                  'the phase is fault', minimum=0, runtime=True),
    ParameterSpec('autostart', True, 'the node configures and activates itself', read_only=True),
    ParameterSpec('advisory', False, 'command nothing: publish advice for the driver of the '
                  'robot, and learn from the steps of the driver'),
    ParameterSpec('on_shutdown', 'rest', 'end of the node while it drives a robot: rest (the '
                  'robot stops), reset (it goes home by a last RESET) or nothing',
                  choices=('rest', 'reset', 'nothing'), runtime=True),
    ParameterSpec('shutdown_timeout', 60.0, 's, longest wait for the last RESET',
                  minimum=0, runtime=True),
    ParameterSpec('republish_period', 60.0, 's, from one publication of all latched topics to the '
                  'next; 0 for never', minimum=0, runtime=True),
    ParameterSpec('policies_up_to', 1000, 'largest number of known states for which the topic '
                  'policies has all policies; if a policy has several rows, the message has the '
                  'same size limit',
                  minimum=0),
    ParameterSpec('max_steps', 0, 'steps after which exploration is done; 0 for no limit',
                  minimum=0, runtime=True),
    ParameterSpec('max_states', 10_000, 'largest number of different states met: with more, '
                  'exploration pauses. Raise this number and call the service explore to go on; 0 '
                  'for no limit',
                  minimum=0, runtime=True),
    ParameterSpec('max_duration', 0.0, 's since the first activation after which exploration is '
                  'done; 0 for no limit', minimum=0, runtime=True),
    ParameterSpec('first_look', 1800.0, 's from the closing of a way to the next try; one step '
                  'counts as at least 3 s. Each failed try doubles the time to the next try. 0: '
                  'closed ways are tried like other ways',
                  minimum=0, runtime=True),
    ParameterSpec('battery_low', 0.0, '% on the topic battery below which the robot goes home and '
                  'rests; 0 for off', minimum=0, maximum=100, runtime=True),
    ParameterSpec('battery_ok', 80.0, '% on the topic battery from which the robot explores again',
                  minimum=0, maximum=100, runtime=True),
    ParameterSpec('battery_scale', 'auto', 'range of the percentage on battery: 0 to 1 '
                  '(fraction), 0 to 100 (percent), or the one that fits most messages (auto)',
                  choices=SCALES, runtime=True),
    ParameterSpec('explore_between', '', 'hours in which to explore, in local time, such as '
                  "22:00-06:00; otherwise the robot rests at home; '' for always", hours=True,
                  runtime=True),
    ParameterSpec('explore', 'always', 'effect of goals on exploration: none (always), states of '
                  'goals come first (shared), or also no exploration shortly after a goal (idle)',
                  choices=('idle', 'shared', 'always'), runtime=True),
    ParameterSpec('idle_after', 60.0, 's at home without a goal before exploration, with explore: '
                  'idle', minimum=0, runtime=True),
    ParameterSpec('improve_within', 0.1, 'share of additional steps that an improved policy may '
                  'take, compared with the best policy', minimum=0.001, maximum=1, runtime=True),
    STOP_DIR,
    ParameterSpec('checkpoint_dir', '', 'folder of the checkpoints, from which a restart goes on; '
                  "'' for no checkpoints", read_only=True),
    ParameterSpec('transition_log', False, 'save every transition in checkpoint_dir, too, for a '
                  'replay'),
    ParameterSpec('warm_start', '', 'transition log of an earlier exploration of the same world, '
                  "as a start; '' for none", read_only=True),
    ParameterSpec('declaration', '', "YAML file with the declared successors of the actions, "
                  "instead of the declaration of robot sides; '' for none", read_only=True),
    ParameterSpec('ignore_declared', False, 'ignore the declaration of robot sides, and command '
                  'forbidden actions, too'),
    ParameterSpec('audit', AUDIT, 'share of steps that test declared pairs, if no other step '
                  'tests these pairs; 0 for none', minimum=0, maximum=0.5),
    RECORD,
    *(spec_of(option) for option in OPTIONS if option.parameter),
    ParameterSpec('overrides', '', f'other options of the preset {" or ".join(VARIED)}: '
                  "name=value, separated by spaces, such as c1=0.03; '' for none"),
)

CMP_SIM: tuple[ParameterSpec, ...] = (
    ParameterSpec('scenario', '', 'path, or name of a file in config/scenarios', read_only=True),
    ParameterSpec('seed', 0, 'seed of the dynamics, and another one of the faults', minimum=0,
                  read_only=True),
    *PROBLEM,
    ParameterSpec('declare_successors', False, 'declare the successors of each action in the '
                  'first setting', read_only=True),
    ParameterSpec('latency', 0.0, 's, delay of every answer', minimum=0, maximum=3600,
                  runtime=True),
    ParameterSpec('jitter', 0.0, 's, largest additional random delay of an answer', minimum=0,
                  maximum=3600, runtime=True),
    ParameterSpec('drop_action', 0.0, 'probability that an incoming action is lost', minimum=0,
                  maximum=1, runtime=True),
    ParameterSpec('drop_state', 0.0, 'probability that an answer is lost', minimum=0, maximum=1,
                  runtime=True),
    ParameterSpec('duplicate_state', 0.0, 'probability that an answer is sent twice', minimum=0,
                  maximum=1, runtime=True),
    ParameterSpec('stall_every', 0, 'steps from one stalled answer to the next; 0 for no stalled '
                  'answer', minimum=0, runtime=True),
    ParameterSpec('stall_for', 0.0, 's, delay of a stalled answer', minimum=0, maximum=3600,
                  runtime=True),
    RECORD,
)


ROBOT_SIDE = (
    ParameterSpec('commander_timeout', 10.0, 's without a command of the commanding node, after '
                  'which another node may command the robot; 0: any node may command the robot at '
                  'any time', minimum=0,
                  maximum=3600, runtime=True),
)
"""The parameters of every robot side, also of one that is no part of this package."""


def _fixed(*specs: ParameterSpec) -> tuple[ParameterSpec, ...]:
    """Return declarations of what cannot change while the node runs."""
    return tuple(replace(spec, read_only=True) for spec in specs)


def _as_explorer(*names: str) -> tuple[ParameterSpec, ...]:
    return tuple(spec for spec in EXPLORER if spec.name in names)


NAVIGATOR: tuple[ParameterSpec, ...] = (
    *_as_explorer('language', 'step_timeout', 'step_retries', 'reset_mode', 'reset_retries',
                  'ignore_declared'),
    ParameterSpec('pause_timeout', 30.0, 's, longest wait for the explorer to begin a goal',
                  minimum=0.1, runtime=True),
    ParameterSpec('max_steps', 1000, 'largest number of steps from home to a goal; with more '
                  'steps the goal has failed; 0 for no limit', minimum=0, runtime=True),
    ParameterSpec('direct', True, 'a goal may begin at the place of the robot, without a RESET',
                  runtime=True),
    ParameterSpec('goals_at_rest', True, 'accept goals while the robot rests',
                  runtime=True),
    ParameterSpec('least_trust', Trust.CERTIFIED.value, 'least trust in a policy that a goal may '
                  'use', choices=tuple(trust.value for trust in LEAST), runtime=True),
    ParameterSpec('dwell', 60.0, 's, stay of the robot at a goal before exploration goes on; 0 '
                  'for no stay', minimum=0.0, maximum=1e6, runtime=True),
    ParameterSpec('base_frame', 'base_link', 'frame of the robot in the feedback for clients of '
                  'nav2'),
    ParameterSpec('pose_tolerance', 0.5, 'm, largest distance between the pose of a nav2 goal and '
                  'a known place; 0: no action for nav2', minimum=0.0,
                  runtime=True),
)

_LONG = 1e6    # s, twelve days, in place of never


def _length(name: str, default: float, description: str) -> ParameterSpec:
    return ParameterSpec(name, default, description, minimum=0.001, maximum=1e6)


def _time(name: str, default: float, description: str) -> ParameterSpec:
    return ParameterSpec(name, default, description, minimum=0.01, maximum=_LONG)


def _rate(name: str, default: float, maximum: float, description: str) -> ParameterSpec:
    return ParameterSpec(name, default, description, minimum=0.001, maximum=maximum)


def _coordinate(name: str, default: float, description: str) -> ParameterSpec:
    return ParameterSpec(name, default, description, minimum=-FARTHEST, maximum=FARTHEST)


GRID_DRIVER: tuple[ParameterSpec, ...] = (
    ParameterSpec('moves', 'compass', 'actions east, north, west, south to the neighbouring cell; '
                  'or relative: forward, left, right, back', choices=tuple(MOVES)),
    ParameterSpec('drive', 'cmd_vel', 'way to move the robot: velocities on cmd_vel, poses on '
                  'goal_pose, or the action of nav2', choices=('cmd_vel', 'goal_pose', 'nav2')),
    ParameterSpec('stamped', False, 'cmd_vel is a TwistStamped instead of a Twist'),
    ParameterSpec('pose_source', 'odom', 'topic of the pose (odom, amcl_pose or pose), or tf2 for '
                  'the transform from map_frame to base_frame', choices=tuple(POSE_SOURCES)),
    ParameterSpec('map_frame', 'map', 'frame of the states with pose_source tf2'),
    ParameterSpec('base_frame', 'base_link', 'frame of the robot, for tf2 and for a stamped '
                  'cmd_vel'),
    ParameterSpec('plan', '', 'path of a plan by mnm_ros map; it replaces the map, the grid '
                  "and home; '' for none"),
    ParameterSpec('use_map', False, 'drive only on free cells, and on ways without a wall, of the '
                  'OccupancyGrid on map'),
    ParameterSpec('robot_radius', 0.0, 'm, free distance to walls on the map; cells, places and '
                  'the ways between them need this distance', minimum=0, maximum=100),
    ParameterSpec('use_scan', False, 'end a leg at an obstacle in the LaserScan on scan, and do '
                  'not drive without a scan; needs robot_radius'),
    ParameterSpec('scan_margin', 0.05, 'm, distance of the robot to obstacles in the scan',
                  minimum=0, maximum=100),
    _coordinate('scan_x', 0.0, 'm, position of the scanner on the robot, to the front; with '
                'pose_source tf2, the driver takes the position from tf'),
    _coordinate('scan_y', 0.0, 'm, position of the scanner on the robot, to the left'),
    ParameterSpec('scan_yaw', 0.0, 'rad, direction of the scanner on the robot', minimum=-math.pi,
                  maximum=math.pi),
    ParameterSpec('bump_type', BUMP_TYPES[0], 'type of the topic bump', choices=BUMP_TYPES),
    ParameterSpec('declare_successors', False, 'declare the successors of each move: the next '
                  'cell, if the way is free, and the same cell'),
    _length('cell_size', 0.5, 'm, side of a cell'),
    _coordinate('origin_x', -2.75, 'm, x of the lower left corner of the grid, in the frame of '
                'the poses'),
    _coordinate('origin_y', -2.75, 'm, y of the lower left corner of the grid'),
    ParameterSpec('grid_yaw', 0.0, 'rad, rotation of the grid about its lower left corner',
                  minimum=-math.pi, maximum=math.pi),
    ParameterSpec('columns', 11, 'cells along x', minimum=1, maximum=10_000),
    ParameterSpec('rows', 11, 'cells along y', minimum=1, maximum=10_000),
    ParameterSpec('with_heading', False, 'a state is a cell and one of four headings'),
    ParameterSpec('hysteresis', 0.1, 'fraction of a cell, or zone: a pose counts as in another '
                  'one if it has crossed the border by this fraction', minimum=0, maximum=0.4),
    ParameterSpec('decided_at', 0.1, 'depth within a cell, or zone, as a fraction of its width; '
                  'with cmd_vel. At this depth the robot has arrived: it answers, and drives on '
                  'to the centre. 0.5: the robot answers when it has stopped', minimum=0,
                  maximum=0.5),
    ParameterSpec('reset', 'drive', 'RESET drives to the home pose, or calls the service dock of '
                  'the platform', choices=('drive', 'service')),
    ParameterSpec('docking', 'none', 'way to charge: none, dock_robot of nav2, or dock of an '
                  'iRobot Create', choices=('none', 'nav2', 'irobot')),
    ParameterSpec('dock_id', '', 'id of the dock, for nav2; empty for the only one'),
    _coordinate('home_x', 0.0, 'm, x of the home pose'),
    _coordinate('home_y', 0.0, 'm, y of the home pose'),
    ParameterSpec('home_yaw', 0.0, 'rad, heading of the home pose', minimum=-math.pi,
                  maximum=math.pi),
    ParameterSpec('home_retries', 3, 'number of failed legs after which the way home has failed',
                  minimum=0, maximum=1000),
    _time('home_timeout', 300.0, 's, longest time of a way home with all retries, of a call of '
          'dock, and of a goal to dock'),
    _time('move_timeout', 20.0, 's, longest time of a move to a neighbouring cell; for an edge, '
          'the driver adds twice its time at max_speed'),
    _time('blocked_after', 2.0, 's without progress after which a move is blocked'),
    ParameterSpec('max_detour', 2.0, 'longest way of the planner, as a multiple of the straight '
                  'way. If a cell, or zone, is wider than the straight way is long: as a multiple '
                  'of this width', minimum=1,
                  maximum=1000),
    ParameterSpec('pose_timeout', 1.0, 's without a pose, or a scan, after which the robot stops; '
                  '0 for never', minimum=0, maximum=_LONG),
    STOP_DIR,
    ParameterSpec('reverse', True, 'the robot may drive backwards; otherwise it turns first. Not '
                  'set: false with the bump_type of an iRobot, else true', optional=True),
    _rate('max_speed', 0.3, 100, 'm/s, highest speed'),
    _rate('max_turn', 1.0, 100, 'rad/s, highest turning speed'),
    _rate('acceleration', 0.5, 1e6, 'm/s^2, highest acceleration'),
    _rate('turn_acceleration', 2.0, 1e6, 'rad/s^2, highest turning acceleration'),
    ParameterSpec('latency', 0.0, 's until the base follows a velocity, with cmd_vel; the driver '
                  'uses this time to predict the pose of the robot', minimum=0, maximum=1),
    _length('tolerance', 0.05, 'm, largest distance at which a target counts as reached'),
    ParameterSpec('heading_tolerance', 0.1, 'rad, largest deviation at which a heading counts as '
                  'reached',
                  minimum=0.001, maximum=math.pi),
)

_OF_GRIDS = ('moves', 'declare_successors', 'cell_size', 'origin_x', 'origin_y', 'grid_yaw',
             'columns', 'rows', 'with_heading', 'home_x', 'home_y', 'home_yaw')

ROUTE_DRIVER: tuple[ParameterSpec, ...] = (
    ParameterSpec('graph', '', 'path of a route graph: GeoJSON of nav2, building or navigation '
                  'graph of Open-RMF, tmap2 of LCAS'),
    ParameterSpec('home_place', '', "name or number of the place that RESET leads to; '' for a "
                  'charger; without a charger, the place with the fewest edges to the farthest '
                  'other place'),
    *(spec for spec in GRID_DRIVER if spec.name not in _OF_GRIDS),
)

ROUTE_WATCH = _fixed(*(spec for spec in ROUTE_DRIVER if spec.name in (
    'graph', 'home_place', 'pose_source', 'map_frame', 'base_frame', 'hysteresis',
    'pose_timeout')))

DIFF_DRIVE_SIM = _fixed(
    ParameterSpec('world', '', 'path, or name of a file in config/worlds'),
    ParameterSpec('plan', '', "path of a plan that replaces the world; '' for none"),
    ParameterSpec('graph', '', 'path of a route graph that replaces the world; the robot starts '
                  "at its home; '' for none"),
    ParameterSpec('map', '', 'path of the YAML file of the map of nav2 that belongs to graph; '
                  "'' for an open floor"),
    ParameterSpec('seed', 0, 'seed of slip and noise', minimum=0),
    ParameterSpec('real_time_factor', 1.0, 'simulated seconds per second; 0: as fast as the '
                  'commands arrive', minimum=0, maximum=1000),
    ParameterSpec('publish_clock', True, 'publish the simulated time on /clock'),
    ParameterSpec('stamped', False, 'cmd_vel is a TwistStamped'),
    ParameterSpec('broadcast', 'map', 'transforms on tf: map (from map_frame to odom_frame to '
                  'base_frame), odom (without the first) or none',
                  choices=('map', 'odom', 'none')),
    ParameterSpec('map_frame', 'map', 'frame of the world'),
    ParameterSpec('odom_frame', 'odom', 'frame of the wheel odometry'),
    ParameterSpec('base_frame', 'base_link', 'frame of the robot'),
    ParameterSpec('tick', 0.05, 's of simulated time between two poses', minimum=0.001, maximum=1),
    ParameterSpec('robot_radius', 0.15, 'm, less than half a cell', minimum=0.001, maximum=100),
    ParameterSpec('wheel_separation', 0.2, 'm', minimum=0.001, maximum=100),
    ParameterSpec('max_speed', 0.5, 'm/s', minimum=0.001, maximum=100),
    ParameterSpec('max_turn_rate', 2.0, 'rad/s', minimum=0.001, maximum=100),
    ParameterSpec('acceleration', 1.0, 'm/s^2', minimum=0.001, maximum=1e6),
    ParameterSpec('turn_acceleration', 6.0, 'rad/s^2', minimum=0.001, maximum=1e6),
    ParameterSpec('command_timeout', 0.5, 's of simulated time after a command until the robot '
                  'brakes', minimum=0.001, maximum=3600),
    ParameterSpec('battery_idle', 0.0, '% that is lost per s of simulated time', minimum=0,
                  maximum=100),
    ParameterSpec('battery_drive', 0.0, '% that is lost per m of the wheels', minimum=0,
                  maximum=100),
    ParameterSpec('battery_charge', 1.0, '% that is charged per s of simulated time while the '
                  'robot stands at home', minimum=0, maximum=100),
    ParameterSpec('physics', False, 'wheels, friction and contacts by MuJoCo, the extra physics'),
    ParameterSpec('latency', 0.0, 's of simulated time until the robot follows a command',
                  minimum=0,
                  maximum=60),
    ParameterSpec('slip', 0.0, 'probability that a wheel slips in a tick', minimum=0, maximum=1),
    ParameterSpec('odom_noise', 0.0, 'relative standard deviation of the measured turn of a '
                  'wheel', minimum=0, maximum=1),
    ParameterSpec('pose_noise', 0.0, 'm, standard deviation of amcl_pose, in x and in y',
                  minimum=0, maximum=100),
    ParameterSpec('heading_noise', 0.0, 'rad, standard deviation of the heading of amcl_pose',
                  minimum=0, maximum=1),
    ParameterSpec('pose_jumps', 0.0, 'probability that amcl_pose is 10 to 20 cm off', minimum=0,
                  maximum=1),
    ParameterSpec('scan_period', 0.2, 's of simulated time between two messages on scan',
                  minimum=0.001, maximum=3600),
    ParameterSpec('scan_range', 3.5, 'm, range of the scanner', minimum=0.001,
                  maximum=1e6),
    ParameterSpec('scan_noise', 0.0, 'm, standard deviation of the measured distances',
                  minimum=0, maximum=100),
)

GYM_SIDE = _fixed(
    ParameterSpec('environment', '', 'id of a Gymnasium environment, such as FrozenLake-v1; '
                  'module:id imports the module first'),
    ParameterSpec('options', '{}', 'JSON object of further arguments of gymnasium.make'),
    ParameterSpec('seed', 0, 'seed of the dynamics and of the start state', minimum=0),
    ParameterSpec('one_home', True, 'every RESET leads to the first state; false: to a random '
                  'state of the environment'),
    ParameterSpec('declare_successors', False, 'declare the successors of each action with their '
                  'probabilities, by the table P of the environment'),
    ParameterSpec('discretize', '', "module:function that makes states of observations; '' if "
                  'observations are states'),
)

PREFLIGHT: tuple[ParameterSpec, ...] = (
    *_as_explorer('actions', 'radius', 'epsilon', 'delta', 'step_timeout'),
    ParameterSpec('resets', 5, 'RESETs that have to lead to the same state', minimum=2),
    ParameterSpec('steps', PROBE_STEPS, 'steps that try the actions, besides the RESETs',
                  minimum=1),
    ParameterSpec('states', 0, 'states expected to be learnt; 0 to estimate them', minimum=0),
    SEED,
)

DASHBOARD = _fixed(
    ParameterSpec('host', '127.0.0.1', 'address of the page; 0.0.0.0 for all addresses of this '
                  'machine: read docs/howto/access_control.md first'),
    ParameterSpec('port', 8080, 'port of the page; 0 for any that is free',
                  minimum=0, maximum=65535),
    ParameterSpec('log', '', 'path of a transition log, or a checkpoint, that the page shows '
                  "instead of a running exploration; '' for none"),
    ParameterSpec('read_only', False, 'show everything, command nothing'),
    replace(LANGUAGE, description='language of the page, unless its address names a language, '
            'such as ?language=de'),
)

NODES: Mapping[str, tuple[ParameterSpec, ...]] = {
    'explorer': EXPLORER,
    'cmp_sim': (*CMP_SIM, *ROBOT_SIDE),
    'navigator': NAVIGATOR,
    'grid_driver': (*GRID_DRIVER, *ROBOT_SIDE),
    'route_driver': (*ROUTE_DRIVER, *ROBOT_SIDE),
    'route_watch': ROUTE_WATCH,
    'diff_drive_sim': DIFF_DRIVE_SIM,
    'gym_side': (*GYM_SIDE, *ROBOT_SIDE),
    'preflight': PREFLIGHT,
    'dashboard': DASHBOARD,
}
"""The parameters of each node by its name."""

REQUIRED: Mapping[str, object] = {
    'actions': ['east', 'west', 'south', 'north'], 'environment': 'FrozenLake-v1',
    'robots': ['r1', 'r2'], 'scenario': 'two_rooms', 'world': 'two_room_flat'}
"""Parameters without a default that a node could start with; an example of each."""


def is_required(spec: ParameterSpec) -> bool:
    """Return whether a node cannot start without a parameter."""
    return spec.name in REQUIRED and not spec.optional
