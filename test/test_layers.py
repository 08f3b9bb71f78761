"""The core, the driving and the simulation work without ROS."""

from __future__ import annotations

from pathlib import Path
import re
import subprocess
import sys

import pytest

_ROS = ('rclpy', 'std_msgs', 'std_srvs', 'rcl_interfaces', 'geometry_msgs', 'nav_msgs')

_SCRIPT = """
import importlib, pkgutil, sys

class NoRos:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in {ros}:
            raise ImportError('imports ROS: ' + name)

sys.meta_path.insert(0, NoRos())
package = importlib.import_module('{package}')
for module in pkgutil.walk_packages(getattr(package, '__path__', []), package.__name__ + '.'):
    importlib.import_module(module.name)
"""


@pytest.mark.parametrize(
    'package', ['mnm_ros', 'mnm_ros.core', 'mnm_ros.driving', 'mnm_ros.simulation',
                'mnm_ros.protocol', 'mnm_ros.checkpoint', 'mnm_ros.trial'])
def test_no_ros(package: str) -> None:
    script = _SCRIPT.format(ros=_ROS, package=package)
    if package == 'mnm_ros':
        script = script.split('for module')[0]
    done = subprocess.run(
        [sys.executable, '-c', script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_what_humble_does_not_have_is_imported_with_a_fallback() -> None:
    root = Path(__file__).resolve().parents[1]
    assert [path.name for folder in ('mnm_ros', 'test') for path in (root / folder).rglob('*.py')
            if re.search(r'^from rclpy\.(event_handler|experimental)', path.read_text(
                encoding='utf-8'), re.MULTILINE)] == []
