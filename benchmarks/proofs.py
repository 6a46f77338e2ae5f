"""Times of proofs for every n, and their stability.

Run: `python benchmarks/proofs.py [NAME]... [--page] [--mypyvy DIR]`. Proves every specification of
`spec/examples/proved` that has a proof, nothing kept from before, with four seeds; prints a row each: the
states at a small n, obligations, seconds of their first proofs, and how many obligations all four seeds
prove. `--page` writes the table into docs/proofs.md. `--mypyvy` is a checkout of mypyvy with its Python
packages installed in this environment: its problems are verified in the same run, and its seconds stand
beside ours. All seconds are the processor's, so that other work beside the run does not count. The exit code
is 1 if something is not proved.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import antiphon
from antiphon.model.cache import Cache
from antiphon.model.proofs import prove_every
from antiphon.model.verdict import Outcome
from antiphon.programs import specification

PAGE = Path(__file__).resolve().parents[1] / "docs" / "proofs.md"
SECONDS_MAX = 60
"""Seconds of the processor after which mypyvy is ended."""

PLACE = "antiphon.spec."
EXAMPLES = "examples.proved."


@dataclass(frozen=True)
class Problem:
    """A specification with its proof, all its repairs on, the constants that stand for every number, and the
    problem of mypyvy's examples of which it is one.
    """

    spec: str
    every: tuple[str, ...]
    mypyvy: str = ""

    @property
    def place(self) -> str:
        """The module and the class."""
        return PLACE + (self.spec if "." in self.spec else EXAMPLES + self.spec)


PROBLEMS = (
    Problem("lock_service:LockServiceProof", ("clients",), "lockserv"),
    Problem("client_server:ClientServerProof", ("clients", "requests", "responses"), "client_server_ae"),
    Problem(
        "client_server:ClientServerDatabaseProof",
        ("clients", "requests", "responses", "queries"),
        "client_server_db_ae",
    ),
    Problem("ring_election:RingElectionProof", ("nodes", "identities"), "ring_leader_election"),
    Problem("majority_vote:MajorityVoteProof", ("nodes", "values"), "toy_consensus_epr"),
    Problem("majority_vote:LeaderVoteProof", ("nodes", "values"), "toy_leader_consensus_epr"),
    Problem("ticket_lock:TicketLockProof", ("threads", "tickets"), "ticket"),
    Problem("sharded_store:ShardedStoreProof", ("nodes", "keys", "values"), "sharded_kv"),
    Problem("sharded_store:NoLostKeysProof", ("nodes", "keys", "values"), "sharded_kv_no_lost_keys"),
    Problem("firewall:FirewallProof", ("nodes",), "firewall_ae"),
    Problem("distributed_lock:DistributedLockProof", ("hosts", "epochs"), "ironfleet_distributed_lock"),
    Problem("learning_switch:LearningSwitchProof", ("nodes",), "learning_switch_forall"),
    Problem("cache_coherence:CacheCoherenceProof", ("cores", "addresses", "values"), "cache"),
    Problem(
        "block_cache:BlockCacheProof",
        ("blocks", "contents", "locations", "requests"),
        "block_cache_system",
    ),
    Problem("peterson:PetersonProof", ("locks",), "peterson"),
    Problem("bosco:BoscoProof", ("nodes", "faults", "values"), "bosco_3t_safety"),
    Problem(
        "hybrid_broadcast:HybridBroadcastProof",
        ("nodes", "crashes", "omissions", "symmetric", "arbitrary"),
        "hybrid_reliable_broadcast_cisa",
    ),
    Problem("paxos:PaxosProof", ("acceptors", "rounds", "values"), "paxos_epr"),
    Problem("paxos:PaxosWithHistoryProof", ("acceptors", "rounds", "values"), "paxos_forall"),
    Problem(
        "paxos:FlexiblePaxosProof", ("acceptors", "rounds", "values", "deciders"), "flexible_paxos_epr"
    ),
    Problem("paxos:FastPaxosProof", ("acceptors", "rounds", "values"), "fast_paxos_epr"),
    Problem("paxos:MultiPaxosProof", ("acceptors", "rounds", "values", "instances"), "multi_paxos_epr"),
    Problem(
        "stoppable_paxos:StoppablePaxosProof",
        ("acceptors", "rounds", "values", "places"),
        "stoppable_paxos_epr",
    ),
    Problem(
        "vertical_paxos:VerticalPaxosProof",
        ("acceptors", "rounds", "values", "quorums", "configurations"),
        "vertical_paxos_epr",
    ),
    Problem("raft:RaftProof", ("servers", "terms", "places", "values"), "raft_epr"),
    Problem("two_phase_commit:TwoPhaseProof", ("managers",)),
    Problem(
        "services.ordering_induction:OrderingProof", ("processes", "messages", "numbers", "series")
    ),
    Problem("protocols.token_broadcast.induction:Figure2Proof", ("processes", "messages", "losses")),
    Problem("protocols.token_broadcast.induction:Figure5Proof", ("processes", "messages", "losses")),
    Problem(
        "protocols.moving_sequencer.induction:MovingSequencerProof", ("processes", "messages", "losses")
    ),
    Problem("protocols.sequencer.induction:SequencerProof", ("processes", "messages")),
    Problem("services.view_induction:ViewSynchronyProof", ("processes", "messages", "views")),
)


@dataclass(frozen=True)
class Row:
    """Figures of one problem; the seconds of mypyvy are None if it did not run or found no proof."""

    problem: Problem
    states: int
    complete: bool
    obligations: int
    proved: int
    seconds: float
    elapsed: float
    stable: int
    mypyvy: float | None

    def cells(self, *, beside: bool) -> list[str]:
        """The row as texts."""
        states = f"{self.states:,}" if self.complete else f"more than {self.states:,}"
        proved = str(self.obligations)
        if self.proved < self.obligations:
            proved = f"{self.proved} of {self.obligations}"
        found = [
            self.problem.spec, ", ".join(self.problem.every), states, proved, f"{self.seconds:.2f}",
            f"{self.elapsed:.1f}", f"{self.stable} of {self.obligations}",
        ]  # fmt: skip
        if beside:
            theirs = "not asked" if not self.problem.mypyvy else "no proof in 60 s"
            found.append(theirs if self.mypyvy is None else f"{self.mypyvy:.1f}")
        return found


def processor_seconds() -> float:
    """Return the seconds that this process and its ended children have had of the processor: other work
    beside them does not make them more.
    """
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(item.ru_utime + item.ru_stime for item in used)


def measured(problem: Problem, mypyvy: Path | None) -> Row:
    """The proof of one problem, and mypyvy's."""
    begun = processor_seconds()
    bound = antiphon.program(specification(problem.place), repairs="all")
    report = prove_every(bound, problem.every, cache=Cache(None))
    elapsed = processor_seconds() - begun
    done = [item for item in report.obligations if item.outcome is Outcome.HOLDS]
    return Row(
        problem, report.exploration.states, report.exploration.complete, len(report.obligations), len(done),
        sum(item.seconds for item in report.obligations), elapsed, sum(item.seeds == 4 for item in done),
        None if mypyvy is None or not problem.mypyvy else beside(mypyvy, problem.mypyvy),
    )  # fmt: skip


def beside(mypyvy: Path, problem: str) -> float | None:
    """Return the seconds of the processor that mypyvy takes for a problem, its start included; None where it
    proves nothing in `SECONDS_MAX`.
    """
    begun = processor_seconds()
    verify = f"{sys.executable} src/mypyvy.py verify --seed 0 examples/{problem}.pyv"
    done = subprocess.run(  # noqa: S603 - mypyvy, which was named
        ["/bin/sh", "-c", f"ulimit -t {SECONDS_MAX}; exec {verify}"],
        cwd=mypyvy, capture_output=True, text=True, check=False,
    )  # fmt: skip
    proved = done.returncode == 0 and "all ok" in done.stdout
    return processor_seconds() - begun if proved else None


def table(rows: list[Row], *, with_mypyvy: bool) -> str:
    """The rows as a table of Markdown."""
    heads = [
        "specification", "for every", "states", "obligations", "seconds", "all in all", "by all four seeds",
    ]  # fmt: skip
    if with_mypyvy:
        heads.append("mypyvy, seconds")
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    lines += [f"| {' | '.join(row.cells(beside=with_mypyvy))} |" for row in rows]
    return "\n".join(lines) + "\n"


def write(rows: list[Row], *, whole: bool, with_mypyvy: bool) -> None:
    """Writes the table into the page, or only these rows of it, in the order of the problems."""
    text = PAGE.read_text(encoding="utf-8")
    start, end = re.search(
        r"(?<=<!-- made by: python benchmarks/proofs\.py -->\n\n)(?:\|[^\n]*\n)*", text
    ).span()  # type: ignore[union-attr]
    made = table(rows, with_mypyvy=with_mypyvy)
    if not whole:
        head, line, *old = text[start:end].splitlines()
        beside = "mypyvy" in head
        known = {row.split(" | ")[0].removeprefix("| "): row for row in old}
        known |= {row.problem.spec: f"| {' | '.join(row.cells(beside=beside))} |" for row in rows}
        order = [known[item.spec] for item in PROBLEMS if item.spec in known]
        made = "\n".join([head, line, *order]) + "\n"
    PAGE.write_text(text[:start] + made + text[end:], encoding="utf-8")


def main() -> int:
    """Measures, prints, and writes the table of the page when asked to."""
    parser = argparse.ArgumentParser(description="Proofs for every n: states, obligations, seconds, seeds.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="problems whose place contains NAME; all")
    parser.add_argument("--page", action="store_true", help="write the rows into docs/proofs.md")
    parser.add_argument("--mypyvy", type=Path, metavar="DIR", help="a checkout of mypyvy to measure beside")
    asked = parser.parse_args()
    chosen = [
        item for item in PROBLEMS if not asked.names or any(name in item.spec for name in asked.names)
    ]
    rows = []
    for problem in chosen:
        rows.append(measured(problem, asked.mypyvy))
        print(" ".join(rows[-1].cells(beside=asked.mypyvy is not None)), flush=True)
    print(table(rows, with_mypyvy=asked.mypyvy is not None))
    if asked.page:
        write(rows, whole=not asked.names, with_mypyvy=asked.mypyvy is not None)
    return 0 if all(row.proved == row.obligations for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
