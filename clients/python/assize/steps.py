"""Steps of a call that a thread performs, or an event loop. The order of them is written once."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
import time
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar, cast

from .ends import BegunCall
from .transport import Stop

T = TypeVar("T")


@dataclass(slots=True)
class Io:
    """Requests of the server. If the caller is cancelled meanwhile, `stop` ends them.

    `undo` gets an answer that came all the same."""

    work: Callable[[], Any]
    undo: Callable[[Any], None] | None = None
    stop: Stop | None = None


@dataclass(slots=True)
class Sleep:
    """A pause in seconds."""

    seconds: float


@dataclass(slots=True)
class Make:
    """The call itself."""

    begun: BegunCall


def _future() -> concurrent.futures.Future[Any]:
    """A future that a cancellation of its waiting task does not cancel."""
    made: concurrent.futures.Future[Any] = concurrent.futures.Future()
    made.set_running_or_notify_cancel()
    return made


@dataclass(slots=True)
class Running:
    """A call that this process makes now."""

    digest: str
    thread: int
    task: object | None
    process: int = field(default_factory=os.getpid)
    #: The end, or None if the caller asks for itself.
    end: concurrent.futures.Future[Any] = field(default_factory=_future)

    @classmethod
    def here(cls, digest: str) -> Running:
        """A call of this thread, and of the task that it runs."""
        return cls(digest, threading.get_ident(), _task())


@dataclass(slots=True)
class Join:
    """Waits for a call that is being made. The answer is `CIRCLE` if it waits for the caller."""

    running: Running


CIRCLE: Any = object()

Step: TypeAlias = "Io | Sleep | Make | Join"
Steps: TypeAlias = Generator[Step, Any, T]


def drive(steps: Steps[T], make: Callable[[BegunCall], Any]) -> T:
    """Performs the steps in this thread."""
    value: Any = None
    send: Callable[[Any], Step] = steps.send
    while True:
        try:
            step = send(value)
        except StopIteration as end:
            return cast(T, end.value)
        try:
            value, send = _perform(step, make), steps.send
        except BaseException as error:  # Given to the steps: they raise it again.
            value, send = error, steps.throw


async def drive_async(steps: Steps[T], make: Callable[[BegunCall], Awaitable[Any]]) -> T:
    """Performs the steps in this task. Requests run in threads, so the event loop is free."""
    value: Any = None
    send: Callable[[Any], Step] = steps.send
    while True:
        try:
            step = send(value)
        except StopIteration as end:
            return cast(T, end.value)
        try:
            value, send = await _perform_async(step, make), steps.send
        except BaseException as error:  # Given to the steps: they raise it again.
            value, send = error, steps.throw


def _perform(step: Step, make: Callable[[BegunCall], Any]) -> Any:
    if isinstance(step, Io):
        return step.work()
    if isinstance(step, Sleep):
        return time.sleep(step.seconds)
    if isinstance(step, Make):
        return make(step.begun)
    # While this thread waits, nothing else runs in it.
    return CIRCLE if step.running.thread == threading.get_ident() else step.running.end.result()


async def _perform_async(step: Step, make: Callable[[BegunCall], Awaitable[Any]]) -> Any:
    if isinstance(step, Io):
        return await _in_thread(step)
    if isinstance(step, Sleep):
        return await asyncio.sleep(step.seconds)
    if isinstance(step, Make):
        return await make(step.begun)
    if step.running.thread == threading.get_ident() and step.running.task in (None, _task()):
        return CIRCLE
    return await asyncio.wrap_future(step.running.end)


async def _in_thread(step: Io) -> Any:
    """Does the work in a thread of its own. Without `stop`, it goes on after a cancellation."""
    done = _future()

    def work() -> None:
        try:
            done.set_result(step.work())
        except BaseException as error:  # The task gets it.
            done.set_exception(error)

    threading.Thread(target=work, daemon=True, name="assize").start()
    try:
        return await asyncio.wrap_future(done)
    except asyncio.CancelledError:
        if step.stop is not None:
            step.stop.set()
        if step.undo is not None:
            _after(done, step.undo)
        raise


def _after(done: concurrent.futures.Future[Any], undo: Callable[[Any], None]) -> None:
    """Undoes the work when it is done, in a thread: now, or when its answer comes."""

    def act(ended: concurrent.futures.Future[Any]) -> None:
        if ended.exception() is None:
            threading.Thread(target=undo, args=(ended.result(),), daemon=True, name="assize").start()

    done.add_done_callback(act)


def _task() -> object | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
