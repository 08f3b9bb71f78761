# SPDX-License-Identifier: Apache-2.0

"""
Message layouts, both ways, and the quality-of-service profiles.

Most messages are ``std_msgs/Int64MultiArray``; ``layout.data_offset`` skips a head.

- step messages: ``[seq, action]`` and ``[seq, state]``, no head, no dimensions. For a guarded
  robot side, an action may be followed by the state that it is meant for, and the label of the
  one dimension is the name of the sender.
- work: ``[state, action, next state, seq]``, the last that of the ``state`` message that was seen,
  or without it; the first two where a step was broken off; no head, no dimensions.
- requested goals: ``[goal id, state]``, no head, no dimensions; those that the navigator hands to
  the explorer as ``encode_drive`` has them.
- known states: head ``[round, revision]``, ``dim = [state: n]``.
- policies: head ``[round, revision, horizon, id_0 .. id_(n-1)]``,
  ``dim = [target: n, step: h, state: n]``, row-major; ``h`` is 1 or ``horizon``.
- one policy: head ``[round, revision, horizon, target, id_0 .. id_(n-1)]``,
  ``dim = [step: h, state: n]``; ``h`` is 0 if there is no policy for the target.
- model: head ``[steps]``, ``dim = [transition: n, entry: 4]``; the entries are state, action (-1
  is RESET), next state and how often that was seen, in this order.
- goals: ``diagnostic_msgs/DiagnosticArray``, one status for each goal, the last to change at the
  end. ``name`` is the id of the goal, ``message`` a sentence about it, and ``values`` are the
  other fields of a ``GoalReport``, without those that are None.

Decoding is strict: a message with any other layout raises MessageError, which says what was found
and what was expected; ``hear`` drops it with a warning.
"""

from mnm_ros.messages.goals import (
    decode_drive,
    decode_goals,
    decode_report,
    decode_request,
    decode_robots,
    decode_trust,
    decode_way,
    DriveGoal,
    encode_drive,
    encode_goals,
    encode_request,
)
from mnm_ros.messages.hearing import dropping, hear, NAMELESS, plain, unpack, yaw_of
from mnm_ros.messages.policies import (
    are_few,
    decode_known_states,
    decode_model,
    decode_policy,
    encode_known_states,
    encode_model,
    encode_policy,
    Model,
    PolicyAnswer,
    PolicySet,
)
from mnm_ros.messages.profiles import (
    EVENTS,
    HEARTBEAT,
    HEARTBEATS,
    LATCHED,
    LATCHED_BY_MANY,
    LEASE,
    REQUESTS,
    STATIC_TRANSFORMS,
    STEP,
    TRANSFORMS,
)
from mnm_ros.messages.steps import (
    decode_command,
    decode_count,
    decode_reason,
    decode_states,
    decode_step,
    decode_step_report,
    decode_work,
    encode_reason,
    encode_step,
    encode_step_report,
    encode_work,
    StepEncoder,
    StepReport,
)

__all__ = [
    'DriveGoal', 'EVENTS', 'HEARTBEAT', 'HEARTBEATS', 'LATCHED', 'LATCHED_BY_MANY', 'LEASE',
    'Model', 'NAMELESS', 'PolicyAnswer', 'PolicySet', 'REQUESTS', 'STATIC_TRANSFORMS', 'STEP',
    'StepEncoder', 'StepReport', 'TRANSFORMS', 'are_few', 'decode_command', 'decode_count',
    'decode_drive', 'decode_goals', 'decode_known_states', 'decode_model', 'decode_policy',
    'decode_reason', 'decode_report', 'decode_request', 'decode_robots', 'decode_states',
    'decode_step', 'decode_step_report', 'decode_trust', 'decode_way', 'decode_work', 'dropping',
    'encode_drive', 'encode_goals', 'encode_known_states', 'encode_model', 'encode_policy',
    'encode_reason', 'encode_request', 'encode_step', 'encode_step_report', 'encode_work', 'hear',
    'plain', 'unpack', 'yaw_of']
