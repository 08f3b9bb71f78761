# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import signal
import socket
import stat
import subprocess
import sys
import tempfile

from mnm_ros.console import environment
import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def own_reservations(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """End the reservations of a test with it; what the test run itself has reserved stays."""
    with monkeypatch.context() as patch:
        patch.setattr(environment, '_held', [])
        yield
        environment._let_go()


def test_what_the_user_has_set_stays() -> None:
    given = {
        'ROS_DOMAIN_ID': '7', 'FASTDDS_BUILTIN_TRANSPORTS': 'DEFAULT',
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET', 'FASTDDS_DEFAULT_PROFILES_FILE': 'own.xml'}
    prepared = dict(given)
    environment.prepare(prepared)
    assert prepared == given


def test_the_rest_is_filled_in() -> None:
    prepared: dict[str, str] = {}
    environment.prepare(prepared)
    assert int(prepared.pop('ROS_DOMAIN_ID')) in range(1, 102)
    profiles = {prepared.pop(f'{name}_DEFAULT_PROFILES_FILE') for name in ('FASTRTPS', 'FASTDDS')}
    assert profiles == {str(ROOT / 'config' / 'fastdds.xml')}
    assert prepared == {
        'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4', 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}


def test_humble_has_another_name_for_localhost_only() -> None:
    prepared = {'ROS_DISTRO': 'humble'}
    environment.prepare(prepared)
    assert prepared['ROS_LOCALHOST_ONLY'] == '1'


def test_a_domain_in_use_is_not_free() -> None:
    domain = environment.reserve_domain()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(('', 7400 + 250 * domain))
        assert not environment._is_free(domain)
    assert environment._is_free(domain)


def test_a_domain_in_which_a_node_stays_on_this_machine_is_not_free() -> None:
    assert os.environ.get('ROS_LOCALHOST_ONLY', os.environ.get(
        'ROS_AUTOMATIC_DISCOVERY_RANGE')) in ('1', 'LOCALHOST')
    domain, context = environment.reserve_domain(), Context()
    rclpy.init(context=context, domain_id=domain)
    node = Node('somebody', context=context)
    try:
        assert not environment._is_free(domain)
    finally:
        node.destroy_node()
        context.try_shutdown()


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of the locks, which nobody else uses."""
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    monkeypatch.setenv('TMPDIR', str(tmp_path))
    return tmp_path


@pytest.fixture
def two_domains(locks: Path, monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Leave only two domains to choose from, both of them unused."""
    domains = environment.reserve_domain(), environment.reserve_domain()
    environment._let_go()
    monkeypatch.setattr(environment, 'DOMAINS', domains)
    return set(domains)


_HOLDER = """
import sys, time
from mnm_ros.console import environment
environment.DOMAINS = [int(domain) for domain in sys.argv[1:]]
print(environment.reserve_domain(), flush=True)
time.sleep(60)
"""


@contextmanager
def holder(domains: Iterable[int]) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run a process that reserves one of the domains; give it, and the domain it got."""
    process = subprocess.Popen(
        [sys.executable, '-c', _HOLDER, *map(str, domains)], stdout=subprocess.PIPE, text=True)
    try:
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def test_no_two_processes_get_the_same_domain(two_domains: set[int]) -> None:
    with holder(two_domains) as (_, one), holder(two_domains) as (_, other):
        assert {one, other} == two_domains


def test_neither_does_one_that_asks_twice(two_domains: set[int]) -> None:
    assert {environment.reserve_domain(), environment.reserve_domain()} == two_domains


def test_a_killed_process_holds_nothing(two_domains: set[int]) -> None:
    with holder(two_domains) as (process, held):
        assert environment.reserve_domain() != held
        process.kill()
        process.wait()
        assert environment.reserve_domain() == held


_PARENT = """
import os, signal, subprocess, sys
from mnm_ros.console import environment
environment.DOMAINS = [int(sys.argv[1])]
environment.reserve_domain()
subprocess.Popen(['sleep', '60'], close_fds=False)
if not os.fork():
    print('ready', flush=True)
signal.pause()
"""


def test_children_do_not_hold_the_domain(two_domains: set[int]) -> None:
    domain = two_domains.pop()
    process = subprocess.Popen(
        [sys.executable, '-c', _PARENT, str(domain)], stdout=subprocess.PIPE, text=True,
        start_new_session=True)
    try:
        assert process.stdout.readline() == 'ready\n' and not reserved({domain})
        process.kill()
        process.wait()
        assert reserved({domain})
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


def reserved(domains: set[int]) -> bool:
    """Tell whether one of the domains can be reserved, and do so."""
    return any(map(environment._reserve, domains))


def test_if_all_are_taken_there_is_one_all_the_same(two_domains: set[int]) -> None:
    assert {environment.reserve_domain() for _ in range(20)} == two_domains


def test_a_run_without_a_place_for_locks_takes_a_domain_without_nodes(
        two_domains: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, 'tempdir', '/nonexistent')
    used, unused = two_domains
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(('', 7400 + 250 * used))
        assert environment.reserve_domain() == unused


def test_the_domain_is_reserved_unless_the_user_has_chosen_one(two_domains: set[int]) -> None:
    chosen, = list(two_domains)[:1]
    environment.prepare({'ROS_DOMAIN_ID': str(chosen)})
    assert environment._held == []
    environment.prepare(prepared := {})
    assert not reserved({int(prepared['ROS_DOMAIN_ID'])})


def make_link(path: Path) -> None:
    path.symlink_to(path.parent / 'elsewhere')
    path.with_name('elsewhere').touch()


def make_dangling_link(path: Path) -> None:
    path.symlink_to(path.parent / 'nowhere')


@pytest.mark.parametrize('plant', [make_link, make_dangling_link, Path.mkdir, os.mkfifo])
def test_what_is_no_file_is_left_alone(
        two_domains: set[int], locks: Path, plant: Callable[[Path], None]) -> None:
    """Everybody can write to the directory of the locks, and may plant what is followed."""
    trapped, safe = two_domains
    path = locks / f'mnm_ros_domain_{trapped}.lock'
    path.unlink()
    plant(path)
    assert not reserved({trapped}) and reserved({safe})
    assert not (locks / 'nowhere').exists()


def test_a_lock_serves_all_users_and_grants_nothing_else(locks: Path) -> None:
    before = os.umask(0o077)
    try:
        domain = environment.reserve_domain()
    finally:
        os.umask(before)
    path = locks / f'mnm_ros_domain_{domain}.lock'
    assert stat.S_IMODE(path.stat().st_mode) == 0o444


_TAKEN = """
import os, runpy, socket, sys
domain = os.getpid() % 100 + 1
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    taken.bind(('', 7400 + 250 * domain))
    sys.path.insert(0, os.path.dirname(sys.argv[1]))    # as pytest does
    runpy.run_path(sys.argv[1])
sys.exit(os.environ['ROS_DOMAIN_ID'] == str(domain))
"""


def test_the_tests_stay_out_of_domains_in_use() -> None:
    subprocess.run(
        [sys.executable, '-c', _TAKEN, str(ROOT / 'test' / 'conftest.py')], check=True,
        timeout=240)


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
        capture_output=True, text=True, timeout=240)
    assert (done.returncode, done.stdout.strip()) == (0, str(python)), done.stderr
