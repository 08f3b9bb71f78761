# SPDX-License-Identifier: Apache-2.0

"""Commands several robots, each in a namespace of its own, that explore one world."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
import time

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.fleet.fleet import Fleet, Member
from mnm_ros.core.model.counts import Counts, Pair
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.progress.said import GoesOn, is_for_goal, MaxSteps, NoRobotHome, Reason
from mnm_ros.core.task.step_task import OVER, RunState
from mnm_ros.nodes.common.node_scope import NodeInterface, NodeScope
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.nodes.exploring.link.command_link import CommandLink
from mnm_ros.nodes.exploring.link.link import Link, RobotReport
from mnm_ros.parameters import Parameters
from mnm_ros.protocol.exchange import CommandNumbers
from mnm_ros.protocol.loop import StepLimits
from mnm_ros.protocol.rest_rules import without_charge
from mnm_ros.protocol.step_loop import FleetLoop
from mnm_ros.view.sentences import sentence


class FleetLink(Link):
    """
    Commands several robots, which are served while the exploration plans.

    :param parameters: of the explorer; ``robots`` names the namespaces.
    :param guard: of all that concerns the exploration.
    :param fail: called with a sentence about an error.
    :param numbers: of commands.
    """

    apart = True
    loop: FleetLoop

    def __init__(self, node: NodeInterface, parameters: Parameters, exploration: Exploration,
                 guard: CallbackGuard, fail: Callable[[str], None],
                 numbers: CommandNumbers) -> None:
        self._node = node
        self._parameters = parameters
        self._guard = guard
        self._robots_guard = CallbackGuard(node, fail, guard.allowance)    # which is never busy
        self._woken = False
        self._before: list[Counts] = []    # of what the robots have explored before
        self._said: dict[str, Reason] = {}
        self._limits: StepLimits | None = None
        self._begin(exploration)
        self._links: dict[str, CommandLink] = {}
        for name, member in self._members.items():
            link = CommandLink(
                NodeScope(node, name), parameters, member, self._robots_guard, numbers, name,
                lambda question: self._guard.call(lambda: question(self.exploration)))
            link.after_state = self._wake
            link.after_description = lambda: self.after_description()
            link.reason_to_rest = lambda now: self.reason_to_rest(now)
            self._links[name] = link
        self.profile = link.profile
        self.loop = FleetLoop(
            exploration, [link.loop for link in self._links.values()], self._drive)

    @property
    def declaration(self) -> Declaration:
        """Return what the first robot declares that declares anything: the world is the same."""
        return next(filter(None, (link.declaration for link in self._links.values())),
                    Declaration())

    @property
    def standing_by(self) -> bool:
        return all(link.standing_by for link in self._links.values())

    @property
    def robots(self) -> Sequence[RobotReport]:
        now = time.monotonic()
        return [RobotReport(name, member.state, self._in_words(name, member.reason or GoesOn()), {
            'steps': member.steps,
            'place': '' if member.last_state is None else member.last_state,
            'robot_timeouts': self._links[name].loop.timeouts,
            'reset_misses': member.homing.misses,
            'unanswered': round(self._links[name].unanswered(now), 1)},
            is_for_goal(member.reason))
            for name, member in self._members.items()]

    def last_seen(self, robot: str = '') -> int | None:
        return self._links[robot].last_seen() if robot in self._links else None

    @property
    def rests(self) -> Mapping[str, Reason]:
        return {name: link.resting for name, link in self._links.items()}

    def resets_by_service(self, robot: str = '') -> bool:
        return robot in self._links and self._links[robot].resets_by_service()

    def unanswered(self, now: float) -> float:
        return max(link.unanswered(now) for link in self._links.values())

    @property
    def faults(self) -> str:
        return '; '.join(f'{name}: {self._in_words(name, member.reason)}'
                         for name, member in self._members.items()
                         if member.state is RunState.FAULT)

    def counts(self, exploration: Exploration) -> Mapping[Pair, Mapping[int, int]]:
        """Return all transitions that the robots have made since the node began."""
        found: dict[Pair, dict[int, int]] = {}
        for counts in (*self._before, *(member.counts for member in self._members.values())):
            for pair, nexts in counts.as_dict().items():
                row = found.setdefault(pair, {})
                for after, count in nexts.items():
                    row[after] = row.get(after, 0) + count
        return found

    def tick(self, limits: StepLimits, now: float) -> None:
        """Watch the robots, and let the exploration be as they are."""
        self.tick_while_busy(limits, now)
        self._limits = limits
        profiles = [link.profile for link in self._links.values()]
        self.profile = next((profile for profile in profiles if profile.text), profiles[0])
        self._mirror()

    def tick_while_busy(self, limits: StepLimits, now: float) -> None:
        if self._enough(limits):    # the exploration follows when the plan is made
            self.stop(MaxSteps(self._fleet.steps), at_once=True)
        for name, link in self._links.items():
            link.tick(replace(limits, max_steps=0), now)
            reason = self._members[name].reason
            if without_charge(reason) != self._said.get(name, ''):
                self._said[name] = without_charge(reason)
                status = sentence(reason, link.profile.names)
                self._node.get_logger().info(f'{name}: {status or "exploring"}')

    def missing(self, now: float) -> Reason:
        return '; '.join(self._in_words(name, reason) for name, link in self._links.items()
                         if (reason := link.missing(now)))

    def _in_words(self, name: str, reason: Reason) -> str:
        """Return a reason of a robot in the language of the explorer."""
        return sentence(reason, self._links[name].profile.names, self._parameters['language'])

    def announce(self) -> None:
        for link in self._links.values():
            link.announce()

    def leave(self, how: str, limit: float) -> bool:
        over = [link.leave(how, limit) for link in self._links.values()]
        return all(over)

    def stop(self, reason: Reason, at_once: bool = False) -> None:
        for link in self._links.values():
            loop = link.loop
            self._robots_guard.call(loop.pause if at_once else loop.pause_after_step, reason)

    def serve_goals(self, wanted: bool) -> None:
        for link in self._links.values():
            link.serve_goals(wanted)

    def end_stays(self) -> None:
        for link in self._links.values():
            link.end_stays()

    def look_at_declared(self, exploration: Exploration) -> None:
        for link in self._links.values():
            link.look_at_declared(exploration)

    def close(self) -> None:
        self._robots_guard.close()
        for link in self._links.values():
            link.close()

    def _drive(self, exploration: Exploration) -> None:
        self._before += [member.counts for member in self._members.values()]
        self._begin(exploration)
        for name, link in self._links.items():
            link.loop.drive(self._members[name])

    def _begin(self, exploration: Exploration) -> None:
        given = self._parameters
        self.exploration = exploration
        self._fleet = Fleet(exploration, given['seed'])
        self._members = {name: Member(self._fleet, name) for name in given['robots']}

    def _wake(self) -> None:
        """Let the exploration take what robots have found out, as soon as it can."""
        if not self._woken:
            self._woken = True
            self._guard.call(self._advance)

    def _advance(self) -> None:
        self._woken = False
        if self.exploration.state not in OVER:
            self._guard.aside(self._fleet.advance, lambda seconds: self._mirror())

    def _enough(self, limits: StepLimits) -> bool:
        return 0 < limits.max_steps <= self._fleet.steps

    def _mirror(self) -> None:
        """Let the exploration be in the state that its robots are in, together."""
        exploration, members = self.exploration, self._members
        if exploration.state in OVER:
            return
        why = '; '.join(
            f'{name}: {self._in_words(name, member.why)}'
            for name, member in members.items() if member.why)
        states = {member.state: member.why for member in reversed(members.values())}
        if self._limits and self._enough(self._limits):
            self.loop.finish(MaxSteps(self._fleet.steps))
        elif RunState.RUNNING in states:
            exploration.resume()    # if all have rested
            exploration.robot_answers()
        elif RunState.WAITING_FOR_ROBOT in states:
            exploration.resume()
            exploration.robot_lost(why or NoRobotHome())
        elif RunState.PAUSED in states:
            exploration.pause(states[RunState.PAUSED])
            exploration.explain(states[RunState.PAUSED])
        elif RunState.DONE in states:    # whatever has become of the others
            self.loop.finish(states[RunState.DONE])
        else:
            exploration.fail(why)
