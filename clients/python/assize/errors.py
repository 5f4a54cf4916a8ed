"""The errors of this package. Each has a stable `code`, and says what failed and what to do."""

from __future__ import annotations

from typing import Any, cast


class AssizeError(Exception):
    """An error of this package. `retryable`: the same request may succeed later."""

    code: str = "error"
    retryable: bool = False


class NotJson(AssizeError, ValueError):
    """A value is not exact JSON. `pointer` names the place (RFC 6901)."""

    code = "not_json"

    def __init__(self, message: str, *, pointer: str = "") -> None:
        super().__init__(message)
        self.pointer = pointer


class NoIdentity(AssizeError, LookupError):
    """A call has no run or no id. Set them with `gate.run` or `gate.calling`, or name them."""

    code = "no_identity"


class NoAnswer(AssizeError):
    """The server does not answer, or its answer was lost. Start it with `assize serve`."""

    code = "unreachable"
    retryable = True


class BadAnswer(AssizeError):
    """Assize did not send this answer: a redirect, broken JSON, another server. Check the URL."""

    code = "bad_answer"

    def __init__(self, message: str, *, status: int = 0, retryable: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.retryable = retryable


class Problem(AssizeError):
    """The server refused a request (RFC 9457). Branch on `code`; docs/errors.md lists all codes.

    `findings`: each misfit of the request, with its pointer. `request_id` is in the server's log.
    `retry_after`: the seconds after which to try again, if the server names them.
    """

    def __init__(
        self,
        detail: str,
        *,
        code: str = "no_problem",
        status: int = 0,
        retryable: bool = False,
        document: dict[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code
        self.status = status
        self.retryable = retryable
        self.document: dict[str, Any] = document if document is not None else {}
        self.retry_after = retry_after

    @property
    def findings(self) -> list[dict[str, Any]]:
        """Each misfit of the request: `pointer` and `message`."""
        found = self.document.get("findings")
        return cast("list[dict[str, Any]]", found) if isinstance(found, list) else []

    @property
    def request_id(self) -> str | None:
        found = self.document.get("request_id")
        return found if isinstance(found, str) else None


class CallError(AssizeError):
    """A tool call that was not made, or has no result. `call`: its id in the ledger."""

    def __init__(self, message: str, *, call: str = "") -> None:
        super().__init__(message)
        self.call = call


class CallRefused(CallError):
    """The rules or a person refused the call, so it was not made. The message says why."""

    code = "call_refused"

    def __init__(self, message: str, *, call: str = "", reason: str = "") -> None:
        super().__init__(message, call=call)
        self.reason = reason


class CallPending(CallError):
    """The call waits for a person, and was not made. Call again with the same id later.

    `approval` is the id of the question, and `page` its page in the console.
    """

    code = "call_pending"

    def __init__(self, message: str, *, call: str = "", approval: str = "", reason: str = "", page: str = "") -> None:
        super().__init__(message, call=call)
        self.approval = approval
        self.reason = reason
        self.page = page


class CallInDoubt(CallError):
    """The call has started, and its outcome is not known here, so it is not made again.

    Check whether it took effect, and settle it with `assize api calls.settle`. `settled`: the
    outcome that a person has recorded since, without a result.
    """

    code = "call_in_doubt"

    def __init__(self, message: str, *, call: str = "", reason: str = "", settled: str | None = None) -> None:
        super().__init__(message, call=call)
        self.reason = reason
        self.settled = settled


class CallFailed(CallError):
    """A call with this id has failed before, and is not made again. Make one with another id.

    `error_name` and `error_message` are those that the ledger has of the error.
    """

    code = "call_failed"

    def __init__(self, message: str, *, call: str = "", error_name: str = "Error", error_message: str = "") -> None:
        super().__init__(message, call=call)
        self.error_name = error_name
        self.error_message = error_message
