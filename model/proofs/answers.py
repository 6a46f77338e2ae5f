"""Answers of Z3 to an obligation, part by part, with several seeds, a limit for each, and a cache.

1. Seed after seed is tried, first briefly, then longer (`TIMES`); the first answer but `unknown` decides. A
   proved obligation is asked with the other seeds too: it is *stable* if all of them prove it.
2. The core of a proof is asked again in another configuration. If that gives no answer, two more seeds must
   prove it; if it finds a counterexample, we have an internal error.
3. A core is cached: where the same step and goal are asked with a superset of its assumptions, the answer is
   known, whatever was edited elsewhere.
4. All limits are counted in units of Z3's work (`smt.UNITS_A_SECOND`), so that an answer is the same on a
   busy machine. The wall time that is left in all is another bound, which ends a question as well.

This file knows nothing of specifications.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from antiphon.model.cache import Cache
from antiphon.model.proofs import smt
from antiphon.model.proofs.formula import Formula
from antiphon.model.proofs.fragment import Question
from antiphon.model.verdict import InternalError

SEEDS = (0, 1, 2, 3)
TIMES = (2.0, 8.0)
"""Seconds for a question with each seed: in a first round of all seeds, and in a second."""

BRIEF = 0.5
"""Seconds for a first try with some of the assumptions, which may suffice."""

STABLE_WITHIN = 10.0
"""Seconds within which every seed must prove an obligation that is called stable."""

CONFIRM_SECONDS = 5.0
"""Seconds to prove the core of a proof again, in a second configuration of Z3."""

CONFIRM_SEEDS = 2
"""Number of further seeds that must prove a core where the second configuration gives no answer."""

LEAST_WALL_SECONDS = 0.01
"""Wall time that must be left for a question to be asked."""

VERSION = "proofs 1"
"""Version of the cache; it changes when cached cores could be wrong."""


@dataclass(frozen=True)
class Answer:
    """Answer of Z3 to a question, after all attempts.

    Attributes:
        outcome: proved, refuted or unknown.
        seconds: the processor's time for the first proof, also of a cached one, or for all attempts.
        seeds: how many of the four seeds prove it within `STABLE_WITHIN`.
        core: the names of the assumptions that the proof uses.
        sizes: how many elements each sort has in the structure that refutes it.
        known: whether the answer was cached.
        reason: why it is unknown.
    """

    outcome: smt.Outcome
    seconds: float
    seeds: int = 0
    core: frozenset[str] = frozenset()
    sizes: tuple[tuple[str, int], ...] = ()
    known: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Asker:
    """Asker of questions to Z3.

    Attributes:
        cache: where cores are cached.
        left: the seconds of wall time that are left in all; None without a bound.
        seeds: how many seeds are asked.
        times: the seconds that each seed has, round by round.
    """

    cache: Cache
    left: Callable[[], float | None]
    seeds: int = len(SEEDS)
    times: tuple[float, ...] = TIMES

    def ask(self, asked: Question, fixed: frozenset[str], fewer: Sequence[Question] = ()) -> Answer:
        """Return the answer to a question.

        Args:
            asked: the question.
            fixed: the names of the step and the goal, which are the key in the cache.
            fewer: the same question with fewer assumptions, the fewest first: a proof from fewer is a proof.

        Raises:
            InternalError: the two configurations contradict one another.
        """
        digests = _digests(asked)
        key = _key([str(self.seeds), *(digest for name, digest in digests if name in fixed)])
        kept = self._kept(key, digests)
        if kept is not None:
            return kept
        for easier in fewer:
            found = self._asked(easier.asserted, BRIEF)
            if found is not None and found.outcome is smt.Outcome.PROVED:
                return self._proved(easier, found, key, _digests(easier))
        taken, reason = 0.0, ""
        for seconds in self.times:
            for seed, configuration in itertools.product(SEEDS[: self.seeds], (smt.FIRST, smt.SECOND)):
                last = self._asked(asked.asserted, seconds / 2, seed, configuration)
                if last is None:
                    return Answer(smt.Outcome.UNKNOWN, taken, reason="the time that was left in all")
                if last.outcome is smt.Outcome.PROVED:
                    return self._proved(asked, last, key, digests)
                taken += last.seconds
                if last.outcome is smt.Outcome.REFUTED:
                    return Answer(last.outcome, taken, sizes=last.sizes)
                reason = last.reason or reason
        tried = f"{self.seeds} seeds x {sum(self.times):g} s"
        return Answer(smt.Outcome.UNKNOWN, taken, reason=tried + (f" ({reason})" if reason else ""))

    def _asked(
        self, asserted: Sequence[tuple[str, Formula]], seconds: float, seed: int = SEEDS[0],
        configuration: smt.Configuration = smt.FIRST,
    ) -> smt.Answer | None:  # fmt: skip
        """Return Z3's answer, or None if no time is left in all."""
        left = self.left()
        if left is not None and left < LEAST_WALL_SECONDS:
            return None
        return smt.ask(
            asserted, seed=seed, seconds=seconds, wall_seconds=left, configuration=configuration
        )

    def _proved(
        self, asked: Question, first: smt.Answer, key: str, digests: Sequence[tuple[str, str]]
    ) -> Answer:
        core = [(name, formula) for name, formula in asked.asserted if name in first.core]
        for configuration in (smt.SECOND, smt.THIRD):
            again = smt.ask(core, seconds=CONFIRM_SECONDS, configuration=configuration)
            if again.outcome is not smt.Outcome.UNKNOWN:
                break
        if again.outcome is smt.Outcome.REFUTED:
            raise InternalError("Z3 proves and refutes the same question, by its configuration")
        others = 0
        for seed in SEEDS[1 : self.seeds]:
            answer = self._asked(asked.asserted, STABLE_WITHIN, seed)
            others += answer is not None and answer.outcome is smt.Outcome.PROVED
        if again.outcome is not smt.Outcome.PROVED and others < CONFIRM_SEEDS:
            reason = f"{1 + others} seeds of {self.seeds} prove it, too few, and no other configuration"
            return Answer(smt.Outcome.UNKNOWN, first.seconds, seeds=1 + others, reason=reason)
        found = Answer(smt.Outcome.PROVED, first.seconds, 1 + others, first.core)
        kept = {
            "core": sorted(digest for name, digest in digests if name in first.core),
            "names": sorted(first.core),
            "seeds": found.seeds,
            "seconds": found.seconds,
        }
        self.cache.put(key, json.dumps(kept).encode())
        return found

    def _kept(self, key: str, digests: Sequence[tuple[str, str]]) -> Answer | None:
        content = self.cache.get(key)
        if content is None:
            return None
        kept = json.loads(content)
        if not set(kept["core"]) <= {digest for _, digest in digests}:
            return None
        names = frozenset(kept["names"])
        return Answer(smt.Outcome.PROVED, kept["seconds"], kept["seeds"], names, known=True)


def _digests(asked: Question) -> list[tuple[str, str]]:
    return [(name, _digest(said)) for (name, _), said in zip(asked.asserted, asked.texts, strict=True)]


def _digest(said: str) -> str:
    return hashlib.sha256(said.encode()).hexdigest()


def _key(digests: Sequence[str]) -> str:
    return hashlib.sha256("\n".join([VERSION, *digests]).encode()).hexdigest()
