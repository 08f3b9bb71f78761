# SPDX-License-Identifier: Apache-2.0

"""The changelog and package.xml are as catkin_prepare_release and bloom read them."""

from __future__ import annotations

from pathlib import Path
import re
from xml.etree import ElementTree

import mnm_ros

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG = (ROOT / 'CHANGELOG.rst').read_text(encoding='utf-8').splitlines()
PACKAGE = ElementTree.parse(ROOT / 'package.xml').getroot()


def test_the_head_of_the_changelog_names_the_package() -> None:
    over, head, under = CHANGELOG[:3]
    assert head == f'Changelog for package {PACKAGE.findtext("name")}'
    assert over == under == '^' * len(head)


def test_every_section_is_forthcoming_or_a_version_with_its_date() -> None:
    heads = [(CHANGELOG[i - 1], line) for i, line in enumerate(CHANGELOG)
             if re.fullmatch('-{3,}', line)]
    assert heads and all(len(head) == len(line) for head, line in heads)
    assert all(head == 'Forthcoming' or re.fullmatch(r'\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)', head)
               for head, _ in heads)


def test_there_is_one_version() -> None:
    version = PACKAGE.findtext('version')
    assert version == mnm_ros.__version__ == mnm_ros.version.__version__
    assert f"version='{version}'" in (ROOT / 'setup.py').read_text(encoding='utf-8')
    assert f'\nversion: {version}\n' in (ROOT / 'CITATION.cff').read_text(encoding='utf-8')


def test_the_address_of_the_maintainer_has_one_place() -> None:
    maintainer = PACKAGE.find('maintainer')
    assert maintainer is not None
    address = maintainer.get('email', '')
    assert re.fullmatch(r'[^@\s]+@[^@\s]+', address)
    files = [path for pattern in ('*', 'docs/*', '.github/**/*', 'mnm_ros/**/*.py')
             for path in ROOT.glob(pattern) if path.is_file()]
    assert [path.name for path in files if address.encode() in path.read_bytes()] == [
        'package.xml']


def test_what_only_nav2_needs_is_asked_for_by_a_condition() -> None:
    """As rosdep and colcon read it: a variable that is not set is empty."""
    conditions = {each.text: each.get('condition') for each in PACKAGE.iter('exec_depend')}
    assert [name for name, condition in conditions.items() if condition] == [
        'bondpy', 'nav2_msgs']
    assert {*conditions.values()} == {None, '$MNM_ROS_NAV2 == true'}
    assert 'ARG MNM_ROS_NAV2=\n' in (ROOT / 'Dockerfile').read_text(encoding='utf-8')
