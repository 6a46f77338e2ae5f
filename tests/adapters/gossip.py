"""A node of Maelstrom's broadcast workload, which knows nothing of antiphon. Its arguments name faults."""

import json
import os
import select
import sys
import time

FAULTS = set(sys.argv[1:])
AGAIN_S = 0.05

me, others, seen, unheard, numbers = "", [], [], {}, 0


def say(dest, body):
    line = json.dumps({"src": me, "dest": dest, "body": body}) + "\n"
    os.write(1, line.encode())


def tell(number):
    for other in others:
        unheard[other, number] = time.monotonic()
        say(other, {"type": "gossip", "number": number})


def take(src, body):
    global me, others, numbers
    reply = {"in_reply_to": body.get("msg_id"), "type": f"{body['type']}_ok"}
    match body["type"]:
        case "init":
            me, others = body["node_id"], [name for name in body["node_ids"] if name != body["node_id"]]
        case "broadcast":
            numbers += 1
            if "hangs" in FAULTS and numbers > 3:
                time.sleep(100)
            if "exits" in FAULTS and numbers > 3:
                sys.exit("out of luck")
            while "floods" in FAULTS:
                say(others[0], {"type": "flood"})
            seen.append(body["message"])
            tell(body["message"])
        case "gossip":
            say(src, {"type": "heard", "number": body["number"]})
            if body["number"] not in seen or "doubles" in FAULTS:
                seen.append(body["number"])
            return
        case "heard":
            unheard.pop((src, body["number"]), None)
            return
        case "read":
            reply["messages"] = seen[2:] if "forgets" in FAULTS and len(seen) > 5 else seen
    say(src, reply)
    if "repeats" in FAULTS and body["type"] == "broadcast":
        say(src, reply)


rest = b""
while True:
    if select.select([0], [], [], AGAIN_S)[0]:
        chunk = os.read(0, 65536)
        if not chunk:
            break
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            message = json.loads(line)
            take(message["src"], message["body"])
    for (other, number), at in list(unheard.items()):
        if time.monotonic() > at + AGAIN_S and "gives-up" not in FAULTS:
            unheard[other, number] = time.monotonic()
            say(other, {"type": "gossip", "number": number})
