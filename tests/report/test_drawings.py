"""Golden files of the drawings; every picture is well-formed and fits its page."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace

import pytest

from antiphon.conformance.report import diagram, svg, text_diagram
from antiphon.conformance.report.svg import MARKS, PALETTE
from antiphon.model.changes import described, trace_changes
from antiphon.model.trace import Trace

Golden = Callable[[str, str], None]


def test_the_terminal_shows_losses_resends_and_what_breaks(broken: Trace, golden: Golden) -> None:
    golden("broken.txt", text_diagram(diagram(broken), 110).plain + "\n")


def test_the_picture_shows_losses_resends_and_what_breaks(broken: Trace, golden: Golden) -> None:
    golden("broken.svg", svg(diagram(broken)))


def test_a_witness_is_shown_as_reached(reached: Trace, golden: Golden) -> None:
    golden("reached.txt", text_diagram(diagram(reached), 100).plain + "\n")


def test_steps_of_nobody_are_drawn_on_one_lane(plain: Trace, golden: Golden) -> None:
    golden("plain.txt", text_diagram(diagram(plain), 100).plain + "\n")


def test_several_arrivals_are_one_step_with_one_number(ballot: Callable[..., Trace], golden: Golden) -> None:
    trace = ballot(("vote", 0), ("vote", 2), ("decide", 1))
    golden("ballot.txt", text_diagram(diagram(trace), 100).plain + "\n")
    golden("ballot.svg", svg(diagram(trace)))


@pytest.mark.parametrize("width", [80, 100, 140])
def test_no_line_is_wider_than_asked(broken: Trace, width: int) -> None:
    assert all(len(line) <= width for line in text_diagram(diagram(broken), width).plain.splitlines())


def test_every_text_of_the_picture_lies_within_it(broken: Trace) -> None:
    root = ElementTree.fromstring(svg(diagram(broken)))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    texts = [node for node in root.iter("{http://www.w3.org/2000/svg}text") if "x" in node.attrib]
    assert len(texts) > 15
    assert all(
        0 <= float(node.attrib["x"]) < width and 0 <= float(node.attrib["y"]) < height for node in texts
    )


def test_names_are_escaped_in_the_picture(reached: Trace) -> None:
    trace = Trace(reached.program, reached.start, reached.transitions, "<Busy & more>", 'a < b & "c"')
    shown = "".join(ElementTree.fromstring(svg(diagram(trace))).itertext())
    assert "<Busy & more>" in shown


def test_only_what_a_step_changed_is_shown(broken: Trace) -> None:
    changed = [[str(change) for change in step] for step in trace_changes(broken)]
    assert changed[0] == ["written: 0 -> 1", "network: + Letter(p1, 1), + Letter(p2, 1)"]
    assert changed[1] == ["network: + Receipt(p0, p1), - Letter(p1, 1)", "seen[p1]: + Letter(p1, 1)"]
    assert ("seen[p2]", "{}") in described(broken.program, broken.start)


def test_kinds_are_told_apart_without_colour_in_the_picture_and_in_its_legend(broken: Trace) -> None:
    drawn = diagram(broken)
    assert drawn.kinds == {"Letter": 0, "Receipt": 1}
    outlines = re.findall(r'<g transform="translate[^>]*><path d="([^"]*z)"', svg(drawn))
    legend = re.findall(r'translate\(13,-4\)"><path d="([^"]*)".*?<text [^>]*>([^<]*)<', svg(drawn))
    assert [(name, outline) for outline, name in legend] == [("Letter", MARKS[0]), ("Receipt", MARKS[1])]
    assert {outline: outlines.count(outline) for outline in MARKS[:2]} == {
        outline: 1 + sum(arrow.kind == kind for arrow in drawn.arrows)
        for kind, outline in zip(drawn.kinds, MARKS, strict=False)
    }


def test_a_kind_looks_the_same_in_each_part_of_a_run_and_one_alone_has_no_mark(broken: Trace) -> None:
    drawn = diagram(broken)
    receipts = tuple(arrow for arrow in drawn.arrows if arrow.kind == "Receipt")
    part = replace(drawn, arrows=receipts)
    assert part.kinds == {"Receipt": 1}
    assert f'stroke="{PALETTE[1]}"' in svg(part)
    assert not any(outline in svg(part) for outline in MARKS)
    many = replace(
        drawn, arrows=tuple(replace(drawn.arrows[0], kind=f"Kind{number}") for number in range(9))
    )
    marks = re.findall(r'translate\(13,-4\)"><path d="([^"]*)" fill="(#\w+)', svg(many))
    assert len(marks) == len({(outline, fill == "#ffffff") for outline, fill in marks}) == 9
