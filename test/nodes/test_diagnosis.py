# SPDX-License-Identifier: Apache-2.0

"""The level of the diagnostics means something, and the message says what."""

from __future__ import annotations

from types import SimpleNamespace

from diagnostic_msgs.msg import DiagnosticStatus
from mnm_ros.core.queries import Phase
from mnm_ros.nodes.exploring.output.publishers import diagnosis
import pytest

OK, WARN = DiagnosticStatus.OK, DiagnosticStatus.WARN
ERROR, STALE = DiagnosticStatus.ERROR, DiagnosticStatus.STALE


@pytest.mark.parametrize('phase, given, level, said', [
    (Phase.BUILDING_DISCOVERY, {}, OK, 'so it is'), (Phase.DONE, {}, OK, 'so it is'),
    (Phase.PAUSED, {}, WARN, 'so it is'),
    (Phase.WAITING_FOR_ROBOT, {}, STALE, 'so it is'),
    (Phase.WAITING_FOR_ROBOT, {'standing_by': True}, WARN, 'so it is'),
    (Phase.FAULT, {}, ERROR, 'so it is; the service recover leads out of the fault'),
    (Phase.FAULT, {'recoverable': False}, ERROR, 'so it is; load the saved state, or clean'),
    (Phase.CHECKING_EVALUATION, {'disk': 'it is full'}, WARN,
     'so it is; not everything can be saved: it is full'),
    (Phase.CHECKING_EVALUATION, {'refused': 'checkpoint refused: torn'}, WARN,
     'so it is; checkpoint refused: torn; the service save ends this warning'),
    (Phase.CHECKING_EVALUATION, {'timeouts': 3}, WARN, 'commands were sent again 3 times'),
    (Phase.CHECKING_EVALUATION, {'misses': 2}, WARN, 'RESET has missed home 2 times in a row'),
    (Phase.CHECKING_EVALUATION, {'quarantined': ('r2',)}, WARN,
     'not counted, because they contradict the others: r2'),
    (Phase.WAITING_FOR_ROBOT, {'timeouts': 3}, STALE, 'sent again 3 times')])
def test_levels(phase: Phase, given: dict, level: bytes, said: str) -> None:
    exploration = SimpleNamespace(
        phase=phase, recoverable=given.get('recoverable', True),
        quarantined=given.get('quarantined', ()),
        homing=SimpleNamespace(misses_in_a_row=given.get('misses', 0)))
    found, message = diagnosis(
        exploration, 'so it is', given.get('standing_by', False), given.get('disk', ''),
        given.get('timeouts', 0), given.get('refused', ''))
    assert found == level
    assert said in message and message.startswith('so it is')
