# SPDX-License-Identifier: Apache-2.0

"""A robot's name is good for all programs, or for none."""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from mnm_ros.core.errors import MessageError
from mnm_ros.messages import decode_robots
from mnm_ros.parameters.tables import NODES
from mnm_ros.topics import robots
import pytest
from rclpy.parameter import Parameter

GOOD = ('r1', 'deck/r2', 'a_b', 'RESET', 'r' * 60)
BAD = ('r_', 'a__b', '_a', '1a', 'a/', '/a', 'a//b', 'a/1', 'é', 'r' * 61)


def accepted(name: str) -> list[bool]:
    """Return whether what is typed, a parameter and the diagnostics may name a robot so."""
    spec, = (spec for spec in NODES['explorer'] if spec.name == 'robots')
    found = [spec.accepts(Parameter('robots', value=[name]))]
    for take in (lambda: robots(name), lambda: decode_robots(DiagnosticArray(status=[
            DiagnosticStatus(name=f'/explorer: robot {name}')]), '/')):
        try:
            take()
        except (MessageError, ValueError):
            found.append(False)
        else:
            found.append(True)
    return found


@pytest.mark.parametrize('name', [*GOOD, *BAD])
def test_there_is_one_grammar(name: str) -> None:
    assert accepted(name) == [name in GOOD] * 3
