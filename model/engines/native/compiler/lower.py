"""Lowering of Python functions over 64-bit words to LLVM text; the functions around the steps are written as
such Python.

The subset: every value is an unsigned 64-bit word and arithmetic wraps; assignment to names, `while`, `if`,
`break`, `continue`, `return`, comparisons, `and or not`, `+ - * // % & | ^ << >>`, calls of the functions
lowered together or declared as external, and constants of the module that are integers. Memory is reached
through the operations of `MEMORY`: a base address and an index.

This file knows nothing of states or tables.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping

MEMORY = {"word": ("i64", 8), "half": ("i32", 4), "byte": ("i8", 1)}
"""Memory operations. `word`, `half` and `byte` of (base, index) load; `set_word(base, index, value)` and so
on store; `prefetch(address)` asks for a cache line. `count_bits(value)` is the number of bits that are 1,
`first_bit(value)` the place of the lowest of them. `copy_words(to, from, count)` copies a constant number of
words. `equal_words(address, mask, value)` has a bit for each word of a cache line, 1 where `word & mask` is
the value; `equal_bytes(address, value)` has a bit for each of sixteen bytes, 1 where the byte is the value.
"""

_ATOMIC = {
    "load_acquire": "load atomic i64, ptr {0} acquire, align 8",
    "store_release": "store atomic i64 {1}, ptr {0} release, align 8",
    "compare_swap": "cmpxchg ptr {0}, i64 {1}, i64 {2} acq_rel acquire, align 8",
    "fetch_add": "atomicrmw add ptr {0}, i64 {1} acq_rel, align 8",
}
"""Operations on words that several threads write. Their arguments are a base, an index and values;
`compare_swap` and `fetch_add` return the word as it was before.
"""
_BITS = {
    "count_bits": "call i64 @llvm.ctpop.i64(i64 {0})",
    "first_bit": "call i64 @llvm.cttz.i64(i64 {0}, i1 true)",
}
_ARITHMETIC = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "udiv", ast.Mod: "urem",
    ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "lshr",
}  # fmt: skip
_COMPARISONS = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "ult", ast.LtE: "ule", ast.Gt: "ugt", ast.GtE: "uge"}

DECLARATIONS = """\
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.cttz.i64(i64, i1)
"""


def lower(
    functions: Iterable[Callable[..., int]], values: Mapping[str, int], *, exported: Iterable[str] = ()
) -> str:
    """Return the LLVM text of these functions, under their own names.

    Args:
        functions: Python functions in the subset; their globals give further constants.
        values: constants by name, which win over the globals.
        exported: names of the functions that are called from outside; the others may be inlined away.

    Raises:
        ValueError: a function is not in the subset; the place is named.
    """
    outside = set(exported)
    return "\n".join(
        _Function(function, values, external=function.__name__ in outside).text() for function in functions
    )


class _Function:
    def __init__(self, function: Callable[..., int], values: Mapping[str, int], *, external: bool) -> None:
        source = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(source).body[0]
        if not isinstance(tree, ast.FunctionDef):
            raise ValueError(f"{function.__name__} is no plain function")
        self.tree, self.external = tree, external
        self.constants = {
            name: value for name, value in function.__globals__.items() if isinstance(value, int)
        } | dict(values)
        self.lines: list[str] = []
        self.count = 0
        self.loops: list[tuple[str, str]] = []
        self.parameters = [argument.arg for argument in tree.args.args]
        self.locals = sorted(
            {
                node.id
                for node in ast.walk(tree)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
        )

    def text(self) -> str:
        """Return the LLVM text of the whole function."""
        linkage = "" if self.external else "internal "
        parameters = ", ".join(f"i64 %p.{name}" for name in self.parameters)
        head = f"define {linkage}i64 @{self.tree.name}({parameters}) nounwind {{\nentry:"
        names = dict.fromkeys([*self.parameters, *self.locals])
        for name in names:
            self.lines.append(f"  %v.{name} = alloca i64")
        for name in self.parameters:
            self.lines.append(f"  store i64 %p.{name}, ptr %v.{name}")
        self.block(self.tree.body)
        self.lines.append("  ret i64 0")
        return "\n".join([head, *self.lines, "}\n"])

    def name(self) -> str:
        self.count += 1
        return f"%t{self.count}"

    def label(self) -> str:
        self.count += 1
        return f"l{self.count}"

    def emit(self, text: str) -> str:
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def at(self, label: str) -> None:
        self.lines.append(f"{label}:")

    def jump(self, label: str) -> None:
        self.lines.append(f"  br label %{label}")

    def fail(self, node: ast.AST, why: str) -> ValueError:
        return ValueError(
            f"{self.tree.name}, line {getattr(node, 'lineno', '?')}: {why}: {ast.unparse(node)}"
        )

    # Statements ---------------------------------------------------------------------------------------------

    def block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                return
            case ast.Expr(value=ast.Call() as call):
                self.call(call)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.lines.append(f"  store i64 {self.value(value)}, ptr %v.{name}")
            case ast.AugAssign(target=ast.Name(id=name), op=operator, value=value):
                old = self.emit(f"load i64, ptr %v.{name}")
                new = self.emit(f"{_ARITHMETIC[type(operator)]} i64 {old}, {self.value(value)}")
                self.lines.append(f"  store i64 {new}, ptr %v.{name}")
            case ast.If(test=test, body=body, orelse=otherwise):
                self.branch(test, body, otherwise)
            case ast.While(test=test, body=body, orelse=[]):
                self.loop(test, body)
            case ast.Break():
                self.leave(self.loops[-1][1])
            case ast.Continue():
                self.leave(self.loops[-1][0])
            case ast.Return(value=value):
                self.lines.append(f"  ret i64 {self.value(value) if value else 0}")
                self.at(self.label())
            case _:
                raise self.fail(node, "not in the subset")

    def leave(self, label: str) -> None:
        self.jump(label)
        self.at(self.label())

    def branch(self, test: ast.expr, body: list[ast.stmt], otherwise: list[ast.stmt]) -> None:
        yes, no, after = self.label(), self.label(), self.label()
        self.condition(test, yes, no)
        self.at(yes)
        self.block(body)
        self.jump(after)
        self.at(no)
        self.block(otherwise)
        self.jump(after)
        self.at(after)

    def loop(self, test: ast.expr, body: list[ast.stmt]) -> None:
        head, inside, after = self.label(), self.label(), self.label()
        self.jump(head)
        self.at(head)
        self.condition(test, inside, after)
        self.at(inside)
        self.loops.append((head, after))
        self.block(body)
        self.loops.pop()
        self.jump(head)
        self.at(after)

    # Conditions ---------------------------------------------------------------------------------------------

    def condition(self, node: ast.expr, yes: str, no: str) -> None:
        match node:
            case ast.BoolOp(op=operator, values=[*values]):
                for value in values[:-1]:
                    more = self.label()
                    if isinstance(operator, ast.And):
                        self.condition(value, more, no)
                    else:
                        self.condition(value, yes, more)
                    self.at(more)
                self.condition(values[-1], yes, no)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.condition(operand, no, yes)
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                found = self.emit(
                    f"icmp {_COMPARISONS[type(operator)]} i64 {self.value(left)}, {self.value(right)}"
                )
                self.lines.append(f"  br i1 {found}, label %{yes}, label %{no}")
            case _:
                found = self.emit(f"icmp ne i64 {self.value(node)}, 0")
                self.lines.append(f"  br i1 {found}, label %{yes}, label %{no}")

    # Values -------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=int() as value):
                return str(value)
            case ast.Name(id=name):
                if name in self.parameters or name in self.locals:
                    return self.emit(f"load i64, ptr %v.{name}")
                if name not in self.constants:
                    raise self.fail(node, "no such name")
                return str(self.constants[name])
            case ast.BinOp(left=left, op=operator, right=right):
                return self.emit(f"{_ARITHMETIC[type(operator)]} i64 {self.value(left)}, {self.value(right)}")
            case ast.Call():
                return self.call(node)
        raise self.fail(node, "not in the subset")

    def address(self, kind: str, base: ast.expr, index: ast.expr) -> str:
        pointer = self.emit(f"inttoptr i64 {self.value(base)} to ptr")
        return self.emit(f"getelementptr {MEMORY[kind][0]}, ptr {pointer}, i64 {self.value(index)}")

    def call(self, node: ast.Call) -> str:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise self.fail(node, "not in the subset")
        name, arguments = node.func.id, node.args
        if name in MEMORY:
            type_ = MEMORY[name][0]
            loaded = self.emit(f"load {type_}, ptr {self.address(name, arguments[0], arguments[1])}")
            return loaded if type_ == "i64" else self.emit(f"zext {type_} {loaded} to i64")
        if name.startswith("set_") and name.removeprefix("set_") in MEMORY:
            type_ = MEMORY[name.removeprefix("set_")][0]
            value = self.value(arguments[2])
            if type_ != "i64":
                value = self.emit(f"trunc i64 {value} to {type_}")
            self.lines.append(
                f"  store {type_} {value}, ptr "
                f"{self.address(name.removeprefix('set_'), arguments[0], arguments[1])}"
            )
            return "0"
        if name in _ATOMIC:
            operands = [self.value(argument) for argument in arguments[2:]]
            text = _ATOMIC[name].format(self.address("word", arguments[0], arguments[1]), *operands)
            if name == "store_release":
                self.lines.append(f"  {text}")
                return "0"
            found = self.emit(text)
            return self.emit(f"extractvalue {{i64, i1}} {found}, 0") if name == "compare_swap" else found
        if name in _BITS:
            return self.emit(_BITS[name].format(self.value(arguments[0])))
        if name == "equal_words":
            return self.equal_words(*map(self.value, arguments))
        if name == "equal_bytes":
            return self.equal_bytes(*map(self.value, arguments))
        if name == "prefetch":
            pointer = self.emit(f"inttoptr i64 {self.value(arguments[0])} to ptr")
            self.lines.append(f"  call void @llvm.prefetch.p0(ptr {pointer}, i32 0, i32 3, i32 1)")
            return "0"
        if name == "copy_words":
            return self.copy_words(*map(self.value, arguments))
        if name == "high_product":
            left, right = (self.emit(f"zext i64 {self.value(argument)} to i128") for argument in arguments)
            product = self.emit(f"mul i128 {left}, {right}")
            return self.emit(f"trunc i128 {self.emit(f'lshr i128 {product}, 64')} to i64")
        passed = ", ".join(f"i64 {self.value(argument)}" for argument in arguments)
        return self.emit(f"call i64 @{name}({passed})")

    def copy_words(self, to: str, source: str, count: str) -> str:
        target, origin = (self.emit(f"inttoptr i64 {address} to ptr") for address in (to, source))
        copied = f"ptr align 8 {target}, ptr align 8 {origin}, i64 {8 * int(count)}, i1 false"
        self.lines.append(f"  call void @llvm.memcpy.p0.p0.i64({copied})")
        return "0"

    def equal_words(self, address: str, mask: str, value: str) -> str:
        pointer = self.emit(f"inttoptr i64 {address} to ptr")
        line = self.emit(f"load <8 x i64>, ptr {pointer}, align 64")
        masked = self.emit(f"and <8 x i64> {line}, {self.each(8, 'i64', mask)}")
        equal = self.emit(f"icmp eq <8 x i64> {masked}, {self.each(8, 'i64', value)}")
        return self.emit(f"zext i8 {self.emit(f'bitcast <8 x i1> {equal} to i8')} to i64")

    def equal_bytes(self, address: str, value: str) -> str:
        pointer = self.emit(f"inttoptr i64 {address} to ptr")
        line = self.emit(f"load <16 x i8>, ptr {pointer}, align 16")
        byte = self.emit(f"trunc i64 {value} to i8")
        equal = self.emit(f"icmp eq <16 x i8> {line}, {self.each(16, 'i8', byte)}")
        return self.emit(f"zext i16 {self.emit(f'bitcast <16 x i1> {equal} to i16')} to i64")

    def each(self, count: int, kind: str, value: str) -> str:
        first = self.emit(f"insertelement <{count} x {kind}> poison, {kind} {value}, i64 0")
        none = f"<{count} x {kind}> poison"
        return self.emit(f"shufflevector <{count} x {kind}> {first}, {none}, <{count} x i32> zeroinitializer")
