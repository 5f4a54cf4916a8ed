"""Functions as tools: a call of one is made once per run and id."""

from __future__ import annotations

import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from .ends import BegunCall, GateCall
from .errors import NoIdentity
from .places import CALL, RUN

if TYPE_CHECKING:
    from .gate import Gate

P = ParamSpec("P")
R = TypeVar("R")

_OPEN = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def gated(
    gate: Gate,
    *,
    name: str | None,
    run: str | Callable[..., str] | None,
    id: str | Callable[..., str] | None,
    without: tuple[str, ...],
    options: Mapping[str, Any],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The decorator of `Gate.tool`. Raises TypeError for a function that cannot be a tool."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        tool = _Tool(function, name, run, id, without)

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = tool.bound(args, kwargs)
            return cast(R, gate.result(tool.call(bound), tool.maker(bound), **options))

        @functools.wraps(function)
        async def call_async(*args: P.args, **kwargs: P.kwargs) -> Any:
            bound = tool.bound(args, kwargs)
            return await gate.result_async(tool.call(bound), tool.maker(bound), **options)

        return cast("Callable[P, R]", call_async) if inspect.iscoroutinefunction(function) else call

    return decorate


class _Tool:
    """A function with the identity of its calls."""

    def __init__(
        self,
        function: Callable[..., Any],
        name: str | None,
        run: str | Callable[..., str] | None,
        id: str | Callable[..., str] | None,
        without: tuple[str, ...],
    ) -> None:
        self.name = name if name is not None else str(getattr(function, "__name__", ""))
        self._function = function
        self._signature = inspect.signature(function)
        self._run = run
        self._id = id
        self._without = frozenset(without)
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{self.name} is a generator, and its result is not JSON. Return a list.")
        for parameter in self._signature.parameters.values():
            if parameter.kind in _OPEN:
                raise TypeError(f"{self.name} takes *{parameter.name}. Name each parameter, so that rules can.")
        unknown = self._without - set(self._signature.parameters)
        if unknown:
            raise TypeError(f"{self.name} has no parameter {', '.join(sorted(unknown))}. Correct `without`.")

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound

    def call(self, bound: inspect.BoundArguments) -> GateCall:
        """The call with these arguments. Raises NoIdentity."""
        run = self._named(self._run, RUN, bound, "run", 'with gate.run("thread-1"):')
        id = self._named(self._id, CALL, bound, "id", 'with gate.calling("call-1"):')
        args = {name: value for name, value in bound.arguments.items() if name not in self._without}
        return GateCall(run=run, id=id, tool=self.name, args=args)

    def maker(self, bound: inspect.BoundArguments) -> Callable[[BegunCall], Any]:
        """Calls the function with the approved arguments, and with those that are not part of the call."""
        own = {name: value for name, value in bound.arguments.items() if name in self._without}

        def make(begun: BegunCall) -> Any:
            return self._called({**begun.args, **own})

        return make

    def _called(self, given: dict[str, Any]) -> Any:
        names = self._signature.parameters.keys()
        if given.keys() != names:
            raise TypeError(f"{self.name} takes {', '.join(names)}, and other arguments were approved.")
        bound = inspect.BoundArguments(self._signature, OrderedDict((name, given[name]) for name in names))
        return self._function(*bound.args, **bound.kwargs)

    def _named(
        self,
        given: str | Callable[..., str] | None,
        place: ContextVar[str | None],
        bound: inspect.BoundArguments,
        what: str,
        how: str,
    ) -> str:
        found = given(*bound.args, **bound.kwargs) if callable(given) else given
        named = place.get() if found is None else found
        if not isinstance(named, str) or named == "":
            raise NoIdentity(f"The call of {self.name} has no {what}. Set it: {how}, or pass {what} to gate.tool.")
        return named
