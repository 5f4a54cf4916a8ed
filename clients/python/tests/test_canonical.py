"""Canonical JSON, and the values that are refused."""

from __future__ import annotations

import enum
import math
import unittest
from typing import Any

from assize import NotJson, call_id_of, canonicalize, content_hash, digest_of, session_id_of


class Color(enum.StrEnum):
    RED = "red"


class CanonicalTest(unittest.TestCase):
    def test_texts_are_those_of_rfc_8785(self) -> None:
        self.assertEqual(
            canonicalize({"b": [1, 2.5, True, None], "a": {}, "c": []}), '{"a":{},"b":[1,2.5,true,null],"c":[]}'
        )
        self.assertEqual(canonicalize("\u20ac$\u000f\nA'B\"\\\u2028"), '"\u20ac$\\u000f\\nA\'B\\"\\\\\u2028"')
        # By UTF-16 code units, an emoji comes before U+FB33.
        self.assertEqual(canonicalize({"\ufb33": 1, "\U0001f600": 2}), '{"\U0001f600":2,"\ufb33":1}')

    def test_numbers_are_written_as_ecmascript_does(self) -> None:
        for value, text in [
            (0.0, "0"), (-0.0, "0"), (1.0, "1"), (-1.5, "-1.5"), (1e-6, "0.000001"), (1e-7, "1e-7"),
            (1.25e-9, "1.25e-9"), (5e-324, "5e-324"), (123456789012.5, "123456789012.5"), (1e15, "1000000000000000"),
            (2.0**53 - 1, "9007199254740991"), (2**53 - 1, "9007199254740991"), (0.1 + 0.2, "0.30000000000000004"),
        ]:  # fmt: skip
            self.assertEqual(canonicalize(value), text)

    def test_values_that_json_cannot_carry_are_refused_with_their_place(self) -> None:
        cyclic: list[Any] = []
        cyclic.append(cyclic)
        for value, pointer, word in [
            ({"a": [0, 2**53]}, "/a/1", "integer"),
            ({"a": -(2**53)}, "/a", "integer"),
            ({"a": 1e300}, "/a", "float"),
            ({"a": math.nan}, "/a", "float"),
            ([math.inf], "/0", "float"),
            ({"a/b~": "\ud800"}, "/a~1b~0", "surrogate"),
            ({"\udc00": 1}, "", "surrogate"),
            ({1: 2}, "", "names of members are str"),
            ((1, 2), "", "tuple"),
            ({"a": Color.RED}, "/a", "Color"),
            (b"x", "", "bytes"),
            ([object()], "/0", "object"),
            (cyclic, "/0" * 64, "levels"),
            ([0] * 262_144, "/262143", "values"),
        ]:
            with self.assertRaises(NotJson) as refused:
                canonicalize(value)
            self.assertEqual(refused.exception.pointer, pointer)
            self.assertIn(word, str(refused.exception))

    def test_digests_and_ids_are_those_of_the_ledger(self) -> None:
        self.assertEqual(digest_of({}), "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a")
        self.assertEqual(content_hash({"b": 1, "a": 2}), digest_of({"a": 2, "b": 1}))
        self.assertEqual(call_id_of("r1", "c1"), "r1.c1")
        self.assertEqual(session_id_of("user 7\n"), content_hash("user 7\n")[:32])
        self.assertEqual(len(call_id_of("r" * 199, "c")), 32)


if __name__ == "__main__":
    unittest.main()
