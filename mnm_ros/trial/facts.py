# SPDX-License-Identifier: Apache-2.0

"""What a report says: figures and sentences, from a replay and from what else was kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
import math
import platform
from typing import Any, NamedTuple

from mnm_ros.checkpoint.input_log import SavedInputs
from mnm_ros.core.inputs import Interruption, Relocation
from mnm_ros.core.knowledge.knowledge import StateKind
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.presets import OPTIONS
from mnm_ros.core.progress.events import Event
from mnm_ros.language import ENGLISH, moment, phrase
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation.cmp import TableCmp
from mnm_ros.simulation.ground_truth import best_time
from mnm_ros.trial.replay import ReplaySummary
from mnm_ros.version import __version__
from mnm_ros.view.event_words import merged, told
from mnm_ros.view.words import by_source

ENOUGH = 3        # times; a policy with an action tried less often is marked
_EVENTS = 100     # the last ones, which are listed
_BEYOND = 60      # states farther than the radius that are listed


class Row(NamedTuple):
    """
    The facts about a known state.

    :ivar steps: expected steps, estimated from the counts; inf if it was never seen to arrive.
    :ivar tried: how often the least tried action of the policy was tried.
    :ivar note: what is wrong with it, or empty.
    """

    state: int
    label: str
    reached: int
    steps: float
    tried: int
    note: str

    @property
    def arrives(self) -> bool:
        """Return whether the policy was seen to arrive."""
        return math.isfinite(self.steps)


class ActionUsage(NamedTuple):
    """
    The facts about an action.

    :ivar usual: how often it led where it mostly leads in that state, since the last change
        noticed; None if it was hardly tried.
    :ivar seconds: that it takes, in the mean; None if that is not known.
    """

    name: str
    times: int
    share: float
    usual: float | None
    seconds: float | None


class Facts:
    """
    All that a report says.

    :param saved: what was replayed.
    :param summary: of the replay.
    :param description: of the robot side.
    :param kept: what has happened, as it was kept beside the file.
    """

    def __init__(self, saved: SavedInputs, summary: ReplaySummary, description: RobotDescription,
                 kept: Sequence[Event] = ()) -> None:
        self._saved = saved
        self._description = replace(description, actions=tuple(saved.identity['actions']))
        self._kept = kept
        self._summary = summary
        self._label = description.label
        self._exploration = summary.exploration
        identity = saved.identity
        self.limit = summary.exploration.problem.limit
        self.actions: list[str] = list(identity['actions'])

    @property
    def policies(self) -> tuple[Policy, ...]:
        """Return the policies known at the end."""
        hypothesis = self._exploration.hypothesis
        return hypothesis.policies if hypothesis else ()

    def rows(self) -> list[Row]:
        """Return a row for each known state but home."""
        found, known = [], self._summary.knowledge
        for policy in self.policies[1:]:
            state, tried = policy.target, self._summary.least_tried(policy)
            steps = known.steps_to(state)
            note = ('too little tried' if tried < ENOUGH
                    else 'over the limit' if known.over_limit(state)
                    else 'doubted' if known.kinds.get(state) is StateKind.DOUBTED else '')
            found.append(Row(state, self._label(state), known.visits.get(state, 0),
                             math.inf if steps is None else steps, tried, note))
        return found

    def verdict(self) -> tuple[str, list[str]]:
        """Return what came of it in one sentence, and what is to be kept in mind."""
        identity, exploration = self._saved.identity, self._exploration
        if not self.policies:
            return (f'There is no hypothesis yet after {exploration.steps:,} steps.',
                    [*self._remarks()])
        states = len(self.policies) - 1
        return (
            f'{states} state{"s" * (states != 1)} besides home can be reached, each within '
            f'{self.limit:g} expected steps, with probability {1 - identity["delta"]:g}.',
            [*self._remarks()])

    def _remarks(self) -> Iterator[str]:
        exploration = self._exploration
        if self._saved.point is not None:
            yield ('What was replayed does not begin with the exploration: it is its last part, '
                   f'from step {self._saved.point["steps"]:,} on.')
        certified = [
            self._label(state) for state in self._summary.knowledge.of(StateKind.CERTIFIED)]
        if certified:
            yield (f'Certified, though it is open whether other states are within reach: '
                   f'{", ".join(certified)}.')
        if exploration.mnm.under_revision:
            yield 'These policies were refuted, and the next ones are still being built.'
        pending = exploration.changes_noticed - exploration.changes_relearnt
        if pending > 0:
            yield 'A change was noticed and is not relearnt yet.'
        over = [row.label for row in self.rows() if row.note == 'over the limit']
        if over:
            yield (f'By the transitions counted since the last change, {", ".join(over)} '
                   f'take{"s" * (len(over) == 1)} more than the limit.')
        little = [row.label for row in self.rows() if row.note == 'too little tried']
        if little:
            yield (f'Too little tried since the last change to say anything by the counts: '
                   f'{", ".join(little)}.')
        if exploration.homing.misses:
            yield f'RESETs that missed home: {exploration.homing.misses}.'

    def overview(self, span: str) -> list[tuple[str, str]]:
        """
        Return the names and values that an overview shows.

        :param span: the beginning and the end in words, or ''.
        """
        summary, exploration = self._summary, self._exploration
        first = next((step for step, count in summary.known if count), None)
        whole, work = self._saved.point is None, exploration.work
        return [(name, value) for name, value in (
            ('time', span),
            ('steps', f'{exploration.steps:,}'),
            *((f'steps of {robot}', f'{number:,}') for robot, number in sorted(
                self._saved.made_by().items())),
            ('transitions reported', by_source(exploration.sources)),
            ('first hypothesis', f'after {first:,} steps' if first and whole
             else '' if first else 'not yet'),
            ('known states', str(len(self.policies)) if self.policies else 'none'),
            ('round', str(exploration.diagnostics()['round'])),
            ('changes', f'{exploration.changes_noticed} noticed, '
                        f'{exploration.changes_relearnt} relearnt'),
            ('RESETs that missed home', str(exploration.homing.misses)),
            ('executions at work, beside', f'{work:,}' if work else ''),
            ('moved by others', str(summary.inputs[Relocation])),
            ('place lost (pause, restart, fault)', str(summary.inputs[Interruption])),
        ) if value]

    def beyond(self) -> tuple[list[tuple[str, str, int, float]], int]:
        """
        Return the states met that are not known: label, what it is, how often, least steps.

        The second value is how many more there are.
        """
        known = self._summary.knowledge
        if not known.known:
            return [], 0
        model = TableCmp.from_counts(known.known[0], len(self.actions), {
            (state, action): seen for state, actions in known.counts.items()
            for action, seen in actions.items() if action != RESET})
        states = sorted((state for state in known.kinds if state not in known.known),
                        key=lambda state: -known.visits.get(state, 0))
        listed = [(self._label(state), phrase(f'kinds.{known.kinds[state].value}', ENGLISH),
                   known.visits.get(state, 0), best_time(model, known.known, state))
                  for state in states[:_BEYOND]]
        return sorted(listed, key=lambda row: row[3]), max(0, len(states) - _BEYOND)

    def played(self) -> list[ActionUsage]:
        """Return a row for each action, RESET last."""
        summary = self._summary
        total = sum(summary.actions.values()) or 1
        seconds = next((event.seconds for event in reversed(self._kept) if event.seconds), {})
        found = []
        for action, name in (*enumerate(self.actions), (RESET, 'RESET')):
            tried = [seen for actions in summary.knowledge.counts.values()
                     if sum((seen := actions.get(action, {})).values()) >= ENOUGH]
            times = sum(sum(seen.values()) for seen in tried)
            found.append(ActionUsage(
                name, summary.actions[action], summary.actions[action] / total,
                sum(max(seen.values()) for seen in tried) / times if times else None,
                seconds.get(action)))
        return found

    def events(self) -> tuple[list[tuple[str, Event]], int]:
        """Return the last events with their times, if known, and how many there are."""
        began = self._kept[0].step if self._kept else math.inf    # it may be kept since then
        found = [*(replace(event, text=told(event, self._description))
                   for event in self._summary.events if event.step < began), *self._kept]
        found = merged(found)
        return [(moment(event.time, '%a %Y-%m-%d %H:%M:%S') if event.time else '', event)
                for event in found[-_EVENTS:]], len(found)

    def configuration(self) -> list[tuple[str, str]]:
        """Return the parameters that differ from what the preset has."""
        options: Mapping[str, Any] = {option.name: option.default for option in OPTIONS}
        return [(name, ', '.join(map(str, value)) if isinstance(value, list) else str(value))
                for name, value in sorted(self._saved.identity.items())
                if name != 'version' and not (name in options and value == options[name])]

    def versions(self) -> list[tuple[str, str]]:
        """Return what has explored, and what has written the report."""
        import jinja2
        import matplotlib
        import numpy
        return [('explored by mnm_ros', str(self._saved.identity.get('version', 'unknown'))),
                ('reported by mnm_ros', __version__),
                ('Python', platform.python_version()),
                ('numpy', numpy.__version__), ('matplotlib', matplotlib.__version__),
                ('jinja2', jinja2.__version__)]


def steps_in_words(steps: float) -> str:
    """Return expected steps for people."""
    return f'{steps:.2f}' if math.isfinite(steps) else 'never seen to arrive'
