"""Every protocol core, every binding and every engine is checked by a function that a new one is handed to.

A test of a new protocol is one call of each: `check_core("module:function")`,
`check_times(implementation, times)`, `check_memory(implementation, kept=..., bytes_max=...)` and
`check_binding(make)`; that of a new engine `check_engine(check)`, and `check_transitions(make)` where it
takes single steps.
"""

from antiphon.conformance.suites.bindings import check_binding
from antiphon.conformance.suites.cores import check_core
from antiphon.conformance.suites.engines import check_engine, check_transitions, engine_programs
from antiphon.conformance.suites.memory import check_memory
from antiphon.conformance.suites.time import Times, check_times

__all__ = [
    "Times",
    "check_binding",
    "check_core",
    "check_engine",
    "check_memory",
    "check_times",
    "check_transitions",
    "engine_programs",
]
