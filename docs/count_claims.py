"""Writes the table of claims into README.md, from the ledger; `--check` says whether it is today's.

Run: `python docs/count_claims.py [--check]`.
"""

from __future__ import annotations

import argparse
import collections
import sys
from pathlib import Path

from antiphon.spec.claims import Basis, all_claims, claims_of, families

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- claims: python docs/count_claims.py -->", "<!-- end of claims -->"
DOCUMENTS = {
    "RBP report, figures 2, 5, 12, 16 and 25": ("rbc", "msq", "rbp"),
    "RBP report, Reformation (figures 22 to 24)": ("ref",),
    "RBP report, view synchrony and primary-backup (figures 27 to 29)": ("vsc", "pbk"),
    "RBP report, iRBP (figures 32 and 34)": ("irb",),
    "RBP report, on RMP and TRMP": ("rmp",),
    "DTP, Kim and Kim 1997": ("dtp",),
    "TOTAL of JavaGroups": ("tot",),
    "SEQUENCER, Ban 2005": ("seq",),
    "Horus, van Renesse and others 1995": ("hor",),
    "consensus, Chandra and Toueg 1996": ("ct",),
    "what their definitions mean": ("def",),
    "how they compare": ("x",),
}
"""The rows, and the families that each counts."""


def table() -> str:
    """Return the text between the two marks."""
    unknown = set(families()) - {family for counted in DOCUMENTS.values() for family in counted}
    if unknown:
        raise SystemExit(f"{__file__}: no row of DOCUMENTS counts {', '.join(sorted(unknown))}")
    refuted = [claim for claim in all_claims() if claim.verdict == "violated"]
    asked = sum(Basis.QUESTION in claim.rests_on for claim in refuted)
    basis = collections.Counter(claim.rests_on[-1] for claim in all_claims())
    weak = (Basis.WITNESSES, Basis.CONSTRUCTION, Basis.RUNS, Basis.TEXT, Basis.READING)
    lines = [
        f"{len(all_claims())} claims are in the ledger (`antiphon claims`), each with the document's words.",
        f"{len(refuted)} of them are refuted, most by a run that [docs/errata.md](docs/errata.md) shows",
        f"with what mends it. {asked} of the refuted are our own question: the document leaves it open, and",
        f"its author is charged with nothing. Searches judged {basis[Basis.STATES]} claims.",
        f"The others rest on {', '.join(f'{item.value} ({basis[item]})' for item in weak)}.",
        "",
        "| document | claims | hold | refuted | of these our question | open |",
        "|---|---|---|---|---|---|",
    ]
    for title, counted in DOCUMENTS.items():
        there = [family for family in counted if family in families()]
        here = [claim for family in there for claim in claims_of(family)]
        verdicts = collections.Counter(claim.verdict for claim in here)
        questions = sum(claim.verdict == "violated" and Basis.QUESTION in claim.rests_on for claim in here)
        counts = (len(here), verdicts["holds"], verdicts["violated"], questions, verdicts["unknown"])
        if there:
            lines.append(f"| {title} | {' | '.join(str(count or '') for count in counts)} |")
    return "\n".join(lines)


def main() -> int:
    """Write the counts into the pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    text = README.read_text(encoding="utf-8")
    begin, rest = text.split(BEGIN)
    made = f"{begin}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}"
    if arguments.check:
        if made != text:
            print("README.md counts other claims than the ledger; run: python docs/count_claims.py")
            return 1
        return 0
    README.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
