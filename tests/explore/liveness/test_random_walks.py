"""Small random specifications, whose graphs an oracle takes apart: temporal formulas, promises about several
actions and parts of them, and step invariants.

The graph is what CPython does; the oracle tries every set of its states as the ones that a run visits for
ever.
"""

from __future__ import annotations

import random

import networkx
import pytest
from tests.explore.liveness.oracle import expected
from tests.lang.random_specs import load

from antiphon.model.explore import check, liveness
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Program, program

PLACES = 4
SEEDS = range(24)
FORMS = ("always", "eventually", "always_eventually", "eventually_always")
HEAD = f"""
from __future__ import annotations
from typing import Annotated, Self
from antiphon.spec.lang import *

Place = Annotated[int, Between(0, {PLACES - 1})]
Choice = Annotated[int, Between(0, 1)]


class Walk(Spec):
    at: Place = 0
    up: bool = False

    @initial
    def start(self, k: Choice) -> None:
        self.at = k

    @environment
    def turn(self) -> None:
        require(self.at == 0)
        self.up = not self.up
"""


class Maker:
    """Writer of one random specification."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def places(self) -> str:
        """A condition on the place."""
        some = self.rng.sample(range(PLACES), self.rng.randint(1, 3))
        return " or ".join([f"self.at == {place}" for place in some] + ["self.up"] * self.rng.randint(0, 1))

    def action(self, name: str) -> list[str]:
        """From some places to others, by choice."""
        mark = self.rng.choice(("", '(fairness="weak")', '(fairness="weak", per="k")', '(fairness="strong")'))
        factor, more = self.rng.randint(0, 3), self.rng.randint(0, PLACES - 1)
        return [
            f"    @action{mark}",
            f"    def {name}(self, k: Choice) -> None:",
            f"        require({self.places()})",
            f"        self.at = (self.at * {factor} + {more} + k) % {PLACES}",
            "",
        ]

    def predicate(self, name: str) -> list[str]:
        """Text of a predicate about a place and a choice."""
        test = self.rng.choice(("", " and self.at != k", " or self.at == 2 + k"))
        return [f"    def {name}(self, k: Choice) -> bool:", f"        return ({self.places()}){test}", ""]

    def large(self, name: str) -> list[str]:
        """Text of a predicate that is true at all places but one."""
        return [
            f"    def {name}(self) -> bool:",
            f"        return self.at != {self.rng.randrange(PLACES)}",
            "",
        ]

    def formula(self, *names: str) -> str:
        """Text of a random formula about these predicates."""
        one, other = self.rng.choice(names), self.rng.choice(names)
        return self.rng.choice((*(f'{form}("{one}")' for form in FORMS), f'leads_to("{one}", "{other}")'))

    def text(self) -> str:
        """The whole specification."""
        lines = [line for name in "abc" for line in self.action(name)]
        lines += [line for name in "pq" for line in self.predicate(name)]
        lines += self.large("r")
        where = self.rng.choice(("", ', where="p"'))
        per = self.rng.choice(("", ', per="k"'))
        lines += [f'    some = fair("a", "b", fairness="{self.rng.choice(("weak", "strong"))}"{where}{per})']
        lines += ['    once = eventually("p")', '    again = always_eventually("q")']
        lines += ['    stays = eventually_always("r")', '    answered = leads_to("p", "q")']
        for number in range(3):
            assumed = self.rng.choice(('"p"', self.formula("p", "q")))
            lines.append(f"    given_{number} = implies({assumed}, {self.formula('q', 'r')})")
        lines.append(f'    both = implies("q", implies({self.formula("p")}, {self.formula("r")}))')
        compared, shift = self.rng.choice((">=", "<=", "!=")), self.rng.randint(-2, 2)
        lines += ["", "    @step_invariant", "    def moves(self, before: Self) -> bool:"]
        lines.append(f"        return self.at {compared} before.at + {shift}")
        return "\n".join([HEAD, *lines, ""])


def graph_of_steps(bound: Program) -> networkx.DiGraph:
    """The states that CPython reaches, each edge a change of state."""
    made = networkx.DiGraph()
    todo = list(bound.reference.initial())
    made.add_nodes_from(todo)
    for state in todo:
        for transition in bound.reference.successors(state):
            if transition.state not in made:
                todo.append(transition.state)
            if transition.state != state:
                made.add_edge(state, transition.state)
    return made


def steps_to_a_breach(bound: Program, text: str) -> int | None:
    """Number of steps of a shortest run that breaks the step invariant, by its text; None if no run does."""
    graph = graph_of_steps(bound)
    starts = set(bound.reference.initial())
    far = networkx.multi_source_dijkstra_path_length(graph, starts)
    said = text.rsplit("return ", 1)[1].replace("self.at", "after").replace("before.at", "before")
    broken = [
        far[one] + 1
        for one, other in graph.edges
        if one[0] != other[0] and not eval(said, {"after": other[0], "before": one[0]})
    ]
    return min(broken, default=None)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("seed", SEEDS)
def test_verdicts_of_random_specifications_are_those_of_the_oracle(seed: int) -> None:
    text = Maker(seed).text()
    bound = program(load(text, "Walk", f"<random walk {seed}>"))
    questions = liveness.declared(bound)
    fairness = liveness.fair_on(bound)
    engine = ("generated", "reference")[seed % 2]
    for verdict in liveness.judge(bound, questions.values(), engine=engine).verdicts:
        stem = expected(bound, questions[verdict.property], fairness)
        assert (verdict.outcome is Outcome.VIOLATED) is (stem is not None), verdict.property
        assert verdict.trace is None or verdict.trace.loop == stem
    moves = check(bound, properties=["moves"], engine=("generated", "native", "reference")[seed % 3])["moves"]
    shortest = steps_to_a_breach(bound, text)
    assert (moves.outcome is Outcome.VIOLATED) is (shortest is not None)
    assert len(moves.trace or ()) == (shortest or 0)


def test_the_random_specifications_break_and_keep_everything() -> None:
    """The comparison would prove little if all were alike."""
    seen = set()
    for seed in SEEDS:
        bound = program(load(Maker(seed).text(), "Walk", f"<random walk {seed}>"))
        report = check(bound)
        seen |= {(verdict.property, verdict.outcome) for verdict in report.verdicts}
    names = ["once", "again", "answered", "given_0", "given_1", "given_2", "both", "moves"]
    assert {(name, outcome) for name in names for outcome in (Outcome.HOLDS, Outcome.VIOLATED)} <= seen
