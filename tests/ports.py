# SPDX-License-Identifier: BSD-3-Clause
"""Ports for programs that have to be given one. A port that was bound and closed again may be anyone's a moment later;
these lie below the ports that the system gives away, and a lock keeps them for this process until it ends.
"""
import fcntl
import os
import socket
import tempfile

_locks = []


def _first_ephemeral():
    """Ports from here on are given to whoever connects."""
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range") as f:
            return int(f.read().split()[0])
    except OSError:
        return 32768


def _free(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


def reserve(n=1):
    """The first of n successive ports that no program uses and no other test has reserved."""
    folder = os.path.join(tempfile.gettempdir(), f"hunch-ports-{os.getuid()}")
    os.makedirs(folder, exist_ok=True)
    width = 256  # one lock for each range of n
    ranges = range(10240, _first_ephemeral() - width, width)
    for i in range(len(ranges)):
        first = ranges[(os.getpid() + i) % len(ranges)]
        lock = open(os.path.join(folder, str(first)), "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            continue
        if n <= width and all(_free(port) for port in range(first, first + n)):
            _locks.append(lock)
            return first
        lock.close()
    raise RuntimeError(f"no {n} free ports")
