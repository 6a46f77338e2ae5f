"""The server of the explorer: the page and its questions, on loopback, behind a token.

1. It listens on 127.0.0.1, on a port that the system chooses unless one is named.
2. Each address has a token of 128 random bits in its path. Without it nothing but 404 is answered.
3. A request whose `Host` is another name is refused with 403, since a foreign page could send it (DNS
   rebinding).
4. Questions are POST requests of JSON, and answers are JSON. An answer for people stands in `error`,
   with status 400.
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

from antiphon.conformance.report.explorer.page import page_file
from antiphon.conformance.report.explorer.walk import Walk, WalkError
from antiphon.model.trace import Trace

HOSTS = ("127.0.0.1", "localhost")

FILES = {
    "": ("explorer.html", "text/html"),
    "explorer.css": ("explorer.css", "text/css"),
    "explorer.js": ("explorer.js", "text/javascript"),
    "remote.js": ("remote.js", "text/javascript"),
}
"""The files of the page by their addresses behind the token, and their types."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(16)


def application(walk: Walk, token: str, traces: Mapping[str, Trace] | None = None) -> Starlette:
    """Return the application that answers a page.

    Args:
        walk: the states.
        token: the first part of each path.
        traces: runs of the program to jump to, by name.
    """
    runs = {name: (walk.add_trace(trace), trace.loop) for name, trace in (traces or {}).items()}
    told = {name: {"steps": len(way) - 1, "loop": loop} for name, (way, loop) in runs.items()}
    answers: dict[str, Callable[[Mapping[str, Any]], Any]] = {
        "about": lambda _: {**walk.about(), "traces": told},
        "view": lambda given: walk.view(given["node"], given.get("beside")),
        "take": lambda given: walk.view(walk.take(given["node"], given["choice"])),
        "disabled": lambda given: walk.disabled(given["node"]),
        "way": lambda given: [walk.label(node) for node in walk.way_to(given["node"])],
        "trace": lambda given: [walk.label(node) for node in runs[given["name"]][0]],
        "open": lambda given: _opened(walk, given),
        "watch": lambda given: walk.watch(given["expression"]),
        "forget": lambda given: walk.forget(given["expression"]),
        "truths": lambda given: walk.truths(given["way"]),
        "find": lambda given: _found(walk, given),
    }

    async def ask(request: Request) -> Response:
        answer = answers.get(request.path_params["question"])
        if answer is None:
            return PlainTextResponse("no such question", 404)
        try:
            given = await request.json()
            return JSONResponse(await run_in_threadpool(answer, given))
        except WalkError as error:
            return JSONResponse({"error": str(error)}, 400)
        except (KeyError, TypeError, ValueError) as error:
            return JSONResponse({"error": f"this question cannot be read: {error!r}"}, 400)

    async def picture(request: Request) -> Response:
        try:
            node = int(request.path_params["node"])
            drawn = await run_in_threadpool(walk.picture, node)
        except (ValueError, WalkError):
            return PlainTextResponse("no such state", 404)
        return Response(drawn, media_type="image/svg+xml")

    routes = [
        Route(f"/{token}/picture/{{node}}.svg", picture, methods=["GET"]),
        Route(f"/{token}/ask/{{question}}", ask, methods=["POST"]),
        *(Route(f"/{token}/{name}", _file_of(name), methods=["GET"]) for name in FILES),
    ]
    app = Starlette(routes=routes)
    app.add_middleware(_Guard)
    return app


def _file_of(address: str) -> Callable[[Request], Any]:
    name, kind = FILES[address]

    async def file(_: Request) -> Response:
        return Response(page_file(name), media_type=kind)

    return file


def _opened(walk: Walk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Open an address: by the numbers of steps where the specification is the same, else by their names."""
    same = given.get("digest", "") == walk.about()["digest"]
    names = given.get("names", ())
    if same and len(given["choices"]) >= len(names):
        followed = walk.follow(given["start"], given["choices"])
        return {"way": [walk.label(node) for node in followed], "told": "", "numbered": True}
    way, missing = walk.follow_names(given["start"], names)
    told = "" if same else "The specification has changed since this address was made. "
    if missing:
        told += f"Step {len(way)} of the address, {missing}, is not enabled: the walk ends before it."
    elif not same:
        told += "All steps of the address are still enabled, and were taken by their names."
    return {"way": [walk.label(node) for node in way], "told": told, "numbered": False}


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
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
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
