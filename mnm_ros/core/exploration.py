"""The exploration as an operator sees it: MNM, and everything that may keep it from going on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Union

from mnm_ros.core.counts import Counts, Pair
from mnm_ros.core.machine import Phased
from mnm_ros.core.mnm import MnmPhase
from mnm_ros.core.policy import Hypothesis
from mnm_ros.core.presets import new_mnm
from mnm_ros.core.problem import RESET
from mnm_ros.core.settings import Settings


class Phase(Enum):
    """What the operator sees; a run under way shows the phase of MNM instead."""

    WAITING_FOR_ROBOT = 'waiting_for_robot'
    RUNNING = 'running'
    PAUSED = 'paused'
    FAULT = 'fault'
    DONE = 'done'


class Input(Enum):
    """What an exploration learns from; the same inputs lead to the same place, bit for bit."""

    OBSERVED = 0
    RELOCATED = 1
    INTERRUPTED = 2


EXPLORATION_TRANSITIONS = (
    ('robot_answered', Phase.WAITING_FOR_ROBOT, Phase.RUNNING),
    ('robot_lost', Phase.RUNNING, Phase.WAITING_FOR_ROBOT),
    ('pause', Phase.WAITING_FOR_ROBOT, Phase.PAUSED),
    ('pause', Phase.RUNNING, Phase.PAUSED),
    ('resume', Phase.PAUSED, Phase.WAITING_FOR_ROBOT),
    ('fail', Phase.WAITING_FOR_ROBOT, Phase.FAULT),
    ('fail', Phase.RUNNING, Phase.FAULT),
    ('fail', Phase.PAUSED, Phase.FAULT),
    ('recover', Phase.FAULT, Phase.WAITING_FOR_ROBOT),
    ('finish', Phase.WAITING_FOR_ROBOT, Phase.DONE),
    ('finish', Phase.RUNNING, Phase.DONE),
    ('finish', Phase.PAUSED, Phase.DONE),
)


class Exploration(Phased):
    """An exploration from the first RESET on, driven one step at a time.

    settings: the problem and the parts. seed: of every random choice.
    resume: what ``to_state`` of such an exploration returned, to go on from there with a RESET.

    reset_misses, misses_in_a_row: how often RESET has ended elsewhere than at home, in all and
        since it last led home.
    recoverable: whether a fault is the robot's, so that ``recover`` leads back.
    on_input: called after each input with its kind, the state (0 where there is none) and the
        action that led there (RESET where there is none).
    """

    state: Phase
    on_input: Callable[[Input, int, int], None] | None = None

    def __init__(self, settings: Settings, seed: int = 0,
                 resume: Mapping[str, Any] | None = None) -> None:
        state = resume or {'counts': (), 'news': 'waiting for the robot to come home',
                           'last_change': '', 'steps': 0, 'mnm': None, 'here': None}
        self._mnm = new_mnm(settings, seed, self._decided, state['mnm'])
        self._counts = Counts.from_state(state['counts'])
        self._here: int | None = state['here']
        self._news: str = state['news']
        self._reason = ''
        self._last_change: str = state['last_change']
        self.steps: int = state['steps']
        self.reset_misses = self.misses_in_a_row = 0
        self.recoverable = True
        self._start_machine(EXPLORATION_TRANSITIONS, Phase.WAITING_FOR_ROBOT)

    @property
    def resumable(self) -> bool:
        """Whether ``to_state`` says all there is to say at this moment."""
        return self._mnm.resumable

    def to_state(self) -> dict[str, Any]:
        """Return plain data from which it can go on; only if ``resumable``."""
        return {'mnm': self._mnm.to_state(), 'counts': self._counts.to_state(),
                'here': self._here, 'news': self._news, 'last_change': self._last_change,
                'steps': self.steps}

    @property
    def phase(self) -> str:
        """The phase as published."""
        if self.state is not Phase.RUNNING:
            return str(self.state.value)
        active = self._mnm.active
        if self._mnm.state in (MnmPhase.HOMING, MnmPhase.BUILDING):
            evaluating = active is not None and active.evaluating
            return 'building/evaluation' if evaluating else 'building/discovery'
        return str(self._mnm.state.value)

    @property
    def status(self) -> str:
        """One sentence for people: what is going on, or why it stopped."""
        return self._reason or self._news

    @property
    def hypothesis(self) -> Hypothesis | None:
        """What is known; None before the first hypothesis."""
        return self._mnm.hypothesis

    @property
    def under_revision(self) -> bool:
        """Whether the hypothesis was refuted and the next one is still being built."""
        return self._mnm.under_revision

    @property
    def candidates(self) -> tuple[int, ...]:
        """States that the active run has met and does not know yet."""
        return self._mnm.active.candidates if self._mnm.active is not None else ()

    @property
    def home(self) -> int | None:
        """The state after the first RESET."""
        return self._mnm.home

    @property
    def last_state(self) -> int | None:
        """Where the robot was last seen; None if it may be anywhere."""
        return self._here

    @property
    def counts(self) -> Mapping[Pair, Mapping[int, int]]:
        """All transitions ever observed, RESET included."""
        return self._counts.as_dict()

    @property
    def changes_noticed(self) -> int:
        """Changes that led to a revision so far."""
        return self._mnm.log.noticed

    @property
    def changes_relearnt(self) -> int:
        """Noticed changes after which the checks found nothing to revise any more."""
        return self._mnm.log.relearnt

    def next_action(self) -> int:
        """Return the action to execute; the same until ``observe`` is called."""
        return self._mnm.next_action()

    def observe(self, state: int) -> None:
        """Count the transition by the last ``next_action`` to ``state``.

        A RESET that misses home is no step of the algorithm: the next action is RESET again.
        """
        self.take(Input.OBSERVED, state)

    def relocate(self, state: int) -> None:
        """The robot was moved to ``state``: nothing is counted, the next action is RESET."""
        self.take(Input.RELOCATED, state)

    def take(self, kind: Input, state: int = 0) -> None:
        """Take an input as it was given to ``on_input``."""
        action = RESET
        if kind is Input.OBSERVED:
            action = self._mnm.next_action()
            if self._here is not None:
                self._counts.add(self._here, action, state)
            self._here = state
            self.steps += 1
            if self._misses_home(action, state):
                self.reset_misses += 1
                self.misses_in_a_row += 1
            else:
                self.misses_in_a_row = 0
                self._mnm.observe(action, state)
        else:
            self._here = state if kind is Input.RELOCATED else None
            self._mnm.interrupt()
        if self.on_input is not None:
            self.on_input(kind, state, action)

    def lose_place(self) -> None:
        """The robot may be anywhere: nothing is counted, the next action is RESET."""
        self.take(Input.INTERRUPTED)

    def pause(self, reason: str) -> None:
        """Stop between two steps; nothing is lost. No effect unless under way or waiting."""
        if self.state in (Phase.WAITING_FOR_ROBOT, Phase.RUNNING):
            self._stop('pause', f'paused: {reason}')

    def resume(self) -> None:
        """Go on after ``pause``; the robot may be anywhere by now, so with a RESET."""
        if self.state is Phase.PAUSED:
            self._stop('resume', 'resumed, waiting for the robot')
            self.lose_place()

    def robot_lost(self, reason: str) -> None:
        """The robot does not answer: nothing is learnt until it does."""
        if self.state is Phase.RUNNING:
            self.trigger('robot_lost')
        if self.state is Phase.WAITING_FOR_ROBOT:
            self._reason = f'waiting for the robot: {reason}'

    def robot_answers(self) -> None:
        """The robot answers (again)."""
        if self.state is Phase.WAITING_FOR_ROBOT:
            self._stop('robot_answered', '')

    def fail(self, reason: str, recoverable: bool = True) -> None:
        """Stop because of a fault; what was learnt stays published."""
        if self.state not in (Phase.FAULT, Phase.DONE):
            self.recoverable = recoverable
            self._stop('fail', f'fault: {reason}')

    def recover(self) -> None:
        """Go on with a RESET after a fault; no effect if the fault is the exploration's own."""
        if self.state is Phase.FAULT and self.recoverable:
            self._stop('recover', 'recovered, waiting for the robot')
            self.misses_in_a_row = 0
            self.lose_place()

    def finish(self, reason: str) -> None:
        """Stop for good; what was learnt stays published."""
        if self.state not in (Phase.FAULT, Phase.DONE):
            self._stop('finish', f'done: {reason}')

    def diagnostics(self) -> dict[str, Union[str, int, float]]:
        """Return the figures of the diagnostics message by name."""
        mnm = self._mnm
        building, checking = mnm.building, mnm.checking
        return {
            'round': mnm.round,
            'phase': self.phase,
            'quantum': building.schedule.quanta if building else 0,
            'streams': len(building.streams) if building else 0,
            'known': len(self.hypothesis.policies) if self.hypothesis else 0,
            'frontier': len(self.candidates),
            'steps': self.steps,
            'reset_misses': self.reset_misses,
            'check_steps': checking.check_steps if checking else 0,
            'check_window': 0, 'failures': '', 'failure_threshold': 0.0,
            **(checking.figures() if checking else {}),
            'last_change': self._last_change,
            'changes_noticed': self.changes_noticed,
            'changes_relearnt': self.changes_relearnt,
        }

    def _misses_home(self, action: int, state: int) -> bool:
        return action == RESET and self.home not in (None, state)

    def _stop(self, trigger: str, reason: str) -> None:
        self.trigger(trigger)
        self._reason = reason

    def _decided(self, sentence: str) -> None:
        self._news = sentence
        self._last_change = f'step {self.steps}: {sentence}'
