"""Promela model of a specification, which SPIN checks unchanged: one process, one loop, an atomic option for
each step.

1. Steps are those of the ground form for given arguments, each a `d_step`: its guard, then its updates.
   Between two steps the process is always at the same place, so that SPIN stores exactly one state for each
     of ours. With several initial states there is one more, in which the first of them is chosen;
     `Model.extra`
   says so.
2. The variables of the model are the state, packed into as few bits as possible, and nothing else: scratch
   variables are `hidden`. Slots that never change are left out, and sets keep only elements that may ever be
   in them (`possible`). SPIN leaves variables that are only written out of its states, so that an option that
   is never possible reads them all.
3. An invariant is an option of its own, possible only where it is false; a property of a step (`expect`) and
   a bug of the specification (a value that leaves its domain) are assertions. Each has the number of its
   property, and `pan -c0` goes on after one, so that one run judges all of them.

SPIN's word for "nothing can happen" is an invalid end state; the loop is an end state here, since many
protocols end. Obligations, witnesses and fairness are not exported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from antiphon.model.export.estimate import Estimate, escapes, narrowed
from antiphon.model.export.possible import possible
from antiphon.model.export.promela_text import Field, Fields, Numbering, Writer
from antiphon.model.export.stated import stated
from antiphon.model.ground import ground_initial, ground_predicate, layout, make
from antiphon.model.ground.form import Bits, Check, Expression, GroundStep, Operator
from antiphon.model.ground.walk import fold, parts
from antiphon.spec.lang import Program, SpecError, Step

LARGEST_CONDITION = 1_500
"""Number of nodes from which a condition is computed in scratch variables, piece by piece, within its option.
If the condition is false, the option then leads back to its beginning and changes nothing.
"""

SPECIFICATION = "specification"
OUTSIDE = "outside"


@dataclass(frozen=True)
class Model:
    """Promela model, and how it corresponds to the program.

    Attributes:
        text: the model.
        extra: how many states SPIN stores that are none of ours: 1 with several initial states, else 0.
        properties: the invariants and step properties that it asserts, by their numbers there: `assertion
            violated (2==0)` breaks number 2.
        bits: how many bits of state it has.
        steps: how many options a state is tried with.
        idle: how many options are possible in every state and are no steps; each adds a transition a state to
            SPIN's count.
        counts_steps: whether SPIN's other transitions are the steps of the specification; else large guards
            add some that change nothing.
    """

    text: str
    extra: int
    properties: dict[int, str]
    bits: int
    steps: int
    idle: int = 0
    counts_steps: bool = True


def promela(
    program: Program,
    *,
    checks: bool = True,
    properties: Iterable[str] | None = None,
    members: Mapping[int, int] | None = None,
) -> Model:
    """Return the model of `program`.

    Args:
        program: the specification with its constants.
        checks: assert too that the specification has no bug (a value that leaves its domain), and that sets
            stay within `members`.
        properties: names of invariants and step properties to assert; None means all.
        members: masks of the elements that bit-set slots may hold, by position, when an exploration has found
            them; SPIN then checks that no other element is ever added. Without them the bound is computed,
            and wider.

    Raises:
        SpecError: a step cannot be made finite, or there is no such property.
    """
    return _Maker(program, checks, properties, members or {}).model()


def members_of(program: Program, states: Iterable[Sequence[int | bool]]) -> dict[int, int]:
    """Return the elements that occur in the bit-set slots of flattened states, as masks, for the argument
    `members`.
    """
    positions = [
        position for position, slot in enumerate(layout(program).slots) if isinstance(slot.sort, Bits)
    ]
    found = dict.fromkeys(positions, 0)
    for state in states:
        for position in positions:
            found[position] |= int(state[position])
    return found


class _Maker:
    """Maker of one model; every part of the model is text."""

    def __init__(
        self, program: Program, checks: bool, properties: Iterable[str] | None, members: Mapping[int, int]
    ) -> None:
        self.program, self.checks, self.members = program, checks, members
        self.slots = layout(program).slots
        found = possible(program, members)
        self.values, self.steps = found.slots, found.steps
        self.initial_states = ground_initial(program)
        if not self.initial_states:
            raise SpecError(f"{program.name} has no initial state")
        self.wanted = stated(program, properties)
        self.predicates = self._predicates()
        self.fields = Fields(self.slots, self.values, self._numberings())
        self.scratch = 0
        self.idle, self.late = 0, False
        self.names: dict[str, str] = {}

    def _predicates(self) -> dict[str, tuple[Expression, tuple[Check, ...]]]:
        names = [item.name for item in self.program.module.predicates if item.name in self.wanted]
        grounds = {name: ground_predicate(self.program, name) for name in names}
        return {name: (item.holds, item.checks) for name, item in grounds.items()}

    def _numberings(self) -> dict[int, Numbering]:
        """Return, for every width of sets, a numbering of the ranks that any expression of that width may
        hold.
        """
        masks: dict[int, int] = {slot.sort.width: 0 for slot in self.slots if isinstance(slot.sort, Bits)}
        for slot, value in zip(self.slots, self.values, strict=True):
            if isinstance(slot.sort, Bits) and isinstance(value, int):
                masks[slot.sort.width] |= value
        whole = Estimate(self.values)
        for step in self.steps:
            there = Estimate(narrowed(self.values, step.enabled))
            _widen(masks, [step.enabled, *(check.wrong for check in step.checks)], whole)
            _widen(
                masks, [*(value for _, value in step.updates), *(item.broken for item in step.breaks)], there
            )
        for holds, checks in self.predicates.values():
            _widen(masks, [holds, *(check.wrong for check in checks)], whole)
        return {width: Numbering(mask) for width, mask in masks.items()}

    def model(self) -> Model:
        """Return the whole model."""
        options = [line for step in self.steps for line in self._step(step)]
        variables = self.fields.all()
        options = [
            *_reading_option(variables),
            *(line for name in self.predicates for line in self._invariant(name)),
            *options,
        ]
        start = self._start(variables)
        more = "one state more than the specification has: the choice of an initial state"
        head = [
            f"/* {_comment(self.program.name)} {_comment(_constants(self.program))}",
            f" * Made by antiphon from its specification, digest {self.program.digest[:16]}.",
            " * Run: spin -a FILE && gcc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -c0 -E -m1000000",
            f" * SPIN stores {more if start else 'the states of it'}.{self._otherwise()} */",
            "",
        ]
        if self.names:
            head += [f"#define {symbol} {number}" for number, symbol in enumerate(self.names.values(), 1)] + [
                ""
            ]
        first = self.initial_states[0] if not start else None
        head += [_declaration(field, self._initial(field, first)) for field in variables]
        head += [f"hidden int t{number};" for number in range(self.scratch)]
        body = ["", "active proctype protocol() {", *start, "end:", "  do", *options, "  od", "}", ""]
        bits = sum(field.width for field in variables)
        return Model(
            "\n".join([*head, *body]),
            1 if start else 0,
            dict(enumerate(self.names, 1)),
            bits,
            len(self.steps),
            self.idle,
            not self.late,
        )

    def _otherwise(self) -> str:
        """Return the names that the model spells differently, as text for the comment at its head."""
        table = self.fields.spelling.table()
        return f"\n * Names that are written otherwise here: {table}." if table else ""

    # Initial states -----------------------------------------------------------------------------------------

    def _start(self, variables: Sequence[Field]) -> list[str]:
        if len(self.initial_states) == 1:
            return []
        lines = ["  if"]
        for state in self.initial_states:
            given = [
                f"{field.name} = {self._initial(field, state)}"
                for field in variables
                if self._initial(field, state)
            ]
            lines.append(f"  :: d_step {{ true -> {'; '.join(given) or 'skip'} }}")
        return [*lines, "  fi;"]

    def _initial(self, field: Field, state: Sequence[int | bool] | None) -> int:
        """Return the bits of a field in an initial state; all 0 if the initial state is chosen later."""
        if state is None:
            return 0
        for slot, fields, raw in zip(self.slots, self.fields.of_slot, state, strict=True):
            if field in fields:
                if isinstance(slot.sort, Bits):
                    return self.fields.numberings[slot.sort.width].mask(int(raw), fields.index(field))
                return int(raw) - field.low
        raise KeyError(field.name)

    # Options ------------------------------------------------------------------------------------------------

    def _invariant(self, name: str) -> list[str]:
        """Return the options that are possible where an invariant is false, or cannot be evaluated."""
        holds, checks = self.predicates[name]
        cases = [(name, make.negation(holds))]
        if self.checks:
            cases = [(SPECIFICATION, make.disjunction(*(check.wrong for check in checks))), *cases]
        return [self._failing(name, wrong) for name, wrong in cases if self._may(wrong)]

    def _may(self, condition: Expression) -> bool:
        return Estimate(self.values).certain(condition) != 0

    def _failing(self, name: str, wrong: Expression) -> str:
        """Return the option that is possible where the expression `wrong` is true; it asserts the property
        `name`.
        """
        late = _is_large(wrong)
        self.idle += late
        writer = Writer(self.fields, Estimate(self.values), [wrong], scratch=late)
        return self._option(writer, writer.truth(wrong), self._fail(name), late)

    def _option(self, writer: Writer, condition: str, inner: str, late: bool) -> str:
        """Return an option with a condition; with `late` the condition comes after the scratch assignments
        that it needs.
        """
        if not late:
            return f"  :: d_step {{ {condition if condition != '1' else 'true'} -> {inner} }}"
        self.scratch = max(self.scratch, writer.used)
        return (
            f"  :: d_step {{ {'; '.join(['true', *writer.lines])}; if :: {condition} -> {inner} :: else fi }}"
        )

    def _fail(self, name: str) -> str:
        known = self.names.get(name)
        if known is None:
            known = self.names[name] = self.fields.spelling.give(f"{name}_is_broken", of=name)
        return f"assert({known} == 0)"

    def _step(self, step: GroundStep) -> list[str]:
        """Return the Promela options (guarded commands) of one step."""
        title = f"  /* {_comment(str(Step(step.name, step.arguments or ())))} */"
        lines = [title]
        wrong = make.disjunction(*(check.wrong for check in step.checks))
        if self.checks and self._may(wrong):
            lines.append(self._failing(SPECIFICATION, wrong))
        if not self._may(step.enabled):
            return lines if len(lines) > 1 else []
        there = Estimate(narrowed(self.values, step.enabled))
        late = _is_large(step.enabled)
        self.late = self.late or late
        guarding = Writer(self.fields, Estimate(self.values), [step.enabled], scratch=late)
        guard = guarding.truth(step.enabled)
        asserted = self._asserted(step, there)
        roots = [*(condition for _, condition in asserted), *(value for _, value in step.updates)]
        writer = Writer(self.fields, there, roots, first=guarding.used)
        failures = [
            f"assert(!({writer.truth(condition)}) || {self._fail(name)[7:-1]})"
            for name, condition in asserted
        ]
        updates = self._updates(writer, step)
        inner = "; ".join([*writer.lines, *failures, *updates]) or "skip"
        self.scratch = max(self.scratch, writer.used)
        return [*lines, self._option(guarding, guard, inner, late)]

    def _asserted(self, step: GroundStep, there: Estimate) -> list[tuple[str, Expression]]:
        """Return the conditions that must be false whenever the step is taken, each with the property that is
        broken otherwise.
        """
        found = [(item.property, item.broken) for item in step.breaks if item.property in self.wanted]
        if self.checks:
            outside = [
                escapes(value, self.members[slot], there)
                for slot, value in step.updates
                if slot in self.members
            ]
            found.append((OUTSIDE, make.disjunction(*outside)))
        return [(name, condition) for name, condition in found if there.certain(condition) != 0]

    def _updates(self, writer: Writer, step: GroundStep) -> list[str]:
        """Return the assignments of a step, each before those that change a variable which it reads; a
        scratch variable breaks a cycle.
        """
        wanted: dict[str, tuple[str, str]] = {}
        for slot, value in step.updates:
            fields = self.fields.of_slot[slot]
            if all(field is None for field in fields):
                continue
            for field, text in zip(fields, writer.words(value), strict=True):
                if field is not None and text != field.name:
                    wanted[field.name] = field.name, _stored(field, text)
        return _ordered(wanted, writer)


def _ordered(wanted: dict[str, tuple[str, str]], writer: Writer) -> list[str]:
    done: list[str] = []
    reads = {
        name: {word for word in _words(text) if word in wanted and word != name}
        for name, (_, text) in wanted.items()
    }
    while reads:
        free = next(
            (
                name
                for name in reads
                if not any(name in others for other, others in reads.items() if other != name)
            ),
            None,
        )
        if free is None:
            free = next(iter(reads))
            wanted[free] = free, writer.keep(wanted[free][1])
            done_last = f"{free} = {wanted[free][1]}"
            del reads[free]
            return [*done, *_ordered({name: wanted[name] for name in reads}, writer), done_last]
        done.append(f"{free} = {wanted[free][1]}")
        del reads[free]
    return done


def _is_large(condition: Expression) -> bool:
    """Return True if a condition, written as a tree, has more nodes than fit in a line."""
    sizes: dict[Expression, int] = {}


    def size(node: Expression) -> int:
        return 1 + sum(sizes[part] for part in node.operands)

    return fold(condition, sizes, size, parts) > LARGEST_CONDITION


def _reading_option(variables: Sequence[Field]) -> list[str]:
    """Return an option that is never possible and reads every variable, so that SPIN stores all of them."""
    if not variables:
        return []
    return [f"  :: d_step {{ false -> assert({' + '.join(field.name for field in variables)} >= 0) }}"]


def _words(text: str) -> set[str]:
    return set("".join(sign if sign.isalnum() or sign == "_" else " " for sign in text).split())


def _stored(field: Field, text: str) -> str:
    """Return the text of a value in the form in which the field stores it."""
    if not field.low:
        return text
    if text.lstrip("-").isdigit():
        return str(int(text) - field.low)
    plus = f" + {field.low})"
    if (
        text.startswith("(")
        and text.endswith(plus)
        and _words(text[1 : -len(plus)]) == {text[1 : -len(plus)]}
    ):
        return text[1 : -len(plus)]
    return f"({text} - {field.low})" if field.low > 0 else f"({text} + {-field.low})"


def _declaration(field: Field, initial: int) -> str:
    given = f" = {initial}" if initial else ""
    return f"unsigned {field.name} : {field.width}{given};"


def _widen(masks: dict[int, int], roots: Iterable[Expression], estimate: Estimate) -> None:
    """Extend the masks by the elements that every set inside these expressions may hold, except elements that
    are only removed.
    """
    todo, seen = list(roots), set[int]()
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node.sort, Bits):
            masks[node.sort.width] = masks.get(node.sort.width, 0) | estimate.members(node)
        if node.operator is Operator.DIFFERENCE and node.operands[1].operator in (
            Operator.CONSTANT,
            Operator.SINGLE,
        ):
            todo.extend([node.operands[0], *node.operands[1].operands])
        elif node.operator is Operator.INTERSECTION and Operator.CONSTANT in (
            part.operator for part in node.operands
        ):
            todo.extend(part for part in node.operands if part.operator is not Operator.CONSTANT)
        else:
            todo.extend(node.operands)


def _comment(text: str) -> str:
    """Return a text that may stand in a comment: ASCII only, without the end of a comment."""
    return text.encode("ascii", "backslashreplace").decode().replace("*/", "* /")


def _constants(program: Program) -> str:
    """Return the constants of a program as text for a comment."""
    return ", ".join(f"{name}={value}" for name, value in program.constants.items() if value is not False)
