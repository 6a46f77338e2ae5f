"""Adapter in Python: total order by a sequencer, as `ordered_spec.py` has it.

It reads one line of JSON after another, answers each `antiphon.step` by the lines of that step, and keeps
what it must not forget in a file.
"""

import json
import sys
from pathlib import Path

TICK_NS = 100_000_000
CAN = ["step", "clock", "state", "restart", "disk", "deliver"]


class Refused(Exception):
    """A request that is not done: the code of the error, and why."""


class Node:
    def __init__(self, me, names, disk):
        self.me, self.names, self.disk = me, names, Path(disk) / "disk"
        self.restart()

    def restart(self, **_):
        """Forget all but what is on the disk, which antiphon has emptied where it has to be forgotten too."""
        self.log, self.wanted = [], []
        if self.disk.exists():
            for line in self.disk.read_text().splitlines():
                self.note(**json.loads(line))

    def keep(self, **entry):
        with self.disk.open("a") as file:
            file.write(json.dumps(entry) + "\n")
        self.note(**entry)

    def note(self, wanted=None, delivered=None):
        if wanted:
            self.wanted.append(wanted)
        if delivered:
            self.log.append(delivered)
            self.wanted = [message for message in self.wanted if message["m"] != delivered["m"]]

    def knows(self, message, among):
        return message["m"] in [known["m"] for known in among]

    def deliver(self, message):
        self.keep(delivered=message)
        event = {"type": "antiphon.event", "kind": "deliver", "number": len(self.log), **message}
        say("antiphon", event)

    def number(self, message):
        self.deliver(message)
        for other in self.names[1:]:
            say(other, {"type": "order", "number": len(self.log), **message})

    def broadcast(self, **message):
        if self.knows(message, self.log + self.wanted):
            raise Refused(22, "known already")
        if self.me == self.names[0]:
            self.number(message)
        else:
            self.keep(wanted=message)
            say(self.names[0], {"type": "want", **message})

    def tick(self):
        if self.me == self.names[0]:
            raise Refused(22, "the sequencer has no timer")
        for message in self.wanted:
            say(self.names[0], {"type": "want", **message})
        say(self.names[0], {"type": "ask", "next": len(self.log) + 1})

    def receive(self, src, body):
        match body.pop("type"):
            case "want":
                if not self.knows(body, self.log):
                    self.number(body)
            case "ask":
                for number, message in enumerate(self.log, 1):
                    if number >= body["next"]:
                        say(src, {"type": "order", "number": number, **message})
            case "order":
                if body.pop("number") == len(self.log) + 1:
                    self.deliver(body)


def say(dest, body):
    print(json.dumps({"src": node.me, "dest": dest, "body": body}))


def answer(body):
    global node
    if body["type"] == "init":
        node = Node(body["node_id"], body["node_ids"], body["antiphon"]["disk"])
        return {"type": "init_ok", "antiphon": {"version": 1, "can": CAN}}
    if body["type"] != "antiphon.step":
        raise Refused(10, body["type"])
    for name, arguments in body["do"].items():
        if name not in ("broadcast", "receive", "tick", "restart"):
            raise Refused(10, name)
        getattr(node, name)(**arguments)
    state = {name: [message["m"] for message in getattr(node, name)] for name in ("log", "wanted")}
    wake = body["now_ns"] + TICK_NS if node.me != node.names[0] else None
    return {"type": "antiphon.done", "wake_ns": wake, "state": state}


for line in sys.stdin:
    message = json.loads(line)
    try:
        reply = answer(message["body"])
    except Refused as refused:
        code, text = refused.args
        reply = {"type": "error", "code": code, "text": text}
    except (TypeError, KeyError) as error:
        reply = {"type": "error", "code": 12, "text": f"malformed: {error}"}
    say(message["src"], {"in_reply_to": message["body"]["msg_id"], **reply})
    sys.stdout.flush()
