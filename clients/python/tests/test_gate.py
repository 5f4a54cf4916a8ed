"""Calls that are judged, made once, repeated, held and cancelled, at a server that fails at times."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import time
import unittest
import warnings
from collections.abc import Callable
from email.message import Message
from types import SimpleNamespace
from typing import Any
from unittest import mock
from urllib.error import HTTPError, URLError

from assize import (
    BegunCall,
    CallFailed,
    CallInDoubt,
    CallPending,
    CallRefused,
    Done,
    Doubt,
    Failed,
    Gate,
    GateCall,
    NoAnswer,
    NotJson,
    Pending,
    Problem,
    Refused,
)

from assize.outcomes import is_interruption

from .fake_case import FakeCase
from .fake_server import APPROVAL, answers, loses_answer, problem, waits_for

CALL = GateCall(run="r1", id="c1", tool="pay", args={"to": "bob", "cents": 5})
LARGE = GateCall(run="r1", id="c1", tool="pay", args={"to": "bob", "cents": 500})


def returning(result: Any) -> Callable[[BegunCall], Any]:
    return lambda _: result


class OnceTest(FakeCase):
    def other(self) -> Gate:
        """A gate as another process has it."""
        return Gate(self.client, server="bank", in_flight=0.05)

    def test_a_call_is_made_once_and_a_repetition_gets_its_result(self) -> None:
        self.assertEqual(self.pay(), Done("r1.c1", {"receipt": 1}, recorded=False))
        self.assertEqual(self.pay(), Done("r1.c1", {"receipt": 1}, recorded=True))
        self.assertEqual(self.pay(gate=self.other()), Done("r1.c1", {"receipt": 1}, recorded=True))
        self.assertEqual(self.made, [{"to": "bob", "cents": 5}])
        self.assertEqual(self.pay("c2"), Done("r1.c2", {"receipt": 2}, recorded=False))

    def test_a_call_under_the_id_of_another_one_is_refused(self) -> None:
        self.pay()
        self.assertIsInstance(self.pay(cents=6), Refused)
        self.assertIsInstance(self.gate.once(GateCall("r1", "c1", "send", CALL.args), self.paid), Refused)
        self.assertEqual(len(self.made), 1)

    def test_a_denied_call_is_not_made(self) -> None:
        self.assertEqual(self.pay(to="mallory"), Refused("r1.c1", "the rule says no"))
        self.assertEqual(self.made, [])

    def test_a_held_call_is_made_after_its_approval(self) -> None:
        held = self.pay(cents=500)
        self.assertEqual(held, Pending("r1.c1", APPROVAL, "the rule asks", f"{self.server.url}/inbox/{APPROVAL}"))
        self.assertEqual(self.pay(cents=500), held)
        self.server.approve("r1.c1")
        self.assertIsInstance(self.pay(cents=500), Done)
        self.assertIsInstance(self.pay(cents=500), Done)
        self.assertEqual(self.made, [{"to": "bob", "cents": 500}])

    def test_a_call_is_made_with_the_arguments_that_were_approved(self) -> None:
        self.pay(cents=500)
        self.server.approve("r1.c1", {"to": "bob", "cents": 400})
        self.assertIsInstance(self.pay(cents=500), Done)
        self.assertEqual(self.made, [{"to": "bob", "cents": 400}])

    def test_a_rejected_call_stays_rejected(self) -> None:
        self.pay(cents=500)
        self.server.reject("r1.c1")
        self.assertIsInstance(self.pay(cents=500), Refused)
        self.assertIsInstance(self.pay(cents=500), Refused)
        self.assertEqual(self.made, [])

    def test_a_failed_call_is_not_made_again(self) -> None:
        error = ValueError("no money")

        def fail(_: BegunCall) -> Any:
            self.made.append(1)
            raise error

        self.assertEqual(self.gate.once(CALL, fail), Failed("r1.c1", error, recorded=False))
        again = self.gate.once(CALL, fail)
        assert isinstance(again, Failed) and isinstance(again.error, CallFailed)
        self.assertTrue(again.recorded)
        self.assertEqual((again.error.error_name, again.error.error_message), ("ValueError", "no money"))
        with self.assertRaises(CallFailed):
            self.gate.result(CALL, fail)
        self.assertEqual(self.made, [1])

    def test_an_idempotent_call_is_made_again_with_the_same_key(self) -> None:
        keys: list[str] = []

        def make(begun: BegunCall) -> str:
            keys.append(begun.key)
            if len(keys) == 1:
                raise TimeoutError("late")
            if len(keys) == 2:
                raise ValueError("no")
            return "ok"

        ends = [self.gate.once(CALL, make, idempotent=True) for _ in range(4)]
        self.assertIsInstance(ends[0], Doubt)
        self.assertEqual(
            ends[1:],
            [Failed("r1.c1:2", mock.ANY, recorded=False), Done("r1.c1:3", "ok", False), Done("r1.c1:3", "ok", True)],
        )
        self.assertEqual(keys, ["r1.c1"] * 3)

    def test_a_reading_call_is_idempotent_unless_its_program_says_otherwise(self) -> None:
        def look(_: BegunCall) -> str:
            self.made.append(1)
            if len(self.made) == 1:
                raise TimeoutError
            return "seen"

        call = GateCall("r1", "c1", "look", {})
        self.assertIsInstance(self.gate.once(call, look), Doubt)
        self.assertIsInstance(self.gate.once(call, look, idempotent=False), Doubt)
        self.assertEqual(self.gate.once(call, look), Done("r1.c1:2", "seen", False))
        self.assertEqual(len(self.made), 2)

    def test_an_idempotent_call_is_made_anew_five_times_at_most(self) -> None:
        def late(_: BegunCall) -> Any:
            self.made.append(1)
            raise TimeoutError

        for _ in range(7):
            self.assertIsInstance(self.gate.once(CALL, late, idempotent=True), Doubt)
        self.assertEqual(len(self.made), 5)

    def test_a_time_out_leaves_a_call_in_doubt(self) -> None:
        class ReadTimeout(Exception):
            """As packages for HTTP name it."""

        class Timeout(ReadTimeout):
            pass

        for i, error in enumerate([TimeoutError("late"), Timeout("late")]):
            call = GateCall("r1", f"t{i}", "pay", {})

            def late(_: BegunCall, error: Exception = error) -> Any:
                self.made.append(1)
                raise error

            end = self.gate.once(call, late)
            assert isinstance(end, Doubt)
            self.assertIn("late", end.reason)
            self.assertIsInstance(self.gate.once(call, late), Doubt)
        self.assertEqual(len(self.made), 2)

    def test_a_cut_connection_or_a_fault_of_a_server_leaves_a_call_in_doubt(self) -> None:
        class StatusError(Exception):
            """As packages for HTTP make it."""

            def __init__(self, status: int) -> None:
                super().__init__(f"status {status}")
                self.response = SimpleNamespace(status_code=status)

        def http(status: int) -> HTTPError:
            return HTTPError("http://bank.example", status, "no", Message(), None)

        opens: list[Exception] = [ConnectionResetError(), URLError(TimeoutError()), http(504), StatusError(500)]
        fails: list[Exception] = [ConnectionRefusedError(), URLError(OSError()), http(422), http(501), StatusError(404)]
        self.assertEqual([error for error in opens if not is_interruption(error)], [])
        self.assertEqual([error for error in fails if is_interruption(error)], [])

    def test_the_program_may_say_which_errors_leave_it_open(self) -> None:
        def fail(_: BegunCall) -> Any:
            raise OSError("reset")

        self.assertIsInstance(self.gate.once(CALL, fail, is_unknown=lambda error: isinstance(error, OSError)), Doubt)

    def test_an_interrupted_program_leaves_the_call_in_doubt(self) -> None:
        def interrupt(_: BegunCall) -> Any:
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.gate.once(CALL, interrupt)
        self.assertEqual(self.server.calls["r1.c1"]["outcome"], "unknown")
        self.assertIsInstance(self.pay(), Doubt)
        self.assertEqual(self.made, [])

    def test_a_call_that_a_person_has_settled_has_no_result(self) -> None:
        self.gate.once(CALL, lambda _: exec("raise TimeoutError"))
        self.server.calls["r1.c1"].update(outcome="done")
        del self.server.calls["r1.c1"]["result"]
        end = self.pay()
        assert isinstance(end, Doubt)
        self.assertEqual(end.settled, "done")

    def test_a_call_is_made_once_after_lost_answers(self) -> None:
        with mock.patch("assize.transport.time.sleep"):
            self.server.fault("POST", loses_answer, times=2)
            self.assertEqual(self.pay(), Done("r1.c1", {"receipt": 1}, recorded=False))
            self.server.fault("POST", loses_answer, times=3)
            with self.assertRaises(NoAnswer):
                self.pay("c2")
        self.assertIsInstance(self.pay("c2"), Doubt)
        self.assertEqual(len(self.made), 1)

    def test_an_outcome_that_is_not_recorded_is_no_failure(self) -> None:
        refusals = [answers(403, problem("forbidden", "No.")), answers(200, b"<html>"), loses_answer]
        for i, fault in enumerate(refusals):
            times = 3 if fault is loses_answer else 1
            self.server.fault(f"POST /v1/trajectories/calls/calls/r1.f{i}/report", fault, times=2 if i == 0 else times)
            with mock.patch("assize.transport.time.sleep"), self.assertLogs("assize", "WARNING") as logs:
                self.assertIsInstance(self.pay(f"f{i}"), Done)
            self.assertIn("so it is in doubt", logs.output[0])
            # The server has recorded the outcome. Only the answer was lost.
            self.assertIsInstance(self.pay(f"f{i}"), Done if fault is loses_answer else Doubt)
        self.assertEqual(len(self.made), 3)

    def test_a_result_that_the_ledger_does_not_take_is_recorded_by_its_hash(self) -> None:
        self.server.fault(
            "POST /v1/trajectories/calls/calls/r1.c1/report", answers(413, problem("too_large", "Large."))
        )
        self.assertIsInstance(self.pay(), Done)
        self.assertEqual(self.server.calls["r1.c1"]["outcome"], "done")
        end = self.pay()
        assert isinstance(end, Doubt)
        self.assertIn("not kept", end.reason)
        self.assertEqual(end.settled, "done")

    def test_a_result_that_is_not_json_or_too_large_is_returned_once(self) -> None:
        large = "x" * 1_000_000
        for i, result in enumerate([(1, 2), 2**60, float("nan"), {"a": object()}, large]):
            call = GateCall("r1", f"n{i}", "pay", {})
            with contextlib.ExitStack() as logs:
                if result is not large:
                    logs.enter_context(self.assertLogs("assize", "WARNING"))
                self.assertEqual(self.gate.once(call, returning(result)), Done(f"r1.n{i}", result, False))
            self.assertEqual(self.gate.once(call, lambda _: "other"), Doubt(f"r1.n{i}", mock.ANY, settled="done"))

    def test_a_result_is_converted_to_json_and_back(self) -> None:
        for _ in range(2):
            end = self.gate.once(CALL, lambda _: {1, 2}, encode=sorted, decode=set)
            assert isinstance(end, Done)
            self.assertEqual(end.result, {1, 2})
        self.assertEqual(self.server.calls["r1.c1"]["result"], {"value": [1, 2]})

    def test_a_call_without_a_result_has_none(self) -> None:
        self.assertEqual(self.gate.once(CALL, lambda _: None), Done("r1.c1", None, False))
        self.assertEqual(self.gate.once(CALL, lambda _: 1), Done("r1.c1", None, True))
        self.server.calls["r1.c1"]["result"] = {}
        self.assertEqual(self.gate.once(CALL, lambda _: 1), Done("r1.c1", None, True))

    def test_arguments_that_are_not_json_are_not_asked_about(self) -> None:
        wrong: list[dict[str, Any]] = [{"n": 2**53}, {"n": float("inf")}, {"s": "\ud800"}, {"t": (1,)}]
        for args in wrong:
            with self.assertRaises(NotJson):
                self.gate.once(GateCall("r1", "c1", "pay", args), self.paid)
        self.assertEqual((self.server.requests, self.made), ([], []))

    def test_arguments_that_change_later_are_made_as_they_were_judged(self) -> None:
        args: dict[str, Any] = {"to": {"name": "bob"}}

        def change() -> None:
            args["to"]["name"] = "eve"

        go = threading.Event()
        go.set()
        self.server.fault("POST", waits_for(go, change))
        self.gate.once(GateCall("r1", "c1", "pay", args), self.paid)
        self.assertEqual(self.made, [{"to": {"name": "bob"}}])

    def test_a_tool_that_changes_its_arguments_changes_a_copy(self) -> None:
        asked: list[Any] = []

        def make(begun: BegunCall) -> str:
            names: Any = begun.args["names"]
            asked.append(list(names))
            names.append("eve")
            if len(asked) == 1:
                raise TimeoutError
            return "ok"

        call = GateCall("r1", "c1", "pay", {"names": ["bob"]})
        self.assertIsInstance(self.gate.once(call, make, idempotent=True), Doubt)
        self.assertIsInstance(self.gate.once(call, make, idempotent=True), Done)
        self.assertEqual(asked, [["bob"], ["bob"]])

    def test_no_server_means_no_call(self) -> None:
        self.server.fault("POST", answers(401, problem("unauthenticated", "No token.")))
        with self.assertRaises(Problem):
            self.pay()
        self.server.stop()
        with mock.patch("assize.transport.time.sleep"), self.assertRaises(NoAnswer):
            self.pay()
        self.assertEqual(self.made, [])

    def test_errors_say_what_to_do(self) -> None:
        with self.assertRaisesRegex(CallRefused, "the rule says no"):
            self.gate.result(GateCall("r1", "m", "pay", {"to": "mallory"}), self.paid)
        with self.assertRaisesRegex(CallPending, f"Approve it at {self.server.url}/inbox/a+, then call") as held:
            self.gate.result(LARGE, self.paid)
        self.assertEqual((held.exception.approval, held.exception.reason), (APPROVAL, "the rule asks"))
        with self.assertRaisesRegex(CallInDoubt, "settle it with assize api calls.settle"):
            self.gate.result(GateCall("r1", "t", "pay", {}), lambda _: exec("raise TimeoutError"))

    def test_a_long_wait_is_several_questions(self) -> None:
        waits: list[float] = []
        real = self.client.calls.ask

        def ask(*given: Any, **more: Any) -> Any:
            waits.append(more["wait"])
            if len(waits) == 3:
                self.server.approve("r1.c1")
            return real(*given, **{**more, "wait": 0})

        with mock.patch.object(self.client.calls, "ask", ask), mock.patch("assize.gate.time.sleep"):
            self.assertIsInstance(self.pay(cents=500, wait=120), Done)
        self.assertEqual(len(waits), 3)

    def test_odd_runs_and_ids_are_named_by_their_hash(self) -> None:
        end = self.gate.once(GateCall("user 7", "call/1", "pay", {}), self.paid)
        self.assertRegex(end.call, r"^[0-9a-f]{32}$")
        self.assertRegex(self.server.requests[0][3]["session"], r"^[0-9a-f]{32}$")

    def test_a_held_call_is_shown_and_decided_by_a_named_person(self) -> None:
        gate = Gate(self.client, server="bank", people={"manager:grace": self.client})
        held = gate.once(LARGE, self.paid)
        assert isinstance(held, Pending)
        shown = gate.held(held)
        assert shown is not None
        self.assertEqual((shown.tool, shown.args, shown.reason), ("bank/pay", LARGE.args, "large"))
        with self.assertRaises(LookupError):
            gate.decide(shown, approve=True, by="manager:eve")
        self.server.fault("POST /v1/approvals", answers(200, {"ruling": "committed"}))
        gate.decide(shown, approve=True, by="manager:grace", reason="ordered")
        self.assertEqual(self.server.requests[-1][3], {"digest": shown.digest, "reason": "ordered"})
        self.server.fault("POST /v1/approvals", answers(409, problem("not_pending", "Decided.")))
        gate.decide(shown, approve=False, by="manager:grace")
        self.assertEqual(self.server.requests[-1][3], {"digest": shown.digest, "reason": "rejected"})
        self.server.fault("POST /v1/approvals", answers(409, problem("digest_mismatch", "Another one.")))
        with self.assertRaises(Problem):
            gate.decide(shown, approve=True, by="manager:grace")


class ThreadsTest(FakeCase):
    def test_threads_share_one_call(self) -> None:
        began, release = threading.Event(), threading.Event()

        def make(begun: BegunCall) -> Any:
            began.set()
            release.wait(5)
            return self.paid(begun)

        ends: list[Any] = []
        threads = [threading.Thread(target=lambda: ends.append(self.gate.once(CALL, make))) for _ in range(8)]
        threads[0].start()
        began.wait(5)
        self.assertIsInstance(self.pay(cents=6), Refused)
        self.assertIsInstance(self.gate.once(GateCall("r1", "c1", "look", CALL.args), self.paid), Refused)
        for thread in threads[1:]:
            thread.start()
        time.sleep(0.05)
        release.set()
        for thread in threads:
            thread.join(5)
        self.assertEqual(sorted(end.recorded for end in ends), [False] + [True] * 7)
        self.assertEqual(len(self.made), 1)
        self.assertEqual(len(self.server.paths("?wait=")), 1)

    def test_a_tool_that_calls_itself_is_in_doubt_and_not_stuck(self) -> None:
        inner: list[Any] = []

        def make(begun: BegunCall) -> Any:
            inner.append(self.gate.once(CALL, self.paid))
            return self.paid(begun)

        self.assertIsInstance(self.gate.once(CALL, make), Done)
        self.assertIsInstance(inner[0], Doubt)
        self.assertEqual(len(self.made), 1)

    def test_another_process_gets_a_doubt_while_the_call_is_made(self) -> None:
        other = Gate(self.client, server="bank", in_flight=0.05)
        inner: list[Any] = []

        def make(begun: BegunCall) -> Any:
            inner.append(other.once(CALL, self.paid))
            return self.paid(begun)

        self.assertIsInstance(self.gate.once(CALL, make), Done)
        self.assertIsInstance(inner[0], Doubt)
        self.assertEqual(other.once(CALL, self.paid), Done("r1.c1", {"receipt": 1}, True))

    @unittest.skipUnless(hasattr(os, "fork"), "this system has no fork")
    def test_a_forked_process_does_not_wait_for_a_thread_of_its_parent(self) -> None:
        began, release = threading.Event(), threading.Event()

        def make(begun: BegunCall) -> Any:
            began.set()
            release.wait(20)
            return self.paid(begun)

        thread = threading.Thread(target=lambda: self.gate.once(CALL, make))
        thread.start()
        began.wait(5)
        with warnings.catch_warnings():
            # The server has threads too, and the child uses none of them.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            signal.alarm(10)
            end = self.gate.once(CALL, self.paid)
            os._exit(7 if isinstance(end, Doubt) and not self.made else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)
        release.set()
        thread.join(5)
        self.assertEqual(len(self.made), 1)


class AsyncTest(FakeCase):
    async def pay_async(self, begun: BegunCall) -> Any:
        await asyncio.sleep(0)
        return self.paid(begun)

    def test_a_coroutine_is_made_once(self) -> None:
        async def run() -> list[Any]:
            both = await asyncio.gather(*(self.gate.once_async(CALL, self.pay_async) for _ in range(3)))
            return [*both, await self.gate.once_async(CALL, self.pay_async)]

        ends = asyncio.run(run())
        self.assertEqual([end.recorded for end in ends], [False, True, True, True])
        self.assertEqual(len(self.made), 1)

    def test_the_event_loop_is_free_while_the_server_answers(self) -> None:
        answered = threading.Event()
        self.server.fault("POST", waits_for(answered))

        async def run() -> Any:
            task = asyncio.create_task(self.gate.once_async(CALL, self.pay_async))
            await asyncio.sleep(0.05)
            answered.set()
            return await task

        self.assertIsInstance(asyncio.run(run()), Done)

    def test_a_cancelled_call_is_in_doubt(self) -> None:
        async def stuck(_: BegunCall) -> Any:
            self.made.append(1)
            await asyncio.sleep(30)

        async def run() -> None:
            async with asyncio.timeout(0.2):
                await self.gate.once_async(CALL, stuck)

        with self.assertRaises(TimeoutError):
            asyncio.run(run())
        self.assertEqual(self.server.calls["r1.c1"]["outcome"], "unknown")
        self.assertIsInstance(self.pay(), Doubt)
        self.assertEqual(len(self.made), 1)

    def test_a_call_that_is_cancelled_before_it_is_made_has_failed(self) -> None:
        asked, decided, left = threading.Event(), threading.Event(), threading.Event()
        real = self.client.calls.ask

        def ask(*given: Any, **more: Any) -> Any:
            found = real(*given, **{**more, "stop": None})
            asked.set()
            decided.wait(5)
            return found

        async def run() -> None:
            task = asyncio.create_task(self.gate.once_async(CALL, self.pay_async))
            await asyncio.to_thread(asked.wait, 5)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            decided.set()
            while "outcome" not in self.server.calls["r1.c1"]:
                await asyncio.sleep(0.01)
            left.set()

        with mock.patch.object(self.client.calls, "ask", ask):
            asyncio.run(asyncio.wait_for(run(), 5))
        self.assertTrue(left.is_set())
        end = self.pay()
        assert isinstance(end, Failed)
        self.assertIn("before it was made", str(end.error))
        self.assertEqual(self.made, [])

    def test_a_cancelled_wait_leaves_the_server(self) -> None:
        asked, closed = threading.Event(), threading.Event()

        def held(request: Any, _: Any) -> bool:
            asked.set()
            request.connection.settimeout(5)
            if request.connection.recv(1) == b"":
                closed.set()
            return True

        self.server.fault("POST", held)

        async def run() -> None:
            task = asyncio.create_task(self.gate.once_async(LARGE, self.pay_async, wait=40))
            await asyncio.to_thread(asked.wait, 5)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        asyncio.run(run())
        self.assertTrue(closed.wait(5))
        self.assertEqual(len(self.server.requests), 1)

    def test_a_sync_call_in_the_event_loop_is_not_stuck(self) -> None:
        inner: list[Any] = []

        async def make(begun: BegunCall) -> Any:
            inner.append(self.gate.once(CALL, self.paid))
            inner.append(await self.gate.once_async(CALL, self.pay_async))
            return self.paid(begun)

        self.assertIsInstance(asyncio.run(self.gate.once_async(CALL, make)), Done)
        self.assertTrue(all(isinstance(end, Doubt) for end in inner) and len(inner) == 2)


if __name__ == "__main__":
    unittest.main()
