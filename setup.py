"""The packages are what the four directories hold: everything else about the build stands in pyproject.toml."""

from setuptools import find_packages, setup

ROOMS = ("spec", "model", "impl", "conformance")

setup(
    packages=[
        f"antiphon.{name}"
        for room in ROOMS
        for name in find_packages(include=[room, f"{room}.*"])
    ],
)
