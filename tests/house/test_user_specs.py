"""A specification that Python cannot read is the user's to correct: it is located, and no failure of ours."""

from pathlib import Path

import pytest

from antiphon.conformance.cli import main


def test_a_syntax_error_in_a_specification_is_located_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`antiphon check` names file, line and column, and exits with 64."""
    (tmp_path / "slipped.py").write_text("class Lock(Spec:\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["check", "slipped:Lock"]) == 64
    assert "slipped.py:1:16: invalid syntax" in capsys.readouterr().err
