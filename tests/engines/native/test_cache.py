"""Files in the cache are those that their writer made, whoever wrote beside them; a damaged, misplaced or
public file counts as missing.
"""

from __future__ import annotations

import gc
import os
import stat
from pathlib import Path

import pytest

from antiphon.model.cache import MAGIC, VARIABLE, Cache, _prune


def test_a_damaged_entry_is_as_one_that_is_missing(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("key", b"code")
    assert cache.get("key") == b"code"
    content = (tmp_path / "key").read_bytes()
    for damaged in (content[:-1], content + b"x", content[:20] + b"?" + content[21:], b"", MAGIC):
        (tmp_path / "key").write_bytes(damaged)
        assert cache.get("key") is None
    assert cache.get("other") is None


def test_an_entry_under_another_name_is_as_one_that_is_missing(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("key", b"code")
    (tmp_path / "key").rename(tmp_path / "other")
    assert cache.get("other") is None


def test_a_directory_that_others_may_write_to_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    private = Cache.private("kind").directory
    assert private == tmp_path / "kind"
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    private.chmod(0o777)
    assert Cache.private("kind").directory is None
    monkeypatch.setenv(VARIABLE, "")
    assert Cache.private("kind").directory is None


def test_a_directory_that_has_grown_too_large_loses_what_was_not_used_for_longest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files read lately stay, however old they are."""
    cache = Cache(tmp_path)
    for age, key in enumerate(["newest", "second", "third", "oldest"]):
        cache.put(key, bytes(1_000))
        os.utime(tmp_path / key, (1_000 - age, 1_000 - age))
    assert cache.get("oldest") == bytes(1_000)
    monkeypatch.setattr("antiphon.model.cache.MOST_BYTES", 4_000)
    _prune.cache_clear()
    cache.put("one more", b"")
    assert {entry.name for entry in tmp_path.iterdir()} == {"oldest", "one more"}


def test_a_file_that_another_process_removes_meanwhile_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link to nothing stands for a file that is gone between its listing and the question of its size."""
    cache = Cache(tmp_path)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    cache.put("old", bytes(5_000))
    os.utime(tmp_path / "old", (1, 1))
    monkeypatch.setattr("antiphon.model.cache.MOST_BYTES", 4_000)
    _prune.cache_clear()
    cache.put("new", b"")
    gc.collect()
    assert cache.get("new") == b""
    assert cache.get("old") is None
