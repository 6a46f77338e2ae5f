"""Reference adapters, each made once."""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from tests.adapters.references import made


@pytest.fixture(scope="session")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[str]]:
    """The command of the adapter in a language, made at its first use; with a planted fault, if named."""

    @cache
    def make(language: str, fault: str = "") -> list[str]:
        return made(language, tmp_path_factory.mktemp("adapter"), fault)

    return make


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], list[str]]:
    """The command of a program in Python: its text after the lines that read a request and write a reply."""

    def make(text: str) -> list[str]:
        path = tmp_path / "program.py"
        path.write_text(f"{BEGIN}\n{text}", encoding="utf-8")
        return [sys.executable, "-S", str(path)]

    return make


BEGIN = """
import json, os, sys, time

def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    return json.loads(line)

def write(text):
    os.write(1, text.encode() if isinstance(text, str) else text)

def say(dest, **body):
    write(json.dumps({"src": me, "dest": dest, "body": body}) + chr(10))

def reply(message, **body):
    say(message["src"], in_reply_to=message["body"]["msg_id"], **body)

def both(message):
    done = {"type": "antiphon.done", "in_reply_to": message["body"]["msg_id"], "state": {}}
    lines = [("antiphon", done), ("n1", {"type": "late"})]
    return "".join(json.dumps({"src": me, "dest": to, "body": body}) + chr(10) for to, body in lines)

def begin(*can):
    global me
    message = hear()
    me = message["dest"]
    reply(message, type="init_ok", **({"antiphon": {"version": 1, "can": can}} if can else {}))
"""
