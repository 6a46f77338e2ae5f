"""Command `antiphon`: it parses, calls the other packages, prints, and maps results to exit codes. It judges
nothing itself.

The console script imports this module, so it contains only the code that answers `--version`.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return the exit code. The console script passes it to `sys.exit`."""
    began = time.monotonic()
    if arguments is None:  # programs make many objects that live: seldom look for cycles among them
        gc.set_threshold(50_000, 20, 50)
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        import antiphon

        with suppress(OSError, AttributeError):  # full, or closed: `run` says what a failed output means
            sys.stdout.write(f"antiphon {antiphon.__version__}\n")
            sys.stdout.flush()
            return 0
    if arguments is None:
        from antiphon.conformance.cli.supervised import is_wanted, supervised  # here: as above

        if is_wanted(given) and (ended := supervised(given, began)) is not None:
            return ended
    try:
        from antiphon.conformance.cli.app import run  # here: the version needs none of it
    except KeyboardInterrupt:
        sys.stderr.write("antiphon: interrupted\n")
        return 130
    code = run(given, began)
    if arguments is None:
        from antiphon.conformance.cli.ending import end

        end(code)
        gc.freeze()  # nobody looks for cycles among what ends with the process
    return code
