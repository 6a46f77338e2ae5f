// Adapter in Go: total order by a sequencer, as ordered_spec.py has it. Build it with go build ordered.go
package main

import "encoding/json"
import "os"

const tickNs, done, notSupported, malformed, refused = 100_000_000, 0, 10, 12, 22

type object = map[string]any // numbers in it are of type float64

var (
	me          any
	names       []any
	log, wanted = []any{}, []any{}
	known       = map[any]object{} // the messages in both, with their payloads
	out         = json.NewEncoder(os.Stdout)
)

func say(dest any, body object) { out.Encode(object{"src": me, "dest": dest, "body": body}) }

// tell says something about message m.
func tell(dest, m any, body object) {
	body["m"] = m
	if payload := known[m]["bytes"]; payload != nil {
		body["bytes"] = payload
	}
	say(dest, body)
}

func deliver(it object) {
	m, left := it["m"], []any{}
	for _, other := range wanted {
		if other != m {
			left = append(left, other)
		}
	}
	log, wanted, known[m] = append(log, m), left, it
	tell("antiphon", m, object{"type": "antiphon.event", "kind": "deliver", "number": len(log)})
}

func number(it object) {
	deliver(it)
	for _, other := range names[1:] {
		tell(other, it["m"], object{"type": "order", "number": len(log)})
	}
}

func broadcast(it object) int {
	switch m := it["m"]; {
	case m == nil || known[m] != nil:
		return refused
	case me == names[0]:
		number(it)
	default:
		wanted, known[m] = append(wanted, m), it
		tell(names[0], m, object{"type": "want"})
	}
	return done
}

func receive(src any, it object) int {
	switch next, _ := it["next"].(float64); {
	case it["type"] == nil:
		return malformed
	case it["type"] == "want" && known[it["m"]] == nil:
		number(it)
	case it["type"] == "ask" && next > 0:
		for i := int(next); i <= len(log); i++ {
			tell(src, log[i-1], object{"type": "order", "number": i})
		}
	case it["type"] == "order" && it["number"] == float64(len(log)+1):
		deliver(it)
	}
	return done
}

func step(do object) int {
	for name, given := range do {
		given, _ := given.(object)
		switch body, _ := given["body"].(object); {
		case name == "broadcast":
			return broadcast(given)
		case name == "receive":
			return receive(given["src"], body)
		case name == "tick" && me != names[0]:
			for _, m := range wanted {
				tell(names[0], m, object{"type": "want"})
			}
			say(names[0], object{"type": "ask", "next": len(log) + 1})
		case name == "tick":
			return refused
		case name == "restart": // nothing outlives a crash
			log, wanted, known = []any{}, []any{}, map[any]object{}
		default:
			return notSupported
		}
	}
	return done
}

func main() {
	for in, line := json.NewDecoder(os.Stdin), (object{}); in.Decode(&line) == nil; line = (object{}) {
		body, code, reply := line["body"].(object), notSupported, object{"type": "antiphon.done"}
		if body["type"] == "init" {
			me, names, code = body["node_id"], body["node_ids"].([]any), done
			can := []string{"step", "clock", "state", "restart", "deliver"}
			reply = object{"type": "init_ok", "antiphon": object{"version": 1, "can": can}}
		} else if body["type"] == "antiphon.step" {
			code = step(body["do"].(object))
			reply["state"] = object{"log": log, "wanted": wanted}
			if me != names[0] {
				reply["wake_ns"] = body["now_ns"].(float64) + tickNs
			}
		}
		if code != done {
			reply = object{"type": "error", "code": code}
		}
		reply["in_reply_to"] = body["msg_id"]
		say(line["src"], reply)
	}
}
