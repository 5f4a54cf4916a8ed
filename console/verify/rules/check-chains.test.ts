import { expect, test } from 'vitest';
import { Findings } from '../bundle/findings.ts';
import { LedgerPart } from '../bundle/ledger-part.ts';
import { hashOfValue } from '../bytes/hash.ts';
import type { Entry, Payload } from '../entries/payloads.ts';
import { checkChains } from './check-chains.ts';

/** The commit of the example in the ledger's reference, section 12. */
const COMMIT = JSON.parse(
  '{"action":{"args":{"$blob":"27e30ada7c508251518a509a66623c5123df07746e14be506d1ee4f5a70afcfa","bytes":24},"name":"spend","role":{"name":"spender","params":{"agent":"ann"}}},"at":"2026-03-23T09:00:01.000000Z","budget_cost":{"calls":1},"compiler_version":"assize-kernel/1","delta":{"beliefs":[],"effects":[],"state":[{"op":"add","path":"/spent/ann","value":5}]},"kind":"commit","observations":[],"parent":"3d272d7ecaf1efbe35b1c025f6c69eaba8d8a5d15856bf6a7c94a758eabf2144","parent_commit":"3d272d7ecaf1efbe35b1c025f6c69eaba8d8a5d15856bf6a7c94a758eabf2144","proposal_id":"70267b41efa253f7276c5e0079673440be1083a973a589226063a311ef2ab1f1","seq":1,"signature":{"key":"8139770ea87d175f56a35466c34c7ecccb8d8a91b4ee37a25df60f5b8fc9b394","value":"8f23307ada309c895f77028716f4e6fe38baa3286646d701236ebbb41fa2c406c2bffc35bac28e7852ad2b909d3c49b7d88d18c984c1b66bbf7fd6557dc66e0a"},"trajectory_id":"example","writ_id":"cd05878ee9c4120ffc856d9a5670cdcab819fbebb0d4730a96f55ff9639bd4b9"}',
);
const PROPOSAL = {
  proposal_id: 'a'.repeat(64),
  writ_id: COMMIT.writ_id,
  action: { ...COMMIT.action, args: {} },
  observations: [],
  at: COMMIT.at,
  delta: COMMIT.delta,
  approval: [],
  budget_cost: {},
};
const PENDING = {
  kind: 'pending_approval',
  trajectory_id: 'example',
  seq: 1,
  parent: COMMIT.parent,
  head: COMMIT.parent,
  at: COMMIT.at,
  proposal: PROPOSAL,
  digest: hashOfValue(PROPOSAL),
  channel: 'boss',
  detail: 'too much',
  freezes: 'world',
  reason: 'invariant_escalated',
};

async function reasonsOf(...payloads: readonly object[]): Promise<string[]> {
  const entries = payloads.map(
    (payload, index): Entry => ({
      id: hashOfValue(payload),
      index,
      text: '',
      payload: payload as Payload,
    }),
  );
  const findings = new Findings();
  await checkChains(new LedgerPart(entries, new Map(), []), findings, () => undefined);
  return findings.faults.map(({ reason }) => reason);
}

test('the signature of the example holds, and of no changed entry', async () => {
  expect(await reasonsOf(COMMIT)).toEqual([]);
  expect(await reasonsOf({ ...COMMIT, at: '2026-03-23T09:00:02.000000Z' })).toEqual([
    'Its signature does not hold.',
  ]);
  const signature = {
    ...COMMIT.signature,
    key: '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c',
  };
  expect(await reasonsOf({ ...COMMIT, signature })).toEqual(['Its signature does not hold.']);
});

test('the digest of a proposal that waits is its hash', async () => {
  expect(await reasonsOf(PENDING)).toEqual([]);
  expect(
    await reasonsOf({ ...PENDING, proposal: { ...PROPOSAL, budget_cost: { calls: 1 } } }),
  ).toEqual(['Its digest is not the hash of its proposal.']);
});

test('a proposal that waits has its parent as its head', async () => {
  expect(await reasonsOf({ ...PENDING, head: 'b'.repeat(64) })).toEqual([
    'Its head is not its parent.',
  ]);
});

test('entries of one trajectory follow each other', async () => {
  const { signature: _signature, ...first } = COMMIT;
  const next = { ...PENDING, seq: 2, parent: hashOfValue(first), head: hashOfValue(first) };
  expect(await reasonsOf(first, next)).toEqual([]);
  expect(await reasonsOf(first, { ...next, parent: COMMIT.parent, head: COMMIT.parent })).toEqual([
    'Its parent is not the entry 1.',
  ]);
  expect(await reasonsOf(first, { ...next, at: '2026-03-23T09:00:00.000000Z' })).toEqual([
    'It is older than the entry 1.',
  ]);
  expect(await reasonsOf(first, { ...next, seq: 1 })).toEqual([
    'It stands after an entry of its trajectory with a greater number.',
  ]);
  expect(await reasonsOf({ ...first, seq: 0 })).toEqual(['It begins nothing.']);
});

test('a trajectory that signs goes on to sign, under the same key', async () => {
  const next = { ...PENDING, seq: 2, parent: hashOfValue(COMMIT), head: hashOfValue(COMMIT) };
  expect(await reasonsOf(COMMIT, next)).toEqual(['It is not signed by the key of its trajectory.']);
});

test('a conclusion is of the task that its start has delegated', async () => {
  const start = {
    kind: 'delegation',
    trajectory_id: 'example',
    seq: 1,
    parent: COMMIT.parent,
    at: COMMIT.at,
    child_trajectory_id: 'child',
    task: 'count',
    writ: {},
  };
  const id = hashOfValue(start);
  const end = { ...start, seq: 2, parent: id, concludes: id, child_head: 'c'.repeat(64) };
  expect(await reasonsOf(start, end)).toEqual([]);
  expect(await reasonsOf(start, { ...end, task: 'add' })).toEqual([
    'Its task is not that of the start.',
  ]);
  expect(await reasonsOf(start, { ...end, child_head: undefined })).toEqual([
    'It concludes a delegation without an answer.',
  ]);
  expect(await reasonsOf({ ...start, child_head: id })).toEqual([
    'It starts a delegation with an answer.',
  ]);
  expect(await reasonsOf({ ...start, child_trajectory_id: 'example' })).toEqual([
    'It delegates to a trajectory above.',
  ]);
});
