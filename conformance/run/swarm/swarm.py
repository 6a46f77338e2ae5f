"""Run of a core by a seed and settings, with the same result on any machine, in any process.

`run_seed` keeps no state between its calls, so that runs can be spread over processes and machines in any
way. This module knows no protocol: it takes cores by their names in the catalogue.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import msgspec

from antiphon.conformance.compare.bindings import bound_protocol
from antiphon.conformance.judge.history import Finding, RunFindings
from antiphon.conformance.report.diagram import Diagram
from antiphon.conformance.run.swarm import changing
from antiphon.conformance.run.swarm.chance import Drawn, Script, draw
from antiphon.conformance.run.swarm.judging import judge, shows_order, symptoms
from antiphon.conformance.run.swarm.log import Actions, Log
from antiphon.conformance.run.swarm.picture import Picture
from antiphon.conformance.run.swarm.running import run
from antiphon.conformance.run.swarm.schedule import Schedule
from antiphon.conformance.run.swarm.settings import FaultKind, Settings
from antiphon.conformance.run.swarm.shrinking import shrink
from antiphon.conformance.run.swarm.words import joins_always, schedule_lines
from antiphon.impl.protocols.core import Implementation, Network
from antiphon.impl.registry import LISTED, listed
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import SpecError
from antiphon.spec.lang.foreign import foreign
from antiphon.spec.lang.hints import known_names

__all__ = [
    "RunResult", "core_of", "fitted", "observed", "pictured", "run_drawn", "run_schedule", "run_seed",
    "shortened",
]  # fmt: skip

_DRAWS = 5
"""Greatest number of draws of a seed: about one in fifty shows nothing, for example because the group is lost
before anything is delivered.
"""


@dataclass(frozen=True)
class RunResult:
    """Result of one run.

    `name` is the name of the run, also in its logs. `reasons` say why it did not hold; `symptoms` is the same
    in rough words. `messages` counts sent messages by kind, one message to all as one; `actions` the internal
    steps of cores. `schedule` and `logs` (one file a process) are there unless the run held and no logs were
    requested.
    """

    core: str
    name: str
    seed: int | None
    outcome: Outcome
    faults: tuple[FaultKind, ...]
    steps: int
    ms: float
    sent: int
    lost: int
    duplicated: int
    reordered: int
    delivered: int
    messages: Mapping[str, int]
    actions: Mapping[str, int]
    reasons: tuple[str, ...] = ()
    symptoms: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    schedule: Schedule | None = None
    logs: tuple[bytes, ...] = ()

    def __repr__(self) -> str:
        seed = "" if self.seed is None else f", seed {self.seed}"
        reason = f", {self.reasons[0]}" if self.reasons else ""
        return f"<RunResult of {self.core}: {self.outcome.value}{seed}{reason}>"

    def __str__(self) -> str:
        """Return the outcome, every reason, and the schedule of the run, as text."""
        schedule = [] if self.schedule is None else schedule_lines(self.schedule)
        return "\n".join([repr(self)[1:-1], *self.reasons, *schedule])


class _Kind(NamedTuple):
    """Functions that draw, take, judge and picture the runs of one kind of groups: those whose members stay,
    or those whose members change.
    """

    draw: Callable[[int, Settings, Implementation[Any]], Drawn]
    run: Callable[..., Any]
    symptoms: Callable[[Any], tuple[str, ...]]
    shows: Callable[[Any], bool]
    judge: Callable[..., tuple[Outcome, RunFindings, tuple[str, ...]]]
    met: Callable[[Any, tuple[FaultKind, ...]], tuple[FaultKind, ...]]
    counting: Callable[[int], Any]
    log: Callable[[int], Any]
    picture: Callable[[int], Any]


_STAYING = _Kind(
    draw, run, symptoms, lambda ending: shows_order(ending.schedule), judge, lambda _, drawn: drawn,
    lambda _: Actions(), Log, Picture,
)  # fmt: skip
_CHANGING = _Kind(
    changing.draw, changing.run, changing.symptoms, changing.shows, changing.judge, changing.met,
    changing.Log, changing.Log, changing.Picture,
)  # fmt: skip


def fitted(core: str, settings: Settings) -> Settings:
    """Return the settings; set `join` if the protocol is only for groups whose members change.

    Raises:
        ValueError: the settings do not go together with that.
    """
    if settings.join or not joins_always(core):
        return settings
    return msgspec.structs.replace(settings, join=True)


@cache
def core_of(name: str, planted: str | None = None, *, join: bool = False) -> Implementation[Any]:
    """Return the implementation of a protocol as groups run it, with a planted fault if one is named.

    Args:
        name: the name of the protocol.
        planted: the name of the fault.
        join: True for groups whose members change.

    Raises:
        SpecError: no such protocol or fault; the message lists the known ones.
        Raised: the implementation cannot be made.
    """
    if join or joins_always(name):
        made = listed(name) if name in LISTED else None
        if made is None:
            told = f"no group whose members change has the protocol {name!r}"
            raise SpecError(f"{told}; {known_names(name, sorted(LISTED))}")
        if planted is not None:
            raise SpecError(f"{name} has no planted fault {planted!r} in groups whose members change")
        return made
    bound = bound_protocol(name)
    if bound.implementation is None:
        raise SpecError(f"the binding of {name!r} names no implementation that a group could run")
    if planted is not None and planted not in bound.faults:
        raise SpecError(
            f"{name} has no planted fault {planted!r}; {known_names(planted, sorted(bound.faults))}"
        )
    with foreign(SpecError):
        return bound.implementation(planted)


def run_seed(core: str, seed: int, settings: Settings = Settings()) -> RunResult:  # noqa: B008 - frozen
    """Draw a run by its seed, take it, and judge it. In a group whose members change a draw that shows
    nothing is drawn again, up to `_DRAWS` times in all.

    Raises:
        SpecError: as `core_of`.
    """
    settings, kind = _kind(core, settings)
    implementation = core_of(core, settings.planted, join=settings.join)
    for nth in range(_DRAWS if settings.join else 1):
        draw = kind.draw(_nth_draw(seed, nth), settings, implementation)
        result, shows = _taken(core, seed, draw, settings)
        if shows:
            break
    return result


def _nth_draw(seed: int, nth: int) -> int:
    """Return the number by which a seed draws its run for the n-th time; the first is the seed itself."""
    return seed if nth == 0 else random.Random(f"{seed}:draw {nth}").getrandbits(62)


def run_drawn(
    core: str,
    seed: int,
    draw: Drawn,
    settings: Settings,
    around: Callable[[Implementation[Any]], Implementation[Any]] = lambda implementation: implementation,
) -> RunResult:
    """Take a run that has been drawn, and judge it. `seed` names it; `around` returns the implementation that
    is run, which records what it does and behaves alike.

    Raises:
        SpecError: as `core_of`.
    """
    return _taken(core, seed, draw, settings, around)[0]


def _taken(
    core: str,
    seed: int,
    draw: Drawn,
    settings: Settings,
    around: Callable[[Implementation[Any]], Implementation[Any]] = lambda implementation: implementation,
) -> tuple[RunResult, bool]:
    """Take a run that has been drawn; return its result, and True if the run shows anything: an error, or
    that there was none although there could have been.
    """
    settings, kind = _kind(core, settings)
    implementation = around(core_of(core, settings.planted, join=settings.join))
    faults, drawn, weather = draw
    counted = kind.counting(drawn.members)
    ending = kind.run(implementation, drawn, weather, settings, **_counting_listener(counted, settings))
    found, shows = kind.symptoms(ending), kind.shows(ending)
    if not found and not settings.logs and shows:
        result = _result(core, f"{core}-{seed}", ending, counted, Outcome.HOLDS)
        return dataclasses.replace(result, seed=seed, faults=kind.met(ending, faults)), True
    met = msgspec.structs.replace(drawn, entries=(*drawn.entries, *weather.met))
    result = run_schedule(core, met, settings, seed)
    result = dataclasses.replace(result, faults=kind.met(ending, faults))
    if result.symptoms == found:
        return result, bool(found) or shows
    told = f"taken again the run went otherwise: {found or 'holds'}, then {result.symptoms or 'holds'}"
    return dataclasses.replace(result, outcome=Outcome.UNKNOWN, reasons=(told,)), True


def run_schedule(
    core: str,
    schedule: Schedule,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    seed: int | None = None,
    name: str = "",
) -> RunResult:
    """Take the run of a schedule with a log, and judge it. `seed` is the seed that drew the schedule, else 0;
    its logs have it. The run is called `name`, by default after its core and seed.

    Raises:
        SpecError: as `core_of`.
    """
    settings, kind = _kind(core, settings, schedule)
    log = kind.log(schedule.members)
    implementation = core_of(core, settings.planted, join=settings.join)
    ending = kind.run(implementation, schedule, Script(schedule), settings, log)
    found = kind.symptoms(ending)
    outcome, judged, reasons = kind.judge(ending, log, drawn=seed is not None)
    if found and outcome is Outcome.HOLDS:
        outcome, reasons = Outcome.UNKNOWN, (f"the judge finds nothing of this: {', '.join(found)}",)
    name = name or f"{core}-{'schedule' if seed is None else seed}"
    return dataclasses.replace(
        _result(core, name, ending, log, outcome),
        seed=seed,
        reasons=reasons,
        symptoms=found,
        findings=judged.findings,
        schedule=schedule,
        logs=log.lines(name, core, seed or 0, len(schedule.broadcasts)),
    )


def shortened(
    result: RunResult,
    settings: Settings,
    progress: Callable[[Schedule], None] = lambda _: None,
    *,
    max_seconds: float | None = None,
) -> RunResult:
    """Return a failing run with a shorter schedule that fails in the same way; the run itself if there is
    none.

    Args:
        result: the run, with its schedule.
        settings: the settings of the run.
        progress: called with each shorter schedule.
        max_seconds: time after which no further schedule is tried; None: no limit.
    """
    assert result.schedule is not None, f"{result.name} was not kept"
    assert result.symptoms, f"{result.name} has not failed"
    settings, kind = _kind(result.core, settings, result.schedule)
    symptom = result.symptoms[0]
    implementation = core_of(result.core, settings.planted, join=settings.join)

    def fails(schedule: Schedule) -> bool:
        found = kind.symptoms(kind.run(implementation, schedule, Script(schedule), settings))
        return symptom in found

    network = Network.LOSSY if settings.join else implementation.network  # such groups have layers always
    shorter = shrink(result.schedule, fails, network, progress, max_seconds)
    return run_schedule(result.core, shorter, settings, result.seed, f"{result.name}-short")


def _kind(core: str, settings: Settings, schedule: Schedule | None = None) -> tuple[Settings, _Kind]:
    settings = fitted(core, settings)
    if schedule is not None and schedule.changes:
        settings = msgspec.structs.replace(settings, join=True)
    return settings, _CHANGING if settings.join else _STAYING


def _counting_listener(counted: Any, settings: Settings) -> dict[str, Any]:
    """Return the arguments of a run that pass a counting listener in place of a log."""
    return {"log": counted} if settings.join else {"tracer": counted}


def pictured(result: RunResult, settings: Settings) -> Diagram:
    """Return the space-time diagram of a run that has a schedule."""
    assert result.schedule is not None, f"{result.name} was not kept"
    settings, kind = _kind(result.core, settings, result.schedule)
    picture = kind.picture(result.schedule.members)
    implementation = core_of(result.core, settings.planted, join=settings.join)
    kind.run(implementation, result.schedule, Script(result.schedule), settings, picture)
    diagram: Diagram = picture.diagram(result.name, result.reasons[0] if result.reasons else "", "")
    return diagram


def observed(result: RunResult, settings: Settings) -> dict[str, Any]:
    """Return what the applications see in a run that has a schedule, as a trace in ITF.

    Raises:
        ValueError: the members of the group stay.
    """
    assert result.schedule is not None, f"{result.name} was not kept"
    settings, _ = _kind(result.core, settings, result.schedule)
    if not settings.join:
        raise ValueError("no trace is made of a group whose members stay")
    seen = changing.Observed(result.schedule.members)
    implementation = core_of(result.core, settings.planted, join=True)
    changing.run(implementation, result.schedule, Script(result.schedule), settings, seen)
    return seen.trace(result.name)


def _result(core: str, name: str, ending: Any, counted: Any, outcome: Outcome) -> RunResult:
    network = ending.network
    delivered = sum(map(len, network.deliveries))
    return RunResult(
        core, name, None, outcome, (), network.steps, network.now, network.sent, network.lost,
        network.duplicated, network.reordered, delivered, network.transmissions, counted.actions,
    )  # fmt: skip
