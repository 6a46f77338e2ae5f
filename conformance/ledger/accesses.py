"""Reads and writes of one layer's variables by another layer's steps, for claims about modules.

They are computed from the intermediate form, including called helpers, without any run. This module knows the
layers of iRBP.
"""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.model.mutation.mutants import caused
from antiphon.spec.lang import Program, ir, program
from antiphon.spec.lang.walk import nodes
from antiphon.spec.protocols.irbp.normal_phase import NormalPhase
from antiphon.spec.protocols.irbp.properties import IrbpChecked

QUEUES = ("received", "numbered", "stable", "last_delivered")
"""The queues recvQ, seqQ, stableQ and the variable lastdelivered of figure 25."""

STEPS = ("report", "decide", "adopt")
"""Actions of the specification that are steps 1 to 6 of figure 32; step 7 begins the next list."""


def shared_queues() -> tuple[bool, str]:
    """Check that step 1 of figure 32 reads a queue of total order, and that step 6 writes two of them, as
    printed; with all repairs both use more queues.
    """
    printed, repaired = _accesses(program(IrbpChecked)), _accesses(program(IrbpChecked, repairs="all"))
    good = printed == ({"numbered"}, {"numbered", "stable"})
    good = good and repaired == (set(QUEUES), {"received", "numbered", "stable"})
    return good, f"figure 32, steps 1 to 6, {_told(printed)}; with all repairs {_told(repaired)}"


def queues_left_alone() -> tuple[bool, str]:
    """Check that no step of figure 32 reads or writes a variable of total order."""
    printed = _accesses(program(IrbpChecked))
    return printed == (set(), set()), f"figure 32, steps 1 to 6, {_told(printed)}"


def _accesses(bound: Program) -> tuple[set[str], set[str]]:
    """Return the queues of the normal phase that the steps of the view change read, and those that they
    write.
    """
    assert set(QUEUES) <= vars(NormalPhase)["__annotations__"].keys()
    module = bound.module
    definitions = {item.name: item for item in (*module.functions, *module.procedures, *module.handlers)}
    guards = frozenset(item.name for item in bound.declaration.marked("guard", "constraint"))
    bodies = [
        body
        for action in module.actions
        if action.name in STEPS
        for body in (action.body, *(definitions[name].body for name in caused(action, module, guards)))
    ]
    found = tuple(nodes(tuple(bodies)))
    read = {node.variable for node in found if isinstance(node, ir.Read)}
    written = {node.variable for node in found if isinstance(node, ir.Assign)}
    return read & set(QUEUES), written & set(QUEUES)


def _told(accesses: tuple[set[str], set[str]]) -> str:
    read, written = (_listed([name for name in QUEUES if name in names]) for names in accesses)
    return f"read {read} and write {written}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing"
