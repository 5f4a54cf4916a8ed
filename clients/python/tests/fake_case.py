"""A test with a fake server, an agent at it, and a bank that counts its payments."""

from __future__ import annotations

import unittest
from typing import Any

from assize import BegunCall, CallEnd, Client, Gate, GateCall

from .fake_server import FakeServer

TOKEN = "asz_0011223344556677_" + "ab" * 32


class FakeCase(unittest.TestCase):
    def setUp(self) -> None:
        self.server = FakeServer()
        self.addCleanup(self.server.stop)
        self.client = Client(self.server.url, TOKEN, timeout=5, retries=2)
        self.gate = Gate(self.client, server="bank", in_flight=0.05)
        #: The arguments that reached the bank.
        self.made: list[Any] = []

    def pay(self, id: str = "c1", *, gate: Gate | None = None, **more: Any) -> CallEnd[dict[str, Any]]:
        """Pays 5 cents, or what is given."""
        options = {name: more.pop(name) for name in ("idempotent", "wait", "is_unknown") if name in more}
        args = {"to": "bob", "cents": 5, **more}
        return (gate or self.gate).once(GateCall(run="r1", id=id, tool="pay", args=args), self.paid, **options)

    def paid(self, begun: BegunCall) -> dict[str, Any]:
        self.made.append(dict(begun.args))
        return {"receipt": len(self.made)}
