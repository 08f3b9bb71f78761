# SPDX-License-Identifier: Apache-2.0

"""
An exploration as it goes, kept in memory: tables for pandas, and a data set for Minari.

An exploration itself keeps how often what followed what, and its last events. A recording grows
with every step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Union

from mnm_ros.checkpoint.input_log import refusing, SavedInputs
from mnm_ros.checkpoint.warm_start import begun
from mnm_ros.core.errors import ExportError, how_to_install, InvalidValueError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import (
    Input,
    InputListener,
    Interruption,
    Observation,
    PLACING,
    Update,
)
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.events import Event
from mnm_ros.export.libraries import data_frame, library
from mnm_ros.view.sentences import sentence


class _Step(NamedTuple):
    """A step: ``state`` is None where the robot could have been anywhere."""

    step: int
    state: int | None
    action: int
    following: int
    robot: str


class Recording:
    """
    All that an exploration takes in and decides from now on.

    :param exploration: to be recorded.
    :ivar exploration: as it is now.
    :ivar inputs: one after the other: steps, and what came between them.
    :ivar events: all of them.
    :ivar hypotheses: each with the number of steps after which it came.
    :ivar first: how many inputs are left out before these.
    :ivar identity: what was asked for, as far as the exploration tells.
    """

    first = 0

    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration
        self.inputs: list[Input] = []
        self.events: list[Event] = []
        self.hypotheses: list[tuple[int, Hypothesis]] = []
        problem = exploration.problem
        self.identity: dict[str, Any] = {
            'radius': problem.radius, 'epsilon': problem.epsilon, 'delta': problem.delta}
        self._begun = exploration.steps, exploration.last_state
        exploration.listeners.append(InputListener(self._hear))

    @classmethod
    def read(cls, path: Union[str, Path]) -> Recording:
        """
        Return what a transition log or a checkpoint holds, replayed.

        :raises CheckpointError: if it cannot be used, or if this version acts otherwise at any
            step.
        """
        saved = SavedInputs(Path(path))
        with refusing(saved.path):
            recording = cls(begun(saved))
            recording.identity, recording.first = saved.identity, saved.first
            saved.replay(recording.exploration)
        return recording

    def _hear(self, update: Update) -> None:
        self.inputs.append(update.input)
        self.events += update.events
        if update.revision is not None:
            self.hypotheses.append((self.exploration.steps, update.revision))

    def made_by(self) -> Counter[str]:
        """Return how many of ``inputs`` each of several robots has made."""
        return Counter(made.robot for made in self.inputs if made.robot)

    def to_dataframe(self, table: str = 'steps') -> Any:
        """
        Return a table as a ``pandas.DataFrame``.

        ``steps``: one in a row: number, state, action (RESET is -1), next state, robot.
        ``events``: number of steps, kind, text, and the pair that it is about.
        ``hypotheses``: one known state in a row, home first, of every hypothesis.
        ``trust``: every policy there is now, and how far it may be trusted.

        :raises InvalidValueError: if there is no such table.
        :raises ExportError: if pandas is not installed.
        """
        if table not in _TABLES:
            raise InvalidValueError(
                f'table is {table!r}, expected one of {", ".join(_TABLES)}')
        names, rows = _TABLES[table]
        cells = [*zip(*rows(self))] or [()] * len(names)
        return data_frame({name: [*column] for name, column in zip(names, cells)})

    def to_minari(self, dataset_id: str, **more: Any) -> Any:
        """
        Write the steps as a data set of Minari, and return that (``minari.MinariDataset``).

        An episode begins at home with a RESET and ends before the next one, or where the robot
        was moved or its place lost; it is truncated, not terminated. There are no rewards: all
        are 0. Observations are states, actions those of the robot without RESET.

        :param dataset_id: as Minari has it, such as ``mnm/two_rooms-v0``.
        :param more: for ``minari.create_dataset_from_buffers``.
        :raises ExportError: if Minari is not installed, or if there are no such steps.
        """
        minari = library('minari', f'{how_to_install("minari")}, with Python 3.11 or newer')
        spaces = library('gymnasium', 'pip install gymnasium').spaces
        buffer = library('minari.data_collector', 'pip install minari').EpisodeBuffer
        episodes = [*_episodes(self)]
        if not episodes:
            raise ExportError('no step was recorded but RESETs, expected an action after one')
        met = {state for states, _ in episodes for state in states}
        return minari.create_dataset_from_buffers(
            dataset_id,
            [buffer(id=number, observations=states, actions=actions, rewards=[0.0] * len(actions),
                    terminations=[False] * len(actions),
                    truncations=[False] * (len(actions) - 1) + [True])
             for number, (states, actions) in enumerate(episodes)],
            observation_space=spaces.Discrete(max(met) - min(met) + 1, start=min(met)),
            action_space=spaces.Discrete(self.exploration.problem.actions), **more)

    def _steps(self) -> Iterator[_Step]:
        number, here = self._begun
        for made in self.inputs:
            if isinstance(made, Observation):
                number += 1
                yield _Step(number, here, made.action, made.state, made.robot)
            if isinstance(made, PLACING):
                here = None if isinstance(made, Interruption) else made.state


_Rows = Callable[[Recording], Iterator[tuple[Any, ...]]]


def _events(recording: Recording) -> Iterator[tuple[Any, ...]]:
    for event in recording.events:
        change = event.change
        yield (event.step, event.kind, event.text or sentence(event.said), change and change.state,
               change and change.action)


def _hypotheses(recording: Recording) -> Iterator[tuple[Any, ...]]:
    for step, hypothesis in recording.hypotheses:
        for state in hypothesis.targets:
            yield step, *hypothesis.version, state


def _trust(recording: Recording) -> Iterator[tuple[Any, ...]]:
    for told in recording.exploration.trust():
        yield (told.policy.target, told.trust.value, told.expected_steps, told.at_most_steps,
               told.since_step, told.declared, sentence(told.said))


_TABLES: Mapping[str, tuple[tuple[str, ...], _Rows]] = MappingProxyType({
    'steps': (('step', 'state', 'action', 'next', 'robot'), lambda recording: recording._steps()),
    'events': (('step', 'kind', 'text', 'state', 'action'), _events),
    'hypotheses': (('step', 'round', 'revision', 'state'), _hypotheses),
    'trust': (('state', 'trust', 'expected_steps', 'at_most_steps', 'since_step', 'declared',
               'why'), _trust)})


def _episodes(recording: Recording) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the states and the actions of each way from home, as far as it is known whole."""
    states: list[int] = []
    actions: list[int] = []
    for step in recording._steps():
        if step.action == RESET or not states or step.state != states[-1]:
            if actions:
                yield states, actions
            home = step.action == RESET and step.following == recording.exploration.home
            states, actions = [step.following] if home else [], []
        else:
            states.append(step.following)
            actions.append(step.action)
    if actions:
        yield states, actions
