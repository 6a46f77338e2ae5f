"""Golden files of the drawings; every picture is well-formed and fits its page."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import pytest

from antiphon.conformance.report import diagram, svg, text_diagram
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
