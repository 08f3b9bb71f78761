# SPDX-License-Identifier: Apache-2.0

"""
A transition log as a bag: an MCAP file that ``ros2 bag``, Foxglove and other tools of ROS 2 open.

It has the topics of the steps in their usual layouts, in the namespace of the robot that has made
a step if there are several:

- ``action``, ``[seq, action]``: every action that was begun, those that were broken off, too;
- ``state``, ``[seq, state]``: where it ended; ``[-1, state]`` if the robot was moved there;
- ``status``: ``place lost`` where the robot could be anywhere.

What the exploration was asked for is the metadata record ``exploration``, each value as JSON.

A log has no times. The stamp of an input is as many seconds after 1970 as there are inputs up to
it, so that the time in a plot is the ``number`` of the table ``log-csv``; ``seq`` is this number,
too. An action has the stamp half a second before.
"""

from __future__ import annotations

import io
import json

from mnm_ros.core.exploration import Input, RESET_OPEN
from mnm_ros.core.model.problem import RESET
from mnm_ros.export.learnt import Learnt
from mnm_ros.export.writers import Unwritable

_SECOND = 10**9    # ns
_NEXT = '=' * 80    # between two definitions
_NUMBERS = f"""\
std_msgs/MultiArrayLayout layout
int64[] data
{_NEXT}
MSG: std_msgs/MultiArrayLayout
std_msgs/MultiArrayDimension[] dim
uint32 data_offset
{_NEXT}
MSG: std_msgs/MultiArrayDimension
string label
uint32 size
uint32 stride
"""


def log_mcap(learnt: Learnt) -> bytes:
    """Return everything that the exploration has learnt from, in its order."""
    try:
        from mcap_ros2.writer import Writer
    except ImportError:
        raise Unwritable("mcap_ros2 cannot be imported: pip install 'mnm_ros[bags]', or pip "
                         'install mcap-ros2-support') from None
    saved = learnt.saved
    assert saved is not None
    written = io.BytesIO()
    writer = Writer(written)
    writer.add_metadata('exploration', {
        name: json.dumps(value) for name, value in saved.identity.items()})
    numbers = writer.register_msgdef('std_msgs/msg/Int64MultiArray', _NUMBERS)
    text = writer.register_msgdef('std_msgs/msg/String', 'string data\n')
    for number, (kind, state, action) in enumerate(saved.inputs, saved.first + 1):
        robot, now = saved.robots.get(number, '').strip('/'), number * _SECOND
        before = f'/{robot}/' if robot else '/'
        if kind is Input.OBSERVED or action != RESET:
            begun = RESET if action == RESET_OPEN else action
            writer.write_message(
                f'{before}action', numbers, {'data': (number, begun)}, now - _SECOND // 2)
        if kind is Input.INTERRUPTED:
            writer.write_message(f'{before}status', text, {'data': 'place lost'}, now)
        else:
            seq = number if kind is Input.OBSERVED else -1
            writer.write_message(f'{before}state', numbers, {'data': (seq, state)}, now)
    writer.finish()
    return written.getvalue()
