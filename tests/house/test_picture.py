"""The picture of the rooms is drawn from today's imports."""

import subprocess
import sys
from pathlib import Path


def test_the_picture_of_the_rooms_is_todays(root: Path) -> None:
    script = root / "docs" / "draw_rooms.py"
    command = [sys.executable, str(script), "--check"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
