"""Generator of the page `docs/dtp-figures.md` and its four drawings from the runs of a sweep.

This module judges nothing: `sentences` judges the sentences, `theory` computes values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from antiphon.conformance.report.chart import Chart, Curve, chart_svg
from antiphon.conformance.run.performance import theory
from antiphon.conformance.run.performance.estimates import Estimate, estimate
from antiphon.conformance.run.performance.meter import Result
from antiphon.conformance.run.performance.page_text import COMPUTED, END, HEAD, PROSE, SILENT
from antiphon.conformance.run.performance.questions import (
    DTP,
    FIGURE_MS,
    NAMES,
    PINWHEEL,
    TOTEM,
    Scale,
    figure_points,
)
from antiphon.conformance.run.performance.readings import MEANS_MS, READINGS, reading_points
from antiphon.conformance.run.performance.sentences import SENTENCES
from antiphon.conformance.run.performance.setting import PROTOCOLS, Setting
from antiphon.conformance.run.performance.sweep import Runs
from antiphon.model.files import write_whole

__all__ = ["PAGE", "all_points", "page", "pictures", "write"]

PAGE: Final = "dtp-figures.md"
_PICTURES: Final = "pictures"
_COLOURS: Final = dict(zip(PROTOCOLS, ("#b0205f", "#b35900", "#0b6bcb", "#00806b"), strict=True))
_MARKS: Final = dict(zip(PROTOCOLS, ("square", "triangle", "circle", "diamond"), strict=True))


class _Figure(NamedTuple):
    """One figure of the paper: its number, caption and axis, the simulated quantity that it shows, and the
    computed one.
    """

    number: int
    caption: str
    axis: str
    told: str
    value: Callable[[Result], float]
    computed: Callable[[Setting], float] | None
    every_mean: bool = False
    logarithmic: bool = False


_FIGURES: Final = (
    _Figure(
        2,
        "Comparison for average stability time",
        "stability time, ms",
        "Milliseconds from a request to where all members know that its update is stable.",
        lambda result: result.stability_ms,
        theory.stability_ms,
        every_mean=True,
    ),
    _Figure(
        3,
        "Comparison for average buffer size: 1/λ = 100 ms",
        "messages kept by a member",
        "Messages that a member keeps, in the mean over time and members: those that it has sent or "
        "received and does not know to be stable. In Totem those that wait for the token are not counted, "
        "as elsewhere those that wait for an ACK are not.",
        lambda result: result.buffer,
        None,
    ),
    _Figure(
        4,
        "Comparison for average delivery time: 1/λ = 100 ms",
        "delivery time, ms",
        "Milliseconds from a request to where every other member has delivered its update.",
        lambda result: result.delivery_ms,
        theory.delivery_ms,
    ),
    _Figure(
        5,
        "Comparison for average number of messages per multicast message: 1/λ = 100 ms",
        "overhead messages a message",
        "ACKs, NULLs and tokens for each message; one to all counts once. The axis is logarithmic.",
        lambda result: result.overhead,
        theory.overhead,
        logarithmic=True,
    ),
)


def all_points(scale: Scale) -> list[Setting]:
    """Return every point that the page needs, once."""
    points = figure_points(scale)
    for sentence in SENTENCES.values():
        points += sentence.points(scale)
    for reading in READINGS:
        for interarrival_ms in MEANS_MS:
            points += reading_points(scale, reading, interarrival_ms).values()
    return list(dict.fromkeys(points))


def write(docs: Path, runs: Runs, scale: Scale, command: str) -> list[Path]:
    """Write the page and its drawings into this directory; return the written files.

    Raises:
        OSError: the directory does not exist, or cannot be written.
    """
    files = {docs / PAGE: page(runs, scale, command)}
    files |= {docs / _PICTURES / name: text for name, text in pictures(runs, scale).items()}
    for path, text in files.items():
        write_whole(path, text)
    return list(files)


def pictures(runs: Runs, scale: Scale) -> dict[str, str]:
    """Return the drawings by the names of their files."""
    return {f"dtp-figure-{figure.number}.svg": chart_svg(_chart(figure, runs, scale)) for figure in _FIGURES}


def page(runs: Runs, scale: Scale, command: str) -> str:
    """Return the whole page."""
    parts = [
        HEAD.format(command=command, messages=scale.messages, seeds=_counted(scale.seeds)),
        _prose(runs, scale),
        *(_figure(figure, runs, scale) for figure in _FIGURES),
        COMPUTED,
        _readings(runs, scale),
        END,
    ]
    return "\n".join(part.strip("\n") + "\n" for part in parts)


def _counted(seeds: Sequence[int]) -> str:
    return f"{', '.join(map(str, seeds[:-1]))} and {seeds[-1]}"


def _rows(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _prose(runs: Runs, scale: Scale) -> str:
    rows = []
    for sentence in SENTENCES.values():
        agrees, found = sentence.judge(runs, scale)
        rows.append(
            [
                f"{sentence.claim}, {sentence.where}",
                f"*{sentence.quotation}*",
                sentence.asked,
                sentence.answer(agrees).replace("differs", "**differs**"),
                found,
            ]
        )
    return PROSE + _rows(["claim, place", "the paper", "taken to mean", "", "measured"], rows)


def _means_ms(figure: _Figure, scale: Scale) -> tuple[float, ...]:
    return scale.means_ms if figure.every_mean else (FIGURE_MS,)


def _estimates(figure: _Figure, runs: Runs, settings: Iterable[Setting]) -> list[Estimate]:
    return [estimate([figure.value(result) for result in runs[setting]]) for setting in settings]


def _figure(figure: _Figure, runs: Runs, scale: Scale) -> str:
    rows = []
    for interarrival_ms in _means_ms(figure, scale):
        for size in scale.sizes:
            settings = [scale.point(protocol, size, interarrival_ms) for protocol in PROTOCOLS]
            cells = [str(value) for value in _estimates(figure, runs, settings)]
            rows.append([f"{interarrival_ms:g}", str(size), *cells])
    table = _rows(["1/λ, ms", "members", *(NAMES[protocol] for protocol in PROTOCOLS)], rows)
    return (
        f"## Figure {figure.number}: {figure.caption}\n\n"
        f"![{figure.axis}, by protocol and size of the group]({_PICTURES}/dtp-figure-{figure.number}.svg)\n\n"
        f"{figure.told}\n\n{table}"
    )


def _chart(figure: _Figure, runs: Runs, scale: Scale) -> Chart:
    curves: list[Curve] = []
    for interarrival_ms in _means_ms(figure, scale):
        for protocol in PROTOCOLS:
            settings = [scale.point(protocol, size, interarrival_ms) for size in scale.sizes]
            measured = zip(scale.sizes, _estimates(figure, runs, settings), strict=True)
            points = [(size, *value.printed) for size, value in measured]
            if figure.computed is not None:
                computed = [(s.members, figure.computed(s), 0.0) for s in settings]
                curves.append(Curve("computed", _COLOURS[protocol], computed))
            label = f"{interarrival_ms:g} ms" if figure.every_mean and protocol == DTP else ""
            curves.append(Curve(NAMES[protocol], _COLOURS[protocol], points, _MARKS[protocol], label))
    title = f"Figure {figure.number}. {figure.caption}"
    return Chart(title, "group size", figure.axis, curves, figure.logarithmic)


def _readings(runs: Runs, scale: Scale) -> str:
    rows = []
    for reading in READINGS:
        for interarrival_ms in MEANS_MS:
            points = reading_points(scale, reading, interarrival_ms)
            stable = {
                protocol: estimate([r.stability_ms / interarrival_ms for r in runs[setting]]).mean
                for protocol, setting in points.items()
            }
            delivered = {
                protocol: estimate([r.delivery_ms for r in runs[setting]]).mean
                for protocol, setting in points.items()
            }
            order = " < ".join(NAMES[protocol] for protocol in sorted(stable, key=stable.__getitem__))
            cells = [f"{stable[protocol]:.2f}" for protocol in PROTOCOLS]
            times = [f"{delivered[protocol]:.2f}" for protocol in (DTP, PINWHEEL, TOTEM)]
            rows.append([reading.told, f"{interarrival_ms:g}", *cells, order, *times])
    names = [NAMES[protocol] for protocol in PROTOCOLS]
    header = [
        "network, control messages",
        "1/λ, ms",
        *names,
        "stable first to last",
        "DTP",
        "Pinwheel",
        "Totem",
    ]
    return SILENT.format(messages=scale.messages // 10) + _rows(header, rows)
