"""Checks that mutants may break, their programs, and the part of these that is a protocol's text.

This file knows which classes are a protocol's text, and nothing of any protocol.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace

from antiphon.conformance.ledger.checking import program_of
from antiphon.conformance.report.words import settings
from antiphon.model.mutation import Mutant, mutants_of
from antiphon.model.mutation.mutants import reached
from antiphon.spec.catalogue import refinement_of
from antiphon.spec.claims import Check, Claim, is_borrowed
from antiphon.spec.lang import Program, ir
from antiphon.spec.lang.dump import dump
from antiphon.spec.lang.variants import Restriction
from antiphon.spec.lang.walk import nodes

__all__ = [
    "Group",
    "by_program",
    "checks_that_hold",
    "digest_of",
    "explored",
    "is_text",
    "judged_by",
    "meaning_of",
    "program_text",
    "refined",
    "text_mutants",
]

NOT_TEXT = ("bounds", "properties", "refinement", "resilience", "two_views_checked")
"""Modules of a protocol that bound it or judge it."""

Group = tuple[Program, list[tuple[Claim, Check]]]


def is_text(part: type) -> bool:
    """Return True if a class is the text of a protocol: not its environment, bound, restriction or
    property.
    """
    package, _, module = part.__module__.rpartition(".")
    ours = package.startswith("antiphon.spec.")
    around = ours and not package.startswith(("antiphon.spec.protocols", "antiphon.spec.examples"))
    restricts = isinstance(vars(part).get("__antiphon_variant__"), Restriction)
    return not (around or restricts or module in NOT_TEXT)


def checks_that_hold(claims: Iterable[Claim]) -> Iterator[tuple[Claim, Check]]:
    """Yield the checks that are recorded to hold, except for those that an earlier family runs on mutants."""
    for claim in claims:
        for check in claim.checks:
            if isinstance(check, Check) and check.outcome == "holds" and not is_borrowed(claim, check):
                yield claim, check


def explored(claims: Iterable[Claim]) -> Iterator[tuple[Claim, Check]]:
    """Return the checks that are no refinement."""
    return (item for item in checks_that_hold(claims) if refinement_of(item[1].spec) is None)


def refined(claims: Iterable[Claim]) -> Iterator[tuple[Claim, Check]]:
    """Return the checks that are refinements."""
    return (item for item in checks_that_hold(claims) if refinement_of(item[1].spec) is not None)


def by_program(checks: Iterable[tuple[Claim, Check]]) -> list[Group]:
    """Return the checks grouped by program, programs of one text one after the other."""
    found: dict[tuple[object, ...], Group] = {}
    for claim, check in checks:
        bound = program_of(check)
        key = bound.spec, tuple(sorted(bound.constants.items()))
        found.setdefault(key, (bound, []))[1].append((claim, check))
    texts = list(dict.fromkeys(bound.text for bound, _ in found.values()))
    return sorted(found.values(), key=lambda group: texts.index(group[0].text))


def program_text(check: Check) -> str:
    """Return the name of the program of a check: the specification, its repairs and its constants."""
    chosen = check.repairs if isinstance(check.repairs, str) else ", ".join(check.repairs)
    without = f" without {', '.join(check.without)}" if check.without else ""
    repairs = f"repairs: {chosen}{without}" if chosen else "literal"
    return f"{check.spec.__name__}, {repairs}; {', '.join(settings(check.constants))}"


def meaning_of(program: Program, properties: Iterable[str]) -> str:
    """Return a digest of the meaning of a program and of some properties, without its constants.

    Other properties have no effect on the results. The meaning of a refinement has the mapping and the
    abstract machine, with the constants.
    """
    refinement = refinement_of(program.spec)
    if refinement is not None:
        protocol, machine = refinement.bind(program)
        return digest_of(protocol.digest, machine.digest)
    module, asked = program.module, set(properties)
    parts = replace(
        module,
        predicates=tuple(item for item in module.predicates if item.name in asked),
        step_invariants=tuple(item for item in module.step_invariants if item.name in asked),
        liveness=tuple(item for item in module.liveness if item.name in asked),
        properties=tuple(name for name in module.properties if name in asked),
    )
    needed = reached(tuple(_parts(parts)), module)
    parts = replace(parts, functions=tuple(item for item in module.functions if item.name in needed))
    return digest_of(dump(parts, prose=False))


def _parts(module: ir.Module) -> Iterator[object]:
    """Yield all parts of a module that may call functions: procedures, actions, predicates and so on."""
    yield from (*module.procedures, *module.initials, *module.actions, *module.handlers, *module.fair)
    yield from (*module.predicates, *module.step_invariants, *module.liveness, *module.variables)


def text_mutants(program: Program) -> tuple[Mutant, ...]:
    """Return the mutants of a protocol's text; for a service that is checked alone, those of its
    own module.
    """
    own = program.spec.__module__
    return mutants_of(program, is_text) or mutants_of(program, lambda part: part.__module__ == own)


def judged_by(program: Program) -> dict[str, set[str]]:
    """Return the properties that actions, procedures and handlers judge themselves, by their names."""
    module = program.module
    return {
        item.name: {node.property for node in nodes(item.body) if isinstance(node, ir.Expect)}
        for item in (*module.actions, *module.procedures, *module.handlers)
    }


def digest_of(*parts: str) -> str:
    """Return the digest of some texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
