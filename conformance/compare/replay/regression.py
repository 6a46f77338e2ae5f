"""Generator of a regression test from a trace: a pytest file beside the trace that runs it and states its
result.

A trace of a broken property must go on to break it: when the specification is repaired, a step is impossible
or the property is true, and the test says which. A trace of a difference between specification and
implementation must show none any more. Files that the test names are relative to it, so that it runs from
every directory.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from antiphon.conformance.compare.lockstep import LOCKSTEP
from antiphon.model.trace import Trace
from antiphon.spec.lang.question import sought

_ABOUT = '''"""Made by `antiphon replay {name} --pytest {out}`. {about}"""

from pathlib import Path

import antiphon
'''

_IMPORTS = '''from antiphon.conformance.compare.replay import {function}
from antiphon.model.verdict import Outcome
'''

_HERE = '''
HERE = Path(__file__).resolve().parent


'''

_SHOWS = '''def test_{words}() -> None:
    """{steps} of {program} from {name} still show {shows}."""
    replayed = on_specification(antiphon.load(HERE / {path!r}{specification}))
    assert replayed.outcome is Outcome.{outcome}, replayed.reason
'''

_RUNS = '''def test_{words}() -> None:
    """All {steps} from {name} are steps of {program}."""
    assert len(antiphon.load(HERE / {path!r}{specification})) == {length}
'''

_AGREES = '''def test_{words}() -> None:
    """Specification and implementation agree in all {steps} of {program} from {name}."""
    replayed = {function}(antiphon.load(HERE / {path!r}{specification}){binding})
    assert replayed.outcome is Outcome.HOLDS, replayed.reason
'''


def regression_test(
    trace: Trace,
    file: str | Path,
    out: str | Path,
    *,
    outcome: str,
    implementation: bool = False,
    binding: str = "",
    specification: str = "",
) -> str:
    """Return the text of the test file `out` for the trace saved in `file`.

    Args:
        trace: the run.
        file: the path of the saved trace.
        out: the path of the test.
        outcome: the result of the replay on the specification (`violated`).
        implementation: True if the implementation takes the steps too.
        binding: the name of the implementation's binding, if it is not in the catalogue.
        specification: the name of the specification, if the trace does not have it.
    """
    file, out = Path(file), Path(out)
    agrees = implementation or trace.shows == LOCKSTEP
    about = (
        "A difference between specification and implementation that was found once, and must be gone."
        if agrees
        else "A run that was found once; as long as the specification means the same, it shows the same."
    )
    stem = (
        re.sub(r"\W+", "_", file.name.removesuffix(".json").removesuffix(".itf")).strip("_").lower()
        or "trace"
    )
    shown = trace.shows or sought(trace.why)
    shows = re.sub(r"\W+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", shown)).strip("_").lower()
    parts = {
        "name": file.name,
        "out": out.name,
        "about": about,
        "function": _function(agrees, binding),
        "path": os.path.relpath(file.resolve(), out.resolve().parent),
        "words": f"{stem}_{'implementation_agrees' if agrees else f'still_shows_{shows}'}",
        "steps": f"{len(trace)} step{'s' * (len(trace) != 1)}",
        "program": trace.program.name,
        "shows": shown.replace("\\", "\\\\").replace('"', '\\"'),
        "outcome": outcome.upper(),
        "length": len(trace),
        "binding": f", {_seen_from(out, binding)}" if binding else "",
        "specification": f", {_seen_from(out, specification)}" if specification else "",
    }
    if not shown and not agrees:
        parts["words"] = f"{stem}_is_a_run_of_{trace.program.name.lower()}"
        return (_ABOUT + _HERE + _RUNS).format(**parts)
    return (_ABOUT + _IMPORTS + _HERE + (_AGREES if agrees else _SHOWS)).format(**parts)


def _function(agrees: bool, binding: str) -> str:
    if not agrees:
        return "on_specification"
    return "on_named" if binding else "on_implementation"


def _seen_from(out: Path, name: str) -> str:
    """Return the Python expression by which the test file `out` names a specification or a binding; paths of
    files are relative to it.
    """
    place, _, member = name.partition(":")
    if not place.endswith(".py"):
        return repr(name)
    seen = os.path.relpath(Path(place).resolve(), out.resolve().parent)
    return f"str(HERE / {seen!r})" + (f" + {':' + member!r}" if member else "")
