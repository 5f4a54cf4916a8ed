"""A test at a real server, with a bank of its own outside of it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from pathlib import Path
from typing import Any

from assize import BegunCall, CallEnd, Client, Gate, GateCall, Pending

URL = os.environ["ASSIZE_URL"]
HERE = Path(__file__).resolve().parents[2]


class RealCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        #: Each line is a payment that has reached the bank.
        self.bank = Path(folder.name) / "bank"
        self.bank.touch()
        self.run_id = f"run-{uuid.uuid4()}"
        self.agent = Client(URL, os.environ["TOKEN_OF_AGENT"])
        self.person = Client(URL, os.environ["TOKEN_OF_PERSON"])
        self.auditor = Client(URL, os.environ["TOKEN_OF_AUDITOR"])
        self.gate = self.new_gate()

    def new_gate(self) -> Gate:
        return Gate(self.agent, server="bank", in_flight=0.1, people={"manager:grace": self.person})

    @property
    def paid(self) -> list[str]:
        return self.bank.read_text().splitlines()

    def pay(
        self, cents: int, *, id: str = "c1", to: str = "bob", gate: Gate | None = None, **more: Any
    ) -> CallEnd[Any]:
        call = GateCall(run=self.run_id, id=id, tool="pay", args={"to": to, "cents": cents})
        return (gate or self.gate).once(call, self.make, **more)

    def make(self, begun: BegunCall) -> dict[str, Any]:
        with self.bank.open("a") as file:
            file.write(f"{begun.args['to']} {begun.args['cents']}\n")
        return {"receipt": len(self.paid), "to": begun.args["to"]}

    def decide(self, end: CallEnd[Any], *, approve: bool) -> None:
        assert isinstance(end, Pending)
        held = self.gate.held(end)
        assert held is not None
        self.gate.decide(held, approve=approve, by="manager:grace", reason="seen")

    def other_process(self, cents: int, *, id: str = "c1", gate_open: Path | None = None) -> subprocess.Popen[str]:
        """The same payment in another process. If a file is given, it waits in the bank for the file."""
        given = [self.run_id, id, str(cents), str(self.bank), "" if gate_open is None else str(gate_open)]
        command = [sys.executable, "-B", "-m", "tests.server.payer", *given]
        return subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, text=True)

    def until_paid(self, count: int) -> None:
        until = time.monotonic() + 20
        while len(self.paid) < count:
            if time.monotonic() > until:
                self.fail(f"the bank has {self.paid}")
            time.sleep(0.02)
