"""Server of the explorer: the page and its requests, on loopback, behind a token.

1. It listens on 127.0.0.1, on a port that the system chooses unless one is named.
2. Each address has a token of 128 random bits in its path. Without it nothing but 404 is answered.
3. A request whose `Host` is another name is refused with 403, since a foreign page could send it (DNS
   rebinding).
4. Requests are POST requests with JSON, and answers are JSON. An error message for people is in `error`, with
  status 400.
5. The question `several` has several questions, and its answer the answer or the error of each.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable, Mapping
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from antiphon.conformance.report import words
from antiphon.conformance.report.explorer.observed import ObservedLogs
from antiphon.conformance.report.explorer.page import page_file
from antiphon.conformance.report.explorer.walk import Walk, WalkError, digest_of_run
from antiphon.model.trace import Trace

HOSTS = ("127.0.0.1", "localhost")

FILES = {
    "": ("explorer.html", "text/html"),
    "explorer.css": ("explorer.css", "text/css"),
    "explorer.js": ("explorer.js", "text/javascript"),
    "elements.js": ("elements.js", "text/javascript"),
    "address.js": ("address.js", "text/javascript"),
    "watches.js": ("watches.js", "text/javascript"),
    "remote.js": ("remote.js", "text/javascript"),
}
"""Files of the page by their paths behind the token, with their types."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(16)


OPENED_S = 0.25
"""Time after which the steps of an address that were taken so far are returned, in seconds."""


class _Runs:
    """Runs to which the page can jump, by name: those of the given files, and those found by a check."""

    def __init__(self, walk: Walk, traces: Mapping[str, Trace]) -> None:
        self._walk = walk
        self._ways: dict[str, list[int]] = {}
        self.told: dict[str, dict[str, Any]] = {}
        for name, trace in traces.items():
            self.add(name, trace)

    def add(self, name: str, trace: Trace) -> None:
        """Add a run under this name; of equal names the later one replaces the earlier."""
        self._ways[name] = self._walk.add_trace(trace)
        self.told[name] = {"steps": len(trace), "loop": trace.loop, "digest": digest_of_run(trace)}

    def labels(self, name: str) -> list[dict[str, Any]]:
        """Return the list of the steps of a run."""
        return [self._walk.label(node) for node in self._ways[name]]

    def check(self) -> dict[str, Any]:
        """Check all properties. Add the counterexamples and witnesses that are found to the runs."""
        verdicts, told = self._walk.check()
        found = []
        for verdict in verdicts:
            item: dict[str, Any] = {
                "name": verdict.property,
                "outcome": verdict.outcome.value,
                "told": words.found(verdict),
                "run": "",
            }
            if verdict.trace is not None and verdict.trace.initial:
                item["run"] = f"{verdict.property} ({verdict.outcome.value})"
                self.add(item["run"], verdict.trace)
                item["told_run"] = self.told[item["run"]]
            found.append(item)
        return {"properties": found, "told": told}


def application(
    walk: Walk, token: str, traces: Mapping[str, Trace] | None = None, logs: ObservedLogs | None = None
) -> Starlette:
    """Return the application that answers a page.

    Args:
        walk: the walk.
        token: the first part of each path.
        traces: runs of the program to jump to, by name.
        logs: logs that are walked through the specification.
    """
    runs = _Runs(walk, traces or {})
    log = {} if logs is None else {"log": logs.about()}
    answers: dict[str, Callable[[Mapping[str, Any]], Any]] = {
        "about": lambda _: {**walk.about(), "traces": runs.told, **log},
        "view": lambda given: walk.view(given["node"], given.get("before"), given.get("others") or ()),
        "take": lambda given: _taken(walk, given),
        "disabled": lambda given: walk.disabled(given["node"]),
        "trace": lambda given: runs.labels(given["name"]),
        "open": lambda given: _opened(walk, given),
        "watch": lambda given: walk.watch(given["expression"]),
        "forget": lambda given: walk.forget(given["expression"]),
        "values": lambda given: walk.values(given["nodes"], given["expressions"]),
        "find": lambda given: _found(walk, given),
        "picture": lambda given: walk.picture(given["node"], given["first"], given.get("loop")),
        "check": lambda _: runs.check(),
    }
    if logs is not None:
        answers["place"] = lambda given: logs.place(given["line"])
        answers["enter"] = lambda given: logs.enter(walk, given["line"], given["state"])

    answers["several"] = lambda given: [
        _answered(answers[one["question"]], one["given"]) for one in given["questions"]
    ]

    async def ask(request: Request) -> Response:
        answer = answers.get(request.path_params["question"])
        if answer is None:
            return PlainTextResponse("no such question", 404)
        try:
            given = await request.json()
        except ValueError as error:
            return JSONResponse({"error": f"this question cannot be read: {error!r}"}, 400)
        found = await run_in_threadpool(_answered, answer, given)
        return JSONResponse(found, 400) if "error" in found else JSONResponse(found["answer"])

    routes = [
        Route(f"/{token}/ask/{{question}}", ask, methods=["POST"]),
        *(Route(f"/{token}/{name}", _file_of(name), methods=["GET"]) for name in FILES),
    ]
    app = Starlette(routes=routes)
    app.add_middleware(_Guard)
    return app


def _answered(answer: Callable[[Mapping[str, Any]], Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a question as `answer`, or the sentence that says why there is none as `error`."""
    try:
        return {"answer": answer(given)}
    except WalkError as error:
        return {"error": str(error)}
    except (KeyError, TypeError, ValueError) as error:
        return {"error": f"this question cannot be read: {error!r}"}


def _file_of(address: str) -> Callable[[Request], Any]:
    name, kind = FILES[address]

    async def file(_: Request) -> Response:
        return Response(page_file(name), media_type=kind)

    return file


def _opened(walk: Walk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the nodes that an address names: follow the numbers of steps if the specification is unchanged,
    else the names of steps.

    A long way comes in parts: `left` is the number of steps that are still to be taken. Who asks for them
    gives the last node as `after`, and the rest of the numbers and names.
    """
    same, told = given.get("digest", "") == walk.about()["digest"], ""
    choices, names = given["choices"] if same else (), given.get("names", ())
    way = []
    node = given.get("after")
    if node is None:
        start, begins = given["start"], given.get("begins", "")
        if not same and begins in walk.beginnings:
            start = walk.beginnings.index(begins)
        elif not same and (begins or start >= len(walk.starts)):
            told = f"It has no initial state with {begins or f'the number {start + 1}'}: this is another. "
            start = start if start < len(walk.starts) else 0
        node = walk.start(start)
        way = [node]
    followed = walk.follow(node, choices, names, OPENED_S)
    way += followed.way
    if followed.missing:
        number = walk.depth(way[-1] if way else node) + 1
        told += f"Step {number} of the address, {followed.missing}, is not enabled: the walk ends before it."
    elif not same and not followed.left:
        told += "All steps of the address are still enabled, and were taken by their names."
    return {"way": list(map(walk.label, way)), "told": told, "left": followed.left}


def _taken(walk: Walk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Take a step. Return the view of the new node in the same answer, which saves the page a request."""
    node = walk.take(given["node"], given["choice"])
    return {**walk.label(node), "view": walk.view(node)}


def _found(walk: Walk, given: Mapping[str, Any]) -> dict[str, Any]:
    way, told = walk.find(given["node"], given["expression"])
    return {"way": [walk.label(node) for node in way], "told": told}


class _Guard:
    """Refuse requests for another host, and add headers to all answers."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1").rpartition(":")[0]
        if host not in HOSTS:
            await PlainTextResponse("this host is not served", 403)(scope, receive, send)
            return

        async def sends(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message["headers"],
                    *((name.lower().encode(), value.encode()) for name, value in HEADERS.items()),
                ]
            await send(message)

        await self._app(scope, receive, sends)


async def serve(app: Starlette, port: int, ready: Callable[[int], None]) -> None:
    """Serve on loopback until the task is cancelled; call `ready` with the port when it listens.

    Raises:
        OSError: the port is taken.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    with listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        settings = uvicorn.Config(app, log_level="error", access_log=False, lifespan="off")
        server = uvicorn.Server(settings)
        task = asyncio.ensure_future(server.serve(sockets=[listening]))
        while not server.started and not task.done():
            await asyncio.sleep(0.01)
        if server.started:
            ready(listening.getsockname()[1])
        await task
