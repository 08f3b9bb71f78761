# SPDX-License-Identifier: Apache-2.0

"""The presets: named sets of options, each of which can be overridden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
import inspect
from itertools import chain
from numbers import Real
from reprlib import repr as shortened
from types import MappingProxyType
from typing import Any

from mnm_ros.core import plug_ins
from mnm_ros.core.components import OPTION_SETS, part, PARTS
from mnm_ros.core.detection.detector import DetectorFactory, PolicyDetector
from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.mnm.base import BaseAlgorithm, BaseFactory, Recollection
from mnm_ros.core.mnm.checking_phase import CheckingPhaseFactory, ChecksFactory
from mnm_ros.core.mnm.mnm import Mnm
from mnm_ros.core.mnm.options import Settings, Value
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.planning.planner import Planner, PlannerFactory
import numpy as np


@dataclass(frozen=True)
class Option:
    """
    An option as it is declared in ``Settings``; the empty value means that of the preset.

    :ivar default: the empty value of its type.
    :ivar presets: the value in each preset, by the preset's name.
    :ivar importable: whether another package may bring one, also as ``module:factory``.
    :ivar parameter: whether it is a parameter of the explorer by its own name.
    """

    name: str
    default: Value
    presets: Mapping[str, Value]
    description: str
    choices: tuple[str, ...]
    minimum: float
    maximum: float
    importable: bool
    parameter: bool


def _options() -> tuple[Option, ...]:
    """Read the options off ``Settings`` and plug-ins; the registries name the parts."""
    options = []
    for each in chain(fields(Settings), *map(fields, map(plug_ins.imported, OPTION_SETS))):
        if each.metadata:
            declared = dict(each.metadata)
            declared['choices'] = tuple(PARTS.get(each.name, declared['choices']))
            declared['importable'] = each.name in plug_ins.OPTIONS
            default = type(next(iter(declared['presets'].values())))()
            options.append(Option(each.name, default, **declared))
    return tuple(options)


OPTIONS: tuple[Option, ...] = _options()
_OWN = frozenset(each.name for each in fields(Settings))


def presets(options: Sequence[Option]) -> Mapping[str, Mapping[str, Value]]:
    """
    Return the value of every option in each preset.

    :raises ValueError: if an option has none in a preset that another one names.
    """
    names = dict.fromkeys(name for option in options for name in option.presets)
    for option in options:
        for name in names:
            if name not in option.presets:
                raise InvalidValueError(
                    f'option {option.name!r} has no value for the preset {name!r}, '
                    f'expected one for each of {", ".join(names)}')
    return MappingProxyType({name: MappingProxyType({
        option.name: option.presets[name] for option in options}) for name in names})


PRESETS: Mapping[str, Mapping[str, Value]] = presets(OPTIONS)
DEFAULT = 'onboard'
VARIED = tuple(name for name in PRESETS if name != DEFAULT)
"""Presets that the parameter ``overrides`` varies: on the parts of the other its promise rests."""
TRIES = 13
"""Executions of each declared pair by a base alone: an end of chance 0.3 is missed at 1%."""


def settings(problem: Problem, preset: str = DEFAULT,
             overrides: Mapping[str, Value] = MappingProxyType({})) -> Settings:
    """
    Resolve a preset and what overrides it; empty values ('', 0) override nothing.

    :raises ValueError: with the option, its value and what is allowed.
    """
    if not isinstance(preset, str) or preset not in PRESETS:
        raise InvalidValueError(f'preset is {preset!r}, expected one of {", ".join(PRESETS)}')
    options = {option.name: option for option in OPTIONS}
    for name, value in overrides.items():
        if name not in options:
            raise InvalidValueError(
                f'unknown option {name!r}, expected one of {", ".join(options)}')
        check_option(options[name], value)
    resolved: dict[str, Any] = {
        **PRESETS[preset], **{name: value for name, value in overrides.items() if value}}
    of_plug_ins = {name: resolved.pop(name) for name in options if name not in _OWN}
    return Settings(problem=problem, preset=preset, of_plug_ins=of_plug_ins, **resolved)


def override(text: str) -> tuple[str, Value]:
    """Return name and value of ``name=value``, for ``settings``; ValueError if it is no number."""
    name, _, value = text.partition('=')
    kinds = {option.name: type(option.default) for option in OPTIONS}
    try:
        return name, kinds.get(name, str)(value)
    except ValueError:
        raise InvalidValueError(f'{name} is {value!r}, expected a number') from None


def options_by_name(given: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return every option as parameters of the explorer ask for it, empty where the preset decides.

    :param given: among them perhaps ``overrides``, as ``name=value`` with spaces between.
    :raises ValueError: if there is something else in these.
    """
    varied = dict(map(override, str(given.get('overrides', '')).split()))
    allowed = [option.name for option in OPTIONS if not option.parameter]
    for name in varied:
        if name not in allowed:
            raise InvalidValueError(
                f"parameter 'overrides' has {name!r}, expected name=value with one "
                f'of {", ".join(allowed)}')
        if ':' in str(varied[name]):    # over the network it would import any module
            raise InvalidValueError(
                f"parameter 'overrides' has {name}={varied[name]}, expected a name without a "
                'module, as that of an entry point')
    return {option.name: given.get(option.name, option.default) for option in OPTIONS} | varied


def settings_by_name(given: Mapping[str, Any]) -> Settings:
    """
    Resolve parameters of the explorer by their names; options may be missing.

    :raises KeyError: if another one is missing.
    :raises ValueError: if one is not allowed.
    """
    problem = Problem(
        len(given['actions']), given['radius'], given['epsilon'], given['delta'])
    return settings(problem, given['preset'], {
        option.name: given[option.name] for option in OPTIONS if option.name in given})


def parameters_of(resolved: Settings) -> dict[str, Any]:
    """Return the parameters from which ``settings_by_name`` makes these settings, but actions."""
    problem = resolved.problem
    return {'radius': problem.radius, 'epsilon': problem.epsilon, 'delta': problem.delta,
            'preset': resolved.preset, **resolved.of_plug_ins,
            **{option.name: getattr(resolved, option.name) for option in OPTIONS
               if option.name in _OWN}}


def settings_of_file(given: Mapping[str, Any]) -> Settings:
    """
    Resolve parameters as a file names them, which may be a foreign one: nothing is imported.

    :raises KeyError: as ``settings_by_name`` does.
    :raises ValueError: as well, and for a part in a module that was not asked for here.
    """
    for kind in plug_ins.OPTIONS:
        name = given.get(kind, '')
        if ':' in name and not plug_ins.was_imported(kind, name):
            raise InvalidValueError(
                f'{kind} is {name!r} in the file, but a file alone imports nothing; expected '
                f'one of {", ".join(PARTS[kind])}'
                + f'. To import it: --base {name}, or base={name!r} of Recording.load' * (
                    kind == 'base'))
    return settings_by_name(given)


def check_option(option: Option, value: Value) -> None:
    """Raise ValueError unless ``value`` is allowed for ``option``."""
    if isinstance(option.default, str):
        if value and option.importable:
            _check_part(option.name, str(value))
        elif value and value not in option.choices:
            raise InvalidValueError(
                f'{option.name} is {value!r}, expected one of {", ".join(option.choices)}')
    elif not isinstance(value, Real) or isinstance(value, bool) or not (
            value == option.default or option.minimum <= value <= option.maximum):
        raise InvalidValueError(
            f'{option.name} is {value!r}, expected a number in '
            f'[{option.minimum:g}, {option.maximum:g}]')


_FACTORIES: Mapping[str, Any] = MappingProxyType({
    'base': BaseFactory, 'planner': PlannerFactory, 'detector': DetectorFactory,
    'checks': ChecksFactory})


def base_factory(name: str) -> BaseFactory:
    """
    Return the factory of a base algorithm by its name or by ``module:factory``.

    Importing runs the code of the module.

    :raises ValueError: if it cannot be imported, or cannot be called as a factory is.
    """
    found: BaseFactory = _factory('base', name)
    return found


def _factory(kind: str, name: str) -> Any:
    """Return the factory of a part; ValueError if there is none that can be called as such."""
    found = part(kind, name)
    asked = _asked(_FACTORIES[kind])
    if not takes(found, len(asked)):
        raise InvalidValueError(
            f'{kind} is {name!r}, expected a module:factory to import: '
            f'{name.rpartition(":")[2]} cannot be called as factory({", ".join(asked)})')
    return found


def _asked(factory: Any) -> list[str]:
    """Return the names of the arguments of a factory; none if it is the interface of a part."""
    return [*inspect.signature(factory.__call__).parameters][1:] if (
        '__call__' in vars(factory)) else []


_PROBES: Mapping[str, tuple[type, tuple[Any, ...]]] = MappingProxyType({
    'planner': (Planner, (0.1, 4.0, ())), 'detector': (PolicyDetector, (8.0, 12, 0.1)),
    'checks': (CheckingPhaseFactory, (settings(Problem(1, 4.0, 1.0, 0.1)),))})
"""The interface of what the factory of a part makes, and arguments with which one is made."""


def _check_part(kind: str, name: str) -> None:
    """Raise ValueError if a part cannot be made, or lacks a member that it needs."""
    found = _factory(kind, name)
    if name in PARTS[kind]:
        return
    made, interface = found, None
    if kind in _PROBES:
        interface, arguments = _PROBES[kind]
        try:
            made = found(*arguments)
        except Exception as error:    # it is foreign code
            raise InvalidValueError(
                f'{kind} is {name!r}, expected one that can be made with {shortened(arguments)}: '
                f'{type(error).__name__}: {error}') from None
        asked = _asked(interface)
        if asked and not takes(made, len(asked)):
            raise InvalidValueError(
                f'{kind} is {name!r}, which makes {shortened(made)}, '
                f'expected a factory({", ".join(asked)})')
    lacking = sorted(getattr(getattr(made, 'func', made), '__abstractmethods__', ()))
    expected = 'every abstract member'
    if interface and not lacking:
        lacking = [member for member in _members(interface) if not hasattr(made, member)]
        lacking += [member for member in _members(_FACTORIES[kind]) if not hasattr(found, member)]
        expected = f'every member of {interface.__name__} and {_FACTORIES[kind].__name__}'
    if lacking:
        raise InvalidValueError(
            f'{kind} is {name!r}, which lacks {", ".join(lacking)}, expected {expected}')


def _members(interface: type) -> list[str]:
    return [*getattr(interface, '__annotations__', ()),
            *(member for member in vars(interface) if not member.startswith('_'))]


def takes(found: Any, arguments: int) -> bool:
    """Whether an object can be called with so many arguments, as far as can be known."""
    if not callable(found):
        return False
    try:
        inspect.signature(found).bind(*[None] * arguments)
    except TypeError:
        return False
    except ValueError:    # nothing is known about some functions that are not in Python
        pass
    return True


def new_base(resolved: Settings, home: int, seed: int = 0) -> BaseAlgorithm:
    """
    Return one run of the base algorithm alone, with the whole delta.

    What the run sees refutes a declaration for this run, as nobody else does it. It executes each
    declared pair of the states that it samples ``TRIES`` times, and misses an end of chance ``p``
    that is not declared with probability ``(1 - p) ** TRIES`` at most.
    """
    support = resolved.problem.support.copy(TRIES)
    return base_factory(resolved.base)(
        replace(resolved, problem=replace(resolved.problem, support=support)), home,
        np.random.default_rng(seed))


def new_mnm(resolved: Settings, seed: int = 0,
            resume: Mapping[str, Any] | None = None,
            recollection: Recollection | None = None) -> Mnm:
    """Return MNM with the parts of the settings; all its random choices come from ``seed``."""
    return Mnm(
        resolved, seed, base_factory(resolved.base), part('checks', resolved.checks)(resolved),
        resume=resume, recollection=recollection)
