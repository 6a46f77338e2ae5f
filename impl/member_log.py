"""Log of everything that the application of a joined group gets, for the judge of logs: one file for each
run.

    async with Group.join("orders", ..., log=MemberLog("runs/monday")) as group:
        ...

    $ antiphon verify runs/monday

A process that was excluded and comes back is another member, and begins another file, as one that is started
again does. Each event is one write, before the application gets it, or before others can: so a process that
is killed loses nothing that anybody knows of. That costs some microseconds an event.

A write that fails, on a full disk for instance, ends the file, and not the group: a log with a hole that
nobody sees would be worse. The lines are JSON. Members stand in them by their incarnations, since nobody has
a number. This module must not know how members agree.
"""

from __future__ import annotations

import hashlib
import logging
import os
from pathlib import Path
from typing import Any, Final

from msgspec import json

from antiphon.impl.errors import SystemRefusal
from antiphon.impl.membership.member import Member, View
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.states import JoinedEvent

__all__ = ["SCHEMA", "MemberLog", "MemberLogRefused"]

SCHEMA: Final = "antiphon.member"
"""The name of the schema, which the first line of each file has, with version 1."""


_logger = logging.getLogger("antiphon")


class MemberLogRefused(SystemRefusal):
    """Error: a file of the log cannot be created; the message says which and why."""


class MemberLog:
    """Log of a process in a joined group; each run as a member has a file `member-INCARNATION.ndjson`."""

    def __init__(self, directory: str | Path) -> None:
        """Create the log in a directory, which is made if it does not exist. The logs of all members are to
        be brought to that directory.

        Raises:
            MemberLogRefused: it cannot be made.
        """
        self.directory = Path(directory)
        self.failure: str | None = None
        """Error that ended the writing of a file, if a write has failed; the group goes on."""
        self._encode = json.Encoder().encode
        self._files: dict[bytes, int] = {}
        """The descriptors of the runs that have begun, by their incarnations."""
        self._early: dict[bytes, list[dict[str, Any]]] = {}
        """Broadcasts that were sent before the application had its first view of that run."""
        self._current = b""
        """The run whose events the application gets."""
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MemberLogRefused(error.errno, f"{directory} cannot be made: {error.strerror}") from error

    def begin(self, group: str, protocol: str, me: Member) -> None:
        """Begin the file of another run. Raises `MemberLogRefused`."""
        path = self._path(me.incarnation)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
        except OSError as error:
            raise MemberLogRefused(error.errno, f"{path} cannot be created: {error.strerror}") from error
        self._files[me.incarnation] = descriptor
        self._early[me.incarnation] = []
        named = {"incarnation": me.incarnation.hex(), "name": me.name, "host": me.host, "port": me.port}
        head = {"schema": SCHEMA, "version": 1, "group": group, "protocol": protocol, "member": named}
        self._write(me.incarnation, head)

    def go_on(self, me: Member) -> None:
        """Record that the application now gets the events of the run `me`; the earlier run was excluded."""
        if self._current and self._current != me.incarnation:
            self._end("excluded")
        self._current = me.incarnation

    def broadcast(self, me: Member, id: int, payload: bytes) -> None:
        """Record that the application broadcasts the message with this count of the run `me`.

        A broadcast that waited for the first view is logged behind it: it was sent in that view, before the
        application got the view.
        """
        line = {"kind": "broadcast", "id": id, "digest": _digest(payload)}
        if me.incarnation in self._early:
            self._early[me.incarnation].append(line)
        else:
            self._write(me.incarnation, line)

    def taken(self, event: JoinedEvent) -> None:
        """Record events that the application gets."""
        if isinstance(event, Delivery):
            source, digest = event.source.incarnation.hex(), _digest(event.payload)
            named = {"source": source, "id": event.id, "number": event.number, "digest": digest}
            self._write(self._current, {"kind": "deliver", **named})
        elif isinstance(event, View):
            members = [member.incarnation.hex() for member in event.members]
            failed = [member.incarnation.hex() for member in event.failed]
            told = {"kind": "view", "number": event.number, "members": members, "failed": failed}
            self._write(self._current, told)
            for line in self._early.pop(self._current, ()):
                self._write(self._current, line)
        else:
            self._write(self._current, {"kind": type(event).__name__.lower(), "have": event.have})

    def loaded(self, number: int, view: int) -> None:
        """Record that the application has loaded a state with the messages up to this number and the views up
        to this one.
        """
        self._write(self._current, {"kind": "state", "number": number, "view": view})

    def close(self, kind: str | None) -> None:
        """End all files. With "left" the member has left; with None it stops without leaving. A second call
        does nothing.
        """
        if self._current:
            self._end(kind)
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()

    def _end(self, kind: str | None) -> None:
        if kind is not None:
            self._write(self._current, {"kind": kind})
        descriptor = self._files.pop(self._current, None)
        if descriptor is not None:
            os.close(descriptor)
        self._current = b""

    def _path(self, incarnation: bytes) -> Path:
        return self.directory / f"member-{incarnation.hex()}.ndjson"

    def _write(self, run: bytes, line: dict[str, Any]) -> None:
        descriptor = self._files.get(run)
        if descriptor is None:
            return
        data = self._encode(line) + b"\n"
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        except OSError as error:
            self.failure = f"{self._path(run)} cannot be written: {error.strerror}"
            _logger.error("%s; the log ends there, and is not judged to hold", self.failure)
            del self._files[run]
            os.close(descriptor)


def _digest(payload: bytes) -> str:
    return hashlib.blake2b(payload, digest_size=16).hexdigest()
