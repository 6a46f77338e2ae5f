"""A node of a group that members leave, with views. Its arguments name faults.

The first member of the view numbers messages and departures in one order, so that all install a view after
the same messages. Who leaves goes on until its own departure is numbered; the first member, until all who
stay know of it.
"""

import json
import sys

FAULTS = set(sys.argv[1:])
TICK_NS = 50_000_000
CAN = ["step", "clock", "state", "restart", "deliver", "views"]


class Refused(Exception):
    """A request that is not done: the code of the error."""


class Node:
    def __init__(self, me, names):
        self.me, self.names = me, names
        self.restart()

    def restart(self, **_):
        self.members, self.view = list(self.names), 0
        self.log, self.wanted = [], []
        self.behind = set()  # who may not know that this node, the first one, has left

    def begin(self):
        if not self.view:
            self.install()

    def install(self):
        self.view += 1
        members = [int(name[1:]) for name in self.members]
        say("antiphon", type="antiphon.event", kind="install", view=self.view, members=members)

    def is_in(self):
        return self.me in self.members

    def is_first(self):
        return self.members[:1] == [self.me]

    def want(self, item):
        if self.is_first():
            self.number(item)
        else:
            self.wanted.append(item)
            self.tell_wanted()

    def tell_wanted(self):
        """A departure is told when everything before it is numbered."""
        for item in self.wanted:
            if "m" in item or len(self.wanted) == 1:
                say(self.members[0], type="want", item=item)

    def number(self, item):
        others = [name for name in self.members if name != self.me]
        self.take(item)
        for other in others:
            say(other, type="order", number=len(self.log), item=item)

    def take(self, item):
        self.begin()
        self.log.append(item)
        if item in self.wanted:
            self.wanted.remove(item)
        if "m" in item:
            say("antiphon", type="antiphon.event", kind="deliver", **item)
            return
        was_first = self.is_first()
        self.depart(item["leave"])
        if not self.is_in():
            self.behind = set(self.members) if was_first and "runs-away" not in FAULTS else set()
        elif self.is_first():
            for mine in list(self.wanted):
                self.number(mine)

    def depart(self, name):
        if name in self.members:
            self.members.remove(name)
            if self.is_in():
                self.install()

    # What is asked --------------------------------------------------------------------------------------

    def broadcast(self, **item):
        if not self.is_in() or item in self.log + self.wanted:
            raise Refused(22)
        self.want(item)

    def leave(self):
        if "refuses" in FAULTS:
            raise Refused(22)
        self.want({"leave": self.me})

    def tick(self):
        if self.is_in():
            self.tell_wanted()
            say(self.members[0], type="ask", next=len(self.log) + 1)
        for name in sorted(self.behind):
            say(name, type="order", number=len(self.log), item=self.log[-1])

    def receive(self, src, body):
        match body:
            case {"type": "want", "item": item} if self.is_first() and item not in self.log:
                self.number(item)
            case {"type": "ask", "next": number}:
                if number > len(self.log):
                    self.behind.discard(src)
                for at in range(number, len(self.log) + 1):
                    say(src, type="order", number=at, item=self.log[at - 1])
            case {"type": "order", "number": number, "item": item} if self.is_in():
                if number == len(self.log) + 1:
                    self.take(item)
                else:
                    if "hurries" in FAULTS and "leave" in item and item["leave"] != self.me:
                        self.depart(item["leave"])
                    say(src, type="ask", next=len(self.log) + 1)

    def wake_ns(self, now_ns):
        idle = self.is_first() or not (self.is_in() or self.behind)
        return None if idle and "lingers" not in FAULTS else now_ns + TICK_NS


def say(dest, **body):
    print(json.dumps({"src": node.me, "dest": dest, "body": body}))


def answer(body):
    global node
    if body["type"] == "init":
        node = Node(body["node_id"], body["node_ids"])
        return {"type": "init_ok", "antiphon": {"version": 1, "can": CAN}}
    if body["type"] != "antiphon.step":
        raise Refused(10)
    for name, arguments in body["do"].items():
        if name not in ("broadcast", "receive", "tick", "restart", "leave"):
            raise Refused(10)
        getattr(node, name)(**arguments)
    node.begin()
    state = {"log": node.log, "wanted": node.wanted, "members": node.members}
    return {"type": "antiphon.done", "wake_ns": node.wake_ns(body["now_ns"]), "state": state}


for line in sys.stdin:
    message = json.loads(line)
    try:
        reply = answer(message["body"])
    except Refused as refused:
        reply = {"type": "error", "code": refused.args[0]}
    except (TypeError, KeyError):
        reply = {"type": "error", "code": 12}
    say(message["src"], in_reply_to=message["body"]["msg_id"], **reply)
    sys.stdout.flush()
