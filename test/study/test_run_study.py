# SPDX-License-Identifier: Apache-2.0

"""Explorations of changing worlds side by side: what is counted, told and drawn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
import sys

from mnm_ros.core.errors import ExportError, InvalidValueError
from mnm_ros.core.knowledge.knowledge import NO_ONE_NUMBER
from mnm_ros.core.presets import new_mnm
from mnm_ros.simulation.cmp import MoveCmp, TableCmp
from mnm_ros.simulation.ground_truth import ExplorationSteps
from mnm_ros.simulation.scenario import load, Scenario, Setting
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.study.course import Course, curve, WrongSteps
from mnm_ros.study.methods import Experiment, explore, METHODS, seeds, verdicts
from mnm_ros.study.study import run_study, Study
import numpy as np
import pytest
from tiers import strength, thorough

THOUSAND = strength(300, 1000)    # steps, or fewer
RADIUS = strength(2.0, 4.0)
SEEDS = range(strength(1, 2))


def early(until: int = 3 * THOUSAND) -> Scenario:
    """Return the scenario ``broken_wheel`` with a change that comes soon."""
    wheel = load('broken_wheel')
    before, after = wheel.settings
    return replace(wheel, settings=(replace(before, until=until), after))


@pytest.fixture(scope='module')
def study() -> Study:
    return run_study([early(), 'corridor'], ['disco', 'ucb_explore'], SEEDS,
                     tail=3 * THOUSAND, period=2 * THOUSAND, radius=RADIUS)


@thorough(
    'study/test_run_study.py::test_a_row_for_each_exploration '
    'core/test_support.py::test_the_same_inputs_lead_to_the_same_place')
def test_every_combination_is_explored_and_the_same_again(study: Study) -> None:
    assert [(each.world, each.base, each.method, each.seed) for each in study.courses] == [
        (world, base, method, seed) for world in ('broken_wheel', 'corridor')
        for base in ('disco', 'ucb_explore') for method in METHODS for seed in SEEDS]
    again = run_study([early()], ['disco'], SEEDS[-1:], tail=3 * THOUSAND, period=2 * THOUSAND,
                      methods=['mnm', 'schedule'], jobs=2, radius=RADIUS)
    assert again.courses == (*study.of('broken_wheel', 'mnm')[-1:],
                             *study.of('broken_wheel', 'schedule', 'disco')[-1:])


def test_exploration_steps_are_those_at_which_what_is_held_is_wrong() -> None:
    """Counted anew, step by step, by the counter of the simulator's ground truth."""
    experiment = Experiment(early(), 'mnm', 'disco', 1, tail=2 * THOUSAND, radius=RADIUS)
    course = explore(experiment)
    for_simulator, for_explorer = seeds('broken_wheel', 1, 0)
    simulator = Simulator(experiment.world, for_simulator)
    counter = ExplorationSteps(experiment.world, RADIUS, 1.0)
    machine, wrong = new_mnm(experiment.settings, for_explorer), 0
    totals = []
    for verdict in verdicts(machine, simulator, counter):
        wrong += not verdict.ok
        totals.append(wrong)
        if len(totals) == 5 * THOUSAND:
            break
    assert course.until(range(1, 5 * THOUSAND + 1)).tolist() == totals
    assert course.steps == 5 * THOUSAND and course.total == totals[-1] == sum(course.by_setting)
    assert course.by_setting[0] == totals[3 * THOUSAND - 1] and course.right_at_the_end


def test_methods_differ_as_they_should(study: Study) -> None:
    for base in ('disco', 'ucb_explore'):
        for once, oracle, mnm, schedule in zip(*(study.of('broken_wheel', method, base) for method
                                                 in ('once', 'oracle', 'mnm', 'schedule'))):
            assert once.first == oracle.first and once.by_setting[0] == oracle.by_setting[0]
            assert once.by_setting[1] == 3 * THOUSAND and not once.right_at_the_end
            assert 0 < oracle.by_setting[1] < 3 * THOUSAND and oracle.right_at_the_end
            assert mnm.right_at_the_end and mnm.total < once.total
            # Begun at 2,000 last before the change, so that nothing is noticed before 4,000.
            assert THOUSAND < schedule.by_setting[1] < 3 * THOUSAND and schedule.right_at_the_end
        for method in METHODS:    # where nothing changes
            assert all(course.total == course.first - 1 or course.total == course.first
                       for course in study.of('corridor', method, base))


def test_a_run_longer_than_the_period_never_ends() -> None:
    course, = run_study(['corridor'], ['ucb_explore'], [0], methods=['schedule'], tail=3000,
                        period=100).courses
    assert course.first is None and course.known == 0 and course.total == 3000


OWN_BASE = """
from mnm_ros.core.components import BASES


def hasty(settings, home, rng, policies=()):
    base = BASES['disco'](settings, home, rng, policies)
    base.quantum //= 2
    return base
"""


def test_a_base_may_have_another_quantum_than_the_horizon_of_its_policies(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'hasty_base.py').write_text(OWN_BASE)
    monkeypatch.syspath_prepend(str(tmp_path))
    courses = run_study(['corridor'], ['hasty_base:hasty'], range(1), tail=THOUSAND, radius=2.0,
                        period=THOUSAND).courses
    assert [(each.method, each.known, each.right_at_the_end) for each in courses] == [
        (method, courses[0].known, True) for method in METHODS]


def made(*wrong: tuple[int, int], seed: int = 0) -> Course:
    return Course('world', 'mnm', 'disco', seed, (10, 20), wrong, None, 1)


def test_a_course_counts_up_to_any_step() -> None:
    course = made((0, 4), (12, 15))
    assert course.until([0, 2, 4, 11, 12, 13, 15, 20]).tolist() == [0, 2, 4, 4, 4, 5, 7, 7]
    assert course.by_setting == (4, 3) and course.total == 7 and course.right_at_the_end
    assert not made((18, 20)).right_at_the_end and made().right_at_the_end
    wrong = WrongSteps()
    for begin, end in ((0, 1), (1, 4), (4, 4), (6, 7), (7, 9)):
        wrong.add(begin, end)
    assert wrong.found == [(0, 4), (6, 9)]


def test_a_curve_has_the_mean_and_a_band_of_the_seeds() -> None:
    courses = [made((0, length), seed=length) for length in range(1, 12)]
    found = curve(courses, 0.8, 5)
    assert found.steps.tolist() == [0, 5, 10, 15, 20]
    assert found.mean[-1] == 6.0 and np.allclose(
        (found.low[-1], found.high[-1]), (2.0, 10.0))
    assert (found.low <= found.mean).all() and (found.mean <= found.high).all()
    assert (np.diff(found.mean) >= 0).all() and found.mean[0] == 0


def test_the_table_says_why_numbers_of_known_states_differ(study: Study) -> None:
    lines = str(study).splitlines()
    assert len(lines) == 1 + 2 * 2 * 4 or lines[-1] == NO_ONE_NUMBER
    assert lines[0].split()[:5] == ['world', 'method', 'base', 'seeds', 'first']
    rows = [line for line in lines if line.startswith('broken_wheel  once')]
    assert len(rows) == 2 and all(row.endswith(f'{len(SEEDS)} of {len(SEEDS)}') for row in rows)
    two = Study((made((0, 1)), replace(made((0, 1), seed=1), known=2)))
    assert str(two).endswith(f'\n{NO_ONE_NUMBER}') and ' 1-2 ' in str(two)
    assert NO_ONE_NUMBER not in str(Study((made((0, 1)), made((0, 1), seed=1))))
    wrong = replace(made((0, 20)), known=2)    # no such excuse
    assert NO_ONE_NUMBER not in str(Study((made((0, 1)), wrong)))


def test_a_row_for_each_exploration(study: Study) -> None:
    pytest.importorskip('pandas', reason='pandas is not installed')
    frame = study.to_dataframe()
    assert len(frame) == len(study.courses)
    assert frame['total'].tolist() == [course.total for course in study.courses]
    mean = frame.groupby(['world', 'method', 'base'])['total'].mean()
    assert mean['broken_wheel', 'once', 'disco'] == np.mean(
        [course.total for course in study.of('broken_wheel', 'once', 'disco')])


def test_one_picture_of_all(study: Study, tmp_path: Path) -> None:
    matplotlib = pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    matplotlib.use('agg')
    path = tmp_path / 'study.png'
    figure = study.plot(path, share=1.0)
    assert path.read_bytes().startswith(b'\x89PNG')
    assert [axes.get_title() for axes in figure.axes] == ['broken_wheel', 'corridor']
    wheel = figure.axes[0]
    legend = figure.axes[-1].get_legend()    # once for all worlds, beside the curves
    assert [text.get_text() for text in legend.get_texts()][0] == 'MNM, disco'
    figure.canvas.draw()
    assert legend.get_window_extent().x0 >= figure.axes[-1].get_window_extent().x1
    assert len(wheel.collections) == 8    # a band for each curve
    drawn = wheel.get_lines()[0]
    found = study.curve('broken_wheel')
    assert np.array_equal(drawn.get_ydata(), found.mean)


def test_matplotlib_is_named_where_it_is_missing(
        study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'matplotlib.pyplot', None)
    with pytest.raises(ExportError, match='matplotlib cannot be imported: in the clone'):
        study.plot()


WAITING = Scenario('waiting', ('a',), 0, (
    Setting(TableCmp(0, 1, {}), None), Setting(TableCmp(0, 1, {}), None)), Path('waiting'))
LOCAL = Scenario('local', ('a',), 0, (
    Setting(MoveCmp(0, [lambda state: state], 1.0), None),), Path('local'))


@pytest.mark.parametrize(('arguments', 'text'), [
    ({'worlds': []}, r'worlds are \[\], expected one or more'),
    ({'seeds': [1, 1]}, r'seeds are \[1, 1\], expected one or more, each once'),
    ({'seeds': [-1]}, 'seeds is -1, expected at least 0'),
    ({'methods': ['greedy']}, "method is 'greedy', expected one of mnm, once, oracle, schedule"),
    ({'bases': ['nothing']}, "base is 'nothing'"),
    ({'jobs': 0}, 'jobs is 0, expected at least 1'),
    ({'period': 0}, 'period is 0'),
    ({'radius': 0.5}, 'radius is 0.5'),
    ({'overrides': {'nothing': 1}}, "unknown option 'nothing'"),
    ({'worlds': [WAITING]}, 'waiting: setting 0 has no until'),
    ({'worlds': [LOCAL, 'endless_tree'], 'jobs': 2}, 'local cannot be sent to other processes'),
])
def test_what_cannot_be_explored_is_refused_before_anything_begins(
        arguments: dict, text: str) -> None:
    with pytest.raises(InvalidValueError, match=text):
        run_study(**{'worlds': ['corridor'], **arguments})


def test_what_was_not_explored_is_named(study: Study) -> None:
    with pytest.raises(InvalidValueError, match='mnm with disco in trap is not in this study, '
                                                'expected one of: mnm with disco in broken_'):
        study.of('trap')
    with pytest.raises(InvalidValueError, match='share is 80'):
        study.curve('corridor', share=80)


def test_bases_know_different_numbers_of_a_cliff_and_both_are_right() -> None:
    """The table of the environment is the truth; the states beyond L make the difference."""
    gymnasium = pytest.importorskip('gymnasium', reason='gymnasium is not installed')
    env = gymnasium.make(max(
        name for name in gymnasium.registry if name.startswith('CliffWalking-v')))
    table = env.unwrapped.P
    cliff = TableCmp(36, 4, {
        (state, action): tuple((int(after), float(chance)) for chance, after, *_ in ends)
        for state, actions in table.items() for action, ends in actions.items()})
    world = Scenario('cliff', ('up', 'right', 'down', 'left'), 36, (Setting(cliff, None),),
                     Path('cliff'))
    study = run_study([world], ['disco', 'ucb_explore'], [1], methods=['once'], radius=5.0,
                      tail=12_000)
    assert all(course.right_at_the_end for course in study.courses)
    one, other = (course.known for course in study.courses)
    assert one != other and str(study).endswith(NO_ONE_NUMBER)
