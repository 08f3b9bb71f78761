# SPDX-License-Identifier: Apache-2.0

"""What the files for RViz, Foxglove and ``diagnostic_aggregator`` in ``config`` name is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import json
from pathlib import Path
import re
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import messages
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import settings
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from mnm_ros.simulation import scenario
from mnm_ros.simulation.scenario import describe
from mnm_ros.topics import TOPICS
from mnm_ros.view.shapes import NAMESPACES, Picture
from node_processes import Peer
import pytest
from tiers import thorough
import yaml

CONFIG = Path(__file__).parents[2] / 'config'
RVIZ = yaml.safe_load((CONFIG / 'mnm.rviz').read_text(encoding='utf-8'))
FOXGLOVE = json.loads((CONFIG / 'foxglove_layout.json').read_text(encoding='utf-8'))
AGGREGATOR = yaml.safe_load((CONFIG / 'diagnostics' / 'aggregator.yaml').read_text(
    encoding='utf-8'))['analyzers']['ros__parameters']
DECLARED = {topic.name.strip('/'): topic for group in TOPICS.values() for topic in group}

# What a display of RViz or a panel of Foxglove can show.
SHOWN = {
    'rviz_default_plugins/MarkerArray': {'visualization_msgs/MarkerArray'},
    'rviz_default_plugins/Map': {'nav_msgs/OccupancyGrid'},
    '3D': {'visualization_msgs/MarkerArray', 'nav_msgs/OccupancyGrid'},
    'DiagnosticSummary': {'diagnostic_msgs/DiagnosticArray'},
    'DiagnosticStatusPanel': {'diagnostic_msgs/DiagnosticArray'},
    'RawMessages': {'std_msgs/String'}, 'StateTransitions': {'std_msgs/String'}}


def displays() -> list[dict[str, Any]]:
    return [each for each in RVIZ['Visualization Manager']['Displays'] if 'Topic' in each]


def values(tree: Any, *keys: str) -> Iterator[Any]:
    """Yield whatever stands under one of the keys, however deep."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key in keys:
                yield value
            yield from values(value, *keys)
    elif isinstance(tree, list):
        for value in tree:
            yield from values(value, *keys)


def viewed() -> Iterator[tuple[str, str]]:
    """Yield the name of each topic in the two files, and what is to show it."""
    for display in displays():
        yield display['Topic']['Value'], display['Class']
    for panel, config in FOXGLOVE['configById'].items():
        kind = panel.partition('!')[0]
        for path in values(config, 'topicPath', 'value', 'topicToRender'):
            yield re.sub(r'\.data$', '', path), kind
        for name in config.get('topics', ()):
            yield name, kind


def test_topics_and_types_are_those_that_are_declared() -> None:
    found = list(viewed())
    assert {name for name, _ in found} >= {
        '/exploration_markers', '/diagnostics', '/phase', '/status', '/activity'}
    for name, kind in found:
        assert name.startswith('/')
        assert DECLARED[name.strip('/')].type in SHOWN[kind], (name, kind)


def test_rviz_names_no_other_topics() -> None:
    assert {value for key in ('Topic', 'Update Topic') for each in values(RVIZ, key)
            for value in [each['Value']]} == {each['Topic']['Value'] for each in displays()}


def test_rviz_gets_what_is_latched() -> None:
    for display in displays():
        topic = DECLARED[display['Topic']['Value'].strip('/')]
        assert topic.qos == 'LATCHED' and messages.LATCHED.depth == 1
        assert display['Topic']['Durability Policy'] == 'Transient Local'
        assert display['Topic']['Reliability Policy'] == 'Reliable'


def test_every_namespace_can_be_switched_off() -> None:
    exploration, = (each for each in displays() if each['Name'] == 'Exploration')
    panel = FOXGLOVE['configById']['3D!map']['topics']['/exploration_markers']
    assert set(exploration['Namespaces']) == set(panel['namespaces']) == set(NAMESPACES)


@pytest.mark.parametrize('description', [
    UNDESCRIBED, *(describe(scenario.load(name), 0) for name in scenario.shipped())])
def test_what_has_no_place_in_the_world_is_shown_as_the_files_are(
        description: RobotDescription) -> None:
    picture = Picture()
    nothing = Exploration(settings(Problem(2, 4.0, 1.0, 0.1)), seed=0).knowledge()
    picture.shapes(nothing, description)
    assert picture.frame == RVIZ['Visualization Manager']['Global Options']['Fixed Frame']


def test_foxglove_chooses_the_frame() -> None:
    """If it is told one, it shows nothing of another: the states of a robot are on a map."""
    assert 'followTf' not in FOXGLOVE['configById']['3D!map']


def test_every_panel_of_foxglove_has_its_place() -> None:
    placed = [each for each in values(FOXGLOVE['layout'], 'first', 'second')
              if isinstance(each, str)]
    assert sorted(placed) == sorted(FOXGLOVE['configById'])


@pytest.mark.parametrize('robots', [('r1', 'deck/r2'), pytest.param((), marks=thorough(
    'nodes/test_viewers.py::test_the_aggregator_knows_each_status_by_its_name '
    'nodes/test_topics.py::test_diagnostics_and_what_a_late_joiner_gets'))])
def test_the_aggregator_knows_each_status_by_its_name(
        start: Callable, peer: Peer, robots: tuple[str, ...]) -> None:
    """In a namespace, too; each is taken by one analyzer, as GenericAnalyzer does it."""
    analyzers = [each for each in AGGREGATOR.values() if isinstance(each, dict)]
    assert all(each['type'] == 'diagnostic_aggregator/GenericAnalyzer' and each['path']
               for each in analyzers)
    fleet = {'robots': list(robots)} if robots else {}
    start('explorer', namespace='/site', actions=['east'], **fleet)
    heard = peer.listen(DiagnosticArray, '/diagnostics', 10)
    names = [status.name for status in peer.wait_for(lambda: heard, 'diagnostics')[-1].status]
    assert names == ['/site/explorer: exploration',
                     *(f'/site/explorer: robot {robot}' for robot in robots)]
    assert [[each['path'] for each in analyzers if any(part in name for part in each['contains'])]
            for name in names] == [['Explorers'], *[['Robots']] * len(robots)]
