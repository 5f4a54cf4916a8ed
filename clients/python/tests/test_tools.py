"""Functions that are tools: their types, their arguments, their runs and ids."""

from __future__ import annotations

import asyncio
import inspect
import threading
import unittest
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, assert_type

from assize import CallPending, CallRefused, NoIdentity, NotJson, begun

from .fake_case import FakeCase


class ToolTest(FakeCase):
    def test_a_function_is_made_once_for_its_run_and_id(self) -> None:
        @self.gate.tool()
        def pay(to: str, cents: int = 5) -> str:
            """Pays a bill."""
            self.made.append((to, cents))
            return f"paid {cents} to {to}"

        with self.gate.run("r1"):
            with self.gate.calling("c1"):
                assert_type(pay("bob"), str)
                self.assertEqual(pay("bob", 5), "paid 5 to bob")
                self.assertEqual(pay(cents=5, to="bob"), "paid 5 to bob")
            with self.gate.calling("c2"):
                self.assertEqual(pay("bob"), "paid 5 to bob")
        with self.gate.run("r2", call="c1"):
            pay("eve")
        self.assertEqual(self.made, [("bob", 5), ("bob", 5), ("eve", 5)])
        self.assertEqual(sorted(self.server.calls), ["r1.c1", "r1.c2", "r2.c1"])
        self.assertEqual(self.server.requests[0][3]["args"], {"to": "bob", "cents": 5})
        self.assertEqual((pay.__name__, pay.__doc__), ("pay", "Pays a bill."))
        self.assertEqual(list(inspect.signature(pay).parameters), ["to", "cents"])

    def test_a_coroutine_is_a_tool_too(self) -> None:
        @self.gate.tool(name="pay", run="r1", id="c1")
        async def pay_later(to: str) -> int:
            await asyncio.sleep(0)
            self.made.append(to)
            return len(self.made)

        async def run() -> list[int]:
            assert_type(await pay_later("bob"), int)
            return list(await asyncio.gather(pay_later("bob"), pay_later("bob")))

        self.assertTrue(inspect.iscoroutinefunction(pay_later))
        self.assertEqual(asyncio.run(run()), [1, 1])
        self.assertEqual(self.server.requests[0][3]["tool"], "pay")

    def test_the_run_and_the_id_may_come_from_the_arguments(self) -> None:
        def order_of(order: int, euros: int) -> str:
            return f"order-{order}"

        @self.gate.tool(run=order_of, id="pay")
        def pay(order: int, euros: int) -> int:
            return euros

        pay(7, 5)
        self.assertEqual(list(self.server.calls), ["order-7.pay"])
        with self.assertRaises(CallRefused):
            pay(7, 6)

    def test_a_call_without_an_identity_is_not_made(self) -> None:
        @self.gate.tool()
        def pay() -> None:
            self.made.append(1)

        with self.assertRaisesRegex(NoIdentity, "has no run"):
            pay()
        with self.gate.run("r1"), self.assertRaisesRegex(NoIdentity, "has no id"):
            pay()
        with self.gate.run(""), self.gate.calling("c"), self.assertRaises(NoIdentity):
            pay()
        self.assertEqual((self.made, self.server.requests), ([], []))

    def test_a_call_inside_a_tool_needs_an_id_of_its_own(self) -> None:
        @self.gate.tool()
        def look() -> str:
            return "seen"

        @self.gate.tool()
        def pay(named: bool) -> str:
            with self.gate.calling("c2"):
                return look() if named else "none"

        @self.gate.tool()
        def careless() -> str:
            return look()

        with self.gate.run("r1"):
            with self.gate.calling("c1"):
                self.assertEqual(pay(True), "seen")
            with self.gate.calling("c3"), self.assertRaises(NoIdentity):
                careless()

    def test_runs_of_tasks_and_threads_are_their_own(self) -> None:
        @self.gate.tool()
        async def pay() -> None:
            await asyncio.sleep(0)

        async def one(run: str) -> None:
            with self.gate.run(run, call="c"):
                await asyncio.sleep(0.01)
                await pay()

        async def all() -> None:
            await asyncio.gather(*(one(f"r{i}") for i in range(4)))

        asyncio.run(all())
        self.assertEqual(sorted(self.server.calls), [f"r{i}.c" for i in range(4)])
        missing: list[Exception] = []

        def alone() -> None:
            try:
                asyncio.run(pay())
            except NoIdentity as error:
                missing.append(error)

        with self.gate.run("r", call="c"):
            thread = threading.Thread(target=alone)
            thread.start()
            thread.join()
        self.assertEqual(len(missing), 1)

    def test_the_tool_knows_the_call_that_it_makes(self) -> None:
        @self.gate.tool(run="r1", id="c1")
        def pay() -> str:
            call = begun()
            assert call is not None
            return call.key

        self.assertEqual(pay(), "r1.c1")
        self.assertIsNone(begun())

    def test_a_function_is_made_with_the_approved_arguments(self) -> None:
        @self.gate.tool(run="r1", id="c1")
        def pay(to: str, /, cents: int, *, note: str = "") -> list[Any]:
            self.made.append([to, cents, note])
            return [to, cents, note]

        with self.assertRaises(CallPending):
            pay("bob", 500)
        self.server.approve("r1.c1", {"to": "bo", "cents": 400, "note": "less"})
        self.assertEqual(pay("bob", 500), ["bo", 400, "less"])
        self.assertEqual(self.made, [["bo", 400, "less"]])

    def test_approved_arguments_of_another_function_are_not_made(self) -> None:
        others: list[dict[str, Any]] = [{"cents": 400}, {"to": "bo", "cents": 4, "more": 1}]
        for i, args in enumerate(others):

            @self.gate.tool(run="r1", id=f"c{i}")
            def pay(to: str = "x", cents: int = 500, /) -> None:
                self.made.append((to, cents))

            with self.assertRaises(CallPending):
                pay()
            self.server.approve(f"r1.c{i}", args)
            with self.assertRaisesRegex(TypeError, "other arguments were approved"):
                pay()
            self.assertEqual(self.server.calls[f"r1.c{i}"]["outcome"], "failed")
        self.assertEqual(self.made, [])

    def test_parameters_may_be_no_part_of_the_call(self) -> None:
        gate, made = self.gate, self.made

        class Bank:
            def __init__(self, name: str) -> None:
                self.name = name

            @gate.tool(run="r1", id="c1", without=("self",))
            def pay(self, cents: int) -> str:
                made.append(cents)
                return self.name

        self.assertEqual(Bank("b").pay(5), "b")
        self.assertEqual(self.server.requests[0][3]["args"], {"cents": 5})
        self.assertEqual(Bank("c").pay(5), "b")
        self.assertEqual(made, [5])

    def test_arguments_that_are_not_json_are_refused_with_their_place(self) -> None:
        @self.gate.tool(run="r1", id="c1")
        def pay(cents: int, to: Any) -> None:
            self.made.append(1)

        for to, place in [(2**60, "/to"), ([object()], "/to/0"), ({"a": (1,)}, "/to/a")]:
            with self.assertRaises(NotJson) as refused:
                pay(1, to)
            self.assertEqual(refused.exception.pointer, place)
        with self.assertRaises(TypeError):
            pay(1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
        self.assertEqual((self.made, self.server.requests), ([], []))

    def test_functions_that_cannot_be_tools_are_refused(self) -> None:
        def generator() -> Iterator[int]:
            yield 1

        async def stream() -> AsyncIterator[int]:
            yield 1

        def many(*args: int) -> None: ...

        def named(**kwargs: int) -> None: ...

        functions: list[Callable[..., Any]] = [generator, stream, many, named]
        for function in functions:
            with self.assertRaises(TypeError):
                self.gate.tool()(function)
        with self.assertRaisesRegex(TypeError, "no parameter db"):
            self.gate.tool(without=("db",))(generator_free)

    def test_errors_of_the_tool_are_raised_as_they_are(self) -> None:
        error = ValueError("no money")

        @self.gate.tool(run="r1", id="c1")
        def pay() -> None:
            raise error

        with self.assertRaises(ValueError) as raised:
            pay()
        self.assertIs(raised.exception, error)


def generator_free() -> None: ...


if __name__ == "__main__":
    unittest.main()
