"""A driver of the conformance suite: lines of JSON over standard input and output.

docs/reference/conformance.md of the repository has the protocol.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any


class SinkRefused(Exception):
    """The sink has answered that it has not taken the effect."""


class Setup:
    """The place of a driver, as `hello` tells it."""

    def __init__(self, hello: dict[str, Any]) -> None:
        #: The folder of everything that has to survive this process.
        self.folder = Path(hello["folder"])
        self.settings: dict[str, Any] = hello["settings"]
        self._sink = f"{hello['sink'].rstrip('/')}/effects"

    def effect(self, effect: dict[str, Any]) -> str:
        """The whole body of a tool: one request to the sink. Raises SinkRefused, OSError."""
        limit = self.settings.get("timeoutMs")
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._sink, json.dumps(effect).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=None if limit is None else limit / 1_000) as answer:
                return str(answer.read().decode())
        except urllib.error.HTTPError as error:
            raise SinkRefused(f"the sink refused: {error.read().decode()}") from None


class Driver(ABC):
    """The operations of a driver. An error of a step is a run that failed."""

    identity: dict[str, Any]

    @abstractmethod
    def start(self, run: str, calls: list[dict[str, Any]]) -> dict[str, Any]: ...

    @abstractmethod
    def resume(self, run: str, answers: dict[str, Any]) -> dict[str, Any]: ...

    @abstractmethod
    def retry(self, run: str) -> dict[str, Any]: ...

    @abstractmethod
    def fork(self, run: str) -> dict[str, Any]: ...

    @abstractmethod
    def tamper(self, run: str, call: str, tool: str, args: dict[str, Any]) -> dict[str, Any]: ...

    @abstractmethod
    def shown(self, run: str) -> dict[str, Any]: ...


def serve(driver_of: Callable[[Setup], Driver]) -> None:
    """Serves a driver until the end of standard input. Each request has a thread of its own."""
    out, sys.stdout = sys.stdout, sys.stderr
    lock = threading.Lock()
    driver: list[Driver] = []

    def answer(id: int, op: str, given: dict[str, Any]) -> None:
        line: dict[str, Any] = {"id": id}
        try:
            line["answer"] = _answer(driver, driver_of, op, given)
        except Exception as error:
            line["error"] = f"{type(error).__name__}: {error}"
        with lock:
            print(json.dumps(line), file=out, flush=True)

    for text in sys.stdin:
        request: dict[str, Any] = json.loads(text)
        id, op = request.pop("id"), request.pop("op")
        if op == "hello":
            answer(id, op, request)
        else:
            threading.Thread(target=answer, args=(id, op, request), daemon=True).start()
    os._exit(0)


def _answer(driver: list[Driver], driver_of: Callable[[Setup], Driver], op: str, given: dict[str, Any]) -> Any:
    if op == "hello":
        driver.append(driver_of(Setup(given)))
        return driver[0].identity
    if op not in ("start", "resume", "retry", "fork", "tamper", "shown"):
        raise ValueError(f"there is no operation {op}")
    step = getattr(driver[0], op)
    if op in ("tamper", "shown"):
        return step(**given)
    try:
        return step(**given)
    except Exception as error:
        return {"state": "failed", "error": f"{type(error).__name__}: {error}"}
