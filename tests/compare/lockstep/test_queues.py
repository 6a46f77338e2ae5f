"""Packets that travel in queues and logs; a walk over them agrees with the reference."""

from antiphon.conformance.compare.bindings import binding_of
from antiphon.conformance.compare.bindings.links import Log, Queue
from antiphon.conformance.compare.lockstep import lockstep
from antiphon.model.verdict import Outcome


def test_the_walk_agrees_with_the_reference() -> None:
    """CPython executes the specification, and whole systems are compared by value at every step."""
    binding = binding_of("sequencer", processes=2, messages=2)
    native, reference = lockstep(binding), lockstep(binding, binding.program.reference)
    assert (native.transitions, native.pairs) == (reference.transitions, reference.pairs)
    assert reference.outcome is Outcome.HOLDS


def test_a_queue_gives_the_oldest_and_forgets_it() -> None:
    queue = Queue("channel", 0, 1)
    content = queue.put(queue.put(queue.empty, "a", b"1"), "b", b"2")
    assert queue.head(content, 1) == b"1"
    assert dict(queue.values(queue.take(content, 1))) == {("channel", (0, 1)): ("b",)}


def test_a_log_keeps_all_and_counts_what_each_has() -> None:
    log = Log("log", "heard", 1, 3)
    content = log.take(log.put(log.put(log.empty, "a", b"1"), "b", b"2"), 2)
    assert (log.head(content, 0), log.head(content, 2)) == (b"1", b"2")
    assert dict(log.values(content)) == {("log", (1,)): ("a", "b"), ("heard", (1,)): (0, 2, 1)}
