"""Recipe of a program for executors: the place of its class and its constants; each executor makes it once.

The digest of the intermediate form checks that they read the same program as the driver. This file knows
nothing of Spark.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import antiphon
from antiphon.conformance.spark.pipeline.errors import InputError
from antiphon.model.engines.native.driver.batcher import Batcher
from antiphon.spec.lang import Program
from antiphon.spec.lang import program as bind
from antiphon.spec.lang.spec import Spec
from antiphon.spec.places import module_of


@dataclass(frozen=True)
class Recipe:
    """Recipe to make a program in another process: its class as "module:Class" or "file.py:Class", looked for
    from `directory`; its constants; and its expected digest.
    """

    place: str
    constants: tuple[tuple[str, int | bool | str], ...]
    directory: str
    digest: str

    @staticmethod
    def of(program: Program) -> Recipe:
        """Return the recipe of a program.

        Raises:
            InputError: its class was made by a function, or is a variant that has no name.
        """
        spec: type[Spec] = program.spec
        if "<locals>" in spec.__qualname__ or program.digest != _made(spec, program).digest:
            raise InputError(
                f"{spec.__name__} cannot be told to executors: it must be a class of a module or a file"
            )
        module = module_of(spec)
        if module.endswith(".py"):
            module = str(Path(module).resolve())
        constants = tuple(program.constants.items())
        return Recipe(f"{module}:{spec.__qualname__}", constants, os.getcwd(), program.digest)  # noqa: PTH109

    def program(self) -> Program:
        """Make the program from the recipe, and check its digest.

        Raises:
            InputError: the class has another text here.
        """
        if Path(self.directory).is_dir():
            os.chdir(self.directory)
        made = antiphon.program(self.place, **cast("dict[str, Any]", dict(self.constants)))
        if made.digest != self.digest:
            raise InputError(f"{self.place} is another text here than where the exploration was begun")
        return made


def _made(spec: type[Spec], program: Program) -> Program:
    return bind(spec, **cast("dict[str, Any]", program.constants))


@lru_cache(maxsize=2)
def batcher_of(recipe: Recipe) -> Batcher:
    """Return the machine code of a program, and its arrays; both are made once in a process."""
    return Batcher(recipe.program())
