"""The documents of the HTTP API that this client reads. The server may add members."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

#: How the rules declare a tool.
ToolClass: TypeAlias = Literal["read", "reversible", "irreversible"]
OutcomeName: TypeAlias = Literal["done", "failed", "unknown"]

#: The call has started: make it now, once. `args`: a person has approved these instead.
Allowed = TypedDict(
    "Allowed",
    {"decision": Literal["allowed"], "call": str, "class": ToolClass, "args": NotRequired[dict[str, Any]]},
)


class Denied(TypedDict):
    """The rules or a person refuse the call."""

    decision: Literal["denied"]
    reason: str


class Waiting(TypedDict):
    """A person has to decide first."""

    decision: Literal["pending"]
    approval: str
    reason: str


#: The call had started before, and is never allowed again. `class`: absent for one of a past day.
Begun = TypedDict(
    "Begun",
    {
        "decision": Literal["begun"],
        "call": str,
        "class": NotRequired[ToolClass],
        "outcome": NotRequired[OutcomeName],
        "reason": str,
    },
)


Decision: TypeAlias = "Allowed | Denied | Waiting | Begun"


class Outcome(TypedDict):
    """The recorded outcome of a call. Without `outcome`, it is not known."""

    outcome: NotRequired[OutcomeName]
    result: NotRequired[Any]


class OpenCall(TypedDict):
    """A call that its agent may have made, and whose outcome is not known."""

    call: str
    agent: str
    tool: str
    session: NotRequired[str]
    at: str
    digest: str
    in_doubt: bool
    idempotent: bool


class Observation(TypedDict):
    """Where and how a call was asked for."""

    name: str
    value: Any


class Role(TypedDict):
    """A role with its parameters."""

    name: str
    params: dict[str, str]


class MadeCall(TypedDict):
    """A call of a commit, with the answer of its tool."""

    id: str
    tool: str
    phase: str
    answer: NotRequired[Any]
    too_long: NotRequired[Literal[True]]
    unreadable: NotRequired[Literal[True]]


class Committed(TypedDict):
    """The action is committed. `effects` and `calls`: what became of its calls, as of now."""

    ruling: Literal["committed"]
    trajectory_id: str
    seq: int
    entry_id: str
    unchanged: NotRequired[Literal[True]]
    request_id: NotRequired[str]
    effects: NotRequired[Literal["settled", "failed", "needs_human", "waiting"]]
    calls: NotRequired[list[MadeCall]]


class Rejected(TypedDict):
    """The action is rejected. `findings` has every misfit of its arguments."""

    ruling: Literal["rejected"]
    trajectory_id: str
    seq: int
    entry_id: str
    reason: str
    detail: str
    invariant_id: NotRequired[str]
    request_id: NotRequired[str]
    findings: list[dict[str, str]]


class Escalated(TypedDict):
    """A person must decide about `approval_id`."""

    ruling: Literal["escalated"]
    trajectory_id: str
    seq: int
    entry_id: str
    reason: str
    detail: str
    invariant_id: NotRequired[str]
    approval_id: str
    request_id: str
    channel: str
    approvals: int
    approved_by: list[str]


class Frozen(TypedDict):
    """An open approval blocks the action. Nothing is recorded; propose again."""

    ruling: Literal["frozen"]
    by: str
    detail: str
    waiting: dict[str, Any]


Ruling: TypeAlias = "Committed | Rejected | Escalated | Frozen"


class Action(TypedDict):
    """A proposed action. After an erasure it has no arguments."""

    name: str
    role: Any
    args: NotRequired[Any]


class Approval(TypedDict):
    """A pending proposal: its digest names exactly these calls, changes and cost."""

    id: str
    of: Literal["proposal", "effect"]
    request_id: str
    trajectory_id: str
    seq: int
    at: str
    digest: str
    action: Action
    changes: list[dict[str, Any]] | None
    tools: list[dict[str, Any]]
    budget_cost: dict[str, int]
    channel: str
    approvals: int
    approved_by: list[dict[str, Any]]
    reason: str
    detail: str
    invariant_id: NotRequired[str]
    requester: str
    deciders: list[str]
    may_decide: bool
    observations: list[dict[str, Any]]
    expires: NotRequired[str]
    deputies: NotRequired[list[dict[str, str]]]


class ApprovalState(TypedDict):
    """`pending` with the approval, `resolved` with the ruling, or `void`."""

    status: Literal["pending", "resolved", "void"]
    approval: NotRequired[Approval]
    ruling: NotRequired[Ruling]


class Trajectory(TypedDict):
    """A trajectory: its domain, its length and its last entry."""

    trajectory_id: str
    domain: dict[str, str]
    entries: int
    head: str
    at: str | None
    source: str | None
    delegated_from: str | None
    note: str | None
    halted: NotRequired[dict[str, str] | None]
    pending: NotRequired[int]


class EntrySummary(TypedDict):
    """An entry in short: its action, its ruling, and the reason."""

    seq: int
    id: str
    kind: str
    at: str
    ruling: str
    action: NotRequired[str]
    role: NotRequired[str]
    role_params: NotRequired[dict[str, str]]
    args: NotRequired[str]
    reason: NotRequired[str]
    detail: NotRequired[str]
    counselor: NotRequired[str]
    resolves: NotRequired[str]


class Entry(TypedDict):
    """An entry with its payload. `text` is the canonical text; its hash is the id."""

    id: str
    trajectory_id: str
    seq: int
    parent: str | None
    kind: str
    payload: Any
    text: str
    values: list[dict[str, Any]]


class VerifyReport(TypedDict):
    """The verification of one trajectory. `fault`: the first breach of a rule."""

    trajectory_id: str
    valid: bool
    entries: int
    head: str | None
    fault: NotRequired[dict[str, Any]]


class Verification(TypedDict):
    """Whether the trajectories are valid, with a report of each."""

    valid: bool
    reports: list[VerifyReport]


class Checkpoint(TypedDict):
    """The last signed checkpoint of the log."""

    origin: str
    key: str
    checkpoint: str
    size: int
    root: str
    witnesses: list[dict[str, Any]]
    covers_until: NotRequired[str]


class Me(TypedDict):
    """The principal of the token."""

    name: str
    kinds: list[str]
    method: str


class Event(TypedDict):
    """An entry of the log as it was recorded. `id`: its position, for `after`."""

    id: int
    kind: str
    entry: dict[str, Any]


class KeyedResult(TypedDict):
    """The ruling on one of many proposals, or the problem with it."""

    key: str
    ruling: NotRequired[Ruling]
    problem: NotRequired[dict[str, Any]]


class DecidedResult(TypedDict):
    """The ruling on one of many decided proposals, or the problem with the decision."""

    id: str
    ruling: NotRequired[Ruling]
    problem: NotRequired[dict[str, Any]]
