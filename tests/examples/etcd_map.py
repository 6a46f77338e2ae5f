"""Mapping of etcd's trace log lines to steps of `raft-members`.

A line holds the state of its server before the step, but where it says what has become of it. Of a message
that arrives the line that answers tells what was made of it. What etcd does before a server has joined, the
entries of the first cluster, and refusals are no steps of the specification.
"""

from __future__ import annotations

from typing import Any

Told = dict[str, Any]

_STEPS = {"BecomeLeader": "become_leader", "Replicate": "client_request"}
_arrived: dict[int, Told] = {}
"""The last entries that a server was sent."""


def observe(line: Told) -> Told | None:
    """A line as an observation."""
    event = line["event"]
    kind, state, message, s = event["name"], event["state"], event.get("msg", {}), int(event["nid"]) - 1
    if state["term"] == 0 or (state["term"] == 1 and state["commit"] == 0):
        return None
    mine, length = {"s": s}, event["log"]
    now: Told = {name: {s: state[name]} for name in ("term", "commit")}
    now["log"] = {s: lambda log: len(log) == length}
    match kind:
        case "BecomeCandidate":
            return {"action": "time_out", "args": mine, "state": now}
        case "BecomeFollower":
            return {"action": ["update_term", "follow"], "args": mine, "state": now, "stay": True}
        case "Commit":
            told = mine | {"length": state["commit"]}
            return {"action": "advance_commit", "args": told, "state": now, "stay": True}
        case "ChangeConf" | "ApplyConfChange":
            return _change(event, mine, now)
    if kind in _STEPS:
        return {"action": _STEPS[kind], "args": mine, "before": now}
    return _message(kind, message, s, now)


def _message(name: str, message: Told, s: int, now: Told) -> Told:
    to, mine = int(message.get("to", 0)) - 1, {"s": s}
    match name, message.get("type"):
        case "SendRequestVoteResponse", _ if to != s:
            asked = {"term": message["term"], "candidate": to}
            return {"action": "vote", "args": mine | {"request": asked}, "before": now}
        case "SendAppendEntriesRequest", "MsgApp":
            return {"action": "append_entries", "args": mine | {"previous": message["index"]}, "before": now}
        case "SendAppendEntriesRequest", "MsgHeartbeat":
            return {"action": "beat", "args": mine | {"to": to, "length": message["commit"]}, "before": now}
        case "ReceiveAppendEntriesRequest", "MsgHeartbeat" if now["term"][s] == message["term"]:
            beat = {"term": message["term"], "to": s, "commit": message["commit"]}
            return {"action": "hear", "args": mine | {"heartbeat": beat}, "before": now}
        case "ReceiveAppendEntriesRequest", "MsgApp":
            _arrived[s] = message
        case "SendAppendEntriesResponse", "MsgAppResp" if to != s and not message["reject"]:
            return _stored(_arrived[s], message["index"], mine, now)
    return {"before": now}


def _stored(got: Told, length: int, mine: Told, now: Told) -> Told:
    """A server has stored entries; or it had them, and says what it has committed."""
    if length != got["index"] + got["entries"]:
        return {"action": "confirm", "args": mine, "before": now}
    entries = {
        "#record": "AppendEntries", "term": got["term"], "previous": got["index"],
        "previous_term": got["logTerm"], "commit": got["commit"],
        "entries": lambda entries: len(entries) == got["entries"],
    }  # fmt: skip
    return {"action": "accept", "args": mine | {"message": entries}, "state": now}


def _change(event: Told, mine: Told, now: Told) -> Told | None:
    change = event["prop"]["cc"]
    if event["name"] == "ChangeConf":
        (one,) = change["changes"]
        told = {"server": int(one["nid"]) - 1, "joins": one["action"] == "AddNewServer"}
        return {"action": "change_members", "args": mine | told, "before": now}
    old, new = set(event["conf"][0]), change.get("newconf", [])
    if old == set(new) or new == [str(k + 1) for k in range(len(new))]:
        return None
    (other,) = old ^ set(new)
    applied = {"server": int(other) - 1, "joins": other in new}
    return {"action": "apply_change", "args": mine | {"change": applied}, "before": now}
