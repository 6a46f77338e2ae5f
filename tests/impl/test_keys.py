"""A key file is read when it is its reader's alone, and shows no key in what goes wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from antiphon.impl.errors import InvalidKey
from antiphon.impl.keys import KEY_FILE_BYTES_MAX, read_keys

ONE, TWO = bytes(range(32)), bytes(range(32, 64))


def written(directory: Path, text: str, mode: int = 0o600) -> Path:
    path = directory / "group.key"
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_the_first_key_is_used_and_all_are_accepted(tmp_path: Path, mode: int) -> None:
    text = f"# since Monday\n{ONE.hex()}\n\n{TWO.hex().upper()}  # until Sunday\n"
    for keys in (read_keys(written(tmp_path, text, mode)), read_keys(str(tmp_path / "group.key"))):
        assert (keys.use, keys.accept) == (ONE, (TWO,))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o644, 0o666])
def test_what_others_may_use_is_refused_with_the_remedy(tmp_path: Path, mode: int) -> None:
    path = written(tmp_path, ONE.hex(), mode)
    with pytest.raises(InvalidKey, match=f"has mode {mode:o}, so that others could use it: chmod 600 {path}"):
        read_keys(path)


def test_what_belongs_to_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, ONE.hex())
    owner = path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    if owner == 0:
        assert read_keys(path).use == ONE
    status = os.stat_result((0o100600, 0, 0, 1, 77, 0, 64, 0, 0, 0))
    monkeypatch.setattr(os, "fstat", lambda descriptor: status)
    with pytest.raises(InvalidKey, match=f"belongs to user 77, not to {owner + 1} or root"):
        read_keys(path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has no key; make one with: openssl rand -hex 32"),
        ("# nothing\n\n", "has no key"),
        (ONE.hex()[:-1], "line 1: 63 characters; a key has 64 hexadecimal digits"),
        (ONE.hex()[:-2], "line 1: 62 characters"),
        (ONE.hex() + "\n" + TWO.hex() + "00", "line 2: 66 characters"),
        ("x" * 64, "line 1: 64 characters"),
        ("00 " * 21 + "0", "line 1: 64 characters"),
        ("é" * 32, "line 1: 64 characters"),
        ("#" * (KEY_FILE_BYTES_MAX + 1), "has more than 4096 bytes"),
    ],
)
def test_what_is_no_key_is_named_by_its_line_and_not_shown(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InvalidKey, match=told) as caught:
        read_keys(written(tmp_path, text))
    assert ONE.hex()[:20] not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    with pytest.raises(InvalidKey, match="is not a regular file"):
        read_keys(pipe)
    with pytest.raises(InvalidKey, match="Is a directory"):
        read_keys(tmp_path)
    with pytest.raises(InvalidKey, match="No such file"):
        read_keys(tmp_path / "nowhere")
