"""Which specifications have a name? The published protocols, each judged by the service that it claims to give; any other by module:Class."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from antiphon.conformance.cli.output import UsageProblem
from antiphon.spec.examples.chameneos import Chameneos
from antiphon.spec.examples.chang_roberts import ChangRoberts
from antiphon.spec.examples.die_hard import DieHard
from antiphon.spec.examples.dining_philosophers import DiningPhilosophers
from antiphon.spec.examples.ewd840 import EWD840
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import Program, Spec, SpecError, program
from antiphon.spec.lang.declare import declare
from antiphon.spec.lang.hints import did_you_mean, known_names
from antiphon.spec.protocols.chang_maxemchuk import ChangMaxemchukJudged
from antiphon.spec.protocols.dtp_figure1 import Figure1
from antiphon.spec.protocols.dtp_judged import DtpCrashing, DtpJudged
from antiphon.spec.protocols.horus.judged import HorusJudged, TotalStack
from antiphon.spec.protocols.horus.stacks import FragStack, NakStack
from antiphon.spec.protocols.moving_sequencer import MovingSequencerJudged
from antiphon.spec.protocols.pinwheel import PinwheelJudged
from antiphon.spec.protocols.rbp import RbpJudged
from antiphon.spec.protocols.rbp_resilient import RbpResilientJudged
from antiphon.spec.protocols.sequencer import SequencerJudged
from antiphon.spec.protocols.token_broadcast import Figure2Judged, Figure5Judged
from antiphon.spec.protocols.total_judged import TotalJudged
from antiphon.spec.protocols.totem import TotemJudged
from antiphon.spec.services.ordering import OrderingJudged


@dataclass(frozen=True)
class Entry:
    """A specification under its name, with one sentence about it."""

    name: str
    spec: type[Spec]
    about: str


ENTRIES = (
    Entry("figure-2", Figure2Judged, "reliable broadcast with a token that carries the messages (RBP report, figure 2)"),
    Entry("figure-5", Figure5Judged, "reliable broadcast with a token that carries identifiers (RBP report, figure 5)"),
    Entry("moving-sequencer", MovingSequencerJudged, "total order by a moving sequencer (RBP report, figure 12)"),
    Entry("rbp", RbpJudged, "RBP without failures (RBP report, figure 16)"),
    Entry("rbp-resilient", RbpResilientJudged, "RBP with failures, up to Reformation (RBP report, figure 25)"),
    Entry("sequencer", SequencerJudged, "total order by a coordinator that multicasts for all (Ban, SEQUENCER)"),
    Entry("horus-nak", NakStack, "NAK:COM of Horus over a network that loses, judged as FIFO broadcast"),
    Entry("horus-frag", FragStack, "FRAG:NAK:COM of Horus, judged as FIFO broadcast"),
    Entry("horus-total", TotalStack, "TOTAL of Horus over an abstract MBRSHIP, judged as total order broadcast"),
    Entry("horus", HorusJudged, "the stack TOTAL:MBRSHIP:FRAG:NAK:COM of Horus, judged as total order broadcast"),
    Entry("ordering", OrderingJudged, "the abstract machine that every protocol of total order refines: assign a number, learn, deliver"),
    Entry("dtp", DtpJudged, "dynamic token passing: the least active process orders next (Kim and Kim)"),
    Entry("dtp-crashing", DtpCrashing, "dynamic token passing while processes stop and nobody changes the group"),
    Entry("dtp-figure-1", Figure1, "when the first update is stable in CM, Pinwheel and DTP (Kim and Kim, figure 1)"),
    Entry("chang-maxemchuk", ChangMaxemchukJudged, "the token of CM and what it makes stable (as Kim and Kim describe it)"),
    Entry("pinwheel", PinwheelJudged, "CM with positive notification (as Kim and Kim describe it)"),
    Entry("totem", TotemJudged, "the ordering of Totem's single ring (as Kim and Kim describe it)"),
    Entry("total", TotalJudged, "total order by a fixed sequencer, through view changes (JavaGroups' TOTAL)"),
    Entry("two-phase", TwoPhase, "two-phase commit, an example whose state counts are public"),
    Entry("die-hard", DieHard, "two jugs that must measure four gallons: the counterexample is the solution"),
    Entry("dining-philosophers", DiningPhilosophers, "philosophers who hand over clean forks (Chandy and Misra)"),
    Entry("ewd840", EWD840, "termination detection on a ring (Dijkstra, EWD 840)"),
    Entry("chang-roberts", ChangRoberts, "leader election on a ring (Chang and Roberts)"),
    Entry("chameneos", Chameneos, "creatures that meet in pairs and change colour"),
)


def find(name: str) -> type[Spec]:
    """The class of a name, or of `module:Class`; modules are also looked for in the current directory.

    Raises:
        UsageProblem: there is none; the known names are listed.
    """
    for entry in ENTRIES:
        if entry.name == name:
            return entry.spec
    if ":" in name:
        return _import(name)
    known = [entry.name for entry in ENTRIES]
    hint = did_you_mean(name, known)
    if name.endswith(".py"):
        hint = f"; a file is named by its module and class, for example {Path(name).stem}:MySpec"
    raise UsageProblem(f"unknown specification {name!r}; known: {', '.join(known)}, or module:Class{hint}")


def name_of(spec: type[Spec]) -> str:
    """What `find` calls this class: its registered name, or `module:Class`."""
    return next((entry.name for entry in ENTRIES if entry.spec is spec), f"{spec.__module__}:{spec.__qualname__}")


def called(spec: type[Spec]) -> str:
    """What people read: the registered name of this class, or the name of the class."""
    return next((entry.name for entry in ENTRIES if entry.spec is spec), spec.__name__)


def see_current_directory() -> None:
    """Let modules in the current directory be imported, as `python -m` does."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)


def _import(name: str) -> type[Spec]:
    see_current_directory()
    module, _, qualified = name.partition(":")
    try:
        found: object = importlib.import_module(module)
    except ImportError as error:
        raise UsageProblem(f"specification {name!r}: module {module!r} cannot be imported: {error}") from error
    except SyntaxError as error:
        raise UsageProblem(f"specification {name!r}: {error.filename}:{error.lineno}:{error.offset}: {error.msg}") from error
    except SpecError:
        raise
    except Exception as error:  # a module may raise anything, and it is not ours
        where = traceback.extract_tb(error.__traceback__)[-1]
        raise UsageProblem(f"specification {name!r}: {where.filename}:{where.lineno}: {type(error).__name__}: {error}") from error
    for part in qualified.split("."):
        if not hasattr(found, part):
            specs = sorted(key for key, value in vars(found).items() if isinstance(value, type) and issubclass(value, Spec) and value is not Spec)
            told = f"its specifications: {', '.join(specs) or 'none'}{did_you_mean(part, specs)}"
            raise UsageProblem(f"module {module!r} has no {part!r}; {told}")
        found = getattr(found, part)
    if not (isinstance(found, type) and issubclass(found, Spec)):
        raise UsageProblem(f"{name!r} is no specification: it is not a subclass of antiphon.spec.lang.Spec")
    return found


def bind(
    name: str,
    *,
    settings: Iterable[str] = (),
    repairs: Iterable[str] = (),
    without: Iterable[str] = (),
    sizes: Mapping[str, int | None] | None = None,
) -> Program:
    """The program of a specification by name. `settings` are `name=value`; `sizes` with None are left at their defaults.

    `repairs` are names, or "all"; those of `without` are left out again.

    Raises:
        UsageProblem: no such specification, or a setting that is none.
        SpecError: an unknown constant, repair or reading; the known ones are listed.
    """
    spec = find(name)
    known = [item.name for item in declare(spec).constants if item.repair]
    left_out = list(without)
    for repair in left_out:
        if repair not in known:
            raise UsageProblem(f"--without {repair}: {name} has no such repair; {known_names(repair, known)}")
    asked = list(repairs)
    wanted = [repair for repair in (known if "all" in asked else asked) if repair not in left_out]
    chosen: dict[str, int | bool | str] = {key: value for key, value in (sizes or {}).items() if value is not None}
    for key, value in parsed(spec, settings).items():
        if chosen.setdefault(key, value) != value:
            raise UsageProblem(f"{key} is set twice: {chosen[key]} and {value}")
    return program(spec, repairs=wanted, **chosen)


def parsed(spec: type[Spec], settings: Iterable[str]) -> dict[str, int | bool | str]:
    """The values of `name=value` by the declared type of each constant; an unknown name is left to whoever binds."""
    defaults = {item.name: item.default for item in declare(spec).constants}
    found: dict[str, int | bool | str] = {}
    said: dict[str, str] = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign or not name:
            raise UsageProblem(f"{setting!r} is no setting; write name=value, for example losses=2")
        if name in said and said[name] != value:
            raise UsageProblem(f"{name} is set twice: {said[name]} and {value}")
        said[name] = value
        default = defaults.get(name)
        if isinstance(default, bool):
            if value not in ("true", "false"):
                raise UsageProblem(f"{name}={value}: {name} is true or false")
            found[name] = value == "true"
        elif isinstance(default, int):
            if not value.removeprefix("-").isdigit():
                raise UsageProblem(f"{name}={value}: {name} is an integer")
            found[name] = int(value)
        else:
            found[name] = value
    return found
