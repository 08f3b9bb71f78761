# SPDX-License-Identifier: Apache-2.0

"""What bloom, rosdep and ``colcon test`` read agrees with the package, and the linters pass."""

from __future__ import annotations

import importlib
import re
from xml.etree import ElementTree

import mnm_ros
from pages import ROOT
import pytest

PACKAGE = ElementTree.parse(ROOT / 'package.xml').getroot()


def test_the_changelog_can_be_read() -> None:
    text = (ROOT / 'CHANGELOG.rst').read_text(encoding='utf-8')
    assert text.splitlines()[1] == f'Changelog for package {PACKAGE.findtext("name")}'
    heads = re.findall(r'^(.*)\n-{3,}$', text, re.MULTILINE)
    assert heads and all(
        re.fullmatch(r'Forthcoming|\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)', head) for head in heads)


def test_there_is_one_version() -> None:
    """In the two places where ``catkin_prepare_release`` writes it, and no other."""
    version = PACKAGE.findtext('version')
    assert version == mnm_ros.__version__
    written = re.findall(    # as the tool looks for it
        r'version=\'(\d+\.\d+\.\d+)\',', (ROOT / 'setup.py').read_text(encoding='utf-8'))
    assert written == [version]


@pytest.mark.parametrize('linter', ['flake8', 'pep257'])
def test_the_code_passes(linter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(f'ament_{linter}', reason=f'ament_{linter} is not installed')
    monkeypatch.chdir(ROOT)
    code = ['benchmarks', 'examples', 'launch', 'mnm_ros', 'setup.py', 'test']
    assert importlib.import_module(f'ament_{linter}.main').main(code) == 0
