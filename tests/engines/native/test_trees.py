"""States that are kept as trees are the states: nothing that is found depends on how they are kept, by how
many threads, or when a table grows.
"""

from __future__ import annotations

import ctypes
import itertools
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.engines.native.between_steps import BetweenSteps
from tests.engines.native.summary import summary

from antiphon.model.bounds import Bounds, Progress
from antiphon.model.engines import Engine, Refused, StorageOptions, open_space
from antiphon.model.engines.native import NativeSpace, kernel_of
from antiphon.model.engines.native.driver import checkpoint, nodes, store
from antiphon.model.engines.native.driver.store import Store
from antiphon.model.engines.native.kernels import fields, tree
from antiphon.model.explore import check
from antiphon.model.explore.search import Search
from antiphon.programs import specification
from antiphon.spec.lang import Program, SpecError, program


def named(name: str, repairs: Any = "all", **constants: int) -> Program:
    return program(specification(name), repairs=repairs, **constants)


RBP = named("rbp", processes=2, messages=2, losses=1)
SEQUENCER = named("sequencer", processes=3, messages=2, crashes=1)
MODELS = [
    RBP,
    SEQUENCER,
    named("total", processes=2, messages=2),
    named("dtp", repairs=(), processes=2, messages=2),
    named("horus", processes=2, messages=1),
]


def title(bound: Program) -> str:
    return bound.name


def searched(bound: Program, most: int | None = None, **options: Any) -> NativeSpace:
    space = NativeSpace(bound, bound.reference.initial(), **options)
    Search(space, bounds=Bounds(states=most)).run()
    return space


def found(space: NativeSpace) -> tuple[Any, ...]:
    """All states by number, parents of some, what was counted."""
    words = b"".join(part.tobytes() for part in space.store.rows(0, len(space)))
    parents = [space.parent(number) for number in range(0, len(space), 499)]
    return words, parents, space.store.counts(), space.store.transitions()


@pytest.mark.deep
@pytest.mark.parametrize("bound", MODELS, ids=title)
def test_trees_change_neither_states_nor_their_numbers_nor_parents(bound: Program) -> None:
    whole = searched(bound, threads=1, trees=False)
    assert whole.mode == fields.WHOLE
    expected = found(whole)
    for threads in (1, 2, 3):
        kept = searched(bound, threads=threads)
        assert kept.mode == fields.TREE
        assert found(kept) == expected


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "bound",
    [
        SEQUENCER,
        named("dtp", repairs=(), processes=2, messages=2),
        named("total", repairs=(), processes=2, messages=2),
        named("sequencer", repairs=(), processes=3, messages=2, crashes=1),
        named("rbp", repairs=(), processes=2, messages=2, losses=1),
    ],
    ids=title,
)
def test_trees_change_no_verdict_and_no_trace(bound: Program) -> None:
    """Invariants, witnesses, services and obligations, which ask for the numbers of successors made again."""

    def report(*, whole: bool) -> tuple[Any, ...]:
        told = check(bound, engine="native", storage=StorageOptions(whole=whole))
        return summary(told), [None if item.trace is None else item.trace.states for item in told.verdicts]

    assert report(whole=False) == report(whole=True)


def test_whole_states_are_an_option_of_the_native_engine_and_exclude_fingerprints() -> None:
    modes = [open_space(SEQUENCER, Engine.NATIVE, StorageOptions(whole=whole)) for whole in (False, True)]
    assert [space.mode for space in modes if isinstance(space, NativeSpace)] == [fields.TREE, fields.WHOLE]
    with pytest.raises(SpecError, match="nor how states are kept"):
        open_space(SEQUENCER, Engine.GENERATED, StorageOptions(whole=True))
    with pytest.raises(SpecError, match="fingerprints are kept instead of states"):
        open_space(SEQUENCER, Engine.NATIVE, StorageOptions(whole=True, fingerprints=True))


@pytest.mark.deep
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_tables_that_grow_again_and_again_lose_nothing(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the least tables on, by a quarter each time, entered in parts; the nodes of a round find no room
    in the middle of it, so that it ends early.
    """
    for module, name, value in [
        (store, "FIRST_REGION", 1 << 9), (store, "LARGE", 0), (store, "ENTERED", 9_999), (store, "SHOWN", 77),
        (nodes, "FIRST_SLOTS", 1), (nodes, "AT_ONCE", 9_999),
    ]:  # fmt: skip
        monkeypatch.setattr(module, name, value)
    rounds = []
    expand = Store._expand

    def counted(kept: Store, first: int, last: int) -> int:
        rounds.append((first, last, expand(kept, first, last)))
        return rounds[-1][2]

    monkeypatch.setattr(Store, "_expand", counted)
    sizes = set()
    room = nodes.Nodes.room

    def sized(kept: nodes.Nodes, enter: Callable[[int, int], int]) -> None:
        room(kept, enter)
        sizes.add(kept.slots)

    monkeypatch.setattr(nodes.Nodes, "room", sized)
    bound = named("totem", processes=3, messages=3)
    kept = searched(bound, 50_000, threads=threads)
    assert found(kept) == found(searched(bound, 50_000, threads=1, trees=False))
    assert len(sizes) > 1
    assert any(reached < last for _, last, reached in rounds)
    assert kept.store.slot * kept.store.slots / len(kept) < 4 / 0.75 / 0.85 * 1.26


def test_equal_states_have_one_root_and_equal_parts_one_node_whichever_thread_comes_first() -> None:
    """Four threads keep the same states at once, each in another order."""
    kept = Store(kernel_of(RBP, fields.TREE), threads=4)
    assert kept.nodes is not None
    words = kept.kernel.packing.words
    source = random.Random(11)
    values = [source.getrandbits(64) for _ in range(12)]
    states = [tuple(source.choice(values) for _ in range(words)) for _ in range(3_000)]
    roots: list[dict[tuple[int, ...], int]] = [{} for _ in range(4)]

    def keep(thread: int) -> int:
        state = (ctypes.c_uint64 * words)()
        for row in random.Random(thread).sample(states, len(states)):
            state[:] = row
            roots[thread][row] = kept.kernel.functions["root_of"](
                kept.address(thread), ctypes.addressof(state)
            )
        return thread

    kept.together(keep)
    assert roots[0] == roots[1] == roots[2] == roots[3]
    assert len(set(roots[0].values())) == len(set(states))
    assert words == 6
    parts = [(0, 3), (3, 6), (0, 2), (2, 3), (3, 5), (5, 6)]
    zero: tuple[int, ...] = ()
    assert kept.nodes.count == len({zero, *(state[slice(*part)] for state in states for part in parts)})


def read_by_machine(context: int, root: int) -> int:
    return decompress(context, root)  # type: ignore[name-defined,no-any-return] # noqa: F821 - of `tree.text`


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("words", "hashes"),
    [
        *((words, tree.HASH) for words in (*range(3, 19), 24, 31, 32, 33, 64, 65, 130)),
        *((words, 0) for words in (3, 4, 5, 9)),
    ],
)
def test_a_root_says_the_whole_state_of_every_width(words: int, hashes: int) -> None:
    """The states share words, so that parts repeat, are known, or are new; in one case all nodes have the
    same hash, and only their words tell them apart.
    """
    machine = BetweenSteps([*tree.FUNCTIONS, read_by_machine], {"HASH": hashes}, tree.text(words))
    context = (ctypes.c_uint64 * fields.FIELDS)()
    kept = nodes.Nodes(
        words, 1, 1, 40_000, lambda name, value: context.__setitem__(getattr(fields, name), value), None
    )
    for name, value in kept.fields(0).items():
        context[getattr(fields, name)] = value
    kept.begin(partial(machine.enter_nodes, ctypes.addressof(context)))
    source = random.Random(words)
    values = [0, *(source.getrandbits(64) for _ in range(3))]
    state = [0] * words
    roots: dict[int, list[int]] = {}
    for _ in range(2_000):
        state[source.randrange(words)] = source.choice(values)
        if source.random() < 0.1:
            state = list(source.choice([*roots.values()] or [state]))
        row = (ctypes.c_uint64 * words)(*state)
        root = machine.root_of(ctypes.addressof(context), ctypes.addressof(row))
        assert roots.setdefault(root, list(state)) == state
    assert len(roots) == len(set(map(tuple, roots.values())))
    for root, kept_state in source.sample([*roots.items()], len(roots)):
        address = machine.read_by_machine(ctypes.addressof(context), root)
        assert list((ctypes.c_uint64 * words).from_address(address)) == kept_state
    kept.close()


@pytest.mark.deep
def test_nodes_of_small_numbers_have_different_hashes() -> None:
    """Hashes of 32 bits allow this much: about four pairs among 180,000 nodes collide by chance."""
    machine = BetweenSteps([tree.hash_node], {})
    numbers = [*itertools.product(range(300), repeat=2)]
    pairs = {(left << shift, right << shift) for left, right in numbers for shift in (0, 32)}
    hashes = {machine.hash_node(*pair) for pair in pairs}
    assert all(hashed & tree.REFERENCE == 0 for hashed in hashes)
    assert len(pairs) - len(hashes) < 12


def test_a_search_that_is_interrupted_and_bounded_goes_on_from_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr(NativeSpace, "block", 512)
    storage = StorageOptions(directory=tmp_path, threads=2)

    def interrupt(progress: Progress) -> None:
        if progress.states > 2_000:
            raise KeyboardInterrupt

    assert not check(SEQUENCER, storage=storage, progress=interrupt).exploration.complete
    assert not check(SEQUENCER, storage=storage, bounds=Bounds(states=6_000)).exploration.complete
    again = check(SEQUENCER, storage=storage)
    whole = check(SEQUENCER, engine="native")
    assert summary(again) == summary(whole)
    damage = tmp_path / "nodes"
    with damage.open("r+b") as file:
        file.seek(80)
        file.write(b"\xff")
    with pytest.raises(Refused, match="nodes: is not what the search left here"):
        check(SEQUENCER, storage=storage)


def test_what_is_kept_of_a_state_takes_sixteen_bytes_where_states_share_their_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tables grow as in large searches, from 16,384 slots on."""
    monkeypatch.setattr(store, "LARGE", 0)
    kept = searched(RBP, threads=1).store
    assert kept.nodes is not None
    taken = sum(length for _, length in kept.arrays().values()) + kept.slot * kept.region
    assert taken - nodes.NODE_BYTES * kept.nodes.count <= 16 * kept.known
    assert kept.nodes.count < kept.known / 4
