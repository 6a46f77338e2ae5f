"""TLA+ module of a specification, with its configuration, which TLC checks unchanged.

The module is made from the intermediate form, not from the ground form: it has the specification's variables,
actions, helpers and predicates under their own names, sets and records as such, and the constants bound to
their values. What it leaves out: witnesses and obligations.

1. A state of the module is a state of the specification: TLC's distinct states are ours.
2. Invariants stand in the configuration, with `TypeOK`: the declared domains. A property that steps may break
   (`expect`) is an `Assert` in every action that can break it; a step invariant is a property `[][A]_v`.
3. Liveness properties (`leads_to` and its kin) are temporal properties; weak and strong fairness stand in
   `Spec`, per parameter, of actions together and of parts of them, as declared.
4. A false guard disables; a partial operation outside its domain is an error of TLC.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from antiphon.model.export.spelling import spelt
from antiphon.model.export.stated import stated
from antiphon.model.export.tla_formula import formula
from antiphon.model.export.tla_steps import Run, straight, value_of
from antiphon.model.export.tla_text import Scope, Texts
from antiphon.model.export.tla_types import MODULES, WORDS, Names, literal
from antiphon.spec.lang import Program, SpecError, ir, types
from antiphon.spec.lang.walk import nodes, variables_read

HELPERS = {
    "Divided": ("Divided(a, b) == IF b < 0 THEN (-a) \\div (-b) ELSE a \\div b",),
    "Rest": ("Rest(a, b) == IF b < 0 THEN -((-a) % (-b)) ELSE a % b",),
    "SumOver": (
        "RECURSIVE SumOver(_, _)",
        (
            "SumOver(f, S) == IF S = {} THEN 0 "
            "ELSE LET x == CHOOSE x \\in S : TRUE IN f[x] + SumOver(f, S \\ {x})"
        ),
    ),
    "MaxOf": ("MaxOf(S) == CHOOSE m \\in S : \\A x \\in S : x <= m",),
    "MinOf": ("MinOf(S) == CHOOSE m \\in S : \\A x \\in S : m <= x",),
    "DropFirst": ("DropFirst(s) == IF s = <<>> THEN s ELSE Tail(s)",),
    "Slice": ("Slice(s, l, u) == SubSeq(s, IF l < 0 THEN 1 ELSE l + 1, IF u < Len(s) THEN u ELSE Len(s))",),
    "Reverse": ("Reverse(s) == [i \\in 1 .. Len(s) |-> s[Len(s) + 1 - i]]",),
}
BOXES = {
    ir.LivenessKind.INITIALLY: "", ir.LivenessKind.ALWAYS: "[]", ir.LivenessKind.EVENTUALLY: "<>",
    ir.LivenessKind.ALWAYS_EVENTUALLY: "[]<>", ir.LivenessKind.EVENTUALLY_ALWAYS: "<>[]",
}  # fmt: skip
"""Operators that are written before the goal of a formula without premise."""
SIGNS = {ir.Fairness.WEAK: "WF_vars", ir.Fairness.STRONG: "SF_vars"}
AND, OR = " /\\ ", " \\/ "
NOTHING: Mapping[str, str] = MappingProxyType({})
COLUMNS = 110


@dataclass(frozen=True)
class Module:
    """TLA+ module: its `name` (that of its file), `text`, and the `configuration` for TLC."""

    name: str
    text: str
    configuration: str


def tla(program: Program, *, name: str | None = None, properties: Iterable[str] | None = None) -> Module:
    """Return the module of `program`.

    Args:
        program: the specification with its constants.
        name: the name of the module, which must be that of its file; else that of the specification.
        properties: names of invariants, step properties and liveness properties to state; None means all.

    Raises:
        SpecError: it uses something that is not exported (a loop over a large set, `next` over a set), or
            there is no such property.
    """
    if name is None:
        name = spelt(program.name)
        name += "_1" * (name in WORDS or name in MODULES)
    return _Maker(program, name, properties).module()


class _Maker:
    def __init__(self, program: Program, name: str, properties: Iterable[str] | None) -> None:
        if not name.isidentifier() or not name.isascii():
            raise SpecError(
                f"{name!r} is no name of a TLA+ module", instead="letters, digits and underscores"
            )
        if name in WORDS or name in MODULES:
            raise SpecError(
                f"{name!r} is a word or a module of TLA+ itself", instead="another name of the file"
            )
        self.program, self.name, self.form = program, name, program.module
        self.functions = {function.name: function for function in self.form.functions}
        self.reads = {name: variables_read(item.body, self.form) for name, item in self.functions.items()}
        self.texts = Texts(self.form, program.constants, Names(_fields(self.form)), self.reads)
        self.texts.names.fix(name)
        self.wanted = stated(program, properties, liveness=True)
        for kind, names in (
            ("variable", [item.name for item in self.form.variables]),
            ("constant", [item.name for item in self.form.constants]),
            ("predicate", [item.name for item in self.form.predicates]),
            ("liveness", [item.name for item in self.form.liveness]),
            ("step_invariant", [item.name for item in self.form.step_invariants]),
            ("action", [item.name for item in self.form.actions]), ("function", list(self.functions)),
        ):  # fmt: skip
            for item in names:
                self.texts.name(kind, item)
        for variable in self.form.variables:
            self.texts.domain(variable.type)
        self.plain = Scope(
            {item.name: self.texts.name("variable", item.name) for item in self.form.variables}
        )

    def module(self) -> Module:
        """Return the module, its parts in the order in which TLA+ needs them."""
        texts = self.texts
        variables = [texts.name("variable", item.name) for item in self.form.variables]
        helpers = [line for function in self._ordered() for line in self._function(function)]
        predicates = [line for predicate in self.form.predicates for line in self._predicate(predicate)]
        of_steps = [line for item in self.form.step_invariants for line in self._step_invariant(item)]
        lively = [
            line
            for liveness in self.form.liveness
            if liveness.name in self.wanted
            for line in self._liveness(liveness)
        ]
        initial, actions = (
            self._initial(),
            [line for action in self.form.actions for line in self._action(action)],
        )
        following = (
            ["Next ==", *(f"  \\/ {self._every(action)}" for action in self.form.actions)]
            if self.form.actions
            else ["Next == FALSE"]
        )
        fairness = list(self._fairness())
        type_ok = [
            f"/\\ {texts.belongs(name, item.type)}"
            for name, item in zip(variables, self.form.variables, strict=True)
        ]
        constants = [
            f"{texts.name('constant', name)} == {literal(value)}"
            for name, value in self.program.constants.items()
        ]
        kinds = [f"{name} == {text}" for name, text in texts.types.items()]
        used = [line for helper in HELPERS if helper in texts.helpers for line in HELPERS[helper]]
        title = f" MODULE {self.name} "
        blocks = [
            [title.center(COLUMNS, "-"), (f"(* {spelt(self.program.name)}, made by antiphon from its "
                f"specification, digest {self.program.digest[:16]}. *)"), *self._otherwise()],
            ["EXTENDS Integers, Sequences, FiniteSets, TLC"],
            ["CONSTANT None"], constants, kinds,
            [f"VARIABLES {', '.join(variables)}", "", f"vars == <<{', '.join(variables)}>>"], used, helpers,
            ["TypeOK ==", *(f"  {line}" for line in type_ok)], predicates, initial, actions, following,
            ["Spec == " + " /\\ ".join(["Init", "[][Next]_vars", *(["Fairness"] if fairness else [])])],
            of_steps,
            lively,
        ]  # fmt: skip
        if fairness:
            blocks.insert(-3, ["Fairness ==", *(f"  /\\ {line}" for line in fairness)])
        text = "\n\n".join("\n".join(block).rstrip("\n") for block in blocks if block)
        return Module(self.name, f"{text}\n\n{'=' * COLUMNS}\n", self._configuration())

    def _otherwise(self) -> Iterator[str]:
        """Yield the lines of a comment with the names that the module spells differently."""
        if changed := self.texts.names.changed:
            told = ", ".join(f"{ascii(of)[1:-1]} is {name}" for of, name in changed.items())
            yield f"(* Names that are written otherwise here: {told}. *)"

    def _configuration(self) -> str:
        texts = self.texts
        invariants = [
            item
            for item in self.form.predicates
            if item.kind is ir.PredicateKind.INVARIANT and item.name in self.wanted
        ]
        lines = ["CONSTANT None = None", "SPECIFICATION Spec", "CHECK_DEADLOCK FALSE", "INVARIANT TypeOK"]
        lines += [f"INVARIANT {texts.name('predicate', item.name)}" for item in invariants]
        lines += [
            f"PROPERTY {texts.name(kind, item.name)}"
            for kind, items in (
                ("step_invariant", self.form.step_invariants), ("liveness", self.form.liveness),
            )
            for item in items
            if item.name in self.wanted
        ]  # fmt: skip
        return "\n".join(lines) + "\n"

    # Helpers and predicates ---------------------------------------------------------------------------------

    def _ordered(self) -> list[ir.Function]:
        """Return the helpers that are called, each after those that it calls itself."""
        done: dict[str, None] = {}

        def visit(name: str) -> None:
            if name not in done:
                for node in nodes(self.functions[name].body):
                    if isinstance(node, ir.Call):
                        visit(node.function)
                done[name] = None

        for name in self.functions:
            visit(name)
        return [self.functions[name] for name in done]

    def _function(self, function: ir.Function) -> Iterator[str]:
        self.texts.names.begin()
        given = {parameter.name: self.texts.names.fresh(parameter.name) for parameter in function.parameters}
        seen = {variable: self.texts.names.fresh(f"{variable}_") for variable in self.reads[function.name]}
        value = value_of(self.texts, function.body, Scope(seen, given))
        parameters = [*given.values(), *seen.values()]
        head = self.texts.name("function", function.name) + (
            f"({', '.join(parameters)})" if parameters else ""
        )
        yield from _documented(function.doc)
        yield f"{head} == {value}"
        yield ""

    def _predicate(self, predicate: ir.Predicate) -> Iterator[str]:
        if predicate.kind is not ir.PredicateKind.INVARIANT or predicate.name not in self.wanted:
            return
        self.texts.names.begin()
        yield from _documented(predicate.doc)
        yield (
            f"{self.texts.name('predicate', predicate.name)} == "
            f"{value_of(self.texts, predicate.body, self.plain)}"
        )
        yield ""

    def _step_invariant(self, item: ir.StepInvariant) -> Iterator[str]:
        if item.name not in self.wanted:
            return
        self.texts.names.begin()
        now = self.plain.variables
        scope = Scope({name: f"{text}'" for name, text in now.items()}, before=now)
        asked = ", ".join(now[name] for name in variables_read(item.body, self.form))
        yield from _documented(item.doc)
        name = self.texts.name("step_invariant", item.name)
        yield f"{name} == [][{value_of(self.texts, item.body, scope)}]_<<{asked}>>"
        yield ""

    def _liveness(self, liveness: ir.LivenessProperty) -> Iterator[str]:
        self.texts.names.begin()
        quantified, scope = "", self.plain
        for parameter in liveness.parameters:
            name = self.texts.names.fresh(parameter.name)
            quantified += f"\\A {name} \\in {self.texts.domain(parameter.type)} : "
            scope = scope.bound(parameter.name, name)
        *assumed, concluded = (self._temporal(part, scope) for part in (*liveness.assuming, liveness))
        text = f"({AND.join(assumed)} => {concluded})" if assumed else concluded
        yield f"{self.texts.name('liveness', liveness.name)} == {quantified}{text}"
        yield ""

    def _temporal(self, formula: ir.Temporal, scope: Scope) -> str:
        goal = self.texts.text(formula.goal, scope)
        if formula.premise is not None:
            return f"({self.texts.text(formula.premise, scope)} ~> {goal})"
        return f"{BOXES[formula.kind]}({goal})"

    # Steps --------------------------------------------------------------------------------------------------

    def _initial(self) -> list[str]:
        if not self.form.initials:
            return [
                "Init ==",
                *(f"  /\\ {self.texts.name('variable', name)} = {text}" for name, text in self._defaults()),
            ]
        lines: list[str] = ["Init =="]
        for start in self.form.initials:
            run = Run(self.texts, Scope({}), self.wanted)
            for name, text in self._defaults():
                run.scope.variables[name] = run.define(name, text)
            quantified = self._bind(run, start.parameters)
            run.execute(straight(self.texts, start.body))
            values = [
                f"{self.texts.name('variable', name)} = {text}" for name, text in run.scope.variables.items()
            ]
            lines += [
                f"  \\/ {quantified}" if quantified else "  \\/",
                *formula(run.lines, [*run.asserted, *values], 6),
            ]
        return lines

    def _defaults(self) -> list[tuple[str, str]]:
        """Return the name and the text of each variable's initial value; this begins a new definition for
        local names.
        """
        self.texts.names.begin()
        return [(item.name, self.texts.text(item.initial, Scope({}))) for item in self.form.variables]

    def _bind(self, run: Run, parameters: Sequence[ir.Parameter]) -> str:
        """Name the parameters in the scope of a run, and return the quantifiers over them."""
        quantified = ""
        for parameter in parameters:
            name = self.texts.names.fresh(parameter.name)
            run.scope.locals[parameter.name] = name
            quantified += f"\\E {name} \\in {self.texts.domain(parameter.type)} : "
        return quantified

    def _action(self, action: ir.Action) -> Iterator[str]:
        self.texts.names.begin()
        run = Run(self.texts, Scope(self.plain.variables), self.wanted)
        self._bind(run, action.parameters)
        run.execute(straight(self.texts, action.body))
        names = [run.scope.locals[parameter.name] for parameter in action.parameters]
        head = self.texts.name("action", action.name) + (f"({', '.join(names)})" if names else "")
        values = [
            f"{self.texts.name('variable', name)}' = {run.scope.variables[name]}" for name in run.changed
        ]
        same = [
            self.texts.name("variable", item.name)
            for item in self.form.variables
            if item.name not in run.changed
        ]
        if same:
            values.append(f"UNCHANGED <<{', '.join(same)}>>")
        yield from _documented(action.doc)
        yield f"{head} =="
        yield from formula(run.lines, [*run.asserted, *values], 2)
        yield ""

    def _ranges(self, action: ir.Action, given: Mapping[str, str] = NOTHING) -> list[tuple[str, str, str]]:
        """Return, for every parameter of an action, its own name, a name of the module, new or `given`, and
        the set over which it ranges.
        """
        method = next(
            item
            for item in self.program.declaration.marked("action", "environment")
            if item.name == action.name
        )
        found = []
        for parameter, declared in zip(action.parameters, method.parameters, strict=True):
            name = given.get(parameter.name) or self.texts.names.fresh(parameter.name)
            source = self.texts.domain(parameter.type)
            if declared.within:
                source = self._present(declared.within, parameter.type)
            found.append((parameter.name, name, source))
        return found

    def _present(self, variable: str, wanted: types.Type) -> str:
        """Return the set of those elements of a set variable that have the parameter's type."""
        name = self.texts.name("variable", variable)
        of = next(item.type for item in self.form.variables if item.name == variable)
        if (
            isinstance(of, types.SetOf)
            and isinstance(of.of, types.Union)
            and isinstance(wanted, types.Record | types.Union)
            and of.of != wanted
        ):
            records = wanted.records if isinstance(wanted, types.Union) else (wanted,)
            element = self.texts.names.fresh("e")
            kinds = ", ".join(f'"{record.name}"' for record in records)
            return f"{{{element} \\in {name} : {element}.record \\in {{{kinds}}}}}"
        return name

    def _every(self, action: ir.Action) -> str:
        """Return the action with some arguments: existentially quantified over its parameters."""
        self.texts.names.begin()
        ranges = self._ranges(action)
        quantified = "".join(f"\\E {name} \\in {source} : " for _, name, source in ranges)
        names = [name for _, name, _ in ranges]
        call = self.texts.name("action", action.name)
        return f"{quantified}{call}({', '.join(names)})" if names else call

    def _fairness(self) -> Iterator[str]:
        """Yield the formulas of fairness: of single actions, and of statements about several actions or parts
        of them.
        """
        if not self.form.liveness:
            return
        for action in self.form.actions:
            if action.fairness is not ir.Fairness.NONE:
                yield self._promise(action.fairness, [ir.FairPart(action=action.name, per=action.per)])
        for promise in self.form.fair:
            yield self._promise(promise.fairness, promise.parts)

    def _promise(self, fairness: ir.Fairness, parts: Sequence[ir.FairPart]) -> str:
        """Return a promise of fairness for every value of its `per` parameters, and some values of the other
        parameters.
        """
        self.texts.names.begin()
        actions = {action.name: action for action in self.form.actions}
        kinds = {item.name: item.type for item in actions[parts[0].action].parameters}
        every = [(self.texts.names.fresh(name), self.texts.domain(kinds[name])) for name in parts[0].per]
        outer = "".join(f"\\A {name} \\in {domain} : " for name, domain in every)
        steps = []
        for part in parts:
            action = actions[part.action]
            given = {own: name for own, (name, _) in zip(part.per, every, strict=True)}
            ranges = self._ranges(action, given)
            inner = "".join(
                f"\\E {name} \\in {source} : " for own, name, source in ranges if own not in given
            )
            whole = {item.name: self.texts.domain(item.type) for item in action.parameters}
            conditions = [
                f"{name} \\in {source}"
                for own, name, source in ranges
                if own in given and source != whole[own]
            ]
            if part.where is not None:
                scope = Scope(self.plain.variables, {own: name for own, name, _ in ranges})
                conditions.append(self.texts.text(part.where, scope))
            call = self.texts.name("action", action.name)
            if ranges:
                call += f"({', '.join(name for _, name, _ in ranges)})"
            steps.append(f"{inner}{AND.join([*conditions, call])}")
        if len(steps) > 1:
            steps = [f"({step})" for step in steps]
        return f"{outer}{SIGNS[fairness]}({OR.join(steps)})"


def _fields(module: ir.Module) -> set[str]:
    """Return the names of all record fields in a module."""
    found: set[str] = set()
    todo: list[types.Type] = [item.type for item in module.variables]
    for part in (*module.actions, *module.functions, *module.initials):
        todo += [parameter.type for parameter in part.parameters]
        todo += [node.type for node in nodes(part.body) if isinstance(node, ir.MakeRecord)]
    while todo:
        match todo.pop():
            case types.Record(fields=fields):
                found |= {name for name, _ in fields}
                todo += [of for _, of in fields]
            case types.Optional(of=of) | types.SetOf(of=of) | types.SequenceOf(of=of):
                todo.append(of)
            case types.Union(records=records):
                todo += records
            case types.MapOf(key=key, value=value):
                todo += [key, value]
    return found


def _documented(doc: str) -> Iterator[str]:
    for line in doc.splitlines():
        if line.strip():
            yield f"\\* {line.strip()}"
