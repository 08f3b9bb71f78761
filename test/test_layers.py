# SPDX-License-Identifier: Apache-2.0

"""The modules keep to the layers of ``setup.cfg``, the lower of which need no ROS."""

from __future__ import annotations

from configparser import ConfigParser
import re
import subprocess
import sys

from pages import ROOT
import pytest

CONTRACTS = ConfigParser()
CONTRACTS.read(ROOT / 'setup.cfg', encoding='utf-8')
ROS = CONTRACTS['importlinter:contract:ros']['protected_modules'].split()
OF_ROS = re.compile(r'(rcl|ros|ament|tf2)|launch(_|$)|\w+_(msgs|srvs|interfaces)$')
CODE = '\n'.join(path.read_text('utf-8') for path in (ROOT / 'mnm_ros').rglob('*.py'))
IMPORTED = {*re.findall(r'^ *(?:from|import) (\w+)', CODE, re.MULTILINE)}


def test_every_module_keeps_to_its_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    linter = pytest.importorskip('importlinter.cli', reason='import-linter is not installed')
    monkeypatch.chdir(ROOT)
    assert linter.lint_imports(no_cache=True) == 0


def test_the_layers_name_each_package_of_ros_that_is_imported() -> None:
    assert {name for name in IMPORTED if OF_ROS.match(name)} == {*ROS} - {'bondpy'}


def test_the_core_is_imported_without_ros() -> None:
    """Neither the package nor a library that it imports needs ROS."""
    script = ('import sys; sys.modules.update(dict.fromkeys(sys.argv[1:])); '
              'from mnm_ros import explore, Recording, Study; from mnm_ros.core import *')
    done = subprocess.run([sys.executable, '-c', script, *ROS], capture_output=True, timeout=240)
    assert done.returncode == 0, done.stderr
