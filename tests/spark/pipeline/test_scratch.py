"""Temporary folders that a process leaves behind, and their removal, without Java."""

import subprocess
import sys
from pathlib import Path

from antiphon.conformance.spark.pipeline.scratch import own_directory

PROGRAM = """
import sys, time
from pathlib import Path
from antiphon.conformance.spark.pipeline.scratch import own_directory
with own_directory("spark", Path(sys.argv[1])) as directory:
    (directory / "blocks").mkdir()
    (directory / "blocks" / "block").write_text("x")
    print(directory, flush=True)
    time.sleep(600)
"""


def test_what_sigkill_leaves_is_removed_by_the_next_start_and_nothing_that_has_an_owner(
    tmp_path: Path,
) -> None:
    (tmp_path / "antiphon-notes").mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        with own_directory("spark", tmp_path):
            assert (left / "blocks" / "block").exists()
        process.kill()
    assert (left / "blocks" / "block").exists()
    with own_directory("spark", tmp_path) as mine:
        assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "antiphon-notes", mine])
        assert mine.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == [tmp_path / "antiphon-notes"]
