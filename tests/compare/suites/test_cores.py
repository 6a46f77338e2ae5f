"""The suite of every protocol core catches cores that break its rules; each core has it among its tests."""

import re
from pathlib import Path

import pytest

from antiphon.conformance.compare.suites import CoreSuite, check_core
from antiphon.conformance.compare.suites.values import mutable_parts
from antiphon.impl.protocols.core import Identifier, Implementation, Send
from antiphon.impl.protocols.rbp import MESSAGES, Core, Message
from antiphon.impl.registry import known_protocols
from antiphon.spec.lang import SpecError

KEPT = frozenset(f"endpoint.core._queues.{name}" for name in ("received", "numbers", "number_of"))
"""Variables in which RBP keeps messages for ever."""


class KeepsOutputs(Core):
    """Core that keeps its sent messages for ever."""

    def outputs(self) -> list[Send[Message]]:
        sends = super().outputs()
        self.__dict__.setdefault("log", []).extend(sends)
        return sends


def leaking() -> Implementation[Message]:
    return Implementation(MESSAGES, lambda me, members, tracer: KeepsOutputs(me, members, tracer=tracer))


def test_a_core_that_leaks_fails_in_its_suite() -> None:
    suite = type("Leaking", (CoreSuite,), {"core": f"{__name__}:leaking", "kept": KEPT})()
    with pytest.raises(AssertionError, match=r"\['endpoint.core.log'\] grow with the messages"):
        suite.test_its_memory_stays_bounded_over_a_long_run()


def test_every_core_has_a_suite_among_its_tests() -> None:
    named = re.compile(r'^    core = "antiphon\.impl\.protocols\.(\w+):\1"$', re.MULTILINE)
    tests = Path(__file__).parents[2] / "impl"
    suites = [name for file in tests.glob("test_*.py") for name in named.findall(file.read_text("utf-8"))]
    assert sorted(suites) == sorted(name.replace("-", "_") for name in known_protocols())


STACK = """
from antiphon.impl.protocols.core import Implementation, Network
from antiphon.impl.protocols.horus import MESSAGES, Core, Settings

def made():
    return Implementation.of(MESSAGES, Core, Settings(stack={stack!r}), Network.{network})
"""


@pytest.mark.deep
@pytest.mark.parametrize(
    ("stack", "network"),
    [
        ("NAK:COM", "LOSSY"),
        ("FRAG:NAK:COM", "LOSSY"),
        ("TOTAL:MBRSHIP", "FIFO"),
        ("TOTAL:FRAG:MBRSHIP:FRAG:NAK:COM", "LOSSY"),
        ("FRAG:TOTAL:MBRSHIP:FRAG:NAK:COM", "LOSSY"),
    ],
)
def test_every_stack_of_layers_keeps_the_rules(
    stack: str, network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cores that give no order are included, and one over queues instead of NAK and COM."""
    module = stack.replace(":", "_").lower()
    text = STACK.format(stack=stack, network=network)
    (tmp_path / f"{module}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    check_core(f"{module}:made")


HEAD = """
import time
from antiphon.impl.protocols.core import Implementation, Send
from antiphon.impl.protocols.rbp import MESSAGES, Core, Snapshot

def made():
    return Implementation(MESSAGES, lambda me, members, tracer: Faulty(me, members, tracer=tracer))

class Faulty(Core):
"""

FAULTS = {
    "a clock": (
        """
    def tick(self, now):
        super().tick(time.monotonic() * 1000.0)
""",
        "differs from that of a core put to the same snapshot at another time",
    ),
    "an absolute deadline": (
        """
    def snapshot(self):
        return super().snapshot()._replace(timers=tuple(self._deadlines.relative(0.0)))
""",
        "snapshot differs from that of a core put to the same snapshot at another time",
    ),
    "a variable that no snapshot has": (
        """
    heard = 0
    def receive(self, sender, message, now):
        self.heard += 1
        super().receive(sender, message, now)
    @property
    def busy(self):
        return super().busy or self.heard > 5
""",
        "busy differs",
    ),
    "a variable that is not restored": (
        """
    def restore(self, snapshot, now):
        super().restore(snapshot._replace(passed=None), now)
""",
        "a core that was put to a snapshot has another one",
    ),
    "a list of its own": (
        """
    def outputs(self):
        return self._outputs
""",
        "changing a list or counter that was handed out changes the core",
    ),
    "a counter of its own": (
        """
    @property
    def violations(self):
        self._violations["a planted kind"] = 1
        return self._violations
""",
        "changing a list or counter that was handed out changes the core",
    ),
    "a view of its own state": (
        """
    def observe(self):
        return super().observe() | {"numbers": self._queues.numbers}
""",
        "observe hands out the core's own state",
    ),
    "the payload of its caller": (
        """
    def broadcast(self, payload, now):
        identifier = super().broadcast(payload, now)
        self._queues.received[identifier] = payload
        return identifier
""",
        "can be changed: .* is a bytearray",
    ),
    "a mutable snapshot": (
        """
    def snapshot(self):
        return super().snapshot()._replace(outputs=list(self._outputs))
""",
        r"a snapshot can be changed: \[outputs\] is a list",
    ),
    "the order of a set": (
        """
    def outputs(self):
        sends = {str(send.to): send for send in super().outputs()}
        return [send for _, send in sorted(sends.items(), key=hash)]
""",
        "depends on the seed of Python's hashes",
    ),
    "silence": (
        """
    def outputs(self):
        super().outputs()
        return []
""",
        "nothing was delivered",
    ),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_core_that_breaks_a_rule_is_caught(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, told = FAULTS[fault]
    module = f"faulty_{sorted(FAULTS).index(fault)}"
    (tmp_path / f"{module}.py").write_text(HEAD + text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(AssertionError, match=told):
        check_core(f"{module}:made", members=(3,), runs=4)


def test_what_can_be_changed_is_found_wherever_it_stands() -> None:
    assert list(mutable_parts((1, "a", b"b", None, 1.5, True, Identifier(0, 1), frozenset({(1,)})))) == []
    assert list(mutable_parts((0, [1], Identifier({}, 1)))) == ["[1] is a list", "[2][source] is a dict"]  # type: ignore[arg-type]
    assert list(mutable_parts(bytearray())) == ["it is a bytearray"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("rbp", "'rbp' names no implementation; write module:function, as 'antiphon.impl.protocols.rbp:rbp'"),
        ("nowhere:core", "implementation 'nowhere:core': No module named 'nowhere'"),
        ("antiphon.impl.protocols.rbp:rpb", "has no attribute 'rpb'"),
    ],
)
def test_a_name_of_nothing_is_refused(name: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        check_core(name)
