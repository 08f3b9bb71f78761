# SPDX-License-Identifier: Apache-2.0

"""The services of the explorer."""

from __future__ import annotations

from collections.abc import Callable
import math
import time
from typing import Any

from mnm_ros import messages
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
        # A pause is never refused.
        self._serve(SetBool, 'explore', self._explore, lambda request: not request.data)
        self._serve(Trigger, 'look', self._look)
        self._serve(Trigger, 'recover', self._recover)
        self._serve(Trigger, 'save', lambda request: self._session.exploration_store.save())
        self._serve(Trigger, 'load', self._load)

    def _serve(self, kind: type[Any], service: str, answer: Callable[[Any], tuple[bool, str]],
               anyway: Callable[[Any], bool] = lambda request: False) -> None:
        """Answer a service as far as it is allowed, and have it on record, and why in vain."""
        def recorded(request: Any) -> tuple[bool, str]:
            success, text = answer(request)
            what = service if service != 'explore' else 'resume' if request.data else 'pause'
            self._session.record.called(service, what, '' if success else f'refused, {text}')
            return success, text

        self._node.create_service(
            kind, service, answering(recorded, self._session.allowance, service, anyway),
            qos_profile=messages.REQUESTS)

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

    def _look(self, _: Trigger.Request) -> tuple[bool, str]:
        session = self._session
        if session.exploration.state in OVER:
            return False, f'exploration is over: {session.status}'
        closed = session.look()
        return bool(closed), f'looking: {closed}' if closed else 'no way is closed'

    def _recover(self, _: Trigger.Request) -> tuple[bool, str]:
        session, exploration = self._session, self._session.exploration
        if not session.fault:
            return False, f'there is no fault; {session.status}'
        if not exploration.recoverable:
            return False, f'{session.status}; {way_back(exploration)}'
        if not session.active:
            return False, 'the node is not active'
        session.recover()
        return True, 'recovering, beginning with a RESET'

    def _load(self, _: Trigger.Request) -> tuple[bool, str]:
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
