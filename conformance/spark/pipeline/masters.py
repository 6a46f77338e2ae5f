"""Check of a master's address before Java starts: its form, whether it answers, and whether it is Spark.

Spark itself takes a minute to give up on a wrong address, and reports it in a trace of Java. This module
knows the forms of masters, and opens no session.
"""

from __future__ import annotations

import os
import re
import socket
import struct
import time
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from antiphon.conformance.spark.pipeline.errors import InputError

LOCAL: Final = "local[*]"
WAIT_S: Final = 3.0
"""Seconds that an address has to answer."""

FORMS: Final = "local, local[4], local[*], spark://HOST:PORT, sc://HOST:PORT (Spark Connect), yarn, k8s://URL"

_ON_THIS_MACHINE: Final = re.compile(r"local(\[(\*|[1-9][0-9]*)(, *[1-9][0-9]*)?\])?")
_CLUSTER_HERE: Final = re.compile(r"local-cluster\[ *[1-9][0-9]* *, *[1-9][0-9]* *, *[1-9][0-9]* *\]")
_STREAM_REQUEST: Final = 6
_STREAM_FAILURE: Final = 8
_SETTINGS: Final = 4
"""Kinds of frames: a request and its failure in Spark's own protocol, and the settings of HTTP/2."""
_PORTS: Final = {"sc": 15002, "https": 443, "http": 80}
"""The port of an address that names none."""


def is_local(master: str) -> bool:
    """Return True if the master runs everything on this machine."""
    return bool(_ON_THIS_MACHINE.fullmatch(master) or _CLUSTER_HERE.fullmatch(master))


def is_connect(master: str) -> bool:
    """Return True if the address is that of a Spark Connect server."""
    return master.startswith("sc://")


def is_private(master: str) -> bool:
    """Return True if no other machine takes part, so that all ports can be of the loopback interface."""
    return is_local(master) or (
        master.startswith("spark://") and all(_is_loopback(host) for host, _ in addresses(master))
    )


def same_master(one: str, other: str) -> bool:
    """Return True if both name one master; for Spark Connect servers the address counts, not the
    parameters.
    """
    return one == other or (is_connect(one) and is_connect(other) and addresses(one) == addresses(other))


def require_master(master: str) -> None:
    """Check that an address is a master, and answers.

    Raises:
        InputError: it is not; the message has the reason, and the possible forms.
    """
    if is_local(master):
        return
    if master == "yarn":
        _require_yarn()
        return
    if not re.match(r"(spark|sc|k8s)://", master):
        raise InputError(f"{master!r} is no master of Spark; a master is one of {FORMS}")
    refused = []
    for host, port in addresses(master):
        try:
            with socket.create_connection((host, port), WAIT_S) as connection:
                if _speaks(master, connection):
                    return
                refused.append(f"{host}:{port} (takes connections, and does not speak as Spark does)")
        except OSError as error:
            refused.append(f"{host}:{port} ({error.strerror or error})")
    raise InputError(
        f"nobody answers at the master {master!r}: {', '.join(refused)}; start it, or name another: {FORMS}"
    )


def _speaks(master: str, connection: socket.socket) -> bool:
    """Return True if the server on this connection speaks the protocol that the address names, or if that
    cannot be tested in plain text.
    """
    if master.startswith("spark:"):
        return _speaks_spark(connection)
    is_plain = is_connect(master) and not re.search(r";(use_ssl=true|token=)", master, re.IGNORECASE)
    return not is_plain or _speaks_http_2(connection)


def _speaks_http_2(connection: socket.socket) -> bool:
    """Return True if the server on this connection answers the beginning of an HTTP/2 connection, as gRPC
    does, with its settings.

    A frame is its length (3 bytes), its kind (1), flags (1) and the number of a stream (4). The client of
    Spark Connect could find out the same, but takes long to load on a busy machine.
    """
    connection.settimeout(WAIT_S)
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, _SETTINGS, 0, 0, 0, 0, 0)))
    told = _received(connection, 9)
    return len(told) == 9 and told[3] == _SETTINGS


def _speaks_spark(connection: socket.socket) -> bool:
    """Return True if the server on this connection speaks the protocol between Spark's processes: it is asked
    for a file that it does not have, and answers so.

    A frame is its length (8 bytes, these included), its kind (1 byte), and, of a request for a file and of
    the answer that there is none, a name (4 bytes for its length).
    """
    asked = b"/files/antiphon"
    frame = struct.pack(">qbi", 13 + len(asked), _STREAM_REQUEST, len(asked)) + asked
    connection.settimeout(WAIT_S)
    connection.sendall(frame)
    told = _received(connection, 9)
    return len(told) == 9 and told[8] == _STREAM_FAILURE


def _received(connection: socket.socket, size: int) -> bytes:
    """Receive this many bytes, or fewer if the connection ends."""
    until, told = time.monotonic() + WAIT_S, b""
    while len(told) < size and (more := connection.recv(size - len(told))):
        told += more
        connection.settimeout(max(until - time.monotonic(), 0.001))
    return told


def _require_yarn() -> None:
    """Raise InputError if Hadoop's configuration, by which Spark finds YARN, names no resource manager: Spark
    would wait for ever.
    """
    places = [os.environ[name] for name in ("YARN_CONF_DIR", "HADOOP_CONF_DIR") if os.environ.get(name)]
    if not any((Path(place) / "yarn-site.xml").is_file() for place in places):
        told = " and ".join(places) + (" have" if len(places) > 1 else " has") if places else "there is"
        raise InputError(
            f"the master 'yarn' is found by HADOOP_CONF_DIR or YARN_CONF_DIR, and {told} no yarn-site.xml; "
            f"set one of them to Hadoop's configuration, or name another master: {FORMS}"
        )


def addresses(master: str) -> list[tuple[str, int]]:
    """Return the hosts and ports of a master.

    Raises:
        InputError: the address has none.
    """
    scheme, _, rest = master.partition("://")
    if scheme == "k8s":
        scheme, _, rest = rest.rpartition("://")
        scheme = scheme or "https"
    addresses = []
    for address in re.split(r"[/;?]", rest)[0].split(","):
        parts = re.fullmatch(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:\[\]]+)(:(?P<port>[0-9]{1,5}))?", address)
        port = None if parts is None else int(parts["port"] or _PORTS.get(scheme, 0))
        if parts is None or port is None or not 0 < port < 65_536:
            raise InputError(
                f"{master!r} is no master of Spark: {address!r} is no HOST:PORT; a master is one of {FORMS}"
            )
        addresses.append((parts["host"].strip("[]"), port))
    return addresses


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
