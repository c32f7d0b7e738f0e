"""Threads that ask for the first of a thing together get one and the same."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from api.db import engine_for
from api.once import Once

THREADS = 8


@pytest.fixture
def often_interrupted() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("often_interrupted")
def test_threads_that_reach_a_database_together_share_one_engine() -> None:
    ready = threading.Barrier(THREADS)

    def ask(address: str) -> object:
        ready.wait(60)
        return engine_for(address)

    with ThreadPoolExecutor(THREADS) as pool:
        for turn in range(20):
            found = list(pool.map(ask, [f"postgresql+psycopg://nobody@127.0.0.1:1/once{turn}"] * THREADS))
            assert len(set(map(id, found))) == 1


def test_what_was_forgotten_is_made_anew_and_other_arguments_are_another_thing() -> None:
    made = Once(lambda name: [name])
    assert made("a") is made("a")
    assert made("b") == ["b"]
    first = made("a")
    made.forget()
    assert made("a") is not first


def test_what_nobody_holds_any_more_is_let_go() -> None:
    made = Once(dict)
    assert made() == {}
    held = weakref.ref(made)
    del made
    gc.collect()
    assert held() is None


# Python 3.12 and later say of every such fork that it may go wrong
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_fork_while_a_thread_is_making_one_leaves_the_child_free_to() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def make() -> int:
        entered.set()
        go_on.wait(60)
        return 1

    made = Once(make)
    maker = threading.Thread(target=made)
    maker.start()
    entered.wait(60)
    child = os.fork()
    go_on.set()
    if not child:
        signal.alarm(5)
        os._exit(0 if made() == 1 else 1)
    maker.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
