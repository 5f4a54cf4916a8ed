"""The ends of a call, as `Gate.once` returns them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeAlias, TypeVar

from .errors import CallFailed, CallInDoubt, CallPending, CallRefused
from .forms import Observation

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GateCall:
    """A call of a tool by a framework.

    `run`: the run, thread or conversation. `id`: the framework's id of the call. A repetition of
    the id in the same run is the same call.
    """

    run: str
    id: str
    tool: str
    args: Mapping[str, object]
    observations: Sequence[Observation] = ()


@dataclass(frozen=True, slots=True)
class BegunCall:
    """A call that has started, as its tool makes it.

    `key` is the same for every attempt, for a sink that takes idempotency keys. `args` are the
    approved arguments: a person may have changed the asked ones.
    """

    call: str
    key: str
    args: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Done(Generic[T_co]):
    """The call is made. `recorded`: it was made before, and this is its recorded result."""

    call: str
    result: T_co
    recorded: bool
    end: Literal["done"] = field(default="done", init=False)


@dataclass(frozen=True, slots=True)
class Failed:
    """The tool raised `error`. `recorded`: it did so before, and `error` is a CallFailed."""

    call: str
    error: Exception
    recorded: bool
    end: Literal["failed"] = field(default="failed", init=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """The rules or a person refuse the call."""

    call: str
    reason: str
    end: Literal["refused"] = field(default="refused", init=False)


@dataclass(frozen=True, slots=True)
class Pending:
    """The call waits for a person, at `page` of the console."""

    call: str
    approval: str
    reason: str
    page: str
    end: Literal["pending"] = field(default="pending", init=False)


@dataclass(frozen=True, slots=True)
class Doubt:
    """The call has started, and its outcome is not known here. `settled`: a person's finding."""

    call: str
    reason: str
    settled: Literal["done", "failed"] | None = None
    end: Literal["doubt"] = field(default="doubt", init=False)


CallEnd: TypeAlias = "Done[T] | Failed | Refused | Pending | Doubt"


@dataclass(frozen=True, slots=True)
class HeldCall:
    """A call that waits, as its person is shown it. A decision names its `digest`."""

    call: str
    tool: str
    args: Mapping[str, object]
    approval: str
    digest: str
    reason: str
    page: str


def error_of(end: Failed | Refused | Pending | Doubt) -> Exception:
    """The error of an end without a result. The error of a tool is raised as it is."""
    if isinstance(end, Failed):
        return end.error
    if isinstance(end, Refused):
        return CallRefused(f"The call was refused: {end.reason}", call=end.call, reason=end.reason)
    if isinstance(end, Doubt):
        then = (
            ". See whether it took effect, and settle it with assize api calls.settle." if end.settled is None else "."
        )
        text = f"The call {end.call} is not made again: {end.reason}{then}"
        return CallInDoubt(text, call=end.call, reason=end.reason, settled=end.settled)
    text = f"The call waits for a person: {end.reason}. Approve it at {end.page}, then call again."
    return CallPending(text, call=end.call, approval=end.approval, reason=end.reason, page=end.page)


def repeated(end: CallEnd[T]) -> CallEnd[T]:
    """The same end for a repetition of the call."""
    if isinstance(end, Done):
        return Done(end.call, end.result, recorded=True)
    if isinstance(end, Failed):
        return Failed(end.call, failed_before(end.call, end.error), recorded=True)
    return end


def failed_before(call: str, error: Exception) -> CallFailed:
    """The error of a repetition of a call that failed."""
    if isinstance(error, CallFailed):
        return error
    name, message = told(error)
    return CallFailed(f"The call {call} failed before: {message}", call=call, error_name=name, error_message=message)


def told(error: BaseException) -> tuple[str, str]:
    """The name and the message of an error, as the ledger keeps them."""
    try:
        message = str(error)
    except Exception:  # An error of a tool may not even have a text.
        message = "the error has no text"
    return _well_formed(type(error).__name__[:200]), _well_formed(message[:4_000])


def _well_formed(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
