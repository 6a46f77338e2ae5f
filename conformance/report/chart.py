"""Curves over one axis as SVG: measured means with their intervals, and computed values as dashed lines.

Plain SVG 1.1 with fonts that every machine has, dark on white, as space-time diagrams have it (`svg`). Sizes
are pixels. This module knows nothing of what the curves mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from antiphon.conformance.report.svg import FAINT, FONT, INK
from antiphon.conformance.report.words import escape

__all__ = ["Chart", "Curve", "chart_svg"]

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 680, 440, 64, 160, 44, 52
_TICKS = 6
_MARKS = {
    "circle": '<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{c}"/>',
    "square": '<rect x="{l:.1f}" y="{t:.1f}" width="6" height="6" fill="{c}"/>',
    "diamond": '<path d="M{x:.1f} {t:.1f} L{r:.1f} {y:.1f} L{x:.1f} {b:.1f} L{l:.1f} {y:.1f} Z" fill="{c}"/>',
    "triangle": '<path d="M{x:.1f} {t:.1f} L{r:.1f} {b:.1f} L{l:.1f} {b:.1f} Z" fill="{c}"/>',
}


@dataclass(frozen=True)
class Curve:
    """Curve: points (x, y, half the width of the interval of y) in the order of x; `mark` "" is a dashed
    line.

    `name` is shown in the key, once for all curves that have it; `label` at the end of the curve.
    """

    name: str
    colour: str
    points: Sequence[tuple[float, float, float]]
    mark: str = ""
    label: str = ""


@dataclass(frozen=True)
class Chart:
    """Drawing: its title, its axes in words, its curves; `logarithmic` is for the y axis, with values above
    0.
    """

    title: str
    x: str
    y: str
    curves: Sequence[Curve]
    logarithmic: bool = False


def chart_svg(chart: Chart) -> str:
    """Return the chart as the text of an SVG file, ending with a newline."""
    return _Sheet(chart).draw()


class _Sheet:
    """SVG drawing of a chart under construction."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        points = [point for curve in chart.curves for point in curve.points]
        self.x_max = max(x for x, _, _ in points)
        top = max(y + half for _, y, half in points)
        self.y_ticks = _powers(min(y for _, y, _ in points), top) if chart.logarithmic else _round_steps(top)
        self.parts: list[str] = []

    def draw(self) -> str:
        """Return the text of the SVG file."""
        self._axes()
        for curve in self.chart.curves:
            self._curve(curve)
        self._key()
        label = escape(f"{self.chart.title}: {self.chart.y} over {self.chart.x}", quote=True)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
            f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="{FONT}" font-size="11" fill="{INK}" role="img" '
            f'aria-label="{label}">'
        )
        ground = f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>'
        return "\n".join([head, ground, *self.parts, "</svg>"]) + "\n"

    def _x(self, value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * value / self.x_max

    def _y(self, value: float) -> float:
        low, high = self.y_ticks[0], self.y_ticks[-1]
        if self.chart.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * (value - low) / (high - low)

    def _text(self, x: float, y: float, text: str, more: str = "") -> None:
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}"{more}>{escape(text)}</text>')

    def _line(self, x1: float, y1: float, x2: float, y2: float, colour: str) -> None:
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'
        )

    def _axes(self) -> None:
        left, right, bottom = _LEFT, _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
        self._text(16, 22, self.chart.title, ' font-size="12" font-weight="bold"')
        for tick in self.y_ticks:
            y = self._y(tick)
            self._line(left, y, right, y, "#e2e8f0")
            self._text(left - 8, y + 4, f"{tick:g}", ' text-anchor="end"')
        for tick in _round_steps(self.x_max):
            if tick <= self.x_max:
                x = self._x(tick)
                self._line(x, bottom, x, bottom + 4, FAINT)
                self._text(x, bottom + 17, f"{tick:g}", ' text-anchor="middle"')
        self._line(left, _TOP, left, bottom, FAINT)
        self._line(left, bottom, right, bottom, FAINT)
        self._text((left + right) / 2, _HEIGHT - 14, self.chart.x, ' text-anchor="middle"')
        middle = (_TOP + bottom) / 2
        self._text(16, middle, self.chart.y, f' text-anchor="middle" transform="rotate(-90 16 {middle:.1f})"')

    def _curve(self, curve: Curve) -> None:
        path = " L".join(f"{self._x(x):.1f} {self._y(y):.1f}" for x, y, _ in curve.points)
        dashes = "" if curve.mark else ' stroke-dasharray="5 4" stroke-opacity="0.7"'
        self.parts.append(
            f'<path d="M{path}" fill="none" stroke="{curve.colour}" stroke-width="1.4"{dashes}/>'
        )
        for x, y, half in curve.points:
            if curve.mark:
                lowest = max(y - half, self.y_ticks[0])
                self._line(self._x(x), self._y(lowest), self._x(x), self._y(y + half), curve.colour)
                self.parts.append(_mark(curve, self._x(x), self._y(y)))
        x, y, _ = curve.points[-1]
        if curve.label:
            self._text(self._x(x) + 8, self._y(y) + 4, curve.label, f' fill="{curve.colour}"')

    def _key(self) -> None:
        named = {curve.name: curve for curve in sorted(self.chart.curves, key=lambda curve: not curve.mark)}
        for row, curve in enumerate(named.values()):
            x, y = _WIDTH - _RIGHT + 62, _TOP + 4 + 17 * row
            if curve.mark:
                self.parts.append(_mark(curve, x, y))
            else:
                self.parts.append(
                    f'<path d="M{x - 9} {y} L{x + 7} {y}" stroke="{INK}" stroke-dasharray="5 4"/>'
                )
            self._text(x + 12, y + 4, curve.name)


def _mark(curve: Curve, x: float, y: float) -> str:
    return _MARKS[curve.mark].format(x=x, y=y, l=x - 3.5, r=x + 3.5, t=y - 3.5, b=y + 3.5, c=curve.colour)


def _round_steps(top: float) -> list[float]:
    """Return the ticks of an axis from 0 up to at least `top`, in steps of 1, 2 or 5 times a power of ten."""
    raw = top / _TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
    return [step * number for number in range(math.ceil(top / step - 1e-9) + 1)]


def _powers(bottom: float, top: float) -> list[float]:
    """Return the powers of ten from below `bottom` to above `top`, as ticks of a logarithmic axis."""
    return [10.0**power for power in range(math.floor(math.log10(bottom)), math.ceil(math.log10(top)) + 1)]
