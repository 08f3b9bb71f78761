# SPDX-License-Identifier: Apache-2.0

"""The presets: named sets of options, each of which can be overridden."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
import importlib
import inspect
from types import MappingProxyType
from typing import Any

from mnm_ros.core import plug_ins
from mnm_ros.core.components import BASES, CHECKS, part, PARTS
from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.mnm.base import BaseAlgorithm, BaseFactory, Recollection
from mnm_ros.core.mnm.building_phase import new_schedule
from mnm_ros.core.mnm.mnm import Mnm
from mnm_ros.core.mnm.options import Settings, Value
from mnm_ros.core.model.problem import Problem
import numpy as np


@dataclass(frozen=True)
class Option:
    """
    An option as it is declared in ``Settings``; the empty value means that of the preset.

    :ivar default: the empty value of its type.
    :ivar presets: the value in each preset, by the preset's name.
    :ivar importable: whether ``module:name`` is allowed beside the choices.
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
    """Read the options off the fields of ``Settings``; the registries name the parts."""
    options = []
    for each in fields(Settings):
        if each.metadata:
            declared = dict(each.metadata)
            declared['choices'] = tuple(PARTS.get(each.name, declared['choices']))
            default = type(next(iter(declared['presets'].values())))()
            options.append(Option(each.name, default, **declared))
    return tuple(options)


OPTIONS: tuple[Option, ...] = _options()


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


def settings(problem: Problem, preset: str = 'onboard',
             overrides: Mapping[str, Value] = MappingProxyType({})) -> Settings:
    """
    Resolve a preset and what overrides it; empty values ('', 0) override nothing.

    :raises ValueError: with the option, its value and what is allowed.
    """
    if preset not in PRESETS:
        raise InvalidValueError(f'preset is {preset!r}, expected one of {", ".join(PRESETS)}')
    options = {option.name: option for option in OPTIONS}
    for name, value in overrides.items():
        if name not in options:
            raise InvalidValueError(
                f'unknown option {name!r}, expected one of {", ".join(options)}')
        check_option(options[name], value)
    resolved: dict[str, Any] = {
        **PRESETS[preset], **{name: value for name, value in overrides.items() if value}}
    return Settings(problem=problem, preset=preset, **resolved)


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
        option.name: given[option.name] for option in OPTIONS
        if given.get(option.name, option.default) != option.default})


def settings_of_file(given: Mapping[str, Any]) -> Settings:
    """
    Resolve parameters as a file names them, which may be a foreign one: nothing is imported.

    :raises KeyError: as ``settings_by_name`` does.
    :raises ValueError: as well, and for a base of another package that was not asked for here.
    """
    base = given.get('base', '')
    if ':' in base and base not in _imported:
        raise InvalidValueError(
            f'base is {base!r}, which is not imported because a file says so; '
            f'expected one of {", ".join(BASES)}, or the same as --base')
    return settings_by_name(given)


def check_option(option: Option, value: Value) -> None:
    """Raise ValueError unless ``value`` is allowed for ``option``."""
    if isinstance(option.default, str):
        if option.importable and ':' in str(value):
            base_factory(str(value))
        elif value and value not in option.choices:
            elsewhere = plug_ins.installed(option.name) if option.name in plug_ins.GROUPS else {}
            if value not in elsewhere:
                raise InvalidValueError(
                    f'{option.name} is {value!r}, expected one of '
                    f'{", ".join([*option.choices, *elsewhere])}'
                    + option.importable * ' or module:factory')
            (base_factory if option.importable else partial(part, option.name))(str(value))
    elif isinstance(value, (str, bool)) or not (
            value == option.default or option.minimum <= value <= option.maximum):
        raise InvalidValueError(
            f'{option.name} is {value!r}, expected a number in '
            f'[{option.minimum:g}, {option.maximum:g}]')


_imported: set[str] = set()
"""Bases of other packages that were asked for in this process."""


def base_factory(name: str) -> BaseFactory:
    """
    Return the factory of a base algorithm by its name or by ``module:factory``.

    Importing runs the code of the module.

    :raises ValueError: if it cannot be imported, or cannot be called as a factory is.
    """
    if name in BASES:
        return BASES[name]
    module, colon, factory = name.partition(':')
    try:
        found: BaseFactory = getattr(
            importlib.import_module(module), factory) if colon else part('base', name)
    except InvalidValueError:    # by an entry point, which says so itself
        raise
    # The module is foreign code; it may raise anything, or end the program.
    except (Exception, SystemExit) as error:
        raise InvalidValueError(
            f'base is {name!r}, expected a module:factory to import: '
            f'{type(error).__name__}: {error}') from None
    if not _called_as_a_factory(found):
        raise InvalidValueError(
            f'base is {name!r}, expected a module:factory to import: {factory or name} '
            'cannot be called as factory(settings, home, rng, policies)')
    _imported.add(name)
    return found


def _called_as_a_factory(found: Any) -> bool:
    """Whether an object takes the arguments of a ``BaseFactory``, as far as can be known."""
    if not callable(found):
        return False
    try:
        inspect.signature(found).bind(None, 0, None, ())
    except TypeError:
        return False
    except ValueError:    # nothing is known about some functions that are not in Python
        pass
    return True


def new_base(resolved: Settings, home: int, seed: int = 0) -> BaseAlgorithm:
    """Return one run of the base algorithm alone, with the whole delta."""
    return base_factory(resolved.base)(resolved, home, np.random.default_rng(seed))


def new_mnm(resolved: Settings, seed: int = 0,
            on_event: Callable[..., None] = lambda *told: None,
            resume: Mapping[str, Any] | None = None,
            recollection: Recollection | None = None) -> Mnm:
    """Return MNM with the parts of the settings; all its random choices come from ``seed``."""
    return Mnm(
        resolved, seed, base_factory(resolved.base),
        new_schedule=lambda: new_schedule(resolved.streams, resolved.stream_exponent),
        new_checking=CHECKS[resolved.checks](resolved), on_event=on_event, resume=resume,
        recollection=recollection)
