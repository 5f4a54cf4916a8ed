"""Outcomes of calls: as they are recorded, and as ends of a repetition."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Literal, cast
from urllib.error import HTTPError

from .canonical import canonicalize, hash_text
from .ends import CallEnd, Done, Doubt, Failed, told
from .errors import CallFailed, NotJson
from .forms import Outcome

#: The most bytes of a result that the ledger keeps for a repetition. Its report fits in 1 MiB.
RESULT_BYTES_MAX = 1_000_000
_INTERRUPTIONS = frozenset(
    {
        *("TimeoutError", "Timeout", "TimeoutException", "CancelledError", "AbortError"),
        *("ConnectionResetError", "ConnectionAbortedError", "BrokenPipeError", "IncompleteRead"),
    }
)

log = logging.getLogger("assize")


def kept(call: str, result: object, encode: Callable[[Any], object] | None) -> dict[str, object]:
    """The part of a result that the ledger keeps. A result that is not JSON is not kept."""
    try:
        value = result if encode is None else encode(result)
        text = canonicalize(value)
    except NotJson as error:
        log.warning("The result of the call %s is not kept, so a repetition has no result: %s", call, error)
        return {"omitted": {"reason": "not_json"}}
    size = len(text.encode())
    return {"value": value} if size <= RESULT_BYTES_MAX else {"omitted": {"bytes": size, "sha256": hash_text(text)}}


def without_value(result: dict[str, object]) -> dict[str, object]:
    """The same outcome without the value, for a ledger that does not take the value."""
    if "value" not in result:
        return result
    text = canonicalize(result["value"])
    return {"omitted": {"bytes": len(text.encode()), "sha256": hash_text(text)}}


def error_document(error: BaseException) -> dict[str, object]:
    """The part of an error that the ledger keeps."""
    name, message = told(error)
    return {"error": {"name": name, "message": message}}


def end_of(call: str, outcome: Outcome, reason: str, decode: Callable[[Any], Any] | None) -> CallEnd[Any]:
    """The end of a call with a recorded outcome that is `done` or `failed`.

    A gate reports every outcome with a result. An outcome without one was recorded by a person.
    """
    said: Literal["done", "failed"] = "failed" if outcome.get("outcome") == "failed" else "done"
    found = outcome.get("result")
    if not isinstance(found, dict):
        return Doubt(call, f"a person has settled it as {said}, without a result", settled=said)
    result = cast("dict[str, Any]", found)
    if said == "failed":
        return Failed(call, _recorded_error(call, result.get("error"), reason), recorded=True)
    if "omitted" in result:
        return Doubt(call, "its result was not kept", settled="done")
    value = result.get("value")
    return Done(call, value if decode is None else decode(value), recorded=True)


def is_interruption(error: BaseException) -> bool:
    """Whether an error leaves it open if the call took effect.

    Time-outs, aborts, cut connections and ends of programs do, and so does an answer of HTTP with the
    status 408 or from 500 on (`urllib`, `requests` and `httpx`). `urllib` has its reason in `reason`.
    """
    if not isinstance(error, Exception):
        return True
    reason = getattr(error, "reason", None)
    if isinstance(reason, Exception) and reason is not error and is_interruption(reason):
        return True
    if any(_is_open_status(status) for status in _statuses_of(error)):
        return True
    return any(kind.__name__ in _INTERRUPTIONS for kind in type(error).__mro__)


def _statuses_of(error: Exception) -> tuple[object, object]:
    of_urllib = error.code if isinstance(error, HTTPError) else None
    return of_urllib, getattr(getattr(error, "response", None), "status_code", None)


def _is_open_status(status: object) -> bool:
    """The request may have been served: a time-out, or any fault of a server or a proxy."""
    return isinstance(status, int) and (status == 408 or 500 <= status < 600) and status != 501


def _recorded_error(call: str, error: object, reason: str) -> CallFailed:
    document = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
    name, message = document.get("name"), document.get("message")
    message = message if isinstance(message, str) else reason
    text = f"The call {call} failed before: {message}"
    name = name if isinstance(name, str) else "Error"
    return CallFailed(text, call=call, error_name=name, error_message=message)
