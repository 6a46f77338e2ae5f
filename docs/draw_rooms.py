"""Draws `docs/pictures/rooms.svg`: the rooms of the house, what stands in each, and who imports whom.

Run as `python docs/draw_rooms.py`; `--check` says instead whether the picture is that of today's imports.
What stands higher imports what stands lower: an arrow inside a room is an import that no chain of other
arrows implies, and an arrow between rooms stands for all imports of one by the other. Imports for type
checkers alone are left out; those inside functions count.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "pictures" / "rooms.svg"
ROOMS = {"conformance": 0, "model": 1, "impl": 1, "spec": 2}
"""The floor on which each room stands, from the top."""

CHARACTER, PAD, HEIGHT, GAP, ROW, MARGIN, HEAD, BETWEEN = 7.3, 9, 24, 14, 58, 22, 34, 64
MOST = {"conformance": 1040, "model": 640, "impl": 300, "spec": 1040}
"""Largest width of the rows of a room."""


@dataclass(frozen=True)
class Box:
    """A rectangle with a text: a part of a room, or a room."""

    x: float
    y: float
    width: float
    height: float
    text: str


def part_of(module: str) -> tuple[str, str]:
    """The room of a module (`antiphon.model.native.kernel`) and the part of the room, a package or a module:
    (model, native).
    """
    words = module.split(".")[1:]
    return (
        (words[0], words[1] if len(words) > 1 else "")
        if words and words[0] in ROOMS
        else ("conformance", "api")
    )


def imports(path: Path, module: str) -> Iterator[str]:
    """The modules of the house that a file imports."""
    pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("antiphon."))
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield ".".join([*module.split(".")[: -node.level], *([node.module] if node.module else [])])
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("antiphon."):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        for field in ("body", "orelse", "handlers", "finalbody", "cases"):
            pending += getattr(node, field, ())


def graph() -> nx.DiGraph[tuple[str, str]]:
    """Parts of rooms and who imports whom."""
    found: nx.DiGraph[tuple[str, str]] = nx.DiGraph()
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            words = list(path.relative_to(ROOT).with_suffix("").parts)
            module = ".".join(["antiphon", *(words[:-1] if words[-1] == "__init__" else words)])
            here = part_of(module)
            if not here[1]:
                continue
            found.add_node(here)
            known = (part_of(name) for name in imports(path, module))
            found.add_edges_from(
                (here, there) for there in known if there[1] and there != here and is_part(*there)
            )
    return found


def is_part(room: str, name: str) -> bool:
    """Return True if this is a package or a module of the room, and not a name that the room itself gives."""
    return (ROOT / room / name).is_dir() or (ROOT / room / f"{name}.py").is_file()


def inside_of(parts: nx.DiGraph[tuple[str, str]], room: str) -> nx.DiGraph[int]:
    """The parts of a room, those that import each other as one node, numbered the same in every run."""
    own: nx.DiGraph[tuple[str, str]] = nx.DiGraph()
    own.add_nodes_from(sorted(part for part in parts if part[0] == room))
    own.add_edges_from(sorted((one, other) for one, other in parts.edges if one[0] == other[0] == room))
    return nx.condensation(own)


def rows(parts: nx.DiGraph[tuple[str, str]], room: str) -> list[list[str]]:
    """The parts of a room, row by row from the top: each above what it imports. Parts that import each other
    share a box.
    """
    inside = inside_of(parts, room)
    level: dict[int, int] = {}
    for number in reversed(list(nx.topological_sort(inside))):
        level[number] = max((level[other] + 1 for other in inside.successors(number)), default=0)
    made: list[list[str]] = []
    for depth in range(max(level.values()), -1, -1):
        row: list[str] = []
        for name in sorted(_name(inside, number) for number in level if level[number] == depth):
            if row and sum(map(_width, row)) + len(row) * GAP + _width(name) > MOST[room]:
                made.append(row)
                row = []
            row.append(name)
        made.append(row)
    return made


def _name(inside: nx.DiGraph[int], number: int) -> str:
    return " + ".join(sorted(part for _, part in inside.nodes[number]["members"]))


def _width(name: str) -> float:
    return len(name) * CHARACTER + 2 * PAD


def place(parts: nx.DiGraph[tuple[str, str]]) -> tuple[dict[str, Box], dict[tuple[str, str], Box]]:
    """Place rooms and their parts."""
    laid = {room: rows(parts, room) for room in ROOMS}
    sizes = {
        room: (
            max(sum(map(_width, row)) + (len(row) - 1) * GAP for row in found) + 2 * MARGIN,
            HEAD + ROW * len(found),
        )
        for room, found in laid.items()
    }
    floors = [[room for room in ROOMS if ROOMS[room] == floor] for floor in range(3)]
    whole = max(sum(sizes[room][0] for room in floor) + BETWEEN * (len(floor) - 1) for floor in floors)
    rooms: dict[str, Box] = {}
    boxes: dict[tuple[str, str], Box] = {}
    top = float(MARGIN)
    for floor in floors:
        left = float(MARGIN)
        for room in floor:
            width, height = sizes[room] if len(floor) > 1 else (whole, sizes[room][1])
            rooms[room] = Box(left, top, width, height, room)
            for number, row in enumerate(laid[room]):
                x = left + (width - sum(map(_width, row)) - (len(row) - 1) * GAP) / 2
                for name in row:
                    box = Box(x, top + HEAD + number * ROW, _width(name), HEIGHT, name)
                    boxes |= {(room, part): box for part in name.split(" + ")}
                    x += box.width + GAP
            left += width + BETWEEN
        top += max(sizes[room][1] for room in floor) + BETWEEN
    return rooms, boxes


def picture() -> str:
    """The picture as SVG."""
    parts = graph()
    rooms, boxes = place(parts)
    width = max(box.x + box.width for box in rooms.values()) + MARGIN
    height = max(box.y + box.height for box in rooms.values()) + MARGIN
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" '
            'font-family="DejaVu Sans Mono, monospace" font-size="12">'
        ),
        "<title>The rooms of the house, and who imports whom</title>",
        (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto">'
            '<path d="M0,0 L8,4 L0,8 z" fill="context-stroke"/></marker></defs>'
        ),
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
    ]
    past = rooms["impl"].x - BETWEEN / 2
    lines += [_between(rooms[one], rooms[other], past) for one, other in _room_arrows(parts)]
    for one_room in rooms.values():
        lines.append(_rectangle(one_room, fill="#f4f6f8", stroke="#8899aa"))
        lines.append(
            f'<text x="{one_room.x + 12:.0f}" y="{one_room.y + 21:.0f}" font-size="14" '
            f'font-weight="bold">{one_room.text}</text>'
        )
    for room in ROOMS:
        inside = inside_of(parts, room)
        for one, other in sorted(nx.transitive_reduction(inside).edges):
            upper, lower = (boxes[min(inside.nodes[number]["members"])] for number in (one, other))
            lines.append(
                f'<line x1="{upper.x + upper.width / 2:.0f}" y1="{upper.y + HEIGHT:.0f}" '
                f'x2="{lower.x + lower.width / 2:.0f}" '
                f'y2="{lower.y:.0f}" stroke="#5577aa" stroke-width="1" marker-end="url(#tip)"/>'
            )
    for box in dict.fromkeys(boxes.values()):
        lines.append(_rectangle(box, fill="white", stroke="#5577aa"))
        middle = box.x + box.width / 2
        lines.append(
            f'<text x="{middle:.0f}" y="{box.y + 16:.0f}" text-anchor="middle">{escape(box.text)}</text>'
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


def _room_arrows(parts: nx.DiGraph[tuple[str, str]]) -> list[tuple[str, str]]:
    return sorted({(one[0], other[0]) for one, other in parts.edges if one[0] != other[0]})


def _rectangle(box: Box, *, fill: str, stroke: str) -> str:
    return (
        f'<rect x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{box.height:.0f}" rx="6" '
        f'fill="{fill}" '
        f'stroke="{stroke}"/>'
    )


def _between(one: Box, other: Box, past: float) -> str:
    """An arrow from the bottom of a room to the top of another, below it; past the rooms between them, where
    there are some.
    """
    narrow = min((one, other), key=lambda room: room.width)
    x = narrow.x + narrow.width / 2 if ROOMS[other.text] == ROOMS[one.text] + 1 else past
    return (
        f'<line x1="{x:.0f}" y1="{one.y + one.height:.0f}" x2="{x:.0f}" y2="{other.y:.0f}" stroke="#334455" '
        'stroke-width="3" '
        'marker-end="url(#tip)"/>'
    )


def main(arguments: list[str]) -> int:
    """Writes the picture, or with `--check` compares it: 0 when it is today's."""
    made = picture()
    if arguments == ["--check"]:
        is_same = PICTURE.is_file() and PICTURE.read_text(encoding="utf-8") == made
        print(
            "the picture is today's" if is_same else "the picture is out of date: python docs/draw_rooms.py"
        )
        return 0 if is_same else 1
    PICTURE.write_text(made, encoding="utf-8")
    print(PICTURE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
