"""For each line of JSON: the canonical text, its hash, and the id of the call of two of its texts."""

from __future__ import annotations

import json
import sys

from assize import NotJson, call_id_of, canonicalize, content_hash

for line in sys.stdin:
    value = json.loads(line)
    try:
        said = [canonicalize(value), content_hash(value), call_id_of(*value["id"])]
    except NotJson as error:
        said = [error.pointer]
    print(json.dumps(said), flush=True)
