#!/usr/bin/env python3
"""Independent verifier of exports of the Assize ledger (format assize/export/v1), of archives and of proof bundles.

Written from docs/reference/ledger.md alone; "section" and "rule" below mean that page. The part on proof bundles was
written from docs/reference/proof-bundle.md. Standard library only.

How it works. One pass over the lines checks everything a line shows by itself or together with the lines before it:
canonical text, hashes, shapes, the rules 5.2 to 5.4 of each chain, the places of the blobs, the Merkle tree. Of an
entry it keeps 32 bytes of id and two numbers; of a blob its name and place. When all lines are read, a second pass
takes one trajectory after the other (the sources of branches first), reads again what changes the state, and checks
the fold (section 6), branches (5.5) and what they begin with (5.11), delegations between chains (5.6), what was erased (section 4, rules 5.7) and the
presence and form of writs (section 8).
The input must be readable twice for this, so standard input and pipes are copied to a temporary file.
Folded states are shared between branches: containers are copied when they are first changed (class State).
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import datetime
import functools
import gc
import hashlib
import itertools
import json
import os
import re
import struct
import sys
import tempfile
import unicodedata
import zlib
from array import array
from typing import Any, BinaryIO, Callable, Dict, List, NamedTuple, NoReturn, Optional, Set, Tuple

NOT_CHECKED = [
    "Ed25519 signatures of writs",
    "writs beyond their presence, form, ids and number of links: attenuation, patterns, keys, trajectories",
    "budgets (overspent), and the budget_cost of answers against what was spent",
    "who should have signed (without --entry-key), and whether this is the newest state of the log (checkpoints)",
]

# --------------------------------------------------------------------------------------- section 1: canonical text

SAFE = 2 ** 53 - 1
DEPTH = 64                       # containers inside each other, of a payload or blob (a line adds one)
PAYLOAD_BYTES, PAYLOAD_VALUES = 1_048_576, 262_144
BLOB_BYTES, BLOB_VALUES = 268_435_456, 100_000_000
LINE_BYTES = 268_435_656
OTHER_LINE_BYTES = 1_048_576     # of a line that begins neither as a blob nor as an entry
PIECE = 65_536                   # bytes of a line that are read before its length is known
WAITING_BLOBS, WAITING_BYTES = 65_536, 536_870_912       # of the blobs before one entry (section 10, rule 6)


# The ids of the rules of section 5, in the order of the page.
RULES = frozenset("""
place.parent place.first place.time place.answered place.halted place.signed place.named key.change commit.parent-commit commit.frozen commit.direct
commit.proposal commit.channel commit.expired commit.approvals commit.amended rejection.frozen rejection.direct
rejection.proposal rejection.reason rejection.counselor rejection.expired rejection.upgraded pending.frozen pending.digest
pending.direct pending.proposal pending.approved-by pending.counselor start.frozen start.members start.child
delegation.begins answer.origin answer.open conclusion.start conclusion.task branch.cycle branch.source
branch.time branch.kind branch.valid branch.halted branch.key root.start root.writ root.begins root.key start.ancestor answer.task
conclusion.root conclusion.child-head conclusion.answer conclusion.time erasure.form erasure.values
revocation.form revocation.delegated revocation.source upgrade.form upgrade.from settlement.args settlement.delta settlement.direct
settlement.decided settlement.unsettled settlement.writ settlement.pending effect.args effect.delta
effect.channel effect.commit effect.once attempt.form beliefs.partition beliefs.time beliefs.close
beliefs.insert beliefs.inherit memory.own memory.first memory.unchanged memory.inherited
halt.form halt.delegated halt.order halt.source
""".split())


class Fault(Exception):
    """A breach of a rule: the page's code, what it is in words, and the id of a rule of section 5."""

    def __init__(self, code: str, detail: str, rule: Optional[str] = None) -> None:
        super().__init__(detail)
        assert rule is None or rule in RULES, rule
        self.code, self.detail, self.rule = code, detail, rule


class NotCanonical(Exception):
    """A text, or a value, that has no canonical form."""


class TooMuch(Exception):
    """The input passes a limit. The rest of it is not read."""


class Limits(NamedTuple):
    """What bounds the memory and the time of a reading."""
    line: int = LINE_BYTES
    blobs: int = WAITING_BYTES
    total: Optional[int] = None


SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
needs_escape = re.compile(r'[\x00-\x1f"\\]').search
escapable = re.compile(r'[\x00-\x1f"\\]')


def quote(text: str) -> str:
    """A string as JSON, with the escapes of RFC 8785 only."""
    if not needs_escape(text):
        return '"' + text + '"'
    return '"' + escapable.sub(lambda m: SHORT.get(m[0]) or "\\u%04x" % ord(m[0]), text) + '"'


def number(x: float) -> str:
    """A double as ECMAScript writes it; `repr` gives the shortest digits that read back, the layout is done here."""
    if not -SAFE <= x <= SAFE:               # also NaN
        raise NotCanonical("a number that is not finite or beyond 2^53-1")
    if x == 0:
        return "0"
    mantissa, _, exponent = repr(abs(x)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    n = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    k = len(digits)
    if k <= n:
        text = digits + "0" * (n - k)
    elif n > 0:
        text = digits[:n] + "." + digits[n:]
    elif n > -6:
        text = "0." + "0" * -n + digits
    else:
        text = digits[0] + ("." + digits[1:] if k > 1 else "") + "e-" + str(1 - n)
    return "-" + text if x < 0 else text


def canonical(value: Any, depth: int = DEPTH) -> str:
    """The canonical text of a value as `json` reads it. `depth`: how many containers may still be opened."""
    kind = type(value)
    if kind is str:
        return '"' + value + '"' if not needs_escape(value) else quote(value)
    if kind is dict:
        if depth == 0:
            raise NotCanonical("nested too deeply")
        names = sorted(value)
        if not "".join(names).isascii():
            names.sort(key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join([quote(name) + ":" + canonical(value[name], depth - 1) for name in names]) + "}"
    if kind is list:
        if depth == 0:
            raise NotCanonical("nested too deeply")
        return "[" + ",".join([canonical(item, depth - 1) for item in value]) + "]"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if value is None:
        return "null"
    if kind is int:
        if not -SAFE <= value <= SAFE:
            raise NotCanonical("a number beyond 2^53-1")
        return str(value)
    return number(value)


def refuse_constant(name: str) -> NoReturn:
    raise NotCanonical(name + " is no JSON")


parse = json.JSONDecoder(parse_constant=refuse_constant).decode


def read_json(raw: bytes) -> Tuple[str, Any]:
    """The text and the value of UTF-8 bytes; what is read here is compared with its canonical text afterwards."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise NotCanonical("not UTF-8") from None
    try:
        return text, parse(text)
    except RecursionError:
        raise NotCanonical("nested too deeply") from None
    except ValueError as error:
        raise NotCanonical("not JSON: " + str(error)[:80]) from None


def count_values(value: Any) -> int:
    """Values in a value: the root, every member, every item."""
    inner = value.values() if type(value) is dict else value if type(value) is list else ()
    return 1 + sum(map(count_values, inner))


def check_limits(raw: bytes, value: Any, max_bytes: int, max_values: int) -> None:
    """Size limits of a payload or blob. (A text with n values has at least n bytes: counting is seldom needed.)"""
    if len(raw) > max_bytes:
        raise NotCanonical("more than %d bytes" % max_bytes)
    if len(raw) >= max_values and count_values(value) > max_values:
        raise NotCanonical("more than %d values" % max_values)


def must(holds: bool, otherwise: str, code: str = "rule_broken") -> None:
    """A statement of the page outside of section 5."""
    if not holds:
        raise Fault(code, otherwise)


def obey(rule: str, holds: bool, otherwise: str, code: str = "rule_broken") -> None:
    """A rule of section 5."""
    if not holds:
        raise Fault(code, otherwise, rule)


def must_be_same(text: str, stands: str) -> None:
    if text != stands:
        raise NotCanonical("the text differs from its canonical form")


def same(a: Any, b: Any) -> bool:
    """Two values are the same when their canonical texts are (Python's == would take 1 for true)."""
    return canonical(a) == canonical(b)


def hash_of(value: Any) -> str:
    return hashlib.sha256(canonical(value).encode("utf-8")).hexdigest()


# ------------------------------------------------------------------------------------- sections 3, 4 and 8: shapes

# A check takes a value and gives '' when it has the shape, otherwise what is wrong with it.
Check = Callable[[Any], str]
is_hash_text = re.compile(r"[0-9a-f]{64}").fullmatch
OPEN_START, OPEN_END = "0000-01-01T00:00:00.000000Z", "9999-12-31T00:00:00.000000Z"
is_signature_text = re.compile(r"[0-9a-f]{128}").fullmatch
is_instant_text = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z").fullmatch


def is_hash(v: Any) -> bool:
    return type(v) is str and is_hash_text(v) is not None


def is_column(v: Any) -> bool:
    """A text of a row of beliefs."""
    return type(v) is str and v != "" and "\0" not in v


def is_count(v: Any) -> bool:
    return type(v) is int and 0 <= v <= SAFE


@functools.lru_cache(maxsize=4096)
def is_instant(text: str) -> bool:
    match = is_instant_text(text)
    if match is None:
        return False
    try:
        return datetime.date(int(match[1]), int(match[2]), int(match[3])).year <= 9998
    except ValueError:
        return False


def is_name(v: Any) -> bool:
    """A text of 1 to 512 UTF-16 units, as writs have them."""
    return type(v) is str and 1 <= units(v) <= 512


def units(text: str) -> int:
    """UTF-16 code units."""
    return len(text.encode("utf-16-le")) // 2


def is_reference_like(v: Any) -> bool:
    return type(v) is dict and ("$blob" in v or "$erased" in v)


def is_reference(v: Any) -> bool:
    return v.keys() == {"$blob", "bytes"} and is_hash(v["$blob"]) and is_count(v["bytes"])


def is_stored(v: Any) -> bool:
    """A value, or a reference to a blob, which may be salted."""
    if not is_reference_like(v):
        return True
    return is_reference({m: v[m] for m in v if m != "salted"}) and v.get("salted", True) is True


def is_stored_whole(v: Any, kind: type) -> bool:
    """A value of a kind, or a reference that is not salted."""
    return is_reference(v) if is_reference_like(v) else isinstance(v, kind)


def is_erased(v: Any) -> bool:
    """What stands in a state where a value was erased."""
    return type(v) is dict and v.keys() == {"$erased"} and is_hash(v["$erased"])


def has_sound_values(operations: List[Any]) -> bool:
    """Of operations only that references among their values are references."""
    return all(is_stored(o["value"]) or is_erased(o["value"])
               for o in operations if type(o) is dict and type(o.get("value")) is dict)


def simple(test: Callable[[Any], bool], what: str) -> Check:
    wrong = "is no " + what
    return lambda v: "" if test(v) else wrong


def list_of(check: Check) -> Check:
    def checked(v: Any) -> str:
        if type(v) is not list:
            return "is no list"
        for i, item in enumerate(v):
            wrong = check(item)
            if wrong:
                return "[%d] %s" % (i, wrong)
        return ""
    return checked


def members_of(check: Check) -> Check:
    """An object with any members, each of one type."""
    def checked(v: Any) -> str:
        if type(v) is not dict:
            return "is no object"
        return next(("%s %s" % (name, check(item)) for name, item in v.items() if check(item)), "")
    return checked


def record(members: Dict[str, Check], required: List[str]) -> Check:
    """An object with just these members."""
    lookup = members.get

    def checked(v: Any) -> str:
        if type(v) is not dict:
            return "is no object"
        for name in required:
            if name not in v:
                return "has no member " + name
        for name, item in v.items():
            check = lookup(name)
            if check is None:
                return "has the unknown member " + name
            wrong = check(item)
            if wrong:
                return "%s %s" % (name, wrong)
        return ""
    return checked


TYPES: Dict[str, Check] = {
    "value": lambda v: "",
    "text": lambda v: "" if type(v) is str else "is no text",
    "hash": simple(is_hash, "hash"),
    "hash_or_null": simple(lambda v: v is None or is_hash(v), "hash and not null"),
    "count": simple(is_count, "count"),
    "instant": simple(lambda v: type(v) is str and is_instant(v), "instant"),
    "signature": simple(lambda v: type(v) is str and is_signature_text(v) is not None, "signature"),
    "list": simple(lambda v: type(v) is list, "list"),
    "true": simple(lambda v: v is True, "true"),
    "name": simple(is_name, "text of 1 to 512 units"),
    "trajectory": simple(lambda v: type(v) is str and "\0" not in v, "text without U+0000"),
    "stored": simple(is_stored, "value or proper reference"),
    "stored_object": simple(lambda v: is_stored_whole(v, dict), "object or proper reference"),
    "operations": simple(lambda v: type(v) is list and has_sound_values(v), "list with proper references"),
    "stored_operations": simple(
        lambda v: is_stored_whole(v, list) and (type(v) is dict or has_sound_values(v)),
        "list with proper references, or proper reference to a list"),
    "freezing": simple(lambda v: v == "world" or type(v) is list and all(type(x) is str for x in v), "freezing"),
    "several": simple(lambda v: type(v) is int and 2 <= v <= 8, "number from 2 to 8"),
    "salted": simple(lambda v: refers(v) and "salted" in v and is_stored(v), "salted reference"),
    "empty": simple(lambda v: v == [], "empty list"),
    "from_one": simple(lambda v: is_count(v) and v >= 1, "count from 1"),
    "column": simple(is_column, "text that is not empty, without U+0000"),
    "current": simple(lambda v: v == "current", "current"),
    "column_or_null": simple(lambda v: v is None or is_column(v), "such a text and not null"),
    "start": simple(lambda v: v == OPEN_START or type(v) is str and is_instant(v), "instant or open start"),
    "end": simple(lambda v: v == OPEN_END or type(v) is str and is_instant(v), "instant or open end"),
    "confidence": simple(lambda v: type(v) in (int, float) and 0 <= v <= 1, "number from 0 to 1"),
    "one": simple(lambda v: type(v) is int and v == 1, "1"),
    "depth": simple(lambda v: type(v) is int and 0 <= v <= 8, "number from 0 to 8"),
}

# The tables of sections 3 and 8: name:type of each member, ? for optional ones, [x] a list of x, {x} an object whose
# members are x, a|b an enumeration. A line that begins with spaces continues the one before.
TABLES = """
domain = name:text version:text hash:hash
role = name:text params:{text}
action = name:text role:role args:stored
observation = name:text value?:stored oracle_key?:hash hash?:hash
effect = id:hash effect:stored
key = fact_id:column system_time_start:instant
believed = fact_id:column object:salted valid_from:start valid_to:end provenance_id:column confidence:confidence
  resolution_strategy_id:lww|lww-valid|evi|await|rule row_kind:current|audit resolution_id:column_or_null lineage:column
  asserted_seq:from_one asserted_from:start
inherited = fact_id:column object:salted valid_from:start valid_to:end provenance_id:column confidence:confidence
  resolution_strategy_id:lww|lww-valid|evi|await|rule row_kind:current resolution_id:column_or_null lineage:column
  asserted_seq:from_one asserted_from:start system_time_start:instant entry_id:hash seq:from_one
  cardinality:single-valued|multi-valued
inheritance = until:instant rows:[inherited]
change = partition:salted version:from_one cardinality:single-valued|multi-valued system_time:instant close:[key]
  insert:[believed] merged?:[column] inherit?:inheritance
partition = space:column subject:column predicate:column branch?:column
delta = state:stored_operations effects:[effect] beliefs:[change]
proposed = state:stored_operations effects:[effect] beliefs:empty
policy = digest:hash decision:allow|deny|needs_approval rule?:text
detection = invariant_id:text result:pass|reject|escalate detail?:text
counselor = principal:text as:text method:text at?:instant override?:true overridden?:[detection] reason?:text
  token_by?:[text]
deputy = of:text kind:text from:instant
amendment = action:action difference:stored
intent = action:text role:role args:stored observations:[observation] calls?:salted
proposal = proposal_id:hash writ_id:hash action:action observations:[observation] at:instant delta:proposed
  approval:stored_operations budget_cost:{count} key_hash?:hash questions?:salted
  said_at?:instant
beginning = domain:domain initial_state:stored_object sensitive?:operations
origin = trajectory_id:text entry_id:hash
signed = key:hash value:signature
entry = kind:text trajectory_id:trajectory seq:count parent:hash_or_null at:instant signature?:signed
root = +entry domain:domain initial_state:stored_object compiler_version:text writs:list policy_hash?:hash
  delegated_from?:origin detection_vector?:[detection] note?:text sensitive?:operations
branch = +entry source_trajectory_id:text source_commit_id:hash domain:domain compiler_version:text writs:list
  note:text policy_hash?:hash detection_vector?:[detection]
commit = +entry proposal_id:hash writ_id:hash parent_commit:hash action:action delta:delta observations:[observation]
  budget_cost:{count} compiler_version:text epoch?:from_one key_hash?:hash policy?:policy resolves?:hash
  counselor?:counselor approved_by?:[counselor] detection_vector?:[detection] amended?:amendment
rejection = +entry intent:intent detail:text reason:invalid_authority|policy_denied|budget_exhausted|
  precondition_failed|unknown_tool|type_mismatch|unjudged_call|invariant_rejected|counselor_rejected|effect_failed|conflict|expired|upgraded
  proposal_id?:hash key_hash?:hash writ_id?:hash policy?:policy invariant_id?:text resolves?:hash counselor?:counselor
pending_approval = +entry proposal:proposal digest:hash channel:text detail:text freezes:freezing head:hash
  reason:invariant_escalated|policy_needs_approval|writ_requires_approval|irreversible|contradiction|in_doubt|
  unresolved
  policy?:policy invariant_id?:text expires?:instant approvals?:several resolves?:hash approved_by?:[counselor]
  deputies?:[deputy]
delegation = +entry child_trajectory_id:text task:text writ:value begins?:beginning concludes?:hash child_head?:hash
  final_answer?:stored budget_cost?:{count}
key_change = +entry to:hash reason:text
settled = id:hash outcome:applied|undone|accepted by?:text cost?:{count} answered?:true
  absent?:true
settled_commit = commit:hash effects:[settled]
decided = id:hash as:applied|undone|retry|residue by:text token_by?:[text]
discarded = id:hash cost:{count}
settlement = settled:[settled_commit] discarded?:[discarded] decided?:decided
upgrade = from:hash to:domain reason:text
waiting = epoch:count n:count tool:text commit?:hash
abandoned_effect = id:hash outcome:undone|accepted tool:text cost?:{count}
abandoned = epoch:count cause:text effects:[abandoned_effect]
writ = v:one issuer:hash subject:name parent:hash_or_null not_before:instant expires:instant max_depth:depth nonce:name
  signature:signature trajectory?:name actions?:[text] scopes?:[text] require_approval?:[text] budget?:{count}
"""


def type_of(text: str) -> Check:
    if text[0] == "[":
        return list_of(type_of(text[1:-1]))
    if text[0] == "{":
        return members_of(type_of(text[1:-1]))
    if "|" in text:
        allowed = frozenset(text.split("|"))
        return simple(lambda v: type(v) is str and v in allowed, "one of " + text)
    return TYPES[text]


def read_tables() -> None:
    """Makes checks of the tables, and adds them to TYPES."""
    lines: Dict[str, str] = {}
    for line in TABLES.replace("|\n  ", "|").replace("\n  ", " ").strip().split("\n"):
        name, _, text = line.partition(" = ")
        lines[name] = text.replace("+entry", lines.get("entry", ""))
        members = [member.split(":") for member in lines[name].split()]
        TYPES[name] = record({m.rstrip("?"): type_of(t) for m, t in members}, [m for m, _ in members if m[-1] != "?"])


read_tables()
KINDS = {kind: TYPES[kind] for kind in ("root", "branch", "commit", "rejection", "pending_approval", "delegation",
                                      "key_change")}


def wrong_beliefs(p: Dict[str, Any]) -> str:
    """What is wrong with the beliefs of a commit, that the tables do not say."""
    for change in p["delta"]["beliefs"] if p["kind"] == "commit" else ():
        inherited = change.get("inherit", {"rows": []})["rows"]
        for row in change["insert"] + inherited:
            if row["valid_from"] >= row["valid_to"]:
                return "the row %s is valid at no time" % row["fact_id"]
            if (row["resolution_id"] is None) != (row["row_kind"] == "current"):
                return "the row %s has a resolution, or none, and should not" % row["fact_id"]
            if row["asserted_seq"] > row.get("seq", change["version"]):
                return "the row %s was asserted later than it was written" % row["fact_id"]
    return ""


def wrong_writ(v: Any) -> str:
    """What is wrong with the form of a writ, but for the patterns."""
    wrong = TYPES["writ"](v)
    if wrong:
        return wrong
    if v["subject"] == v["issuer"]:
        return "subject is the issuer"
    if v["not_before"] >= v["expires"]:
        return "expires before it begins"
    if any(len(v.get(m, ())) > 256 for m in ("actions", "scopes", "require_approval", "budget")):
        return "has more than 256 patterns or units"
    if v.get("budget") and "trajectory" not in v:
        return "has a budget and no trajectory"
    return "" if all(is_name(unit) for unit in v.get("budget", ())) else "has a unit that is no text of 1 to 512 units"


Place = Tuple[str, Any]


def values_in(position: str, operations: Any) -> List[Place]:
    """Where a list of operations may refer to blobs: as a whole, or by the values in it."""
    if type(operations) is not list:
        return [(position, operations)]
    return [("%s[%d].value" % (position, i), o.get("value")) for i, o in enumerate(operations) if type(o) is dict]


def delta_places(delta: Dict[str, Any]) -> List[Place]:
    effects: List[Place] = [("delta.effects[%d].effect" % i, e["effect"]) for i, e in enumerate(delta["effects"])]
    beliefs: List[Place] = []
    for i, change in enumerate(delta["beliefs"]):
        beliefs.append(("delta.beliefs[%d].partition" % i, change["partition"]))
        beliefs += [("delta.beliefs[%d].insert[%d].object" % (i, n), row["object"])
                    for n, row in enumerate(change["insert"])]
        beliefs += [("delta.beliefs[%d].inherit.rows[%d].object" % (i, n), row["object"])
                    for n, row in enumerate(change.get("inherit", {"rows": []})["rows"])]
    return values_in("delta.state", delta["state"]) + effects + beliefs


def references(p: Dict[str, Any]) -> List[Tuple[str, Dict[str, Any]]]:
    """An entry's references to blobs with their positions, in the order of section 10."""
    kind = p["kind"]
    observed: List[Dict[str, Any]] = []
    places: List[Place]
    if kind == "commit":
        places = [("args", p["action"]["args"])]
        if "amended" in p:
            places += [("amended.args", p["amended"]["action"]["args"]),
                       ("amended.difference", p["amended"]["difference"])]
        places += delta_places(p["delta"])
        observed = p["observations"]
    elif kind == "rejection":
        intent = p["intent"]
        places, observed = [("args", intent["args"]), ("calls", intent.get("calls"))], intent["observations"]
    elif kind == "pending_approval":
        q = p["proposal"]
        places = [("args", q["action"]["args"])] + delta_places(q["delta"])
        places += values_in("approval", q["approval"]) + [("questions", q.get("questions"))]
        observed = q["observations"]
    elif kind == "delegation":
        begins = p.get("begins", {})
        places = [("initial_state", begins.get("initial_state"))] + values_in("sensitive", begins.get("sensitive", []))
        places.append(("final_answer", p.get("final_answer")))
    else:
        places = [("initial_state", p.get("initial_state"))] + values_in("sensitive", p.get("sensitive", []))
    places += [("observations[%d].value" % i, o.get("value")) for i, o in enumerate(observed)]
    return [(position, value) for position, value in places if refers(value)]


def salted(p: Dict[str, Any]) -> List[str]:
    """The blobs of an entry that may be erased."""
    return [reference["$blob"] for _, reference in references(p) if "salted" in reference]


def refers(v: Any) -> bool:
    """Of a value in operations: a reference, and not what an erasure has left."""
    return type(v) is dict and "$blob" in v


is_salt = re.compile(r"[0-9a-f]{32}").fullmatch


def is_salted(v: Any) -> bool:
    """Whether a blob is a salt and a value."""
    return type(v) is dict and v.keys() == {"salt", "value"} and type(v["salt"]) is str and bool(is_salt(v["salt"]))


def what_is_salted(v: Any) -> str:
    """What beliefs may refer to a blob as: a partition, also of a branch, or a text; of no salt and value nothing."""
    if not is_salted(v):
        return ""
    if is_column(v["value"]):
        return "text"
    if TYPES["partition"](v["value"]):
        return "value"
    return "partition of a branch" if "branch" in v["value"] else "partition"


ERASE = "assize.erase"


def is_erasing(p: Dict[str, Any]) -> bool:
    return p["kind"] == "commit" and p["action"]["name"] == ERASE


def erased_values(args: Any) -> Optional[List[Dict[str, Any]]]:
    """What an erasure erases, or None where its arguments are not of the form (section 4)."""
    if type(args) is not dict or type(args.get("reason")) is not str:
        return None
    if not all(type(args.get(m)) is list for m in ("at", "entries", "values")):
        return None
    sound = all(type(v) is dict and is_hash(v.get("hash")) and is_count(v.get("seq")) and type(v.get("path", "")) is str
                for v in args["values"])
    beliefs = args.get("beliefs", [])
    sound = sound and type(beliefs) is list and all(
        type(b) is dict and type(b.get("space")) is str and type(b.get("partitions")) is list
        and all(is_hash(p) for p in b["partitions"]) and type(b.get("claim", "")) is str for b in beliefs)
    return args["values"] if sound else None


REVOKE = "assize.revoke"


def is_revoking(p: Dict[str, Any]) -> bool:
    return p["kind"] == "commit" and p["action"]["name"] == REVOKE


def is_revocation(p: Dict[str, Any]) -> bool:
    """Whether a commit of assize.revoke is one (rules 5.8, the form)."""
    return (says_revocation(p["action"]["args"]) and "resolves" not in p and not p["budget_cost"]
            and not p["observations"] and p["delta"] == {"state": [], "effects": [], "beliefs": []})


def says_revocation(args: Any) -> bool:
    """Whether arguments are those of a revocation."""
    if type(args) is not dict or not {"writ", "reason"} <= args.keys() <= {"writ", "reason", "from"}:
        return False
    origin = args.get("from", {"trajectory_id": "", "entry_id": args["writ"]})
    return (is_hash(args["writ"]) and type(args["reason"]) is str and type(origin) is dict
            and origin.keys() == {"trajectory_id", "entry_id"} and type(origin["trajectory_id"]) is str
            and is_hash(origin["entry_id"]))


HALT = "assize.halt"
STOPS = (REVOKE, HALT)


def is_halting(p: Dict[str, Any]) -> bool:
    return p["kind"] == "commit" and p["action"]["name"] == HALT


def is_halt(p: Dict[str, Any]) -> bool:
    """Whether a commit of assize.halt is one (rules 5.12, the form)."""
    return (says_halt(p["action"]["args"]) and "resolves" not in p and not p["budget_cost"]
            and not p["observations"] and p["delta"] == {"state": [], "effects": [], "beliefs": []})


def says_halt(args: Any) -> bool:
    """Whether arguments are those of a halt or a resume."""
    needed = {"does", "reason", "principal"}
    if type(args) is not dict or not needed <= args.keys() <= needed | {"from", "remains"}:
        return False
    origin = args.get("from", {"trajectory_id": "", "entry_id": "0" * 64})
    return (args["does"] in ("halt", "resume") and type(args["reason"]) is str and type(args["principal"]) is str
            and type(args.get("remains", True)) is bool and args.get("remains", True)
            and ("remains" not in args or args["does"] == "resume") and type(origin) is dict
            and origin.keys() == {"trajectory_id", "entry_id"} and type(origin["trajectory_id"]) is str
            and is_hash(origin["entry_id"]))


def passes_halt(p: Dict[str, Any]) -> bool:
    """Whether a halted chain takes an entry (rule place.halted)."""
    if p["kind"] == "commit":
        return is_halting(p) or is_revoking(p) or is_settling(p)
    if p["kind"] == "rejection":
        return "resolves" in p or is_abandoning(p) or p["intent"]["action"] in STOPS
    return p["kind"] == "key_change" or p["kind"] == "pending_approval" and is_effect_waiting(p)


SETTLE = "assize.settle"
NO_DELTA = {"state": [], "effects": [], "beliefs": []}
ABSENT_WITHOUT = {"by", "cost", "answered"}
SETTLED_AS = {"applied": "applied", "undone": "undone", "residue": "accepted"}
is_cause = re.compile(r"[a-z][a-z_]{0,63}").fullmatch


UPGRADE = "assize.upgrade"


def is_upgrading(p: Dict[str, Any]) -> bool:
    return p["kind"] == "commit" and p["action"]["name"] == UPGRADE


def is_upgrade(p: Dict[str, Any]) -> bool:
    """Whether a commit of assize.upgrade is one (rules 5.8, the form)."""
    args, delta, vector = p["action"]["args"], p["delta"], p.get("detection_vector")
    if TYPES["upgrade"](args) or delta["effects"] or delta["beliefs"] or p["observations"] or p["budget_cost"]:
        return False
    if "resolves" in p or vector is None:
        return False
    if all(item["result"] == "pass" for item in vector):
        return "counselor" not in p
    return "counselor" in p and "override" in p["counselor"]


def is_settling(p: Dict[str, Any]) -> bool:
    return p["kind"] == "commit" and p["action"]["name"] == SETTLE


def is_effect_waiting(p: Dict[str, Any]) -> bool:
    return p["kind"] == "pending_approval" and (p["reason"] in ("in_doubt", "unresolved")
                                                or p["proposal"]["action"]["name"] == SETTLE)


def is_abandoning(p: Dict[str, Any]) -> bool:
    return p["kind"] == "rejection" and p["reason"] == "effect_failed" and p["intent"]["action"] == SETTLE


def is_built_in(role: Dict[str, Any]) -> bool:
    return role == {"name": "assize", "params": {}}


def is_salted_reference(v: Any) -> bool:
    return refers(v) and "salted" in v


def is_found_by(observations: List[Dict[str, Any]], of: List[Dict[str, Any]]) -> bool:
    """Whether these were observed and nothing else, each by salted reference under the id of its effect."""
    return len(observations) == len(of) and all(
        o.keys() == {"name", "value"} and o["name"] == e["id"] and is_salted_reference(o["value"])
        for o, e in zip(observations, of))


def is_dear_as_undone(effect: Dict[str, Any]) -> bool:
    return "cost" not in effect or effect["outcome"] == "undone"


def check_settlement_form(p: Dict[str, Any]) -> None:
    """Rules 5.9, the form of a commit of assize.settle."""
    args = p["action"]["args"]
    obey("settlement.args", is_settlement_args(args) and is_built_in(p["action"]["role"]), "no settlement", "malformed")
    free = p["delta"] == NO_DELTA and not p["budget_cost"]
    said = any(m in p for m in ("key_hash", "policy", "counselor", "approved_by", "detection_vector", "amended"))
    obey("settlement.delta", free and not said, "a settlement that does something else", "malformed")
    settled, decided = args["settled"], args.get("decided")
    effects = [effect for of in settled for effect in of["effects"]]
    if "resolves" not in p:
        observed = [effect for effect in effects if "by" in effect or "answered" in effect]
        obey("settlement.direct", decided is None and bool(settled or "discarded" in args)
             and is_found_by(p["observations"], observed), "a settlement of nothing, or of what was not found",
             "malformed")
    else:
        obey("settlement.decided", decided is not None and "discarded" not in args
             and is_found_by(p["observations"], [decided]) and is_settled_so(settled, effects, decided),
             "not settled as it was decided", "malformed")


def is_settlement_args(args: Any) -> bool:
    if TYPES["settlement"](args) or args.get("discarded") == []:
        return False
    effects = [effect for of in args["settled"] for effect in of["effects"]]
    if not all(of["effects"] for of in args["settled"]) or not all(is_dear_as_undone(effect) for effect in effects):
        return False
    if any("answered" in effect and ("by" in effect or effect["outcome"] != "applied") for effect in effects):
        return False
    return not any("absent" in effect and (effect["outcome"] != "undone" or ABSENT_WITHOUT & effect.keys())
                   for effect in effects)


def is_settled_so(settled: List[Any], effects: List[Dict[str, Any]], decided: Dict[str, Any]) -> bool:
    wanted = [] if not settled else [{"id": decided["id"], "outcome": SETTLED_AS.get(decided["as"])}]
    return [{m: v for m, v in effect.items() if m != "cost"} for effect in effects] == wanted


def check_effect_pending_form(p: Dict[str, Any]) -> None:
    """Rules 5.9, the form of a pending about an effect."""
    q = p["proposal"]
    effects = q["delta"]["effects"]
    obey("effect.args", p["reason"] in ("in_doubt", "unresolved") and q["action"]["name"] == SETTLE
         and not TYPES["waiting"](q["action"]["args"]) and is_built_in(q["action"]["role"]),
         "no effect that waits", "malformed")
    obey("effect.delta", len(effects) == 1 and is_salted_reference(effects[0]["effect"])
         and {**q["delta"], "effects": []} == NO_DELTA and q["approval"] == [] and not q["observations"]
         and not q["budget_cost"], "more than one effect waits", "malformed")
    members = ("approvals", "approved_by", "policy", "invariant_id", "expires", "deputies", "resolves")
    obey("effect.channel", "key_hash" not in q and p["channel"] == "operator" and p["freezes"] == []
         and not any(m in p for m in members), "an effect waits for an operator only", "malformed")


def is_abandonment(p: Dict[str, Any]) -> bool:
    """Whether a rejection that lists what an attempt did is one (rules 5.9, the form)."""
    args = p["intent"]["args"]
    return (not TYPES["abandoned"](args) and bool(args["effects"]) and bool(is_cause(args["cause"]))
            and is_built_in(p["intent"]["role"]) and p["detail"] == args["cause"]
            and is_found_by(p["intent"]["observations"], args["effects"])
            and all(is_dear_as_undone(effect) for effect in args["effects"])
            and ("writ_id" in p or not any("cost" in effect for effect in args["effects"]))
            and not any(m in p for m in ("proposal_id", "key_hash", "policy", "invariant_id", "resolves", "counselor")))


def is_office(root: Dict[str, Any], revoked: str) -> bool:
    """Whether a root writ is for revoking a writ of its issuer, by name (section 8)."""
    return REVOKE in root.get("actions", ()) and any("writ:" + w in root.get("scopes", ()) for w in (revoked, "*", "**"))


def names_halt(writ: Dict[str, Any]) -> bool:
    """Whether a writ names the right to halt (section 8)."""
    return HALT in writ.get("actions", ()) and any(scope.startswith("halt:") for scope in writ.get("scopes", ()))


def named_writs(p: Dict[str, Any]) -> List[str]:
    """The writs whose blobs stand before an entry."""
    first = first_writ(p)
    revoked = p["action"]["args"].get("writ") if is_revoking(p) and type(p["action"]["args"]) is dict else None
    return [id for id in (first, revoked) if is_hash(id)]


def first_writ(p: Dict[str, Any]) -> Optional[str]:
    """The writ under which an entry is."""
    if p["kind"] == "pending_approval":
        return p["proposal"]["writ_id"]
    if p["kind"] == "delegation":
        return p["writ"].get("parent") if type(p["writ"]) is dict else None
    return p.get("writ_id")


# ----------------------------------------------------------------------------------------------- section 6: the fold

is_index = re.compile(r"0|[1-9][0-9]{0,15}").fullmatch
bad_tilde = re.compile(r"~(?![01])").search


class State:
    """A folded state. Values are shared between states and never changed, but for the containers in `own`: copies
    that this state made since it began or was last shared."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.own: Dict[int, Any] = {}        # by id(); holds the containers, so that no id can come again

    def share(self) -> Any:
        """The value, for others to keep: from now on it is not changed any more."""
        self.own = {}
        return self.value

    def owned(self, container: Any) -> Any:
        if id(container) not in self.own:
            container = container.copy()
            self.own[id(container)] = container
        return container

    def apply(self, operations: List[Any]) -> None:
        for i, operation in enumerate(operations):
            wrong = self.apply_one(operation)
            if wrong:
                raise Fault("bad_patch", "operation %d: %s" % (i, wrong))

    def apply_one(self, operation: Any) -> str:
        """Applies an operation, or says what is wrong with it."""
        if type(operation) is not dict:
            return "is no object"
        op, path = operation.get("op"), operation.get("path")
        if op not in ("add", "replace", "remove"):
            return "op is none of add, replace, remove"
        if type(path) is not str or path[:1] != "/" or bad_tilde(path):
            return "path is no pointer, or the empty one"
        if op != "remove" and "value" not in operation:
            return "has no value"
        *way, last = [token.replace("~1", "/").replace("~0", "~") for token in path[1:].split("/")]
        here = self.value = self.owned(self.value)
        for token in way:
            key = (int(token) if is_index(token) else -1) if type(here) is list else token
            if not (0 <= key < len(here) if type(here) is list else key in here) \
                    or type(here[key]) not in (dict, list):
                return "no container %r on the way of %s" % (token, path)
            here[key] = self.owned(here[key])
            here = here[key]
        index = (int(last) if is_index(last) else -1) if type(here) is list else None
        if index is None and (op == "add") != (last in here):
            if op == "remove":
                del here[last]
            else:
                here[last] = operation["value"]
        elif index is not None and op == "add" and index == len(here):
            here.append(operation["value"])
        elif index is not None and op == "replace" and 0 <= index < len(here):
            here[index] = operation["value"]
        elif index is not None and op == "remove" and 0 <= index == len(here) - 1:
            here.pop()
        else:
            return "can't %s %s" % (op, path)
        return ""


# ----------------------------------------------------------------------------------------- section 9: the Merkle tree


class Tree:
    """The RFC 6962 tree of leaves that come one by one: the roots of its complete subtrees, from the left."""

    def __init__(self) -> None:
        self.size = 0
        self.peaks: List[bytes] = []

    def add(self, data: bytes) -> None:
        node, size = hashlib.sha256(b"\0" + data).digest(), self.size
        while size & 1:
            node = hashlib.sha256(b"\1" + self.peaks.pop() + node).digest()
            size >>= 1
        self.peaks.append(node)
        self.size += 1

    def root(self) -> str:
        node = self.peaks[-1] if self.peaks else hashlib.sha256(b"").digest()
        for left in reversed(self.peaks[:-1]):
            node = hashlib.sha256(b"\1" + left + node).digest()
        return node.hex()


# ------------------------------------------------------------------------------------------ section 2: signatures

FIELD = 2 ** 255 - 19
ORDER = 2 ** 252 + 27742317777372353535851937790883648493
CURVE_D = -121665 * pow(121666, -1, FIELD) % FIELD
ROOT_OF_MINUS_1 = pow(2, (FIELD - 1) // 4, FIELD)
TOP_BIT = 2 ** 255
LOW_ORDER = frozenset(int.from_bytes(bytes.fromhex(point), "little") for point in (
    "00" * 32, "01" + "00" * 31, "ec" + "ff" * 30 + "7f",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"))
Point = Tuple[int, int, int, int]                        # X, Y, Z, T: x = X/Z, y = Y/Z, xy = T/Z
NEUTRAL: Point = (0, 1, 1, 0)


def add_points(p: Point, q: Point) -> Point:
    """The sum, by the complete formulas of RFC 8032 section 5.1.4."""
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % FIELD, (p[1] + p[0]) * (q[1] + q[0]) % FIELD
    c, d = 2 * CURVE_D * p[3] * q[3] % FIELD, 2 * p[2] * q[2] % FIELD
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % FIELD, g * h % FIELD, f * g % FIELD, e * h % FIELD


def read_point(encoded: bytes) -> Optional[Point]:
    """The point of 32 bytes (RFC 8032 section 5.1.3); none for an encoding of no point."""
    number_of = int.from_bytes(encoded, "little")
    y, sign = number_of % TOP_BIT, number_of >= TOP_BIT
    u, v = (y * y - 1) % FIELD, (CURVE_D * y * y + 1) % FIELD
    x = u * pow(v, 3, FIELD) * pow(u * pow(v, 7, FIELD), (FIELD - 5) // 8, FIELD) % FIELD
    if v * x * x % FIELD != u:
        x = x * ROOT_OF_MINUS_1 % FIELD
    if v * x * x % FIELD != u or x == 0 and sign:
        return None
    x = FIELD - x if x % 2 != sign else x
    return x, y, 1, x * y % FIELD


def is_usable(encoded: bytes) -> bool:
    """Points 1 and 2 of section 2: encoded canonically, and not of low order."""
    y = int.from_bytes(encoded, "little") % TOP_BIT
    return y < FIELD and y not in LOW_ORDER


@functools.lru_cache(maxsize=16)
def multiples(encoded: bytes) -> Optional[List[List[Point]]]:
    """For each of 64 hex digits, from the lowest: the point times the digit and its place. A key signs many entries."""
    base = read_point(encoded)
    if base is None:
        return None
    table = []
    for _ in range(64):
        row = [NEUTRAL]
        for _ in range(16):
            row.append(add_points(row[-1], base))
        table.append(row[:16])
        base = row[16]
    return table


def times(table: List[List[Point]], factor: int) -> Point:
    sum_of = NEUTRAL
    for row in table:
        sum_of = add_points(sum_of, row[factor & 15])
        factor >>= 4
    return sum_of


BASE = (4 * pow(5, -1, FIELD) % FIELD).to_bytes(32, "little")


def is_signed(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether an Ed25519 signature holds, by the four points of section 2."""
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    if not is_usable(key) or not is_usable(r) or s >= ORDER:
        return False
    of_key, of_base = multiples(key), multiples(BASE)
    if of_key is None or of_base is None:
        return False
    k = int.from_bytes(hashlib.sha512(r + key + message).digest(), "little") % ORDER
    x, y, z, _ = add_points(times(of_base, s), times(of_key, ORDER - k))
    inverse = pow(z, -1, FIELD)
    x, y = x * inverse % FIELD, y * inverse % FIELD
    return (y + (TOP_BIT if x % 2 else 0)).to_bytes(32, "little") == r


def has_good_signature(p: Dict[str, Any]) -> bool:
    signature = p["signature"]
    text = canonical({name: value for name, value in p.items() if name != "signature"})
    return is_signed(bytes.fromhex(signature["key"]), bytes.fromhex(signature["value"]),
                     b"assize/entry/v1\n" + text.encode())


# ----------------------------------------------------------------------------------- section 5: one chain, by itself


def key_of(p: Dict[str, Any]) -> Optional[str]:
    """The key that signed an entry."""
    return p["signature"]["key"] if "signature" in p else None


def key_after(p: Dict[str, Any]) -> Optional[str]:
    """The key in force after an entry."""
    return p["to"] if p["kind"] == "key_change" else key_of(p)


class Pending(NamedTuple):
    """What later entries may ask of an open pending_approval."""
    seq: int
    proposal_id: str
    committed: str                                       # hash of what a commit has to repeat
    kept: str                                            # hash of what an amended commit has to repeat
    action: Dict[str, Any]                               # name, and hash of the whole action
    effects: Set[str]                                    # ids of the effects that it would have
    rejected: str                                        # hash of what a rejection has to repeat
    put_up: str                                          # hash of what an approval that is not the last has to repeat
    channel: str
    deputies: List[Dict[str, str]]
    freezes_world: bool
    expires: Optional[str]
    approvals: int
    given: List[Dict[str, Any]]                          # approved_by
    invariant: Optional[str]                             # invariant_id: the rule that escalated
    effect: Optional[Tuple[str, Optional[str], str]]     # of one that waits: id, the commit that named it, writ_id


def committed_members(p: Dict[str, Any]) -> str:
    members = [p[m] for m in ("proposal_id", "action", "writ_id", "budget_cost", "observations")]
    return hash_of([*members, p.get("key_hash")])


def amended_members(p: Dict[str, Any]) -> str:
    return hash_of([p["proposal_id"], p["writ_id"], p["observations"], p.get("key_hash")])


def rejected_members(action: str, of: Dict[str, Any], observations: Any, p: Dict[str, Any]) -> str:
    return hash_of([action, of["role"], of["args"], observations, p.get("writ_id"), p.get("key_hash")])


def pending_of(p: Dict[str, Any], effect: Optional[Tuple[str, Optional[str], str]]) -> Pending:
    """What later entries may ask of a pending_approval."""
    q = p["proposal"]
    rejected = rejected_members(q["action"]["name"], q["action"], q["observations"], q)
    return Pending(p["seq"], q["proposal_id"], committed_members(q), amended_members(q),
                   {"name": q["action"]["name"], "hash": hash_of(q["action"])},
                   {effect["id"] for effect in q["delta"]["effects"]}, rejected, put_up_members(p), p["channel"],
                   p.get("deputies", []), p["freezes"] == "world", p.get("expires"), p.get("approvals", 1), p.get("approved_by", []),
                   p.get("invariant_id"), effect)


PUT_UP = ("proposal", "digest", "channel", "reason", "detail", "freezes", "approvals", "policy", "invariant_id",
          "expires", "deputies")


def put_up_members(p: Dict[str, Any]) -> str:
    return hash_of([p.get(m) for m in PUT_UP])


class Chain:
    """One trajectory: what section 5.1 keeps, and where its entries stand in the export."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.head: Optional[str] = None
        self.seq = 0                                     # also: how many entries are accepted
        self.at = ""
        self.last_commit: Optional[str] = None
        self.open: Dict[str, Pending] = {}
        self.frozen: Optional[str] = None                # the one in `open` that freezes the world
        self.delegated: Dict[str, str] = {}              # start: hash of child, task and writ
        self.children: Set[str] = set()
        self.delegated_from: Optional[Dict[str, str]] = None
        self.answered = False
        self.key: Optional[str] = None                   # the one in force
        self.signing: Optional[Tuple[int, str, bool]] = None  # first signed entry: index, key, whether it changes the key
        self.changes: List[Tuple[int, str, str]] = []    # seq, key, new key; also of entries that it did not accept
        self.domain: Dict[str, str] = {}                 # the one in force
        self.upgraded: Optional[int] = None              # seq of the last upgrade
        self.unsettled: Dict[str, Tuple[str, Set[str]]] = {}  # commit: writ_id, ids of effects that are not settled
        # Places of all entries that pass section 3, also of those that the chain did not accept.
        self.ids = bytearray()                           # 32 bytes each
        self.offsets, self.lines = array("Q"), array("Q")
        self.marks = bytearray()                         # 1: the second pass has to read it
        self.first: Optional[int] = None                 # index of the entry with seq 0
        self.root_from: Optional[str] = None             # the trajectory that this one's root names
        self.source: Optional[Tuple[str, str]] = None    # of a branch: trajectory and entry
        self.writs: Dict[str, int] = {}                  # writs that are named: index of the first that does
        self.revoked: List[Tuple[int, str, str, bool]] = []  # index, writ_id, the writ revoked, taken over
        self.halts: Dict[str, str] = {}                  # the halts that stand: own, above; their entries
        self.halting: List[Tuple[int, str, bool, bool]] = []  # index, writ_id, taken over, halted after it
        self.inherited: Set[str] = set()                 # of a branch: what was revoked where it begins
        # Before, between and after those: writs that are named, and that are delegated: index of the first that does.
        self.named: List[Dict[str, int]] = [{}]
        self.started: List[Dict[str, int]] = [{}]
        self.believes = array("Q")                       # indices of commits that change beliefs
        self.erased: Set[str] = set()                    # blobs that it refers to and that were erased
        self.stopped = False                             # a fault was found
        self.verified = 0                                # by the second pass: entries without fault
        self.done = False

    def find(self, id: str) -> int:
        """The index of the entry with this id, or -1."""
        wanted = bytes.fromhex(id)
        at = self.ids.find(wanted)
        while at % 32 and at >= 0:
            at = self.ids.find(wanted, at + 1)
        return at // 32

    def accept(self, id: str, p: Dict[str, Any]) -> None:
        """Rules 5.2 to 5.4, then what 5.1 keeps."""
        kind = p["kind"]
        obey("place.parent", p["seq"] == self.seq, "seq is %d, not %d" % (p["seq"], self.seq), "broken_chain")
        obey("place.parent", p["parent"] == self.head, "parent is not the entry before", "broken_chain")
        obey("place.first", (kind in ("root", "branch")) == (self.seq == 0), "%s at seq %d" % (kind, self.seq))
        obey("place.time", p["at"] >= self.at, "at is before that of the entry before")
        obey("place.answered", not self.answered, "the trajectory was answered")
        obey("place.halted", not self.halts or passes_halt(p), "the trajectory is halted")
        key = key_of(p)
        obey("place.signed", self.key is None or key == self.key,
             "the entry is signed with %s, and the key in force is %s" % (key or "no key", self.key), "bad_signature")
        if kind == "root":
            self.last_commit, self.delegated_from, self.domain = id, p.get("delegated_from"), p["domain"]
        elif kind == "branch":
            self.last_commit, self.domain = p["source_commit_id"], p["domain"]
        else:
            getattr(self, "check_" + kind)(id, p)
        if key is not None and self.key is None:
            self.signing = (self.seq, key, kind == "key_change")
        self.key = key_after(p)
        self.head, self.seq, self.at = id, self.seq + 1, p["at"]

    def check_key_change(self, id: str, p: Dict[str, Any]) -> None:
        """Rule key.change; place.signed has compared the signature with the key in force."""
        key = key_of(p)
        obey("key.change", key is not None, "a change of the key must be signed", "bad_signature")
        obey("key.change", self.key is not None or key == p["to"], "the first key signs in another key")
        obey("key.change", self.key != p["to"], "the new key is in force already")

    def resolve(self, rule: str, p: Dict[str, Any]) -> Pending:
        """The open pending that an entry resolves; it is open no more."""
        obey(rule, p["resolves"] in self.open, "resolves no open pending")
        if self.frozen == p["resolves"]:
            self.frozen = None
        return self.open.pop(p["resolves"])

    def check_frozen(self, rule: str, p: Dict[str, Any]) -> None:
        obey(rule, self.frozen is None or p.get("resolves") == self.frozen, "the trajectory is frozen")

    def check_channel(self, rule: str, pending: Pending, counselor: Dict[str, Any], at: str) -> None:
        asked, held = pending.channel.split("+"), counselor["as"].split("+")
        due = {(d["of"], d["kind"]) for d in pending.deputies if d["from"] <= at}
        obey(rule, pending.channel == "any" or len(asked) == len(held)
             and all(a == h or (a, h) in due for a, h in zip(asked, held)),
             "the counselor is not of the pending's channel")

    def check_unexpired(self, rule: str, pending: Pending, at: str) -> None:
        obey(rule, pending.expires is None or at < pending.expires, "the pending has expired")

    def check_another(self, rule: str, pending: Pending, counselor: Dict[str, Any]) -> None:
        # Whoever made the token of an approver counts as one person with it.
        people = [[c["principal"], *c.get("token_by", [])] for c in [*pending.given, counselor]]
        if len(people) > 1:
            obey(rule, all(units(name) <= 512 for names in people for name in names),
                 "somebody who approves has too long a name")
            *earlier, last = [{unicodedata.normalize("NFC", name) for name in names} for names in people]
            obey(rule, all(last.isdisjoint(names) for names in earlier), "one person approves it twice")

    def check_override(self, rule: str, pending: Pending, counselor: Dict[str, Any], vector: List[Dict[str, Any]]) -> None:
        """Each violation is overridden by every approver, and by name."""
        def violation(item: Dict[str, Any]) -> str:
            says = item.get("detail") if item["invariant_id"] != pending.invariant else None
            return hash_of([item["invariant_id"], item["result"], says])

        approvers = [*pending.given, counselor]
        broken = {violation(item) for item in vector if item["result"] != "pass"}
        obey(rule, all(("override" in c) == ("overridden" in c) for c in approvers), "an override of nothing named")
        overridden = [{violation(item) for item in c["overridden"]} for c in approvers if "override" in c]
        obey(rule, overridden != [] or broken == set(), "something does not pass, and nobody overrides it")
        obey(rule, len(overridden) in (0, len(approvers)), "overridden, but not by all who approved")
        obey(rule, all(seen and seen == overridden[0] for seen in overridden), "not all override the same")
        obey(rule, all(broken <= seen for seen in overridden), "not all that does not pass was overridden")

    def check_commit(self, id: str, p: Dict[str, Any]) -> None:
        obey("commit.parent-commit", p["parent_commit"] == self.last_commit, "parent_commit is not the last commit")
        if is_settling(p):
            self.check_settlement(p)
            self.last_commit = id
            return
        if is_upgrading(p):
            self.check_upgrade(p)
            self.last_commit = id
            self.use(p["writ_id"])
            return
        if is_revoking(p):
            obey("revocation.form", is_revocation(p), "no revocation", "malformed")
            self.check_revocation(p)
        elif is_halting(p):
            obey("halt.form", is_halt(p), "no halt", "malformed")
            self.check_halt(id, p)
        else:
            self.check_frozen("commit.frozen", p)
        self.check_beliefs(p)
        if "resolves" in p:
            pending = self.resolve("commit.proposal", p)
            repeated = amended_members(p) == pending.kept if "amended" in p else committed_members(p) == pending.committed
            obey("commit.proposal", repeated, "not what the pending proposed")
            obey("commit.proposal", "detection_vector" in p, "resolves, but has no detection_vector")
            obey("commit.proposal", "counselor" in p, "resolves, but has no counselor")
            self.check_channel("commit.channel", pending, p["counselor"], p["at"])
            self.check_unexpired("commit.expired", pending, p["at"])
            obey("commit.approvals", len(pending.given) + 1 == pending.approvals, "not as many approvals as it takes")
            obey("commit.approvals", hash_of(p.get("approved_by", [])) == hash_of(pending.given),
                 "not the earlier approvals of the pending")
            self.check_another("commit.approvals", pending, p["counselor"])
            self.check_override("commit.approvals", pending, p["counselor"], p["detection_vector"])
            if "amended" in p:
                self.check_amendment(pending, p)
        else:
            obey("commit.direct", "counselor" not in p and "approved_by" not in p, "a counselor, but nothing resolved")
            obey("commit.direct", "amended" not in p, "amended, but nothing resolved")
        self.last_commit = id
        if p["delta"]["effects"]:
            self.unsettled[id] = (p["writ_id"], {effect["id"] for effect in p["delta"]["effects"]})
        if not is_revoking(p) and not is_halting(p):
            self.use(p["writ_id"])

    def check_amendment(self, pending: Pending, p: Dict[str, Any]) -> None:
        """Rule 5.3 8."""
        action, rule = p["action"], "commit.amended"
        obey(rule, hash_of(p["amended"]["action"]) == pending.action["hash"], "the amended action was not pending")
        obey(rule, action["name"] == pending.action["name"], "another action than the pending one")
        obey(rule, not action["name"].startswith("assize."), "a built-in action is amended")
        obey(rule, hash_of(action) != pending.action["hash"], "nothing is amended")
        obey(rule, pending.approvals == 1, "amended, but several have to approve")
        obey(rule, not any(effect["id"] in pending.effects for effect in p["delta"]["effects"]),
             "an effect of the pending proposal")

    def check_beliefs(self, p: Dict[str, Any]) -> None:
        """Rules 5.10."""
        beliefs = p["delta"]["beliefs"]
        partitions = [change["partition"]["$blob"] for change in beliefs]
        obey("beliefs.partition", len(set(partitions)) == len(partitions), "it changes a partition twice")
        for change in beliefs:
            obey("beliefs.time", change["system_time"] >= p["at"], "beliefs change before the entry")
            obey("beliefs.close", all(key["system_time_start"] < change["system_time"] for key in change["close"]),
                 "it closes a row that did not begin before")
            closed = {(key["fact_id"], key["system_time_start"]) for key in change["close"]}
            obey("beliefs.close", len(closed) == len(change["close"]), "it closes a row twice")
            inserted = {row["fact_id"] for row in change["insert"]}
            obey("beliefs.insert", len(inserted) == len(change["insert"]), "it has two rows of one fact")
            obey("beliefs.insert", all(row["row_kind"] == "current" or row["fact_id"].startswith("audit::")
                                       for row in change["insert"]), "an audit row with the id of another")
            if "inherit" in change:
                self.check_inheritance(change, closed)

    def check_inheritance(self, change: Dict[str, Any], closed: Set[Tuple[str, str]]) -> None:
        """Rules 5.10 for what a branch begins with."""
        until, rows = change["inherit"]["until"], change["inherit"]["rows"]
        obey("beliefs.inherit", until < change["system_time"], "it inherits what was not believed before it")
        obey("beliefs.inherit", all(row["system_time_start"] <= until for row in rows),
             "it inherits a row that began later")
        inherited = {(row["fact_id"], row["system_time_start"]) for row in rows}
        obey("beliefs.inherit", len(inherited) == len(rows), "it inherits a row twice")
        last = max([row["seq"] for row in rows], default=0)
        obey("beliefs.inherit", change["version"] == last + 1, "not the version after what it inherits")
        obey("beliefs.inherit", closed <= inherited, "it closes what it does not inherit")

    def check_settlement(self, p: Dict[str, Any]) -> None:
        """Rules 5.9 for commits."""
        check_settlement_form(p)
        settled, decided = p["action"]["args"]["settled"], p["action"]["args"].get("decided")
        seen: Set[Tuple[str, str]] = set()
        for of in settled:
            for effect in of["effects"]:
                left = self.unsettled.get(of["commit"], ("", set()))[1]
                obey("settlement.unsettled", effect["id"] in left and (of["commit"], effect["id"]) not in seen,
                     "%s is no effect of %s that is not settled" % (effect["id"], of["commit"]))
                seen.add((of["commit"], effect["id"]))
        obey("settlement.writ", not settled or p["writ_id"] == self.unsettled[settled[0]["commit"]][0],
             "not the writ of the first commit")
        self.charge(p, [effect for of in settled for effect in of["effects"]] + p["action"]["args"].get("discarded", []))
        obey("settlement.writ", all(p["writ_id"] == self.unsettled[of["commit"]][0] for of in settled
                                    if any("cost" in effect for effect in of["effects"])),
             "what undoing cost is of another writ")
        if decided is not None:
            obey("settlement.pending", p["resolves"] in self.open, "resolves no open pending")
            pending = self.open[p["resolves"]]
            obey("settlement.pending", pending.effect is not None and pending.effect[0] == decided["id"]
                 and pending.proposal_id == p["proposal_id"] and pending.effect[2] == p["writ_id"], "another effect waits")
            commit = pending.effect[1] if pending.effect and decided["as"] != "retry" else None
            if settled or decided["as"] != "applied":  # what is there may be undone yet
                obey("settlement.pending", (settled[0]["commit"] if settled else None) == commit,
                     "not settled for the commit that named it")
            self.resolve("settlement.pending", p)
        for commit, id in seen:
            self.unsettled[commit][1].discard(id)
            if not self.unsettled[commit][1]:
                del self.unsettled[commit]

    def check_effect_pending(self, p: Dict[str, Any]) -> Tuple[str, Optional[str], str]:
        """Rules 5.9 for pendings; what Pending keeps of it."""
        check_effect_pending_form(p)
        q = p["proposal"]
        id, commit = q["delta"]["effects"][0]["id"], q["action"]["args"].get("commit")
        if commit is not None:
            writ, left = self.unsettled.get(commit, ("", set()))
            obey("effect.commit", id in left, "%s is no effect of %s that can still wait" % (id, commit))
            obey("effect.commit", writ == q["writ_id"], "not the writ of the commit")
        obey("effect.once", all(other.effect is None or other.effect[0] != id for other in self.open.values()),
             "it waits already")
        return id, commit, q["writ_id"]

    def charge(self, p: Dict[str, Any], effects: List[Dict[str, Any]]) -> None:
        """What undoing has cost counts against a writ that is there, and may be revoked by now."""
        if any("cost" in effect for effect in effects):
            self.writs.setdefault(p["writ_id"], self.seq)

    def use(self, writ: str) -> None:
        self.writs.setdefault(writ, self.seq)
        self.named[-1].setdefault(writ, self.seq)

    def check_upgrade(self, p: Dict[str, Any]) -> None:
        obey("upgrade.form", is_upgrade(p), "no upgrade", "malformed")
        args = p["action"]["args"]
        obey("upgrade.from", args["from"] == self.domain["hash"], "not from the version in force")
        obey("upgrade.from", args["to"]["hash"] != args["from"], "to the version in force")
        obey("upgrade.from", args["to"]["name"] == self.domain["name"], "to another domain")
        self.domain, self.upgraded = args["to"], p["seq"]

    def check_halt(self, id: str, p: Dict[str, Any]) -> None:
        """Rules 5.12 within one trajectory, and what stands after it."""
        args, above = p["action"]["args"], (self.delegated_from or {}).get("trajectory_id")
        obey("halt.delegated", "from" not in args or args["from"]["trajectory_id"] == above,
             "taken over from where it was not delegated")
        same, other = ("above", "own") if "from" in args else ("own", "above")
        obey("halt.order", (args["does"] == "halt") != (same in self.halts), "it does not take turns")
        obey("halt.order", args["does"] == "halt" or ("remains" in args) == (other in self.halts),
             "it says wrongly whether another halt stands")
        if args["does"] == "halt":
            self.halts[same] = id
        else:
            del self.halts[same]
        if "from" not in args:
            self.use(p["writ_id"])
        self.halting.append((self.seq, p["writ_id"], "from" in args, bool(self.halts)))

    def check_revocation(self, p: Dict[str, Any]) -> None:
        args = p["action"]["args"]
        above = (self.delegated_from or {}).get("trajectory_id")
        obey("revocation.delegated", "from" not in args or args["from"]["trajectory_id"] == above,
             "taken over from where it was not delegated")
        if "from" in args:
            self.writs.setdefault(p["writ_id"], self.seq)
        else:
            self.use(p["writ_id"])                       # before what it revokes counts
        self.revoked.append((self.seq, p["writ_id"], args["writ"], "from" in args))
        self.named.append({})
        self.started.append({})

    def check_rejection(self, id: str, p: Dict[str, Any]) -> None:
        reason, intent = p["reason"], p["intent"]
        if is_abandoning(p):
            obey("attempt.form", is_abandonment(p), "not what an attempt did", "malformed")
            self.charge(p, intent["args"]["effects"])
        goes_on = reason in ("expired", "upgraded") or intent["action"] in STOPS or intent["action"] == UPGRADE
        if not goes_on and not is_abandoning(p):
            self.check_frozen("rejection.frozen", p)
        if "resolves" not in p:
            obey("rejection.direct", reason not in ("counselor_rejected", "expired", "upgraded"),
                 reason + ", but nothing resolved")
            return obey("rejection.direct", "counselor" not in p, "a counselor, but nothing resolved")
        pending = self.resolve("rejection.proposal", p)
        obey("rejection.proposal", pending.effect is None,
             "an effect that waits is neither rejected nor does it expire")
        obey("rejection.proposal", p.get("proposal_id") == pending.proposal_id,
             "proposal_id is not that of the pending")
        rejected = rejected_members(intent["action"], intent, intent["observations"], p)
        obey("rejection.proposal", rejected == pending.rejected,
             "intent, writ_id or key_hash are not those of the pending")
        if reason == "upgraded":
            obey("rejection.upgraded", self.upgraded is not None and pending.seq < self.upgraded,
                 "no upgrade followed the pending")
            return obey("rejection.upgraded", "counselor" not in p, "closed by an upgrade, with a counselor")
        obey("rejection.reason", reason in ("counselor_rejected", "conflict", "expired"),
             "resolves with the reason " + reason)
        obey("rejection.reason", reason != "conflict" or not pending.freezes_world,
             "a conflict, and the pending freezes the world")
        if reason != "expired":
            obey("rejection.counselor", "counselor" in p, "rejected without a counselor")
            self.check_channel("rejection.counselor", pending, p["counselor"], p["at"])
            return self.check_unexpired("rejection.counselor", pending, p["at"])
        obey("rejection.expired", pending.expires is not None and p["at"] >= pending.expires,
             "the pending has not expired")
        obey("rejection.expired", "counselor" not in p, "expired, with a counselor")

    def check_pending_approval(self, id: str, p: Dict[str, Any]) -> None:
        effect = self.check_effect_pending(p) if is_effect_waiting(p) else None
        if effect is None:
            self.check_frozen("pending.frozen", p)
        obey("pending.frozen", p["proposal"]["action"]["name"] not in STOPS, "a revocation or halt waits")
        obey("pending.digest", p["head"] == p["parent"], "head is not parent")
        obey("pending.digest", p["digest"] == hash_of(p["proposal"]), "digest is not the hash of the proposal")
        obey("pending.digest", p["reason"] != "irreversible" or p["proposal"]["delta"]["effects"] != [],
             "irreversible, without effects")
        contradicts = p["reason"] == "contradiction"
        obey("pending.digest", contradicts == ("questions" in p["proposal"]),
             "a contradiction has questions, and nothing else has")
        obey("pending.digest", not contradicts or p["freezes"] == [], "a contradiction freezes nothing")
        approvals, given = p.get("approvals", 1), p.get("approved_by")
        if "resolves" in p:
            self.check_step(self.resolve("pending.proposal", p), p, given or [], approvals)
        else:
            obey("pending.direct", given is None, "approved, but nothing was pending before")
            if "deputies" in p:
                of, kinds = sorted(d["of"] for d in p["deputies"]), set(p["channel"].split("+"))
                obey("pending.direct", of != [] and of == sorted(kinds & set(of))
                     and all(d["from"] > p["at"] for d in p["deputies"]),
                     "deputies that are not one for a kind of the channel, from later on")
        self.open[id] = pending_of(p, effect)
        if effect is None:
            self.frozen = id if p["freezes"] == "world" else None
            self.use(p["proposal"]["writ_id"])

    def check_step(self, pending: Pending, p: Dict[str, Any], given: List[Dict[str, Any]], approvals: int) -> None:
        """An approval that is not the last."""
        obey("pending.proposal", put_up_members(p) == pending.put_up, "not what was pending")
        obey("pending.approved-by", len(given) == len(pending.given) + 1
             and hash_of(given[:-1]) == hash_of(pending.given),
             "approved_by does not go on by one")
        obey("pending.approved-by", len(given) < approvals, "the last approval is a commit")
        obey("pending.approved-by", given[-1].get("at") == p["at"], "approved at another time than the entry's")
        self.check_channel("pending.counselor", pending, given[-1], p["at"])
        self.check_unexpired("pending.counselor", pending, p["at"])
        self.check_another("pending.counselor", pending, given[-1])
        self.check_override("pending.counselor", pending, given[-1], [])

    def check_delegation(self, id: str, p: Dict[str, Any]) -> None:
        child, concludes = p["child_trajectory_id"], p.get("concludes")
        about = hash_of([child, p["task"], p["writ"]])
        if concludes is None:                                                                   # a start
            self.check_frozen("start.frozen", p)
            for member in ("child_head", "final_answer", "budget_cost"):
                obey("start.members", member not in p, "a start with " + member)
            obey("start.child", child != self.name, "a delegation to itself")
            obey("start.child", self.delegated_from is None or child != self.delegated_from["trajectory_id"],
                 "back to its parent")
            obey("start.child", child not in self.children, "a second delegation to the same child")
            if type(p["writ"]) is dict and is_hash(p["writ"].get("parent")):
                self.named[-1].setdefault(p["writ"]["parent"], self.seq)
                self.started[-1].setdefault(hash_of(p["writ"]), self.seq)
            self.delegated[id] = about
            self.children.add(child)
            return
        obey("delegation.begins", "begins" not in p, "begins, but it is no start")
        if child == self.name:                                                                  # an answer
            obey("answer.origin", self.delegated_from is not None and self.delegated_from["entry_id"] == concludes,
                 "answers what this trajectory was not delegated by")
            obey("answer.open", "child_head" not in p, "an answer with child_head")
            obey("answer.open", not self.delegated, "answered while delegations are open")
            self.open, self.frozen, self.answered = {}, None, True
            return
        obey("conclusion.start", concludes in self.delegated, "concludes no open delegation")   # a conclusion
        obey("conclusion.task", self.delegated[concludes] == about, "child, task or writ are not those of the start")
        obey("conclusion.task", "child_head" in p, "a conclusion without child_head")
        del self.delegated[concludes]


# ------------------------------------------------------------------------------------------- section 10: the export

HEADER = b'{"format":"assize/export/v1"}'
ENTRY_TEXT = len('{"id":"","payload":') + 64             # where the payload's text begins in its line
BLOB_TEXT, BLOB_END = len('{"blob":'), len(',"hash":""}') + 64
entry_like = re.compile(rb'\{"id":"([0-9a-f]{64})","payload":').match


class Finding(NamedTuple):
    line: int
    trajectory_id: Optional[str]
    seq: Optional[int]
    code: str
    detail: str
    rule: Optional[str]                                  # of section 5

    def document(self) -> Dict[str, Any]:
        """The finding for JSON; `rule` only if there is one."""
        return {name: value for name, value in self._asdict().items() if name != "rule" or value is not None}


class Waiting(NamedTuple):
    """A blob since the last entry, or that it was erased: its line, its name, its member `parent`."""
    line: int
    name: str
    above: Any


Names = Tuple[Tuple[str, str, str], Optional[str]]       # space, subject and predicate; the branch


class Source:
    """Where a branch takes over what is believed (section 5.11)."""

    def __init__(self, memory: Optional[str], chain: Chain, index: int, until: str) -> None:
        self.memory, self.chain, self.index, self.until = memory, chain, index, until

    def has(self, change: Change) -> bool:
        """Whether its trajectory had made a change by then."""
        return change.chain is self.chain and change.index <= self.index


class Change:
    """A change of a partition, and where it stands."""

    def __init__(self, chain: Chain, index: int, id: str, said: Dict[str, Any]) -> None:
        self.chain, self.index, self.id, self.said = chain, index, id, said
        self.version, self.system_time = said["version"], said["system_time"]

    def rows(self) -> List[Dict[str, Any]]:
        """What it inserts, as rows of a branch that inherits them."""
        return [{**row, "provenance_id": placed(row["provenance_id"], self.id), "system_time_start": self.system_time,
                 "entry_id": self.id, "seq": self.version, "cardinality": self.said["cardinality"]}
                for row in self.said["insert"] if row["row_kind"] == "current"]


COUNT = "[1-9][0-9]*"
FACTOR = r"[wt]:[!-),-\]_-~]+(?:\^%s)?" % COUNT
TERM = r"(?:%s|(?:%s\*)?%s(?:\*%s)*)" % (COUNT, COUNT, FACTOR, FACTOR)
POLYNOMIAL = re.compile(r"%s(?: \+ %s)*" % (TERM, TERM))
OWN_WRITE = re.compile(r"^w:@(?=(?:0|[1-9][0-9]{0,14})(?:\^|$))")


def placed(text: str, id: str) -> str:
    """A provenance as it stands outside of its entry: `w:@n` is `w:ID#n`, and what is no such text is as it is."""
    if not POLYNOMIAL.fullmatch(text):
        return text
    terms = []
    for term in text.split(" + "):
        coefficient = re.match(r"(?:[0-9]+\*?)?", term)[0]                                # type: ignore[index]
        factors = [OWN_WRITE.sub("w:%s#" % id, factor) for factor in term[len(coefficient):].split("*")]
        terms.append(("*".join(sorted(factors, key=lambda factor: factor.split("^")[0])), coefficient))
    return " + ".join(coefficient + monomial for monomial, coefficient in sorted(terms, key=lambda term: term[0]))


def is_taken_over(inherit: Dict[str, Any], source: Source, changes: List[Change]) -> bool:
    """Rule 4 of section 5.11, of one partition: that its rows were just those that were open there at `until`."""
    until = inherit["until"]
    if until > source.until or any(source.has(change) and change.system_time > until for change in changes):
        return False
    rows = {(row["fact_id"], row["system_time_start"]): row
            for row in changes[0].said.get("inherit", {"rows": []})["rows"]}
    for change in changes:
        if change.system_time > until:
            continue
        for key in change.said["close"]:
            rows.pop((key["fact_id"], key["system_time_start"]), None)
        for row in change.rows():
            rows[(row["fact_id"], row["system_time_start"])] = row
    return len(rows) == len(inherit["rows"]) and all(
        same(row, rows.get((row["fact_id"], row["system_time_start"]))) for row in inherit["rows"])


class Verifier:
    def __init__(self, source: BinaryIO, copy: Optional[BinaryIO], named: Optional[List[str]] = None,
                 limits: Limits = Limits()) -> None:
        self.limits = limits
        self.waiting_bytes = 0                           # of the blobs in `waiting`
        self.named = frozenset(named or ())              # the keys of which one signs first (rule place.named)
        self.source, self.copy = source, copy            # `copy` takes the bytes of a source that can't seek
        self.store = copy or source
        self.findings: List[Finding] = []
        self.chains: Dict[str, Chain] = {}
        self.blobs: Dict[str, Tuple[int, int, bytes, str]] = {}  # name: offset, length, first byte, what is salted in it
        self.erased: Dict[str, str] = {}                 # blobs that were erased: the entry that is said to do so
        self.erasers: Dict[str, List[str]] = {}          # those entries that have not come yet, and what they erase
        self.erasures: Dict[str, Tuple[Chain, int]] = {}          # all commits of assize.erase: where they stand
        self.erased_names: Dict[str, Set[str]] = {}      # what some of them erase
        self.waiting: List[Waiting] = []
        self.partitions: Dict[str, Names] = {}           # what blobs stand for that changes of beliefs name
        self.branches: Dict[str, Names] = {}             # those of them that are of a branch
        self.bad_entries: Dict[str, str] = {}            # ids of entries that fail section 3: code
        self.tree = Tree()
        self.line = 0
        self.recognised = False                          # anything that looks like a line of an export
        self.trailer = False
        self.partial = False                             # entries of the log may follow, as in an archive
        self.cached_blob = functools.lru_cache(maxsize=8)(self.load_blob)
        self.wanted: Dict[Tuple[str, str], int] = {}     # how many branches begin with the state after an entry
        self.shared: Dict[Tuple[str, str], Any] = {}     # those states

    def found(self, fault: Fault, name: Optional[str] = None, seq: Optional[int] = None, line: int = 0) -> None:
        self.findings.append(Finding(line or self.line, name, seq, fault.code, fault.detail, fault.rule))

    # --- the first pass

    def read(self) -> None:
        """Reads all lines, up to one that passes a limit."""
        offset = 0
        try:
            while True:
                self.line += 1
                raw = self.next_line(offset)
                if not raw:
                    break
                self.read_one(raw, offset)
                offset += len(raw)
        except TooMuch as limit:
            return self.found(Fault("bad_export", "%s; the rest is not read" % limit))
        if not self.trailer:
            self.found(Fault("bad_export", "the export ends without a trailer"))

    def next_line(self, offset: int) -> bytes:
        """The next line with its newline. Its length is judged before it is read as a whole."""
        piece = self.next_piece()
        most = self.limits.line if piece.startswith((b'{"blob":', b'{"id":"')) else OTHER_LINE_BYTES
        length, is_blob = len(piece), piece.startswith(b'{"blob":')
        while piece and piece[-1:] != b"\n":
            more = self.next_piece()
            if not more:
                break
            length, piece = length + len(more), more if length + len(more) > PIECE else piece + more
            if length > most + 1:
                raise TooMuch("the line has more than %d bytes" % most)
        if self.limits.total is not None and offset + length > self.limits.total:
            raise TooMuch("the export has more than %d bytes" % self.limits.total)
        if is_blob and self.waiting_bytes + length - BLOB_TEXT - BLOB_END > self.limits.blobs:
            raise TooMuch("the blobs before one entry have more than %d bytes" % self.limits.blobs)
        if length == len(piece):
            return piece
        self.store.seek(offset)
        return self.store.read(length)

    def next_piece(self) -> bytes:
        piece = self.source.readline(PIECE)
        if self.copy:
            self.copy.write(piece)
        return piece

    def read_one(self, raw: bytes, offset: int) -> None:
        try:
            if raw[-1:] != b"\n":
                self.found(Fault("bad_export", "the last line has no newline"))
            self.read_line(raw.rstrip(b"\n"), offset)
        except NotCanonical as error:
            self.found(Fault("bad_export", "the line is not canonical: " + str(error)))
        except Fault as fault:
            self.found(fault)
        if len(self.waiting) > WAITING_BLOBS:
            raise TooMuch("more than %d blobs stand before one entry" % WAITING_BLOBS)

    def read_line(self, raw: bytes, offset: int) -> None:
        if raw == HEADER:
            self.recognised = True
            return must(self.line == 1, "a header that is not the first line", "bad_export")
        if self.line == 1:
            self.found(Fault("bad_export", "the first line is not the header"))
        if self.trailer:
            self.found(Fault("bad_export", "a line after the trailer"))
        try:
            text, value = read_json(raw)
        except NotCanonical as error:
            match = entry_like(raw)
            if match is None:
                raise
            return self.read_bad_entry(match[1].decode(), raw, None, str(error))
        names = set(value) if type(value) is dict else set()
        if names == {"id", "payload"} and is_hash(value["id"]) and entry_like(raw):
            self.read_entry(text, raw, value["id"], value["payload"], offset)
        elif names == {"blob", "hash"} and is_hash(value["hash"]):
            self.read_blob(text, raw[BLOB_TEXT:-BLOB_END], value["blob"], value["hash"], offset + BLOB_TEXT)
        elif names == {"by", "erased"} and is_hash(value["by"]) and is_hash(value["erased"]):
            self.read_erased(text, value)
        elif names == {"entries", "root"} and is_count(value["entries"]) and is_hash(value["root"]):
            self.read_trailer(text, value)
        else:
            raise Fault("bad_export", "none of the five lines of an export")

    def read_trailer(self, text: str, value: Dict[str, Any]) -> None:
        self.recognised = self.trailer = True
        for blob in self.waiting:
            self.found(Fault("bad_export", "the blob %s before the trailer" % blob.name), line=blob.line)
        for id in () if self.partial else self.erasers:
            self.found(Fault("bad_export", "the entry %s, which is said to have erased blobs, has not come" % id))
        must_be_same(canonical(value), text)
        must(value["entries"] == self.tree.size, "there are %d entries, not %d" % (self.tree.size, value["entries"]),
             "bad_export")
        must(value["root"] == self.tree.root(), "the entries have the root " + self.tree.root(), "bad_export")

    def read_blob(self, text: str, raw: bytes, value: Any, name: str, offset: int) -> None:
        self.recognised = True
        must_be_same('{"blob":' + canonical(value) + ',"hash":"' + name + '"}', text)
        check_limits(raw, value, BLOB_BYTES, BLOB_VALUES)
        must(name not in self.blobs and name not in self.erased, "the blob %s stood before" % name, "bad_export")
        must(hashlib.sha256(raw).hexdigest() == name, "the blob does not hash to " + name, "bad_export")
        self.waiting.append(Waiting(self.line, name, value.get("parent") if type(value) is dict else None))
        self.waiting_bytes += len(raw)
        self.blobs[name] = (offset, len(raw), raw[:1], what_is_salted(value))

    def read_erased(self, text: str, value: Dict[str, Any]) -> None:
        self.recognised = True
        must_be_same(canonical(value), text)
        name, by = value["erased"], value["by"]
        must(name not in self.blobs and name not in self.erased, "the blob %s stood before" % name, "bad_export")
        self.waiting.append(Waiting(self.line, name, None))
        self.erased[name] = by
        self.erasers.setdefault(by, []).append(name)

    def read_bad_entry(self, id: str, raw: bytes, payload: Any, why: str) -> None:
        """A line with the beginning of an entry whose payload is not canonical."""
        self.recognised, self.waiting, self.waiting_bytes = True, [], 0
        data = raw[ENTRY_TEXT:-1]
        self.tree.add(data)
        code = "not_canonical" if hashlib.sha256(data).hexdigest() == id else "tampered"
        self.reject(id, payload, Fault(code, "the payload is not canonical: " + why))

    def reject(self, id: str, payload: Any, fault: Fault) -> None:
        """An entry that fails section 3: its chain, if it can be told, ends here."""
        self.bad_entries[id] = fault.code
        name, seq = (payload.get("trajectory_id"), payload.get("seq")) if type(payload) is dict else (None, None)
        name = name if type(name) is str else None
        if name is not None:
            self.chains.setdefault(name, Chain(name)).stopped = True
        self.found(fault, name, seq if is_count(seq) else None)

    def read_entry(self, text: str, raw: bytes, id: str, payload: Any, offset: int) -> None:
        data = raw[ENTRY_TEXT:-1]
        try:
            must_be_same('{"id":"' + id + '","payload":' + canonical(payload) + "}", text)
            check_limits(data, payload, PAYLOAD_BYTES, PAYLOAD_VALUES)
        except NotCanonical as error:
            return self.read_bad_entry(id, raw, payload, str(error))
        self.recognised = True
        self.tree.add(data)
        waiting, self.waiting, self.waiting_bytes = self.waiting, [], 0
        if hashlib.sha256(data).hexdigest() != id:
            return self.reject(id, payload, Fault("tampered", "the payload does not hash to the id " + id))
        kind = payload.get("kind") if type(payload) is dict else None
        wrong = KINDS[kind](payload) or wrong_beliefs(payload) if type(kind) is str and kind in KINDS \
            else "is of no known kind"
        if wrong:
            return self.reject(id, payload, Fault("malformed", "the payload: " + wrong))
        if "signature" in payload and not has_good_signature(payload):
            return self.reject(id, payload, Fault("bad_signature", "the signature does not hold"))
        chain = self.chains.get(payload["trajectory_id"])
        if chain is None:
            chain = self.chains[payload["trajectory_id"]] = Chain(payload["trajectory_id"])
        self.place(chain, id, payload, offset)
        self.check_eraser(id, payload)
        accepted = chain.seq
        try:
            if not chain.stopped:
                chain.accept(id, payload)
            self.check_blobs(payload, waiting)
        except Fault as fault:
            if not chain.stopped:
                chain.stopped, chain.seq = True, accepted
                self.found(fault, chain.name, payload["seq"])

    def place(self, chain: Chain, id: str, payload: Dict[str, Any], offset: int) -> None:
        """Keeps where an entry stands, and what other chains may ask of it."""
        kind = payload["kind"]
        if payload["seq"] == 0 and chain.first is None:
            chain.first = len(chain.marks)
            if kind == "root" and "delegated_from" in payload:
                chain.root_from = payload["delegated_from"]["trajectory_id"]
            elif kind == "branch":
                chain.source = (payload["source_trajectory_id"], payload["source_commit_id"])
        if kind == "key_change" and "signature" in payload:
            chain.changes.append((payload["seq"], payload["signature"]["key"], payload["to"]))
        chain.ids += bytes.fromhex(id)
        chain.offsets.append(offset)
        chain.lines.append(self.line)
        idle = kind in ("rejection", "pending_approval") or kind == "commit" and payload["delta"]["state"] == []
        if is_erasing(payload):
            self.erasures.setdefault(id, (chain, len(chain.marks)))
        idle = idle and not is_erasing(payload) and not is_revoking(payload) and not is_halting(payload)
        if kind == "commit" and payload["delta"]["beliefs"]:
            chain.believes.append(len(chain.marks))
            idle = False
        idle = idle and not (self.erased and any(name in self.erased for name in salted(payload)))
        chain.marks.append(0 if idle else 1)

    def check_blobs(self, payload: Dict[str, Any], waiting: List[Waiting]) -> None:
        """An entry's references; and that the blobs before it are just those that section 10 lists."""
        needed: Dict[str, None] = {}                     # those among them, in the order of the lists
        above = {blob.name: blob.above for blob in waiting}
        for position, named in references(payload):
            name = named["$blob"]
            if name in self.erased:
                must("salted" in named, "%s refers to %s, which was erased and is not salted" % (position, name),
                     "blob_missing")
            else:
                self.check_blob(payload, position, named)
            if name in above:
                needed[name] = None
        for writ in named_writs(payload):
            while type(writ) is str and writ in above and writ not in needed:
                needed[writ] = None
                writ = above[writ]
        may_be_erased = set(salted(payload))
        for blob, due in itertools.zip_longest(waiting, needed):
            if blob is not None and (blob.name != due or blob.name in self.erased and blob.name not in may_be_erased):
                self.found(Fault("bad_export", "the blob %s has no place here" % blob.name), line=blob.line)

    def check_blob(self, payload: Dict[str, Any], position: str, named: Dict[str, Any]) -> None:
        """That a blob is there, and is what its position asks for."""
        name = named["$blob"]
        if name not in self.blobs:
            raise Fault("blob_missing", "%s refers to %s, which has not stood before" % (position, name))
        _, length, begin, holds = self.blobs[name]
        must(named["bytes"] == length, "%s: the blob has %d bytes" % (position, length), "blob_tampered")
        must(holds != "" or "salted" not in named, position + ": the blob is no salt and value", "malformed")
        if position.startswith("delta.beliefs"):
            if position.endswith(".partition"):
                must(holds.startswith("partition"), position + " is no partition", "malformed")
                change = payload["delta"]["beliefs"][int(position[len("delta.beliefs["):-len("].partition")])]
                obey("beliefs.inherit", "branch" in holds or "inherit" not in change, position + " is of no branch",
                     "malformed")
            else:
                must(holds == "text", position + " is no text", "malformed")
        must(begin == b"{" or position != "initial_state", "initial_state refers to no object", "malformed")
        must(begin == b"[" or position not in ("delta.state", "approval"), position + " names no list",
             "bad_patch" if payload["kind"] == "commit" else "malformed")

    def check_eraser(self, id: str, payload: Dict[str, Any]) -> None:
        """That an entry erases what lines before it say so; arguments in a blob are for the second pass."""
        said = self.erasers.pop(id, [])
        args = payload["action"]["args"] if is_erasing(payload) else None
        if is_reference_like(args):
            return
        names = {value["hash"] for value in erased_values(args) or ()}
        for name in said:
            if name not in names:
                self.found(Fault("bad_export", "the blob %s was said to be erased by it, and it does not" % name))

    # --- the second pass

    def load(self, chain: Chain, index: int) -> Dict[str, Any]:
        """Reads an entry again; its line was checked by the first pass."""
        self.store.seek(chain.offsets[index])
        return json.loads(self.store.readline())["payload"]

    def load_blob(self, name: str) -> Any:
        offset, length, _, _ = self.blobs[name]
        self.store.seek(offset)
        return json.loads(self.store.read(length))

    def value_of(self, value: Any) -> Any:
        """A stored value. The last blobs are kept (`cached_blob`): many roots may begin with the same one."""
        if not is_reference_like(value):
            return value
        name = value["$blob"]
        if name in self.erased:
            return {"$erased": name}
        return self.cached_blob(name)["value"] if "salted" in value else self.cached_blob(name)

    def operations(self, stored: Any) -> List[Any]:
        """Operations with their values; in a list that is a blob these are what they are."""
        if type(stored) is not list:
            return self.value_of(stored)
        return [{**o, "value": self.value_of(o["value"])} if type(o) is dict and refers(o.get("value")) else o
                for o in stored]

    def verify_chains(self) -> None:
        """Folds and rules 5.5 and 5.6 of all trajectories, sources before their branches."""
        for chain in self.chains.values():
            if chain.source:
                self.wanted[chain.source] = self.wanted.get(chain.source, 0) + 1
        points: Dict[str, Dict[int, str]] = {}           # by trajectory: the entries that branches begin at
        for name, id in self.wanted:
            if name in self.chains:
                points.setdefault(name, {})[self.chains[name].find(id)] = id
        for chain in self.chains.values():
            path: Dict[str, Chain] = {}
            top: Optional[Chain] = chain
            while top and not top.done and top.name not in path:
                path[top.name] = top
                top = self.chains.get(top.source[0]) if top.source else None
            for top in reversed(list(path.values())):
                self.verify_chain(top, points.get(top.name, {}))
                top.done = True

    def verify_chain(self, chain: Chain, points: Dict[int, str]) -> None:
        """The accepted entries of one trajectory, in order; the first fault ends it."""
        state, own, index, first = State(None), {}, 0, None
        try:
            for index in range(chain.seq):
                if chain.marks[index]:
                    p = self.load(chain, index)
                    self.check_erased(chain, p)
                    if p["kind"] == "commit":
                        state.apply(self.operations(p["delta"]["state"]))
                        if is_erasing(p):
                            self.check_erasure(chain, p)
                        elif is_revoking(p):
                            self.check_taken_over(p)
                        elif is_halting(p):
                            self.check_halted_above(p)
                        self.check_memories(chain, p)
                    elif p["kind"] == "delegation":
                        self.check_delegation(chain, p, index)
                    elif p["kind"] in ("root", "branch"):
                        state = State(self.check_root(chain, p) if p["kind"] == "root" else self.check_branch(chain, p))
                        state.apply(self.operations(p.get("sensitive", [])))
                        own = {hash_of(writ): writ for writ in p["writs"]}
                        first = hash_of(p["writs"][0]) if p["writs"] and "delegated_from" in p else None
                        self.check_first_key(chain, p)
                if chain.signing and chain.signing[0] == index:
                    self.check_named(chain, *chain.signing)
                if index in points:
                    self.shared[(chain.name, points[index])] = state.share()
                chain.verified = index + 1
            if self.named and chain.key is None and not chain.stopped:
                index = 0
                raise Fault("bad_signature", "the entry is not signed, and keys are named", "place.named")
            # ASSUMED: all of `writs` is looked at, as if the entry at seq 0 named it (section 8 does not say so).
            for id, index in [(id, 0) for id in own] + list(chain.writs.items()):
                self.check_writ(chain, id, own, index)
            for index, by, taken_over, _ in chain.halting:
                self.check_writ(chain, by, own, index)
                self.check_halting(by, own, first if taken_over else None)
            gone = set(chain.inherited)
            for stage, (named, started) in enumerate(zip(chain.named, chain.started)):
                if stage > 0:
                    index, by, revoked, taken_over = chain.revoked[stage - 1]
                    self.check_writ(chain, revoked, own, 0)
                    self.check_revoked(by, revoked, own, first if taken_over else None)
                    gone.add(revoked)
                if not gone:
                    continue
                for id, index in named.items():
                    must(gone.isdisjoint(self.lineage(id, own)), "done under the writ %s, which was revoked" % id)
                for id, index in started.items():
                    must(id not in gone, "the writ %s was revoked before it was delegated" % id, "writ_tampered")
        except Fault as fault:
            self.found(fault, chain.name, index, chain.lines[index])

    def check_erased(self, chain: Chain, p: Dict[str, Any]) -> None:
        """That what was erased, of an entry, was so by the commit that is said to have done it (section 4)."""
        for name in salted(p):
            if name in self.erased:
                # The eraser can be among the entries that follow.
                must(self.partial and self.erased[name] in self.erasers or name in self.erased_by(self.erased[name]),
                     "the blob %s was not erased" % name, "blob_missing")
                chain.erased.add(name)

    def erased_by(self, id: str) -> Set[str]:
        """What an entry erases; nothing if it is none, or is no erasure."""
        if id not in self.erased_names:
            p = self.load(*self.erasures[id]) if id in self.erasures else None
            self.erased_names[id] = {value["hash"] for value in (self.erasing(p) if p else None) or ()}
        return self.erased_names[id]

    def erasing(self, p: Dict[str, Any]) -> Optional[List[Dict[str, Any]]]:
        """What a commit of assize.erase erases, or None where its arguments are not of the form, or salted."""
        args = p["action"]["args"]
        if not is_reference_like(args):
            return erased_values(args)
        return erased_values(self.cached_blob(args["$blob"])) if self.is_there(args) else None

    def is_there(self, reference: Dict[str, Any]) -> bool:
        return "salted" not in reference and reference["$blob"] in self.blobs

    def check_erasure(self, chain: Chain, p: Dict[str, Any]) -> None:
        """Rules 5.7."""
        values = self.erasing(p)
        if values is None:
            raise Fault("malformed", "the arguments are none of an erasure", "erasure.form")
        found: Dict[int, Set[str]] = {}              # one entry may have thousands of them
        for value in values:
            seq = value["seq"]
            if seq not in found:
                found[seq] = set(salted(self.load(chain, seq))) if seq < p["seq"] else set()
            obey("erasure.values", value["hash"] in found[seq],
                 "erases %s, which is no salted value of seq %d" % (value["hash"], seq))

    def check_taken_over(self, p: Dict[str, Any]) -> None:
        """Rules 5.8 for what was revoked in another trajectory."""
        args = p["action"]["args"]
        if "from" in args:
            there = self.entry_of("revocation.source", args["from"]["trajectory_id"], args["from"]["entry_id"])
            obey("revocation.source", is_revoking(there) and says_revocation(there["action"]["args"])
                 and all(there["action"]["args"][m] == args[m] for m in ("writ", "reason")), "not what was revoked")
            obey("revocation.source", there["at"] <= p["at"], "taken over before it was revoked")

    def check_halted_above(self, p: Dict[str, Any]) -> None:
        """Rules 5.12 for what was halted or resumed in another trajectory."""
        args = p["action"]["args"]
        if "from" in args:
            there = self.entry_of("halt.source", args["from"]["trajectory_id"], args["from"]["entry_id"])
            obey("halt.source", is_halting(there) and says_halt(there["action"]["args"])
                 and "remains" not in there["action"]["args"]
                 and all(there["action"]["args"][m] == args[m] for m in ("does", "reason", "principal")),
                 "not what was halted or resumed")
            obey("halt.source", there["at"] <= p["at"], "taken over before its source")

    def names_of(self, change: Dict[str, Any]) -> Optional[Names]:
        """What the partition of a change stands for; None where that was erased."""
        name = change["partition"]["$blob"]
        if name in self.erased:
            return None
        if name not in self.partitions:
            value = self.load_blob(name)["value"]
            self.partitions[name] = ((value["space"], value["subject"], value["predicate"]), value.get("branch"))
        return self.partitions[name]

    def memory_of(self, chain: Chain) -> Optional[str]:
        """The branch in whose memory a trajectory says things, or None for what is shared (section 5.11)."""
        passed: Set[str] = set()
        top: Optional[Chain] = chain
        while top is not None and top.first is not None and top.name not in passed:
            if top.source:
                return top.name
            if top.root_from is None:
                return None
            passed.add(top.name)
            top = self.chains.get(top.root_from)
        raise Fault("source_missing", "its delegations lead to no memory", "memory.own")

    def check_memories(self, chain: Chain, p: Dict[str, Any]) -> None:
        """Rule 1 of section 5.11."""
        for change in p["delta"]["beliefs"]:
            names = self.names_of(change)
            if names is None:
                continue
            memory, (key, branch) = self.memory_of(chain), names
            obey("memory.own", branch == memory or branch == chain.name and chain.root_from is None,
                 "it changes the memory of %s, and not its own" % (branch or "all"))
            if memory is not None:
                self.branches.setdefault(change["partition"]["$blob"], names)

    def check_inherited(self) -> None:
        """Rules 2 to 5 of section 5.11, where all trajectories are valid by themselves."""
        if not self.branches or self.findings:
            return
        sources: Dict[str, List[Source]] = {}
        for _, branch in self.branches.values():
            if branch is not None and branch not in sources:
                sources[branch] = self.sources_of(branch)
        changes = self.changes_of({key for key, _ in self.branches.values()},
                                  [source for line in sources.values() for source in line])
        for line in sources.values():
            for nearer, further in reversed(list(zip(line, line[1:]))):
                nearer.until = max(nearer.until, further.until)
        named: Dict[Tuple[Any, Optional[str]], List[str]] = {}
        for name in changes:
            if name not in self.erased:
                named.setdefault(self.partitions[name], []).append(name)
        faults: Dict[str, Tuple[int, Chain, Fault]] = {}         # one a trajectory
        for name, (key, branch) in self.branches.items():
            first, rest = changes[name][0], changes[name][1:]
            again = [change for change in rest if "inherit" in change.said or change.version == first.version]
            at = again[0] if again else first
            try:
                obey("memory.first", not again, "a partition of a branch begins twice")
                self.check_begun(first, sources[branch or ""],
                                 lambda memory: [changes[n] for n in named.get((key, memory), [])],
                                 [changes[n] for n in changes if n in self.erased])
            except Fault as fault:
                if at.chain.name not in faults or at.index < faults[at.chain.name][0]:
                    faults[at.chain.name] = at.index, at.chain, fault
        for index, chain, fault in faults.values():
            self.found(fault, chain.name, index, chain.lines[index])

    def sources_of(self, branch: str) -> List[Source]:
        """Where a branch begins, and where the ones begin that it comes from; the nearest first."""
        line: List[Source] = []
        memory: Optional[str] = branch
        while memory is not None:
            name, id = self.chains[memory].source or ("", "")
            chain = self.chains[name]
            index = chain.find(id)
            memory = self.memory_of(chain)
            line.append(Source(memory, chain, index, self.load(chain, index)["at"]))
        return line

    def changes_of(self, keys: Set[Any], sources: List[Source]) -> Dict[str, List[Change]]:
        """All changes of these names, and of erased ones, by partition in the order of their versions. Moves `until` of sources on."""
        found: Dict[str, List[Change]] = {}
        for chain in self.chains.values():
            mine = [source for source in sources if source.chain is chain]
            for index in chain.believes:
                p = self.load(chain, index)
                for said in p["delta"]["beliefs"]:
                    for source in mine:
                        if index <= source.index:
                            source.until = max(source.until, said["system_time"])
                    names = self.names_of(said)
                    if names is None or names[0] in keys:
                        id = bytes(chain.ids[index * 32:index * 32 + 32]).hex()
                        found.setdefault(said["partition"]["$blob"], []).append(Change(chain, index, id, said))
        for changes in found.values():
            changes.sort(key=lambda change: (change.version, "inherit" not in change.said))
        return found

    def check_begun(self, first: Change, line: List[Source], partitions: Callable[[Optional[str]], List[List[Change]]],
                    unnamed: List[List[Change]]) -> None:
        inherit = first.said.get("inherit")
        obey("memory.first", inherit is not None or first.version == 1,
             "a partition of a branch begins with version %d" % first.version)
        for source in line:
            there = partitions(source.memory)
            if inherit is not None and any(is_taken_over(inherit, source, changes) for changes in there):
                return
            if any(source.has(change) for changes in there for change in changes):
                obey("memory.unchanged", inherit is not None, "it does not begin with what its source had changed")
                break
        obey("memory.inherited", inherit is None or any(is_taken_over(inherit, line[0], changes)
                                                            for changes in unnamed),
             "what it inherits is not what its source had")

    def lineage(self, id: Optional[str], own: Dict[str, Any]) -> List[str]:
        """A writ that was looked at, and those above it."""
        found: List[str] = []
        while id is not None:
            found.append(id)
            id = (own[id] if id in own else self.cached_blob(id))["parent"]
        return found

    def check_revoked(self, by: str, revoked: str, own: Dict[str, Any], first: Optional[str]) -> None:
        """Who revokes stands above (section 8); `first`: the delegated writ, where it was taken over."""
        if first is not None:
            return must(by == first and revoked in self.lineage(first, own), "not above what was delegated")
        above, mine = self.lineage(revoked, own), self.lineage(by, own)
        root, my_root = [own[id] if id in own else self.cached_blob(id) for id in (above[-1], mine[-1])]
        must(by in above[1:] or by != revoked and len(mine) == 1 and root["issuer"] == my_root["issuer"]
             and is_office(my_root, revoked), "the writ %s does not stand above %s" % (by, revoked))

    def check_halting(self, by: str, own: Dict[str, Any], first: Optional[str]) -> None:
        """Who halts has the right to (section 8); `first`: the delegated writ, where it was taken over."""
        if first is not None:
            return must(by == first, "not under the delegated writ")
        line = [own[id] if id in own else self.cached_blob(id) for id in self.lineage(by, own)]
        must(all(names_halt(writ) for writ in line), "the writ %s does not give the right to halt" % by)

    def entry_of(self, rule: str, name: str, id: str) -> Dict[str, Any]:
        """An entry of another trajectory that is named, by a rule."""
        chain = self.chains.get(name)
        index = chain.find(id) if chain else -1
        if chain is None or index < 0:
            raise Fault("source_missing", "no entry %s in the trajectory %s" % (id, name), rule)
        return self.load(chain, index)

    def check_branch(self, chain: Chain, p: Dict[str, Any]) -> Any:
        """Rules 5.5; the state that the branch begins with."""
        name, id = key = p["source_trajectory_id"], p["source_commit_id"]
        obey("branch.cycle", name != chain.name, "a branch of itself", "source_missing")
        obey("branch.source", id not in self.bad_entries, "the source does not pass by itself",
             self.bad_entries.get(id, ""))
        entry = self.entry_of("branch.source", name, id)
        obey("branch.time", entry["at"] <= p["at"], "the source is later than the branch")
        obey("branch.kind", entry["kind"] in ("root", "branch", "commit"), "a branch of a " + entry["kind"])
        source = self.chains[name]                       # not done: sources that go round in a circle
        obey("branch.valid", source.done and source.find(id) < source.verified, "the source is not valid up to " + id,
             "source_missing")
        stood = [halted for index, _, _, halted in source.halting if index <= source.find(id)]
        obey("branch.halted", not stood or not stood[-1], "the source is halted at %s" % id)
        chain.inherited = source.inherited | {gone for index, _, gone, _ in source.revoked if index <= source.find(id)}
        self.wanted[key] -= 1
        return self.shared[key] if self.wanted[key] else self.shared.pop(key)

    def origin_of(self, chain: Chain) -> Optional[str]:
        """The trajectory that a branch, or the root of a delegation, continues from."""
        return chain.source[0] if chain.source else chain.root_from

    def follow_keys(self, name: str, after: int, keys: Set[str]) -> None:
        """Adds the keys to which changes of the key in a trajectory lead."""
        for seq, key, to in self.chains[name].changes if name in self.chains else ():
            if seq > after and key in keys:
                keys.add(to)

    def check_first_key(self, chain: Chain, p: Dict[str, Any]) -> None:
        """Rules branch.key and root.key."""
        if p["kind"] == "branch":
            rule, name, id = "branch.key", p["source_trajectory_id"], p["source_commit_id"]
        elif "delegated_from" in p:
            rule, name, id = "root.key", p["delegated_from"]["trajectory_id"], p["delegated_from"]["entry_id"]
        else:
            return
        there = self.entry_of(rule, name, id)
        before, key = key_after(there), key_of(p)
        if before is None or key == before:
            return
        keys = {before}
        self.follow_keys(name, there["seq"], keys)
        obey(rule, key in keys, "the entry is signed with %s, and %s with %s" % (key or "no key", id, before),
             "bad_signature")

    def check_named(self, chain: Chain, index: int, key: str, is_change: bool) -> None:
        """Rule place.named for the first signed entry of a chain."""
        if not self.named:
            return
        if key not in self.named:
            path: List[str] = []
            above = self.origin_of(chain) if index == 0 else None
            while above is not None and above not in path:
                path.append(above)
                above = self.origin_of(self.chains[above]) if above in self.chains else None
            keys = set(self.named)
            for name in reversed(path):
                self.follow_keys(name, -1, keys)
            obey("place.named", index == 0 and key in keys, "%s is none of the named keys" % key, "bad_signature")
        obey("place.named", index == 0 or is_change,
             "the entries before are not signed, and no change of the key accepts them", "bad_signature")

    def delegating_start(self, rule: str, chain_name: str, origin: Dict[str, str]) -> Dict[str, Any]:
        """Rule 1 of roots with delegated_from: the start in the other trajectory."""
        start = self.entry_of(rule, origin["trajectory_id"], origin["entry_id"])
        obey(rule, start["kind"] == "delegation" and "concludes" not in start, "delegated_from names no start")
        obey(rule, start["child_trajectory_id"] == chain_name, "delegated_from names the start of another trajectory")
        return start

    def check_root(self, chain: Chain, p: Dict[str, Any]) -> Any:
        """Rules 5.6 for roots; the state that the trajectory begins with."""
        if "delegated_from" in p:
            start = self.delegating_start("root.start", chain.name, p["delegated_from"])
            obey("root.writ", start["at"] <= p["at"], "delegated later than the root")
            obey("root.writ", same(p["writs"][0] if p["writs"] else None, start["writ"]),
                 "the first writ is not the delegated one")
            begins = start.get("begins", p)
            for m in ("domain", "initial_state", "sensitive"):
                obey("root.begins", (m in p) == (m in begins) and same(p.get(m), begins.get(m)),
                     m + " is not what was delegated")
        return self.value_of(p["initial_state"])

    def check_delegation(self, chain: Chain, p: Dict[str, Any], index: int) -> None:
        """Rules 5.6 for the three kinds of delegations, and the form of a start's writ (section 8)."""
        child, concludes, about = p["child_trajectory_id"], p.get("concludes"), ("child_trajectory_id", "task", "writ")
        if concludes is None:                                                                   # a start
            seen: Set[str] = set()
            above = chain.root_from
            while above is not None and above not in seen:
                obey("start.ancestor", above != child, "a delegation to an ancestor")
                seen.add(above)
                above = self.chains[above].root_from if above in self.chains else None
            writ = p["writ"]
            wrong = wrong_writ(writ) or ("" if writ["parent"] else "has no parent")
            must(not wrong, "the delegated writ " + wrong, "writ_tampered")
            must(writ.get("trajectory", child) == child, "the delegated writ names another trajectory", "writ_tampered")
            must(writ["expires"] > p["at"], "the delegated writ has expired", "writ_tampered")
            chain.writs.setdefault(writ["parent"], index)
        elif child == chain.name:                                                               # an answer
            start = self.delegating_start("answer.task", chain.name, chain.delegated_from or {})
            obey("answer.task", all(same(p[m], start[m]) for m in about), "not what was delegated")
        else:                                                                                   # a conclusion
            other = self.chains.get(child)
            if other is None or other.first is None:
                raise Fault("source_missing", "the trajectory %s has no entry at seq 0" % child, "conclusion.root")
            root, origin = self.load(other, other.first), {"trajectory_id": chain.name, "entry_id": concludes}
            obey("conclusion.root", root["kind"] == "root" and root.get("delegated_from") == origin,
                 "the child's root has another start")
            answer = self.entry_of("conclusion.child-head", child, p["child_head"])
            obey("conclusion.child-head", answer["kind"] == "delegation" and answer.get("concludes") == concludes
                 and answer["child_trajectory_id"] == child, "child_head is no answer")
            for m in about + ("final_answer",):
                obey("conclusion.answer", (m in p) == (m in answer) and same(p.get(m), answer.get(m)),
                     m + " is not that of the answer")
            obey("conclusion.answer", same(p.get("budget_cost", {}), answer.get("budget_cost", {})),
                 "budget_cost is not the answer's")
            obey("conclusion.time", answer["at"] <= p["at"], "the answer is later than the conclusion")

    def check_writ(self, chain: Chain, id: str, own: Dict[str, Any], index: int) -> None:
        """A writ that is named, and all above it, are there and have the form of writs (section 8)."""
        wanted, links = id, 0
        while wanted is not None:
            must(links <= 8, "more than eight writs above " + id, "writ_tampered")
            must(wanted in own or wanted in self.blobs, "the writ %s is not there" % wanted, "writ_missing")
            writ = own[wanted] if wanted in own else self.cached_blob(wanted)
            wrong = wrong_writ(writ)
            must(not wrong, "the writ %s %s" % (wanted, wrong), "writ_tampered")
            must(links > 0 or index == 0 or writ.get("trajectory", chain.name) == chain.name,
                 "the writ %s is for another trajectory" % id, "writ_tampered")
            wanted, links = writ["parent"], links + 1


# ------------------------------------------------------------------------------------------ section 9: notes, proofs

DASH = "\u2014 "
NOTE_BYTES = 1_000_000
has_control = re.compile(r"[\x00-\x09\x0b-\x1f]").search
is_decimal = re.compile(r"0|[1-9][0-9]{0,19}").fullmatch
is_key_id = re.compile(r"[0-9a-f]{8}").fullmatch
SPACES = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000+]").search


class Refusal(Exception):
    """What a proof bundle breaks: a code of its page, and what it is in words."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code, self.detail = code, detail


def need(holds: Any, code: str, detail: str) -> None:
    """A statement of the page on proof bundles."""
    if not holds:
        raise Refusal(code, detail)


class PublicKey(NamedTuple):
    name: str
    id: str
    use: int                                             # 1 of a log, 4 of a witness
    key: bytes


class Note(NamedTuple):
    text: str
    signatures: List[Tuple[str, str, bytes]]             # name, id, value


def read_base64(text: str) -> Optional[bytes]:
    """Standard Base64 in its one spelling, or None."""
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (ValueError, UnicodeEncodeError):
        return None
    return data if base64.b64encode(data).decode() == text else None


def is_key_name(name: str) -> bool:
    return name != "" and not SPACES(name) and not has_control(name)


def read_public_key(text: Any) -> Optional[PublicKey]:
    parts = text.split("+", 2) if type(text) is str else []
    data = read_base64(parts[2]) if len(parts) == 3 else None
    if data is None or len(data) != 33 or data[0] not in (1, 4) or not is_key_name(parts[0]):
        return None
    id = hashlib.sha256(parts[0].encode("utf-8") + b"\n" + data).hexdigest()[:8]
    return PublicKey(parts[0], id, data[0], data[1:]) if id == parts[1] else None


def read_note(text: str) -> Optional[Note]:
    if has_control(text) or len(text.encode("utf-8")) > NOTE_BYTES or not text.endswith("\n"):
        return None
    body, blank, tail = text.rpartition("\n\n")
    lines = tail[:-1].split("\n")
    if not blank or not tail or len(lines) > 100:
        return None
    signatures = []
    for line in lines:
        parts = line[len(DASH):].split(" ")
        value = read_base64(parts[1]) if line.startswith(DASH) and len(parts) == 2 and is_key_name(parts[0]) else None
        if value is None or len(value) <= 4:
            return None
        signatures.append((parts[0], value[:4].hex(), value[4:]))
    return Note(body + "\n", signatures)


class SignedTree(NamedTuple):
    origin: str
    size: int
    root: bytes


def read_tree(text: str) -> Optional[SignedTree]:
    """The text of a checkpoint."""
    lines = text[:-1].split("\n")
    root = read_base64(lines[2]) if len(lines) >= 3 else None
    if root is None or len(root) != 32 or "" in lines or not is_decimal(lines[1]) or int(lines[1]) >= 2 ** 64:
        return None
    if int(lines[1]) == 0 and root != hashlib.sha256(b"").digest():
        return None
    return SignedTree(lines[0], int(lines[1]), root)


def cosigned_at(text: str, value: bytes, key: bytes) -> Optional[int]:
    """The time of a cosignature that holds."""
    time = int.from_bytes(value[:8], "big")
    message = ("cosignature/v1\ntime %d\n%s" % (time, text)).encode("utf-8")
    holds = len(value) == 72 and time < 2 ** 63 and is_signed(key, value[8:], message)
    return time if holds else None


def node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def is_included(data: bytes, index: int, size: int, root: bytes, path: List[bytes]) -> bool:
    """RFC 9162, section 2.1.3.2."""
    if index >= size:
        return False
    fn, sn, r = index, size - 1, hashlib.sha256(b"\0" + data).digest()
    for p in path:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            r = node(p, r)
            while not fn & 1 and fn != 0:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = node(r, p)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and r == root


# ------------------------------------------------------------- docs/reference/proof-bundle.md: proof bundles

BUNDLE_BYTES, BUNDLE_ENTRIES = 268_435_456, 10_000
END_RECORD = struct.Struct("<4s4H2LH")
DIRECTORY = struct.Struct("<8x2H8x2L3H8xL")              # flags, method, packed, size, three lengths, place
LOCAL = struct.Struct("<26x2H")                          # two lengths
bundle_name = re.compile(r"(?:manifest\.json|entries\.jsonl|checkpoint|keys\.json|records\.json|README\.txt|"
                         r"verify\.(?:py|html)|proofs/[0-9a-f]{64}\.tlog-proof)").fullmatch
SEARCHED = {"period": ({"kind", "from", "to"}, {"trajectory"}),
            "person": ({"kind", "person"}, {"from", "to", "trajectory"})}


def is_just(v: Any, members: str) -> bool:
    """Whether a value is an object with just these members."""
    return type(v) is dict and v.keys() == set(members.split())


def is_list(v: Any, check: Callable[[Any], bool]) -> bool:
    return type(v) is list and all(map(check, v))


def is_scope(v: Any) -> bool:
    if type(v) is not dict or type(v.get("kind")) is not str:
        return False
    kind = v["kind"]
    if kind in ("entry", "approval"):
        return v.keys() == {"kind", kind} and is_hash(v[kind])
    if kind not in SEARCHED:
        return False
    needed, more = SEARCHED[kind]
    if not needed <= v.keys() <= needed | more or ("from" in v) != ("to" in v):
        return False
    if not all(type(v[m]) is str for m in v) or v.get("person") == "":
        return False
    return "from" not in v or is_instant(v["from"]) and is_instant(v["to"]) and v["from"] < v["to"]


def is_same_name(one: Any, other: str) -> bool:
    if type(one) is not str:
        return False
    if one == other:
        return True
    return (units(one) <= 512 and units(other) <= 512
            and unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other))


class Bundled(NamedTuple):
    """An entry of a bundle."""
    id: str
    index: int
    data: bytes                                          # the payload's text
    p: Dict[str, Any]


def settlement_args(p: Dict[str, Any]) -> Dict[str, Any]:
    """The arguments of a settlement, or none of any other entry."""
    return p["action"]["args"] if is_settling(p) and is_settlement_args(p["action"]["args"]) else {}


def about_commits(p: Dict[str, Any]) -> List[str]:
    """The commits that an entry names for their effects."""
    if is_settling(p):
        return [of["commit"] for of in settlement_args(p).get("settled", [])]
    if not is_effect_waiting(p):
        return []
    try:
        check_effect_pending_form(p)
    except Fault:
        return []
    commit = p["proposal"]["action"]["args"].get("commit")
    return [] if commit is None else [commit]


def concluded_start(p: Dict[str, Any]) -> Optional[str]:
    is_conclusion = p["kind"] == "delegation" and p["child_trajectory_id"] != p["trajectory_id"]
    return p.get("concludes") if is_conclusion else None


def writ_of(p: Dict[str, Any]) -> Optional[str]:
    """The writ that an entry was made under. A start uses the one above its own."""
    if p["kind"] == "delegation" and "concludes" in p:
        return None
    writ = first_writ(p)
    return writ if type(writ) is str else None


def deciders(p: Dict[str, Any]) -> List[Any]:
    """The names of those that an entry says have decided."""
    args = settlement_args(p)
    names = [c["principal"] for c in ([p["counselor"]] if "counselor" in p else []) + p.get("approved_by", [])]
    names += [effect.get("by") for of in args.get("settled", []) for effect in of["effects"]]
    if "decided" in args:
        names.append(args["decided"]["by"])
    if is_halting(p) and says_halt(p["action"]["args"]):
        names.append(p["action"]["args"]["principal"])
    return names


def new_domain(p: Dict[str, Any]) -> Optional[Dict[str, str]]:
    if p["kind"] in ("root", "branch"):
        return p["domain"]
    return p["action"]["args"]["to"] if is_upgrading(p) else None


class Bundle:
    """Verifies a proof bundle; the first fault is raised as a Refusal."""

    def __init__(self, path: str, log_key: Optional[PublicKey], witnesses: List[PublicKey]) -> None:
        self.path, self.log_key, self.given = path, log_key, witnesses
        self.files: Dict[str, bytes] = {}
        self.entries: List[Bundled] = []
        self.by_id: Dict[str, Bundled] = {}
        self.blobs: Dict[str, Tuple[Any, int]] = {}      # value, bytes
        self.erased: Dict[str, str] = {}
        self.firsts: Dict[str, Dict[str, Any]] = {}      # the entries with seq 0
        self.own: Dict[str, Dict[str, Any]] = {}         # the writs in those

    def verify(self) -> Dict[str, Any]:
        self.unpack()
        self.read_manifest()
        self.read_keys()
        self.open_checkpoint()
        self.read_lines()
        need(len(self.entries) == self.manifest["entries"], "bad_manifest", "there are %d entries" % len(self.entries))
        self.check_proofs()
        self.check_values()
        self.check_chains()
        self.check_writs()
        self.check_scope()
        need(same(self.records(), self.read_json("records.json")), "records_differ",
             "records.json is not what the entries say")
        return {"valid": True, "scope": self.manifest["scope"], "made_at": self.manifest["made_at"],
                "entries": len(self.entries), "in_scope": self.manifest["in_scope"],
                "checkpoint": {"origin": self.tree.origin, "size": self.tree.size, "root": self.tree.root.hex()},
                "log_key": "given" if self.log_key else "bundle", "witnesses": [key.name for key in self.witnesses],
                "erased": len(self.erased), "records": self.records()}

    # --- files

    def unpack(self) -> None:
        """Section 1. Of a zip only its directory counts."""
        code = "bad_zip"
        with open(self.path, "rb") as file:
            pack = file.read()
        last = len(pack) - END_RECORD.size
        places = range(last, max(-1, last - 65_536), -1)
        end = next((at for at in places if pack[at:at + 4] == b"PK\5\6" and pack[at + 20:at + 22] ==
                    (last - at).to_bytes(2, "little")), -1)
        need(end >= 0, code, "it is not a zip file")
        _, volume, first, here, count, _, at, _ = END_RECORD.unpack_from(pack, end)
        need(volume == first == 0 and here == count < 65_535, code, "it has several volumes, or too many files")
        files = []
        for _ in range(count):
            need(at + DIRECTORY.size <= end and pack[at:at + 4] == b"PK\1\2", code, "its directory is damaged")
            flags, method, packed, size, name_length, extra, comment, offset = DIRECTORY.unpack_from(pack, at)
            name = pack[at + DIRECTORY.size:at + DIRECTORY.size + name_length].decode("latin-1")
            need(bundle_name(name), code, "it has the file %s" % shown(name))
            need(method in (0, 8) and not flags & 1, code, "its files are neither stored nor deflated")
            files.append((name, method, packed, size, offset))
            at += DIRECTORY.size + name_length + extra + comment
        need(at == end, code, "its directory is damaged")
        need(len({name for name, *_ in files}) == count, code, "it has a file twice")
        need(sum(size for *_, size, _ in files) <= BUNDLE_BYTES, code, "it is too large")
        for name, method, packed, size, offset in files:
            need(offset + LOCAL.size <= len(pack) and pack[offset:offset + 4] == b"PK\3\4", code,
                 name + " is not where the directory says")
            start = offset + LOCAL.size + sum(LOCAL.unpack_from(pack, offset))
            need(start + packed <= len(pack), code, name + " is cut off")
            data = pack[start:start + packed]
            if method == 8:
                inflater = zlib.decompressobj(-15)
                try:
                    data = inflater.decompress(data, size + 1)
                except zlib.error:
                    raise Refusal(code, name + " cannot be unpacked") from None
                need(inflater.eof or len(data) > size, code, name + " is cut off")
            need(len(data) == size, code, name + " has another size than the directory says")
            self.files[name] = data

    def read_json(self, name: str) -> Any:
        code = "bad_manifest" if name == "manifest.json" else "bad_form"
        need(name in self.files, "bad_manifest", "the file %s is missing" % name)
        data = self.files[name]
        need(data.endswith(b"\n"), code, name + " does not end with a newline")
        try:
            text, value = read_json(data[:-1])
            must_be_same(canonical(value), text)
            check_limits(data[:-1], value, BLOB_BYTES, BLOB_VALUES)
        except NotCanonical:
            raise Refusal(code, name + " is not canonical JSON") from None
        return value

    def read_manifest(self) -> None:
        m = self.manifest = self.read_json("manifest.json")
        need(is_just(m, "format made_at scope in_scope entries files"), "bad_manifest", "it has other members")
        need(m["format"] == "assize/proof-bundle/v1", "bad_manifest", "it is of another format")
        need(type(m["made_at"]) is str and is_instant(m["made_at"]) and is_scope(m["scope"]) and m["in_scope"]
             and is_list(m["in_scope"], is_hash) and is_count(m["entries"]) and 1 <= m["entries"] <= BUNDLE_ENTRIES
             and type(m["files"]) is dict, "bad_manifest", "a member is not of its type")
        for name, file in m["files"].items():
            need(name not in ("manifest.json", "verify.html") and is_just(file, "bytes sha256")
                 and is_count(file["bytes"]) and is_hash(file["sha256"]), "bad_manifest", "a file has another form")
            need(name in self.files, "bad_manifest", "the file %s is missing" % shown(name))
        for name in ("entries.jsonl", "checkpoint", "keys.json", "records.json", "README.txt"):
            need(name in self.files, "bad_manifest", "the file %s is missing" % name)
        for name in self.files:
            need(name in m["files"] or name in ("manifest.json", "verify.html"), "bad_manifest",
                 "the manifest does not name the file " + name)
        for name, file in m["files"].items():
            data = self.files[name]
            need(len(data) == file["bytes"] and hashlib.sha256(data).hexdigest() == file["sha256"], "file_differs",
                 name + " is not as in the manifest")

    def read_keys(self) -> None:
        k = self.keys = self.read_json("keys.json")
        need(is_just(k, "log witnesses entries writs") and type(k["log"]) is str
             and all(is_list(k[m], lambda v: type(v) is str) for m in ("witnesses", "entries", "writs")),
             "bad_form", "keys.json is not of its form")
        log = read_public_key(k["log"])
        need(log is not None and log.use == 1, "bad_form", "the key of the log is not a key of a log")
        self.log: PublicKey = log                                                         # type: ignore[assignment]
        named = [read_public_key(text) for text in k["witnesses"]]
        need(all(key is not None and key.use == 4 for key in named) and len(set(named)) == len(named), "bad_form",
             "a witness is named twice, or by another key")
        self.witnesses: List[PublicKey] = named                                           # type: ignore[assignment]
        need(self.log_key is None or self.log_key == log, "other_key",
             "the bundle is of the log %s with the key %s" % (shown(self.log.name), shown(k["log"])))

    # --- the checkpoint and the proofs

    def open_checkpoint(self) -> None:
        data, code = self.files["checkpoint"], "bad_checkpoint"
        try:
            self.signed = data.decode("utf-8")
        except UnicodeDecodeError:
            raise Refusal(code, "the checkpoint is not UTF-8") from None
        note = read_note(self.signed)
        tree = read_tree(note.text) if note else None
        if note is None or tree is None:
            raise Refusal(code, "the checkpoint is not of its form")
        self.tree = tree
        need(tree.origin == self.log.name, code, "the checkpoint is of another log")
        known: Dict[Tuple[str, str], PublicKey] = {}
        for key in [self.log, *self.witnesses, *self.given]:
            need(known.setdefault((key.name, key.id), key) == key, code, "two keys have one name and id")
        self.cosigned: Dict[PublicKey, int] = {}         # the time of the first one
        logged = False
        for name, id, value in note.signatures:
            key = known.get((name, id))                                                   # type: ignore[assignment]
            if key is None:
                continue
            if key.use == 1:
                need(len(value) == 64 and is_signed(key.key, value, note.text.encode("utf-8")), code,
                     "the signature of the log does not hold")
                logged = True
            else:
                time = cosigned_at(note.text, value, key.key)
                if time is None:
                    raise Refusal(code, "the cosignature of %s does not hold" % shown(name))
                self.cosigned.setdefault(key, time)
        need(logged, code, "the log has not signed the checkpoint")
        for key in self.witnesses:
            need(key in self.cosigned, "keys_differ", "the witness %s has not cosigned" % shown(key.name))
        for key in self.given:
            need(key in self.cosigned, "not_witnessed", "the witness %s has not cosigned" % shown(key.name))

    def check_proofs(self) -> None:
        names = {"proofs/%s.tlog-proof" % entry.id for entry in self.entries}
        for name in self.files:
            need(not name.startswith("proofs/") or name in names, "not_logged", name + " proves no entry of the bundle")
        for entry in self.entries:
            name = "proofs/%s.tlog-proof" % entry.id
            need(name in self.files, "not_logged", "the proof of %s is missing" % entry.id)
            head, blank, signed = self.files[name].partition(b"\n\n")
            try:
                lines, tail = head.decode("utf-8").split("\n"), signed.decode("utf-8")
            except UnicodeDecodeError:
                raise Refusal("bad_form", name + " is not UTF-8") from None
            path = [read_base64(line) for line in lines[2:]]
            place = lines[1][6:] if len(lines) > 1 and lines[1].startswith("index ") else ""
            note = read_note(tail) if blank else None
            need(lines[0] == "c2sp.org/tlog-proof@v1" and is_decimal(place) and int(place) < 2 ** 64
                 and len(path) <= 64 and all(step is not None and len(step) == 32 for step in path)
                 and note is not None and read_tree(note.text) is not None, "bad_form", name + " is no such proof file")
            need(tail == self.signed, "not_logged", "the proof of %s leads to another checkpoint" % entry.id)
            need(int(place) == entry.index
                 and is_included(entry.data, entry.index, self.tree.size, self.tree.root, path),  # type: ignore[arg-type]
                 "not_logged", "the proof does not show %s at place %d of the log" % (entry.id, entry.index))

    # --- entries and their values

    def read_lines(self) -> None:
        raw = self.files["entries.jsonl"]
        need(raw.endswith(b"\n"), "bad_form", "entries.jsonl does not end with a newline")
        lines = [self.read_line(line) for line in raw[:-1].split(b"\n")]
        need(type(lines[-1]) is Bundled, "bad_form", "entries.jsonl does not end with an entry")
        before: List[str] = []
        stood: Set[str] = set()
        for line in lines:
            if type(line) is str:
                before.append(line)
                continue
            last = self.entries[-1].index if self.entries else -1
            need(last < line.index, "bad_form", line.id + " is not in the order of the log")
            need(self.needed(line, stood) == before, "bad_form",
                 "the values before %s are not those that it is the first to need" % line.id)
            need(line.id not in self.by_id, "bad_form", "an entry stands twice")
            self.entries.append(line)
            self.by_id[line.id] = line
            before = []

    def read_line(self, raw: bytes) -> Any:
        """An entry, or the name of a blob."""
        try:
            text, value = read_json(raw)
            must_be_same(canonical(value, DEPTH + 1), text)
        except NotCanonical:
            raise Refusal("bad_form", "a line is not canonical JSON") from None
        if is_just(value, "id index payload"):
            need(is_hash(value["id"]) and is_count(value["index"]), "bad_form", "a line is not that of an entry")
            start = len('{"id":"","index":,"payload":') + 64 + len(str(value["index"]))
            return self.read_entry(value["id"], value["index"], raw[start:-1], value["payload"])
        if is_just(value, "by erased"):
            name = value["erased"]
            need(is_hash(name) and is_hash(value["by"]), "bad_form", "a line is not that of an erased value")
            need(name not in self.blobs and name not in self.erased, "bad_form", "a value stands twice: " + name)
            self.erased[name] = value["by"]
            return name
        need(is_just(value, "blob hash") and is_hash(value["hash"]), "bad_form", "a line is of an unknown form")
        name, data = value["hash"], raw[BLOB_TEXT:-BLOB_END]
        need(hashlib.sha256(data).hexdigest() == name, "bad_entry", "the value %s does not hash to its name" % name)
        need(name not in self.blobs and name not in self.erased, "bad_form", "a value stands twice: " + name)
        self.blobs[name] = (value["blob"], len(data))
        return name

    def read_entry(self, id: str, index: int, data: bytes, p: Any) -> Bundled:
        """Section 3 of the ledger's page."""
        code = "bad_entry"
        need(hashlib.sha256(data).hexdigest() == id, code, "a payload does not hash to " + id)
        try:
            canonical(p)
            check_limits(data, p, PAYLOAD_BYTES, PAYLOAD_VALUES)
        except NotCanonical:
            raise Refusal(code, "the payload of %s passes a limit" % id) from None
        kind = p.get("kind") if type(p) is dict else None
        need(type(kind) is str and kind in KINDS, code, id + " is of no known kind")
        wrong = KINDS[kind](p) or wrong_beliefs(p)
        need(not wrong, code, "the payload of %s: %s" % (id, wrong))
        need("signature" not in p or has_good_signature(p), code, "the signature of %s does not hold" % id)
        return Bundled(id, index, data, p)

    def needed(self, entry: Bundled, stood: Set[str]) -> List[str]:
        """The values that an entry is the first to need, in the order of section 10."""
        names: List[str] = []
        for _, reference in references(entry.p):
            name = reference["$blob"]
            if name in stood:
                continue
            need(name in self.blobs or name in self.erased, "bad_entry",
                 "the value %s of %s is missing" % (name, entry.id))
            stood.add(name)
            names.append(name)
        for writ in named_writs(entry.p):
            while type(writ) is str and writ in self.blobs and writ not in stood:
                stood.add(writ)
                names.append(writ)
                value = self.blobs[writ][0]
                writ = value.get("parent") if type(value) is dict else None
        return names

    def check_values(self) -> None:
        """Section 4 of the ledger's page; that erased values were erased by an entry of the bundle."""
        for entry in self.entries:
            for position, reference in references(entry.p):
                name, what = reference["$blob"], "%s of %s" % (position, entry.id)
                if name in self.erased:
                    need("salted" in reference, "bad_entry", what + " cannot have been erased")
                    by = self.by_id.get(self.erased[name])
                    if by is None:
                        raise Refusal("context_missing", "the entry that erased %s is missing (erasure)" % name)
                    need(name in self.erased_by(by), "bad_entry", "%s has not erased %s" % (by.id, name))
                    continue
                value, size = self.blobs[name]
                need(reference["bytes"] == size, "bad_entry", what + " has another size")
                need("salted" not in reference or is_salted(value), "bad_entry", what + " has no salt and value")
                need(has_form(entry.p, position, value), "bad_entry", what + " is of another form")
                try:
                    canonical(value)
                except NotCanonical:
                    raise Refusal("bad_entry", what + " passes a limit") from None

    def erased_by(self, entry: Bundled) -> Set[str]:
        args = entry.p["action"]["args"] if is_erasing(entry.p) else None
        if is_reference_like(args):
            found = self.blobs.get(args["$blob"]) if "salted" not in args else None
            args = found[0] if found else None
        return {value["hash"] for value in erased_values(args) or ()}

    # --- chains

    def check_chains(self) -> None:
        resolved: Set[str] = set()
        for entry in self.entries:
            name = entry.p.get("resolves")
            need(name is None or name not in resolved, "bad_entry", "two entries resolve %s" % name)
            if name is not None:
                resolved.add(name)
        last: Dict[str, Bundled] = {}
        domains: Dict[str, Tuple[Dict[str, str], Optional[int]]] = {}    # in force, and seq of the last upgrade
        for entry in self.entries:
            p = entry.p
            name, seq = p["trajectory_id"], p["seq"]
            before = last.get(name)
            chain = Chain(name)
            if before is None:
                need(seq == 0, "context_missing", "the first entry of the trajectory of %s is missing (first)" % entry.id)
                self.firsts[name] = p
                self.own[name] = {hash_of(writ): writ for writ in p.get("writs", [])}
            else:
                need(seq > before.p["seq"], "bad_entry", entry.id + " has no seq above that of the entry before it")
                need(seq > before.p["seq"] + 1 or p["parent"] == before.id, "bad_entry",
                     "%s is not the parent of %s" % (before.id, entry.id))
                need(p["parent"] is not None, "bad_entry", entry.id + " has no parent")
                self.begin(chain, entry, before, domains[name])
            try:
                chain.accept(entry.id, p)
            except Fault as fault:
                raise Refusal("bad_entry", "%s: %s (%s)" % (entry.id, fault.detail, fault.rule or fault.code)) from None
            last[name] = entry
            domain, upgraded = domains.get(name, ({}, None))
            domains[name] = (new_domain(p) or domain, seq if is_upgrading(p) else upgraded)

    def begin(self, chain: Chain, entry: Bundled, before: Bundled,
              domain: Tuple[Dict[str, str], Optional[int]]) -> None:
        """The chain of which an entry is the next, as far as the bundle shows it."""
        p = entry.p
        chain.head, chain.seq, chain.at = p["parent"], p["seq"], before.p["at"]
        chain.last_commit = p.get("parent_commit")
        chain.key = key_after(before.p)
        chain.domain, chain.upgraded = domain
        chain.delegated_from = self.firsts[chain.name].get("delegated_from")
        if "resolves" in p:
            found = self.find(entry, p["resolves"], "resolved")
            need(found.p["kind"] == "pending_approval", "bad_entry", entry.id + " resolves an entry that is not pending")
            q = found.p["proposal"]
            effect = None
            if is_effect_waiting(found.p):
                effect = (q["delta"]["effects"][0]["id"], q["action"]["args"].get("commit"), q["writ_id"])
            chain.open[found.id] = pending_of(found.p, effect)
            chain.frozen = found.id if found.p["freezes"] == "world" else None
        start = concluded_start(p)
        if start is not None:
            found = self.find(entry, start, "start")
            need(found.p["kind"] == "delegation", "bad_entry", entry.id + " concludes an entry that is no delegation")
            chain.delegated[found.id] = hash_of([found.p[m] for m in ("child_trajectory_id", "task", "writ")])
        for commit in about_commits(p):
            found = self.find(entry, commit, "settled")
            if found.p["kind"] == "commit" and found.p["delta"]["effects"]:
                chain.unsettled[commit] = (found.p["writ_id"], {e["id"] for e in found.p["delta"]["effects"]})
        if is_halting(p) and says_halt(p["action"]["args"]) and p["action"]["args"]["does"] == "resume":
            args = p["action"]["args"]
            kind, other = ("above", "own") if "from" in args else ("own", "above")
            chain.halts = {kind: entry.id, **({other: entry.id} if "remains" in args else {})}

    def find(self, entry: Bundled, id: str, rule: str) -> Bundled:
        found = self.by_id.get(id)
        if found is None or found.p["trajectory_id"] != entry.p["trajectory_id"]:
            raise Refusal("context_missing", "the entry %s, which %s names, is missing (%s)" % (id, entry.id, rule))
        need(found.p["seq"] < entry.p["seq"], "bad_entry", "%s names the later entry %s" % (entry.id, id))
        return found

    # --- writs and keys

    def writ(self, name: str, id: str) -> Any:
        """A writ by its id, or None."""
        own = self.own.get(name, {})
        return own[id] if id in own else self.blobs.get(id, (None, 0))[0]

    def check_writs(self) -> None:
        issuers: Set[str] = set()
        sound: Set[str] = set()
        for entry in self.entries:
            p = entry.p
            id = writ_of(p)
            if id is None or p["kind"] == "rejection" or is_settling(p) or is_effect_waiting(p):
                continue
            wanted: Any = id
            for links in range(10):
                writ = self.writ(p["trajectory_id"], wanted)
                need(writ is not None and links < 9, "bad_writ",
                     "the entry %s is without its writ %s, or an ancestor of it" % (entry.id, id))
                if wanted not in sound:
                    need(is_signed_writ(writ), "bad_writ", "the writ %s is not valid" % wanted)
                    sound.add(wanted)
                if writ["parent"] is None:
                    issuers.add(writ["issuer"])
                    break
                wanted = writ["parent"]
        signers = {entry.p["signature"]["key"] for entry in self.entries if "signature" in entry.p}
        need(self.keys["entries"] == sorted(signers) and self.keys["writs"] == sorted(issuers), "keys_differ",
             "keys.json has other keys of entries or writs")

    # --- scope and records

    def check_scope(self) -> None:
        scope = self.manifest["scope"]
        found = [entry for entry in self.entries if self.is_in_scope(scope, entry)]
        need([entry.id for entry in found] == self.manifest["in_scope"], "scope_differs",
             "in_scope does not name the entries in scope")
        if scope["kind"] == "approval":
            need(found[0].p["kind"] == "pending_approval", "scope_differs", "the entry is not pending")
        if scope["kind"] == "period":
            last: Dict[str, int] = {}
            for entry in found:
                name, seq = entry.p["trajectory_id"], entry.p["seq"]
                need(last.get(name, seq - 1) == seq - 1, "scope_differs",
                     "an entry of the period before %s is missing" % entry.id)
                last[name] = seq

    def is_in_scope(self, scope: Dict[str, Any], entry: Bundled) -> bool:
        kind, p = scope["kind"], entry.p
        if kind in ("entry", "approval"):
            return bool(entry.id == scope[kind])
        if "trajectory" in scope and p["trajectory_id"] != scope["trajectory"]:
            return False
        if "from" in scope and not scope["from"] <= p["at"] < scope["to"]:
            return False
        return kind == "period" or self.is_of(scope["person"], p)

    def is_of(self, person: str, p: Dict[str, Any]) -> bool:
        if any(is_same_name(name, person) for name in deciders(p)):
            return True
        id = writ_of(p)
        writ = None if id is None else self.writ(p["trajectory_id"], id)
        return type(writ) is dict and is_same_name(writ.get("subject"), person)

    def records(self) -> Dict[str, Any]:
        after = {entry.p["resolves"]: entry for entry in self.entries if "resolves" in entry.p}
        policies: Set[str] = set()
        for entry in self.entries:
            policies |= {entry.p["policy_hash"]} if "policy_hash" in entry.p else set()
            policies |= {entry.p["policy"]["digest"]} if "policy" in entry.p else set()
        domains = [(entry, new_domain(entry.p)) for entry in self.entries]
        return {
            "approvals": [self.approval(entry, after) for entry in self.entries
                          if entry.p["kind"] == "pending_approval" and "resolves" not in entry.p],
            "checkpoint": {"origin": self.tree.origin, "root": self.tree.root.hex(), "size": self.tree.size},
            "domains": [{**domain, "entry": entry.id, "trajectory_id": entry.p["trajectory_id"]}
                        for entry, domain in domains if domain is not None],
            "erased": [{"by": by, "hash": name} for name, by in self.erased.items()],
            "policies": sorted(policies),
            "witnesses": [{"name": key.name, "time": self.cosigned[key]} for key in self.witnesses]}

    def approval(self, entry: Bundled, after: Dict[str, Bundled]) -> Dict[str, Any]:
        p, steps, step = entry.p, [], after.get(entry.id)
        while step is not None:
            steps.append(step_of(step))
            step = after.get(step.id)
        action = p["proposal"]["action"]
        return {"action": action["name"], "role": action["role"], "approvals": p.get("approvals", 1),
                "channel": p["channel"], "digest": p["digest"], "reason": p["reason"], "detail": p["detail"],
                "pending": entry.id, "trajectory_id": p["trajectory_id"], "steps": steps}


def has_form(p: Dict[str, Any], position: str, value: Any) -> bool:
    """Whether a blob is what its position asks for (section 4)."""
    if position == "initial_state":
        return type(value) is dict
    if position in ("delta.state", "approval"):
        return type(value) is list
    if not position.startswith("delta.beliefs"):
        return True
    if not position.endswith(".partition"):
        return what_is_salted(value) == "text"
    change = p["delta"]["beliefs"][int(position[len("delta.beliefs["):-len("].partition")])]
    return what_is_salted(value) in ("partition of a branch",) + ("partition",) * ("inherit" not in change)


def step_of(entry: Bundled) -> Dict[str, Any]:
    p = entry.p
    step = {"at": p["at"], "entry": entry.id, "kind": p["kind"]}
    by = p["approved_by"][-1] if p["kind"] == "pending_approval" else p.get("counselor")
    if by is not None:
        step["by"] = by
    if "decided" in settlement_args(p):
        step["decided"] = settlement_args(p)["decided"]
    if "amended" in p:
        step["amended"] = True
    if p["kind"] == "rejection":
        step["why"] = p["reason"]
    return step


def is_signed_writ(writ: Any) -> bool:
    if wrong_writ(writ):
        return False
    text = canonical({name: value for name, value in writ.items() if name != "signature"})
    return is_signed(bytes.fromhex(writ["issuer"]), bytes.fromhex(writ["signature"]),
                     b"assize/writ/v1\n" + text.encode())


BUNDLE_NOT_CHECKED = ["that no entry is absent", "attenuation of writs", "budgets", "states",
                      "rules between trajectories"]


def main_bundle(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Verifies a proof bundle and says so."""
    log_key = read_public_key(options.log_key) if options.log_key is not None else None
    if options.log_key is not None and (log_key is None or log_key.use != 1):
        parser.error("--log-key is a public key of a log, NAME+ID+BASE64")
    witnesses = [read_public_key(text) for text in options.witness or ()]
    if not all(key is not None and key.use == 4 for key in witnesses):
        parser.error("--witness is a public key of a witness, NAME+ID+BASE64")
    try:
        said = Bundle(options.file, log_key, witnesses).verify()                          # type: ignore[arg-type]
    except Refusal as refusal:
        if options.json:
            print(json.dumps({"valid": False, "code": refusal.code, "detail": refusal.detail}, indent=2))
        else:
            print("INVALID: %s (%s)" % (refusal.detail, refusal.code))
        return 1
    if options.json:
        print(json.dumps({**said, "not_checked": BUNDLE_NOT_CHECKED}, indent=2))
        return 0
    tree, context = said["checkpoint"], said["entries"] - len(said["in_scope"])
    print("valid: %s in scope and %d as context are in the %s signed by %s" % (
        counted_entries(len(said["in_scope"])), context, counted_entries(tree["size"]), shown(tree["origin"])))
    for witness in said["records"]["witnesses"]:
        print("cosigned by %s at %d" % (shown(witness["name"]), witness["time"]))
    if said["erased"]:
        print("%d %s erased" % (said["erased"], "value" if said["erased"] == 1 else "values"))
    if said["log_key"] == "bundle":
        print("The key of the log is from the bundle: it proves nothing until you compare it (--log-key).")
    print("not checked: %s" % "; ".join(BUNDLE_NOT_CHECKED))
    return 0


# ------------------------------------------------------------------------ docs/guide/backups.md: archives

ARCHIVE_BYTES = 16_777_216                               # of the lines of a file, beyond one long line
segment_file = re.compile(r"([0-9]{12})-(entries|blobs)-([0-9]{12})-([0-9]+)-([0-9a-f]{64})\.gz").fullmatch


class Archive:
    """The files of an archive, as the export of the first entries of the log. Every fault names its file."""

    def __init__(self, folder: str, limits: Limits) -> None:
        self.folder, self.limits = folder, limits
        self.faults: List[str] = []
        self.tree = Tree()
        self.files: Dict[Tuple[int, str], Dict[int, str]] = {}                           # of a segment: by first line
        self.blobs: Dict[str, Tuple[bytes, Any]] = {}    # lines that no entry has needed yet; the writ above
        self.seen: Set[str] = set()                      # an erased blob has a line in each segment that names it
        for name in sorted(os.listdir(folder)):
            match = segment_file(name)
            if match:
                parts = self.files.setdefault((int(match[1]), match[2]), {})
                older = parts.get(int(match[3]))
                # A file that was written again has a greater number. Its forerunner is being deleted.
                if older is None or int(older.split("-")[3]) < int(match[4]):
                    parts[int(match[3])] = name

    def write(self, into: BinaryIO, size: Optional[int]) -> Optional[str]:
        """Writes the export. Returns the root of its first `size` entries, if it has so many."""
        into.write(HEADER + b"\n")
        root = Tree().root() if size == 0 else None
        for segment in range(1 + max((number for number, _ in self.files), default=-1)):
            for line in self.lines(segment, "blobs"):
                self.keep_blob(line)
            for line in self.lines(segment, "entries"):
                for needed in self.needed(line):
                    into.write(needed)
                into.write(line)
                self.tree.add(line[ENTRY_TEXT:-2])
                root = self.tree.root() if self.tree.size == size else root
            if (segment, "entries") not in self.files:
                self.faults.append("segment %d has no file of entries" % segment)
        into.write(b'{"entries":%d,"root":"%s"}\n' % (self.tree.size, self.tree.root().encode()))
        return root

    def lines(self, segment: int, part: str) -> List[bytes]:
        lines: List[bytes] = []
        for first, name in sorted(self.files.get((segment, part), {}).items()):
            try:
                found = self.unpacked(name)
            except (ValueError, OSError, zlib.error) as error:
                self.faults.append("%s: %s" % (name, error))
                continue
            if first != len(lines):
                self.faults.append("%s: the lines before it are missing" % name)
            lines += found
        return lines

    def unpacked(self, name: str) -> List[bytes]:
        with open(os.path.join(self.folder, name), "rb") as file:
            packed = file.read()
        if hashlib.sha256(packed).hexdigest() != name[-67:-3]:
            raise ValueError("its bytes do not have the hash in its name")
        text, most = bytearray(), ARCHIVE_BYTES + self.limits.line
        while packed:
            member = zlib.decompressobj(31)
            text += member.decompress(packed, most + 1 - len(text))
            if len(text) > most:
                raise ValueError("it has more than %d bytes of lines" % most)
            if not member.eof:
                raise ValueError("it ends before its end")
            packed = member.unused_data
        if text[-1:] != b"\n":
            raise ValueError("its last line has no newline")
        return [line + b"\n" for line in bytes(text)[:-1].split(b"\n")]

    def keep_blob(self, line: bytes) -> None:
        name, above = line[-67:-3].decode("ascii", "replace"), None
        if name in self.seen:
            return
        self.seen.add(name)
        if line.startswith(b'{"blob":{'):
            try:
                above = json.loads(line)["blob"].get("parent")
            except (ValueError, RecursionError):
                pass                                     # the verifier says that the line is not canonical
        self.blobs[name] = (line, above)

    def needed(self, line: bytes) -> List[bytes]:
        """The blobs that an export has before an entry."""
        try:
            p = json.loads(line)["payload"]
            kind = p["kind"]
            if KINDS[kind](p):
                return []                                # the verifier says what is wrong with it
            names = [named["$blob"] for _, named in references(p)]
            writs = named_writs(p)
        except (ValueError, KeyError, TypeError, RecursionError):
            return []
        found = [self.blobs.pop(name)[0] for name in dict.fromkeys(names) if name in self.blobs]
        for writ in writs:
            while type(writ) is str and writ in self.blobs:
                above, writ = self.blobs.pop(writ)
                found.append(above)
        return found


def read_signed(path: str, log_key: PublicKey) -> SignedTree:
    """A checkpoint, with the signature of its log."""
    with open(path, "rb") as file:
        text = file.read(NOTE_BYTES + 1).decode("utf-8", "replace")
    note = read_note(text)
    tree = read_tree(note.text) if note else None
    need(note is not None and tree is not None, "bad_checkpoint", "the checkpoint is not of its form")
    need(tree.origin == log_key.name, "bad_checkpoint", "the checkpoint is of another log")        # type: ignore[union-attr]
    signed = [value for name, id, value in note.signatures if (name, id) == (log_key.name, log_key.id)]  # type: ignore[union-attr]
    need(signed and all(len(value) == 64 and is_signed(log_key.key, value, note.text.encode("utf-8")) for value in signed),  # type: ignore[union-attr]
         "bad_checkpoint", "the log has not signed the checkpoint")
    return tree                                                                                    # type: ignore[return-value]


# ------------------------------------------------------------------------------------------------------ the program


def shown(name: str) -> str:
    """A trajectory's name on one line of a terminal."""
    return name if name.isprintable() and name.strip() == name != "" else json.dumps(name)


def counted_entries(count: int) -> str:
    return "1 entry" if count == 1 else "%d entries" % count


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(
        description="Verifies an export of an Assize ledger: lines, hashes, shapes, chains, folds, Merkle root. "
                    "A file whose name ends with .zip is verified as a proof bundle, a folder as an archive.",
        epilog="Not checked: " + "; ".join(NOT_CHECKED) + ". Exit: 0 valid, 1 findings, 2 misuse or no export.")
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="the export, a proof bundle (.zip), or the folder of an archive; - is standard input, an export")
    parser.add_argument("--json", action="store_true", help="print a JSON document")
    parser.add_argument("--root", metavar="HEX", help="the root that a checkpoint has, in hex")
    parser.add_argument("--size", metavar="N", type=int, help="the size that a checkpoint has")
    parser.add_argument("--entry-key", metavar="HEX", action="append",
                        help="a public key that may sign the first entry of a trajectory, in hex (repeatable)")
    parser.add_argument("--log-key", metavar="KEY",
                        help="of a bundle, or of --checkpoint: the public key of the log, from elsewhere")
    parser.add_argument("--checkpoint", metavar="FILE", help="of an archive: a signed checkpoint of its entries")
    parser.add_argument("--witness", metavar="KEY", action="append",
                        help="of a bundle: the public key of a witness that must have cosigned (repeatable)")
    parser.add_argument("--max-line", metavar="N", type=int, default=LINE_BYTES, help="bytes of a line (%(default)s)")
    parser.add_argument("--max-blobs", metavar="N", type=int, default=WAITING_BYTES,
                        help="bytes of all blobs before one entry (%(default)s)")
    parser.add_argument("--max-bytes", metavar="N", type=int, help="bytes of the export (no limit)")
    options = parser.parse_args(arguments)
    if not all(map(is_hash, options.entry_key or ())):
        parser.error("--entry-key is 64 lower-case hex digits")
    if options.root is not None and not is_hash(options.root.lower()):
        parser.error("--root is 64 hex digits")
    gc.disable()                                         # there are no cycles worth collecting
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")      # type: ignore[union-attr]
    is_archive = os.path.isdir(options.file)
    if is_archive and not any(map(segment_file, os.listdir(options.file))):
        print("verify.py: %s is a folder without files of an archive. Pass the folder of an archive, the .zip file of a "
              "proof bundle, or an export." % shown(options.file), file=sys.stderr)
        return 2
    if options.checkpoint is not None and not (is_archive and options.log_key):
        parser.error("--checkpoint is for the folder of an archive, and needs --log-key")
    if options.file.endswith(".zip"):
        try:
            return main_bundle(options, parser)
        except OSError as error:
            print("verify.py: %s" % error, file=sys.stderr)
            return 2
    if options.witness or options.log_key is not None and options.checkpoint is None:
        parser.error("--log-key and --witness are for proof bundles")
    limits = Limits(options.max_line, options.max_blobs, options.max_bytes)
    try:
        with contextlib.ExitStack() as files:
            if is_archive:
                export = files.enter_context(tempfile.TemporaryFile())
                return main_archive(options, parser, Archive(options.file, limits), export)      # type: ignore[arg-type]
            source = sys.stdin.buffer if options.file == "-" else files.enter_context(open(options.file, "rb"))
            seekable = options.file != "-" and source.seekable()
            verifier = Verifier(source, None if seekable else files.enter_context(tempfile.TemporaryFile()),
                                options.entry_key, limits)
            verifier.read()
            if not verifier.recognised:
                print("verify.py: %s is not an export of an Assize ledger" % options.file, file=sys.stderr)
                return 2
            verifier.verify_chains()
            verifier.check_inherited()
    except OSError as error:
        print("verify.py: %s" % error, file=sys.stderr)
        return 2
    size, root = verifier.tree.size, verifier.tree.root()
    if options.size is not None and options.size != size:
        verifier.found(Fault("bad_export", "the checkpoint has %d entries, the export %d" % (options.size, size)))
    if options.root is not None and options.root.lower() != root:
        verifier.found(Fault("bad_export", "the checkpoint has the root %s" % options.root.lower()))
    return report(options, verifier)


def main_archive(options: argparse.Namespace, parser: argparse.ArgumentParser, archive: Archive, export: BinaryIO) -> int:
    """Verifies the files of an archive, and says so."""
    size, wanted = options.size, options.root and options.root.lower()
    if options.checkpoint is not None:
        log_key = read_public_key(options.log_key)
        if log_key is None or log_key.use != 1:
            parser.error("--log-key is a public key of a log, NAME+ID+BASE64")
        try:
            tree = read_signed(options.checkpoint, log_key)                               # type: ignore[arg-type]
        except Refusal as refusal:
            parser.error("%s: %s" % (options.checkpoint, refusal.detail))
        size, wanted = tree.size, tree.root.hex()
    root = archive.write(export, size)
    export.seek(0)
    verifier = Verifier(export, None, options.entry_key, archive.limits)
    verifier.partial = True
    if archive.faults:
        for fault in archive.faults:
            verifier.found(Fault("damaged", fault))
        return report(options, verifier)
    verifier.read()
    verifier.verify_chains()
    verifier.check_inherited()
    if root is None and (size is not None or wanted is not None):
        verifier.found(Fault("bad_checkpoint", "the archive has %d entries, and a checkpoint of at most so many can be "
                             "compared with it" % verifier.tree.size))
    elif wanted is not None and root != wanted:
        verifier.found(Fault("bad_checkpoint", "the first %s entries do not have the root of the checkpoint" % size))
    return report(options, verifier)


def report(options: argparse.Namespace, verifier: Verifier) -> int:
    size, root = verifier.tree.size, verifier.tree.root()
    findings = sorted(verifier.findings, key=lambda f: f.line)
    erased = sum(len(chain.erased) for chain in verifier.chains.values())
    if options.json:
        print(json.dumps({"valid": not findings, "entries": size, "trajectories": len(verifier.chains), "root": root,
                          "erased": erased, "findings": [f.document() for f in findings],
                          "not_checked": NOT_CHECKED}, indent=2))
        return 1 if findings else 0
    for f in findings:
        where = "" if f.trajectory_id is None else " trajectory %s" % shown(f.trajectory_id)
        where += "" if f.seq is None else " seq %d" % f.seq
        named = f.code if f.rule is None else "%s, %s" % (f.code, f.rule)
        print("%s%s%s %s (%s)" % ("line %d:" % f.line if f.line else "archive:", where, ":" if where else "", f.detail, named))
    print("%s: %s, %d trajectories, %sroot %s, %d findings; not checked: %s" % (
        "INVALID" if findings else "valid", counted_entries(size), len(verifier.chains), "%d values erased, " % erased if erased else "",
        root, len(findings), "; ".join(NOT_CHECKED)))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
