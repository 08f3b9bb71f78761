# SPDX-License-Identifier: Apache-2.0

"""Presets, and what overrides them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mnm_ros.core import new_base, OPTIONS, PRESETS, Problem, settings
from mnm_ros.core.paper import plug_in
from mnm_ros.core.paper.kl_optimism import KlOptimism
from mnm_ros.core.paper.options import PaperOptions
from mnm_ros.core.presets import new_mnm, Option, options_by_name, presets, Value
import pytest
from scripted import ScriptedBase
from tiers import strength

PROBLEM = Problem(2, 3.0, 1.0, 0.1)


def test_the_printed_constants() -> None:
    paper = settings(PROBLEM, 'paper')
    assert (paper.c1, PaperOptions.of(paper).c2) == (216 * 15 ** 2 + 61, 225)
    assert paper.accuracy == 1 / 8 and paper.steps_horizon == 27
    assert settings(Problem(2, 3.0, 0.5, 0.1), 'paper').accuracy == 1 / 16
    assert settings(Problem(2, 3.0, 7.0, 0.1), 'paper').accuracy == 1 / 8


def test_every_preset_names_every_option() -> None:
    for preset in PRESETS.values():
        assert set(preset) == {option.name for option in OPTIONS}


def test_an_incomplete_preset_is_refused_by_the_option_that_lacks_it() -> None:
    first, second, *others = OPTIONS
    quick = replace(first, presets={**first.presets, 'quick': first.presets['onboard']})
    with pytest.raises(ValueError, match=(
            f"option '{second.name}' has no value for the preset 'quick', expected one for each "
            'of onboard, paper, quick')):
        presets((quick, second, *others))


def other(option: Option) -> Value:
    """Return an allowed value of the option."""
    if option.choices:
        return option.choices[-1]
    return min(3.5, option.maximum) if isinstance(option.default, float) else 17


@pytest.mark.parametrize('option', OPTIONS, ids=lambda option: option.name)
@pytest.mark.parametrize('preset', PRESETS)
def test_every_option_can_be_overridden_and_the_result_runs(preset: str, option: Option) -> None:
    resolved = settings(PROBLEM, preset, {option.name: other(option)})
    assert {**vars(resolved), **resolved.of_plug_ins}[option.name] == other(option)
    base, mnm = new_base(resolved, home=0), new_mnm(resolved)
    for step in range(strength(12, 300)):
        if not base.finished:
            base.observe(base.next_action(), step % 3)
        mnm.observe(mnm.next_action(), step % 3)


def test_an_empty_value_leaves_the_preset_as_it_is() -> None:
    assert settings(PROBLEM, 'onboard', {'base': '', 'c1': 0.0, 'horizon': 0}) == settings(PROBLEM)


def test_the_counts_are_dealt_as_the_planner_asks_for_it(
        monkeypatch: pytest.MonkeyPatch) -> None:
    class Planner(KlOptimism):
        sets = 5

    monkeypatch.setattr(plug_in, 'KlOptimism', Planner)
    resolved = settings(PROBLEM, 'onboard', {'base': 'ucb_explore'})
    assert new_base(resolved, home=0).parts.optimism.sets == 5  # type: ignore[attr-defined]


def my_base(settings: object, home: int, rng: object, policies: tuple = ()) -> ScriptedBase:
    return ScriptedBase(5)


def test_a_base_from_another_package_is_named_by_module_and_factory() -> None:
    resolved = settings(PROBLEM, 'onboard', {'base': 'test_presets:my_base'})
    assert isinstance(new_base(resolved, home=0), ScriptedBase)
    mnm = new_mnm(resolved)
    mnm.observe(mnm.next_action(), 0)
    assert isinstance(mnm.phase.base, ScriptedBase)


@pytest.mark.parametrize(('preset', 'overrides', 'text'), [
    ('onboard', {'base': 'nowhere:found'}, "base is 'nowhere:found', expected a module:factory"),
    ('onboard', {'base': 'math:explore'}, "base is 'math:explore', expected a module:factory"),
    ('onboard', {'base': ':x'}, "base is ':x', expected a module:factory"),
    ('pocket', {}, "preset is 'pocket', expected one of onboard, paper"),
    ('onboard', {'bonus': 'kl'}, "unknown option 'bonus', expected one of base, "),
    ('onboard', {'optimism': 'blind'}, "optimism is 'blind', expected one of kl, split_samples"),
    ('onboard', {'c1': -1.0}, r'c1 is -1.0, expected a number in \[0, 1e\+09\]'),
    ('onboard', {'c2': 1e9 + 1}, r'c2 is 1000000001.0, expected a number in \[0, 1e\+09\]'),
    ('onboard', {'horizon': 'far'}, "horizon is 'far', expected a number"),
    ('onboard', {'stream_exponent': 0.5}, r'stream_exponent is 0.5, expected a number in \[1, 6'),
    ('onboard', {'stream_exponent': 1.0}, r'stream_exponent is 1.0, expected a number > 1'),
    *(('onboard', {name: 1e308}, rf'{name} is 1e\+308, expected a number in \[')
      for name in ('c1', 'c2', 'stream_exponent', 'accuracy_divisor')),
    ('onboard', {'horizon': 2 ** 63 - 1}, r'horizon is \d+, expected a number in \[0, 10000\]'),
])
def test_what_is_not_allowed_is_refused_by_name(
        preset: str, overrides: dict[str, Value], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        settings(PROBLEM, preset, overrides)


def test_a_checkpoint_names_every_option_whichever_way_it_is_given() -> None:
    names = {option.name: option.default for option in OPTIONS}
    assert options_by_name({'seed': 3}) == names
    given = {'base': 'disco', 'overrides': ' c1=3  checks=watch check_window=4'}
    assert options_by_name(given) == {
        **names, 'base': 'disco', 'c1': 3.0, 'checks': 'watch', 'check_window': 4}


@pytest.mark.parametrize(('overrides', 'text'), [
    ('c1=many', "c1 is 'many', expected a number"), ('c1', "c1 is '', expected a number"),
    ('base=disco', "parameter 'overrides' has 'base', expected name=value with one of planner"),
    ('planner=os:system', "'overrides' has planner=os:system, expected a name without a module"),
    ('c1=3, c2=1', "c1 is '3,', expected a number"), ('C1=3', "'overrides' has 'C1', expected")])
def test_overrides_that_are_none_are_refused(overrides: str, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        options_by_name({'overrides': overrides})


@pytest.mark.parametrize(('base', 'reason'), [
    ('ends:x', 'SystemExit: 3'), ('broken:x', 'SyntaxError: '), ('fails:x', 'ZeroDivisionError: '),
    ('.:x', 'TypeError: '), ('math:', 'AttributeError: '), ('math:pi', 'pi cannot be called'),
    ('math:sin', 'sin cannot be called as factory'), ('fine:no_base', 'no_base cannot be called')])
def test_a_base_that_is_none_is_refused(
        base: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {'ends': 'raise SystemExit(3)', 'broken': 'def', 'fails': '1 / 0',
                       'fine': 'def no_base(settings): ...'}.items():
        (tmp_path / f'{name}.py').write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError) as refusal:
        settings(PROBLEM, 'onboard', {'base': base})
    assert str(refusal.value).startswith(
        f'base is {base!r}, expected a module:factory to import: {reason}')
    assert '\n' not in str(refusal.value)


@pytest.mark.parametrize(('problem', 'divisor'), [
    (Problem(2, 20.0, 1.0, 0.1), 1000.0), (Problem(2, 20.0, 0.001, 0.1), 0.0),
    (Problem(2, 1000.0, 1.0, 0.1), 10.0)])
def test_an_attempt_that_no_robot_can_afford_is_refused(problem: Problem, divisor: float) -> None:
    with pytest.raises(ValueError, match=r'an attempt would take \d+ steps with radius .*, '
                                         'epsilon .* and accuracy_divisor .*, expected at most'):
        settings(problem, 'onboard', {'accuracy_divisor': divisor})


def test_the_largest_values_do_not_overflow() -> None:
    overrides = {option.name: option.maximum for option in OPTIONS
                 if isinstance(option.default, float)}
    for preset in PRESETS:
        for name, value in overrides.items():
            mnm = new_mnm(settings(PROBLEM, preset, {name: value}))
            for step in range(strength(20, 2000)):
                mnm.observe(mnm.next_action(), step % 3)
        new_base(settings(Problem(2, 1000.0, 1000.0, 1e-12), preset, {
            **overrides, 'accuracy_divisor': 1.0}), home=0).step_bound(10 ** 6)
