"""A caller's mistake is an `InputError`; what the machine cannot do is another `PipelineError`.

A violated property and a damaged log are neither: they are results.
"""

from __future__ import annotations

from antiphon.spec.lang.errors import Told


class PipelineError(Told):
    """The pipeline cannot do its work: no Java, no disk space, Spark failed."""


class InputError(PipelineError):
    """What was asked for does not exist or would overwrite something."""
