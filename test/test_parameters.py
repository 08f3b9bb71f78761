# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections.abc import Iterator
import math

from mnm_ros.core.errors import ParameterError
from mnm_ros.core.presets import DEFAULT, Option, OPTIONS, PRESETS, VARIED
from mnm_ros.nodes.exploring import session
from mnm_ros.parameters import NODES, Parameters, ParameterSpec
import pytest
from rcl_interfaces.msg import ParameterDescriptor
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message, serialize_message
from tiers import strength


@pytest.fixture(scope='module')
def context() -> Iterator[Context]:
    context = Context()
    rclpy.init(context=context)
    # With no node left, DDS takes its participant down, which may take for ever while others come.
    kept = Node('kept', context=context, enable_rosout=False, start_parameter_services=False)
    yield context
    kept.destroy_node()
    context.try_shutdown()


@pytest.fixture
def make(context: Context) -> Iterator[object]:
    nodes = []

    def make_node(specs: tuple[ParameterSpec, ...] = NODES['explorer'], locked: bool = False,
                  **given: object):
        overrides = [Parameter(name, value=value) for name, value in given.items()]
        node = Node('n', context=context, parameter_overrides=overrides, enable_rosout=False,
                    start_parameter_services=False)
        nodes.append(node)
        return node, Parameters(node, specs, lambda: locked)

    yield make_node
    for node in nodes:
        node.destroy_node()


@pytest.mark.parametrize('specs', NODES.values(), ids=NODES)
def test_every_parameter_is_described(specs: tuple[ParameterSpec, ...]) -> None:
    assert len({spec.name for spec in specs}) == len(specs)
    for spec in specs:
        assert spec.description and not spec.description.endswith('.')
        if spec.default is not None:
            assert spec.accepts(Parameter(spec.name, value=spec.default)), spec.name


def test_documented_defaults(make) -> None:
    _, parameters = make(actions=['east', 'west'])
    documented = {
        'actions': ['east', 'west'], 'radius': 4.0, 'epsilon': 1.0, 'delta': 0.1,
        'preset': 'onboard', 'seed': 0, 'step_timeout': 5.0, 'step_retries': 3,
        'reset_mode': 'action', 'autostart': True, 'max_steps': 0, 'max_duration': 0.0,
        'checkpoint_dir': ''}
    assert {name: parameters[name] for name in documented} == documented
    assert {option.name for option in OPTIONS if option.parameter} == {
        'base', 'horizon', 'check_steps', 'watch_every', 'look_again'}
    assert all(parameters[option.name] == option.default for option in OPTIONS
               if option.parameter)


def test_overrides_vary_every_preset_but_the_default(
        make, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {*VARIED} == {*PRESETS} - {DEFAULT}
    _, default = make(actions=['east'], overrides='c1=3')
    with pytest.raises(ParameterError, match="with 'preset' 'onboard', expected 'paper'$"):
        session._check(default)
    _, varied = make(actions=['east'], preset='paper', overrides='c1=3')
    session._check(varied)
    monkeypatch.setattr(session, 'VARIED', ('pocket', 'third'))
    with pytest.raises(ParameterError, match="'preset' 'paper', expected 'pocket' or 'third'$"):
        session._check(varied)


def other_value(option: Option) -> object:
    """Return a value of an option that is not its default."""
    return type(option.default)(option.presets['paper'] or 4)


@pytest.mark.parametrize('option', [option for option in OPTIONS if not option.parameter],
                         ids=lambda option: option.name)
def test_other_options_are_refused_but_in_overrides(make, option: Option) -> None:
    value = other_value(option)
    said = f"parameter '{option.name}' is {value!r}, expected {option.name}={value} in the "
    with pytest.raises(ParameterError, match=f"{said}parameter 'overrides'"):
        make(actions=['east'], **{option.name: value})


def test_other_options_are_let_be_if_they_ask_for_nothing_or_another_node(make) -> None:
    options = [option for option in OPTIONS if not option.parameter]
    make(actions=['east'], **{option.name: option.default for option in options})
    # An entry /** is for several nodes.
    make(NODES['navigator'], **{option.name: other_value(option) for option in options})


def test_integer_given_for_a_double(make) -> None:
    _, parameters = make(actions=['east'], radius=6)
    assert parameters['radius'] == 6.0 and isinstance(parameters['radius'], float)


def test_a_value_that_was_asked_for_before_is_the_one_that_was_set_since(make) -> None:
    node, parameters = make(actions=['east'])
    for value in (2.0, 7.0):
        node.set_parameters([Parameter('step_timeout', value=value)])
        assert parameters['step_timeout'] == parameters['step_timeout'] == value
    refused, = node.set_parameters([Parameter('step_timeout', value=-1.0)])
    assert not refused.successful and parameters['step_timeout'] == 7.0
    node.set_parameters_atomically([Parameter('step_timeout', value=3.0)])
    assert parameters['step_timeout'] == 3.0


def test_required(make) -> None:
    _, parameters = make()
    with pytest.raises(ParameterError, match="'actions' is not set, expected a string array"):
        _ = parameters['actions']


BAD = [
    ('actions', [1, 2], 'a string array of distinct, non-empty names'),
    ('actions', ['east', 'east'], 'RESET not among them'),
    ('actions', ['east', 'RESET'], 'RESET not among them'),
    ('radius', 0.5, r'in \[1, 1000\]'),
    ('radius', 'far', 'a double'),
    ('radius', float('nan'), r'in \[1, 1000\]'),
    ('radius', float('inf'), r'in \[1, 1000\]'),
    ('radius', 1e308, r'in \[1, 1000\]'),
    ('epsilon', 0.0, r'in \[0.001, 1000\]'),
    ('epsilon', 1e308, r'in \[0.001, 1000\]'),
    ('delta', 0.0, r'in \(1e-12, 1\)'),
    ('delta', 5e-324, r'in \(1e-12, 1\)'),
    ('delta', 1.0, r'in \(1e-12, 1\)'),
    ('preset', 'fast', 'one of onboard, paper'),
    ('seed', -1, '>= 0'),
    ('seed', 0.5, 'an integer'),
    ('step_timeout', 0.0, '>= 0.01'),
    ('step_retries', -1, '>= 0'),
    ('reset_mode', 'magic', 'one of action, service'),
    ('autostart', 'yes', 'a bool'),
    ('base', 'none', "one of ucb_explore, disco, or module:name, or '' as the preset has it"),
    ('horizon', 2 ** 62, r'in \[0, 10000\]'),
    ('check_steps', 2 ** 62, r'in \[0, 1e\+09\]'),
]


@pytest.mark.parametrize('name, value, allowed', BAD)
def test_refused_at_start(make, name: str, value: object, allowed: str) -> None:
    with pytest.raises(ParameterError, match=f"parameter '{name}' is .*expected .*{allowed}"):
        make(**{'actions': ['east'], name: value})


@pytest.mark.parametrize('value', strength(
    (math.nan,), (math.inf, math.nan, -math.inf, 1e308)))
@pytest.mark.parametrize('name', ['grid_driver', 'diff_drive_sim'])
def test_a_robot_has_finite_limits(make, name: str, value: float) -> None:
    specs = [spec for spec in NODES[name] if isinstance(spec.default, float)]
    assert len(specs) > 10
    node, _ = make((), **{spec.name: value for spec in specs})    # which declares none of them
    for spec in specs:
        assert math.isfinite(spec.minimum) and math.isfinite(spec.maximum)
        with pytest.raises(
                ParameterError, match=f"parameter '{spec.name}' is .*expected .*, in "):
            Parameters(node, (spec,))


@pytest.fixture(scope='module')
def running(context: Context) -> Iterator[tuple[Node, Parameters]]:
    """Yield a node of which no parameter is changed, and its parameters."""
    node = Node('n', context=context, parameter_overrides=[Parameter('actions', value=['east'])],
                enable_rosout=False, start_parameter_services=False)
    yield node, Parameters(node, NODES['explorer'], lambda: False)
    node.destroy_node()


@pytest.mark.parametrize('name, value, allowed', BAD)
def test_refused_at_runtime(
        running: tuple[Node, Parameters], name: str, value: object, allowed: str) -> None:
    node, parameters = running
    before = parameters[name]
    result, = node.set_parameters([Parameter(name, value=value)])
    assert not result.successful
    assert name in result.reason
    assert parameters[name] == before


@pytest.mark.parametrize('specs', NODES.values(), ids=NODES)
def test_ranges_arrive_as_they_were_meant(specs: tuple[ParameterSpec, ...]) -> None:
    for spec in specs:
        sent = spec.descriptor()
        received = deserialize_message(serialize_message(sent), ParameterDescriptor)
        assert received == sent
        for found in received.floating_point_range:
            assert {type(found.from_value), type(found.to_value)} == {float}
            assert spec.maximum == math.inf or found.to_value == spec.maximum, spec.name


def test_descriptors_carry_ranges(make) -> None:
    node, _ = make(actions=['east'])
    assert node.describe_parameter('radius').floating_point_range[0].from_value == 0.0
    assert node.describe_parameter('step_retries').integer_range[0].from_value == 0
    assert node.describe_parameter('preset').additional_constraints == (
        'a string, one of onboard, paper')


@pytest.mark.parametrize('name, value, allowed', [
    ('step_timeout', 1.0, True), ('step_retries', 0, True), ('max_steps', 5, True),
    ('max_duration', 1.5, True), ('radius', 5.0, False), ('actions', ['north'], False),
    ('preset', 'paper', False), ('horizon', 9, False)])
def test_while_configured(make, name: str, value: object, allowed: bool) -> None:
    node, _ = make(locked=True, actions=['east'])
    result, = node.set_parameters([Parameter(name, value=value)])
    assert result.successful == allowed
    if not allowed:
        assert f"'{name}' cannot change to {value!r} while the node is configured" in result.reason


def test_before_configured(make) -> None:
    node, parameters = make(actions=['east'])
    result, = node.set_parameters([Parameter('radius', value=5.0)])
    assert result.successful and parameters['radius'] == 5.0


@pytest.mark.parametrize('name, value', [
    ('autostart', False), ('base', 'antigravity:geohash'), ('record', '/tmp/record'),
    ('checkpoint_dir', '/tmp')])
def test_read_only(make, name: str, value: object) -> None:
    node, _ = make(actions=['east'])
    result, = node.set_parameters([Parameter(name, value=value)])
    assert not result.successful and 'read-only' in result.reason


def test_an_integer_without_limits_may_be_any() -> None:
    allowed, = ParameterSpec('shift', 0, 'any').descriptor().integer_range
    assert (allowed.from_value, allowed.to_value) == (-2**63, 2**63 - 1)
