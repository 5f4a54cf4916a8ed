"""A gate lets the tools of an agent be called once each, at a server.

A call is judged by the rules, approved by a person where they ask, recorded as started, made, and
closed with its result.

Guarantees: a call is made only after the ledger has recorded its start, and starts once. A
repetition of a call, after a resume, a replay or a retry, gets the recorded result. A call with
the id of another one and other arguments is refused.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, cast

from .canonical import content_hash, copied
from .client import ASK_WAIT_MAX, Client, new_attempt
from .ends import (
    BegunCall,
    CallEnd,
    Done,
    Doubt,
    Failed,
    GateCall,
    HeldCall,
    Pending,
    Refused,
    error_of,
    repeated,
    told,
)
from .errors import Problem
from .forms import Decision, OutcomeName
from .identity import call_id_of, has_hidden_member, session_id_of
from .outcomes import end_of, error_document, is_interruption, kept, log, without_value
from .places import calling, making, running
from .steps import CIRCLE, Io, Join, Make, Running, Sleep, Steps, drive, drive_async
from .tools import gated
from .transport import Stop

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")

#: The attempts of an idempotent call.
ATTEMPTS_MAX = 5
#: Between two questions about a call that waits for longer than one request may, in seconds.
ASK_PAUSE = 0.2


@dataclass(frozen=True, slots=True)
class _Work:
    """How a call is made, and how often."""

    key: str
    session: str
    tool: str
    args: dict[str, Any]
    digest: str
    observations: tuple[Any, ...]
    wait: float
    idempotent: bool | None
    is_unknown: Callable[[BaseException], bool]
    encode: Callable[[Any], object] | None
    decode: Callable[[Any], Any] | None


@dataclass(frozen=True, slots=True)
class _Attempt:
    """An attempt of a call. `now`: its tool was called now. `idempotent`: a second call does no harm."""

    end: CallEnd[Any]
    now: bool = False
    idempotent: bool = False


class Gate:
    """The calls of one agent's tools, judged and recorded by a server. Threads may share it.

    `server`: the name of the tools' server in the rules, where a tool is `SERVER/TOOL`. `wait`:
    for how many seconds a call waits for a person before it is answered as pending. `in_flight`:
    for how many a repeated call waits for one that is being made. `people`: clients of people for
    whom this program records decisions, by their principals.
    """

    def __init__(
        self,
        client: Client,
        *,
        server: str,
        trajectory: str = "calls",
        wait: float = 0.0,
        in_flight: float = 2.0,
        people: Mapping[str, Client] | None = None,
    ) -> None:
        self.client = client
        self.server = server
        self.trajectory = trajectory
        self._wait = wait
        self._in_flight = in_flight
        self._people = dict(people or {})
        self._lock = threading.Lock()
        self._running: dict[str, Running] = {}

    def __repr__(self) -> str:
        return f"Gate({self.client!r}, server={self.server!r})"

    def once(
        self,
        call: GateCall,
        make: Callable[[BegunCall], T],
        *,
        wait: float | None = None,
        idempotent: bool | None = None,
        is_unknown: Callable[[BaseException], bool] = is_interruption,
        encode: Callable[[T], object] | None = None,
        decode: Callable[[Any], T] | None = None,
    ) -> CallEnd[T]:
        """Asks about a call and makes it, once. A refusal, a wait and a doubt are results.

        `idempotent`: a second call does no harm, so one that failed or is in doubt may be made
        again; by default, that of a tool which the rules declare as reading. `is_unknown`: whether
        an error leaves it open if the call took effect; by default time-outs do. `encode` and
        `decode`: from a result to JSON and back.

        Raises NotJson for the arguments, and Problem, NoAnswer, BadAnswer, before the call is made.
        """
        work = self._work(call, wait, idempotent, is_unknown, encode, decode)
        return drive(self._attempts(work), _placed(make))

    async def once_async(
        self,
        call: GateCall,
        make: Callable[[BegunCall], Awaitable[T]],
        *,
        wait: float | None = None,
        idempotent: bool | None = None,
        is_unknown: Callable[[BaseException], bool] = is_interruption,
        encode: Callable[[T], object] | None = None,
        decode: Callable[[Any], T] | None = None,
    ) -> CallEnd[T]:
        """As `once`, for a coroutine. A cancelled call is in doubt, or was not made and has failed."""
        work = self._work(call, wait, idempotent, is_unknown, encode, decode)
        return await drive_async(self._attempts(work), _placed_async(make))

    def result(self, call: GateCall, make: Callable[[BegunCall], T], **options: Any) -> T:
        """The result of `once`, with its options.

        Raises CallRefused, CallPending, CallInDoubt, CallFailed, the error of the tool, and as `once`.
        """
        end: CallEnd[T] = self.once(call, make, **options)
        return _result_of(end)

    async def result_async(self, call: GateCall, make: Callable[[BegunCall], Awaitable[T]], **options: Any) -> T:
        """The result of `once_async`. Raises as `result`."""
        end: CallEnd[T] = await self.once_async(call, make, **options)
        return _result_of(end)

    def held(self, pending: Pending) -> HeldCall | None:
        """A call that waits, as its person is shown it. None if it was decided in the meantime."""
        shown = self.client.approvals.get(pending.approval).get("approval")
        if shown is None:
            return None
        args = cast("dict[str, Any]", shown["action"].get("args") or {})
        return HeldCall(
            call=pending.call,
            tool=f"{args.get('server')}/{args.get('tool')}",
            args=args.get("args") or {},
            approval=pending.approval,
            digest=shown["digest"],
            reason=shown["detail"],
            page=pending.page,
        )

    def decide(self, held: HeldCall, *, approve: bool, by: str, reason: str | None = None) -> None:
        """Records the decision of a person about a held call. Of several, the first counts.

        `by`: the principal of the person whom this program has authenticated, of `people`.
        Raises LookupError without a client of that person; Problem, NoAnswer, BadAnswer.
        """
        person = self._people.get(by)
        if person is None:
            raise LookupError(f"This program has no client of {by}. Pass it in people.")
        try:
            if approve:
                person.approvals.approve(held.approval, digest=held.digest, reason=reason)
            else:
                person.approvals.reject(held.approval, digest=held.digest, reason=reason or "rejected")
        except Problem as error:
            # Another decision came first, and counts.
            if error.code != "not_pending":
                raise

    def run(self, run: str, call: str | None = None) -> AbstractContextManager[None]:
        """Sets the run of the calls inside: `with gate.run("thread-1"):`."""
        return running(run, call)

    def calling(self, call: str) -> AbstractContextManager[None]:
        """Sets the framework's id of the call inside: `with gate.calling("call-1"):`."""
        return calling(call)

    def tool(
        self,
        *,
        name: str | None = None,
        run: str | Callable[..., str] | None = None,
        id: str | Callable[..., str] | None = None,
        without: tuple[str, ...] = (),
        wait: float | None = None,
        idempotent: bool | None = None,
        is_unknown: Callable[[BaseException], bool] = is_interruption,
        encode: Callable[[Any], object] | None = None,
        decode: Callable[[Any], Any] | None = None,
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Makes a function, sync or async, a tool whose calls go through the gate.

        `run` and `id`: the identity of a call, or functions of its arguments; by default those of
        `gate.run` and `gate.calling`. `without`: parameters that are not part of the call, such as
        `self`: they are not recorded, and no person approves them. Other options: as `once`.

        The decorated function keeps its type. It raises CallRefused, CallPending, CallInDoubt,
        CallFailed, NoIdentity, and as `once`. The decorator raises TypeError for generators, and
        for functions with `*args` or `**kwargs`.
        """
        options = {
            "wait": wait,
            "idempotent": idempotent,
            "is_unknown": is_unknown,
            "encode": encode,
            "decode": decode,
        }
        return gated(self, name=name, run=run, id=id, without=without, options=options)

    def _work(
        self,
        call: GateCall,
        wait: float | None,
        idempotent: bool | None,
        is_unknown: Callable[[BaseException], bool],
        encode: Callable[[Any], object] | None,
        decode: Callable[[Any], Any] | None,
    ) -> _Work:
        given = dict(call.args)
        return _Work(
            key=call_id_of(call.run, call.id),
            session=session_id_of(call.run),
            tool=call.tool,
            args=copied(given),
            digest=f"{call.tool} {content_hash(given)}",
            observations=tuple(call.observations),
            wait=self._wait if wait is None else wait,
            idempotent=idempotent,
            is_unknown=is_unknown,
            encode=encode,
            decode=decode,
        )

    def _attempts(self, work: _Work) -> Steps[CallEnd[Any]]:
        attempt = 1
        while True:
            one = yield from self._once(work.key if attempt == 1 else f"{work.key}:{attempt}", work)
            is_open = isinstance(one.end, Doubt) or (isinstance(one.end, Failed) and one.end.recorded)
            if one.now or not is_open or not one.idempotent or attempt == ATTEMPTS_MAX:
                return one.end
            attempt += 1

    def _once(self, call: str, work: _Work) -> Steps[_Attempt]:
        if has_hidden_member(work.args):
            return _Attempt(Refused(call, f"the arguments of the call {call} have a member named __proto__"))
        mine = Running.here(work.digest)
        while True:
            with self._lock:
                other = self._running.get(call)
                # A process that was forked makes none of the calls of its parent.
                if other is None or other.process != mine.process:
                    self._running[call] = mine
                    break
            if other.digest != work.digest:
                return _Attempt(Refused(call, f"the call {call} was asked for with other arguments"))
            end = yield Join(other)
            if end is CIRCLE:
                return _Attempt(Doubt(call, "it is being made, and its tool calls it again"))
            if end is not None:
                # Another thread or task has made it now.
                return _Attempt(repeated(end), now=True)
        ended: CallEnd[Any] | None = None
        try:
            attempt = yield from self._decided(call, work)
            ended = attempt.end
            return attempt
        finally:
            with self._lock:
                if self._running.get(call) is mine:
                    del self._running[call]
            mine.end.set_result(ended)

    def _decided(self, call: str, work: _Work) -> Steps[_Attempt]:
        def unmade(decision: Decision) -> None:
            if decision["decision"] == "allowed":
                self._report(call, "failed", error_document(asyncio.CancelledError("cancelled before it was made")))

        stop = Stop()
        decision: Decision = yield Io(lambda: self._ask(call, work, stop), unmade, stop)
        if decision["decision"] == "denied":
            return _Attempt(Refused(call, decision["reason"]))
        if decision["decision"] == "pending":
            approval = decision["approval"]
            return _Attempt(Pending(call, approval, decision["reason"], self.client.page_of(approval)))
        idempotent = decision.get("class") == "read" if work.idempotent is None else work.idempotent
        if decision["decision"] == "allowed":
            # A tool that changes its arguments changes its own copy.
            args = copied(decision.get("args", work.args))
            made = yield from self._made(BegunCall(call, work.key, args), work)
            return _Attempt(made, now=True, idempotent=idempotent)
        end = yield from self._before(call, decision["reason"], work)
        return _Attempt(end, idempotent=idempotent)

    def _ask(self, call: str, work: _Work, stop: Stop) -> Decision:
        """Asks, and asks again while a person may still decide in time."""
        until = time.monotonic() + work.wait
        wait, attempt = work.wait, new_attempt()
        while True:
            decision = self.client.calls.ask(
                self.trajectory,
                id=call,
                session=work.session,
                server=self.server,
                tool=work.tool,
                args=work.args,
                observations=work.observations,
                wait=wait,
                attempt=attempt,
                stop=stop,
            )
            wait = until - time.monotonic()
            if decision["decision"] != "pending" or wait <= 0 or work.wait <= ASK_WAIT_MAX:
                return decision
            time.sleep(ASK_PAUSE)

    def _before(self, call: str, reason: str, work: _Work) -> Steps[CallEnd[Any]]:
        """The end of a call that had started before, here or in another process."""
        until = time.monotonic() + self._in_flight
        pause = 0.02
        while True:
            outcome = yield Io(lambda: self.client.calls.outcome(self.trajectory, call))
            name = outcome.get("outcome")
            if name in ("done", "failed"):
                return end_of(call, outcome, reason, work.decode)
            if name is not None or time.monotonic() >= until:
                return Doubt(call, reason)
            yield Sleep(pause)
            pause = min(pause * 2, 0.25)

    def _made(self, begun: BegunCall, work: _Work) -> Steps[CallEnd[Any]]:
        call = begun.call
        try:
            result = yield Make(begun)
        except BaseException as error:
            unknown = not isinstance(error, Exception) or work.is_unknown(error)
            document = error_document(error)
            yield Io(lambda: self._report(call, "unknown" if unknown else "failed", document))
            if not isinstance(error, Exception):
                raise
            if not unknown:
                return Failed(call, error, recorded=False)
            return Doubt(call, f"it was made, and its outcome is not known: {told(error)[1]}")
        document = kept(call, result, work.encode)
        yield Io(lambda: self._report(call, "done", document))
        return Done(call, result, recorded=False)

    def _report(self, call: str, outcome: OutcomeName, result: dict[str, object]) -> None:
        """Records an outcome. The call was made even if its outcome is not recorded."""
        try:
            try:
                self.client.calls.report(self.trajectory, call, outcome, result)
            except Problem as error:
                if error.retryable or "value" not in result:
                    raise
                self.client.calls.report(self.trajectory, call, outcome, without_value(result))
        except Exception as error:
            text = "The outcome of the call %s was not recorded, so it is in doubt: %s"
            log.warning(text, call, told(error)[1])


def _result_of(end: CallEnd[T]) -> T:
    if isinstance(end, Done):
        return end.result
    raise error_of(end)


def _placed(make: Callable[[BegunCall], T]) -> Callable[[BegunCall], T]:
    def placed(begun: BegunCall) -> T:
        with making(begun):
            return make(begun)

    return placed


def _placed_async(make: Callable[[BegunCall], Awaitable[T]]) -> Callable[[BegunCall], Awaitable[T]]:
    async def placed(begun: BegunCall) -> T:
        with making(begun):
            return await make(begun)

    return placed
