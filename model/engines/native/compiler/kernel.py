"""Kernel: the machine code of one program, with its steps and predicates, and the functions that store and
number states.

The text is made from the ground form, compiled by LLVM without any compiler on the machine, and cached on
disk (`cache`): the steps by themselves, and the functions around them, which programs of one width share.

This file knows nothing of searching, of threads or of memory.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from antiphon.model.cache import Cache
from antiphon.model.engines.native.compiler.enumeration import plan_actions
from antiphon.model.engines.native.compiler.independence import footprints
from antiphon.model.engines.native.compiler.lower import DECLARATIONS, lower
from antiphon.model.engines.native.compiler.reduction import WHOLE, Reduction
from antiphon.model.engines.native.compiler.steps import StepWriter, number_function, predicate_function
from antiphon.model.engines.native.compiler.successors import SleepSet, Successors
from antiphon.model.engines.native.compiler.symmetry import columns, comparisons, exchange_step, exchanges
from antiphon.model.engines.native.kernels import batches, fields, runtime, tree, walks
from antiphon.model.ground import ground_predicate, layout, make
from antiphon.model.ground.codes import Codes
from antiphon.model.ground.form import Expression
from antiphon.model.ground.intern import forget, making
from antiphon.model.ground.words import WORD, WordPacking
from antiphon.spec.lang import Program
from antiphon.spec.lang.variants import has_stand_in
from antiphon.spec.lang.watch import working

_KERNELS = 16
RECENT_BYTES = 1 << 18
"""Number of bytes in which a thread remembers the states that it has seen lately."""
PARENTS_EVERY = 64
TABLELESS = (fields.WALK, fields.BATCH)
"""Modes without a table of states."""
SLEEP_WORDS, MOST_COMPARED = 2, 4096
"""`SLEEP_WORDS`: number of words of a sleep set where a program has more than 64 steps. `MOST_COMPARED`:
largest number of steps of a program that has sleep sets.
"""
LINE_SECONDS, SQUARE_SECONDS, QUICK_SECONDS = 2e-5, 5e-8, 4e-6
"""Estimates of LLVM's time: with optimisation a function of n lines takes n `LINE_SECONDS` and n squared
`SQUARE_SECONDS`; compiled quickly it takes n `QUICK_SECONDS`.
"""
STEPS_SECONDS, LEAST_CAREFUL_SECONDS = 0.12, 0.04
"""Seconds that LLVM may take for the steps of a program; and the least that are left for optimisation."""

Native = Callable[..., int]


@dataclass(frozen=True)
class Kernel:
    """The functions of one program, ready to call with addresses and numbers; `mode` is the form of its table
    of states.

    Attributes:
        packing: where the leaves of a state stand.
        reduction: what the kernel leaves out of the program.
        columns: whether states are put in canonical form by sorting the columns of members.
        codes: the steps by number.
        properties: the properties that steps may break, in the order of findings.
        predicates: the predicates that it computes, in the order of their functions.
        functions: the functions of the machine code that Python calls, by name.
        sleep: how many words a sleep set has; 0 without sleep sets.
        footprints: what each step reads and writes (`independence`), packed, where there are sleep sets.
        built: whether it was compiled now; else it came from the cache.
    """

    program: Program
    mode: int
    reduction: Reduction
    columns: bool
    packing: WordPacking
    codes: Codes
    properties: tuple[str, ...]
    predicates: tuple[str, ...]
    functions: dict[str, Native]
    sleep: int
    footprints: bytes
    built: bool
    engine: Any


@lru_cache(maxsize=_KERNELS)
def kernel_of(program: Program, mode: int = fields.WHOLE, reduction: Reduction = WHOLE) -> Kernel:
    """Return the kernel of a program, from this process, from the cache on disk, or compiled now.

    Raises:
        SpecError: the program cannot be compiled, or has no symmetry.
    """
    packing = WordPacking(layout(program).slots, reduction.stored_slots(program))
    predicates, properties = reduction.predicates(program), reduction.properties(program)
    sorted_by = columns(program, reduction.stored_slots(program)) if reduction.symmetric else None

    sleep = sleep_words(program, mode, reduction)

    def assembled() -> list[bytes]:
        steps = steps_texts(program, packing, reduction, sleep)
        if mode in TABLELESS:
            steps[0] += _dispatch("holds", "i64 %state", "ptr %s", len(predicates))
        return assemble(steps)

    around = _around(packing.words, mode, reduction.symmetric, sorted_by is not None, sleep)
    stored = fields.WALK if mode in TABLELESS else fields.WHOLE  # steps are the same in every table
    code, built = _code(key_of(program, stored, reduction), assembled, kept=_is_kept(program))
    engine = _load(around + code)
    names = [
        *exported(mode),
        *(f"{kind}.{number}" for kind in ("scan", "fill") for number in range(len(predicates))),
    ]
    functions = {name: _function(engine, name, _ARGUMENTS.get(name.partition(".")[0], 0)) for name in names}
    return Kernel(
        program,
        mode,
        reduction,
        sorted_by is not None,
        packing,
        Codes.of(program),
        properties,
        predicates,
        functions,
        sleep,
        _bytes(engine, "footprints") if sleep else b"",
        built,
        engine,
    )


@contextmanager
def filling(kernel: Kernel, condition: Expression) -> Iterator[Native]:
    """Return the function `fill` for a condition that is no predicate of the program: from the cache on disk,
    or compiled now.
    """
    packing = kernel.packing
    function = predicate_function("holds.0", packing, condition, ())
    text = "\n".join(
        [DECLARATIONS, function, _LOOP.format(kind="fill", number=0, step=8 * packing.words, body=_FILL)]
    )
    careful = _careful_seconds(function) < STEPS_SECONDS
    parts = [text] if careful else [DECLARATIONS, _without_choices(text)]
    key = _digest(text, *_machine_parts())
    code, _ = _code(key, lambda: assemble(parts), kept=_is_kept(kernel.program))
    engine = _load(code)
    try:
        yield _function(engine, "fill.0", _ARGUMENTS["fill"])
    finally:
        del engine


def _is_kept(program: Program) -> bool:
    """Return True if the code of a program is kept on disk; that of a mutant is not, since a mutant is
    explored once.
    """
    return not has_stand_in(program.text)


@lru_cache(maxsize=_KERNELS)
def _around(words: int, mode: int, symmetric: bool, by_columns: bool, sleep: int) -> bytes:
    """Return the code of the functions around the steps, the same for all programs with states of this many
    words.
    """

    def assembled() -> list[bytes]:
        if mode == fields.WALK:
            return [_around_assembled(walks_text(words))]
        if mode == fields.BATCH:
            return [_around_assembled(batches_text(words))]
        text = runtime_text(words, mode, symmetric=symmetric, by_columns=by_columns, sleep=sleep)
        return [_around_assembled(text)]

    named = "around", str(words), str(mode), str(symmetric), str(by_columns), str(sleep)
    return _code(_digest(*named, _translator(), *_machine_parts()), assembled)[0]


def _code(key: str, assembled: Callable[[], list[bytes]], *, kept: bool = True) -> tuple[bytes, bool]:
    """Return the code for this key, and True if it was compiled now; else it came from the cache on disk.
    `kept` code is written to the cache.
    """
    cache = Cache.private("kernels") if kept else Cache(None)
    code = cache.get(key)
    built = code is None
    if code is None:
        with uncollected():
            code = b"".join(len(part).to_bytes(8, "little") + part for part in assembled())
        cache.put(key, code)
    return code, built


@contextmanager
def uncollected() -> Iterator[None]:
    """Context without Python's search for reference cycles: the many objects that are made inside have no
    cycles, and the search would take a fifth of the time.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


_ARGUMENTS = {
    "hash_row": 1, "canonical": 2, "orbits": 3, "expand": 3, "insert": 2, "absorb": 2, "settle": 2,
    "origin": 4, "empty": 1, "rebuild": 4, "move": 5, "lookup": 3, "recover": 4, "link": 3,
    "sweep": 2, "read": 4, "enter_nodes": 3, "root_of": 2, "scan": 4, "fill": 4, "walk_all": 3,
    "expand_rows": 3, "lead_to": 3, "collect": 3, "in_order": 3, "new_rows": 2, "join": 5,
}  # fmt: skip


def sleep_words(program: Program, mode: int, reduction: Reduction) -> int:
    """Return the number of words of a sleep set: 0 where successors are not remembered, where a state
    represents others, or where there are too many steps.
    """
    count = Codes.of(program).count
    if mode in TABLELESS or reduction.symmetric or count > MOST_COMPARED:
        return 0
    return 1 if count <= WORD else SLEEP_WORDS


def steps_texts(
    program: Program, packing: WordPacking, reduction: Reduction = WHOLE, sleep: int = 0
) -> list[str]:
    """Return the LLVM texts of a program's steps: first those compiled with optimisation (`successors`, the
    predicates, small steps), then the rest, compiled quickly, since LLVM takes more than linear time in the
    length of a function.

    They do not depend on earlier grounding: all nodes are forgotten first.
    """
    with making:
        return _steps_texts(program, packing, reduction, sleep)


def _steps_texts(program: Program, packing: WordPacking, reduction: Reduction, sleep: int) -> list[str]:
    forget()
    plans, codes = plan_actions(program, reduction), Codes.of(program).count
    asleep = SleepSet(many=codes > WORD) if sleep else None
    successors = Successors(packing, reduction.properties(program), plans, asleep)
    parts = [DECLARATIONS, TAKE, successors.text(), _exchange_text(program, packing, reduction)]
    if sleep:
        masks = footprints(plans, packing, codes)
        parts.append(_bytes_text("footprints", zlib.compress(masks.tobytes(), 1)))
    functions = list(successors.called)
    for number, predicate in enumerate(reduction.predicates(program)):
        ground = ground_predicate(program, predicate)
        functions.append(
            predicate_function(
                f"holds.{number}", packing, ground.holds, [check.wrong for check in ground.checks]
            )
        )
        parts += [
            _LOOP.format(kind=kind, number=number, step=8 * packing.words, body=body)
            for kind, body in (("scan", _SCAN), ("fill", _FILL))
        ]
    quick: list[str] = []
    left = max(
        LEAST_CAREFUL_SECONDS,
        STEPS_SECONDS - QUICK_SECONDS * sum(function.count("\n") for function in functions),
    )
    for function in sorted(functions, key=len):
        left -= _careful_seconds(function)
        if left > 0:
            parts.append(function)
        else:
            quick.append(_without_choices(function))
    if not quick:
        return ["\n".join(parts)]
    return [
        "\n".join([*parts, *(_declared(function) for function in quick)]),
        "\n".join([DECLARATIONS, *quick]),
    ]


def _careful_seconds(function: str) -> float:
    """Estimate the seconds that LLVM needs for one function that it compiles with care."""
    lines = function.count("\n")
    return lines * (LINE_SECONDS + lines * SQUARE_SECONDS)


_CHOICE = re.compile(r"  (%\w+) = select i1 (\S+), i1 (\S+), i1 (\S+)")


def _without_choices(function: str) -> str:
    """Return the function without `select` instructions between two conditions. LLVM's quick instruction
    selection does not know them, and takes ten times as long when it falls back to the careful one.
    """
    return _CHOICE.sub(r"  \1.a = xor i1 \3, \4\n  \1.b = and i1 \1.a, \2\n  \1 = xor i1 \1.b, \4", function)


def _declared(function: str) -> str:
    return function.partition(" nounwind {")[0].replace("define", "declare")


def _exchange_text(program: Program, packing: WordPacking, reduction: Reduction) -> str:
    """Return the functions that exchange neighbouring members by the exchange's number, `exchange(state, out,
    number)`, and, if members have columns, the order of two neighbours' columns: `order(state, number)` is 0
    if they are equal, 1 if they are to be exchanged, else 2.
    """
    made = exchanges(program) if reduction.symmetric else ()
    steps = [reduction.step(program, exchange_step(program, item)) for item in made]
    texts = [
        StepWriter(packing).function(f"exchange.{number}", (), step, ()) for number, step in enumerate(steps)
    ]
    texts.append(_dispatch("exchange", "i64 %state, i64 %target", "ptr %s, ptr %out", len(made)))
    pairs = (columns(program, reduction.stored_slots(program)) if made else None) or ()
    for number, pair in enumerate(pairs):
        before, same = comparisons(program, pair)
        rank = make.choose(same, make.number(0), make.choose(before, make.number(1), make.number(2)))
        texts.append(number_function(f"order.{number}", packing, rank))
    texts.append(_dispatch("order", "i64 %state", "ptr %s", len(pairs)))
    return "\n".join(texts)


def _bytes_text(name: str, content: bytes) -> str:
    """Return an LLVM constant: the number of bytes, and the bytes."""
    content = len(content).to_bytes(8, "little") + content
    written = "".join(f"\\{byte:02x}" for byte in content)
    return f'@{name} = constant [{len(content)} x i8] c"{written}"\n'


def _dispatch(name: str, parameters: str, arguments: str, count: int) -> str:
    """Return the function that calls `name.0`, `name.1` and so on by number."""
    cases = " ".join(f"i64 {number}, label %case{number}" for number in range(count))
    lines = [
        f"define i64 @{name}({parameters}, i64 %number) nounwind {{",
        "  %s = inttoptr i64 %state to ptr",
    ]
    if "%target" in parameters:
        lines.append("  %out = inttoptr i64 %target to ptr")
    lines.append(f"  switch i64 %number, label %off [{cases}]")
    for number in range(count):
        lines += [
            f"case{number}:",
            f"  %r{number} = call i64 @{name}.{number}({arguments})",
            f"  ret i64 %r{number}",
        ]
    return "\n".join([*lines, "off:", "  ret i64 0", "}\n"])


def seen_words(words: int) -> int:
    """Return the number of words in which a thread remembers a recently seen row of this size: its hash, and
    the row if the hash is not enough.
    """
    return 1 if words == 1 else words + 1


def recently(words: int) -> int:
    """Return the number of rows of this size that a thread remembers: a power of two, that fits a part of the
    processor's second-level cache.
    """
    return 1 << max(6, (RECENT_BYTES // (8 * seen_words(words))).bit_length() - 1)


def exported(mode: int) -> tuple[str, ...]:
    """Return the names of the functions that a kernel of this mode exports besides the steps."""
    if mode == fields.WALK:
        return walks.EXPORTED
    if mode == fields.BATCH:
        return batches.EXPORTED
    return runtime.EXPORTED + (tree.EXPORTED if mode == fields.TREE else ())


def row_words(words: int, mode: int) -> int:
    """Return the number of words that are stored for a state of this size: for a tree only its root."""
    return 1 if mode == fields.TREE else words


def slot_bytes(mode: int) -> int:
    """Return the number of bytes from a slot of the table to the next slot; for trees it is the size of the
    number in a slot.
    """
    return 4 if mode == fields.TREE else 8


def parents_every(mode: int) -> int:
    """Return the interval of parents: a state's parent is stored if the state's number is a multiple of it; 1
    where states are forgotten, so that parents cannot be computed again.
    """
    return 1 if mode == fields.FINGERPRINT else PARENTS_EVERY


def runtime_text(
    words: int,
    mode: int,
    *,
    symmetric: bool = False,
    by_columns: bool = False,
    sleep: int = 0,
) -> str:
    """Return the LLVM text of the functions around the steps: they store, look up and number states."""
    row = row_words(words, mode)
    values = {
        "W": words,
        "ROW": row,
        "BYTES": slot_bytes(mode),
        "RECENTLY": recently(row),
        "SEEN": seen_words(row),
        "EVERY": parents_every(mode),
        "MODE": mode,
        "NUMBERED": int(mode in (fields.WHOLE, fields.TREE)),
        "SYMMETRIC": int(symmetric),
        "COLUMNS": int(by_columns),
        "SLEEP": sleep,
        "ORDINAL": int(sleep > 1),
    }
    return (
        SUCCESSORS
        + EXCHANGE
        + (tree.text(words) if mode == fields.TREE else NO_TREES)
        + DECLARATIONS
        + lower(runtime.FUNCTIONS, values, exported=(*exported(mode), "take"))
    )


def walks_text(words: int) -> str:
    """Return the LLVM text of the functions that walk, in place of those that store states."""
    return (
        SUCCESSORS
        + HOLDS
        + DECLARATIONS
        + lower(walks.FUNCTIONS, {"W": words}, exported=(*walks.EXPORTED, "take"))
    )


def batches_text(words: int) -> str:
    """Return the LLVM text of the functions that expand and merge batches, in place of those that store
    states.
    """
    values = {"W": words, "ROW": words, "MODE": fields.WHOLE}
    return (
        SUCCESSORS
        + DECLARATIONS
        + lower(batches.FUNCTIONS, values, exported=(*batches.EXPORTED, "take"))
    )


TAKE = "declare i64 @take(i64, i64, i64, i64, i64, i64)\n"
EXCHANGE = "declare i64 @exchange(i64, i64, i64)\ndeclare i64 @order(i64, i64)\n"
NO_TREES = "declare i64 @compress(i64, i64, i64)\ndeclare i64 @decompress(i64, i64)\n"
HOLDS = "declare i64 @holds(i64, i64)\n"
SUCCESSORS = "declare i64 @successors(i64, i64, i64, i64, i64, i64)\n"

_LOOP = """
define i64 @{kind}.{number}(i64 %states, i64 %first, i64 %last, i64 %given) nounwind {{
entry:
  br label %head
head:
  %i = phi i64 [%first, %entry], [%j, %on]
  %more = icmp ult i64 %i, %last
  br i1 %more, label %look, label %none
look:
  %offset = mul i64 %i, {step}
  %address = add i64 %states, %offset
  %s = inttoptr i64 %address to ptr
  %value = call i64 @holds.{number}(ptr %s)
  %wrong = icmp eq i64 %value, 2
{body}
}}
"""
_SCAN = """\
  %found = icmp eq i64 %value, %given
  %stop = or i1 %wrong, %found
  br i1 %stop, label %out, label %on
on:
  %j = add i64 %i, 1
  br label %head
out:
  %twice = mul i64 %i, 2
  %mark = zext i1 %wrong to i64
  %answer = add i64 %twice, %mark
  ret i64 %answer
none:
  %end = mul i64 %last, 2
  ret i64 %end"""
_FILL = """\
  br i1 %wrong, label %none, label %on
on:
  %at = add i64 %given, %i
  %where = inttoptr i64 %at to ptr
  %short = trunc i64 %value to i8
  store i8 %short, ptr %where
  %j = add i64 %i, 1
  br label %head
none:
  ret i64 %i"""


def assemble(steps: Sequence[str]) -> list[bytes]:
    """Return the object codes of the steps, for this processor: the first text with optimisation, the others
    quickly.

    The steps are many and were written without repetition, so that few passes suffice.
    """
    return [_assembled(text, careful=text is steps[0]) for text in steps]


def _assembled(text: str, *, careful: bool) -> bytes:
    """Return the object code of one part of the steps."""
    working("compiling", large=True)
    machine = _machine(int(careful))
    module = _parsed(text, machine)
    light = llvm.create_new_module_pass_manager()
    light.add_sroa_pass()
    light.add_always_inliner_pass()
    if careful:  # steps that are inlined ask again what is known by then
        light.add_simplify_cfg_pass()
        light.add_instruction_combine_pass()
        light.add_new_gvn_pass()
        light.add_simplify_cfg_pass()
    light.run(module, llvm.create_pass_builder(machine, _tuning()))
    return bytes(machine.emit_object(module))


def _around_assembled(text: str) -> bytes:
    """Return the object code of the functions around the steps: they are few, and LLVM optimises them
    fully.
    """
    working("compiling", large=True)
    machine = _machine()
    module = _parsed(text, machine)
    builder = llvm.create_pass_builder(machine, _tuning())
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def _tuning() -> Any:
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = False
    return options


def _parsed(text: str, machine: Any) -> Any:
    module = llvm.parse_assembly(text, llvm.create_context())
    module.verify()
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    return module


def _machine(effort: int = 1) -> Any:
    """Return a new LLVM description of this processor: an engine takes ownership of it, and frees it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=_features(), opt=effort, jit=True
    )


def _features() -> str:
    return str(llvm.get_host_cpu_features().flatten())


def _load(code: bytes) -> Any:
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    while code:
        length = int.from_bytes(code[:8], "little")
        engine.add_object_file(llvm.ObjectFileRef.from_data(code[8 : 8 + length]))
        code = code[8 + length :]
    engine.finalize_object()
    return engine


def _function(engine: Any, name: str, arguments: int) -> Native:
    address = engine.get_function_address(name)
    return ctypes.CFUNCTYPE(ctypes.c_uint64, *[ctypes.c_uint64] * arguments)(address)


def _bytes(engine: Any, name: str) -> bytes:
    """Return the bytes that the compiled code has stored under `name`, with their length before them."""
    address = engine.get_global_value_address(name)
    return ctypes.string_at(address + 8, int.from_bytes(ctypes.string_at(address, 8), "little"))


def key_of(program: Program, mode: int, reduction: Reduction) -> str:
    """Return the cache key of the code: the program, the form of tables, the reductions, this package's
    translator, LLVM and the processor.
    """
    return _digest(program.digest, str(mode), reduction.key(), _translator(), *_machine_parts())


def _machine_parts() -> tuple[str, ...]:
    """Return the parts of this machine on which code depends: the versions of LLVM and the processor's
    features.
    """
    return llvmlite.__version__, llvm.get_host_cpu_name(), _features()


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@cache
def _translator() -> str:
    """Return a digest of the sources that turn a program into code."""
    here = Path(__file__).parents[1]
    files = sorted([*here.rglob("*.py"), *(here.parents[1] / "ground").glob("*.py")])
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


__all__ = ["Kernel", "assemble", "kernel_of", "runtime_text", "steps_texts"]
