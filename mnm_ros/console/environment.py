"""A ROS domain of one's own on this machine, unless the user has chosen one."""

from __future__ import annotations

from collections.abc import MutableMapping
import random
import socket

DOMAINS = range(1, 102)
"""What works on every platform without touching ports that programs get for themselves."""


def prepare(environment: MutableMapping[str, str]) -> None:
    """Fill in what is not set: domain, localhost only, and a transport that starts fast."""
    environment.setdefault('ROS_DOMAIN_ID', str(free_domain()))
    environment.setdefault('FASTDDS_BUILTIN_TRANSPORTS', 'UDPv4')
    if environment.get('ROS_DISTRO') == 'humble':
        environment.setdefault('ROS_LOCALHOST_ONLY', '1')
    else:
        environment.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')


def free_domain() -> int:
    """Return a domain in which nobody on this machine takes part, or any if all are taken."""
    domains = random.sample(DOMAINS, len(DOMAINS))
    return next((domain for domain in domains if _is_free(domain)), domains[0])


def _is_free(domain: int) -> bool:
    """Tell whether the domain's discovery ports are unused (DDSI-RTPS 2.5, section 9.6.2.3).

    Nodes that stay on this machine have none in common, only the first free pair of their own.
    """
    first = 7400 + 250 * domain
    return all(map(_is_unused, (first, *range(first + 10, first + 50, 2))))


def _is_unused(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(('', port))
        except OSError:
            return False
    return True
