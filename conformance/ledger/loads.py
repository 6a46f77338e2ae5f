"""Check of the sentences of Kim and Kim about their figures, on short runs of smaller groups than theirs.

docs/dtp-figures.md has the same with ten thousand messages a run and up to forty members. A run that several
sentences need is taken once. Every seed is fixed here and shown in the finding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from antiphon.conformance.run.performance import simulate
from antiphon.conformance.run.performance.questions import Scale
from antiphon.conformance.run.performance.sentences import SENTENCES, Sentence
from antiphon.conformance.run.performance.sweep import sweep

__all__ = ["LOADS"]

_SHORT = Scale(sizes=(2, 5, 15), messages=400, seeds=(1,))

_run = cache(simulate)


def _ask(sentence: Sentence) -> tuple[bool, str]:
    """Evaluate a sentence on the runs that it needs. Return True if they agree with it, and their numbers in
    words.
    """
    runs = sweep(sentence.points(_SHORT), _SHORT.seeds, _run)
    agrees, found = sentence.judge(runs, _SHORT)
    return agrees, f"{found} ({_SHORT.messages} messages, seed {_SHORT.seeds[0]})"


LOADS: dict[str, Callable[[], tuple[bool, str]]] = {
    name: partial(_ask, sentence) for name, sentence in SENTENCES.items()
}
"""Checks by the name that the ledger uses."""
