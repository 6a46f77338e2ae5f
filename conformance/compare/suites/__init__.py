"""Suites of checks for every protocol core, every binding and every engine.

The tests of a new core are a subclass of `CoreSuite`, in three lines, and one call of `check_binding(make)`
for its binding; those of a new engine `check_engine(check)`, and `check_transitions(make)` where it takes
single steps. The checks of a `CoreSuite` can be called alone: `check_core("module:function")`,
`check_times(implementation, times)`, `check_memory(implementation, kept=..., bytes_max=...)`.
"""

from antiphon.conformance.compare.suites.bindings import check_binding
from antiphon.conformance.compare.suites.core_suite import CoreSuite
from antiphon.conformance.compare.suites.cores import check_core
from antiphon.conformance.compare.suites.engines import check_engine, check_transitions, engine_programs
from antiphon.conformance.compare.suites.memory import check_memory
from antiphon.conformance.compare.suites.time import Times, check_times

__all__ = [
    "CoreSuite",
    "Times",
    "check_binding",
    "check_core",
    "check_engine",
    "check_memory",
    "check_times",
    "check_transitions",
    "engine_programs",
]
