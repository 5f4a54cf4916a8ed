"""The run and the id of the current call, as the program or its framework sets them."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from contextvars import ContextVar

from .ends import BegunCall

RUN: ContextVar[str | None] = ContextVar("assize_run", default=None)
CALL: ContextVar[str | None] = ContextVar("assize_call", default=None)
BEGUN: ContextVar[BegunCall | None] = ContextVar("assize_begun", default=None)


@contextlib.contextmanager
def running(run: str, call: str | None = None) -> Generator[None, None, None]:
    """Sets the run of the calls inside, and the id of the next call if it is given."""
    run_before, call_before = RUN.set(run), CALL.set(call)
    try:
        yield
    finally:
        CALL.reset(call_before)
        RUN.reset(run_before)


@contextlib.contextmanager
def calling(call: str) -> Generator[None, None, None]:
    """Sets the id of the call inside."""
    before = CALL.set(call)
    try:
        yield
    finally:
        CALL.reset(before)


@contextlib.contextmanager
def making(begun: BegunCall) -> Generator[None, None, None]:
    """Sets the started call for its tool. A call inside of the tool needs its own id."""
    begun_before, call_before = BEGUN.set(begun), CALL.set(None)
    try:
        yield
    finally:
        CALL.reset(call_before)
        BEGUN.reset(begun_before)


def begun() -> BegunCall | None:
    """The call that this tool makes: its `key` is for a sink that takes idempotency keys."""
    return BEGUN.get()
