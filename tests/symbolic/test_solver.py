"""Ctrl-C reaches whoever asks Z3, while it searches and afterwards."""

import signal
import threading
import time

import pytest

from antiphon.model.composition import smallest_by_z3
from antiphon.model.symbolic.circuit import Circuit
from antiphon.model.symbolic.solver import Solver
from antiphon.spec.composition import Property


def ctrl_c() -> None:
    """A Ctrl-C in half a second."""
    main = threading.main_thread().ident
    assert main is not None
    threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT)).start()


def pigeons(solver: Solver, holes: int) -> None:
    """One pigeon more than there are holes, each in a hole of its own: minutes of search."""
    sits = [[solver.circuit.variable() for _ in range(holes)] for _ in range(holes + 1)]
    for pigeon in sits:
        solver.clause(pigeon)
    for one in range(holes + 1):
        for other in range(one):
            for hole in range(holes):
                solver.clause((-sits[one][hole], -sits[other][hole]))


def wait() -> None:
    """Wait as a main thread waits for its threads: half a minute, unless Ctrl-C wakes it."""
    ctrl_c()
    gate = threading.Lock()
    gate.acquire()
    end = threading.Timer(30, gate.release)
    end.start()
    try:
        gate.acquire()
    finally:
        end.cancel()


def test_ctrl_c_ends_a_search() -> None:
    solver = Solver(Circuit())
    pigeons(solver, 11)
    began = time.monotonic()
    ctrl_c()
    with pytest.raises(KeyboardInterrupt):
        solver.check(seconds=60)
    assert time.monotonic() - began < 50


def test_ctrl_c_wakes_a_thread_that_waits_after_a_search() -> None:
    solver = Solver(Circuit())
    pigeons(solver, 2)
    solver.check()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        wait()
    assert time.monotonic() - began < 25


def test_ctrl_c_wakes_a_thread_that_waits_after_stacks_were_searched() -> None:
    smallest_by_z3([Property.P2], [Property.P1], depth=2)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        wait()
    assert time.monotonic() - began < 25
