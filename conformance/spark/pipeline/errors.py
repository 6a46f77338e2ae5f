"""Errors of the pipeline: a caller's mistake is an `InputError`, a failure of the machine another
`PipelineError`.

A violated property and a damaged log are neither: they are results.
"""

from __future__ import annotations

import re

from antiphon.conformance.extras import MissingExtra
from antiphon.spec.lang.errors import Told


class PipelineError(Told):
    """Error: the pipeline cannot do its work: no Java, no disk space, Spark failed."""


class InputError(PipelineError):
    """Error: the request names something that does not exist, or would overwrite something."""


class NothingThere(InputError):
    """Error: there is no log at a path; `reason` says why, without the path."""

    def __init__(self, path: object, reason: str) -> None:
        self.reason = reason
        super().__init__(f"{path}: {reason}")


class NoJava(MissingExtra, PipelineError):
    """Error: there is no Java that Spark could run on; the message lists the tried ones, and how to install
    one.
    """


def cause_of(error: BaseException) -> str:
    """Return the line that names the first cause in an error of Spark or of the operating system."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    text = str(error)
    if "No space left on device" in text:
        return "no space left on device"
    causes = re.findall(r"^(?:Caused by)?: (.+)$", text, re.MULTILINE)
    return str(causes[-1]) if causes else text.strip().splitlines()[0]
