"""A folder served as WebHDFS, on the loopback interface: the calls that a reader makes, and no other.

The protocol is Hadoop's REST interface of HDFS: what is known of a file, the files of a folder, where the
blocks of a file are, and its bytes, for which the reader is sent to another address, as a name node sends to
a data node. No answer names the type of its content: the client that comes with Spark lacks the classes by
which it would check that, and fails.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

PREFIX = "/webhdfs/v1"


@contextmanager
def served(root: Path) -> Iterator[tuple[str, list[str]]]:
    """Serve a folder; its address, and the calls that were made."""
    calls: list[str] = []

    class Node(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            address = urlsplit(self.path)
            asked = parse_qs(address.query)
            operation = asked["op"][0].upper()
            calls.append(operation)
            name = unquote(address.path.removeprefix(PREFIX))
            path = root / name.lstrip("/")
            if not path.exists():
                java = "java.io.FileNotFoundException"
                told = {"exception": java.rpartition(".")[2], "javaClassName": java, "message": name}
                self._tell({"RemoteException": told}, 404)
            elif operation == "GETFILESTATUS":
                self._tell({"FileStatus": status(path, "")})
            elif operation == "LISTSTATUS":
                inner = sorted(path.iterdir()) if path.is_dir() else [path]
                files = [status(file, file.name if path.is_dir() else "") for file in inner]
                self._tell({"FileStatuses": {"FileStatus": files}})
            elif operation in ("GETFILEBLOCKLOCATIONS", "GET_BLOCK_LOCATIONS"):
                self._tell({"BlockLocations": {"BlockLocation": []}})
            elif operation == "OPEN" and "data" not in asked:
                self.send_response(307)
                self.send_header("Location", f"http://{self.headers['Host']}{self.path}&data=here")
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif operation == "OPEN":
                content = path.read_bytes()[int(asked.get("offset", ["0"])[0]) :]
                self._tell_bytes(content[: int(asked.get("length", [str(len(content))])[0])])
            else:
                self.send_error(400, operation)

        def _tell(self, document: object, code: int = 200) -> None:
            self._tell_bytes(json.dumps(document).encode(), code)

        def _tell_bytes(self, content: bytes, code: int = 200) -> None:
            self.send_response(code)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Node) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"webhdfs://127.0.0.1:{server.server_address[1]}", calls
        finally:
            server.shutdown()


def status(path: Path, name: str) -> dict[str, object]:
    """Status of a file, as WebHDFS reports it."""
    known = path.stat()
    return {
        "accessTime": int(known.st_atime * 1000),
        "blockSize": 1 << 27,
        "childrenNum": 0,
        "fileId": known.st_ino,
        "group": "supergroup",
        "length": 0 if path.is_dir() else known.st_size,
        "modificationTime": int(known.st_mtime * 1000),
        "owner": "somebody",
        "pathSuffix": name,
        "permission": "755",
        "replication": 1,
        "storagePolicy": 0,
        "type": "DIRECTORY" if path.is_dir() else "FILE",
    }
