"""A process that makes one payment: RUN ID CENTS BANK [FILE]. It prints the end of the call."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from assize import BegunCall, Client, Done, Gate, GateCall


def main(run: str, id: str, cents: str, bank: str, release: str) -> None:
    gate = Gate(Client(os.environ["ASSIZE_URL"], os.environ["TOKEN_OF_AGENT"]), server="bank", in_flight=10)

    def make(begun: BegunCall) -> dict[str, Any]:
        with Path(bank).open("a") as file:
            file.write(f"{begun.args['to']} {begun.args['cents']}\n")
        while release and not Path(release).exists():
            time.sleep(0.02)
        return {"from": os.getpid()}

    end = gate.once(GateCall(run=run, id=id, tool="pay", args={"to": "bob", "cents": int(cents)}), make)
    result: Any = f" {end.recorded} {end.result['from']}" if isinstance(end, Done) else ""
    print(f"{end.end}{result}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
