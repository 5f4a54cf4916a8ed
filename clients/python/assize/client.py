"""A client of the HTTP API of `assize serve`, for agents and for scripts of approvers.

Guarantees: a call is asked about, reported and proposed under an id, so these requests and all
reads are repeated after a lost answer. A decision of a person is sent once. A `wait` is in seconds.
"""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import urlencode

from .forms import (
    Approval,
    ApprovalState,
    Checkpoint,
    DecidedResult,
    Decision,
    Entry,
    EntrySummary,
    Event,
    KeyedResult,
    Me,
    Observation,
    OpenCall,
    Outcome,
    OutcomeName,
    Role,
    Ruling,
    Trajectory,
    Verification,
)
from .transport import Stop, Transport, segment

#: The longest wait of one question about a call, and of one wait for an approval, in seconds.
ASK_WAIT_MAX = 50
WAIT_MAX = 300

ABSENT: Any = object()


def new_attempt() -> str:
    """A new attempt to make a call. No other process can guess it, also after a fork."""
    return secrets.token_hex(16)


class Client:
    """One principal at one server. Threads may share it. Its `repr` has no token.

    `timeout`: how long the server may be silent. `retries`: how often a request that may be
    repeated is repeated.

    Raises ValueError for a URL with anything but scheme, host and port, and for a broken token.
    """

    def __init__(self, url: str, token: str, *, timeout: float = 30.0, retries: int = 2) -> None:
        transport = Transport(url, token, timeout=timeout, retries=retries)
        self._transport = transport
        self.url = transport.url
        self.calls = Calls(transport)
        self.proposals = Proposals(transport)
        self.approvals = Approvals(transport)
        self.trajectories = Trajectories(transport)
        self.entries = Entries(transport)
        self.log = Log(transport)

    @classmethod
    def from_token_file(cls, url: str, path: str | Path, *, timeout: float = 30.0, retries: int = 2) -> Client:
        """A client with the token in a file, as `assize token create` prints it."""
        return cls(url, Path(path).read_text(encoding="utf-8").strip(), timeout=timeout, retries=retries)

    def me(self) -> Me:
        """The principal of the token. Raises Problem, NoAnswer, BadAnswer."""
        return cast(Me, self._transport.send("GET", "/v1/me"))

    def events(
        self, *, trajectory: str | None = None, kind: str | None = None, after: int | None = None
    ) -> Iterator[Event]:
        """The entries of the log while they are recorded, without an end. For readers of the ledger.

        `after`: the id of the last event that was seen, -1 from the first entry; default: from now
        on. A lost connection goes on after its last event. Raises Problem, NoAnswer, BadAnswer.
        """
        query = _given(trajectory=trajectory, kind=kind)
        target = f"/v1/events?{urlencode(query)}" if query else "/v1/events"
        for id, name, entry in self._transport.events(target, None if after is None else str(after)):
            yield {"id": int(id), "kind": name, "entry": entry}

    def page_of(self, approval: str) -> str:
        """The page of a pending proposal in the console."""
        return f"{self.url}/inbox/{segment(approval)}"

    def __repr__(self) -> str:
        return f"Client({self.url!r})"


class _Part:
    def __init__(self, transport: Transport) -> None:
        self._send = transport.send


class Calls(_Part):
    """Tool calls of the agent. `Gate` asks and reports; people look for calls in doubt.

    Every method raises Problem, NoAnswer, BadAnswer, and NotJson for its arguments.
    """

    def ask(
        self,
        trajectory: str,
        *,
        id: str,
        server: str,
        tool: str,
        args: Mapping[str, object],
        session: str | None = None,
        observations: Sequence[Observation] = (),
        wait: float = 0.0,
        attempt: str | None = None,
        stop: Stop | None = None,
    ) -> Decision:
        """Asks whether a call may be made. An allowed call starts, and no other attempt is allowed.

        `attempt`: 32 random hex digits, by default new ones. The same attempt gets the same
        `allowed` again, as after a lost answer. `stop`: ends the request from another thread.
        """
        seconds = _whole(wait, ASK_WAIT_MAX)
        body: dict[str, object] = {"id": id, "server": server, "tool": tool, "args": dict(args)}
        body["attempt"] = new_attempt() if attempt is None else attempt
        if session is not None:
            body["session"] = session
        if observations:
            body["observations"] = [dict(one) for one in observations]
        path, query = f"{_at(trajectory)}/calls", {"wait": str(seconds)}
        return cast(Decision, self._send("POST", path, query=query, body=body, wait=seconds, stop=stop))

    def report(self, trajectory: str, call: str, outcome: OutcomeName, result: object = ABSENT) -> bool:
        """Records the outcome of a started call. Returns whether it was recorded now."""
        body: dict[str, object] = {"outcome": outcome}
        if result is not ABSENT:
            body["result"] = result
        path = f"{_at(trajectory)}/calls/{segment(call)}/report"
        return self._send("POST", path, body=body).get("recorded") is True

    def outcome(self, trajectory: str, call: str) -> Outcome:
        """The recorded outcome of a call, with its result."""
        return cast(Outcome, self._send("GET", f"{_at(trajectory)}/calls/{segment(call)}/outcome"))

    def open(self, trajectory: str, *, agent: str | None = None) -> list[OpenCall]:
        """The calls without a known outcome, the oldest first. For people and auditors."""
        found = self._send("GET", f"{_at(trajectory)}/calls/open", query=_given(agent=agent))
        return cast("list[OpenCall]", found.get("calls", []))

    def settle(self, trajectory: str, call: str, outcome: Literal["done", "failed"], *, evidence: str) -> Ruling:
        """Records the finding of a person about a call in doubt. Nothing is called. It is sent once.

        `failed`: the call was not made, or it had no effect. `evidence` supports the finding.
        """
        body = {"outcome": outcome, "evidence": evidence}
        path = f"{_at(trajectory)}/calls/{segment(call)}/settle"
        return cast(Ruling, self._send("POST", path, body=body, repeat=False)["ruling"])


class Proposals(_Part):
    """Proposals of the agent. Every method raises Problem, NoAnswer, BadAnswer, NotJson."""

    def create(
        self,
        trajectory: str,
        *,
        key: str,
        action: str,
        args: object,
        role: str | Role | None = None,
        observations: Sequence[Observation] = (),
        wait: float = 0.0,
    ) -> Ruling:
        """Proposes an action. The same key again is the same proposal, and has its ruling.

        Without `role`, the only role that can propose the action is taken, if it has no parameters.
        `wait`: how long a person may take. Raises Problem `idempotency_conflict` for a key with
        other arguments.
        """
        if re.fullmatch(r"[\x21-\x7e]{1,512}", key) is None:
            raise ValueError("An idempotency key has 1 to 512 visible ASCII characters.")
        seconds = _whole(wait, WAIT_MAX)
        body: dict[str, object] = {"action": action, "args": args, **_given(role=role)}
        if observations:
            body["observations"] = [dict(one) for one in observations]
        headers = {"Idempotency-Key": key, "Prefer": f"wait={seconds}"}
        path = f"{_at(trajectory)}/proposals"
        return cast(Ruling, self._send("POST", path, body=body, headers=headers, wait=seconds))

    def create_many(self, trajectory: str, proposals: Sequence[Mapping[str, object]]) -> list[KeyedResult]:
        """Proposes up to 100 actions together: each has `key`, `action`, `role` and `args`, as in `create`.

        Each is ruled on alone, and has a `ruling` or a `problem` in the result.
        """
        body = {"proposals": [dict(one) for one in proposals]}
        return cast("list[KeyedResult]", self._send("POST", f"{_at(trajectory)}/proposals/many", body=body)["results"])

    def judge(
        self, trajectory: str, *, action: str, args: object, role: str | Role | None = None, at: str | None = None
    ) -> dict[str, Any]:
        """The ruling that a proposal would get, now or after the entry `at`. Nothing is recorded."""
        body: dict[str, object] = {"action": action, "args": args, **_given(role=role, at=at)}
        return self._send("POST", f"{_at(trajectory)}/judge", body=body)

    def ruling(self, trajectory: str, key: str) -> Ruling:
        """The ruling on the proposal with a key. Raises Problem `not_found` if there is none."""
        return cast(Ruling, self._send("GET", f"{_at(trajectory)}/proposals/{segment(key)}"))


class Approvals(_Part):
    """Pending proposals, and the decisions of a person. Every method raises as `Client.me`."""

    def list(
        self, *, trajectory: str | None = None, mine: bool = False, requester: str | None = None
    ) -> Iterator[Approval]:
        """The pending proposals. `mine`: only those that the principal of the token may decide."""
        query = _given(trajectory=trajectory, requester=requester, mine="true" if mine else None)
        return (cast(Approval, one) for one in _pages(self, "/v1/approvals", query, "approvals", "cursor"))

    def get(self, approval: str, *, wait: float = 0.0) -> ApprovalState:
        """A proposal that waits or waited. `wait`: how long to wait for its decision."""
        seconds = _whole(wait, WAIT_MAX)
        headers = {"Prefer": f"wait={seconds}"}
        return cast(ApprovalState, self._send("GET", _question(approval), headers=headers, wait=seconds))

    def approve(self, approval: str, *, digest: str, reason: str | None = None, args: object = ABSENT) -> Ruling:
        """Approves exactly the proposal that was shown, by its digest. It is sent once.

        `args`: the arguments to approve instead. Raises Problem `digest_mismatch`, `not_pending`,
        `unauthorised_counselor`; after NoAnswer, ask with `get` whether it was recorded.
        """
        body: dict[str, object] = {"digest": digest, **_given(reason=reason)}
        if args is not ABSENT:
            body["args"] = args
        return cast(Ruling, self._send("POST", f"{_question(approval)}/approve", body=body, repeat=False))

    def reject(self, approval: str, *, digest: str, reason: str) -> Ruling:
        """Rejects the proposal that was shown, by its digest. Raises as `approve`."""
        body = {"digest": digest, "reason": reason}
        return cast(Ruling, self._send("POST", f"{_question(approval)}/reject", body=body, repeat=False))


    def decide(
        self, decision: Literal["approve", "reject"], items: Mapping[str, str], *, reason: str
    ) -> list[DecidedResult]:
        """Decides up to 200 proposals, each by its id and the digest that was shown. It is sent once.

        Each is decided alone, and has a `ruling` or a `problem` in the result.
        """
        chosen = [{"id": id, "digest": digest} for id, digest in items.items()]
        body = {"decision": decision, "reason": reason, "items": chosen}
        found = self._send("POST", "/v1/approvals/decide", body=body, repeat=False)
        return cast("list[DecidedResult]", found["results"])


class Trajectories(_Part):
    """Trajectories: the principal's own for agents, all for readers."""

    def list(self, *, domain: str | None = None) -> Iterator[Trajectory]:
        """The trajectories, by id."""
        found = _pages(self, "/v1/trajectories", _given(domain=domain), "trajectories", "cursor")
        return (cast(Trajectory, one) for one in found)

    def get(self, trajectory: str) -> Trajectory:
        """A trajectory: its domain, its head, its length, and whether it is halted."""
        return cast(Trajectory, self._send("GET", _at(trajectory)))

    def state(self, trajectory: str, *, pointer: str | None = None, at: str | None = None) -> dict[str, Any]:
        """The verified state, now or after an entry. Not for agents."""
        return self._send("GET", f"{_at(trajectory)}/state", query=_given(pointer=pointer, at=at))


class Entries(_Part):
    """Entries of the ledger, for auditors, counselors and administrators."""

    def list(self, trajectory: str, *, start: int = 0) -> Iterator[EntrySummary]:
        """The entries of a trajectory from a position on, oldest first."""
        found = _pages(self, f"{_at(trajectory)}/entries", {"from": str(start)}, "entries", "from")
        return (cast(EntrySummary, one) for one in found)

    def get(self, entry: str, *, values: bool = False) -> Entry:
        """An entry, by its id or as `TRAJECTORY@SEQ`. `values`: with its large values."""
        query = _given(values="true" if values else None)
        return cast(Entry, self._send("GET", f"/v1/entries/{segment(entry)}", query=query))

    def proof(self, entry: str) -> dict[str, Any]:
        """The proof that an entry is in the log of the last checkpoint (c2sp.org/tlog-proof)."""
        return self._send("GET", f"/v1/entries/{segment(entry)}/proof")


class Log(_Part):
    """The log of all entries."""

    def checkpoint(self) -> Checkpoint:
        """The last signed checkpoint. Raises Problem `not_found` if there is none."""
        return cast(Checkpoint, self._send("GET", "/v1/checkpoints/latest"))

    def verify(self, trajectories: Sequence[str] | None = None) -> Verification:
        """Verifies trajectories from their first entries, at the server. Default: all."""
        body = {} if trajectories is None else {"trajectories": list(trajectories)}
        return cast(Verification, self._send("POST", "/v1/verify", body=body))


def _at(trajectory: str) -> str:
    return f"/v1/trajectories/{segment(trajectory)}"


def _question(approval: str) -> str:
    return f"/v1/approvals/{segment(approval)}"


def _whole(wait: float, most: int) -> int:
    if not wait >= 0:
        raise ValueError("A wait is a number of seconds from 0 on.")
    return most if wait >= most else math.ceil(wait)


def _given(**members: str | None) -> dict[str, str]:
    return {name: value for name, value in members.items() if value is not None}


def _pages(part: _Part, path: str, query: Mapping[str, str], name: str, cursor: str) -> Iterator[dict[str, Any]]:
    asked = dict(query)
    while True:
        page = part._send("GET", path, query=asked)  # pyright: ignore[reportPrivateUsage]
        yield from page.get(name, [])
        following = page.get("next")
        if not isinstance(following, str):
            return
        asked[cursor] = following
