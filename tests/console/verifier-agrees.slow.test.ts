/** The verifier of the page beside that of the runtime, on honest and forged ledgers. */

import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { verifyBundle } from '#bundle';
import { readZip } from '../../console/verify/bundle/read-zip.ts';
import { verify } from '../../console/verify/bundle/verify.ts';
import { amendmentCases } from '../support/ledger/amendment-cases.ts';
import { approvalCases } from '../support/ledger/approval-cases.ts';
import { beliefCases } from '../support/ledger/belief-cases.ts';
import { bundleLedgers, bundleOf } from '../support/ledger/bundle-ledgers.ts';
import { type ErasureCase, erasureCases } from '../support/ledger/erasure-cases.ts';
import { haltCases } from '../support/ledger/halt-cases.ts';
import { keyCases } from '../support/ledger/key-cases.ts';
import { revocationCases } from '../support/ledger/revocation-cases.ts';
import { settlementCases } from '../support/ledger/settlement-cases.ts';

const ALWAYS = {
  kind: 'period',
  from: '0001-01-01T00:00:00.000000Z',
  to: '9998-01-01T00:00:00.000000Z',
} as const;

/** The codes of both verifiers; undefined for a ledger that no bundle is made of. */
async function bothOf(store: MemoryStore): Promise<readonly [string, string] | undefined> {
  const made = await bundleOf(store, ALWAYS).catch(() => undefined);
  if (made === undefined) return undefined;
  const verdict = await verifyBundle(made.zip);
  const { findings } = await verify(readZip(made.zip));
  return [verdict.valid ? 'valid' : verdict.fault.code, findings.faults[0]?.code ?? 'valid'];
}

/** The verdicts of all ledgers of a group that differ, and how many were compared. */
async function compared(cases: readonly { readonly name: string; make(): Promise<MemoryStore> }[]) {
  const different: unknown[] = [];
  const counts = { valid: 0, invalid: 0 };
  for (const { name, make } of cases) {
    const both = await bothOf(await make());
    if (both === undefined) continue;
    const [runtime, page] = both;
    counts[runtime === 'valid' ? 'valid' : 'invalid'] += 1;
    if ((runtime === 'valid') !== (page === 'valid')) different.push({ name, runtime, page });
  }
  expect(different).toEqual([]);
  return counts;
}

function written(cases: readonly ErasureCase[]) {
  return cases.map(({ name, ledger: { rows, blobs, erased } }) => ({
    name,
    make: async () => {
      const store = new MemoryStore();
      await store.commit({ entries: rows, blobs, erased });
      return store;
    },
  }));
}

test('forged approvals and amendments', async () => {
  const { valid, invalid } = await compared(written([...approvalCases(), ...amendmentCases()]));
  expect(valid).toBeGreaterThan(10);
  expect(invalid).toBeGreaterThan(50);
});

test('forged erasures and beliefs', async () => {
  const { valid, invalid } = await compared(written([...erasureCases(), ...beliefCases()]));
  expect(valid).toBeGreaterThan(10);
  expect(invalid).toBeGreaterThan(10);
});

test('forged halts, revocations and changes of keys', async () => {
  const keys = keyCases.map(({ name, rows }) => ({
    name,
    make: async () => {
      const store = new MemoryStore();
      await store.commit({ entries: rows, blobs: [] });
      return store;
    },
  }));
  const { valid, invalid } = await compared([...haltCases, ...revocationCases, ...keys]);
  expect(valid).toBeGreaterThan(20);
  expect(invalid).toBeGreaterThan(20);
});

test('forged settlements', async () => {
  const { valid, invalid } = await compared(settlementCases);
  expect(valid).toBeGreaterThan(2);
  expect(invalid).toBeGreaterThan(20);
});

test('every entry of some honest ledgers', async () => {
  for (const { make } of (await bundleLedgers()).slice(0, 3)) {
    const store = await make();
    for (const { trajectory_id: trajectory } of await store.trajectories())
      for (const { id } of await store.entries(trajectory)) {
        const { zip } = await bundleOf(store, { kind: 'entry', entry: id });
        expect((await verify(readZip(zip))).findings.faults).toEqual([]);
      }
  }
});
