# SPDX-License-Identifier: Apache-2.0

"""
A ROS domain of one's own on this machine, unless the user has chosen one.

Nodes of two runs that share a domain would talk to each other. Therefore a run holds a lock on a
file, one per domain, as long as its process lives: the kernel releases the lock, however the
process ends. The nodes that it starts use the domain, but do not hold the lock.
"""

from __future__ import annotations

from collections.abc import MutableMapping
import fcntl
import os
from pathlib import Path
import random
import socket
import stat
import tempfile

from mnm_ros.files import config_file

DOMAINS = range(1, 102)
"""What works on every platform without touching ports that programs get for themselves."""

_PROFILES = {'FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE'}
"""How Fast DDS 2 and 3 call the file of their settings."""

_held: list[int] = []    # descriptors of the locked files; never closed, or the locks are gone


def prepare(environment: MutableMapping[str, str]) -> None:
    """
    Fill in what is not set: domain, localhost only, a transport and a discovery that are fast.

    :raises FileError: if the package came without its ``config``.
    """
    if 'ROS_DOMAIN_ID' not in environment:
        environment['ROS_DOMAIN_ID'] = str(reserve_domain())
    environment.setdefault('FASTDDS_BUILTIN_TRANSPORTS', 'UDPv4')
    if not _PROFILES & environment.keys():
        environment.update(dict.fromkeys(_PROFILES, str(config_file('fastdds.xml'))))
    if environment.get('ROS_DISTRO') == 'humble':
        environment.setdefault('ROS_LOCALHOST_ONLY', '1')
    else:
        environment.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')


def is_reserved() -> bool:
    """Return whether this process has a domain to itself."""
    return bool(_held)


def reserve_domain() -> int:
    """
    Reserve a domain in which no node on this machine takes part, until this process ends.

    If none can be reserved, return one without nodes; if there is none, any. This never waits.
    """
    domains = random.sample(DOMAINS, len(DOMAINS))
    for suits in (_reserve, _is_free):
        for domain in domains:
            if suits(domain):
                return domain
    return domains[0]


def _reserve(domain: int) -> bool:
    """Lock the domain's file, unless another run has done so or nodes are in the domain."""
    try:
        file = _open(Path(tempfile.gettempdir(), f'mnm_ros_domain_{domain}.lock'))
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        reserved = stat.S_ISREG(os.fstat(file).st_mode) and _is_free(domain)
    except OSError:
        reserved = False
    if reserved:
        _held.append(file)
    else:
        os.close(file)
    return reserved


def _open(path: Path) -> int:
    """
    Open a file that every user can lock, in a directory in which every user can make files.

    It is never written to, and no link is followed. It is never removed: one run could hold the
    removed file while another holds its successor.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK    # not to wait if it is a pipe
    try:
        return os.open(path, flags)    # without O_CREAT, which Linux refuses for others' files
    except FileNotFoundError:
        file = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o444)
        os.fchmod(file, 0o444)    # whatever the umask says
        return file


def _let_go() -> None:
    """Close the files in a forked process, which would hold the locks longer than its parent."""
    while _held:
        os.close(_held.pop())


os.register_at_fork(after_in_child=_let_go)


def _is_free(domain: int) -> bool:
    """
    Return whether the domain's discovery ports are unused (DDSI-RTPS 2.5, section 9.6.2.3).

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
