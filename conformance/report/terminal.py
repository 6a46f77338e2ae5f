"""Drawing of a space-time diagram in characters: time runs down, a lane a member; a message is drawn where it
arrives.

Every packet has a letter. The step that sends it lists it (`a▸p1` is packet a, on its way to p1), the step
that receives it shows it crossing the lanes. A lost packet ends in ✗; a listed packet that never arrives was
in flight at the end. `again` marks a resend.

The text is rich's, so that a terminal shows colours and a file plain characters.
"""

from __future__ import annotations

import itertools
import string
import textwrap
from collections.abc import Iterator

from rich.style import Style
from rich.text import Text

from antiphon.conformance.report.diagram import Arrow, Diagram, Event, Fate
from antiphon.conformance.report.window import windowed

GUTTER = 8
NARROWEST = 16
COLOURS = ("cyan", "magenta", "yellow", "blue", "green", "bright_cyan", "bright_magenta")
LANE = Style(color="bright_black")
BROKEN = Style(color="red", bold=True)


def text_diagram(diagram: Diagram, width: int = 100) -> Text:
    """Return the diagram in at most `width` columns, wider only if lanes would have less than 16."""
    return _Page(windowed(diagram), width).draw()


class _Page:
    """Text diagram under construction, as lines of characters."""

    def __init__(self, diagram: Diagram, width: int) -> None:
        self.diagram = diagram
        count = max(len(diagram.lanes), 1)
        self.lane_width = max(NARROWEST, (width - GUTTER) // count)
        self.width = GUTTER + self.lane_width * count
        self.lines: list[Text] = []
        self.row, self.ended = 0, False
        """The row under construction, and whether a member has crashed in it already."""
        packets = dict.fromkeys(map(_packet, diagram.arrows))
        self.letters = dict(zip(packets, _letters(), strict=False))
        self.colours = {kind: COLOURS[number % len(COLOURS)] for kind, number in diagram.kinds.items()}

    def draw(self) -> Text:
        """Return the lines of the diagram."""
        self.lines.append(Text(self.diagram.title, style="bold"))
        if self.diagram.begins:
            self._paragraph(f"begins with {self.diagram.begins}", Style(color="bright_black"))
        self.lines.append(self._heads())
        rows = {event.row: event for event in self.diagram.events if event.row > 0}
        self._sends(0)
        for row in range(1, self.diagram.rows + 1):
            if self.diagram.loop == row - 1:
                self._round("┌─", "↻ from here for ever")
            self.row, self.ended = row, False
            self._step(rows[row])
        self._back()
        self._foot()
        return Text("\n").join(self.lines)

    # Lines --------------------------------------------------------------------------------------------------

    def column(self, lane: int) -> int:
        """Return the column of the line of a lane."""
        return GUTTER + lane * self.lane_width

    def _blank(self) -> list[tuple[str, Style]]:
        cells = [(" ", Style())] * self.width
        for lane in range(len(self.diagram.lanes)):
            lives = self.diagram.lifelines(lane)
            if any(self._lives(begin, end) for begin, end in lives):
                cells[self.column(lane)] = ("│", LANE)
        return cells

    def _lives(self, begin: int, end: int | None) -> bool:
        """Return True if the row under construction is within a lifeline."""
        return begin <= self.row and (end is None or self.row < end or (self.row == end and not self.ended))

    def _write(self, cells: list[tuple[str, Style]], at: int, text: str, style: Style) -> None:
        for offset, letter in enumerate(text):
            if at + offset < len(cells):
                cells[at + offset] = (letter, style)

    def _add(self, cells: list[tuple[str, Style]]) -> None:
        while cells and cells[-1][0] == " ":
            cells.pop()
        self.lines.append(Text.assemble(*((letter, style) for letter, style in cells)))

    def _heads(self) -> Text:
        cells = [(" ", Style())] * self.width
        for lane, name in enumerate(self.diagram.lanes):
            self._write(cells, self.column(lane), name[: self.lane_width - 1], Style(bold=True))
        return Text("".join(letter for letter, _ in cells).rstrip(), style="bold")

    def _step(self, event: Event) -> None:
        arriving = [arrow for arrow in self.diagram.arrows if arrow.end == event.row]
        received = [arrow for arrow in arriving if arrow.fate is Fate.RECEIVED]
        for arrow in arriving:
            self._arrival(arrow, event, first=arrow is arriving[0], dotted=arrow in received[-1:])
        mark = "✗" if event.broken else "●"
        style = BROKEN if event.broken else Style(bold=True)
        cells = self._blank()
        lane = event.lane if event.lane is not None else None
        self.ended = event.crash
        if not arriving or lane is not None:
            number = f"{event.row + self.diagram.skipped:>4}"
            self._write(cells, 0, number if not arriving else "    ", Style(color="bright_black"))
        if lane is None:
            if not arriving:
                self._write(cells, GUTTER + 2, event.label, style)
                self._add(cells)
            return
        if not received:
            self._write(cells, self.column(lane), mark, style)
        self._labels(cells, lane, event, style)
        self._sends(event.row)
        if event.broken:
            self._note(lane, f"✗ {event.broken}", BROKEN)

    def _labels(self, cells: list[tuple[str, Style]], lane: int, event: Event, style: Style) -> None:
        """Write the label of an event beside its lane, in as many lines as it needs, then the events of the
        service.
        """
        lines = textwrap.wrap(event.label, self._room(lane), subsequent_indent="  ", break_long_words=True)
        for number, line in enumerate(lines):
            if number:
                cells = self._blank()
            self._write(cells, self.column(lane) + 2, line, style if number == 0 else Style())
            self._add(cells)
        for change in event.changes:
            self._note(lane, change, Style(color="bright_black"))
        for emitted in event.emits:
            self._note(lane, f"» {emitted}", BROKEN if event.broken else Style(color="green", bold=True))

    def _room(self, lane: int) -> int:
        """Return the number of columns for text beside a lane; beside the last lane it is the rest of the
        page.
        """
        return (
            self.lane_width - 3
            if lane < len(self.diagram.lanes) - 1
            else max(self.width - self.column(lane) - 2, NARROWEST)
        )

    def _note(self, lane: int, text: str, style: Style) -> None:
        for line in textwrap.wrap(text, self._room(lane), subsequent_indent="  ", break_long_words=True):
            cells = self._blank()
            self._write(cells, self.column(lane) + 2, line, style)
            self._add(cells)

    def _sends(self, row: int) -> None:
        """Draw the packets that a step puts in flight: `a▸p1`."""
        for source in (*range(len(self.diagram.lanes)), None):
            sent = [arrow for arrow in self.diagram.arrows if arrow.begin == row and arrow.source == source]
            for label, group in itertools.groupby(
                sorted(sent, key=lambda arrow: arrow.label), key=lambda arrow: arrow.label
            ):
                self._sent(source, label, list(group))

    def _sent(self, source: int | None, label: str, arrows: list[Arrow]) -> None:
        unique = {self.letters[_packet(arrow)]: arrow for arrow in arrows}
        ways = " ".join(
            letter + (f"▸{self.diagram.lanes[arrow.target]}" if arrow.target is not None else "")
            for letter, arrow in unique.items()
        )
        again = " again" if any(arrow.again for arrow in arrows) else ""
        text = f"{label}{again} {ways}"
        style = Style(color=self.colours[arrows[0].kind])
        if source is None:
            cells = self._blank()
            self._write(cells, 0, "    ", Style())
            self._write(cells, GUTTER + 2, f"from the start: {text}", style)
            self._add(cells)
        else:
            self._note(source, f"▹ {text}", style)

    def _arrival(self, arrow: Arrow, event: Event, *, first: bool, dotted: bool) -> None:
        """Write the line on which a packet crosses the lanes. The first line of a step has the step's number;
        the line of its last arrival has the dot.
        """
        cells = self._blank()
        if first:
            self._write(cells, 0, f"{event.row + self.diagram.skipped:>4}", Style(color="bright_black"))
        style = Style(color=self.colours[arrow.kind])
        letter = self.letters[_packet(arrow)]
        lost = arrow.fate is Fate.LOST
        here = (
            self.column(arrow.target)
            if arrow.target is not None
            else self.column(len(self.diagram.lanes) - 1)
        )
        there = self.column(arrow.source) if arrow.source is not None else here - 2
        dot = ("✗", BROKEN) if event.broken else ("●", Style(bold=True))
        if here == there:
            self._write(cells, here + 1, f"◀─ {letter} ─╯", style)
        else:
            low, high = min(here, there), max(here, there)
            for at in range(low + 1, high):
                cells[at] = ("┼" if cells[at][0] == "│" else "─", style)
            if arrow.source is None:
                self._write(cells, here - 1 - len(letter), letter, style)
            else:
                cells[there] = ("├" if there < here else "┤", style)
                self._write(cells, (low + high) // 2 - 1, f" {letter} ", style)
            self._write(cells, here - 1 if there < here else here + 1, "▶" if there < here else "◀", style)
        if lost:
            self._cut(cells, here, there)
        elif dotted:
            cells[here] = dot
        self._add(cells)

    def _cut(self, cells: list[tuple[str, Style]], here: int, there: int) -> None:
        """Shorten the line of a lost packet, so that it ends before the receiver's lane with a cross and the
        word `lost`.
        """
        lane = self._blank()
        sign = -1 if there < here else 1
        for distance in range(1, 8):
            at = here + sign * distance
            if 0 <= at < len(cells) and at != there:
                cells[at] = lane[at]
        cross = here + sign * 7
        text = "✗ lost" if sign < 0 else "lost ✗"
        self._write(cells, cross if sign < 0 else cross - 5, text, BROKEN)
        cells[here] = lane[here]

    def _back(self) -> None:
        """Draw the arrow from the end of a lasso back to the state in which it goes on."""
        loop = self.diagram.loop
        if loop is not None and loop < self.diagram.rows:
            self._round("└─", f"↻ on with step {loop + 1 + self.diagram.skipped}")
        elif loop is not None:
            self._round("", "↻ nothing more happens")

    def _round(self, corner: str, text: str) -> None:
        cells = self._blank()
        self._write(cells, 2, corner, BROKEN)
        self._write(cells, GUTTER + 2, text, BROKEN)
        self._add(cells)

    def _foot(self) -> None:
        diagram = self.diagram
        flying = sorted({arrow.label for arrow in diagram.arrows if arrow.fate is Fate.FLYING})
        if flying:
            self._paragraph(f"in flight at the end: {', '.join(flying)}", Style(color="bright_black"))
        if diagram.shows:
            sign, style = ("✓", Style(color="green", bold=True)) if diagram.witness else ("✗", BROKEN)
            self._paragraph(f"{sign} {diagram.shows}{': ' + diagram.why if diagram.why else ''}", style)

    def _paragraph(self, text: str, style: Style) -> None:
        for line in textwrap.wrap(text, self.width, subsequent_indent="  "):
            self.lines.append(Text(line, style=style))


def _packet(arrow: Arrow) -> tuple[object, ...]:
    """Return the key that identifies a packet across its receptions."""
    return arrow.label, arrow.source, arrow.begin, arrow.target


def _letters() -> Iterator[str]:
    """Yield names of packets: a, b, ..., z, aa, ab, and so on."""
    for length in itertools.count(1):
        for letters in itertools.product(string.ascii_lowercase, repeat=length):
            yield "".join(letters)
