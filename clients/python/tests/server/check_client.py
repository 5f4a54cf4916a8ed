"""The other requests of the client, at a real server."""

from __future__ import annotations

import hashlib
import json
import unittest
from typing import Any

from assize import Client, Problem

from .real_case import URL, RealCase

AGENT: Any = {"name": "agent", "params": {"agent": "ada"}}


class ClientCheck(RealCase):
    def propose(self, key: str, cents: int) -> Any:
        args = {"id": f"{self.run_id}.{key}", "server": "bank", "tool": "pay", "args": {"to": "bob", "cents": cents}}
        return self.agent.proposals.create(
            "calls", key=f"{self.run_id} {key}".replace(" ", "-"), action="call", role=AGENT, args=args
        )

    def test_a_token_has_one_principal(self) -> None:
        self.assertEqual(self.agent.me()["name"], "agent:ada")
        with self.assertRaises(Problem) as refused:
            Client(URL, f"asz_{'0' * 16}_{'0' * 64}").me()
        self.assertEqual((refused.exception.code, refused.exception.status), ("unauthenticated", 401))
        self.assertIsNotNone(refused.exception.request_id)

    def test_a_proposal_with_the_same_key_is_the_same_proposal(self) -> None:
        first = self.propose("k1", 5)
        self.assertEqual(first["ruling"], "committed")
        self.assertEqual(self.propose("k1", 5), first)
        self.assertEqual(self.agent.proposals.ruling("calls", f"{self.run_id}-k1"), first)
        with self.assertRaises(Problem) as refused:
            self.propose("k1", 6)
        self.assertEqual(refused.exception.code, "idempotency_conflict")

    def test_an_approval_is_listed_read_and_decided(self) -> None:
        ruling = self.propose("k2", 500)
        self.assertEqual(ruling["ruling"], "escalated")
        approval = ruling["approval_id"]
        [shown] = [one for one in self.person.approvals.list(mine=True) if one["id"] == approval]
        self.assertTrue(shown["may_decide"])
        self.assertEqual(self.person.approvals.get(approval).get("status"), "pending")
        decided = self.person.approvals.reject(approval, digest=shown["digest"], reason="not now")
        self.assertEqual(decided["ruling"], "rejected")
        found = self.agent.approvals.get(approval, wait=5)
        ruled: Any = found.get("ruling")
        self.assertEqual((found["status"], ruled["ruling"]), ("resolved", "rejected"))
        with self.assertRaises(Problem) as late:
            self.person.approvals.approve(approval, digest=shown["digest"])
        self.assertEqual(late.exception.code, "not_pending")

    def test_many_are_proposed_judged_and_decided(self) -> None:
        def proposal(key: str, cents: int) -> dict[str, Any]:
            args = {"id": f"{self.run_id}.{key}", "server": "bank", "tool": "pay"}
            call = {**args, "args": {"to": "bob", "cents": cents}}
            return {"key": f"{self.run_id}-{key}", "action": "call", "role": AGENT, "args": call}

        many = [proposal("m1", 5), proposal("m2", 500), proposal("m3", 600)]
        judged = self.agent.proposals.judge("calls", **{name: many[1][name] for name in ("action", "role", "args")})
        self.assertEqual(judged["ruling"], "escalated")
        found: Any = self.agent.proposals.create_many("calls", many)
        self.assertEqual([one["ruling"]["ruling"] for one in found], ["committed", "escalated", "escalated"])
        self.assertEqual(self.agent.proposals.create_many("calls", many), found)
        waiting = {one["ruling"]["approval_id"] for one in found[1:]}
        items = {one["id"]: one["digest"] for one in self.person.approvals.list(mine=True) if one["id"] in waiting}
        items[sorted(items)[0]] = "0" * 64
        decided: Any = self.person.approvals.decide("reject", items, reason="not now")
        self.assertEqual(sorted("problem" in one for one in decided), [False, True])

    def test_events_go_on_after_the_last_one(self) -> None:
        self.pay(5)
        first = next(self.auditor.events(after=-1))
        again = self.auditor.events(after=first["id"])
        following = [next(again), next(again)]
        self.assertEqual([first["id"], *(one["id"] for one in following)], [0, 1, 2])
        with self.assertRaises(Problem):
            next(self.agent.events())

    def test_the_ledger_is_read_and_verified(self) -> None:
        self.pay(5)
        world = self.auditor.trajectories.get("calls")
        self.assertIn("calls", [one["trajectory_id"] for one in self.auditor.trajectories.list(domain="gateway")])
        entries = list(self.auditor.entries.list("calls"))
        self.assertEqual([one["seq"] for one in entries], list(range(len(entries))))
        head = self.auditor.entries.get(entries[-1]["id"], values=True)
        self.assertEqual(hashlib.sha256(head["text"].encode()).hexdigest(), head["id"])
        self.assertEqual(json.loads(head["text"]), head["payload"])
        self.assertEqual(self.auditor.entries.get(f"calls@{world['entries'] - 1}")["id"], world["head"])
        state = self.auditor.trajectories.state("calls", pointer=f"/calls/{self.run_id}.c1/outcome")
        self.assertEqual(state["state"] if "state" in state else state["value"], "done")
        verification = self.auditor.log.verify(["calls"])
        self.assertTrue(verification["valid"])
        self.assertGreaterEqual(verification["reports"][0]["entries"], len(entries))
        with self.assertRaises(Problem) as none:
            self.auditor.log.checkpoint()
        self.assertEqual(none.exception.code, "not_found")
        with self.assertRaises(Problem):
            self.auditor.entries.proof(head["id"])


if __name__ == "__main__":
    unittest.main()
