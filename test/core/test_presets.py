"""Presets, and what overrides them."""

from __future__ import annotations

import pytest
from scripted import ScriptedBase

from mnm_ros.core import parts
from mnm_ros.core.kl_optimism import KlOptimism
from mnm_ros.core.presets import OPTIONS, PRESETS, Option, Value, new_base, new_mnm, settings
from mnm_ros.core.problem import Problem

PROBLEM = Problem(2, 3.0, 1.0, 0.1)


def test_the_printed_constants() -> None:
    paper = settings(PROBLEM, 'paper')
    assert (paper.c1, paper.c2) == (216 * 15 ** 2 + 61, 225)
    assert paper.accuracy == 1 / 8 and paper.steps_horizon == 27
    assert settings(Problem(2, 3.0, 0.5, 0.1), 'paper').accuracy == 1 / 16
    assert settings(Problem(2, 3.0, 7.0, 0.1), 'paper').accuracy == 1 / 8


def test_every_preset_names_every_option() -> None:
    for preset in PRESETS.values():
        assert set(preset) == {option.name for option in OPTIONS}


def other(option: Option) -> Value:
    """Return an allowed value of the option."""
    if option.choices:
        return option.choices[-1]
    return 3.5 if isinstance(option.default, float) else 17


@pytest.mark.parametrize('option', OPTIONS, ids=lambda option: option.name)
@pytest.mark.parametrize('preset', PRESETS)
def test_every_option_can_be_overridden_and_the_result_runs(preset: str, option: Option) -> None:
    resolved = settings(PROBLEM, preset, {option.name: other(option)})
    assert getattr(resolved, option.name) == other(option)
    base, mnm = new_base(resolved, home=0), new_mnm(resolved)
    for step in range(300):
        if not base.finished:
            base.observe(base.next_action(), step % 3)
        mnm.observe(mnm.next_action(), step % 3)


def test_an_empty_value_leaves_the_preset_as_it_is() -> None:
    assert settings(PROBLEM, 'onboard', {'base': '', 'c1': 0.0, 'horizon': 0}) == settings(PROBLEM)


@pytest.mark.parametrize('base', parts.BASES)
def test_the_counts_are_dealt_as_the_planner_asks_for_it(
        base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Planner(KlOptimism):
        sets = 5

    monkeypatch.setitem(
        parts.OPTIMISMS, 'kl', lambda settings, delta, rng: Planner(settings.problem, delta, 9))
    resolved = settings(PROBLEM, 'onboard', {'base': base})
    assert new_base(resolved, home=0)._parts.counts.sets == 5  # type: ignore[attr-defined]


def my_base(settings: object, home: int, rng: object, policies: tuple = ()) -> ScriptedBase:
    return ScriptedBase(5)


def test_a_base_from_another_package_is_named_by_module_and_factory() -> None:
    resolved = settings(PROBLEM, 'onboard', {'base': 'test_presets:my_base'})
    assert isinstance(new_base(resolved, home=0), ScriptedBase)
    mnm = new_mnm(resolved)
    mnm.observe(mnm.next_action(), 0)
    assert isinstance(mnm.active, ScriptedBase)


@pytest.mark.parametrize(('preset', 'overrides', 'text'), [
    ('onboard', {'base': 'nowhere:found'}, "base is 'nowhere:found', expected a module:factory"),
    ('onboard', {'base': 'math:explore'}, "base is 'math:explore', expected a module:factory"),
    ('onboard', {'base': ':x'}, "base is ':x', expected a module:factory"),
    ('pocket', {}, "preset is 'pocket', expected one of onboard, paper"),
    ('onboard', {'bonus': 'kl'}, "unknown option 'bonus', expected one of base, "),
    ('onboard', {'optimism': 'blind'}, "optimism is 'blind', expected one of kl, split_samples"),
    ('onboard', {'c1': -1.0}, r'c1 is -1.0, expected a number >= 0'),
    ('onboard', {'horizon': 'far'}, "horizon is 'far', expected a number"),
    ('onboard', {'stream_exponent': 0.5}, r'stream_exponent is 0.5, expected a number > 1'),
])
def test_what_is_not_allowed_is_refused_by_name(
        preset: str, overrides: dict[str, Value], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        settings(PROBLEM, preset, overrides)
