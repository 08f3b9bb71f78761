# SPDX-License-Identifier: Apache-2.0

"""All that the explorer has between configure and cleanup: an exploration and its topics."""

from __future__ import annotations

import math
import time

from mnm_ros.checkpoint.stop_record import StopRecord
from mnm_ros.core import libraries
from mnm_ros.core.components import BASES
from mnm_ros.core.errors import ParameterError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Update
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.core.presets import VARIED
from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.said import (
    ExploreCalled,
    ExploreCalledBefore,
    LoadedFromDisk,
    NodeDeactivated,
    Reason,
    ReplayingDisk,
    Restarted,
    TooManyStates,
)
from mnm_ros.core.task.step_task import RunState
from mnm_ros.nodes.common.allowance import Allowance, TOO_MANY
from mnm_ros.nodes.common.callbacks import every
from mnm_ros.nodes.common.commanding import step_limits
from mnm_ros.nodes.common.node_scope import NodeInterface, NodeScope
from mnm_ros.nodes.common.spin import write_record
from mnm_ros.nodes.exploring.exploration_store import ExplorationStore
from mnm_ros.nodes.exploring.improve_topic import ImproveTopic
from mnm_ros.nodes.exploring.link.advice_link import AdviceLink
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.nodes.exploring.link.command_link import CommandLink
from mnm_ros.nodes.exploring.link.fleet_link import FleetLink
from mnm_ros.nodes.exploring.link.link import Link, TICK
from mnm_ros.nodes.exploring.look_times import ClosedWays
from mnm_ros.nodes.exploring.output.event_topic import EventTopic
from mnm_ros.nodes.exploring.output.live_topics import WayTopic
from mnm_ros.nodes.exploring.output.operator_record import OperatorRecord
from mnm_ros.nodes.exploring.output.publishers import Publishers
from mnm_ros.nodes.exploring.reliance import forbidden, Reliance
from mnm_ros.nodes.exploring.restoring import Restoring
from mnm_ros.nodes.exploring.work import WorkFirst, WorkTopic
from mnm_ros.parameters import Parameters
from mnm_ros.protocol.loop import Loop
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from mnm_ros.view.sentences import sentence

_DIAGNOSTICS = 1.0     # s


class ExplorationSession:
    """
    One exploration, inactive until ``activate``.

    :param allowance: for all that is asked of the node.
    :param described: what the robot side says that it is, as far as that is known.
    :ivar node: the same, as far as it is that of the session.
    :ivar exploration_store: makes the exploration, and keeps it on disk.
    :ivar disk: goes back to what is on it.
    :ivar closed_ways: asks for their tries.
    :ivar active: as the node's lifecycle has it.
    :ivar record: of what people, and other nodes, ask for.
    :raises ParameterError: if the parameters do not make a problem that can be solved.
    """

    def __init__(self, node: NodeInterface, parameters: Parameters,
                 allowance: Allowance, described: RobotDescription = UNDESCRIBED) -> None:
        _check(parameters)
        self._parameters = parameters
        self._reliance = Reliance(parameters)
        self._declared: Declaration | None = None    # what was handed on
        self.node = node = NodeScope(node)
        self.exploration_store = ExplorationStore(
            node, parameters, described, self._reliance.on(described.declaration))
        self.active = False
        self._leaving = False    # whether that has begun
        self._pauses = StopRecord(
            parameters['checkpoint_dir'] or parameters['stop_dir'],
            node.get_fully_qualified_name(), node.get_logger().error, 'paused')
        self._wanted = not self._pauses.kept    # as the service explore has it
        if not self._wanted:
            node.get_logger().warning('paused, as before the restart: call explore with true')
        self._started = math.inf
        self._overdue = False    # whether a report of the exploration waits for the end of a plan
        self._guard = CallbackGuard(node, self._fail, allowance)
        self.allowance = allowance
        kept = self.exploration_store.events
        events = EventTopic(
            node, parameters['language'], *((kept.past, kept.append) if kept else ()))
        self._link = self._new_link()
        self._publishers = Publishers(
            node, self._guard, parameters['policies_up_to'], parameters['language'], self._link,
            events, self.exploration_store.kept_soon, self.exploration_store.files.trusted)
        self.closed_ways = ClosedWays(
            parameters, self._guard, self._publishers, self.exploration_store, self._link,
            kept.past if kept else ())
        self.disk = Restoring(
            self.exploration_store, self._guard, self._publishers, adopted=self._begin_again,
            started=self._resume, loaded=self._pause_loaded, fail=self._fail)
        self._link.profile.recall(self.exploration_store.described)
        self.record = OperatorRecord(
            node, self._guard, parameters['robots'] if parameters.is_set('robots') else (),
            self._publishers.asked, self.exploration_store, self._link,
            kept.past if kept else ())
        parameters.on_change = self.record.setting
        parameters.refusal = lambda: (
            '' if self.allowance.takes('set_parameters') else sentence(
                TOO_MANY, language=self.language))
        self._link.after_description = self._declare
        work_first = WorkFirst(node, parameters, self._guard, self.exploration_store)
        self._link.reason_to_rest, self.record.on_goals = work_first.reason, work_first.hear
        ImproveTopic(node, self._guard, self.exploration_store, parameters,
                     lambda said, refused: self.record.heard('improve', 'improve', said, refused))
        WayTopic(node, self._guard, self.exploration_store, self._link)
        if not parameters.is_set('robots'):
            WorkTopic(node, self._guard, len(parameters['actions']),
                      self.exploration_store, self._link, lambda text: self._publishers.event(
                          Event(self.exploration.steps, text, 'source')))
        self._loop.reason_to_wait = self._too_many_states
        self._most_states = self._allowed_states()
        every(TICK, node, self._guard.while_open(self._tick))
        every(_DIAGNOSTICS, node, self._guard.while_open(self._diagnose))
        if self.exploration_store.waiting:
            self.exploration.robot_lost(ReplayingDisk())
        self._follow(self.exploration)
        if not self.exploration_store.waiting:    # else to what is on the disk
            self._declare()
        self._tick()
        self._report()    # to be repeated while a plan is made
        if self.exploration_store.waiting:
            self.disk.start()
        elif parameters['base'] in ('', *BASES):    # one's own base may do without
            self._guard.aside(libraries.load, lambda seconds: None)

    def _new_link(self) -> Link:
        node, parameters, exploration = self.node, self._parameters, self.exploration
        numbers = self.exploration_store.files.numbers
        if parameters.is_set('robots'):
            return FleetLink(
                node, parameters, exploration, self._guard, self._fail, numbers)
        if parameters['advisory']:
            return AdviceLink(node, parameters, exploration, self._guard)
        return CommandLink(node, parameters, exploration, self._guard, numbers)

    @property
    def exploration(self) -> Exploration:
        """Return what is explored."""
        return self.exploration_store.exploration

    @property
    def running(self) -> bool:
        """Whether exploration goes on, or will as soon as the robot answers."""
        return self._loop.running

    @property
    def busy(self) -> bool:
        """Whether a step, or the disk, keeps the exploration busy; calls wait for its end."""
        return self._guard.busy

    @property
    def resting(self) -> Reason:
        """Why the robot goes home to rest, or rests; else nothing."""
        return self._link.resting

    def activate(self) -> None:
        """Explore, unless the service ``explore`` has paused it."""
        self.active = True
        self._started = min(self._started, time.monotonic())
        self._link.serve_goals(True)
        if self._wanted:
            self._guard.call(self._loop.resume, time.monotonic())
        else:
            self._guard.call(self._loop.pause, ExploreCalledBefore())

    def deactivate(self) -> None:
        """Leave the robot alone, at once."""
        self.active = False
        self._link.stop(NodeDeactivated(), at_once=True)
        self._guard.call(self._loop.pause, NodeDeactivated())
        self._link.serve_goals(False)

    def explore(self, wanted: bool) -> None:
        """Go on, or pause after the current step."""
        self._want(wanted)
        if wanted:
            self._link.end_stays()
            self._guard.call(self._loop.resume, time.monotonic())
        else:
            self._link.stop(ExploreCalled())
            self._guard.call(self._loop.pause_after_step, ExploreCalled())
            self._link.end_stays()    # it would not end the pause

    def _want(self, wanted: bool) -> None:
        self._wanted = wanted
        self._pauses.keep(not wanted)

    def recover(self) -> None:
        """Go on after a fault of the robot."""
        self._want(True)
        self._guard.call(self._loop.recover, time.monotonic())

    def _resume(self) -> None:
        """Go on, unless the node is inactive or was paused."""
        if self.active and self._wanted:
            self._guard.call(self._loop.resume, time.monotonic())

    def _pause_loaded(self) -> None:
        self._want(self._wanted and not self.active)
        self._guard.call(self._loop.pause, LoadedFromDisk())

    def _begin_again(self) -> None:
        """Drive another exploration, which was on the disk."""
        self._overdue = True
        self._loop.drive(self.exploration)
        self._follow(self.exploration)
        self._declared = None
        self._declare()

    def _declare(self) -> None:
        """
        Let the exploration rely on what is declared, from before the next step on.

        A robot side that declares nothing leaves what was declared: a map may come later.
        """
        declared = self._reliance.on(self._link.declaration)
        if declared is not None and declared is not self._declared:
            self._declared = declared
            self._guard.call(self._rely_on, declared)

    def _rely_on(self, declared: Declaration) -> None:
        """Hand on what is declared, half a second for 10,000 states, and say so if it is news."""
        if self.exploration.declare(declared.audited(self._parameters['audit'])) is not None:
            self._link.look_at_declared(self.exploration)
            if forbidden(declared):    # which no restart may forget
                self.exploration_store.hurry()
            self._publishers.declared(
                self._reliance.said(declared), self.exploration.steps, time.monotonic())

    @property
    def fault(self) -> str:
        """Why the exploration, or a robot of several, is in fault, or nothing."""
        failed = self.exploration.state is RunState.FAULT
        return self.status if failed else self._link.faults

    @property
    def status(self) -> str:
        """Return what the exploration is doing, or why it has stopped, for people."""
        return sentence(self.exploration.status, self._link.profile.names, self.language)

    @property
    def language(self) -> str:
        """Return the language of the sentences for people."""
        return str(self._parameters['language'])

    @property
    def leave_timeout(self) -> float | None:
        """How long ``leave`` may take in seconds; None if it takes no time to speak of."""
        going_home = self._parameters['on_shutdown'] == 'reset'
        return self._parameters['shutdown_timeout'] if going_home else None

    def leave(self) -> bool:
        """Leave the robot as ``on_shutdown`` says; return whether that is over."""
        self.active = False    # a call of the service explore comes too late now
        self.exploration_store.abandon()
        if self._guard.busy and not self._link.apart:
            self._guard.stopping = not self._leaving
            return False
        self._leaving, self._guard.stopping = True, False
        return self._link.leave(
            self._parameters['on_shutdown'], self._parameters['shutdown_timeout'])

    def close(self) -> None:
        """Remove all topics, services and timers; write the counts if asked to."""
        self.exploration_store.abandon()
        del self._parameters.on_change, self._parameters.refusal
        self._guard.close()
        self._link.close()
        self._publishers.close(self.exploration)
        self.node.destroy_all()
        self.exploration_store.files.keep_trusted(self._publishers.trusted, math.inf)
        self.exploration_store.close()
        if not self.exploration_store.waiting:    # what was recorded before is better than nothing
            write_record(self.node, self._parameters['record'],
                         self._link.counts(self.exploration))

    @property
    def _loop(self) -> Loop:
        return self._link.loop

    def _follow(self, exploration: Exploration) -> None:
        """Publish what is known, now and whenever it changes, and log what is decided."""
        if exploration.steps:
            # Otherwise the status, and the first line of the log, would be the last decision.
            exploration.robot_lost(Restarted(exploration.steps))
            self._publishers.restarted(exploration.steps)
        exploration.listeners.append(self._hear)
        self._guard.call(self._publish, exploration.hypothesis)

    def _hear(self, update: Update) -> None:
        """Have the node publish what an input has changed, which most inputs do not."""
        if update.events or update.revision is not None:
            self._guard.in_node_thread(self._tell, update)

    def _tell(self, update: Update) -> None:
        if update.events:    # a restart without their inputs would report them again
            self.exploration_store.kept_soon()
        for event in update.events:
            self.closed_ways.hear(self._publishers.event(event))
        if update.revision is not None:
            self._publish(update.revision)

    def _publish(self, hypothesis: Hypothesis | None) -> None:
        self._publishers.hypothesis(hypothesis, time.monotonic())

    def _fail(self, reason: str) -> None:
        """Make an error of the algorithm a fault."""
        if not self._loop.over:
            self._loop.fail(reason, time.monotonic(), recoverable=False)

    def _allowed_states(self) -> float:
        return self._parameters['max_states'] or math.inf

    def _too_many_states(self) -> Reason:
        """Say why exploration pauses if more states were met than allowed: before each step."""
        states = self.exploration.states
        if states > self._most_states:    # it may have been raised just now
            self._most_states = self._allowed_states()
        return TooManyStates(states, int(self._most_states)) if states > self._most_states else ''

    def _tick(self) -> None:
        now = time.monotonic()
        deadline = self._started + (self._parameters['max_duration'] or math.inf)
        limits = step_limits(self._parameters, deadline)
        self._guard.look()
        self.record.tick(now)
        if self._guard.busy:    # what is said of the exploration stays as it was before the plan
            self._link.tick_while_busy(limits, now)
            self._publishers.republish(self._parameters['republish_period'], now)
            self._publishers.while_busy(now)
            return
        self._most_states = self._allowed_states()
        self._link.tick(limits, now)
        self.record.rests(self._link.rests)
        if self._link.profile.text:
            self.exploration_store.describe(self._link.profile.text)
        if not self.exploration_store.waiting:
            files = self.exploration_store.files
            files.keep_world(self._link.profile.text, self._declared, self.exploration.steps,
                             self.exploration_store.identity['actions'])
            files.keep_trusted(self._publishers.trusted, now)
        self._guard.call(self._publishers.news, self.exploration, self.record.waiting, now)
        self._publishers.republish(self._parameters['republish_period'], now)
        if self._overdue:
            self._report()

    def _diagnose(self) -> None:
        self._link.announce()
        self.disk.start_again()
        if not (self._guard.busy or self.exploration_store.waiting or self._loop.over):
            self._guard.call(self.closed_ways.ask)
        self._publishers.kept(self.exploration_store.tell(), self.exploration.steps)
        self._report()

    def _report(self) -> None:
        now = time.monotonic()
        self._overdue = self._guard.busy    # what is said of the exploration is what was said last
        if not self._overdue:
            self._guard.call(
                self._publishers.diagnostics, self.exploration, self.exploration_store.problem,
                '; '.join(self.exploration_store.refusals), self.exploration_store.keeps,
                self.record.dropped, now)
        self._publishers.publish_diagnostics(now)


def _check(parameters: Parameters) -> None:
    """Raise ParameterError if parameters do not fit together."""
    if parameters['advisory'] and parameters['reset_mode'] == 'service':
        raise ParameterError(
            "parameter 'advisory' is True with 'reset_mode' 'service', expected 'action': "
            'a RESET that is a call of a service cannot be overheard')
    if parameters['overrides'] and parameters['preset'] not in VARIED:
        raise ParameterError(
            f"parameter 'overrides' is {parameters['overrides']!r} with 'preset' "
            f"{parameters['preset']!r}, expected {' or '.join(map(repr, VARIED))}")
    if parameters['battery_low'] and parameters['battery_ok'] < parameters['battery_low']:
        raise ParameterError(
            f"parameter 'battery_ok' is {parameters['battery_ok']!r}, expected at least "
            f"'battery_low', {parameters['battery_low']!r}")
    if parameters['advisory'] and parameters.is_set('robots'):
        raise ParameterError("parameter 'robots' is set with 'advisory' True, expected one of the "
                             'two: a fleet is driven')
