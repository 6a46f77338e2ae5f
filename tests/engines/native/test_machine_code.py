"""The functions between the steps mean as machine code what they mean as Python; what is kept on disk is what
was compiled.
"""

from __future__ import annotations

import ast
import ctypes
import inspect
import itertools
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.engines.native.between_steps import BetweenSteps

from antiphon.model.engines.native import NativeSpace, kernel_of
from antiphon.model.engines.native.compiler import kernel as native
from antiphon.model.engines.native.compiler.lower import lower
from antiphon.model.engines.native.driver.memory import PAGE, Area
from antiphon.model.engines.native.driver.store import Store
from antiphon.model.engines.native.kernels import fields, runtime
from antiphon.model.explore.checking import collision_probability
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import program

WORD = (1 << 64) - 1


def hash_by_python(state: list[int]) -> int:
    """`runtime.hash_row`, line by line, with arithmetic that wraps."""
    value = 0
    for index in range(0, len(state) - 1, 2):
        left = state[index] ^ runtime.MULTIPLIER * (index + 1) & WORD
        right = state[index + 1] ^ runtime.FINISHER * (index + 1) & WORD
        value ^= left * right & WORD ^ left * right >> 64
    if len(state) % 2:
        last = (state[-1] ^ runtime.MULTIPLIER) * runtime.MULTIPLIER & WORD
        value ^= last ^ last >> 32
    if len(state) > 1:
        value ^= value >> 32
    value = value * runtime.FINISHER & WORD
    return value ^ value >> 29


@pytest.mark.parametrize("words", range(1, 6))
def test_the_hash_is_that_of_its_python_text(words: int) -> None:
    machine = BetweenSteps([runtime.hash_row], {"ROW": words, "MODE": fields.WHOLE})
    source = random.Random(3)
    for _ in range(200):
        state = [source.getrandbits(64) for _ in range(words)]
        row = (ctypes.c_uint64 * words)(*state)
        assert machine.hash_row(ctypes.addressof(row)) == hash_by_python(state)


@pytest.mark.parametrize("words", range(2, 6))
def test_states_that_differ_in_few_bits_have_different_hashes(words: int) -> None:
    """The search keeps only the fingerprint of a state, and states are small numbers in few bits."""
    bits = [1 << place for place in range(64 * words)]
    states = [0, *bits, *(one | other for one, other in itertools.combinations(bits, 2))]
    hashes = {hash_by_python([state >> 64 * word & WORD for word in range(words)]) for state in states}
    assert len(hashes) == len(states)


def equal_by_machine(line: int, mask: int, value: int) -> int:
    return equal_words(line, mask, value)  # type: ignore[name-defined] # noqa: F821 - an operation of the subset


def test_the_words_of_a_line_are_compared_at_once() -> None:
    machine = BetweenSteps([equal_by_machine], {})
    area = Area(PAGE)
    source = random.Random(5)
    for _ in range(200):
        words = [source.getrandbits(2) | source.getrandbits(1) << 63 for _ in range(8)]
        area.write(64, b"".join(word.to_bytes(8, "little") for word in words))
        mask, value = source.choice([WORD, 3, 1 << 63]), source.choice(words)
        wanted = sum((word & mask == value) << place for place, word in enumerate(words))
        assert machine.equal_by_machine(area.address + 64, mask, value) == wanted


def equal_bytes_by_machine(address: int, value: int) -> int:
    return equal_bytes(address, value)  # type: ignore[name-defined] # noqa: F821 - an operation of the subset


def test_sixteen_bytes_are_compared_at_once() -> None:
    machine = BetweenSteps([equal_bytes_by_machine], {})
    area = Area(PAGE)
    source = random.Random(6)
    for _ in range(200):
        content = bytes(source.choice([0, 1, 127, 128, 255]) for _ in range(16))
        area.write(48, content)
        value = source.choice(content)
        wanted = sum((byte == value) << place for place, byte in enumerate(content))
        assert machine.equal_bytes_by_machine(area.address + 48, value) == wanted


def test_no_two_words_have_the_same_hash() -> None:
    """A search takes a single word for seen when its hash was seen."""
    source = random.Random(4)
    for _ in range(200):
        state = source.getrandbits(64)
        value = hash_by_python([state])
        value ^= value >> 29 ^ value >> 58
        value = value * pow(runtime.FINISHER, -1, WORD + 1) & WORD
        value ^= value >> 32
        value = value * pow(runtime.MULTIPLIER, -1, WORD + 1) & WORD
        assert value ^ runtime.MULTIPLIER == state


def test_a_closed_array_is_not_read() -> None:
    area = Area(PAGE)
    area.close()
    for use in (lambda: area.read(0, 8), lambda: area.write(0, bytes(8))):
        with pytest.raises(ValueError, match="an array is closed"):
            use()


def test_nothing_was_seen_before_a_search_begins() -> None:
    """A table of states seen lately places each hash by its last bits: it holds no hash at first, nor after a
    thread has forgotten.
    """
    store = Store(kernel_of(program(TwoPhase, managers=3), fields.DIRECT), threads=2)
    for thread in range(2):
        places = store._recent // 8
        address = store._contexts[thread][fields.RECENT]
        remembered = (ctypes.c_uint64 * places).from_address(address)
        remembered[:] = range(places)
        store.forget()
        assert all(hashed % places != place for place, hashed in enumerate(remembered))
    store.close()


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_where_a_search_begins_is_known_from_what_a_slot_keeps_of_the_hash(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A larger table would not find the states that were moved to it. The slots are many: few do not need the
    lower half of the hash.
    """
    context = {fields.THREADS: threads, fields.REGION: 1 << 34}
    operations = {
        "MODE": fields.WHOLE,
        "BYTES": 8,
        "word": lambda base, index: base[index],
        "high_product": lambda one, other: (one & WORD) * other >> 64,
    }
    for name, value in operations.items():
        monkeypatch.setattr(runtime, name, value, raising=False)
    source = random.Random(5)
    for hashed in (source.getrandbits(64) for _ in range(200)):
        assert runtime.home(context, hashed) == runtime.home(context, hashed & runtime.TAG)  # type: ignore[arg-type]


def unfit(first: int) -> int:
    return [first][0]


def test_what_is_not_in_the_subset_is_refused_with_its_line() -> None:
    with pytest.raises(ValueError, match="unfit, line 2: not in the subset"):
        lower([unfit], {})


CHILD = """
from antiphon.model.engines.native import kernel_of
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import program
print(kernel_of(program(TwoPhase, managers=2)).built)
"""


@pytest.mark.deep
def test_a_second_process_finds_the_kernel_and_a_damaged_one_is_built_again(tmp_path: Path) -> None:
    def built() -> str:
        ran = subprocess.run(
            [sys.executable, "-c", CHILD],
            env={**os.environ, "ANTIPHON_CACHE": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        return ran.stdout.strip()

    assert built() == "True"
    entries = sorted((tmp_path / "kernels").iterdir())
    assert len(entries) == 2, "the steps, and the functions around them"
    assert built() == "False"
    for entry in entries:
        entry.write_bytes(entry.read_bytes()[:-7])
    assert built() == "True"
    assert built() == "False"
    assert sorted((tmp_path / "kernels").iterdir()) == entries


def test_kernels_of_one_width_share_the_functions_around_their_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTIPHON_CACHE", str(tmp_path))
    kernel_of.cache_clear()
    native._around.cache_clear()
    for managers in (2, 3):
        assert kernel_of(program(TwoPhase, managers=managers)).built
    assert len(list((tmp_path / "kernels").iterdir())) == 3
    assert kernel_of(program(TwoPhase, managers=2), fields.DIRECT).built is False


@pytest.mark.deep
def test_processes_that_compile_at_once_share_the_cache(tmp_path: Path) -> None:
    command: list[Any] = [sys.executable, "-c", CHILD]
    environment = {**os.environ, "ANTIPHON_CACHE": str(tmp_path)}
    running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(3)]
    assert [process.wait(timeout=600) for process in running] == [0, 0, 0]
    assert len(list((tmp_path / "kernels").iterdir())) == 2
    for process in running:
        process.communicate()


def test_an_area_on_disk_keeps_what_was_written(tmp_path: Path) -> None:
    area = Area(1 << 30, tmp_path / "area")
    area.write(1 << 20, b"here")
    area.release(0, 1 << 30)
    assert area.read(1 << 20, 4) == b"here"
    area.close()
    assert Area(1 << 30, tmp_path / "area").read(1 << 20, 4) == b"here"
    assert (tmp_path / "area").stat().st_blocks * 512 < 1 << 22


def test_arrays_may_live_on_disk(tmp_path: Path) -> None:
    bound = program(TwoPhase, managers=5)
    space = NativeSpace(bound, bound.reference.initial(), threads=2, directory=tmp_path)
    first = 0
    while first < len(space):
        first, _ = len(space), space.expand(first, len(space))
    assert len(space) == 8832


def test_the_collision_probability_is_that_of_birthdays() -> None:
    assert collision_probability(1) == 0
    assert collision_probability(10**8) == pytest.approx(2.7e-4, rel=0.01)


def test_no_two_fields_of_a_context_have_one_name_or_one_place() -> None:
    text = inspect.getsource(fields).partition("DIRECT, WHOLE")[0]
    names = [
        name.id
        for statement in ast.parse(text).body
        if isinstance(statement, ast.Assign)
        for name in ast.walk(statement.targets[0])
        if isinstance(name, ast.Name)
    ]
    assert names.pop() == "FIELDS"
    assert sorted(getattr(fields, name) for name in names) == list(range(fields.FIELDS))
