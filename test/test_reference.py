# SPDX-License-Identifier: Apache-2.0

"""What is generated is current, and the tables that it is generated from are complete."""

from __future__ import annotations

import re

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from mnm_ros import messages, reference, security  # noqa: E402, I100
from mnm_ros.core.exploration import Exploration  # noqa: E402
from mnm_ros.core.model.problem import Problem  # noqa: E402
from mnm_ros.core.presets import settings  # noqa: E402
from mnm_ros.parameters import NODES  # noqa: E402
from mnm_ros.topics import DIAGNOSTICS, SERVICES, TOPICS  # noqa: E402

OF_THE_NODE = {    # not of the exploration
    'closed', 'steps_per_second', 'robot_timeouts', 'unanswered', 'checkpoint',
    'requests_dropped'}


def test_current() -> None:
    old = [path.name for path, text in reference.files() if path.read_text('utf-8') != text]
    assert not old, f'{old}: run python3 -m mnm_ros.reference'


def test_every_node_and_topic_has_a_table() -> None:
    assert {path.name for path in (reference.ROOT / 'executables').iterdir()} == set(NODES)
    assert {*re.findall('<!-- generated: (.*?) -->', reference.PAGE.read_text('utf-8'))} == {
        'executables', 'options', 'services', 'profiles', 'diagnostics',
        *(f'parameters {node}' for node in NODES), *(f'topics {group}' for group in TOPICS)}


def test_every_figure_of_the_diagnostics_is_explained() -> None:
    exploration = Exploration(settings(Problem(2, 4.0, 1.0, 0.1)))
    assert set(DIAGNOSTICS) == {*exploration.diagnostics(), *OF_THE_NODE}


def test_rows_name_what_exists() -> None:
    for topic in (topic for group in TOPICS.values() for topic in group):
        assert hasattr(messages, topic.qos)
        assert {*topic.publishers.split(), *topic.subscribers.split()} <= {*security.ENCLAVES}
    for service in SERVICES:
        assert {*service.servers.split(), *service.clients.split()} <= {*security.ENCLAVES}
