"""The ids of calls and sessions in the ledger: the same as those of the gate in TypeScript."""

from __future__ import annotations

import re

from .canonical import content_hash

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}")


def call_id_of(run: str, id: str) -> str:
    """The id of a call in the ledger: its run and the framework's own id of it. Raises NotJson."""
    return _id_of(f"{run}.{id}")


def session_id_of(run: str) -> str:
    """The id of a run in the ledger. Raises NotJson."""
    return _id_of(run)


def _id_of(text: str) -> str:
    """A text that has no form of an id is named by its hash."""
    return text if _ID.fullmatch(text) is not None else content_hash(text)[:32]
