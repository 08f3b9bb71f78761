# SPDX-License-Identifier: Apache-2.0

"""The services of the explorer."""

from __future__ import annotations

from collections.abc import Callable
import math
import time
from typing import Any

from mnm_ros import messages
from mnm_ros.core.errors import CheckpointError
from mnm_ros.core.progress.said import InWords, Refused
from mnm_ros.core.task.step_task import OVER, RunState
from mnm_ros.language import phrase
from mnm_ros.nodes.common.callbacks import answering
from mnm_ros.nodes.common.commanding import FORGETTING
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.output.publishers import way_back
from mnm_ros.nodes.exploring.session import ExplorationSession
from mnm_ros.view.sentences import sentence
from rcl_interfaces.srv import SetParametersAtomically
from std_srvs.srv import SetBool, Trigger

_FETCHED = 30.0     # s, within which the outcome of a call is asked for, by calling again
_LOAD_WAIT = 0.7    # s, for the end of a load: with a beat, less than the heartbeat may be late


class Services:
    """
    Serves ``explore``, ``look``, ``recover``, ``save``, ``load`` and ``forget``.

    A refusal says what to do.
    """

    def __init__(self, node: NodeInterface, session: ExplorationSession) -> None:
        self._node = node
        self._session = session
        self._language = session.language
        self._looked = -math.inf
        # A pause is never refused.
        self._serve(SetBool, 'explore', self._explore, lambda request: not request.data)
        self._serve(Trigger, 'look', self._look)
        self._serve(Trigger, 'recover', self._recover)
        self._serve(Trigger, 'save', self._save)
        self._serve(Trigger, 'load', self._load)
        self._forgetting = False    # whether something is being taken back
        self._forgotten: tuple[tuple[str, str], tuple[bool, str], float] | None = None
        self._node.create_service(SetParametersAtomically, 'forget', self._answer_forget,
                                  qos_profile=messages.REQUESTS)
        self._limited_forget = self._recorded('forget', self._forget)

    def _serve(self, kind: type[Any], service: str, answer: Callable[[Any], tuple[bool, str]],
               anyway: Callable[[Any], bool] = lambda request: False) -> None:
        self._node.create_service(kind, service, self._recorded(service, answer, anyway),
                                  qos_profile=messages.REQUESTS)

    def _recorded(self, service: str, answer: Callable[[Any], tuple[bool, str]],
                  anyway: Callable[[Any], bool] = lambda request: False,
                  ) -> Callable[[Any, Any], Any]:
        """Answer a service as far as it is allowed, and have it on record, and why in vain."""
        def recorded(request: Any) -> tuple[bool, str]:
            success, text = answer(request)
            what = service if service != 'explore' else 'resume' if request.data else 'pause'
            if text != FORGETTING:
                self._session.record.called(
                    service, what, '' if success else Refused(InWords(text)))
            return success, text

        return answering(recorded, self._session.allowance, service, anyway, self._language)

    def _words(self, name: str, **fields: object) -> str:
        return phrase(f'answers.{name}', self._language, **fields)

    def _way_back(self) -> str:
        """Return what is wrong, and how to mend it."""
        return f'{self._session.status}; {way_back(self._session.exploration, self._language)}'

    def _explore(self, request: SetBool.Request) -> tuple[bool, str]:
        session, exploration = self._session, self._session.exploration
        if exploration.state is RunState.FAULT:
            return False, self._way_back()
        if exploration.state in OVER:
            return False, self._words('over', status=session.status)
        if not session.active:
            return False, self._words('not_active')
        session.explore(request.data)
        if not request.data:
            return True, self._words('pausing' if session.running else 'paused')
        if session.busy or session.exploration.state is not RunState.PAUSED:
            resting = sentence(session.resting, language=self._language)
            return True, self._words('going_home', why=resting) if resting else (
                self._words('exploring'))
        return (True, self._words('exploring_later')) if session.running else (
            False, session.status)

    def _look(self, _: Trigger.Request) -> tuple[bool, str]:
        session = self._session
        if session.exploration.state in OVER:
            return False, self._words('over', status=session.status)
        closed = session.closed_ways.look()
        return bool(closed), self._words('trying', ways=closed) if closed else (
            self._words('none_closed'))

    def _recover(self, _: Trigger.Request) -> tuple[bool, str]:
        session = self._session
        if not session.fault:
            return False, self._words('no_fault')
        if not session.exploration.recoverable:
            return False, self._way_back()
        if not session.active:
            return False, self._words('not_active')
        session.recover()
        return True, self._words('recovering')

    def _save(self, _: Trigger.Request) -> tuple[bool, str]:
        saved, said = self._session.exploration_store.save()
        return saved, sentence(said, language=self._language)

    def _load(self, _: Trigger.Request) -> tuple[bool, str]:
        session = self._session
        if session.running:
            return False, self._words('pause_first')
        ends: list[Exception | None] = []
        answered = False

        def end(error: Exception | None) -> None:
            if answered and error is not None:
                self._node.get_logger().error(f'nothing loaded: {error}')
            ends.append(error)

        try:
            # A burst of calls may not hold up the heartbeat one after the other.
            patient = time.monotonic() > self._looked + _LOAD_WAIT
            session.disk.load(end, _LOAD_WAIT if patient else 0.0)
            self._looked = time.monotonic()
        except CheckpointError as error:
            ends.append(error)
        answered = True
        if not ends:
            return True, self._words('replaying')
        if ends[0] is not None:
            return False, self._words('nothing_loaded', why=ends[0])
        return True, self._words(
            f'loaded{"" if session.active else "_only"}', step=session.exploration.steps)

    def _answer_forget(self, request: SetParametersAtomically.Request,
                       response: SetParametersAtomically.Response,
                       ) -> SetParametersAtomically.Response:
        told = self._limited_forget(request, Trigger.Response())
        response.result.successful, response.result.reason = told.success, told.message
        return response

    def _forget(self, request: SetParametersAtomically.Request) -> tuple[bool, str]:
        session = self._session
        given = {each.name: each.value.string_value for each in request.parameters}
        if not given.get('source') or {*given} - {'source', 'since'}:
            return False, (f'parameters are {given}, expected source, and perhaps since, '
                           'both strings')
        asked = given['source'], given.get('since', '')
        ended, self._forgotten = self._forgotten, None
        if ended and ended[0] == asked and time.monotonic() < ended[2] + _FETCHED:
            return ended[1]
        if self._forgetting:
            return False, FORGETTING
        if session.running:
            return False, self._words('pause_first')

        def end(outcome: str | Exception) -> None:
            self._forgetting = False
            failed = isinstance(outcome, Exception)
            self._forgotten = asked, (not failed, self._words(
                'nothing_forgotten', why=outcome) if failed else str(outcome)), time.monotonic()

        self._forgetting = True
        try:
            session.disk.forget(*asked, end)
        except CheckpointError as error:
            self._forgetting = False
            return False, self._words('nothing_forgotten', why=error)
        return False, FORGETTING
