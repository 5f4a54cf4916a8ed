"""Canonical JSON (RFC 8785) of the values that the ledger takes, and their hashes.

A value has the same text and the same hash here and in the server. A value that JSON cannot
represent exactly is refused: nothing is dropped, converted or rounded.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from .errors import NotJson

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"

#: The largest integer that every reader of JSON reads exactly.
INTEGER_MAX = 2**53 - 1
#: How deep containers may be inside each other.
DEPTH_MAX = 64
#: How many values a value may have: itself, and every member and item.
NODES_MAX = 262_144

_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile(r'[\x00-\x1f"\\]')
_SURROGATE = re.compile("[\ud800-\udfff]")


def canonicalize(value: object) -> str:
    """The canonical text of a value.

    Raises NotJson, with the pointer of the place: for numbers that are not finite or beyond
    2**53 - 1, for lone surrogates, for other types than those of JSON (subclasses, tuples and
    enums too), and for values that are too deep or have too many members.
    """
    writer = _Writer()
    try:
        writer.write(value, DEPTH_MAX)
    except _Fault as fault:
        at = f"{fault.pointer}: " if fault.pointer else ""
        raise NotJson(f"The value is not exact JSON: {at}{fault.reason}.", pointer=fault.pointer) from None
    return "".join(writer.parts)


def content_hash(value: object) -> str:
    """The SHA-256 of the canonical text, in hex. Raises NotJson."""
    return hash_text(canonicalize(value))


def hash_text(text: str) -> str:
    """The SHA-256 of the UTF-8 bytes of a text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of(args: Mapping[str, object]) -> str:
    """The hash by which the ledger names the arguments of a call. Raises NotJson."""
    return content_hash(dict(args))


def copied(value: object) -> Any:
    """A copy of a value that `canonicalize` accepts. It shares no list or dict with the value."""
    if type(value) is dict:
        members = cast("dict[str, object]", value)
        return {name: copied(member) for name, member in members.items()}
    if type(value) is list:
        return [copied(item) for item in cast("list[object]", value)]
    return value


class _Fault(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.pointer = ""

    def below(self, segment: str) -> None:
        self.pointer = "/" + segment.replace("~", "~0").replace("/", "~1") + self.pointer


class _Writer:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self._nodes_left = NODES_MAX

    def write(self, value: object, depth_left: int) -> None:
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise _Fault(f"there are more than {NODES_MAX} values; pass less")
        kind = type(value)
        if kind is str:
            self.parts.append(_quoted(cast(str, value)))
        elif value is None:
            self.parts.append("null")
        elif kind is bool:
            self.parts.append("true" if value else "false")
        elif kind is int:
            self.parts.append(_integer(cast(int, value)))
        elif kind is float:
            self.parts.append(_number(cast(float, value)))
        elif kind is dict:
            self._write_members(cast("dict[object, object]", value), _below(depth_left))
        elif kind is list:
            self._write_items(cast("list[object]", value), _below(depth_left))
        else:
            raise _Fault(
                f"a value of the type {kind.__name__} is not JSON; pass a str, int, float, bool, None, list or dict"
            )

    def _write_members(self, value: dict[object, object], depth_left: int) -> None:
        for name in value:
            if type(name) is not str:
                raise _Fault(f"a name is a {type(name).__name__}; names of members are str")
        members = cast("dict[str, object]", value)
        mark = "{"
        for name in sorted(members, key=_utf16):
            self.parts.append(f"{mark}{_quoted(name)}:")
            try:
                self.write(members[name], depth_left)
            except _Fault as fault:
                fault.below(name)
                raise
            mark = ","
        self.parts.append("{}" if mark == "{" else "}")

    def _write_items(self, value: list[object], depth_left: int) -> None:
        mark = "["
        for place, item in enumerate(value):
            self.parts.append(mark)
            try:
                self.write(item, depth_left)
            except _Fault as fault:
                fault.below(str(place))
                raise
            mark = ","
        self.parts.append("[]" if mark == "[" else "]")


def _below(depth_left: int) -> int:
    if depth_left == 0:
        raise _Fault(f"there are more than {DEPTH_MAX} levels; pass a flatter value")
    return depth_left - 1


def _utf16(name: str) -> bytes:
    """The order of member names: by UTF-16 code units."""
    return name.encode("utf-16-be", "surrogatepass")


def _quoted(text: str) -> str:
    if _SURROGATE.search(text) is not None:
        raise _Fault("a text has a lone surrogate, and UTF-8 cannot carry that")
    if _ESCAPED.search(text) is None:
        return f'"{text}"'
    escaped = _ESCAPED.sub(lambda found: _SHORT.get(found[0]) or f"\\u{ord(found[0]):04x}", text)
    return f'"{escaped}"'


def _integer(value: int) -> str:
    if not -INTEGER_MAX <= value <= INTEGER_MAX:
        raise _Fault("an integer beyond 2**53 - 1 would be rounded by other readers; pass it as a str")
    return str(value)


def _number(value: float) -> str:
    """A float as ECMAScript writes it, with the shortest digits that read back."""
    if not -INTEGER_MAX <= value <= INTEGER_MAX:
        raise _Fault("a float that is not finite, or beyond 2**53 - 1, is not exact JSON; pass it as a str")
    if value == 0:
        return "0"
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    sign = "-" if value < 0 else ""
    return sign + _laid_out(digits, point)


def _laid_out(digits: str, point: int) -> str:
    """`digits` with the point after `point` of them, as ECMAScript lays a number out."""
    if len(digits) <= point:
        return digits + "0" * (point - len(digits))
    if point > 0:
        return f"{digits[:point]}.{digits[point:]}"
    if point > -6:
        return "0." + "0" * -point + digits
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{rest}e-{1 - point}"
