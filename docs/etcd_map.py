"""Map from the lines of etcd's raft, as its trace logger writes them, to observations of `raft-members`.

A line tells the state of its server before the step, but where it says what has become of it. Of a message
that arrives the line that answers tells what was made of it. What happens before the first election sets up
the first cluster, and refusals are no steps of the specification.
"""

arrived = {}  # the last entries that each server was sent


def observe(line):  # noqa: C901 - a case for each kind of line
    event = line["event"]
    name, state, message, s = event["name"], event["state"], event.get("msg", {}), int(event["nid"]) - 1
    to, length = int(message.get("to", 0)) - 1, event["log"]
    now = {key: {s: state[key]} for key in ("term", "commit")} | {"log": {s: lambda log: len(log) == length}}

    def step(action, when="before", *, stay=False, **known):
        return {"action": action, "args": {"s": s, **known}, when: now, "stay": stay}

    match name, message.get("type"):
        case _ if state["term"] < 2:
            return None
        case "BecomeCandidate", _:
            return step("time_out", "state")
        case "BecomeLeader", _:
            return step("become_leader")
        case "BecomeFollower", _:
            return step(["update_term", "follow"], "state", stay=True)
        case "SendRequestVoteResponse", _ if to != s:
            return step("vote", request={"candidate": to})
        case "Replicate", _:
            return step("client_request")
        case "SendAppendEntriesRequest", "MsgApp":
            return step("append_entries", previous=message["index"])
        case "ReceiveAppendEntriesRequest", "MsgApp":
            arrived[s] = message
        case "SendAppendEntriesResponse", "MsgAppResp" if to != s and not message["reject"]:
            previous, count = arrived[s]["index"], arrived[s]["entries"]
            if message["index"] != previous + count:  # it had them, and says what it has committed
                return step("confirm")
            entries = {"previous": previous, "entries": lambda entries: len(entries) == count}
            return step("accept", "state", message=entries)
        case "Commit", _:
            return step("advance_commit", "state", stay=True, length=state["commit"])
        case "SendAppendEntriesRequest", "MsgHeartbeat":
            return step("beat", to=to, length=message["commit"])
        case "ReceiveAppendEntriesRequest", "MsgHeartbeat" if state["term"] == message["term"]:
            return step("hear", heartbeat={"to": s, "commit": message["commit"]})
        case "ChangeConf", _:
            (one,) = event["prop"]["cc"]["changes"]
            return step("change_members", server=int(one["nid"]) - 1, joins=one["action"] == "AddNewServer")
        case "ApplyConfChange", _:
            old, new = set(event["conf"][0]), event["prop"]["cc"].get("newconf", [])
            if old != set(new) and new != [str(k + 1) for k in range(len(new))]:
                (other,) = old ^ set(new)
                return step("apply_change", change={"server": int(other) - 1, "joins": other in new})
            return None
    return {"before": now}
