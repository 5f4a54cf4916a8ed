"""The gate as a runtime of the conformance suite: a program that makes the calls of its model.

The server outlives the driver, as that of an agent does. CONFORMANCE_PLAIN and
CONFORMANCE_EXPIRING name one each, as JSON: its URL, the token of the agent, and that of grace.
"""

from __future__ import annotations

import json
import os
import platform
import socket
import threading
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from assize import BegunCall, CallEnd, Client, Done, Doubt, Failed, Gate, GateCall, HeldCall, Pending, content_hash

from .protocol import Driver, Setup, serve


class GateDriver(Driver):
    """Each run is a file with the message of the model, and the calls that a person was shown."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._scenario = content_hash(str(setup.folder))[:12]
        self._silent: socket.socket | None = None
        self.identity = {
            "name": "Assize gate, Python",
            "versions": {"python": platform.python_version(), "assize": "0.1.0"},
            "cannot": {},
        }
        url, agent, person = self._server()
        self._gate = Gate(Client(url, agent), server="suite", people={"manager:grace": Client(url, person)})

    def start(self, run: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
        self._write(run, calls, [])
        return self._go_on(run)

    def resume(self, run: str, answers: dict[str, Any]) -> dict[str, Any]:
        for held in self._read(run)["held"]:
            answer: dict[str, Any] = answers.get(held["id"]) or {}
            decision, person = answer.get("decision"), answer.get("person")
            if decision in ("approve", "reject"):
                # A person of any kind: the gate refuses one that it does not know.
                self._gate.decide(HeldCall(**held["held"]), approve=decision == "approve", by=cast(str, person))
        return self._go_on(run)

    def retry(self, run: str) -> dict[str, Any]:
        return self._go_on(run)

    def fork(self, run: str) -> dict[str, Any]:
        return self._go_on(run)

    def tamper(self, run: str, call: str, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        kept = self._read(run)
        other = {"id": call, "tool": tool, "args": args}
        self._write(run, [other if one["id"] == call else one for one in kept["calls"]], kept["held"])
        return {"changed": 1}

    def shown(self, run: str) -> dict[str, Any]:
        return {"waiting": [self._waiting(held) for held in self._read(run)["held"]]}

    def _go_on(self, run: str) -> dict[str, Any]:
        calls: list[dict[str, Any]] = self._read(run)["calls"]
        with ThreadPoolExecutor(len(calls)) as pool:
            ends = [made.result() for made in [pool.submit(self._end, run, call) for call in calls]]
        held: list[dict[str, Any]] = []
        told: list[dict[str, Any]] = []
        doubts: list[str] = []
        for call, end in zip(calls, ends, strict=True):
            id = call["id"]
            if isinstance(end, Pending):
                shown = self._gate.held(end)
                if shown is not None:
                    held.append({"id": id, "held": _members(shown)})
            elif isinstance(end, Doubt):
                doubts.append(end.reason)
            elif isinstance(end, Done):
                told.append({"call": id, "isError": False, "text": end.result})
            else:
                told.append(
                    {"call": id, "isError": True, "text": str(end.error if isinstance(end, Failed) else end.reason)}
                )
        self._write(run, calls, held)
        if doubts:
            return {"state": "failed", "error": ", ".join(doubts), "told": told}
        if held:
            return {"state": "paused", "waiting": [self._waiting(one) for one in held], "told": told}
        return {"state": "done", "told": told}

    def _end(self, run: str, call: dict[str, Any]) -> CallEnd[str]:
        id, tool = call["id"], call["tool"]

        def make(begun: BegunCall) -> str:
            effect = {"run": run, "call": id, "tool": tool, "args": begun.args, "key": begun.key}
            return self._setup.effect(effect)

        # The folder is another one in each scenario. The server is the same.
        asked = GateCall(run=f"{self._scenario}.{run}", id=id, tool=tool, args=call["args"])
        return self._gate.once(asked, make, is_unknown=lambda error: isinstance(error, OSError))

    def _server(self) -> list[str]:
        settings = self._setup.settings
        hook = settings.get("hook")
        if hook == "silent":
            # The judge takes requests, and never answers.
            self._silent = socket.create_server(("127.0.0.1", 0), backlog=16)
            return [f"http://127.0.0.1:{self._silent.getsockname()[1]}", "none", "none"]
        if hook is not None:
            return [_judge_that_says('"perhaps"' if hook == "word" else "{}"), "none", "none"]
        found: list[str] = json.loads(
            os.environ["CONFORMANCE_EXPIRING" if "expiresMs" in settings else "CONFORMANCE_PLAIN"]
        )
        return found

    def _waiting(self, held: dict[str, Any]) -> dict[str, Any]:
        shown = held["held"]
        return {"call": held["id"], "tool": shown["tool"].split("/")[1], "args": shown["args"]}

    def _read(self, run: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._file(run).read_text(encoding="utf-8"))
        return found

    def _write(self, run: str, calls: list[dict[str, Any]], held: list[dict[str, Any]]) -> None:
        file = self._file(run)
        part = file.with_suffix(f".{os.getpid()}.{id(held)}")
        part.write_text(json.dumps({"calls": calls, "held": held}), encoding="utf-8")
        part.replace(file)

    def _file(self, run: str) -> Any:
        return self._setup.folder / f"run-{urllib.parse.quote(run, safe='')}.json"


def _judge_that_says(answer: str) -> str:
    """The URL of a server that gives this JSON to every request."""

    class Judge(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(answer.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Judge)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def _members(held: HeldCall) -> dict[str, Any]:
    return {name: getattr(held, name) for name in HeldCall.__slots__}


if __name__ == "__main__":
    serve(GateDriver)
