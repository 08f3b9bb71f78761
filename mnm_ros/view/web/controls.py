# SPDX-License-Identifier: Apache-2.0

"""What can be done from the page, and why something cannot be done at present."""

from __future__ import annotations

from typing import NamedTuple

from mnm_ros.view.heard import Heard, NOT_KEPT


class Control(NamedTuple):
    """
    A button.

    :ivar label: what is written on it.
    :ivar service: that it calls.
    :ivar data: of a ``std_srvs/SetBool``; None for a ``std_srvs/Trigger``.
    :ivar offerer: who offers the service, for people.
    :ivar effect: what it does.
    """

    label: str
    service: str
    data: bool | None
    offerer: str
    effect: str


CONTROLS = {
    'pause': Control('Pause', 'explore', False, 'an explorer',
                     'pauses after the current step; nothing is lost'),
    'resume': Control('Go on', 'explore', True, 'an explorer', 'goes on exploring'),
    'recover': Control('Recover', 'recover', None, 'an explorer',
                       'leads out of a fault once the robot is well again'),
    'save': Control('Save', 'save', None, 'an explorer', 'has everything learnt on the disk'),
    'load': Control('Load', 'load', None, 'an explorer', 'goes back to what is on the disk'),
    'change': Control('Change', 'change', None, 'a simulator',
                      'puts the next setting of the simulated world in force'),
    'cancel': Control('Cancel', 'cancel', None, 'a navigator',
                      'gives up the goal after the current step'),
}


def refusal(name: str, heard: Heard, now: float) -> str:
    """Return why a control is of no use at present; empty if it is."""
    control = CONTROLS[name]
    if control.service not in heard.offered:
        return f'needs {control.offerer}: nobody offers {control.service}'
    if control.offerer == 'an explorer' and heard.silent(now) is not None:
        return 'the explorer is silent'
    if name in ('save', 'load') and heard.report.get('checkpoint') == NOT_KEPT:
        return 'nothing is kept: the explorer has no checkpoint_dir'
    return _refusal_in(heard.phase, name)


def _refusal_in(phase: str, name: str) -> str:
    """Return why a control is of no use in a phase; empty if it is."""
    if name == 'recover':
        return '' if phase == 'fault' else 'there is no fault'
    if name == 'load':
        return '' if phase in ('paused', 'fault', 'done') else 'pause first'
    if name in ('pause', 'resume') and phase in ('fault', 'done'):
        return f'the phase is {phase}'
    if name == 'pause' and phase == 'paused':
        return 'it is paused'
    if name == 'resume' and phase.partition('/')[0] in ('building', 'checking'):
        return 'it is exploring'
    return ''


def refusal_to_go(state: int | None, heard: Heard) -> str:
    """Return why the robot cannot be sent to a state; empty if it can."""
    if not heard.navigator:
        return 'needs a navigator, which is not running'
    if state is None:
        return 'choose a known state first'
    if state not in heard.known:
        return f'state {heard.description.label(state)} is not known'
    return ''
