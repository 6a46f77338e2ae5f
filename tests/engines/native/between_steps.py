"""Functions in the subset of `lower`, by themselves as machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from typing import Any

import llvmlite.binding as llvm

from antiphon.model.engines.native.compiler.kernel import assemble
from antiphon.model.engines.native.compiler.lower import DECLARATIONS, lower


class BetweenSteps:
    """Functions that are lowered together, with constants, and with LLVM text beside them; called by name."""

    def __init__(
        self, functions: Iterable[Callable[..., int]], values: dict[str, int], beside: str = ""
    ) -> None:
        functions = list(functions)
        self._arguments = {function.__name__: function.__code__.co_argcount for function in functions}
        (code,) = assemble([beside + DECLARATIONS + lower(functions, values, exported=self._arguments)])
        self._engine = llvm.create_mcjit_compiler(
            llvm.parse_assembly(""), llvm.Target.from_default_triple().create_target_machine(jit=True)
        )
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def __getattr__(self, name: str) -> Any:
        kind = ctypes.CFUNCTYPE(ctypes.c_uint64, *[ctypes.c_uint64] * self._arguments[name])
        return kind(self._engine.get_function_address(name))
