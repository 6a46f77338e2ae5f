"""Generated function that finds all successors of a state: it goes through the actions in order and hands
each successor to `take`.

`i64 @successors(i64 context, ptr state, i64 out, i64 parent, i64 faults, i64 sleeping)` writes the successors
one behind the other, from `out` on. Without `faults` the steps of the environment are left out; so are steps
in the sleep set. `sleeping` is the address of that set: a word with a bit for each step; or a mark byte and
behind it one byte for each step, which equals the mark if the step sleeps. The state does not change
meanwhile, so loads are shared between steps (`noalias readonly`).

This file writes the loops that `enumeration` has planned; it knows nothing of tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from antiphon.model.engines.native.compiler.enumeration import (
    ActionPlan,
    Branch,
    Loop,
    Parameter,
    Variant,
    without_guards,
)
from antiphon.model.engines.native.compiler.expressions import Writer
from antiphon.model.engines.native.compiler.specialise import (
    has_nodes,
    inputs_among,
    inputs_of,
    reached,
    roots_of,
)
from antiphon.model.engines.native.compiler.steps import StepWriter, is_false
from antiphon.model.ground.footprint import conjuncts
from antiphon.model.ground.form import Boolean, Expression, GroundStep, Operator
from antiphon.model.ground.walk import reachable
from antiphon.model.ground.words import WORD, WordPacking

HOISTED_NODES = 2
"""Number of nodes from which a condition on the state alone, shared by several steps, is computed once for
each state.
"""
INLINE_NODES = 120
"""Largest number of nodes of a step that is inlined: one huge function compiles slowly."""


class SleepSet:
    """Sleep set in generated code: a bit of a word for each step, or a byte for each step if there are
    `many`.
    """

    def __init__(self, *, many: bool) -> None:
        self._many = many
        self.begin = ["  %sleep = inttoptr i64 %sleeping to ptr"]
        if many:
            self.begin.append("  %mark = load i8, ptr %sleep")
            self.begin.append("  %marks = getelementptr i8, ptr %sleep, i64 1")
        else:
            self.begin.append("  %asleep = load i64, ptr %sleep")

    def has(self, body: Writer, code: str) -> str:
        """Emit the test that a step is in the sleep set."""
        if self._many:
            at = body.emit(f"getelementptr i8, ptr %marks, i64 {code}")
            return body.emit(f"icmp eq i8 {body.emit(f'load i8, ptr {at}')}, %mark")
        return body.emit(f"trunc i64 {body.emit(f'lshr i64 %asleep, {code}')} to i1")


class Successors:
    """Writer of the function `successors` and those of the steps."""

    def __init__(
        self,
        packing: WordPacking,
        properties: Sequence[str],
        plans: Iterable[ActionPlan],
        sleep: SleepSet | None = None,
    ) -> None:
        self.packing, self.properties = packing, properties
        self.globals: list[str] = []
        self.inlined: list[str] = []
        self.called: list[str] = []
        self.body = Writer(packing)
        self.sleep = sleep
        self._tables: dict[tuple[int, ...], str] = {}
        self._steps = 0
        plans = list(plans)
        self._hoisted = self._hoist(plans)
        for plan in plans:
            self._action(plan)

    def text(self) -> str:
        """Return the globals, the function `successors`, and the functions of the steps that are inlined into
        it.
        """
        head = (
            "define i64 @successors(i64 %context, ptr noalias readonly %s, i64 %out, i64 %parent, "
            "i64 %faults, i64 %sleeping) nounwind {\nentry:"
        )
        start = [
            "  %next = alloca ptr",
            "  %first = inttoptr i64 %out to ptr",
            "  store ptr %first, ptr %next",
        ]
        start += ["  %state = ptrtoint ptr %s to i64", "  %with.faults = icmp ne i64 %faults, 0"]
        if self.sleep is not None:
            start += self.sleep.begin
        end = [
            "  %end = load ptr, ptr %next",
            "  %answer = ptrtoint ptr %end to i64",
            "  ret i64 %answer",
            "}\n",
        ]
        return "\n".join([*self.globals, *self.inlined, head, *start, *self.body.lines, *end])

    def _hoist(self, plans: Iterable[ActionPlan]) -> set[Expression]:
        """Emit the expressions that many steps need, computed once for each state; return the conditions that
        are now known.
        """
        steps = [
            (variant.step, bool(branch.loops))
            for plan in plans
            for branch in plan.branches
            for variant in branch.variants
        ]
        asked: Counter[Expression] = Counter()
        for step, looped in steps:
            for guard in conjuncts(step.enabled):
                asked[guard] += 2 if looped else 1
        sizes = {
            guard: len(reached([guard]))
            for guard, count in asked.items()
            if count > 1 and not inputs_of(guard)
        }
        known: set[Expression] = set()
        for guard, size in sizes.items():
            if size >= HOISTED_NODES:
                self.body.one(guard)
                known |= {
                    node for node in reached([guard]) if isinstance(node.sort, Boolean) and node.operands
                }
        return {node for node in known if has_nodes(node, HOISTED_NODES)}

    def _action(self, plan: ActionPlan) -> None:
        if not plan.branches:
            return
        body = self.body
        after = body.label()
        on = body.label()
        body.line(f"br i1 {'%with.faults' if plan.fault else 'true'}, label %{on}, label %{after}")
        body.begin(on)
        for branch in plan.branches:
            self._branch(plan, branch)
        body.line(f"br label %{after}")
        body.begin(after)

    def _branch(self, plan: ActionPlan, branch: Branch) -> None:
        branch, after = self._guards(branch)
        self._tried(plan, branch)
        if after is not None:
            self.body.line(f"br label %{after}")
            self.body.begin(after)

    def _guards(self, branch: Branch) -> tuple[Branch, str | None]:
        """Emit the guards that all variants share and that are known already, before the loops; return the
        branch without them, and the label at which to continue if they fail.
        """
        first = branch.variants[0].step
        guards = [
            guard for guard in conjuncts(first.enabled)
            if guard in self._hoisted and all(_implies(variant.step, guard) for variant in branch.variants)
        ]  # fmt: skip
        if not guards:
            return branch, None
        after = self.body.label()
        for guard in guards:
            on = self.body.label()
            self.body.line(f"br i1 {self.body.one(guard)}, label %{on}, label %{after}")
            self.body.begin(on)
        dropped = set(guards)
        variants = tuple(
            replace(variant, step=without_guards(variant.step, dropped)) for variant in branch.variants
        )
        return replace(branch, variants=variants), after

    def _tried(self, plan: ActionPlan, branch: Branch) -> None:
        calls = [self._step(plan, branch, variant) for variant in branch.variants]

        def inside(ranks: Sequence[str], elements: Sequence[str | None]) -> None:
            body, sleep = self.body, self.sleep
            code = str(branch.code)
            for loop, rank in zip(branch.loops, ranks, strict=True):
                stride = plan.strides[loop.parameter]
                part = rank if stride == 1 else body.emit(f"mul i64 {rank}, {stride}")
                code = body.emit(f"add i64 {code}, {part}")
            if sleep is None:
                awake(code, ranks, elements)
                return
            on, after = body.label(), body.label()
            body.line(f"br i1 {sleep.has(body, code)}, label %{after}, label %{on}")
            body.begin(on)
            awake(code, ranks, elements)
            body.line(f"br label %{after}")
            body.begin(after)

        def awake(code: str, ranks: Sequence[str], elements: Sequence[str | None]) -> None:
            body = self.body
            at = body.emit("load ptr, ptr %next")
            if len(calls) == 1:
                self._take(code, at, calls[0](at, ranks, elements))
                return
            chosen = self._lookup(branch.chosen, ranks[-1])
            labels = [body.label() for _ in calls]
            after = body.label()
            cases = " ".join(f"i64 {number}, label %{label}" for number, label in enumerate(labels[1:], 1))
            body.line(f"switch i64 {chosen}, label %{labels[0]} [{cases}]")
            answers = []
            for call, label in zip(calls, labels, strict=True):
                body.begin(label)
                answers.append(call(at, ranks, elements))
                body.line(f"br label %{label}.end")
                body.begin(f"{label}.end")
                body.line(f"br label %{after}")
            body.begin(after)
            ways = ", ".join(
                f"[{answer}, %{label}.end]" for answer, label in zip(answers, labels, strict=True)
            )
            body.line(f"%x.{after} = phi i64 {ways}")
            self._take(code, at, f"%x.{after}")

        self._loops(branch.loops, [], [], inside)

    def _take(self, code: str, at: str, answer: str) -> None:
        """Emit code that accepts the state which a step has written at `at`, if the answer says that the step
        was enabled.
        """
        body = self.body
        taken, after = body.label(), body.label()
        body.line(f"br i1 {body.emit(f'icmp ne i64 {answer}, 0')}, label %{taken}, label %{after}")
        body.begin(taken)
        written = body.emit(f"ptrtoint ptr {at} to i64")
        given = f"i64 %context, i64 %state, i64 {written}, i64 %parent, i64 {code}, i64 {answer}"
        following = body.emit(f"call i64 @take({given})")
        body.line(f"store ptr {body.emit(f'inttoptr i64 {following} to ptr')}, ptr %next")
        body.line(f"br label %{after}")
        body.begin(after)

    # Loops --------------------------------------------------------------------------------------------------

    def _loops(
        self, loops: Sequence[Loop], ranks: list[str], elements: list[str | None],
        inside: Callable[[Sequence[str], Sequence[str | None]], None]
    ) -> None:  # fmt: skip
        if not loops:
            inside(ranks, elements)
            return
        loop, rest = loops[0], loops[1:]
        if not loop.ranks:
            return
        if loop.slot is None:
            self._over_ranks(loop, lambda rank: self._loops(rest, [*ranks, rank], [*elements, None], inside))
        else:
            self._over_bits(
                loop, lambda rank, element: self._loops(rest, [*ranks, rank], [*elements, element], inside)
            )

    def _over_ranks(self, loop: Loop, inside: Callable[[str], None]) -> None:
        contiguous = loop.ranks == tuple(range(len(loop.ranks)))
        self._counted(
            len(loop.ranks), lambda index: inside(index if contiguous else self._lookup(loop.ranks, index))
        )

    def _counted(self, count: int, inside: Callable[[str], None]) -> None:
        """Emit a loop that runs `count` times, at least once, and counts from 0."""
        body = self.body
        before, head, on, after = (body.label() for _ in range(4))
        body.line(f"br label %{before}")
        body.begin(before)
        body.line(f"br label %{head}")
        body.begin(head)
        index = f"%x.{head}"
        body.line(f"{index} = phi i64 [0, %{before}], [{index}.next, %{on}.end]")
        body.line(f"br label %{on}")
        body.begin(on)
        inside(index)
        body.line(f"br label %{on}.end")
        body.begin(f"{on}.end")
        body.line(f"{index}.next = add i64 {index}, 1")
        body.line(f"{index}.more = icmp ult i64 {index}.next, {count}")
        body.line(f"br i1 {index}.more, label %{head}, label %{after}")
        body.begin(after)

    def _over_bits(self, loop: Loop, inside: Callable[[str, str], None]) -> None:
        """Emit a loop over the elements that are in a set, from the least; only words that can hold wanted
        elements are read.
        """
        place = self.packing.places[loop.slot or 0]
        wanted = {loop.elements[rank] for rank in loop.ranks}
        firsts = [word * WORD - place.offset for word in range(place.words)]
        bits = [
            sum(1 << element - first for element in wanted if 0 <= element - first < WORD) for first in firsts
        ]
        words = [word for word, some in enumerate(bits) if some]
        if len(words) == 1:
            [word] = words
            self._over_word(loop, str(place.word + word), str(firsts[word]), str(bits[word]), inside)
            return

        def look(index: str) -> None:
            tables = (
                [place.word + word for word in words],
                [firsts[word] for word in words],
                [bits[word] for word in words],
            )
            word, first, some = (self._lookup(tuple(table), index) for table in tables)
            self._over_word(loop, word, first, some, inside)

        self._counted(len(words), look)

    def _over_word(
        self, loop: Loop, word: str, first: str, bits: str, inside: Callable[[str, str], None]
    ) -> None:
        """Emit a loop over these bits of a word of the state; `first` is the element of the word's lowest
        bit.
        """
        body = self.body
        before, head, on, after = (body.label() for _ in range(4))
        loaded = body.emit(f"load i64, ptr {body.pointer('%s', word)}")
        present = body.emit(f"and i64 {loaded}, {bits}")
        body.line(f"br label %{before}")
        body.begin(before)
        body.line(f"br label %{head}")
        body.begin(head)
        left = f"%x.{head}"
        body.line(f"{left} = phi i64 [{present}, %{before}], [{left}.next, %{on}.end]")
        body.line(f"{left}.more = icmp ne i64 {left}, 0")
        body.line(f"br i1 {left}.more, label %{on}, label %{after}")
        body.begin(on)
        bit = body.emit(f"call i64 @llvm.cttz.i64(i64 {left}, i1 true)")
        less = body.emit(f"sub i64 {left}, 1")
        body.line(f"{left}.next = and i64 {left}, {less}")
        element = bit if first == "0" else body.emit(f"add i64 {bit}, {first}")
        inside(self._rank(loop, element), element)
        body.line(f"br label %{on}.end")
        body.begin(f"{on}.end")
        body.line(f"br label %{head}")
        body.begin(after)

    def _rank(self, loop: Loop, element: str) -> str:
        """Return the rank of a parameter's value, computed from the rank of its element in the set."""
        shifts = {loop.elements[rank] - rank for rank in loop.ranks}
        if len(shifts) == 1:
            [shift] = shifts
            return self.body.emit(f"sub i64 {element}, {shift}") if shift else element
        inverse = [0] * (max(loop.elements) + 1)
        for rank in loop.ranks:
            inverse[loop.elements[rank]] = rank
        return self._lookup(tuple(inverse), element)

    def _lookup(self, values: tuple[int, ...], index: str) -> str:
        """Return an entry of a constant table."""
        if len(set(values)) == 1:
            return str(values[0])
        return self.body.emit(
            f"load i64, ptr {self.body.emit(f'getelementptr i64, ptr {self._table(values)}, i64 {index}')}"
        )

    def _table(self, values: tuple[int, ...]) -> str:
        name = self._tables.get(values)
        if name is None:
            name = self._tables[values] = f"@table.{len(self._tables)}"
            items = ", ".join(f"i64 {value}" for value in values)
            self.globals.append(f"{name} = private unnamed_addr constant [{len(values)} x i64] [{items}]")
        return name

    # Steps --------------------------------------------------------------------------------------------------

    def _known_parts(self, roots: Sequence[Expression], nodes: set[Expression]) -> list[Expression]:
        """Return the parts of a step with these roots and nodes that are known already and that the step may
        need, outermost ones only.
        """
        if self._hoisted.isdisjoint(nodes):
            return []
        outer = reachable(roots, lambda node: () if node in self._hoisted else node.operands)
        return [node for node in outer if node in self._hoisted]

    def _step(
        self, plan: ActionPlan, branch: Branch, variant: Variant
    ) -> Callable[[str, Sequence[str], Sequence[str | None]], str]:
        """Write the function of a variant. The returned function writes a call of it, with the place for the
        successor, and returns the call's answer.
        """
        roots = roots_of(variant.step)
        nodes = reached(roots)
        known = self._known_parts(roots, nodes)
        used = inputs_among(nodes)
        columns: dict[int, tuple[int, tuple[int, ...]]] = {}
        for number, loop in enumerate(branch.loops):
            parameter: Parameter = plan.parameters[loop.parameter]
            for position in used:
                if parameter.first <= position < parameter.first + parameter.width:
                    columns[position] = (
                        number,
                        tuple(int(row[position - parameter.first]) for row in parameter.rows),
                    )
        name = f"step.{self._steps}"
        self._steps += 1
        writer = StepWriter(self.packing, lambda _, position: f"%i{position}")
        parameters = [f"%i{position}" for position in sorted(columns)]
        for number, element in enumerate(variant.elements):
            if element is not None and element.operator is not Operator.CONSTANT:
                writer.know(element, f"%e{number}")
                parameters.append(f"%e{number}")
        for number, node in enumerate(known):
            writer.know(node, f"%h{number}")
        declared = [
            *(f"i64 {parameter}" for parameter in parameters),
            *(f"i1 %h{number}" for number in range(len(known))),
        ]
        text = writer.function(name, declared, variant.step, self.properties)
        if len(nodes) <= INLINE_NODES:
            self.inlined.append(text.replace(") nounwind {", ") nounwind alwaysinline {", 1))
        else:
            head, _, body_text = text.partition(" nounwind {")
            self.called.append(f"{head.replace('internal ', '')} nounwind {{{body_text}")

        def call(at: str, ranks: Sequence[str], elements: Sequence[str | None]) -> str:
            body = self.body
            arguments = [
                self._lookup(values, ranks[number]) for _, (number, values) in sorted(columns.items())
            ]
            arguments += [
                elements[number] or "0"
                for number, element in enumerate(variant.elements)
                if element is not None and element.operator is not Operator.CONSTANT
            ]
            passed = "".join(f", i64 {argument}" for argument in arguments)
            passed += "".join(f", i1 {body.one(node)}" for node in known)
            return body.emit(f"call i64 @{name}(ptr %s, ptr {at}{passed})")

        return call


def _implies(step: GroundStep, guard: Expression) -> bool:
    """Return True if the step is not enabled, and nothing goes wrong in it, where the guard is false."""
    return guard in conjuncts(step.enabled) and all(
        is_false(check.wrong) or guard in conjuncts(check.wrong) for check in step.checks
    )
