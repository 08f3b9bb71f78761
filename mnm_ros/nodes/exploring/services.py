# SPDX-License-Identifier: Apache-2.0

"""The services of the explorer."""

from __future__ import annotations

from collections.abc import Callable
import math
import time
from typing import Protocol

from mnm_ros.checkpoint.input_log import Refused
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.task.step_task import OVER, RunState
from mnm_ros.nodes.exploring.checkpointing import Checkpointing
from mnm_ros.nodes.exploring.output.publishers import way_back
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

_PATIENCE = 0.7
"""Seconds to wait for the end of a load: with a beat, less than the heartbeat may be late."""


class Operated(Protocol):
    """
    What the services ask of a session.

    :ivar active: whether the node is active.
    :ivar checkpointing: keeps the exploration on disk.
    """

    active: bool
    checkpointing: Checkpointing

    @property
    def exploration(self) -> Exploration: ...

    @property
    def running(self) -> bool: ...

    @property
    def fault(self) -> str: ...

    def explore(self, wanted: bool) -> None: ...

    def recover(self) -> None: ...

    def load(self, then: Callable[[Exception | None], None], patience: float) -> None: ...


class Services:
    """``explore``, ``recover``, ``save`` and ``load``. A refusal tells what to do instead."""

    def __init__(self, node: Node, session: Operated) -> None:
        self._node = node
        self._session = session
        self._looked = -math.inf
        self._services = (
            node.create_service(SetBool, 'explore', self._on_explore),
            node.create_service(Trigger, 'recover', self._on_recover),
            node.create_service(Trigger, 'save', self._on_save),
            node.create_service(Trigger, 'load', self._on_load))

    def destroy(self) -> None:
        """Remove the services."""
        for service in self._services:
            self._node.destroy_service(service)

    def _on_explore(
            self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        session = self._session
        response.success = False
        if session.exploration.state is RunState.FAULT:
            response.message = f'{session.exploration.status}; {way_back(session.exploration)}'
        elif session.exploration.state in OVER:
            response.message = f'exploration is over: {session.exploration.status}'
        elif not session.active:
            response.message = 'the node is not active'
        else:
            session.explore(request.data)
            kept = request.data and session.exploration.state is RunState.PAUSED
            response.success = not kept
            response.message = (
                session.exploration.status if kept else 'exploring' if request.data else
                'pausing after the current step' if session.running else 'paused')
        return response

    def _on_recover(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        session = self._session
        response.success = False
        if not session.fault:
            response.message = f'there is no fault; {session.exploration.status}'
        elif not session.exploration.recoverable:
            response.message = f'{session.exploration.status}; {way_back(session.exploration)}'
        elif not session.active:
            response.message = 'the node is not active'
        else:
            session.recover()
            response.success, response.message = True, 'recovering, beginning with a RESET'
        return response

    def _on_save(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self._session.checkpointing.save()
        return response

    def _on_load(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = False
        if self._session.running:
            response.message = 'exploring: call explore with false first'
            return response
        ends: list[Exception | None] = []

        def end(error: Exception | None) -> None:
            if response.success and error is not None:    # it was answered meanwhile
                self._node.get_logger().error(f'nothing loaded: {error}')
            ends.append(error)

        try:
            # A burst of calls may not hold up the heartbeat one after the other.
            patient = time.monotonic() > self._looked + _PATIENCE
            self._session.load(end, _PATIENCE if patient else 0.0)
            self._looked = time.monotonic()
        except Refused as error:
            ends.append(error)
        if not ends:
            response.success = True
            response.message = (
                'replaying what is on the disk; at the end, status has "loaded from the disk" or '
                'the log an error')
        elif ends[0] is not None:
            response.message = f'nothing loaded: {ends[0]}'
        else:
            response.success = True
            response.message = f'step {self._session.exploration.steps}'
            if self._session.active:
                response.message += '; call explore with true to go on'
        return response
