"""A server in this process that keeps calls as Assize does, and answers wrongly when told to."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import unquote, urlsplit

APPROVAL = "a" * 64
DIGEST = "d" * 64


class FakeServer:
    """Calls of `mallory` are denied, and those above 100 cents wait for `approve` or `reject`."""

    def __init__(self) -> None:
        #: The requests: method, path with query, headers in lower case, body.
        self.requests: list[tuple[str, str, dict[str, str], Any]] = []
        #: Answers in place of the true ones, by the beginning of `METHOD path`. First come.
        self.faults: list[tuple[str, Fault]] = []
        self.calls: dict[str, dict[str, Any]] = {}
        self.lock = threading.RLock()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                fake.handle(self)

            def do_POST(self) -> None:
                fake.handle(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def fault(self, asked: str, fault: Fault, times: int = 1) -> None:
        self.faults += [(asked, fault)] * times

    def paths(self, word: str) -> list[str]:
        """The requests whose path has a word."""
        return [f"{method} {path}" for method, path, _, _ in self.requests if word in path]

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        size = int(request.headers.get("content-length") or 0)
        body = json.loads(request.rfile.read(size)) if size else None
        headers = {name.lower(): value for name, value in request.headers.items()}
        asked = f"{request.command} {request.path}"
        with self.lock:
            self.requests.append((request.command, request.path, headers, body))
            place = next((i for i, (start, _) in enumerate(self.faults) if asked.startswith(start)), None)
            fault = None if place is None else self.faults.pop(place)[1]
        if fault is not None and fault(request, lambda: self.answer(request, body)):
            return
        with contextlib.suppress(OSError):  # The client has left.
            send(request, *self.answer(request, body))

    def answer(self, request: BaseHTTPRequestHandler, body: Any) -> tuple[int, Any]:
        parts = [unquote(part) for part in urlsplit(request.path).path.split("/")[2:]]
        with self.lock:
            if parts[0] == "approvals":
                found = next(call for call in self.calls.values() if call.get("waits"))
                shown = {"digest": DIGEST, "detail": "large", "action": {"name": "call", "args": found["asked"]}}
                return 200, {"status": "pending", "approval": {"id": APPROVAL, **shown}}
            if parts[0] != "trajectories":
                return 404, problem("unknown_operation", "There is no such operation.")
            if len(parts) == 3:
                return 200, self._asked(body)
            call = self.calls.get(parts[3], {})
            if parts[4] == "outcome":
                return 200, {name: call[name] for name in ("outcome", "result") if name in call}
            if not call.get("begun") or call.get("outcome") in ("done", "failed"):
                return 200, {"recorded": False}
            call.update(body)
            return 200, {"recorded": True}

    def approve(self, id: str, args: Mapping[str, Any] | None = None) -> None:
        with self.lock:
            self.calls[id].update(waits=False, **({} if args is None else {"args": args}))

    def reject(self, id: str) -> None:
        with self.lock:
            self.calls[id].update(waits=False, refused=True)

    def _asked(self, asked: dict[str, Any]) -> dict[str, Any]:
        id, args = asked["id"], asked["args"]
        call = self.calls.setdefault(id, {"asked": asked, "waits": args.get("cents", 0) > 100})
        if call["asked"]["args"] != args or call["asked"]["tool"] != asked["tool"]:
            return {"decision": "denied", "reason": f"the call {id} was asked for with other arguments"}
        if args.get("to") == "mallory" or call.get("refused"):
            return {"decision": "denied", "reason": "the rule says no"}
        tool_class = "read" if call["asked"]["tool"] == "look" else "irreversible"
        if call["waits"]:
            return {"decision": "pending", "approval": APPROVAL, "reason": "the rule asks"}
        if call.get("begun") and (call.get("outcome") or call["attempt"] != asked["attempt"]):
            reason = f"the call {id} was let through already"
            return {"decision": "begun", "call": id, "class": tool_class, "reason": reason}
        call.update(begun=True, attempt=asked["attempt"])
        amended = {"args": call["args"]} if "args" in call else {}
        return {"decision": "allowed", "call": id, "class": tool_class, **amended}


#: Sends an answer, and returns whether it did. The second parameter makes the true one.
Fault = Callable[[BaseHTTPRequestHandler, Callable[[], tuple[int, Any]]], bool]


def send(request: BaseHTTPRequestHandler, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request.send_response(status)
    for name, value in (headers or {}).items():
        request.send_header(name, value)
    request.send_header("Content-Length", str(len(data)))
    request.end_headers()
    request.wfile.write(data)


def problem(code: str, detail: str, *, retryable: bool = False, **more: Any) -> dict[str, Any]:
    return {"code": code, "detail": detail, "retryable": retryable, **more}


def answers(status: int, body: Any, headers: Mapping[str, str] | None = None) -> Fault:
    """Answers this, and does nothing."""

    def fault(request: BaseHTTPRequestHandler, _: Callable[[], tuple[int, Any]]) -> bool:
        send(request, status, body, headers)
        return True

    return fault


def loses_answer(request: BaseHTTPRequestHandler, true: Callable[[], tuple[int, Any]]) -> bool:
    """Does what it is asked, and closes the connection without an answer."""
    true()
    cast(socket.socket, request.connection).shutdown(socket.SHUT_RDWR)
    return True


def cuts_answer(request: BaseHTTPRequestHandler, true: Callable[[], tuple[int, Any]]) -> bool:
    """Does what it is asked, and sends a part of the answer."""
    status, _ = true()
    request.send_response(status)
    request.send_header("Content-Length", "1000")
    request.end_headers()
    request.wfile.write(b'{"decision":')
    cast(socket.socket, request.connection).shutdown(socket.SHUT_RDWR)
    return True


def waits_for(event: threading.Event, first: Callable[[], None] | None = None) -> Fault:
    """Answers truly after the event."""

    def fault(request: BaseHTTPRequestHandler, _: Callable[[], tuple[int, Any]]) -> bool:
        if first is not None:
            first()
        event.wait(10)
        return False

    return fault
