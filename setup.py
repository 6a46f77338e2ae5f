"""The packages are what the four directories hold: everything else about the build stands in pyproject.toml.

The package `antiphon` itself is `conformance/api`, and is not a part of `antiphon.conformance` as well.
"""

from setuptools import find_packages, setup

ROOMS = ("spec", "model", "impl", "conformance")

setup(
    packages=[
        "antiphon",
        *(
            f"antiphon.{name}"
            for room in ROOMS
            for name in find_packages(include=[room, f"{room}.*"], exclude=["conformance.api"])
        ),
    ],
)
