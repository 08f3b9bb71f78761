# SPDX-License-Identifier: Apache-2.0

"""Of each state the same is said live, by topics, by a log, by a checkpoint, and when shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
import json
from pathlib import Path
from typing import Any

from mnm_ros.checkpoint.input_log import InputLog, SavedInputs
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.fleet.fleet import Fleet
from mnm_ros.core.inputs import Input
from mnm_ros.core.knowledge.knowledge import Knowledge, nested, StateKind
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.presets import OPTIONS, settings_by_name
from mnm_ros.core.progress import trust
from mnm_ros.core.progress.activity import Activity
from mnm_ros.core.progress.said import HintRaised
from mnm_ros.core.progress.trust import Trust
from mnm_ros.core.task.step_task import play
from mnm_ros.export.contents import ExportContents, read
from mnm_ros.export.writers import as_json, dot, states_csv
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation import scenario
from mnm_ros.simulation.cmp import Cmp
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.trial.facts import Facts
from mnm_ros.trial.replay import replay
from mnm_ros.view.scene import kinds
from mnm_ros.view.sentences import sentence
from mnm_ros.view.shapes import Picture
from mnm_ros.view.telemetry import as_json as watched
from mnm_ros.view.telemetry import Telemetry
from mnm_ros.view.terminal.state_grid import WorldView
from mnm_ros.view.web.layers import draw, Places
import pytest
from robots import Robots
from tiers import strength, thorough

ROOMS = scenario.load('two_rooms')
ASKED = {
    'version': '0.1.0', 'actions': list(ROOMS.actions), 'radius': strength(2.0, 3.0),
    'epsilon': 1.0, 'delta': strength(0.5, 0.1), 'preset': 'onboard', 'seed': 0,
    **{option.name: option.default for option in OPTIONS}}
MOST = 9000    # steps
LOOK = 50      # steps between two looks
# Of RViz, where the kind is not it.
SHAPES = {StateKind.HOME: 'home', StateKind.CANDIDATE: 'candidates'}


@dataclass
class Run:
    """An exploration of two rooms, whose inputs are kept, with a resume point on the way."""

    asked: dict[str, Any] = field(default_factory=lambda: ASKED)
    exploration: Exploration = field(init=False)
    simulator: Simulator = field(default_factory=lambda: Simulator(ROOMS, 0))
    inputs: list[Input] = field(default_factory=list)
    point: tuple[Any, int] | None = None

    def __post_init__(self) -> None:
        self.exploration = Exploration(settings_by_name(self.asked), 0)
        self.exploration.listeners.append(
            lambda update: self.inputs.append(update.input))

    def step(self) -> None:
        """Make a step; somebody looks at it now and then, as with an explorer's node."""
        play(self.exploration, self.simulator.step, 1)
        if self.exploration.steps % LOOK == 0:
            self.exploration.knowledge(self.exploration.trust(2))

    def until(self, done: Callable[[], object], keep: bool = False) -> None:
        """Go on until it is done, and with ``keep`` until a resume point can be kept there."""
        while not done() or keep and not self.exploration.can_snapshot:
            assert self.exploration.steps < MOST
            self.step()
        if keep:
            point = json.loads(json.dumps(self.exploration.to_state()))
            self.point = point, len(self.inputs)

    def files(self, folder: Path) -> Iterator[Path]:
        """Write a log and a checkpoint."""
        assert self.point is not None and self.point[1] < len(self.inputs)
        for name, (point, number) in (('a.log.sqlite', (None, 0)),
                                      ('a.00000001.sqlite', self.point)):
            log = InputLog.create(folder / name, self.asked, point, number)
            log.append(self.inputs[number:])
            log.close()
            yield folder / name

    def steps(self, number: int) -> None:
        """Make so many steps."""
        end = self.exploration.steps + number
        self.until(lambda: self.exploration.steps >= end)


def before_the_hypothesis(run: Run) -> None:
    """Stop where some states are certified, and none is known."""
    run.until(lambda: run.exploration.steps > strength(200, 500), keep=True)
    run.steps(strength(50, 200))


def settled(run: Run) -> None:
    """Stop where it is known what is within reach."""
    run.until(lambda: run.exploration.hypothesis, keep=True)
    run.steps(300)


def lost(run: Run) -> None:
    """Close the door; stop where that is being learnt, a resume point within."""
    run.until(lambda: run.exploration.hypothesis)
    run.simulator.change()
    run.until(lambda: run.exploration.lost, keep=True)
    run.steps(20)


def relearnt(run: Run) -> None:
    """Close the door; stop some time after that was relearnt."""
    lost(run)
    run.until(lambda: run.exploration.changes_relearnt)
    run.steps(100)


def hinted(run: Run) -> None:
    """Close the door, and stop where there is only the hint of it."""
    run.until(lambda: run.exploration.hypothesis, keep=True)
    run.simulator.change()
    run.until(lambda: any(
        isinstance(event.said, HintRaised) for event in run.exploration.events))


def declared(run: Run) -> None:
    """Declare where all actions of one room may lead, and stop before all is known."""
    run.until(lambda: run.exploration.steps > 60)
    run.exploration.declare(map_of(run.simulator.cmp))
    run.until(lambda: run.exploration.steps > 100, keep=True)
    run.steps(60)


def declared_and_settled(run: Run) -> None:
    """Declare the same, and stop where all is known."""
    declared(run)
    run.until(lambda: run.exploration.hypothesis)


def fleet(run: Run) -> None:
    """Explore with three robots, which close the door between them."""
    exploration = run.exploration
    simulators = [Simulator(ROOMS, seed) for seed in range(3)]
    robots = Robots(Fleet(exploration), simulators, (), 0)
    while exploration.hypothesis is None or not exploration.can_snapshot:
        robots.step()
    run.point = json.loads(json.dumps(exploration.to_state())), len(run.inputs)
    for simulator in simulators:
        simulator.change()
    while not exploration.lost:
        assert exploration.steps < MOST
        robots.step()


def map_of(cmp: Cmp) -> Declaration:
    """Return where actions lead in the states met from home within some steps."""
    met = [cmp.start]
    for state in met:
        met += [after for action in range(cmp.actions) for after, _ in cmp.transitions(
            state, action) if after not in met]
    return Declaration({state: tuple(tuple(after for after, _ in cmp.transitions(state, action))
                                     for action in range(cmp.actions)) for state in met})


ALSO = thorough(
    'export/test_same_everywhere.py::test_files_say_what_the_exploration_says '
    'export/test_same_everywhere.py::test_what_shows_it_says_the_same')
"""Of a story whose kinds of states others have, too: ``hinted``, ``declared`` and ``lost``."""

STORIES = (
    before_the_hypothesis, pytest.param(settled, marks=ALSO), lost,
    pytest.param(relearnt, marks=ALSO), hinted, declared,
    pytest.param(declared_and_settled, marks=ALSO), pytest.param(fleet, marks=ALSO))


@pytest.fixture(scope='module', params=STORIES, ids=lambda story: story.__name__)
def run(request: pytest.FixtureRequest) -> Run:
    # States are assumed for long only within a larger radius.
    run = Run({**ASKED, 'radius': 3.0} if request.param is declared else ASKED)
    request.param(run)
    return run


@pytest.fixture(scope='module')
def live(run: Run) -> Knowledge:
    return run.exploration.knowledge()


@pytest.fixture(scope='module')
def heard(run: Run, live: Knowledge) -> Telemetry:
    """Return what is heard of it, each message as it goes over the wire."""
    exploration = run.exploration
    told = trust.to_json((1, 0), exploration.trust())
    return Telemetry(
        phase=exploration.phase.value, known=live.known, hypothesis=exploration.hypothesis,
        trust=trust.from_json(told)[1], counts=nested(exploration.history.rows()),
        activity=Activity.from_json(exploration.activity().to_json()))


@pytest.fixture(scope='module')
def files(run: Run, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return [*run.files(tmp_path_factory.mktemp('kept'))]


@pytest.fixture(scope='module')
def learnt(files: list[Path]) -> list[ExportContents]:
    """Return what the log says, and what the checkpoint says."""
    return [read(path) for path in files]


def told(known: Knowledge, policies: bool = True, provisional: bool = True) -> dict[int, Any]:
    """
    Return what is said of each state, figures as they go over the wire.

    :param policies: whether policies are compared, too.
    :param provisional: whether also what the policies on the way to a hypothesis take.
    """
    found: dict[int, Any] = {}
    for state in known.kinds:
        each = known.state(state)
        assert each is not None
        how = each.told
        found[state] = each.kind, each.visits, how and (
            how.trust, how.declared, sentence(how.said))
        if not provisional and how and how.trust is not Trust.PROVEN:
            continue
        found[state] += (
            *(None if steps is None else pytest.approx(steps, abs=0.006) for steps in (
                each.expected_steps, how and how.at_most_steps)),
            each.policy if policies else None)
    return found


def test_a_story_has_what_it_tells_of(run: Run, live: Knowledge, request: Any) -> None:
    story = request.node.callspec.params['run']
    there = {*live.kinds.values()}
    assert there >= {
        before_the_hypothesis: {StateKind.HOME, StateKind.CERTIFIED},
        settled: {StateKind.KNOWN, StateKind.BEYOND}, lost: {StateKind.LOST},
        relearnt: {StateKind.LOST, StateKind.BEYOND}, hinted: {StateKind.DOUBTED},
        declared: {StateKind.ASSUMED}, declared_and_settled: {StateKind.KNOWN},
        fleet: {StateKind.LOST}}[story]


def test_files_say_what_the_exploration_says(
        live: Knowledge, learnt: list[ExportContents]) -> None:
    """A policy on the way stays, once told, as long as it holds; a file finds one for itself."""
    for file in learnt:
        assert told(file.knowledge, provisional=False) == told(
            live, provisional=False), file.source
        assert list(file.knowledge.kinds) == list(live.kinds)
        assert (file.knowledge.steps, file.knowledge.limit) == (live.steps, live.limit)


def test_topics_say_what_the_exploration_says(live: Knowledge, heard: Telemetry) -> None:
    """But for the policies that are on the way, which have a topic of their own."""
    assert told(heard.knowledge, False) == told(live, False)
    assert {heard.knowledge.policies.get(state) for state in live.known} <= {
        live.policies[state] for state in live.known}


def test_what_shows_it_says_the_same(
        live: Knowledge, heard: Telemetry, learnt: list[ExportContents],
        files: list[Path]) -> None:
    what = {state: kind.value for state, kind in live.kinds.items()}
    assert kinds(heard) == what
    page = {int(entry[0]): entry[4] for entry in draw(heard, Places())['states']}
    assert page and page.items() <= what.items()
    terminal = WorldView(heard)
    marks = {state: terminal.mark(state) for state in what}
    assert len({*marks.values()}) == len({*what.values()}) == len({*zip(
        marks.values(), what.values())})
    machine = json.loads(watched(heard))
    for key, kind in (('candidates', 'candidate'), ('beyond', 'beyond'), ('lost', 'lost')):
        assert machine[key] == [state for state in what if what[state] == kind]
    for name, state in Picture().shapes(live, RobotDescription(
            ROOMS.actions, positions={state: (state, 0.0) for state in what})):
        if name in {*(kind.value for kind in StateKind), 'candidates'} - {'home'}:
            assert name == SHAPES.get(live.kinds[state], live.kinds[state].value) or (
                state == live.home and name == 'known')
    for file in learnt:
        rows = json.loads(as_json(file))['states']
        assert {row['state']: row['kind'] for row in rows} == what
        assert [line.split(',')[4] for line in states_csv(file).decode().splitlines()[1:]] == [
            *what.values()]
        assert all(f'class={kind}]' in line for line, kind in zip(
            dot(file).decode().splitlines()[2:], what.values()))
    for path in files[strength(1, 0):]:    # that of a log is shown by test_report.py
        saved = SavedInputs(path)
        facts = Facts(saved, replay(saved), RobotDescription(ROOMS.actions))
        assert [row.state for row in facts.rows() if row.note == 'doubted'] == [
            state for state in live.known if live.kinds[state] is StateKind.DOUBTED]
        far, _ = facts.beyond()
        assert {int(label) for label, *_ in far} == (
            {*what} - {*live.known} if live.known else set())
