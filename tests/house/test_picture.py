"""The picture of the rooms is drawn from today's imports."""

import runpy
from pathlib import Path


def test_the_picture_of_the_rooms_is_todays(root: Path) -> None:
    script = str(root / "docs" / "draw_rooms.py")
    assert runpy.run_path(script)["main"](["--check"]) == 0, "python docs/draw_rooms.py"
