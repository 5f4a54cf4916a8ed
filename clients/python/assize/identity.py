"""The ids of calls and sessions in the ledger: the same as those of the gate in TypeScript."""

from __future__ import annotations

import re

from .canonical import content_hash

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}")


#: The most characters of a run and an id that leave room for the number of an attempt.
_PLAIN_MAX = 180
_ATTEMPT = re.compile(r".*:[0-9]+", re.DOTALL)


def call_id_of(run: str, id: str) -> str:
    """The id of a call in the ledger: its run and the framework's own id of it. Raises NotJson.

    No two calls have the same id: a run with a dot, and an id that ends like a further attempt, are
    named by their hash.
    """
    is_long = len(_utf16(run)) + len(_utf16(id)) > _PLAIN_MAX
    if "." in run or _ATTEMPT.fullmatch(id) is not None or is_long:
        return content_hash([run, id])[:32]
    return _id_of(f"{run}.{id}")


def has_hidden_member(value: object) -> bool:
    """Whether a value has a member named __proto__: the rules would not see it."""
    if isinstance(value, dict):
        return "__proto__" in value or any(has_hidden_member(member) for member in value.values())
    return isinstance(value, list) and any(has_hidden_member(member) for member in value)


def _utf16(text: str) -> str:
    """As many characters as the text has in TypeScript."""
    return "".join("xx" if ord(letter) > 0xFFFF else "x" for letter in text)


def session_id_of(run: str) -> str:
    """The id of a run in the ledger. Raises NotJson."""
    return _id_of(run)


def _id_of(text: str) -> str:
    """A text that has no form of an id is named by its hash."""
    return text if _ID.fullmatch(text) is not None else content_hash(text)[:32]
