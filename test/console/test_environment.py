from __future__ import annotations

import os
from pathlib import Path
import socket
import subprocess
import sys

import rclpy
from rclpy.context import Context
from rclpy.node import Node

from mnm_ros.console import environment

ROOT = Path(__file__).resolve().parents[2]


def test_what_the_user_has_set_stays() -> None:
    given = {
        'ROS_DOMAIN_ID': '7', 'FASTDDS_BUILTIN_TRANSPORTS': 'DEFAULT',
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET'}
    prepared = dict(given)
    environment.prepare(prepared)
    assert prepared == given


def test_the_rest_is_filled_in() -> None:
    prepared: dict[str, str] = {}
    environment.prepare(prepared)
    assert int(prepared.pop('ROS_DOMAIN_ID')) in range(1, 102)
    assert prepared == {
        'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4', 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}


def test_humble_has_another_name_for_localhost_only() -> None:
    prepared = {'ROS_DISTRO': 'humble'}
    environment.prepare(prepared)
    assert prepared['ROS_LOCALHOST_ONLY'] == '1'


def test_a_domain_in_use_is_not_free() -> None:
    domain = environment.free_domain()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(('', 7400 + 250 * domain))
        assert not environment._is_free(domain)
    assert environment._is_free(domain)


def test_a_domain_in_which_a_node_stays_on_this_machine_is_not_free() -> None:
    assert os.environ.get('ROS_LOCALHOST_ONLY', os.environ.get(
        'ROS_AUTOMATIC_DISCOVERY_RANGE')) in ('1', 'LOCALHOST')
    domain, context = environment.free_domain(), Context()
    rclpy.init(context=context, domain_id=domain)
    node = Node('somebody', context=context)
    try:
        assert not environment._is_free(domain)
    finally:
        node.destroy_node()
        context.try_shutdown()


_TAKEN = """
import os, runpy, socket, sys
domain = os.getpid() % 100 + 1
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    taken.bind(('', 7400 + 250 * domain))
    runpy.run_path(sys.argv[1])
sys.exit(os.environ['ROS_DOMAIN_ID'] == str(domain))
"""


def test_the_tests_stay_out_of_domains_in_use() -> None:
    subprocess.run(
        [sys.executable, '-c', _TAKEN, str(ROOT / 'test' / 'conftest.py')], check=True, timeout=60)


def test_the_scripts_take_the_transitions_of_ubuntu_22_04(tmp_path: Path) -> None:
    """Its version is from before 0.9.0, which came out months after Ubuntu 22.04."""
    found = tmp_path / 'transitions-0.8.10.dist-info'
    found.mkdir()
    (found / 'METADATA').write_text('Metadata-Version: 2.1\nName: transitions\nVersion: 0.8.10\n')
    python = tmp_path / 'python3'
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    given = {**os.environ, 'ROS_DISTRO': 'humble', 'PATH': f'{tmp_path}:{os.environ["PATH"]}',
             'PYTHONPATH': f'{tmp_path}:{os.environ["PYTHONPATH"]}'}
    given.pop('MNM_PYTHON', None)
    done = subprocess.run(
        ['bash', '-c', f'. {ROOT}/scripts/_environment; echo "$MNM_PYTHON"'], env=given,
        capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, str(python)), done.stderr
