"""The guarantees of the gate, at a real server."""

from __future__ import annotations

import asyncio
import threading
import unittest
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

from assize import (
    BegunCall,
    CallPending,
    CallRefused,
    Done,
    Doubt,
    Failed,
    GateCall,
    NoAnswer,
    Pending,
    Problem,
    Refused,
)
from assize.transport import Transport

from .real_case import RealCase


def returning(result: Any) -> Callable[[BegunCall], Any]:
    return lambda _: result


class GateCheck(RealCase):
    def test_an_allowed_call_is_made_once(self) -> None:
        first = {"receipt": 1, "to": "bob"}
        self.assertEqual(self.pay(5), Done(f"{self.run_id}.c1", first, recorded=False))
        self.assertEqual(self.pay(5), Done(f"{self.run_id}.c1", first, recorded=True))
        self.assertEqual(self.pay(5, gate=self.new_gate()), Done(f"{self.run_id}.c1", first, recorded=True))
        self.assertEqual(self.paid, ["bob 5"])

    def test_other_arguments_under_the_same_id_are_refused(self) -> None:
        self.pay(5)
        end = self.pay(6)
        assert isinstance(end, Refused)
        self.assertIn("with other arguments", end.reason)
        self.assertEqual(self.paid, ["bob 5"])

    def test_a_denied_call_is_not_made(self) -> None:
        end = self.pay(5, to="mallory")
        assert isinstance(end, Refused)
        self.assertIn("never", end.reason)
        self.assertEqual(self.paid, [])

    def test_a_held_call_is_approved_by_a_person_and_made_once(self) -> None:
        held = self.pay(500)
        assert isinstance(held, Pending)
        self.assertIn("large", held.reason)
        self.assertEqual(self.pay(500), held)
        self.decide(held, approve=True)
        ends: list[Any] = []
        threads = [threading.Thread(target=lambda: ends.append(self.pay(500))) for _ in range(4)]
        threads += [threading.Thread(target=lambda: ends.append(self.pay(500, gate=self.new_gate()))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(isinstance(end, Done) and not end.recorded for end in ends), 1, ends)
        self.assertIsInstance(self.pay(500), Done)
        self.assertEqual(self.paid, ["bob 500"])

    def test_a_call_is_made_once_after_a_lost_answer(self) -> None:
        once, lost = Transport._once, list[str]()

        def lossy(self: Transport, method: str, target: str, *rest: Any) -> Any:
            answer = once(self, method, target, *rest)
            if "/calls?" in target and len(lost) < 2:
                lost.append(answer["decision"])
                raise NoAnswer("lost")
            return answer

        self.decide(self.pay(500), approve=True)
        for id, cents in [("c1", 500), ("c2", 5)]:
            lost.clear()
            with mock.patch.object(Transport, "_once", lossy), mock.patch("assize.transport.time.sleep"):
                end = self.pay(cents, id=id)
            assert isinstance(end, Done)
            self.assertEqual((end.recorded, lost), (False, ["allowed", "allowed"]))
            self.assertIsInstance(self.pay(cents, id=id), Done)
        self.assertEqual(self.paid, ["bob 500", "bob 5"])

    def test_the_agent_may_not_approve_its_own_call(self) -> None:
        held = self.pay(500)
        assert isinstance(held, Pending)
        shown = self.gate.held(held)
        assert shown is not None
        with self.assertRaises(Problem) as refused:
            self.agent.approvals.approve(held.approval, digest=shown.digest)
        self.assertEqual(refused.exception.code, "forbidden")
        with self.assertRaises(Problem) as other:
            self.person.approvals.approve(held.approval, digest="0" * 64)
        self.assertEqual(other.exception.code, "digest_mismatch")
        self.assertIsInstance(self.pay(500), Pending)

    def test_an_approval_counts_for_its_own_call_alone(self) -> None:
        one, other = self.pay(500, id="a"), self.pay(500, id="b")
        self.decide(one, approve=True)
        self.assertIsInstance(self.pay(500, id="b"), Pending)
        self.decide(other, approve=False)
        self.assertIsInstance(self.pay(500, id="a"), Done)
        for _ in range(2):
            self.assertIsInstance(self.pay(500, id="b"), Refused)
        self.assertEqual(self.paid, ["bob 500"])

    def test_a_person_may_approve_other_arguments(self) -> None:
        held = self.pay(500)
        assert isinstance(held, Pending)
        shown = self.person.approvals.get(held.approval).get("approval")
        assert shown is not None
        args: Any = shown["action"].get("args")
        args["args"]["cents"] = 400
        self.person.approvals.approve(held.approval, digest=shown["digest"], args=args)
        self.assertIsInstance(self.pay(500), Done)
        self.assertEqual(self.paid, ["bob 400"])

    def test_a_call_waits_for_a_person(self) -> None:
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(self.pay, 500, wait=20)
            while not (open := [a for a in self.person.approvals.list(mine=True) if self.run_id in a["detail"]]):
                pass
            self.person.approvals.approve(open[0]["id"], digest=open[0]["digest"], reason="seen")
            self.assertIsInstance(waiting.result(30), Done)
        self.assertEqual(self.paid, ["bob 500"])

    def test_a_cancelled_wait_uses_up_no_approval(self) -> None:
        async def make(begun: BegunCall) -> Any:
            return self.make(begun)

        async def run() -> None:
            call = GateCall(run=self.run_id, id="c1", tool="pay", args={"to": "bob", "cents": 500})
            async with asyncio.timeout(1):
                await self.gate.once_async(call, make, wait=40)

        with self.assertRaises(TimeoutError):
            asyncio.run(run())
        self.decide(self.pay(500), approve=True)
        self.assertIsInstance(self.pay(500), Done)
        self.assertEqual(self.paid, ["bob 500"])

    def test_a_failed_call_is_recorded(self) -> None:
        def fail(_: BegunCall) -> Any:
            raise ValueError("no money \U0001f4b8")

        call = GateCall(run=self.run_id, id="c1", tool="pay", args={"to": "bob", "cents": 5})
        self.assertIsInstance(self.gate.once(call, fail), Failed)
        end = self.new_gate().once(call, fail)
        assert isinstance(end, Failed)
        self.assertIn("no money \U0001f4b8", str(end.error))

    def test_results_are_equal_when_they_come_back(self) -> None:
        results: list[Any] = [
            None,
            True,
            0,
            -1,
            2**53 - 1,
            0.1,
            1e-7,
            "é\u2028\U0001f600\0",
            [],
            {},
            {"": [{"proto": 1}]},
        ]
        for i, result in enumerate(results):
            call = GateCall(run=self.run_id, id=f"l{i}", tool="look", args={"q": result})
            for recorded in (False, True):
                end = self.gate.once(call, lambda begun: begun.args["q"])
                self.assertEqual(end, Done(f"{self.run_id}.l{i}", result, recorded))

    def test_large_results_come_back_or_are_in_doubt(self) -> None:
        for id, size, kind in [("fits", 999_990, Done), ("large", 1_000_001, Doubt)]:
            call = GateCall(run=self.run_id, id=id, tool="pay", args={"to": "bob", "cents": 5})
            self.assertIsInstance(self.gate.once(call, returning("x" * size)), Done)
            self.assertIsInstance(self.gate.once(call, lambda _: ""), kind)

    def test_a_call_in_doubt_is_settled_by_a_person(self) -> None:
        def late(_: BegunCall) -> Any:
            raise TimeoutError("late")

        call = GateCall(run=self.run_id, id="c1", tool="pay", args={"to": "bob", "cents": 5})
        self.assertIsInstance(self.gate.once(call, late), Doubt)
        end = self.gate.once(call, self.make)
        assert isinstance(end, Doubt)
        self.assertIsNone(end.settled)
        [open] = [one for one in self.person.calls.open("calls", agent="ada") if one["call"] == end.call]
        self.assertTrue(open["in_doubt"])
        ruling = self.person.calls.settle("calls", end.call, "done", evidence="the bank has it")
        self.assertEqual(ruling["ruling"], "committed")
        end = self.gate.once(call, self.make)
        assert isinstance(end, Doubt)
        self.assertEqual(end.settled, "done")
        self.assertEqual(self.paid, [])

    def test_odd_runs_and_ids_are_calls_too(self) -> None:
        call = GateCall(run="user 7/ä", id=f"{self.run_id} é", tool="pay", args={"to": "bob", "cents": 5})
        self.assertIsInstance(self.gate.once(call, self.make), Done)
        self.assertIsInstance(self.gate.once(call, self.make), Done)
        self.assertEqual(self.paid, ["bob 5"])

    def test_a_decorated_function_is_a_tool(self) -> None:
        @self.gate.tool()
        def pay(to: str, cents: int) -> str:
            with self.bank.open("a") as file:
                file.write(f"{to} {cents}\n")
            return f"paid {cents} to {to}"

        with self.gate.run(self.run_id):
            with self.gate.calling("c1"):
                self.assertEqual([pay("bob", 5), pay("bob", 5)], ["paid 5 to bob"] * 2)
            with self.gate.calling("c2"), self.assertRaises(CallPending) as held:
                pay("bob", 500)
            with self.gate.calling("c3"), self.assertRaises(CallRefused):
                pay("mallory", 5)
        [shown] = [a for a in self.person.approvals.list() if a["id"] == held.exception.approval]
        self.person.approvals.reject(shown["id"], digest=shown["digest"], reason="not this year")
        with self.gate.run(self.run_id, call="c2"), self.assertRaisesRegex(CallRefused, "not this year"):
            pay("bob", 500)
        self.assertEqual(self.paid, ["bob 5"])


class ProcessesCheck(RealCase):
    def test_of_two_processes_one_makes_the_call(self) -> None:
        release = Path(f"{self.bank}.release")
        one = self.other_process(5, gate_open=release)
        self.until_paid(1)
        other = self.other_process(5, gate_open=release)
        self.assertIsInstance(self.pay(5), Doubt)
        release.touch()
        said = sorted((process.communicate(timeout=30)[0] or "").strip() for process in (one, other))
        self.assertEqual(said, [f"done False {one.pid}", f"done True {one.pid}"])
        self.assertEqual(self.paid, ["bob 5"])

    def test_a_process_that_is_killed_leaves_a_doubt(self) -> None:
        process = self.other_process(5, gate_open=Path(f"{self.bank}.never"))
        self.until_paid(1)
        process.kill()
        process.communicate(timeout=30)
        for _ in range(2):
            end = self.pay(5)
            assert isinstance(end, Doubt)
            self.assertIsNone(end.settled)
        self.assertEqual(self.paid, ["bob 5"])


if __name__ == "__main__":
    unittest.main()
