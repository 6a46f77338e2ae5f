"""The command `antiphon`: it parses, calls the rooms, prints, and maps what happened to an exit code. It judges nothing itself."""

from antiphon.conformance.cli.app import app, main

__all__ = ["app", "main"]
