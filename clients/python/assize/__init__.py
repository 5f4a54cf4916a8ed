"""Assize for Python: tool calls of agents are judged, approved, made once, and recorded.

Guarantees and limits are those of `Gate` and `Client`. The package uses only the standard library.
"""

from .canonical import Json, canonicalize, content_hash, digest_of
from .client import Client
from .ends import BegunCall, CallEnd, Done, Doubt, Failed, GateCall, HeldCall, Pending, Refused, error_of
from .errors import (
    AssizeError,
    BadAnswer,
    CallError,
    CallFailed,
    CallInDoubt,
    CallPending,
    CallRefused,
    NoAnswer,
    NoIdentity,
    NotJson,
    Problem,
)
from .gate import Gate
from .identity import call_id_of, session_id_of
from .places import begun

__all__ = [
    "AssizeError",
    "BadAnswer",
    "BegunCall",
    "CallEnd",
    "CallError",
    "CallFailed",
    "CallInDoubt",
    "CallPending",
    "CallRefused",
    "Client",
    "Done",
    "Doubt",
    "Failed",
    "Gate",
    "GateCall",
    "HeldCall",
    "Json",
    "NoAnswer",
    "NoIdentity",
    "NotJson",
    "Pending",
    "Problem",
    "Refused",
    "begun",
    "call_id_of",
    "canonicalize",
    "content_hash",
    "digest_of",
    "error_of",
    "session_id_of",
]
