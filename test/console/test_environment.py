from __future__ import annotations

import socket

from mnm_ros.console import environment


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
