import { fsck } from '@assize/audit/internal/checkpoints';
import { deepReplay } from '@assize/audit/internal/replay';
import { faultyStore } from '@assize/testing/internal/faulty-store.ts';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { isAssizeError } from '#base';
import { listWrits, verifyStore } from '#runtime';
import type { Store } from '#stores';
import { deskOf } from '../../../../tests/support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';

const desk = deskOf();

/** A ledger with texts outside of entries: an initial state, values, writs, and a branch. */
async function ledger(): Promise<MemoryStore> {
  const store = new MemoryStore();
  const assize = runtimeOver(store, [desk]);
  const initial = { n: 0, asked: 0, approved: 0, by: '', boxes: {}, data: 'x'.repeat(9_000) };
  const trajectory = await assize.create(desk, { trajectoryId: 't', initial });
  await trajectory.propose(intent('add', { by: 1 }, writFor('worker')));
  await trajectory.propose(intent('keep', { data: 'y'.repeat(9_000) }, writFor('keeper')));
  const [, commit] = await store.entries('t');
  const branch = await assize.branch('t', commit!.id, { trajectoryId: 'b', note: 'another way' });
  await branch.propose(intent('add', { by: 2 }, writFor('worker')));
  await assize.close();
  return store;
}

const OPERATIONS: Readonly<Record<string, (store: Store) => Promise<boolean>>> = {
  'a runtime that opens': async (store) => {
    const assize = runtimeOver(store, [desk]);
    for (const id of ['t', 'b']) await assize.open(id);
    return true;
  },
  verify: async (store) => (await verifyStore(store)).every(({ valid }) => valid),
  fsck: async (store) => (await fsck(store)).valid,
  'a deep replay': async (store) => (await deepReplay(store, 't', { domains: [desk] })).same,
  'a list of writs': async (store) => (await listWrits(store, 't')).length > 0,
};

test.each(Object.entries(OPERATIONS))(
  '%s has the error of a read that failed, not a finding',
  async (_, operation) => {
    const store = await ledger();
    let failures = 0;
    let hasFailed = true;
    for (let n = 1; hasFailed; n++) {
      hasFailed = false;
      const faulty = faultyStore(store as unknown as Store, (call) => {
        if (call.n !== n || call.operation === 'close') return undefined;
        hasFailed = true;
        return { kind: 'fails' };
      });
      const result = await operation(faulty).catch((error: unknown) => error);
      if (result !== true) {
        failures += 1;
        expect(isAssizeError(result, 'store_failed'), `call ${n}: ${result}`).toBe(true);
      }
    }
    expect(failures).toBeGreaterThan(2);
  },
);
