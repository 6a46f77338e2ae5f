"""A loop over a domain without order is accepted when no order can show, and refused when one could."""

from __future__ import annotations

import pytest
from tests.lang.texts import with_body, with_methods

from antiphon.spec.lang import SpecError
from antiphon.spec.lang.front import read

INDEPENDENT = [
    "for p in self.each(P):\n    self.count[p] = 0",
    "for p in self.each(P):\n    self.count[p] = self.n",
    "for p in self.each(P):\n    self.count[p] = (self.count[p] + 1) % 2",
    "for p in self.each(P):\n    self.grid[self.who][p] = p in self.ps_seen",
    "for q in self.qs_seen:\n    for p in self.each(P):\n        self.grid[q][p] = True",
    "for p in self.each(P):\n    if self.count[p] == 0:\n        self.ps_seen |= {p}",
    "for p in self.each(P):\n    self.ps_seen -= {p}",
    "for q in self.qs_seen:\n    self.smalls &= {0}",
    "for p in self.each(P):\n    self.n += 1",
    "for p in self.each(P):\n    self.n += self.count[p]",
    "for p in self.each(P):\n    self.n = max(self.n, self.count[p])",
    "for p in self.each(P):\n    self.n = min(self.n, self.count[p])",
    "for p in self.each(P):\n    if self.count[p] == 0:\n        self.b = True",
    "for p in self.each(P):\n    x = self.count[p]\n    self.count[p] = x",
    "for m in self.packets:\n    if isinstance(m, Ping):\n        self.qs_seen |= {m.q}",
    "for p in self.each(P):\n    require(self.count[p] == 0)",
    "for p in self.each(P):\n    self.raise_count(p)",
    "for p in self.each(P):\n    self.note(self.who)",
    "for p in self.each(P):\n    if self.is_zero(p):\n        self.count[p] = 1",
    "for n in self.smalls:\n    self.packets |= {Ping(self.who, n)}",
    "for n in self.smalls:\n    self.slot[n] = self.q",
]  # fmt: skip

DEPENDENT = [
    "for p in self.each(P):\n    «self.n = self.count[p]",
    "for q in self.qs_seen:\n    «self.q = q",
    "for p in self.each(P):\n    «self.count[P(0)] = self.count[p]",
    "for p in self.each(P):\n    self.count[p] = self.n\n    «self.n += 1",
    "for p in self.each(P):\n    «self.ps_seen |= {p}\n    self.b = len(self.ps_seen) == 1",
    "for p in self.each(P):\n    «self.n += 1\n    self.n -= 1",
    "for p in self.each(P):\n    «self.n += self.count[p] - 1",
    "for p in self.each(P):\n    if self.b:\n        «self.n = 1\n    else:\n        self.n = 2",
    "for p in self.each(P):\n    if not self.b:\n        «self.b = True\n        self.ps_seen |= {p}",
    "for p in self.each(P):\n    «self.n = self.n * 2",
    "for p in self.each(P):\n    «self.ps_seen |= {p}\n    self.ps_seen -= {p}",
    "for q in self.qs_seen:\n    for p in self.each(P):\n        «self.count[p] = q.index",
    "for q in self.qs_seen:\n    for x in self.each(Q):\n        if q < x:\n            «self.who = x",
    "for q in self.qs_seen:\n    «self.queue += (q.index,)",
    ("for m in self.packets:\n    «self.slot[m.n] = None if self.b else self.who\n    self.b = self.slot[0] "
    "is None"),
    "for p in self.each(P):\n    if self.any_zero():\n        «self.count[p] = 1",
    "for p in self.each(P):\n    «emit(Happened(0))",
    "for p in self.each(P):\n    «expect(self.b, \"Calm\")",
    "for p in self.each(P):\n    if self.count[p] == 0:\n        «return",
]  # fmt: skip

HELPERS = """
def is_zero(self, p: P) -> bool:
    return self.count[p] == 0
def any_zero(self) -> bool:
    return any(self.count[p] == 0 for p in self.each(P))
def raise_count(self, p: P) -> None:
    if self.count[p] > 1:
        return
    self.count[p] += 1
def note(self, q: Q) -> None:
    self.qs_seen |= {q}
@action
def step(self) -> None:
"""


@pytest.mark.parametrize("body", INDEPENDENT)
def test_a_loop_whose_order_cannot_show_is_read(body: str) -> None:
    inside = "\n".join("    " + line for line in body.splitlines())
    assert read(with_methods(HELPERS + inside)[0]).actions


@pytest.mark.parametrize("body", DEPENDENT)
def test_a_loop_whose_order_could_show_is_refused_there(body: str) -> None:
    inside = "\n".join("    " + line for line in body.splitlines())
    cls, place = with_methods(HELPERS + inside)
    with pytest.raises(SpecError) as caught:
        read(cls)
    assert caught.value.at == place


@pytest.mark.parametrize("domain", ["Q", "Small", "Color", "bool"])
def test_over_an_ordered_domain_the_order_may_show(domain: str) -> None:
    body = (
        f"for x in self.each({domain}):\n    if self.b:\n        self.n = 0\n        emit(Happened(0))\n     "
        "   return\n    self.b = True"
    )
    assert read(with_body(body)[0]).actions


def test_a_written_order_may_show_too() -> None:
    assert read(with_body("for n in self.queue:\n    self.n = n")[0]).actions
