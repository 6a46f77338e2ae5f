"""Options that had another name before: none of them works, and each error names the present one."""

from __future__ import annotations

EXPLORING = ("check", "find", "refine", "lockstep", "coverage")

RENAMED: dict[str, dict[str, str]] = {
    "--members": {"swarm": "--processes"},
    "--loss": {"cluster": "--loss-rate"},
    "--duplication": {"cluster": "--duplication-rate"},
    "--reordering": {"cluster": "--reordering-rate"},
    "--depth": {**dict.fromkeys(EXPLORING, "--max-depth"), "simulate": "--steps", "stack": "--max-layers"},
    "--max-steps": {"swarm": "--steps"},
    "--directory": dict.fromkeys(("swarm", "cluster", "gate"), "--log"),
    "--time": dict.fromkeys((*EXPLORING, "simulate", "stateful"), "--max-seconds"),
    "--deadline": {"cluster": "--max-seconds"},
    "--memory": dict.fromkeys((*EXPLORING, "simulate", "stateful"), "--max-memory"),
    "--protocol": {"claims": "--family"},
}
"""Present name of an option, by command and former name (docs/decisions/0030)."""


def now_called(command: str, option: str) -> str | None:
    """Return a hint with the present name of an option that a command had under another name; None for any
    other option.
    """
    now = RENAMED.get(option, {}).get(command)
    return None if now is None else f"{option} is now {now}"
