"""Requests to one server, over HTTP/1.1 of the standard library.

Guarantees: no redirect is followed and no proxy is used, so the token reaches only the server of
the URL. The token is in no text of an error and in no `repr`. Only a request that may be repeated
is repeated: after a lost answer, and where the server says that it may succeed later.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from typing import Any, NoReturn, cast
from urllib.parse import quote, urlencode, urlsplit

from .canonical import canonicalize
from .errors import BadAnswer, NoAnswer, Problem

#: The largest answer that is read.
ANSWER_BYTES_MAX = 64 * 1_048_576
#: The longest pause before a repetition, in seconds.
PAUSE_MAX = 5.0

_TOKEN = re.compile(r"[\x21-\x7e]+")
#: Answers of a proxy in front of the server that may be others later.
_PASSING = frozenset({429, 502, 503, 504})


class Secret:
    """A text that no `repr`, error or pickle shows."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        if _TOKEN.fullmatch(text) is None:
            raise ValueError("The token is empty, or has characters that no token has. Pass the token alone.")
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("A token is not pickled. Make a client in each process.")


class Stop:
    """Ends the requests of one caller from another thread. The server sees that the client left."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._is_set = False

    def set(self) -> None:
        with self._lock:
            self._is_set = True
            if self._socket is not None:
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)

    @contextlib.contextmanager
    def over(self, used: socket.socket | None) -> Generator[None, None, None]:
        """The time in which a socket is used. Raises ConnectionAbortedError if it is over."""
        with self._lock:
            self._socket = used
            if self._is_set:
                raise ConnectionAbortedError("the caller was cancelled")
        try:
            yield
        finally:
            with self._lock:
                self._socket = None

    @property
    def is_set(self) -> bool:
        return self._is_set


class Transport:
    """Sends requests to one server, with the token of one principal. Threads may share it."""

    def __init__(self, url: str, token: str, *, timeout: float = 30.0, retries: int = 2) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("The URL of a server begins with http:// or https://, and names a host.")
        if "@" in parts.netloc or parts.path not in ("", "/") or parts.query or parts.fragment:
            raise ValueError("The URL of a server has a scheme, a host and a port, and nothing else.")
        if not timeout > 0 or retries < 0:
            raise ValueError("timeout must be above 0, and retries must not be negative.")
        self.url = f"{parts.scheme}://{parts.netloc}"
        self._host = parts.hostname
        self._port = parts.port
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._token = Secret(token)
        self._timeout = timeout
        self._retries = retries

    def __repr__(self) -> str:
        return f"Transport({self.url!r})"

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        wait: float = 0.0,
        repeat: bool = True,
        stop: Stop | None = None,
    ) -> dict[str, Any]:
        """The document of an answer. `wait`: the seconds for which the server may hold it back.

        `repeat`: whether the same request twice has the effect of one.

        Raises Problem, NoAnswer, BadAnswer; NotJson for a body, before anything is sent.
        """
        target = path if not query else f"{path}?{urlencode(query)}"
        data = None if body is None else canonicalize(body).encode()
        attempt, ending = 0, stop or Stop()
        while True:
            try:
                return self._once(method, target, data, headers or {}, self._timeout + wait, ending)
            except (Problem, NoAnswer, BadAnswer) as error:
                if not repeat or not error.retryable or attempt >= self._retries or ending.is_set:
                    raise
                asked = error.retry_after if isinstance(error, Problem) else None
                time.sleep(min(PAUSE_MAX, 0.2 * 2**attempt if asked is None else asked))
            attempt += 1

    def events(self, target: str, after: str | None) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """The events of a stream: id, name and document. A lost stream goes on after its last id.

        Raises Problem; NoAnswer and BadAnswer after `retries` connections without an event.
        """
        attempt = 0
        while True:
            try:
                for last, name, text in self._stream(target, after):
                    after = last
                    document = _parsed(text.encode()) if text else None
                    if document is not None:
                        attempt = 0
                        if name != "ready":  # The first event of a stream has the id to go on after.
                            yield last, name, document
            except (Problem, NoAnswer, BadAnswer) as error:
                if not error.retryable or attempt >= self._retries:
                    raise
            time.sleep(min(PAUSE_MAX, 0.2 * 2**attempt))
            attempt += 1

    def _stream(self, target: str, after: str | None) -> Iterator[tuple[str, str, str]]:
        connection = self._connection(self._timeout)
        try:
            connection.putrequest("GET", target)
            connection.putheader("Authorization", f"Bearer {self._token.reveal()}")
            connection.putheader("Accept", "text/event-stream")
            if after is not None:
                connection.putheader("Last-Event-ID", after)
            connection.endheaders()
            answer = connection.getresponse()
            if answer.getheader("Content-Type") != "text/event-stream":
                _document(answer, _read(answer, self._timeout))
                raise BadAnswer("The answer has no events. Is the URL that of assize serve?", status=answer.status)
            last, name, text = "", "", ""
            while line := answer.readline(ANSWER_BYTES_MAX):
                field, _, value = line.decode().rstrip("\r\n").partition(": ")
                if field == "id":
                    last = value
                elif field == "event":
                    name = value
                elif field == "data":
                    text += value
                elif field == "":
                    if last != "":  # A sign of life has no id.
                        yield last, name, text
                    last, name, text = "", "", ""
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer(f"The server {self.url} does not answer. Start it with assize serve.") from error
        finally:
            connection.close()

    def _once(
        self,
        method: str,
        target: str,
        data: bytes | None,
        headers: Mapping[str, str],
        timeout: float,
        stop: Stop,
    ) -> dict[str, Any]:
        connection = self._connection(timeout)
        try:
            connection.putrequest(method, target)
            connection.putheader("Authorization", f"Bearer {self._token.reveal()}")
            connection.putheader("Connection", "close")
            for name, value in headers.items():
                connection.putheader(name, value)
            if data is not None:
                connection.putheader("Content-Type", "application/json")
                connection.putheader("Content-Length", str(len(data)))
            connection.connect()
            with stop.over(connection.sock):
                connection.endheaders(data)
                answer = connection.getresponse()
                text = _read(answer, timeout)
            return _document(answer, text)
        except TimeoutError as error:
            raise NoAnswer(f"The server {self.url} did not answer in {timeout:g} seconds.") from error
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer(f"The server {self.url} does not answer. Start it with assize serve.") from error
        finally:
            connection.close()

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        if self._tls is None:
            made = http.client.HTTPConnection(self._host, self._port, timeout=timeout)
        else:
            made = http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._tls)
        # A debug level that the program has set for all connections would print the token.
        made.set_debuglevel(0)
        return made


def segment(name: str) -> str:
    """A name as one segment of a path."""
    if name in ("", ".", ".."):
        raise ValueError(f"{name!r} names nothing at a server.")
    return quote(name, safe="")


def _read(answer: http.client.HTTPResponse, timeout: float) -> bytes:
    until = time.monotonic() + timeout
    pieces: list[bytes] = []
    size = 0
    while piece := answer.read(65_536):
        size += len(piece)
        if size > ANSWER_BYTES_MAX:
            raise BadAnswer(f"The answer has more than {ANSWER_BYTES_MAX} bytes. Ask for less.", status=answer.status)
        if time.monotonic() > until:
            raise TimeoutError
        pieces.append(piece)
    if answer.length:
        raise http.client.IncompleteRead(b"", answer.length)
    return b"".join(pieces)


def _document(answer: http.client.HTTPResponse, text: bytes) -> dict[str, Any]:
    """The document of an answer. Raises Problem, BadAnswer."""
    status = answer.status
    if 300 <= status < 400:
        raise BadAnswer(
            f"The server answers with a redirect ({status}), and it is not followed. Use the URL of assize serve.",
            status=status,
        )
    found = _parsed(text)
    if 200 <= status < 300:
        if found is None:
            raise BadAnswer("The answer is not a JSON object. Is the URL that of assize serve?", status=status)
        return found
    code, detail = (found or {}).get("code"), (found or {}).get("detail")
    if found is None or not isinstance(code, str) or not isinstance(detail, str):
        raise BadAnswer(
            f"The answer has the status {status}, and no problem document. Is the URL that of assize serve?",
            status=status,
            retryable=status in _PASSING,
        )
    raise Problem(
        detail,
        code=code,
        status=status,
        retryable=found.get("retryable") is True,
        document=found,
        retry_after=_seconds(answer.getheader("Retry-After")),
    )


def _parsed(text: bytes) -> dict[str, Any] | None:
    try:
        value: object = json.loads(text.decode(), parse_constant=_refused)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and re.fullmatch(r"[0-9]{1,6}", text) is not None else None
