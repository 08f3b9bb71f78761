# SPDX-License-Identifier: Apache-2.0

"""
One seeded trial of the promise: a world, an exploration, and the verdict of the truth.

No ROS. A trial depends on nothing but its family, its seed and its configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
import traceback
from typing import Union
import zlib

from certificates import JudgedCertificates
from families import draw, FAMILIES
from incidents import INCIDENTS, Incidents, Player
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.fleet.fleet import Fleet
from mnm_ros.core.mnm.change_log import Decided
from mnm_ros.core.mnm.mnm import Mnm
from mnm_ros.core.mnm.options import Settings, Value
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.model.support import Support
from mnm_ros.core.presets import new_base, new_mnm, override, settings
from mnm_ros.core.progress.said import Said
from mnm_ros.core.progress.trust import Trust
from mnm_ros.core.view import View
from mnm_ros.simulation.cmp import Cmp, Outcomes
from mnm_ros.simulation.ground_truth import expected_steps, judge, reachable_states, Verdict
from mnm_ros.simulation.scenario import load, Scenario, shipped
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.study.methods import found_by
from mnm_ros.view.sentences import sentence
import numpy as np
from robots import COMPANIES, Robots

RADII = (2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
"""The radius of a trial in a random CMP is one of these, drawn from the seed."""

SHIPPED_RADIUS = 4.0
"""The radius of a trial in a shipped scenario."""

DECLARATIONS = ('true', 'partly', 'false')
"""Of all settings; one end of several lacks in a fifth of the lists, or all but one in all."""

_MOST_DECLARED = 2000    # states; what is beyond these is not declared

FINISHED = ('found', 'relearnt')

_World = Union[Simulator, Robots]


@dataclass(frozen=True)
class Configuration:
    """
    How to explore; every field is a column of the results.

    base: the base algorithm, or '' for the preset's.
    options: what overrides the preset, ``name=value`` in alphabetical order.
    alone: one run of the base with the whole delta in the first setting, without MNM.
    radius: ``L``, or 0 for the one that the family and the seed give.
    change_after: steps from the first hypothesis to the change, and from relearning one change
        to the next; the change waits until MNM is not at odds with its hypothesis.
    budget: steps to the first hypothesis, and again after each change, before a trial is given
        up as unfinished.
    declare: where actions lead, of ``DECLARATIONS``, or '' for nothing.
    looks: steps after which it is told each time to look at what is closed; 0 for never.
    """

    preset: str = 'onboard'
    base: str = ''
    options: tuple[str, ...] = ()
    alone: bool = False
    radius: float = 0.0
    epsilon: float = 1.0
    delta: float = 0.1
    change_after: int = 2000
    budget: int = 300_000
    declare: str = ''
    looks: int = 0

    def settings(self, actions: int, radius: float) -> Settings:
        """Return the settings of the explorer; ValueError if an option is not allowed."""
        overrides: dict[str, Value] = {'base': self.base, **dict(map(override, self.options))}
        problem = Problem(actions, radius, self.epsilon, self.delta)
        return settings(problem, self.preset, overrides)


@dataclass
class Outcome:
    """
    What came of a trial.

    end: ``found`` (first hypothesis, nothing changes), ``relearnt``, or why it is unfinished:
        ``no hypothesis``, ``never settled`` (no change could be made), ``unnoticed``,
        ``not relearnt`` or ``crashed``. After a benign change ``relearnt`` means that nothing is
        at odds with the hypothesis, and after a change in the building phase that it is right.
    reachable: ``|S_L->|`` of each setting.
    first, last: the first hypothesis, judged as soon as it is there, and the one at the end of a
        trial with changes; None if there is none. The promise says nothing about the first one
        if a change came before it.
    certificates: targets of certificates that were wrong, see ``certificates``.
    alarms: changes noticed although nothing had changed yet; in a family that goes ``beyond``,
        within ``change_after`` steps of the first hypothesis.
    interruptions: by what happened to the robot.
    steps_first, steps: to the first hypothesis, and in all; those of all robots of a fleet.
    setting: the one in force at the end.
    log: what happened, a line each.
    """

    radius: float
    end: str = 'no hypothesis'
    reachable: tuple[int, ...] = ()
    first: Verdict | None = None
    last: Verdict | None = None
    certificates: tuple[int, ...] = ()
    known_first: int = 0
    known_last: int = 0
    alarms: int = 0
    interruptions: int = 0
    rounds: int = 0
    steps_first: int = 0
    steps: int = 0
    setting: int = 0
    hypothesis: Hypothesis | None = field(default=None, repr=False)
    log: list[str] = field(default_factory=list, repr=False)

    @property
    def finished(self) -> bool:
        return self.end in FINISHED

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in (self.first, self.last) if verdict)

    @property
    def broken(self) -> bool:
        """Whether anything judged was wrong, be the trial finished or not, or it crashed."""
        return (self.end == 'crashed' or bool(self.certificates)
                or not all(verdict.ok for verdict in self.verdicts))


def families() -> tuple[str, ...]:
    """Return the names of all families: the shipped scenarios and the random ones."""
    return (*shipped(), *FAMILIES)


def prepare(
    family: str, seed: int, configuration: Configuration,
) -> tuple[Scenario, float, tuple[int, int]]:
    """
    Return the scenario, the radius, and the seeds of the simulator and of the explorer.

    No two families share a stream of random numbers. ValueError if there is no such family.
    """
    if family not in families():
        raise ValueError(f'family is {family!r}, expected one of {", ".join(families())}')
    _, *seeds = _drawn(family, seed)
    radius = radius_of(family, seed, configuration)
    if family in FAMILIES:
        return draw(family, seed, radius, configuration.epsilon), radius, (seeds[0], seeds[1])
    return waiting(load(family)), radius, (seeds[0], seeds[1])


def waiting(scenario: Scenario) -> Scenario:
    """Return the scenario without changes by itself, until it is told to."""
    return replace(scenario, settings=tuple(
        replace(setting, until=None) for setting in scenario.settings))


def radius_of(family: str, seed: int, configuration: Configuration) -> float:
    """Return the radius of a trial: the one asked for, or that of the family and the seed."""
    if family in FAMILIES:
        return configuration.radius or RADII[_drawn(family, seed)[0] % len(RADII)]
    return configuration.radius or SHIPPED_RADIUS


def _drawn(family: str, seed: int) -> list[int]:
    sequence = np.random.SeedSequence([seed, zlib.crc32(family.encode()), 1])
    return [int(number) for number in sequence.generate_state(3)]


class _SingleRobot(Exploration):
    """Adds what was falsely not declared, and is interrupted as ``Mnm`` is."""

    def interrupt(self) -> None:
        self.lose_place()


def run(family: str, seed: int, configuration: Configuration) -> Outcome:
    """Return what comes of the trial; the same each time."""
    scenario, radius, (simulator_seed, explorer_seed) = prepare(family, seed, configuration)
    resolved = configuration.settings(len(scenario.actions), radius)
    if configuration.declare:
        resolved = replace(resolved, problem=replace(resolved.problem, support=Support(
            declaration(scenario, configuration.declare, explorer_seed))))
    if configuration.alone:
        scenario = replace(scenario, settings=scenario.settings[:1])
    outcome = Outcome(radius, reachable=tuple(
        len(reachable_states(setting.cmp, radius)) for setting in scenario.settings))
    simulator = Simulator(scenario, simulator_seed)
    player = Player(simulator, INCIDENTS.get(family, Incidents()), simulator_seed,
                    configuration.looks)
    world: _World = simulator
    interrupted: Union[Player, Robots] = player

    def tell(said: Said) -> None:
        outcome.log.append(f'{world.steps:>9} {sentence(said)}')
    try:
        if configuration.alone:
            _run_base(simulator, player, resolved, explorer_seed, configuration, outcome)
        elif family in COMPANIES:
            exploration = Exploration(resolved, explorer_seed)
            exploration.on_event(lambda event: tell(sentence(event.said)))
            world = interrupted = robots = _robots(
                family, scenario, simulator_seed, exploration, resolved.problem)
            _Exploration(family, world, exploration, robots.step, resolved.problem,
                         explorer_seed, configuration, outcome, tell).run()
        elif configuration.declare or family.startswith('early'):
            single = _SingleRobot(resolved, explorer_seed)
            single.on_event(lambda event: tell(sentence(event.said)))
            _Exploration(family, world, single, lambda: player.step(single), resolved.problem,
                         explorer_seed, configuration, outcome, tell).run()
        else:
            mnm = new_mnm(resolved, explorer_seed)
            _Exploration(family, world, mnm, lambda: _step(player, mnm, tell),
                         resolved.problem, explorer_seed, configuration, outcome, tell).run()
    except Exception:  # a crash is a result, and must not end the other trials
        outcome.end = 'crashed'
        outcome.log += traceback.format_exc().splitlines()
    outcome.steps, outcome.setting = world.steps, world.setting
    outcome.interruptions = interrupted.interruptions
    return outcome


def _step(player: Player, mnm: Mnm, tell: Callable[[Said], None]) -> None:
    """Let MNM make a step, and report what it has decided."""
    player.step(mnm)
    for each in mnm.log.take():
        if isinstance(each, Decided):
            tell(each.said)


def declaration(scenario: Scenario, kind: str, seed: int) -> Declaration:
    """Return where actions lead in any setting, or what is not true of that."""
    rng, lists, todo = np.random.default_rng(seed), {}, [scenario.start]
    while todo and len(lists) < _MOST_DECLARED:
        state = todo.pop(0)
        if state in lists:
            continue
        ends = [[*dict.fromkeys(
            end for setting in scenario.settings
            for end, chance in setting.cmp.transitions(state, action) if chance > 0)]
            for action in range(len(scenario.actions))]
        todo += [end for each in ends for end in each]
        for each in ends:
            lacks = kind == 'false' or kind == 'partly' and rng.random() < 0.2
            while lacks and len(each) > 1:
                del each[rng.integers(len(each))]
                lacks = kind == 'false'
        lists[state] = tuple(map(tuple, ends))
    return Declaration(lists)


def _robots(family: str, scenario: Scenario, seed: int, exploration: Exploration,
            problem: Problem) -> Robots:
    manners = COMPANIES[family].manners(np.random.default_rng(seed))
    return Robots(Fleet(exploration, seed),
                  [Simulator(scenario, seed + i) for i in range(len(manners))], manners, seed)


def _run_base(simulator: Simulator, player: Player, resolved: Settings, seed: int,
              configuration: Configuration, outcome: Outcome) -> None:
    base = new_base(resolved, simulator.scenario.start, seed)
    while not base.finished and simulator.steps < configuration.budget:
        player.step(base)
    hypothesis = found_by(base)
    if hypothesis is not None:
        _take_first(outcome, simulator, resolved.problem, hypothesis)


class _AsDeclared:
    """
    A world as the promise assumes it: what is declared of pairs, with what was added, is true.

    What is left of the chances of a pair keeps its proportions.
    """

    def __init__(self, cmp: Cmp, support: Support) -> None:
        self.start, self.actions = cmp.start, cmp.actions
        self._cmp, self._support = cmp, support

    def transitions(self, state: int, action: int) -> Outcomes:
        ends = None if action == RESET else self._support.ends(state, action)
        found = [(end, chance) for end, chance in self._cmp.transitions(state, action)
                 if ends is None or end in ends]
        left = sum(chance for _, chance in found)
        return tuple((end, chance / left) for end, chance in found) or ((state, 1.0),)


def _take_first(outcome: Outcome, world: _World, problem: Problem,
                hypothesis: Hypothesis, cmp: Cmp | None = None) -> None:
    outcome.end = 'found'
    outcome.steps_first = world.steps
    outcome.hypothesis = hypothesis
    outcome.known_first = len(hypothesis.targets)
    outcome.first = judge(cmp or world.cmp, hypothesis, problem.radius, problem.epsilon)
    outcome.log.append(f'{world.steps:>9} first hypothesis, {len(hypothesis.targets)} states')


class _Exploration:
    """
    MNM in one trial: to the first hypothesis, then from one change to the next.

    world: what changes.
    machine: MNM, or the exploration of a fleet.
    step: lets both make a step.
    """

    def __init__(self, family: str, world: _World, machine: Union[Mnm, Exploration],
                 step: Callable[[], None], problem: Problem, seed: int,
                 configuration: Configuration, outcome: Outcome,
                 tell: Callable[[str], None]) -> None:
        self._twice, self._early = family.startswith('twice'), family.startswith('early')
        self._benign = family.startswith('benign')
        self._beyond = family.startswith('beyond')
        self._world = world
        self._step = step
        self._problem = problem
        self._configuration = configuration
        self._outcome = outcome
        self._machine, self._view = machine, View()
        self._mnm = machine if isinstance(machine, Mnm) else machine.mnm
        self._changes = self._mnm.log
        self._tell = tell
        # Most building phases of random CMPs take longer than this.
        self._early_change = 50 * (1 + seed % 20)
        self._at_certificate = seed % 2 == 0
        self._certificates = JudgedCertificates(
            machine, [setting.cmp for setting in world.scenario.settings], problem.limit,
        ) if self._early and isinstance(machine, Exploration) else None

    def run(self) -> None:
        """Do all of it, and fill in the outcome."""
        machine, world, outcome = self._machine, self._world, self._outcome
        if self._early:
            self._make_early_changes()
        if not self._until(lambda: machine.hypothesis is not None):
            return
        assert machine.hypothesis is not None
        _take_first(outcome, world, self._problem, machine.hypothesis, self._assumed())
        if self._early:
            if not self._promised:
                outcome.first = None
            outcome.end = self._relearnt(0, self._right)
            if self._certificates is not None:
                outcome.certificates = tuple(self._certificates.wrong)
        else:
            self._make_changes()
        if self._beyond:
            least = world.steps + self._configuration.change_after
            self._until(lambda: world.steps >= least)
            outcome.alarms = self._changes.noticed
        if len(world.scenario.settings) > 1:
            outcome.last = self._judged()
            outcome.hypothesis = machine.hypothesis
            outcome.known_last = len(machine.hypothesis.targets)
        outcome.rounds = self._mnm.round

    def _make_changes(self) -> None:
        changes = self._changes
        for number in range(1, len(self._world.scenario.settings)):
            if number == 2 and self._twice:
                continue    # it was made while the first one was open
            if not self._settled():
                self._outcome.end = 'never settled'
                return
            self._outcome.alarms += changes.noticed if number == 1 else 0
            noticed, relearnt = changes.noticed, changes.relearnt
            self._change()
            if self._benign:
                self._outcome.end = 'relearnt' if self._settled() else 'not relearnt'
                continue
            if self._twice and self._until(lambda noticed=noticed: changes.noticed > noticed):
                self._change()
            self._outcome.end = self._relearnt(
                noticed, lambda relearnt=relearnt: changes.relearnt != relearnt)

    def _make_early_changes(self) -> None:
        """
        Make the changes before the first hypothesis.

        In every other trial one comes as soon as it makes a certificate false.
        """
        machine, world = self._machine, self._world
        for number, setting in enumerate(world.scenario.settings[1:], 1):
            due = world.steps + self._early_change
            self._until(lambda due=due, cmp=setting.cmp: machine.hypothesis is not None or (
                self._certified_but_for(cmp) if self._at_certificate else world.steps >= due))
            if machine.hypothesis is None or number == 1:
                self._noticed = self._changes.notices
                self._change()

    def _certified_but_for(self, cmp: Cmp) -> bool:
        """Whether a policy is certified that takes too long in another CMP, seen now and then."""
        return self._world.steps % 10 == 0 and isinstance(self._machine, Exploration) and any(
            told.trust is Trust.CERTIFIED
            and expected_steps(cmp, told.policy) > self._problem.limit
            for told in self._machine.trust(1, self._view))

    @property
    def _promised(self) -> bool:
        """Whether the first hypothesis rests on nothing from before the last change."""
        return self._changes.notices > self._noticed

    def _relearnt(self, noticed: int, done: Callable[[], bool]) -> str:
        """Go on until it is done, and return what came of it."""
        if self._until(done):
            return 'relearnt'
        return 'unnoticed' if self._changes.noticed == noticed else 'not relearnt'

    def _settled(self) -> bool:
        """Go on for some steps, and until MNM is not at odds with its hypothesis."""
        least = self._world.steps + self._configuration.change_after
        changes = self._changes
        return self._until(lambda: self._world.steps >= least
                           and changes.noticed == changes.relearnt)

    def _right(self) -> bool:
        """Whether the hypothesis is right and MNM is not at odds with it, seen now and then."""
        return (self._world.steps % 100 == 0 and not self._changes.open
                and self._judged().ok)

    def _judged(self) -> Verdict:
        return judge(self._assumed(), self._machine.hypothesis, self._problem.radius,
                     self._problem.epsilon)

    def _assumed(self) -> Cmp:
        return _AsDeclared(self._world.cmp, self._mnm.support)

    def _change(self) -> None:
        self._world.change()
        if self._certificates is not None:
            self._certificates.change(self._world.setting, *(
                [self._world.waiting] if isinstance(self._world, Robots) else []))
        self._tell(f'setting {self._world.setting} takes over')

    def _until(self, done: Callable[[], bool]) -> bool:
        """Go on and return whether it was done before the budget was used up."""
        limit = self._world.steps + self._configuration.budget
        while not done() and self._world.steps < limit:
            self._step()
        return done()


def names(family: str, seed: int, configuration: Configuration) -> dict[str, object]:
    """Return the columns that tell a trial from all others, all that is needed to repeat it."""
    radius = radius_of(family, seed, configuration)
    return {'family': family, 'seed': seed, **asdict(configuration),
            'base': configuration.settings(1, radius).base,
            'options': ' '.join(configuration.options), 'alone': int(configuration.alone),
            'radius': radius}


def columns(outcome: Outcome) -> dict[str, object]:
    """Return the other columns of the results: what came of a trial."""
    found: dict[str, object] = {
        'reachable': _joined(outcome.reachable), 'end': outcome.end,
        'steps_first': outcome.steps_first, 'steps': outcome.steps, 'rounds': outcome.rounds,
        'alarms': outcome.alarms, 'interruptions': outcome.interruptions,
        'known_first': outcome.known_first,
        'known_last': outcome.known_last, 'certificates': _joined(outcome.certificates)}
    for name, verdict in (('first', outcome.first), ('last', outcome.last)):
        found[f'missing_{name}'] = _joined(verdict.missing) if verdict else ''
        found[f'over_{name}'] = _joined(
            f'{target}:{time:.6g}' for target, time in verdict.over_limit) if verdict else ''
        found[f'ok_{name}'] = int(verdict.ok) if verdict else ''
    return found


def is_finished(row: Mapping[str, str]) -> bool:
    """Whether a trial came to its end, by its row."""
    return row['end'] in FINISHED


def is_broken(row: Mapping[str, str]) -> bool:
    """Whether anything judged was wrong, be the trial finished or not, or it crashed."""
    return (row['end'] == 'crashed' or bool(row['certificates'])
            or '0' in (row['ok_first'], row['ok_last']))


def _joined(items: object) -> str:
    return ' '.join(map(str, items))  # type: ignore[call-overload]
