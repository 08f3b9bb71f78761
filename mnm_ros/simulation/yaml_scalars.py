# SPDX-License-Identifier: Apache-2.0

"""What a single value of a YAML file means: text, a number, a truth value or nothing."""

from __future__ import annotations

import re
from typing import Any

import yaml

LONGEST = 1000
"""Characters of a number. PyYAML may need minutes for longer ones, such as 1:2:3 and so on."""

_INTEGER = re.compile(r'-?(0|[1-9][0-9]{0,17})')
_DECIMAL = re.compile(r'-?[0-9]{1,18}\.[0-9]{0,18}')
_PREFIX = 'tag:yaml.org,2002:'
_TAGS = {_PREFIX + kind for kind in ('str', 'int', 'float', 'bool', 'null')}
_resolver = yaml.resolver.Resolver()


def tag_of(text: str, tag: str | None, plain: bool) -> str:
    """
    Return the tag of a scalar: the one that it was given, else what its text looks like.

    :param tag: as in the file, None if there is none.
    :param plain: whether the text stands there without quotes and tag.
    """
    if tag not in (None, '!'):
        return str(tag)
    return str(_resolver.resolve(yaml.ScalarNode, text, (plain, not plain)))


def value_of(text: str, tag: str | None, plain: bool) -> Any:
    """
    Return the value of a scalar.

    :raises ValueError: if it has none, or one of another kind, such as a date.
    """
    if plain and _INTEGER.fullmatch(text):    # nearly all of a large file, and much faster so
        return int(text)
    if plain and _DECIMAL.fullmatch(text):
        return float(text)
    tag = tag_of(text, tag, plain)
    if tag == _PREFIX + 'str':
        return text
    if tag not in _TAGS or len(text) > LONGEST:
        raise ValueError('not a value that is expected anywhere')
    try:
        return yaml.constructor.SafeConstructor().construct_object(yaml.ScalarNode(tag, text))
    # PyYAML raises these, too, for '!!bool 3' and the like.
    except (yaml.YAMLError, LookupError, AttributeError, TypeError) as error:
        raise ValueError(str(error)) from None
