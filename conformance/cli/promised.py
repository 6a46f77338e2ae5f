"""Option `--promise` of commands. Importing this module loads the judge of logs, to list the promises."""

from __future__ import annotations

from typing import Annotated

import typer

from antiphon.conformance.judge.history import promised_words

Promise = Annotated[
    list[str] | None,
    typer.Option(
        "--promise",
        help=f"What is promised and judged: {', '.join(promised_words())}; repeat it for several.",
        show_default=False,
    ),
]
