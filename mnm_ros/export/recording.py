# SPDX-License-Identifier: Apache-2.0

"""
Keep each step of an exploration in memory, as tables, as a file, and as a data set for Minari.

``explore`` returns a recording, for notebooks and programs. An exploration itself counts
transitions and keeps its last events; a recording grows with every step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Union

from mnm_ros.checkpoint.database import remove, rename
from mnm_ros.checkpoint.input_log import InputLog, refusing, SavedInputs
from mnm_ros.checkpoint.warm_start import asked_for, begun
from mnm_ros.core.errors import (
    ExportError,
    how_to_install,
    InvalidValueError,
    UnknownStateError,
)
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import (
    Input,
    Interruption,
    Observation,
    PLACING,
    Update,
)
from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.presets import base_factory
from mnm_ros.core.progress.events import Event
from mnm_ros.export.libraries import data_frame, library
from mnm_ros.robot_description import numbered
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
    Record the inputs, the events and the hypotheses of an exploration from now on.

    ``mnm_ros.core.play(recording.exploration, robot, steps)`` explores further, and is recorded.

    :param exploration: to be recorded.
    :param actions: the names of the actions; numbers if there are none.
    :ivar exploration: the exploration, as it is now.
    :ivar inputs: the steps and the other inputs, in their order.
    :ivar events: all events since the recording began.
    :ivar hypotheses: each hypothesis, with the number of steps after which it was found.
    :ivar first: how many inputs of the exploration the recording lacks before ``inputs``.
    :ivar identity: the parameters of the exploration.
    """

    first = 0

    def __init__(self, exploration: Exploration, actions: Sequence[str] = ()) -> None:
        self.exploration = exploration
        self.inputs: list[Input] = []
        self.events: list[Event] = []
        self.hypotheses: list[tuple[int, Hypothesis]] = []
        self.identity: dict[str, Any] = asked_for(
            exploration, actions or numbered(exploration.problem.actions))
        self._begun = exploration.steps, exploration.last_state
        self._point: Mapping[str, Any] | None = None
        self._whole = not (exploration.steps or exploration.work or exploration.recollection
                           or exploration.mnm.support.declared)
        exploration.listeners.append(self._hear)

    @classmethod
    def load(cls, path: Union[str, Path], base: str = '') -> Recording:
        """
        Return the recording of a file: replay what ``save`` or an explorer has written.

        :param path: of a file of ``save``, a transition log or a checkpoint.
        :param base: the ``module:factory`` of the file's base algorithm. ``load`` imports the
            module, but no module that only the file names. Empty for a base with a name.
        :raises CheckpointError: if the file cannot be used, or if this version plays another
            action at any step.
        :raises InvalidValueError: if ``base`` cannot be imported.
        """
        if base:
            base_factory(base)
        saved = SavedInputs(Path(path))
        with refusing(saved.path):
            recording = cls(begun(saved))
            recording.identity, recording.first = saved.identity, saved.first
            recording._point, recording._whole = saved.point, True
            saved.replay(recording.exploration)
        return recording

    def save(self, path: Union[str, Path]) -> None:
        """
        Write the exploration to a file, and replace the file if there is one.

        ``load`` reads the file, and so do ``mnm_ros policies``, ``export`` and ``report``. A name
        that ends in ``.log.sqlite`` says that the file holds all steps.

        :raises ExportError: if the exploration had learnt something before the recording began.
        :raises OSError: if the file cannot be written.
        """
        if not self._whole:
            raise ExportError(
                'the recording lacks what the exploration had learnt before, expected one that '
                'began with the exploration: record it before the first step')
        path = Path(path)
        draft = path.with_name(f'{path.name}.new')
        remove(draft)
        kept = InputLog.create(draft, self.identity, self._point, self.first)
        try:
            kept.append(self.inputs)
        finally:
            kept.close()
        remove(path)
        rename(draft, path)

    @property
    def known(self) -> tuple[int, ...]:
        """Return the known states, home first; none before the first hypothesis."""
        return tuple(self.policies)

    @property
    def policies(self) -> Mapping[int, Policy]:
        """Return the policy to each known state, by the state."""
        hypothesis = self.exploration.hypothesis
        return {each.target: each for each in hypothesis.policies} if hypothesis else {}

    def predict(self, observation: Any, target: int, **more: Any) -> tuple[Any, Any]:
        """
        Return the actions that lead to ``target``, as a model of Stable-Baselines3 does.

        Actions count from 0. An environment with ``action_space.start`` plays the action plus
        ``start``; RESET stays -1.

        :param observation: a state, or an array of states. In unknown states the action is RESET.
        :param target: a known state.
        :param more: as for ``Policy.predict``.
        :raises UnknownStateError: if no policy leads to ``target``.
        :raises InvalidTypeError: if ``observation`` holds anything but integers.
        """
        hypothesis = self.exploration.hypothesis
        if hypothesis is None:
            raise UnknownStateError(
                f'state {target} has no policy: nothing is known yet, expected more steps')
        return hypothesis.policy_for(target).predict(observation, **more)

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

        ``steps``: a row for each step: number, state, action (RESET is -1), next state, robot.
        ``events``: a row for each event: number of steps, kind, text, state and action.
        ``hypotheses``: a row for each known state of each hypothesis, home first.
        ``trust``: a row for each policy that there is now, with its trust.

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
