"""What a user installs: the wheel holds every file of the rooms, and works where nothing else of the project
is.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

PARTS = ("spec", "model", "impl", "conformance", "pyproject.toml", "setup.py", "README.md", "LICENSE")


def run(*command: str | Path, cwd: Path) -> str:
    """What the command prints, run without the variables that would let it see the working tree."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy so that nothing is left in the working tree, without network."""
    copy = tmp_path_factory.mktemp("source")
    for part in PARTS:
        if (root / part).is_dir():
            shutil.copytree(root / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(root / part, copy / part)
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", copy / "dist", cwd=copy)
    (built,) = (copy / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment with the wheel in it; dependencies come from ours, whose editable install stays
    unseen.

    Python reads .pth files only in its own site directories, so a path added by one brings packages but not
    their .pth.
    """
    home = tmp_path_factory.mktemp("installed") / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", home, cwd=home.parent)
    python = home / "bin" / "python"
    uv = Path(sys.executable).parent / "uv"
    run(uv, "pip", "install", "--offline", "--no-deps", "--python", python, wheel, cwd=home.parent)
    site = Path(
        run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home.parent).strip()
    )
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return home


def test_the_wheel_holds_every_file_of_the_rooms(root: Path, wheel: Path) -> None:
    held = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("antiphon/")}
    ours = {
        f"antiphon/{path.relative_to(root)}".replace("antiphon/conformance/api/", "antiphon/")
        for room in ("spec", "model", "impl", "conformance")
        for path in (root / room).rglob("*")
        if path.is_file()
        and not any(part == "__pycache__" or part.startswith(".") for part in path.relative_to(root).parts)
    }
    assert held == ours


def test_every_module_loads_from_the_wheel_alone(
    environment: Path, modules: dict[str, Path], tmp_path: Path
) -> None:
    program = (
        "import importlib, json, sys\n"
        "print(json.dumps([importlib.import_module(name).__file__ for name in json.loads(sys.argv[1])]))"
    )
    names = [name for name in modules if not name.endswith(".__main__")]
    files = json.loads(run(environment / "bin" / "python", "-c", program, json.dumps(names), cwd=tmp_path))
    assert len(files) == len(names)
    assert all(Path(file).is_relative_to(environment) for file in files)


def test_the_public_names_load_from_the_wheel_alone(environment: Path, tmp_path: Path) -> None:
    """All but `verify`, which needs Spark to load."""
    program = (
        "import antiphon; print(*[getattr(antiphon, name).__name__ for name in antiphon.__all__ if name != "
        "'verify'])"
    )
    assert run(environment / "bin" / "python", "-c", program, cwd=tmp_path).split()
    version = (
        "import antiphon, importlib.metadata as it; assert antiphon.__version__ == it.version('antiphon')"
    )
    run(environment / "bin" / "python", "-c", version, cwd=tmp_path)


def test_the_command_runs_from_the_wheel_alone(environment: Path, tmp_path: Path) -> None:
    assert "Usage" in run(environment / "bin" / "antiphon", "--help", cwd=tmp_path)
