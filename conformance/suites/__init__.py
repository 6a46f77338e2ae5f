"""Every protocol core and every binding is checked by a function that a new one is handed to.

A test of a new protocol is one call of each: `check_core("module:function")`, `check_binding(make)`.
"""

from antiphon.conformance.suites.bindings import check_binding
from antiphon.conformance.suites.cores import check_core

__all__ = ["check_binding", "check_core"]
