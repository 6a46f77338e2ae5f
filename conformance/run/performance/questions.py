"""Questions for the sentences of Kim and Kim's prose, answered by the runs of a sweep.

A question has the points that it needs at a scale, and returns whether their runs agree with the sentence,
with the numbers in words. The paper's drawings are missing in the copy that was read, so that the bounds are
ours: `sentences` defines `about`, `nearly` and `comparable` beside each sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import mean, pstdev
from typing import Any, NamedTuple

from antiphon.conformance.run.performance.meter import Result
from antiphon.conformance.run.performance.setting import PROTOCOLS, Setting
from antiphon.conformance.run.performance.sweep import Runs

CM, PINWHEEL, DTP, TOTEM = PROTOCOLS
NAMES = {CM: "CM", PINWHEEL: "Pinwheel", DTP: "DTP", TOTEM: "Totem"}
"""Names of the protocols in the paper."""

FIGURE_MS = 100.0
"""1/lambda in figures 3 to 5."""

_LOADED = 20
"""The size of the group in which the load of each member is looked at; the paper shows no figure of it."""


class Scale(NamedTuple):
    """Size of a simulation: sizes of groups, values of 1/lambda in ms, messages a run, and seeds."""

    sizes: tuple[int, ...] = (2, 5, 10, 20, 40)
    means_ms: tuple[float, ...] = (50.0, 100.0, 200.0)
    messages: int = 10_000
    seeds: tuple[int, ...] = (1, 2, 3)

    def point(self, protocol: str, members: int, interarrival_ms: float, **changed: Any) -> Setting:
        """Return the setting of one point of the figures, at this scale."""
        return Setting(
            protocol=protocol,
            members=members,
            interarrival_ms=interarrival_ms,
            messages=self.messages,
            **changed,
        )


def figure_points(scale: Scale, protocols: Iterable[str] = tuple(PROTOCOLS)) -> list[Setting]:
    """Return the points of figure 2, which are also those of the other figures."""
    return [
        scale.point(protocol, members, interarrival_ms)
        for interarrival_ms in scale.means_ms
        for members in scale.sizes
        for protocol in protocols
    ]


def _of(runs: Runs, setting: Setting, figure: Callable[[Result], float]) -> float:
    return mean(figure(result) for result in runs[setting])


def _stability(runs: Runs, setting: Setting) -> float:
    """Return the mean time to stability in a setting, in units of 1/lambda."""
    return _of(runs, setting, lambda result: result.stability_ms) / setting.interarrival_ms


def _listed(values: Iterable[float], digits: int = 2) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values)


def _ms(scale: Scale) -> str:
    return f"1/λ = {', '.join(f'{value:g}' for value in scale.means_ms)} ms"


# Figure 2: stability -----------------------------------------------------------------------------------


def two_thirds(runs: Runs, scale: Scale) -> tuple[bool, str]:
    """Judge DTP's times to stability, by size and 1/lambda, against two thirds of 1/lambda."""
    ratios = {
        (size, value): _stability(runs, scale.point(DTP, size, value))
        for size in scale.sizes
        for value in scale.means_ms
    }
    largest = [ratios[scale.sizes[-1], value] for value in scale.means_ms]
    good = all(0.6 <= ratio <= 0.75 for ratio in largest) and max(ratios.values()) <= 0.75
    return good, (
        f"{_listed(largest)} of 1/λ with {scale.sizes[-1]} members and {_ms(scale)}; "
        f"at most {max(ratios.values()):.2f} of any size; computed for large groups: ln 2 = {math.log(2):.2f}"
    )


def stability_near_mean(runs: Runs, scale: Scale) -> tuple[bool, str]:
    """Judge CM's and Pinwheel's times to stability against 1/lambda."""
    found, good = [], True
    for protocol in (CM, PINWHEEL):
        for value in scale.means_ms:
            ratios = [_stability(runs, scale.point(protocol, size, value)) for size in scale.sizes]
            good = good and 0.8 <= ratios[-1] <= 1.05 and ratios[-1] > ratios[1]
        largest = [
            _stability(runs, scale.point(protocol, scale.sizes[-1], value)) for value in scale.means_ms
        ]
        found.append(f"{NAMES[protocol]} {_listed(largest)}")
    return good, f"{'; '.join(found)} of 1/λ with {scale.sizes[-1]} members and {_ms(scale)}"


def dtp_stable_sooner(runs: Runs, scale: Scale) -> tuple[bool, str]:
    """Judge whether DTP is stable later than Totem and sooner than the others, with three members or more."""
    good, found = True, []
    for value in scale.means_ms:
        for size in scale.sizes:
            totem, dtp, pinwheel, cm = (
                _stability(runs, scale.point(protocol, size, value))
                for protocol in (TOTEM, DTP, PINWHEEL, CM)
            )
            if size > 2:
                good = good and totem < dtp < min(pinwheel, cm)
        found.append(f"{value:g} ms: {_listed((totem, dtp, pinwheel, cm))}")
    pair = [_stability(runs, scale.point(protocol, 2, scale.means_ms[0])) for protocol in (DTP, PINWHEEL, CM)]
    return good, (
        f"Totem, DTP, Pinwheel, CM in units of 1/λ with {scale.sizes[-1]} members, {'; '.join(found)}; "
        f"of two members DTP, Pinwheel and CM are one protocol: {_listed(pair)}"
    )


def extended_points(scale: Scale) -> list[Setting]:
    """Return the points of CM and Pinwheel at which the paper says that Pinwheel is late, those at which
    requests are rare, and the first point of Pinwheel with one outstanding message.
    """
    points = [scale.point(protocol, 40, value) for protocol in (CM, PINWHEEL) for value in (50.0, 200.0)]
    return [*points, scale.point(PINWHEEL, 40, 50.0, window=1)]


def pinwheel_later_at_high_rate(runs: Runs, scale: Scale) -> tuple[bool, str]:
    """Judge whether Pinwheel is stable later than CM at a high rate, and sooner at a low one."""
    fast_cm, slow_cm, fast, slow, single = (_stability(runs, setting) for setting in extended_points(scale))
    return fast > fast_cm and slow < slow_cm, (
        f"40 members, in units of 1/λ: Pinwheel {fast:.3f}, CM {fast_cm:.3f} at 50 ms; Pinwheel {slow:.3f}, "
        f"CM {slow_cm:.3f} at 200 ms; at 50 ms with one outstanding message (m = 1) {single:.3f}"
    )


# Figures 3 to 5 ----------------------------------------------------------------------------------------


def at_figure(protocols: Sequence[str] = tuple(PROTOCOLS)) -> Callable[[Scale], list[Setting]]:
    """Return a function that maps a scale to the points of figures 3 to 5, for these protocols."""
    return lambda scale: figure_points(scale._replace(means_ms=(FIGURE_MS,)), protocols)


def _curve(runs: Runs, scale: Scale, protocol: str, figure: Callable[[Result], float]) -> list[float]:
    return [_of(runs, scale.point(protocol, size, FIGURE_MS), figure) for size in scale.sizes]


def _sizes(scale: Scale) -> str:
    return f"of {scale.sizes[0]} and {scale.sizes[-1]} members"


def _ends(curves: dict[str, list[float]], digits: int = 1) -> str:
    return "; ".join(
        f"{NAMES[protocol]} {curve[0]:.{digits}f} and {curve[-1]:.{digits}f}"
        for protocol, curve in curves.items()
    )


def small_buffer(runs: Runs, scale: Scale) -> tuple[bool, str]:
    """Judge whether DTP keeps more than Totem and less than the others, by more in each larger group."""
    curves = {protocol: _curve(runs, scale, protocol, lambda result: result.buffer) for protocol in PROTOCOLS}
    next_best = [min(cm, pinwheel) for cm, pinwheel in zip(curves[CM], curves[PINWHEEL], strict=True)]
    gaps = [other - own for other, own in zip(next_best, curves[DTP], strict=True)]
    least = all(totem < dtp for totem, dtp in zip(curves[TOTEM], curves[DTP], strict=True))
    good = least and all(gap > 0 for gap in gaps[1:]) and gaps[1:] == sorted(gaps[1:])
    return good, f"messages kept by a member, in the mean, {_sizes(scale)}: {_ends(curves)}"


def delivery(runs: Runs, scale: Scale) -> tuple[bool, str]:
    """Judge the distances between the other protocols' delivery times, and Totem's growth."""
    curves = {
        protocol: _curve(runs, scale, protocol, lambda result: result.delivery_ms) for protocol in PROTOCOLS
    }
    columns = zip(curves[CM], curves[PINWHEEL], curves[DTP], strict=True)
    comparable = all(max(column) <= 1.05 * min(column) for column in columns)
    totem = curves[TOTEM]
    grows = totem == sorted(totem) and totem[-1] > 1.5 * curves[DTP][-1]
    return comparable and grows, f"ms {_sizes(scale)}: {_ends(curves, 2)}"


def overhead(runs: Runs, scale: Scale) -> tuple[bool, str]:
    """Judge the other protocols' distance from one overhead message a message, and Totem's decrease."""
    curves = {
        protocol: _curve(runs, scale, protocol, lambda result: result.overhead) for protocol in PROTOCOLS
    }
    about_one = all(0.9 <= value <= 1.25 for protocol in (CM, PINWHEEL, DTP) for value in curves[protocol])
    totem = curves[TOTEM]
    falls = totem == sorted(totem, reverse=True) and totem[-1] > 2
    return about_one and falls, f"overhead messages a message, {_sizes(scale)}: {_ends(curves, 2)}"


# Section 6: load ---------------------------------------------------------------------------------------


def load_points(unequal: bool) -> Callable[[Scale], list[Setting]]:
    """Return a function that maps a scale to points of groups whose members are equally active, or, if
    `unequal`, half of whose members are nine times as active as the others.
    """
    weights = (9.0,) * (_LOADED // 2) + (1.0,) * (_LOADED // 2) if unequal else ()
    return lambda scale: [scale.point(name, _LOADED, FIGURE_MS, activity=weights) for name in PROTOCOLS]


def _spread(counts: Sequence[int]) -> float:
    """Return the coefficient of variation of the counts: 0 if all are equal."""
    return pstdev(counts) / mean(counts)


def _spreads(
    runs: Runs, settings: Sequence[Setting], counts: Callable[[Result], Sequence[int]]
) -> dict[str, float]:
    return {
        setting.protocol: _of(runs, setting, lambda result: _spread(counts(result))) for setting in settings
    }


def _told_spreads(spreads: dict[str, float]) -> str:
    return ", ".join(f"{NAMES[protocol]} {spread:.1%}" for protocol, spread in spreads.items())


def more_even_than_others(runs: Runs, scale: Scale) -> tuple[bool, str]:
    """Judge whether the shares in ordering vary less in DTP than in the others."""
    spreads = _spreads(runs, load_points(False)(scale), lambda result: result.orderings)
    good = all(spreads[DTP] < spread for protocol, spread in spreads.items() if protocol != DTP)
    return good, (
        f"{_LOADED} members, equally active: deviation of a member's share of the control messages from the "
        f"mean share: {_told_spreads(spreads)}"
    )


def even_order_load(runs: Runs, scale: Scale) -> tuple[bool, str]:
    """Judge whether the shares in ordering vary less than by chance."""
    (setting,) = (setting for setting in load_points(False)(scale) if setting.protocol == DTP)
    spread = _spreads(runs, [setting], lambda result: result.orderings)[DTP]
    at_random = 1 / math.sqrt(_of(runs, setting, lambda result: mean(result.orderings)))
    return spread < at_random, (
        f"{_LOADED} members, equally active: DTP {spread:.1%}; if each ACK came from a random member: "
        f"{at_random:.1%}"
    )


def evens_out(runs: Runs, scale: Scale) -> tuple[bool, str]:
    """Judge whether, with unequal activity, what members send varies less in DTP than in CM and Pinwheel."""
    settings = [setting for setting in load_points(True)(scale) if setting.protocol != TOTEM]
    everything = _spreads(runs, settings, lambda result: result.sendings)
    acks = _spreads(runs, settings, lambda result: result.orderings)
    good = everything[DTP] < min(everything[CM], everything[PINWHEEL])
    return good, (
        f"{_LOADED} members, half of them nine times as active: deviation of all that a member sends: "
        f"{_told_spreads(everything)}; of its ACKs alone: {_told_spreads(acks)}"
    )


# The end of a run --------------------------------------------------------------------------------------


def end_points(scale: Scale) -> list[Setting]:
    """Return two points for each of CM, Pinwheel and DTP: first all whose members send until the end of the
    run, then all whose members fall silent.
    """
    points = [scale.point(protocol, scale.sizes[-1], scale.means_ms[0]) for protocol in (CM, PINWHEEL, DTP)]
    silent = [
        scale.point(setting.protocol, setting.members, setting.interarrival_ms, endless=False)
        for setting in points
    ]
    return points + silent


def silent_end_raises_means(runs: Runs, scale: Scale) -> tuple[bool, str]:
    """Judge whether a run has larger means if its members fall silent before its end (`end_points`)."""
    ratios = [_stability(runs, setting) for setting in end_points(scale)]
    pairs = list(zip(ratios[:3], ratios[3:], strict=True))
    told = "; ".join(
        f"{NAMES[protocol]} {going_on:.2f}, {silent:.2f}"
        for protocol, (going_on, silent) in zip((CM, PINWHEEL, DTP), pairs, strict=True)
    )
    return all(silent > 1.02 * going_on for going_on, silent in pairs), (
        f"stability in units of 1/λ, {scale.sizes[-1]} members, 1/λ = {scale.means_ms[0]:g} ms, where "
        f"members go on, and where they fall silent after {scale.messages:,} messages: {told}"
    )
