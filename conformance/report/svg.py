"""Drawing of a space-time diagram as SVG: lifelines run down, messages are arrows in the colour of their
kind. Where there are several kinds, each arrow also carries the mark of its kind, a small shape, so that the
kinds are told apart without colour.

Plain SVG 1.1 with fonts that every machine has; it needs no script, no style sheet and no other file, and
prints dark on white. Sizes are pixels. Texts carry a white halo, so that an arrow that passes under one
leaves it readable.
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass

from antiphon.conformance.report.diagram import Arrow, Diagram, Event, Fate
from antiphon.conformance.report.window import windowed
from antiphon.conformance.report.words import escape

PALETTE = ("#0b6bcb", "#b35900", "#7a3fb8", "#00806b", "#b0205f", "#5b6b00", "#4a5568")
INK, FAINT, BAD, GOOD = "#1a202c", "#a0aec0", "#c53030", "#1e7b34"
FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
MONO = "Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace"
GUTTER, MARGIN, LINE = 56, 28, 15
LETTER = 6.7
"""Width of a character of the labels, which are 11 pixels high."""
MARKS = (
    "M-4,0 a4,4 0 1,0 8,0 a4,4 0 1,0 -8,0 z",
    "M-3.6,-3.6 h7.2 v7.2 h-7.2 z",
    "M0,-5 l4.7,8.4 h-9.4 z",
    "M0,-5 l5,5 -5,5 -5,-5 z",
    "M-1.6,-4.8 h3.2 v3.2 h3.2 v3.2 h-3.2 v3.2 h-3.2 v-3.2 h-3.2 v-3.2 h3.2 z",
    "M0,5 l4.7,-8.4 h-9.4 z",
)
"""Outlines of the marks of kinds, around their middle: disc, square, triangle, diamond, cross, and triangle
upside down. After the last of them they begin again, hollow.
"""
MARKED = 34
"""Distance of a mark from the right end of its arrow, where no label stands, in pixels; on shorter arrows it
is in the middle.
"""


def svg(diagram: Diagram) -> str:
    """Return the diagram as the text of an SVG file, ending with a newline."""
    return drawn(diagram).svg


@dataclass(frozen=True)
class Drawn:
    """A diagram as SVG.

    Attributes:
        svg: the text of the file, ending with a newline.
        tops: the height at which each row begins, from row 0 on, in pixels.
        bottom: the height at which the last row ends.
    """

    svg: str
    tops: tuple[float, ...]
    bottom: float


def drawn(diagram: Diagram) -> Drawn:
    """Return the diagram as SVG, with the heights of its rows."""
    sheet = _Sheet(windowed(diagram))
    return Drawn(sheet.draw(), tuple(y - 17 for y in sheet.ys), sheet.bottom)


class _Sheet:
    """SVG drawing of a diagram under construction; `parts` has its elements from the bottom layer to the
    top.
    """

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        self.colours = {kind: PALETTE[number % len(PALETTE)] for kind, number in diagram.kinds.items()}
        self.marks = {kind: _mark(number) for kind, number in diagram.kinds.items()}
        self.texts = {event.row: self._lines(event) for event in diagram.events if event.row > 0}
        widest = max((len(text) for lines in self.texts.values() for text, _ in lines), default=0)
        self.spacing = min(max(190.0, widest * LETTER + 40), 300.0)
        self.width = max(GUTTER + self.spacing * max(len(diagram.lanes), 1) + MARGIN, 640.0)
        self.name, _, instance = diagram.title.partition(" · ")
        heading = [instance, f"begins with {diagram.begins}" if diagram.begins else ""]
        room = int((self.width - 2 * MARGIN) / 7.2)
        self.instance = [line for text in heading for line in textwrap.wrap(text, room)]
        self.top: float = MARGIN + 18 * len(self.instance) + 78
        self.drops = {arrow.end: 11 for arrow in diagram.arrows if self._comes_from_right(arrow)}
        self.ys = self._rows()
        self.bottom = self.ys[-1] + max(30, 14 + LINE * len(self.texts.get(diagram.rows, ())))
        self.parts: list[str] = []
        self.above: list[str] = []
        """The marks of the arrows, which no label may cover."""

    def draw(self) -> str:
        """Return the text of the SVG file."""
        self._bands()
        self._lanes()
        for arrow in self.diagram.arrows:
            self._arrow(arrow)
        for event in self.diagram.events:
            self._event(event)
        self.parts += self.above
        self._loop()
        self._heading()
        height = self._foot()
        label = escape(f"Space-time diagram: {self.diagram.title}. {self.diagram.shows}", quote=True)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {self.width:.0f} {height:.0f}" font-family="{FONT}" font-size="11" fill="{INK}" '
            f'role="img" aria-label="{label}">'
        )
        return (
            "\n".join(
                [
                    head,
                    f'<rect width="{self.width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
                    *self.parts,
                    "</svg>",
                ]
            )
            + "\n"
        )

    def _loop(self) -> None:
        """Draw a bracket beside the steps that repeat for ever, with an arrow back to the first of them."""
        loop = self.diagram.loop
        if loop is None:
            return
        top = self.ys[loop + 1] - 15 if loop < self.diagram.rows else self.bottom - 12
        self.parts.append(
            f'<path d="M 18 {top:.1f} H 8 V {self.bottom - 4:.1f} H 18" fill="none" stroke="{BAD}" '
            'stroke-width="1.5"/>'
        )
        self._head(8, top, 22, top, BAD)

    # Places -------------------------------------------------------------------------------------------------

    def x(self, lane: int) -> float:
        """Return the horizontal position of a lane."""
        return GUTTER + 24 + lane * self.spacing

    def _rows(self) -> list[float]:
        """Return the heights of the rows; each row has room for its labels."""
        ys: list[float] = [self.top]
        for row in range(1, self.diagram.rows + 1):
            above = self.texts[row - 1] if row > 1 else []
            drop = self.drops.get(row - 1, 0)
            ys.append(ys[-1] + max(42, 20 + drop + LINE * len(above)))
        return ys

    @staticmethod
    def _comes_from_right(arrow: Arrow) -> bool:
        """Return True if an arrow comes to its lane from the right, where the label of the reception begins.
        The label is drawn lower then.
        """
        return (
            arrow.fate is Fate.RECEIVED
            and None not in (arrow.source, arrow.target)
            and (arrow.source or 0) > (arrow.target or 0)
        )

    def _lines(self, event: Event) -> list[tuple[str, str]]:
        """Return the label of an event in lines, each with its style: the step, its details, the events of
        the service, the broken property.
        """
        name, _, details = event.label.partition(" ")
        lines = [(name, "name")] if event.lane is not None else []
        if event.lane is not None:
            lines += [(line, "detail") for line in textwrap.wrap(details, 38)]
            lines += [(line, "detail") for change in event.changes for line in textwrap.wrap(change, 38)]
        lines += [(f"» {emitted}", "emit") for emitted in event.emits]
        if event.broken:
            lines += [
                (f"✗ {line}" if not number else line, "bad")
                for number, line in enumerate(textwrap.wrap(event.broken, 36))
            ]
        return lines

    # Layers -------------------------------------------------------------------------------------------------

    def _bands(self) -> None:
        """Draw a band behind each second step, a red band behind a step that breaks a property, and the
        numbers of the steps.
        """
        broken = {event.row for event in self.diagram.events if event.broken}
        for row in range(1, self.diagram.rows + 1):
            top = self.ys[row] - 17
            end = self.ys[row + 1] - 17 if row < self.diagram.rows else self.bottom
            fill = "#fff0f0" if row in broken else "#f7f9fb" if row % 2 else ""
            if fill:
                self.parts.append(
                    f'<rect x="0" y="{top:.1f}" width="{self.width:.0f}" height="{end - top:.1f}" '
                    f'fill="{fill}"/>'
                )
            colour = BAD if row in broken else "#718096"
            place = f'x="{GUTTER - 16}" y="{self.ys[row] + 4:.1f}" text-anchor="end"'
            number = row + self.diagram.skipped
            self.parts.append(f'<text {place} font-family="{MONO}" fill="{colour}">{number}</text>')

    def _lanes(self) -> None:
        top = self.top - 20
        for lane, name in enumerate(self.diagram.lanes):
            x = self.x(lane)
            for begin, end in self.diagram.lifelines(lane):
                y1 = self.ys[begin] if begin else top
                y2 = self.bottom if end is None else self.ys[end] + 12
                self.parts.append(
                    f'<line x1="{x:.1f}" y1="{y1:.1f}" x2="{x:.1f}" y2="{y2:.1f}" stroke="#4a5568" '
                    'stroke-width="1.5"/>'
                )
                if end is not None:
                    self.parts.append(
                        f'<line x1="{x - 8:.1f}" y1="{y2:.1f}" x2="{x + 8:.1f}" y2="{y2:.1f}" '
                        f'stroke="{BAD}" stroke-width="2"/>'
                    )
            wide = max(34.0, len(name) * 8.5 + 16)
            self.parts.append(
                f'<rect x="{x - wide / 2:.1f}" y="{top - 24:.1f}" width="{wide:.1f}" height="24" rx="5" '
                f'fill="{INK}"/>'
                f'<text x="{x:.1f}" y="{top - 7.5:.1f}" text-anchor="middle" font-size="13" '
                f'font-weight="bold" fill="#fff">{escape(name)}</text>'
            )

    def _arrow(self, arrow: Arrow) -> None:
        colour = self.colours[arrow.kind]
        begin = self.ys[arrow.begin]
        target = self.x(arrow.target) if arrow.target is not None else None
        source = self.x(arrow.source) if arrow.source is not None else (target or self.x(0)) - 44
        number = arrow.begin + self.diagram.skipped
        sent = "sent earlier" if self.diagram.skipped and arrow.begin <= 1 else f"sent at step {number}"
        title = f"<title>{escape(f'{arrow.label}, {sent}, {arrow.fate.value}')}</title>"
        dash = ' stroke-dasharray="6 4"' if arrow.again else ""
        style = f'fill="none" stroke="{colour}" stroke-width="1.6"{dash}'
        if arrow.fate is Fate.FLYING:
            self._stub(arrow, source, target, begin, title)
        elif arrow.fate is Fate.LOST:
            self._lost(arrow, source, target, begin, style, title)
        elif target is not None and arrow.end is not None:
            end = self.ys[arrow.end]
            if target == source:
                bow = (
                    f"C{source - 42:.1f},{begin + 12:.1f} {source - 42:.1f},{end - 12:.1f} "
                    f"{source - 6:.1f},{end:.1f}"
                )
                self.parts.append(f'<path d="M{source:.1f},{begin:.1f} {bow}" {style}>{title}</path>')
                self._head(source - 30, end - 6, source - 5, end, colour)
                self._mark(arrow, source - 32.3, (begin + end) / 2)
            else:
                x, y = _short_of(source, begin, target, end, 6)
                self.parts.append(
                    f'<line x1="{source:.1f}" y1="{begin:.1f}" x2="{x:.1f}" y2="{y:.1f}" '
                    f"{style}>{title}</line>"
                )
                self._head(source, begin, x, y, colour)
                self._mark(arrow, *_along(source, begin, x, y))

    def _stub(self, arrow: Arrow, source: float, target: float | None, begin: float, title: str) -> None:
        """Draw a packet that is still in flight: a short line with an open end."""
        way = 0.0 if target is None else math.copysign(34, target - source) if target != source else -24
        sinks = 4 if way > 0 and arrow.begin in self.drops else 15  # past the label, which may stand lower
        x, y = source + way, begin + sinks
        self.parts.append(
            f'<line x1="{source:.1f}" y1="{begin:.1f}" x2="{x:.1f}" y2="{y:.1f}" '
            f'stroke="{self.colours[arrow.kind]}" stroke-width="1.3" '
            f'stroke-dasharray="2 3" opacity="0.75">{title}</line>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="#ffffff" stroke="{self.colours[arrow.kind]}" '
            'stroke-width="1.2" opacity="0.75"/>'
        )
        self._mark(arrow, source + 0.78 * way, begin + 0.78 * sinks)  # beside the label, before the end

    def _mark(self, arrow: Arrow, x: float, y: float) -> None:
        """Draw the mark of an arrow's kind, unless there is one kind alone."""
        if len(self.marks) > 1:
            mark = self.marks[arrow.kind].format(colour=self.colours[arrow.kind])
            self.above.append(f'<g transform="translate({x:.1f},{y:.1f})">{mark}</g>')

    def _lost(
        self, arrow: Arrow, source: float, target: float | None, begin: float, style: str, title: str
    ) -> None:
        """Draw a lost packet: a line that ends at a cross, at the height of the step that loses it."""
        end = self.ys[arrow.end] if arrow.end is not None else begin
        x = source - 30 if target in (None, source) else source + 0.62 * ((target or 0) - source)
        self.parts.append(
            f'<line x1="{source:.1f}" y1="{begin:.1f}" x2="{x:.1f}" y2="{end:.1f}" {style}>{title}</line>'
        )
        self.parts.append(
            f'<path d="M{x - 5:.1f},{end - 5:.1f} l10,10 m0,-10 l-10,10" stroke="{BAD}" stroke-width="2.6" '
            'stroke-linecap="round" fill="none"/>'
        )
        self._mark(arrow, *_along(source, begin, x, end))
        if target is not None:  # else it ends at the label of the step that loses it
            self._text(x + 11, end + 4, f"lost {arrow.label}", f'fill="{BAD}"')

    def _head(self, x1: float, y1: float, x2: float, y2: float, colour: str) -> None:
        """Draw the head of an arrow as a triangle, since viewers draw SVG markers differently."""
        angle = math.atan2(y2 - y1, x2 - x1)
        points = [(x2, y2)] + [
            (x2 - 9 * math.cos(angle + turn), y2 - 9 * math.sin(angle + turn)) for turn in (0.38, -0.38)
        ]
        self.parts.append(
            f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="{colour}"/>'
        )

    def _event(self, event: Event) -> None:
        if event.lane is None:
            self._left_out(event)
            return
        x, y = self.x(event.lane), self.ys[event.row]
        if event.row == 0:
            self.parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#ffffff" stroke="{INK}" stroke-width="1.5"/>'
            )
            return
        fill = BAD if event.broken else GOOD if event.emits else INK
        ring = (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="none" stroke="{BAD}" stroke-width="1.8"/>'
            if event.broken
            else ""
        )
        self.parts.append(
            f'{ring}<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{fill}" stroke="#ffffff" stroke-width="1"/>'
        )
        styles = {
            "name": 'font-weight="bold"',
            "detail": f'font-family="{MONO}" font-size="10.5" fill="#4a5568"',
            "emit": f'font-weight="bold" fill="{BAD if event.broken else GOOD}"',
            "bad": f'font-weight="bold" fill="{BAD}"',
        }
        for number, (text, style) in enumerate(self.texts[event.row]):
            self._text(x + 13, y + 4 + self.drops.get(event.row, 0) + LINE * number, text, styles[style])

    def _left_out(self, event: Event) -> None:
        """Draw an event that belongs to no lane and moves no message."""
        if all(arrow.end != event.row for arrow in self.diagram.arrows):
            self._text(GUTTER, self.ys[event.row] + 4, event.label, 'font-style="italic" fill="#4a5568"')

    def _text(self, x: float, y: float, text: str, style: str) -> None:
        halo = (
            'stroke="#ffffff" stroke-width="3.5" stroke-opacity="0.8" stroke-linejoin="round" '
            'paint-order="stroke"'
        )
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {halo} {style}>{escape(text)}</text>')

    def _heading(self) -> None:
        self.parts.append(
            f'<text x="{MARGIN}" y="{MARGIN + 10}" font-size="17" '
            f'font-weight="bold">{escape(self.name)}</text>'
        )
        for number, line in enumerate(self.instance):
            self.parts.append(
                f'<text x="{MARGIN}" y="{MARGIN + 30 + 18 * number}" font-size="12" '
                f'fill="#4a5568">{escape(line)}</text>'
            )

    def _foot(self) -> float:
        """Draw the legend and the sentence on what the trace shows. Return the height of the whole
        drawing.
        """
        x, y = float(MARGIN), self.bottom + 30
        for name, drawn in self._legend():
            wide = 34 + len(name) * LETTER + 22
            if x + wide > self.width - MARGIN / 2:
                x, y = float(MARGIN), y + 20
            self.parts.append(
                f'<g transform="translate({x:.1f},{y:.1f})">{drawn}<text x="33" '
                f'y="0">{escape(name)}</text></g>'
            )
            x += wide
        return self._verdict(y + 14)

    def _legend(self) -> list[tuple[str, str]]:
        """Return each sign that the drawing uses, with its meaning."""
        line = '<line x1="0" y1="-4" x2="26" y2="-4"'
        entries = []
        for kind, colour in self.colours.items():
            mark = f'<g transform="translate(13,-4)">{self.marks[kind].format(colour=colour)}</g>'
            drawn = f'{line} stroke="{colour}" stroke-width="2"/>'
            entries.append((kind, drawn + mark if len(self.marks) > 1 else drawn))
        if any(arrow.again for arrow in self.diagram.arrows):
            entries.append(
                ("sent again", f'{line} stroke="{INK}" stroke-width="1.6" stroke-dasharray="6 4"/>')
            )
        fates = {arrow.fate for arrow in self.diagram.arrows}
        if Fate.LOST in fates:
            cross = (
                f'<path d="M9,-9 l10,10 m0,-10 l-10,10" stroke="{BAD}" stroke-width="2.6" '
                'stroke-linecap="round" fill="none"/>'
            )
            entries.append(("lost", cross))
        if Fate.FLYING in fates:
            end = f'<circle cx="25" cy="-4" r="2.6" fill="#fff" stroke="{INK}"/>'
            entries.append(("still in flight", f'{line} stroke="{INK}" stroke-dasharray="2 3"/>{end}'))
        if any(event.crash for event in self.diagram.events):
            bar = f'<path d="M13,-12 V0 M5,0 H21" stroke="{BAD}" stroke-width="2" fill="none"/>'
            entries.append(("crashed", bar))
        if self.diagram.loop is not None:
            back = f'<path d="M26,2 H13 V-9 H18" stroke="{BAD}" stroke-width="1.5" fill="none"/>'
            head = f'<polygon points="26,-9 18,-12.5 18,-5.5" fill="{BAD}"/>'
            stays = self.diagram.loop == self.diagram.rows
            entries.append(("↻ nothing more happens" if stays else "↻ for ever", back + head))
        return entries

    def _verdict(self, y: float) -> float:
        diagram = self.diagram
        if not diagram.shows:
            return y + 12
        colour, sign = (GOOD, "✓ shows") if diagram.witness else (BAD, "✗")
        lines = textwrap.wrap(diagram.why, int((self.width - 2 * MARGIN - 28) / LETTER))
        height = 30 + 16 * len(lines)
        self.parts.append(
            f'<rect x="{MARGIN}" y="{y:.1f}" width="{self.width - 2 * MARGIN:.0f}" height="{height}" rx="6" '
            f'fill="#fff" stroke="{colour}"/>'
            f'<text x="{MARGIN + 14}" y="{y + 20:.1f}" font-size="13" font-weight="bold" '
            f'fill="{colour}">{sign} {escape(diagram.shows)}</text>'
        )
        for number, line in enumerate(lines):
            self.parts.append(
                f'<text x="{MARGIN + 14}" y="{y + 38 + 16 * number:.1f}" fill="#2d3748">{escape(line)}</text>'
            )
        return y + height + MARGIN


def _mark(number: int) -> str:
    """Return the mark of the kind with this number as SVG, in which `{colour}` stands for its colour."""
    hollow = number // len(MARKS) % 2 == 1
    fill = '#ffffff" stroke="{colour}" stroke-width="1.5' if hollow else '{colour}" stroke="#ffffff'
    return f'<path d="{MARKS[number % len(MARKS)]}" fill="{fill}"/>'


def _along(x1: float, y1: float, x2: float, y2: float) -> tuple[float, float]:
    """Return the point of an arrow at which its mark is drawn."""
    if x1 < x2:
        x1, y1, x2, y2 = x2, y2, x1, y1
    length = math.hypot(x2 - x1, y2 - y1)
    part = min(MARKED / length, 0.5) if length else 0.0
    return x1 + part * (x2 - x1), y1 + part * (y2 - y1)


def _short_of(x1: float, y1: float, x2: float, y2: float, distance: float) -> tuple[float, float]:
    """Return the point of a line that lies `distance` before its end."""
    length = math.hypot(x2 - x1, y2 - y1)
    return x2 - (x2 - x1) * distance / length, y2 - (y2 - y1) * distance / length
