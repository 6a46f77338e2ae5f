"""Requirement by which pip installs the antiphon that is running, from where it came (PEP 610)."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit


class Requirement(NamedTuple):
    """Line of a file of requirements; a file that goes beside it, if it names one; a note on where it does
    not work.
    """

    line: str
    wheel: Path | None = None
    note: str = ""


def running() -> Requirement:
    """Return the requirement: a repository with its commit, an archive, a wheel that goes along, a folder of
    this machine; else the version of the index.
    """
    found = metadata.distribution("antiphon")
    pinned = Requirement(f"antiphon=={found.version}")
    text = found.read_text("direct_url.json")
    if text is None:
        return pinned
    came: dict[str, Any] = json.loads(text)
    url, below = str(came["url"]), came.get("subdirectory")
    within = f"#subdirectory={below}" if below else ""
    if "vcs_info" in came:
        vcs = came["vcs_info"]
        return Requirement(f"antiphon @ {vcs['vcs']}+{url}@{vcs['commit_id']}{within}")
    parts = urlsplit(url)
    if parts.scheme != "file":
        return Requirement(f"antiphon @ {url}{within}")
    place = Path(unquote(parts.path))
    if "archive_info" in came and place.is_file():
        return Requirement(f"./{place.name}", place)
    if place.is_dir():
        note = f"it is installed from {place}, which a CI does not have: name a repository or a wheel there"
        return Requirement(f"antiphon @ {url}{within}", note=note)
    gone = f"it was installed from {place}, which is gone: the version is that of the index"
    return pinned._replace(note=gone)
