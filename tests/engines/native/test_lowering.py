"""Machine code does what the ground form says, operator by operator and step by step; a mistranslation of any of them is noticed."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable, Iterator
from typing import Any

import llvmlite.binding as llvm
import pytest
from tests.engines.native.random_steps import SLOTS, StepMaker, taken
from tests.ground.random_expressions import random_state

from antiphon.model.engines.native.compiler import steps as lowering
from antiphon.model.engines.native.compiler.expressions import Value, Writer
from antiphon.model.engines.native.compiler.kernel import assemble
from antiphon.model.engines.native.compiler.lower import DECLARATIONS
from antiphon.model.ground.form import Bits, Boolean, Expression, GroundStep, Operator
from antiphon.model.ground.words import WordPacking

PACKING = WordPacking(SLOTS)
STATES = 12
ENTRY = """
define i64 @enter.{number}(i64 %a, i64 %b) nounwind {{
  %s = inttoptr i64 %a to ptr
  %out = inttoptr i64 %b to ptr
  %answer = call i64 @step.{number}(ptr %s, ptr %out)
  ret i64 %answer
}}
"""


def compiled(steps: list[GroundStep]) -> tuple[Any, list[Callable[[int, int], int]]]:
    """The machine code of these steps (which must be kept), and its functions of two addresses."""
    texts = [DECLARATIONS]
    for number, step in enumerate(steps):
        texts.append(lowering.StepWriter(PACKING).function(f"step.{number}", (), step, ("property0", "property1")))
        texts.append(ENTRY.format(number=number))
    (code,) = assemble(["\n".join(texts)])
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), llvm.Target.from_default_triple().create_target_machine(jit=True))
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64)
    return engine, [kind(engine.get_function_address(f"enter.{number}")) for number in range(len(steps))]


def differences(count: int, seed: int) -> Iterator[str]:
    """The random steps whose machine code answers otherwise than the ground form, or leads elsewhere, in some random state."""
    source = random.Random(seed)
    maker = StepMaker(source)
    steps = [maker.step(number) for number in range(count)]
    engine, functions = compiled(steps)
    row = ctypes.c_uint64 * PACKING.words
    for step, function in zip(steps, functions, strict=True):
        for state in (random_state(source, SLOTS) for _ in range(STATES)):
            before, after = row(*PACKING.pack(state)), row()
            answer, successor = taken(step, state)
            found = function(ctypes.addressof(before), ctypes.addressof(after))
            if (found, PACKING.unpack(before)) != (answer, state) or (successor is not None and PACKING.unpack(after) != successor):
                yield f"{step.name} of seed {seed}"
                break
    del engine


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(5))
def test_random_steps_do_what_the_ground_form_says(seed: int) -> None:
    assert not list(differences(40, seed))


def test_the_random_steps_are_enabled_refused_wrong_and_breaking() -> None:
    source = random.Random(0)
    maker = StepMaker(source)
    answers = {taken(step, random_state(source, SLOTS))[0] for step in map(maker.step, range(400))}
    assert answers == {0, 1, 2, 1 | 256, 1 | 512, 1 | 256 | 512}


def _otherwise(operator: Operator) -> Callable[[Writer, Expression], Value]:
    """A wrong meaning for an operator: what it gives is negated, one more, or differs in element 2 of each word."""
    right = Writer._write

    def wrong(writer: Writer, node: Expression) -> Value:
        value = right(writer, node)
        if node.operator is not operator:
            return value
        match node.sort:
            case Boolean():
                return (writer.emit(f"xor i1 {value[0]}, true"),)
            case Bits():
                return tuple(writer.emit(f"xor i64 {word}, 4") for word in value)
        return (writer.emit(f"add i64 {value[0]}, 1"),)

    return wrong


@pytest.mark.sampled(21)
@pytest.mark.parametrize("operator", [operator for operator in Operator if operator is not Operator.INPUT], ids=lambda item: item.name)
def test_a_wrong_operator_is_noticed(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Writer, "_write", _otherwise(operator))
    assert next(differences(25, 1), None) is not None


_within = Writer.in_range

MISTAKES: dict[str, tuple[type, str, Callable[..., Any]]] = {
    "a rank outside its set is taken for one within": (Writer, "in_range", lambda writer, rank, width: _within(writer, rank, 192)),
    "the second word of a set is mistaken for the first": (Writer, "_pick", lambda writer, words, index: words[0]),
    "a guard is forgotten": (lowering.StepWriter, "_guards", lambda writer, step: writer._check([check.wrong for check in step.checks])),
    "a check is forgotten": (lowering.StepWriter, "_check", lambda writer, wrongs: None),
    "a broken property is forgotten": (lowering.StepWriter, "_answer", lambda writer, step, properties: writer.line("ret i64 1")),
    "elements are not taken out": (lowering._WideUpdate, "remove", lambda update, node, when: None),
    "elements are not put in": (lowering._WideUpdate, "add", lambda update, node, when: None),
    "what is to be kept alone is kept with the rest": (lowering._WideUpdate, "keep", lambda update, node, when: None),
    "a condition is forgotten": (lowering._WideUpdate, "_also", lambda update, when, condition: condition),
    "a leaf is written at the start of its word": (
        lowering.StepWriter, "_placed", lambda writer, slot, value: "0" if isinstance(value.sort, Boolean) else writer.one(value)),
}  # fmt: skip
"""Mistakes in the writer of steps: where they are made, and what is done instead."""


@pytest.mark.sampled(6)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_writer_of_steps_is_noticed(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, wrong = MISTAKES[mistake]
    monkeypatch.setattr(owner, name, wrong)
    assert any(next(differences(40, seed), None) is not None for seed in range(5))
