// Adapter in Go: total order by a sequencer, as ordered_spec.py has it. Build it with go build ordered.go
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
)

const tickNs = 100_000_000

type object map[string]any

// failure is the code of an error with which a request is answered.
type failure int

const (
	notSupported failure = 10
	malformed    failure = 12
	refused      failure = 22
)

// message is a message of an application. Both fields are JSON of any type; Bytes may be absent.
type message struct {
	M     json.RawMessage `json:"m"`
	Bytes json.RawMessage `json:"bytes,omitempty"`
}

// entry is a line on the disk: a message that the node wants, or has delivered.
type entry struct {
	Wanted    *message `json:"wanted,omitempty"`
	Delivered *message `json:"delivered,omitempty"`
}

type datagram struct {
	message
	Type   string `json:"type"`
	Number int    `json:"number"`
	Next   int    `json:"next"`
}

type request struct {
	Type     string                     `json:"type"`
	MsgID    int64                      `json:"msg_id"`
	NodeID   string                     `json:"node_id"`
	NodeIDs  []string                   `json:"node_ids"`
	NowNs    int64                      `json:"now_ns"`
	Do       map[string]json.RawMessage `json:"do"`
	Antiphon struct {
		Disk string `json:"disk"`
	} `json:"antiphon"`
}

var (
	me          string
	names       []string
	disk        string
	log, wanted []message
	out         = bufio.NewWriter(os.Stdout)
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func say(dest string, body object) {
	check(json.NewEncoder(out).Encode(object{"src": me, "dest": dest, "body": body}))
}

// with returns the body of a message that has more fields.
func with(m message, body object) object {
	body["m"] = m.M
	if m.Bytes != nil {
		body["bytes"] = m.Bytes
	}
	return body
}

func knows(among []message, m message) bool {
	for _, known := range among {
		if bytes.Equal(known.M, m.M) {
			return true
		}
	}
	return false
}

func note(e entry) {
	if e.Wanted != nil {
		wanted = append(wanted, *e.Wanted)
	}
	if e.Delivered != nil {
		log = append(log, *e.Delivered)
		left := []message{}
		for _, m := range wanted {
			if !bytes.Equal(m.M, e.Delivered.M) {
				left = append(left, m)
			}
		}
		wanted = left
	}
}

func keep(e entry) {
	line, err := json.Marshal(e)
	check(err)
	file, err := os.OpenFile(disk, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	check(err)
	_, err = file.Write(append(line, '\n'))
	check(err)
	check(file.Close())
	note(e)
}

// restart forgets all but what is on the disk, which antiphon has emptied where it
// has to be forgotten too.
func restart() {
	log, wanted = []message{}, []message{}
	text, err := os.ReadFile(disk)
	if os.IsNotExist(err) {
		return
	}
	check(err)
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var e entry
		check(json.Unmarshal(line, &e))
		note(e)
	}
}

func deliver(m message) {
	keep(entry{Delivered: &m})
	say("antiphon", with(m, object{"type": "antiphon.event", "kind": "deliver", "number": len(log)}))
}

func number(m message) {
	deliver(m)
	for _, other := range names[1:] {
		say(other, with(m, object{"type": "order", "number": len(log)}))
	}
}

func broadcast(m message) failure {
	if m.M == nil {
		return malformed
	}
	if knows(log, m) || knows(wanted, m) {
		return refused
	}
	if me == names[0] {
		number(m)
		return 0
	}
	keep(entry{Wanted: &m})
	say(names[0], with(m, object{"type": "want"}))
	return 0
}

func tick() failure {
	if me == names[0] {
		return refused
	}
	for _, m := range wanted {
		say(names[0], with(m, object{"type": "want"}))
	}
	say(names[0], object{"type": "ask", "next": len(log) + 1})
	return 0
}

func receive(src string, d datagram) failure {
	switch {
	case src == "" || d.Type == "":
		return malformed
	case d.Type == "want" && d.M != nil && !knows(log, d.message):
		number(d.message)
	case d.Type == "ask" && d.Next > 0:
		for i := d.Next; i <= len(log); i++ {
			say(src, with(log[i-1], object{"type": "order", "number": i}))
		}
	case d.Type == "order" && d.M != nil && d.Number == len(log)+1:
		deliver(d.message)
	}
	return 0
}

func step(do map[string]json.RawMessage) failure {
	for name, text := range do {
		var arguments struct {
			message
			Src  string   `json:"src"`
			Body datagram `json:"body"`
		}
		if json.Unmarshal(text, &arguments) != nil {
			return malformed
		}
		switch name {
		case "broadcast":
			return broadcast(arguments.message)
		case "receive":
			return receive(arguments.Src, arguments.Body)
		case "tick":
			return tick()
		case "restart":
			restart()
		default:
			return notSupported
		}
	}
	return 0
}

func named(messages []message) []json.RawMessage {
	found := []json.RawMessage{}
	for _, m := range messages {
		found = append(found, m.M)
	}
	return found
}

func answer(r request) object {
	if r.Type == "init" {
		me, names, disk = r.NodeID, r.NodeIDs, filepath.Join(r.Antiphon.Disk, "disk")
		restart()
		can := []string{"step", "clock", "state", "restart", "disk", "deliver"}
		return object{"type": "init_ok", "antiphon": object{"version": 1, "can": can}}
	}
	code := notSupported
	if r.Type == "antiphon.step" {
		code = step(r.Do)
	}
	if code != 0 {
		return object{"type": "error", "code": code}
	}
	done := object{"type": "antiphon.done", "state": object{"log": named(log), "wanted": named(wanted)}}
	if me != names[0] {
		done["wake_ns"] = r.NowNs + tickNs
	}
	return done
}

func main() {
	in := bufio.NewReader(os.Stdin) // not a Scanner, whose lines have at most 64 KiB
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var message struct {
			Src  string  `json:"src"`
			Body request `json:"body"`
		}
		check(json.Unmarshal(line, &message))
		reply := answer(message.Body)
		reply["in_reply_to"] = message.Body.MsgID
		say(message.Src, reply)
		check(out.Flush())
	}
}
