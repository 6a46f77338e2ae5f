"""The specification language: typed state, guarded actions, services and repairs, in a subset of Python that
CPython executes as it stands.

`docs/language.md` teaches it. Authors import from here; engines take a `Program` or a `Machine`.
"""

from antiphon.spec.lang.components import instance
from antiphon.spec.lang.errors import Disabled, Location, SpecError
from antiphon.spec.lang.hints import WORDS
from antiphon.spec.lang.machine import Machine, Refusal, State, Step, Transition
from antiphon.spec.lang.program import Program, program
from antiphon.spec.lang.spec import Spec
from antiphon.spec.lang.values import (
    AtMost,
    Between,
    Const,
    In,
    Index,
    Map,
    Seq,
    Set,
    action,
    always,
    always_eventually,
    budget,
    constraint,
    emit,
    environment,
    eventually,
    eventually_always,
    everywhere,
    expect,
    fair,
    guard,
    implies,
    initial,
    invariant,
    leads_to,
    obligation,
    on,
    present,
    record,
    require,
    step_invariant,
    witness,
)
from antiphon.spec.lang.variants import Ambiguity, ambiguity, mutation, repair, restriction

__all__ = [
    "Ambiguity", "AtMost", "Between", "Const", "Disabled", "In", "Index", "Location", "Machine", "Map",
    "Program", "Refusal", "Seq", "Set", "Spec", "SpecError", "State", "Step",
    "Transition", "action", "always", "always_eventually", "ambiguity", "budget", "constraint", "emit",
    "environment", "eventually", "eventually_always", "everywhere", "expect", "fair", "guard", "implies",
    "initial", "instance", "invariant", "leads_to", "mutation", "obligation", "on",
    "present", "program", "record", "repair", "require", "restriction", "step_invariant", "witness",
]  # fmt: skip

WORDS[:] = __all__
