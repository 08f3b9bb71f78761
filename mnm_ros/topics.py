# SPDX-License-Identifier: Apache-2.0

"""
The topics, services and figures of diagnostics of the nodes, each declared once.

``security.py`` derives the rights of the nodes from these tables, ``reference.py`` the tables of
``docs/reference.md``. A name is relative unless it begins with /. Imports no ROS.
"""

from __future__ import annotations

from collections.abc import Sequence
import os
import re
from typing import NamedTuple

from mnm_ros.core.errors import InvalidValueError

_EXPLORERS = 'explorer advisor'    # an advisor is an explorer with the parameter advisory
DRIVERS = 'grid_driver route_driver'
ROBOT_SIDES = f'cmp_sim {DRIVERS} gym_side'
_ALL = (f'{_EXPLORERS} {ROBOT_SIDES} diff_drive_sim route_watch navigator preflight '
        'dashboard')


def ros_domain() -> str:
    """Return the number of the ROS domain in which the nodes of this process are."""
    return os.environ.get('ROS_DOMAIN_ID') or '0'


def namespace(text: str) -> str:
    """
    Return a namespace as it was typed, with one slash before it and none after it.

    :raises ValueError: if ROS does not allow it.
    """
    stripped = text.strip('/')
    if stripped and not re.fullmatch(r'[A-Za-z_]\w*(/[A-Za-z_]\w*)*', stripped, re.ASCII):
        raise InvalidValueError(f'namespace is {text!r}, expected names of letters, digits and _')
    return f'/{stripped}'


ROBOT_NAME = re.compile(r'(?=.{1,60}$)[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*'
                        r'(/[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*)*')
"""The namespace of one of several robots, below that of the explorer: names of topics are at most
255 characters long."""

MOST_ROBOTS = 100
"""Of an explorer: a viewer has several topics of each."""

ROBOT_NAMES = ('distinct namespaces below that of the node, such as r1 or deck/r2, at most '
               f'{MOST_ROBOTS} of at most 60 letters, digits and single _ between these')
"""The values that ``are_robots`` expects."""


def are_robots(names: Sequence[str]) -> bool:
    """Whether these may be the names of the robots of one explorer."""
    return len({*names}) == len(names) <= MOST_ROBOTS and all(map(ROBOT_NAME.fullmatch, names))


def robots(text: str) -> tuple[str, ...]:
    """
    Return the namespaces of a fleet as they were typed: how many, or which, relative ones.

    :raises ValueError: if there are none, or they cannot be those of an explorer.
    """
    names = text.replace(',', ' ').split()
    if len(names) == 1 and re.fullmatch('[1-9][0-9]{0,3}', names[0]):
        names = [f'r{number + 1}' for number in range(int(names[0]))]
    if not names or not are_robots(names):
        are_names = not re.fullmatch(r'[-+]?[0-9.]+', text.strip())
        raise InvalidValueError(f'robots is {text!r}, expected 1 to {MOST_ROBOTS}'
                                + f' for r1, r2 and so on, or {ROBOT_NAMES}' * are_names)
    return tuple(names)


class Topic(NamedTuple):
    """
    A topic.

    :ivar type: ``package/Message``.
    :ivar qos: the name of a profile in ``messages``.
    :ivar publishers: nodes of this package, separated by spaces; others may publish, too.
    :ivar subscribers: nodes of this package, separated by spaces.
    :ivar content: what is published, as Markdown.
    """

    name: str
    type: str    # noqa: A003
    qos: str
    publishers: str
    subscribers: str
    content: str


class Service(NamedTuple):
    """
    A service.

    :ivar type: ``package/Service``.
    :ivar servers: nodes of this package that offer it, separated by spaces.
    :ivar clients: nodes of this package that call it, separated by spaces.
    :ivar effect: what a call does, as Markdown.
    """

    name: str
    type: str    # noqa: A003
    servers: str
    clients: str
    effect: str


TOPICS = {
    'Steps': (
        Topic('action', 'std_msgs/Int64MultiArray', 'STEP', 'explorer navigator preflight',
              f'advisor {ROBOT_SIDES}', 'the action to execute, `[seq, action]`; RESET is -1. The '
              'explorer that may command publishes it. Without an explorer, a navigator publishes '
              'it'),
        Topic('state', 'std_msgs/Int64MultiArray', 'STEP', f'{ROBOT_SIDES} route_watch',
              f'{_EXPLORERS} navigator preflight',
              'the state in which the action ended, `[seq, state]`; `[-1, state]` if the robot '
              'was moved'),
        Topic('step_report', 'std_msgs/String', 'STEP', ROBOT_SIDES, 'explorer navigator',
              'why a command was [refused](reference/robot_side.md#guarded-commands), or which '
              'transitions it has caused, as JSON'),
        Topic('robot_side', 'std_msgs/String', 'LATCHED', f'{ROBOT_SIDES} route_watch',
              f'{_EXPLORERS} navigator preflight dashboard',
              '[the description of the robot side](reference/robot_side.md#what-it-is), as JSON'),
        Topic('stopped', 'std_msgs/Bool', 'LATCHED', ROBOT_SIDES,
              f'{_EXPLORERS} navigator dashboard',
              'whether the service `stop` keeps the robot at rest; without this topic the robot '
              'is free'),
        Topic('action/driver', 'std_msgs/Int64', 'LATCHED', 'explorer', 'explorer',
              'when each explorer started, in ns; only the first one commands the robot'),
        Topic('advice', 'std_msgs/Int64MultiArray', 'LATCHED', 'advisor', '',
              'with `advisory`, in place of `action`: `[seq, action]`, with the `seq` of the last '
              '`state` message'),
        Topic('requests', 'std_msgs/String', 'STEP', f'{ROBOT_SIDES} diff_drive_sim navigator '
              'dashboard', _EXPLORERS, '[who has requested '
              'something](reference/events.md#what-has-happened), as JSON, in addition to the '
              'call of a service'),
        Topic('work', 'std_msgs/Int64MultiArray', 'STEP', 'route_watch', _EXPLORERS,
              '[executions that other nodes have commanded](howto/share_the_robot.md#work), one '
              'step in a message: `[state, action, next, seq]`. The `seq` of the `state` message '
              'may be missing. `[state, action]` means that the step was broken off'),
        Topic('improve', 'std_msgs/Int64MultiArray', 'STEP', '', _EXPLORERS,
              'states whose policies the explorer improves until they are [nearly the '
              'best](howto/improve.md); an empty message ends the improvement'),
        Topic('heartbeat', 'std_msgs/Header', 'HEARTBEAT', _EXPLORERS, f'{ROBOT_SIDES} dashboard',
              "twice a second as long as the explorer's callbacks are served, in every lifecycle "
              "state; `frame_id` is the node's full name. Robot sides use only the heartbeats of "
              'nodes that publish `action`'),
        Topic('bond', 'bond/Status', 'STEP', _EXPLORERS, _EXPLORERS,
              "for [nav2's lifecycle "
              'manager](howto/beside_nav2.md#under-nav2s-lifecycle-manager), while active, '
              'with `autostart: false` and `bondpy` installed'),
    ),
    'What was learnt': (
        Topic('known_states', 'std_msgs/Int64MultiArray', 'LATCHED', _EXPLORERS,
              'navigator dashboard',
              'ids of the known states, home first, after the head `[round, revision]`; with '
              '`policies`, at most once a second'),
        Topic('policies', 'std_msgs/Int64MultiArray', 'LATCHED', _EXPLORERS,
              'cmp_sim navigator dashboard',
              '`[target][step][state]` after the head `[round, revision, horizon, ids...]`; '
              'empty for more than `policies_up_to` states; '
              '[decoded](reference/policies.md#reading-the-policies)'),
        Topic('provisional_policies', 'std_msgs/Int64MultiArray', 'LATCHED', _EXPLORERS,
              'navigator', 'like `policies`, with all policies so far, also before the first '
              'hypothesis; at most once a second, while there is a subscriber'),
        Topic('trust', 'std_msgs/String', 'LATCHED', _EXPLORERS, 'navigator dashboard',
              'the trust in each of the `provisional_policies`, published with them, as '
              '[JSON](reference/policies.md#trust)'),
        Topic('policy/request', 'std_msgs/Int64', 'STEP', 'navigator dashboard', _EXPLORERS,
              'request for the policy to this known state'),
        Topic('policy', 'std_msgs/Int64MultiArray', 'STEP', _EXPLORERS, 'navigator dashboard',
              '[the answer](reference/policies.md#asking-for-one-policy): `[step][state]` after '
              'the head `[round, revision, horizon, target, ids...]`; no steps if the state is '
              'not known'),
        Topic('way/request', 'std_msgs/Int64', 'STEP', '', _EXPLORERS,
              'request for a way to this state that does not begin at home'),
        Topic('way', 'std_msgs/String', 'STEP', _EXPLORERS, '',
              'the answer, as [JSON](reference/goals.md#from-where-the-robot-is)'),
        Topic('phase', 'std_msgs/String', 'LATCHED', _EXPLORERS, f'dashboard {ROBOT_SIDES}',
              '`waiting_for_robot`, `building/discovery`, `building/evaluation`, '
              '`checking/rediscovery`, `checking/evaluation`, `paused`, `fault` or `done`'),
        Topic('status', 'std_msgs/String', 'LATCHED', _EXPLORERS, 'dashboard',
              'one sentence: what the explorer is doing, or why it has stopped'),
        Topic('events', 'std_msgs/String', 'EVENTS', _EXPLORERS, 'dashboard',
              '[events](reference/events.md#what-has-happened), as JSON; the last 50 for a late '
              'subscriber'),
        Topic('rest', 'std_msgs/String', 'LATCHED', _EXPLORERS, '',
              'why the robot [rests](howto/battery_and_dock.md), or goes home to rest; empty if '
              'it does not rest, or if the service `explore` has paused it'),
        Topic('rest/reason', 'std_msgs/String', 'LATCHED', _EXPLORERS, f'navigator {ROBOT_SIDES}',
              'the same as JSON: `name` is `BatteryLow`, `BatteryCharging`, `OutsideHours`, '
              '`OutsideHoursToo` or `WorkComesFirst`, with the figures of this reason'),
        Topic('model', 'std_msgs/Int64MultiArray', 'LATCHED', _EXPLORERS, 'dashboard navigator',
              'the counted transitions, `[transition][state, action, next, count]` after the '
              'head `[steps]`; sorted, RESET is -1; at most once a second, while there is a '
              'subscriber'),
        Topic('activity', 'std_msgs/String', 'LATCHED', _EXPLORERS, 'dashboard',
              'the present activity, as [JSON](howto/watch.md#in-a-terminal-and-for-programs), at '
              'most five times a second and, if nothing changes, once a second, while there is a '
              'subscriber'),
        Topic('exploration_markers', 'visualization_msgs/MarkerArray', 'LATCHED', _EXPLORERS, '',
              'the [map of states](howto/watch.md#rviz-and-foxglove) for RViz and Foxglove: the '
              'changes, and the whole map for a new subscriber'),
        Topic('/diagnostics', 'diagnostic_msgs/DiagnosticArray', 'STEP', _EXPLORERS, 'dashboard',
              'the figures [below](#diagnostics), once a second'),
    ),
    'Goals': (
        Topic('goal', 'std_msgs/Int64', 'STEP', '', 'navigator',
              'the known state to go to; a new goal replaces the one under way'),
        Topic('goal_result', 'std_msgs/String', 'LATCHED', 'navigator', '',
              'the result of the last goal: `reached 7 in 5 steps`, or `refused`, `cancelled` or '
              '`failed 7: why`'),
        Topic('goal/request', 'std_msgs/Int64MultiArray', 'STEP', 'dashboard', 'navigator',
              '`[goal id, state]`, or with the least trust as a third number: [goals with an '
              'id](reference/goals.md#goals-with-an-id)'),
        Topic('goal/cancel', 'std_msgs/Int64', 'STEP', 'dashboard', 'navigator',
              'the id of the goal that the navigator cancels after the current step'),
        Topic('goal/drive', 'std_msgs/Int64MultiArray', 'STEP', 'navigator', 'explorer',
              'a goal for the explorer, because only the explorer commands a robot that it '
              'explores: `[goal id, state, ms to stay there, 1 if it may begin where the robot '
              'is, most steps]`'),
        Topic('goal/drive/cancel', 'std_msgs/Int64', 'STEP', 'navigator', 'explorer',
              'the id of the goal that the explorer cancels after the current step. If the robot '
              'stays at this goal, the stay ends'),
        Topic('goal/drive/status', 'diagnostic_msgs/DiagnosticArray', 'LATCHED', 'explorer',
              'navigator', 'the progress of this goal'),
        Topic('goal/status', 'diagnostic_msgs/DiagnosticArray', 'LATCHED', 'navigator',
              f'dashboard {_EXPLORERS}',
              'all goals that have not ended, and the last 20 goals that have ended, at most ten '
              'times a second'),
    ),
    'The mobile robot': (
        Topic('odom', 'nav_msgs/Odometry', 'STEP', 'diff_drive_sim', f'{DRIVERS} route_watch',
              'pose by the wheels'),
        Topic('amcl_pose', 'geometry_msgs/PoseWithCovarianceStamped', 'STEP', 'diff_drive_sim',
              f'{DRIVERS} route_watch dashboard', 'pose by localisation'),
        Topic('pose', 'geometry_msgs/PoseWithCovarianceStamped', 'STEP', '',
              f'{DRIVERS} route_watch dashboard',
              'pose by slam_toolbox'),
        Topic('tf', 'tf2_msgs/TFMessage', 'TRANSFORMS', 'diff_drive_sim',
              f'{DRIVERS} route_watch navigator',
              'transforms, if `tf2_msgs` is installed; without a namespace it is `/tf`, as usual'),
        Topic('tf_static', 'tf2_msgs/TFMessage', 'STATIC_TRANSFORMS', '',
              f'{DRIVERS} route_watch navigator',
              'transforms that never change'),
        Topic('cmd_vel', 'geometry_msgs/Twist', 'STEP', DRIVERS, 'diff_drive_sim',
              'velocities; a `geometry_msgs/TwistStamped` with `stamped`'),
        Topic('goal_pose', 'geometry_msgs/PoseStamped', 'STEP', DRIVERS, '',
              'goals for a planner, with `drive: goal_pose`'),
        Topic('battery', 'sensor_msgs/BatteryState', 'STEP', 'diff_drive_sim', _EXPLORERS,
              'the charge; the explorer reads it if `battery_low` is set'),
        Topic('bump', 'std_msgs/Bool', 'LATCHED', 'diff_drive_sim', DRIVERS,
              'whether the robot is in contact; the publisher may be volatile; `bump_type` sets '
              'another type'),
        Topic('scan', 'sensor_msgs/LaserScan', 'STEP', 'diff_drive_sim', DRIVERS,
              'the obstacles around the robot; the drivers read it with `use_scan`'),
        Topic('map', 'nav_msgs/OccupancyGrid', 'LATCHED', 'diff_drive_sim',
              f'{DRIVERS} dashboard',
              'the walls; the drivers read it with `use_map`'),
        Topic('outcome', 'std_msgs/String', 'LATCHED', DRIVERS, '',
              'how the last action has ended, and in which state'),
    ),
    'Simulation': (
        Topic('true_setting', 'std_msgs/Int64', 'LATCHED', 'cmp_sim diff_drive_sim', 'dashboard',
              'the number of the current setting'),
        Topic('exploration_steps', 'std_msgs/Int64', 'LATCHED', 'cmp_sim', 'dashboard',
              'steps so far during which the published policies were not good enough'),
        Topic('true_pose', 'geometry_msgs/PoseStamped', 'STEP', 'diff_drive_sim', '',
              'the true pose in `map`'),
        Topic('doors', 'std_msgs/String', 'LATCHED', 'diff_drive_sim', '',
              'which doors are open, `D open`, for example'),
        Topic('world_markers', 'visualization_msgs/MarkerArray', 'LATCHED', 'diff_drive_sim',
              'dashboard',
              'walls, doors and the robot, for RViz'),
        Topic('/clock', 'rosgraph_msgs/Clock', 'STEP', 'diff_drive_sim', _ALL,
              'simulated time, which begins at 0'),
    ),
}

SERVICES = (
    Service('explore', 'std_srvs/SetBool', _EXPLORERS, f'dashboard {ROBOT_SIDES}',
            'false pauses after the current step, true goes on; nothing is lost'),
    Service('recover', 'std_srvs/Trigger', _EXPLORERS, 'dashboard',
            'leads out of the phase `fault` when the robot works again'),
    Service('save', 'std_srvs/Trigger', _EXPLORERS, 'dashboard',
            'returns once everything learnt is on the disk'),
    Service('load', 'std_srvs/Trigger', _EXPLORERS, 'dashboard',
            'while paused or in `fault`: goes back to the state on the disk; `status` says when a '
            'long replay has ended'),
    Service('forget', 'rcl_interfaces/SetParametersAtomically', _EXPLORERS, '',
            'while paused: [removes](howto/restart.md#remove-the-steps-of-one-source) the '
            'data of one `source`, optionally `since` a step or a time, both strings'),
    Service('look', 'std_srvs/Trigger', _EXPLORERS, 'dashboard',
            'tries all closed ways now, without waiting for the time of the next try'),
    Service('return_home', 'std_srvs/Trigger', ROBOT_SIDES, 'explorer navigator dashboard',
            'RESET, for `reset_mode: service` and for people'),
    Service('stop', 'std_srvs/SetBool', ROBOT_SIDES, 'dashboard',
            'true brings the robot to rest until false frees it; the step under way does not '
            'count'),
    Service('change', 'std_srvs/Trigger', 'cmp_sim diff_drive_sim', 'dashboard',
            'switches to the next setting, and names the ways that this closes and opens'),
    Service('cancel', 'std_srvs/Trigger', 'navigator', 'dashboard',
            'cancels all goals after the current step'),
    Service('dock', 'std_srvs/Trigger', '', DRIVERS,
            'of the platform, with `reset: service`: answers once the robot is at home'),
)

ACTIONS = ('navigate_to_pose', 'navigate_through_poses', 'follow_waypoints',
           'compute_path_to_pose', 'compute_path_through_poses')
"""Those of nav2 that the navigator serves, where ``nav2_msgs`` is installed."""

WATCHED_ACTIONS = ('compute_and_track_route', 'navigate_to_pose')
"""Those of nav2 of which ``route_watch`` hears the feedback and the status."""

CALLED_ACTIONS = ('navigate_to_pose', 'dock_robot', 'undock_robot', 'dock', 'undock')
"""Those of nav2 and of the platform that the drivers call, with ``drive`` and ``docking``."""

DIAGNOSTICS = {
    'closed': 'ways that are closed, since when, and when they are tried again',
    'round': '1 for the first hypothesis, and one more after each restart',
    'phase': 'as on the topic `phase`',
    'quantum': 'while building: quanta played so far in this phase',
    'streams': 'while building: streams started so far',
    'known': 'known states, home included',
    'candidates': 'states met by the active run, not known yet',
    'states': 'different states met so far; see `max_states`',
    'steps': 'steps so far, RESETs included',
    'reset_misses': 'RESETs that ended elsewhere than at home',
    'check_steps': 'while checking: most steps of a rediscovery, `W_r`',
    'check_window': 'while checking with `hoeffding`: check-runs in the window, `n_r`',
    'failures': 'while checking: the strongest evidence against a policy, or with `hoeffding` '
                'the check-runs that went wrong',
    'failure_threshold': 'while checking: the evidence that is enough',
    'last_change': 'the last decision of the algorithm, and the step at which it was made',
    'changes_noticed': 'changes noticed so far',
    'changes_relearnt': 'changes so far that are relearnt: nothing more has to be revised',
    'quarantined': 'robots and nodes that [contradict the '
                   'others](howto/several_robots.md#sources-that-contradict), and do not count',
    'steps_per_second': 'since the last message',
    'robot_timeouts': 'commands sent again because no answer came in time',
    'requests_dropped': 'refused calls and messages on `requests`: more than 5 a second came by '
                        'the same service or topic',
    'unanswered': 's since the command that a robot has not answered, if this is longer than 2 s '
                  'and than twice the usual time; otherwise 0',
    'checkpoint': '`ok`, `off`, why not everything can be saved in `checkpoint_dir`, or the '
                  'refused files in it',
}
"""The meaning of each value of the status ``exploration`` on ``/diagnostics``."""
