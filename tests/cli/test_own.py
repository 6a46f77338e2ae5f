"""A specification outside the catalogue is named by its file or module, wherever a name of the catalogue is
taken.
"""

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

REGISTER = '''
"""A register that is copied, and the register that it stands for; both call what they hold `value`."""

from typing import Annotated

from antiphon.spec.lang import Between, Const, Index, Map, Spec, action, everywhere, require

Number = Annotated[int, Between(0, 2)]


class Replica(Index, size="replicas", ordered=True):
    """Where a copy is kept."""


class Register(Spec):
    """What is written is read."""

    value: Number = 0
    seen: Number = 0

    @action
    def write(self) -> None:
        """The next number."""
        require(self.value == self.seen)
        require(self.value < 2)
        self.value += 1

    @action
    def read(self) -> None:
        """What was written."""
        self.seen = self.value


class Replicated(Spec):
    """Written at the first replica, copied to the others, read at the last."""

    replicas: Const[int] = 2
    value: Map[Replica, Number] = everywhere(0)
    seen: Number = 0

    @action
    def write(self) -> None:
        """Once all replicas are alike, and that was read."""
        require(all(self.value[r] == self.seen for r in self.each(Replica)))
        require(self.value[Replica(0)] < 2)
        self.value[Replica(0)] += 1

    @action
    def copy(self, r: Replica) -> None:
        """From the one before."""
        require(r.index > 0)
        self.value[r] = self.value[Replica(r.index - 1)]

    @action
    def read(self) -> None:
        """At the last."""
        self.seen = self.value[Replica(self.replicas - 1)]


class ReplicatedIsRegister(Replicated, refines=Register):
    """It holds what its first replica holds."""

    def value(self) -> Number:
        """The copy of the first."""
        return self.value[Replica(0)]


class HastyIsRegister(ReplicatedIsRegister):
    """Who writes does not wait until it was read."""

    @action
    def write(self) -> None:
        """Once all replicas are alike."""
        require(all(self.value[r] == self.value[Replica(0)] for r in self.each(Replica)))
        require(self.value[Replica(0)] < 2)
        self.value[Replica(0)] += 1


class Silent(Replicated, refines=Register):
    """A register that nobody ever writes."""

    def value(self) -> Number:
        """Nothing."""
        return 0

    def seen(self) -> Number:
        """Nothing."""
        return 0
'''


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current directory, with a refinement and a binding in files."""
    (tmp_path / "own_register.py").write_text(REGISTER, encoding="utf-8")
    shutil.copy(Path(__file__).parents[1] / "compare" / "lockstep" / "conftest.py", tmp_path / "own_flood.py")
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    yield tmp_path
    sys.path[:] = before
    for name in ("own_register", "own_flood", "own_deaf", "own_rumour", "own_member"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "name", ["own_register.py:ReplicatedIsRegister", "own_register:ReplicatedIsRegister"]
)
def test_a_refinement_of_ones_own_is_checked(antiphon: Run, name: str) -> None:
    """Both sides have a `value`, and a `seen` that nobody maps; nobody says which steps are stutters."""
    answer = antiphon("refine", name, "--set", "replicas=3", "--json")
    (report,) = answer.document.reports
    assert (answer.code, report.states, report.verdicts[0].outcome.value) == (0, 9, "holds")
    assert report.notes == ["Register: 5 of its states; transitions: read 2, write 2, stutters 25"]
    assert antiphon("check", name).code == 2, "a mapping is a specification, here without properties"


def test_the_guard_that_is_broken_is_named_and_its_trace_is_replayed(antiphon: Run, here: Path) -> None:
    """Write, copy, write: the machine would have to read first."""
    name = "own_register.py:HastyIsRegister"
    answer = antiphon("refine", name, "--save", here / "wrong.itf.json", "--json")
    (report,) = answer.document.reports
    (verdict,) = report.verdicts
    assert answer.code == 1
    assert verdict.reason.startswith("write() is not enabled in Register: self.value == self.seen is false (")
    assert [step.step for step in verdict.trace.steps] == ["write()", "copy(r1)", "write()"]
    assert report.reproduce == f"antiphon refine {name}"
    assert antiphon("replay", here / "wrong.itf.json").code == 1


@pytest.mark.usefixtures("here")
def test_where_every_transition_is_a_stutter_nothing_was_refined(antiphon: Run) -> None:
    (report,) = antiphon("refine", "own_register.py:Silent", "--json").document.reports
    assert report.verdicts[0].outcome.value == "unknown"
    assert report.verdicts[0].reason == "nothing was refined: every transition is a stutter"


@pytest.mark.usefixtures("here")
def test_what_maps_nothing_is_refused_with_what_there_is(antiphon: Run) -> None:
    several, none = antiphon("refine", "own_register.py"), antiphon("refine", "own_register.py:Register")
    assert (several.code, none.code) == (64, 64)
    assert "own_register.py has 3 mappings; say which: own_register.py:ReplicatedIsRegister" in several.err
    assert "'Register' is no mapping: it is not a class that says refines=" in none.err


@pytest.mark.deep
def test_a_binding_of_ones_own_is_walked_and_run_at_random(antiphon: Run, here: Path) -> None:
    for name in ("own_flood.py", "own_flood:FloodBinding"):
        walked = antiphon("lockstep", name, "--json")
        assert (walked.code, walked.document.states, walked.document.transitions) == (0, 15, 24)
    assert antiphon("stateful", "own_flood.py", "--runs", "5", "--seed", "1").code == 0
    (here / "own_deaf.py").write_text(
        "from own_flood import *\n\n\n"
        "class Deaf(FloodBinding):\n"
        "    def project(self, me, snapshot):\n"
        "        return {**super().project(me, snapshot), 'laughed': False}\n",
        encoding="utf-8",
    )
    deaf = antiphon("lockstep", "own_deaf.py:Deaf", "--save", here / "deaf.itf.json")
    assert deaf.code == 1
    assert "run it again with antiphon replay deaf.itf.json\n" in deaf.out.replace(f"{here}/", "")
    assert antiphon("replay", here / "deaf.itf.json", "--on", "own_deaf.py:Deaf").code == 1
    assert antiphon("replay", here / "deaf.itf.json", "--on", "own_flood.py").code == 0
    assert antiphon("replay", here / "deaf.itf.json").code == 1
    (here / "deaf.itf.json").write_text((here / "deaf.itf.json").read_text().replace("own_deaf.py:Deaf", ""))
    unbound = antiphon("replay", here / "deaf.itf.json")
    assert (unbound.code, "--on file.py:Name names another" in unbound.err) == (64, True)


def test_a_swarm_says_what_a_binding_of_ones_own_lacks(antiphon: Run, here: Path) -> None:
    for words in ((), ("--within-model",)):
        answer = antiphon("swarm", "own_flood.py", "--runs", "1", *words)
        assert (answer.code, "names no implementation that a group could run" in answer.err) == (64, True)
    (here / "own_rumour.py").write_text(
        "from own_flood import FloodBinding\n"
        "from antiphon.conformance.compare.bindings import Bound\n"
        "from antiphon.impl.protocols.rbp import rbp\n\n"
        "RUMOUR = Bound(lambda fault=None, **constants: FloodBinding(**constants),\n"
        "               implementation=lambda fault: rbp())\n",
        encoding="utf-8",
    )
    answer = antiphon("swarm", "own_rumour.py:RUMOUR", "--runs", "1", "--within-model")
    told = "how many processes a run has says a constant 'processes', and its model has none"
    assert (answer.code, told in answer.err) == (64, True)


@pytest.mark.usefixtures("here")
def test_what_is_no_binding_is_refused(antiphon: Run) -> None:
    answer = antiphon("lockstep", "own_flood.py:Flood")
    assert answer.code == 64
    assert "'Flood' is no binding: it is not an antiphon.conformance.compare.bindings.Bound" in answer.err


MEMBER = '''
"""RBP with longer timers."""

import socket

from antiphon.conformance.run.cluster.protocols import Membership, group_of
from antiphon.impl.group import Group
from antiphon.impl.protocols.rbp import rbp
from antiphon.impl.tracing import Tracer


def patient(membership: Membership, bound: socket.socket, tracer: Tracer) -> Group:
    """A member that waits twice as long."""
    return group_of(membership, bound, tracer, rbp(resend_ms=100.0))
'''


def test_a_cluster_runs_members_of_ones_own(antiphon: Run, here: Path) -> None:
    (here / "own_member.py").write_text(MEMBER, encoding="utf-8")
    undisturbed = ("--loss-rate", "0", "--duplication-rate", "0", "--reordering-rate", "0")
    few = ("--processes", "2", "--messages", "10", *undisturbed)
    answer = antiphon("cluster", "own_member.py", *few, "--json")
    assert answer.code == 0, answer.err
    assert Path(answer.document.directory).name == "own_member-py-2x10-7"
    wrong = antiphon("cluster", "own_flood.py", *few)
    assert (wrong.code, "own_flood.py has no member" in wrong.err) == (64, True)
