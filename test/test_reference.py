# SPDX-License-Identifier: Apache-2.0

"""What is generated is current, and the tables that it is generated from are complete."""

from __future__ import annotations

import re

from mnm_ros import messages, reference, security
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import settings
from mnm_ros.parameters import NODES
from mnm_ros.topics import DIAGNOSTICS, SERVICES, TOPICS


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
    assert {*DIAGNOSTICS} == {
        *exploration.diagnostics(), 'closed', 'steps_per_second', 'robot_timeouts', 'unanswered',
        'checkpoint', 'requests_dropped'}


def test_rows_name_what_exists() -> None:
    for topic in (topic for group in TOPICS.values() for topic in group):
        assert hasattr(messages, topic.qos)
        assert {*topic.publishers.split(), *topic.subscribers.split()} <= {*security.ENCLAVES}
    for service in SERVICES:
        assert {*service.servers.split(), *service.clients.split()} <= {*security.ENCLAVES}
