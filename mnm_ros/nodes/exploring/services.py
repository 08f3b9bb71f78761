# SPDX-License-Identifier: Apache-2.0

"""The services of the explorer."""

from __future__ import annotations

import math
import time

from mnm_ros.core.errors import CheckpointError
from mnm_ros.core.task.step_task import OVER, RunState
from mnm_ros.nodes.common.callbacks import answering
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.output.publishers import way_back
from mnm_ros.nodes.exploring.session import ExplorationSession
from std_srvs.srv import SetBool, Trigger

_LOAD_WAIT = 0.7    # s, for the end of a load: with a beat, less than the heartbeat may be late


class Services:
    """Serves ``explore``, ``look``, ``recover``, ``save``, ``load``; a refusal says what to do."""

    def __init__(self, node: NodeInterface, session: ExplorationSession) -> None:
        self._node = node
        self._session = session
        self._looked = -math.inf
        node.create_service(SetBool, 'explore', self._on_explore)
        node.create_service(Trigger, 'look', self._on_look)
        node.create_service(Trigger, 'recover', self._on_recover)
        node.create_service(Trigger, 'save', self._on_save)
        node.create_service(Trigger, 'load', self._on_load)

    def _recorded(self, service: str, what: str, answer: tuple[bool, str]) -> tuple[bool, str]:
        """Have it on record that a service was called, and why in vain."""
        success, text = answer
        self._session.record.called(service, what, '' if success else f'refused, {text}')
        return answer

    @answering
    def _on_explore(self, request: SetBool.Request) -> tuple[bool, str]:
        return self._recorded('explore', 'resume' if request.data else 'pause',
                              self._explore(request))

    def _explore(self, request: SetBool.Request) -> tuple[bool, str]:
        session, exploration = self._session, self._session.exploration
        if exploration.state is RunState.FAULT:
            return False, f'{session.status}; {way_back(exploration)}'
        if exploration.state in OVER:
            return False, f'exploration is over: {session.status}'
        if not session.active:
            return False, 'the node is not active'
        session.explore(request.data)
        if not request.data:
            return True, 'pausing after the current step' if session.running else 'paused'
        if session.exploration.state is not RunState.PAUSED:
            return True, f'going home: {session.resting}' if session.resting else 'exploring'
        # A goal is played first.
        return session.running, session.status

    @answering
    def _on_look(self, _: Trigger.Request) -> tuple[bool, str]:
        return self._recorded('look', 'look', self._look())

    def _look(self) -> tuple[bool, str]:
        session = self._session
        if session.exploration.state in OVER:
            return False, f'exploration is over: {session.status}'
        closed = session.look()
        return bool(closed), f'looking: {closed}' if closed else 'no way is closed'

    @answering
    def _on_recover(self, _: Trigger.Request) -> tuple[bool, str]:
        return self._recorded('recover', 'recover', self._recover())

    def _recover(self) -> tuple[bool, str]:
        session, exploration = self._session, self._session.exploration
        if not session.fault:
            return False, f'there is no fault; {session.status}'
        if not exploration.recoverable:
            return False, f'{session.status}; {way_back(exploration)}'
        if not session.active:
            return False, 'the node is not active'
        session.recover()
        return True, 'recovering, beginning with a RESET'

    @answering
    def _on_save(self, _: Trigger.Request) -> tuple[bool, str]:
        return self._recorded('save', 'save', self._session.exploration_store.save())

    @answering
    def _on_load(self, _: Trigger.Request) -> tuple[bool, str]:
        return self._recorded('load', 'load', self._load())

    def _load(self) -> tuple[bool, str]:
        session = self._session
        if session.running:
            return False, 'exploring: call explore with false first'
        ends: list[Exception | None] = []
        answered = False

        def end(error: Exception | None) -> None:
            if answered and error is not None:
                self._node.get_logger().error(f'nothing loaded: {error}')
            ends.append(error)

        try:
            # A burst of calls may not hold up the heartbeat one after the other.
            patient = time.monotonic() > self._looked + _LOAD_WAIT
            session.load(end, _LOAD_WAIT if patient else 0.0)
            self._looked = time.monotonic()
        except CheckpointError as error:
            ends.append(error)
        answered = True
        if not ends:
            return True, ('replaying what is on the disk; at the end, status has "loaded from the '
                          'disk" or the log an error')
        if ends[0] is not None:
            return False, f'nothing loaded: {ends[0]}'
        hint = '; call explore with true to go on' if session.active else ''
        return True, f'step {session.exploration.steps}{hint}'
