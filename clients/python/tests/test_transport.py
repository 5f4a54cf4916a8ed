"""Requests whose answers are late, lost, broken or of another server."""

from __future__ import annotations

import logging
import pickle
import socket
import threading
import traceback
import unittest
from typing import Any
from unittest import mock

from assize import BadAnswer, Client, NoAnswer, NotJson, Problem

from .fake_case import TOKEN, FakeCase
from .fake_server import answers, cuts_answer, loses_answer, problem, waits_for

DIGEST = "d" * 64
BUSY = problem("busy", "The store cannot answer now.", retryable=True)


class TransportTest(FakeCase):
    def ask(self) -> Any:
        return self.client.calls.ask("calls", id="r1.c1", server="bank", tool="pay", args={"cents": 5}, session="r1")

    def test_a_request_is_sent_as_the_server_reads_it(self) -> None:
        self.assertEqual(self.ask()["decision"], "allowed")
        [(method, path, headers, body)] = self.server.requests
        self.assertEqual((method, path), ("POST", "/v1/trajectories/calls/calls?wait=0"))
        self.assertEqual(headers["authorization"], f"Bearer {TOKEN}")
        self.assertEqual(headers["content-type"], "application/json")
        self.assertRegex(body.pop("attempt"), "^[0-9a-f]{32}$")
        self.assertEqual(body, {"id": "r1.c1", "session": "r1", "server": "bank", "tool": "pay", "args": {"cents": 5}})

    def test_a_lost_stream_of_events_goes_on_after_its_last_id(self) -> None:
        kind = {"Content-Type": "text/event-stream"}
        ready = b"retry: 1000\nevent: ready\nid: 4\ndata: {}\n\n"
        alive = b"event: alive\ndata: {}\n\n"
        self.server.fault("GET /v1/events", answers(200, ready + alive, kind))
        cut = b'id: 5\nevent: commit\ndata: {"seq":1}\n\nid: 6\n'
        self.server.fault("GET /v1/events", answers(200, alive + cut, kind))
        self.server.fault("GET /v1/events", answers(503, BUSY))
        self.server.fault("GET /v1/events", answers(200, b'id: 6\nevent: commit\ndata: {"seq":2}\n\n', kind))
        with mock.patch("assize.transport.time.sleep"):
            events = self.client.events(trajectory="calls")
            found = [next(events), next(events)]
            with self.assertRaises(Problem):
                next(events)
        seen = [(one["id"], one["kind"], one["entry"]["seq"]) for one in found]
        self.assertEqual(seen, [(5, "commit", 1), (6, "commit", 2)])
        asked = [headers.get("last-event-id") for _, _, headers, _ in self.server.requests]
        self.assertEqual(asked, [None, "4", "5", "5", "6"])

    def test_names_are_one_segment_of_a_path(self) -> None:
        self.client.calls.outcome("a/b", "c?d é")
        self.assertEqual(self.server.requests[0][1], "/v1/trajectories/a%2Fb/calls/c%3Fd%20%C3%A9/outcome")
        for name in ["", ".", ".."]:
            with self.assertRaises(ValueError):
                self.client.calls.outcome(name, "c")

    def test_a_refusal_is_a_problem_with_its_code(self) -> None:
        found = [{"pointer": "/body/id", "message": "is missing"}]
        document = problem("invalid_request", "The request is not valid.", findings=found, request_id="q1")
        self.server.fault("POST", answers(400, document))
        with self.assertRaises(Problem) as refused:
            self.ask()
        error = refused.exception
        self.assertEqual((error.code, error.status, error.retryable), ("invalid_request", 400, False))
        self.assertEqual((error.findings, error.request_id), (found, "q1"))
        self.assertEqual(len(self.server.requests), 1)

    def test_a_request_with_an_id_is_repeated(self) -> None:
        with mock.patch("assize.transport.time.sleep") as pause:
            self.server.fault("POST", answers(503, BUSY, {"Retry-After": "3"}))
            self.server.fault("POST", answers(502, b"<html>bad gateway</html>"))
            self.assertEqual(self.ask()["decision"], "allowed")
        self.assertEqual([call.args[0] for call in pause.mock_calls], [3.0, 0.4])
        self.assertEqual(len(self.server.requests), 3)

    def test_a_pause_between_repetitions_has_a_limit(self) -> None:
        with mock.patch("assize.transport.time.sleep") as pause:
            self.server.fault("POST", answers(429, BUSY, {"Retry-After": "3600"}))
            self.ask()
        self.assertEqual([call.args[0] for call in pause.mock_calls], [5.0])

    def test_repetitions_end(self) -> None:
        with mock.patch("assize.transport.time.sleep"):
            self.server.fault("POST", answers(503, BUSY), times=9)
            with self.assertRaises(Problem) as refused:
                self.ask()
        self.assertTrue(refused.exception.retryable)
        self.assertEqual(len(self.server.requests), 3)

    def test_a_lost_permission_is_given_again_to_its_attempt_alone(self) -> None:
        for lose in [loses_answer, cuts_answer]:
            self.server.calls.clear()
            self.server.requests.clear()
            with mock.patch("assize.transport.time.sleep"):
                self.server.fault("POST", lose)
                self.assertEqual(self.ask()["decision"], "allowed")
            self.assertEqual(self.ask()["decision"], "begun")
            first, repeated, other = [body["attempt"] for _, _, _, body in self.server.requests]
            self.assertEqual(first, repeated)
            self.assertNotEqual(first, other)

    def test_a_decision_of_a_person_is_sent_once(self) -> None:
        for fault, kind in [(loses_answer, NoAnswer), (answers(503, BUSY), Problem)]:
            self.server.requests.clear()
            self.server.calls["c"] = {"waits": True, "asked": {}}
            self.server.fault("POST /v1/approvals", fault)
            with self.assertRaises(kind):
                self.client.approvals.approve("a" * 64, digest=DIGEST)
            [(_, path, _, body)] = self.server.requests
            self.assertEqual((path[-8:], body), ("/approve", {"digest": DIGEST}))

    def test_a_silent_server_is_a_time_out(self) -> None:
        end = threading.Event()
        self.addCleanup(end.set)
        client = Client(self.server.url, TOKEN, timeout=0.2, retries=0)
        self.server.fault("GET", waits_for(end))
        with self.assertRaisesRegex(NoAnswer, "did not answer in 0.2 seconds") as late:
            client.calls.outcome("calls", "c")
        self.assertIsInstance(late.exception.__cause__, TimeoutError)
        self.assertTrue(late.exception.retryable)

    def test_no_server_is_an_error_with_advice(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with self.assertRaisesRegex(NoAnswer, "Start it with assize serve"):
            Client(f"http://127.0.0.1:{port}", TOKEN, retries=0).me()

    def test_a_redirect_is_not_followed(self) -> None:
        self.server.fault("GET", answers(302, b"", {"Location": f"{self.server.url}/v1/elsewhere"}))
        with self.assertRaisesRegex(BadAnswer, "redirect") as refused:
            self.client.me()
        self.assertEqual(refused.exception.status, 302)
        self.assertEqual(len(self.server.requests), 1)

    def test_answers_of_another_server_are_refused(self) -> None:
        deep = b"[" * 100_000
        for status, body in [
            (200, b"<html>"),
            (200, b"[]"),
            (200, b'{"a":NaN}'),
            (200, b"\xff"),
            (200, deep),
            (404, b"no"),
        ]:
            self.server.fault("GET", answers(status, body))
            with self.assertRaises(BadAnswer) as refused:
                self.client.me()
            self.assertFalse(refused.exception.retryable)
        self.assertEqual(len(self.server.requests), 6)

    def test_an_answer_that_is_too_large_is_refused(self) -> None:
        with mock.patch("assize.transport.ANSWER_BYTES_MAX", 1_000):
            self.server.fault("GET", answers(200, b" " * 2_000))
            with self.assertRaisesRegex(BadAnswer, "more than 1000 bytes"):
                self.client.me()

    def test_a_body_that_is_not_json_is_not_sent(self) -> None:
        with self.assertRaises(NotJson):
            self.client.proposals.create("calls", key="k", action="a", role="r", args={"n": 2**60})
        self.assertEqual(self.server.requests, [])

    def test_pages_are_followed_to_the_end(self) -> None:
        self.server.fault("GET", answers(200, {"approvals": [{"id": "1"}], "next": "calls@1"}))
        self.server.fault("GET", answers(200, {"approvals": [{"id": "2"}]}))
        self.assertEqual([one["id"] for one in self.client.approvals.list(mine=True)], ["1", "2"])
        paths = [path for _, path, _, _ in self.server.requests]
        self.assertEqual(paths, ["/v1/approvals?mine=true", "/v1/approvals?mine=true&cursor=calls%401"])

    def test_a_proposal_names_its_key_and_its_wait(self) -> None:
        self.server.fault("POST", answers(200, {"ruling": "committed"}))
        self.client.proposals.create("calls", key="k1", action="a", role="r", args={}, wait=1_000)
        _, path, headers, body = self.server.requests[0]
        self.assertEqual(path, "/v1/trajectories/calls/proposals")
        self.assertEqual((headers["idempotency-key"], headers["prefer"]), ("k1", "wait=300"))
        self.assertEqual(body, {"action": "a", "role": "r", "args": {}})
        for key in ["", "a\r\nX: y", "é", "k" * 513]:
            with self.assertRaises(ValueError):
                self.client.proposals.create("calls", key=key, action="a", role="r", args={})


class TokenTest(FakeCase):
    def test_the_token_is_in_no_repr_and_in_no_error(self) -> None:
        parts: list[Any] = [vars(part) for part in vars(self.client).values() if hasattr(part, "__dict__")]
        self.assertNotIn(TOKEN, f"{self.client!r} {self.gate!r} {vars(self.client)!r} {parts!r}")
        texts: list[str] = []
        for body in [b"<html>", b"{}"]:
            self.server.fault("GET", answers(500, body))
            try:
                self.client.me()
            except BadAnswer:
                texts.append("".join(traceback.format_exc()))
        with self.assertLogs("assize", logging.WARNING) as logs:
            logging.getLogger("assize").warning("%r %r", self.client, self.gate)
        self.assertEqual(len(texts), 2)
        self.assertNotIn(TOKEN, "\n".join([*texts, *logs.output]))

    def test_a_broken_token_is_refused_without_being_shown(self) -> None:
        for token in ["", "secret\nX: y", "se cret", "sécret"]:
            with self.assertRaises(ValueError) as refused:
                Client("http://127.0.0.1:1", token)
            self.assertNotIn("cret", str(refused.exception))

    def test_a_client_with_its_token_is_not_pickled(self) -> None:
        with self.assertRaises(TypeError):
            pickle.dumps(self.client)

    def test_a_url_has_a_scheme_a_host_and_a_port(self) -> None:
        for url in [
            "127.0.0.1:4517",
            "ftp://host",
            "http://user:pw@host",
            "http://host/path",
            "http://host?x",
            "http://",
        ]:
            with self.assertRaises(ValueError) as refused:
                Client(url, TOKEN)
            self.assertNotIn("pw", str(refused.exception))
        self.assertEqual(Client("http://host:1/", TOKEN).url, "http://host:1")

    def test_an_error_survives_a_pickle(self) -> None:
        error = Problem("The request is not valid.", code="invalid_request", status=400, document={"findings": []})
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.code, again.status), (str(error), "invalid_request", 400))


if __name__ == "__main__":
    unittest.main()
