/** However many effects were left in a trajectory that is not open, it is read once for all that is said of them. */
import { expect, test } from 'vitest';
import { writId } from '#authority';
import { contentHash } from '#canon';
import { bodyText, claimTexts, type EffectClass, readClaim, recordsText } from '#effects';
import { type BlobRow, type EntryRow, readRow, storeSalted } from '#ledger';
import { MemoryStore } from '#stores';
import { OutsideSink, Steps, tally, toolFor } from '../../../tests/support/effects-stage.ts';
import { runtimeOver, writFor } from '../../../tests/support/runtime.ts';

const LEFT = 40;
const SALT = 'ab'.repeat(16);
const BLIND: EffectClass = { reversibility: 'reversible', delivery: 'externalised', sink: 'blind' };

class CountingStore extends MemoryStore {
  read = 0;

  override async entries(trajectoryId: string, range?: { from?: number; limit?: number }): Promise<EntryRow[]> {
    const rows = await super.entries(trajectoryId, range);
    this.read += rows.length;
    return rows;
  }
}

const TOOL = toolFor(
  { sink: new OutsideSink('blind'), steps: new Steps(), fault: () => 'none' },
  'reversible',
  'externalised',
);

/** So many that a process has called which is gone, and nobody can tell what became of them. */
async function left(): Promise<CountingStore> {
  const store = new CountingStore();
  const writ = writFor('alice');
  const assize = runtimeOver(store, [tally]);
  await assize.create(tally, { trajectoryId: 't', writs: [writ] });
  await assize.close();
  const { fence, release } = await store.holdEffects();
  const blobs: BlobRow[] = [];
  const claims = claimTexts([readClaim('write', 'test:p')]);
  const body = { principal: 'alice', writ_id: writId(writ), claims };
  const begun = Array.from({ length: LEFT }, (_, n) => ({
    epoch: n + 1,
    trajectory_id: 't',
    body: bodyText({ ...body, transaction: `${n}` }),
  }));
  const records = begun.map(({ epoch }) => {
    const payload = storeSalted({ tool: TOOL.name, input: 'p', claims: [...claims], cost: {} }, SALT, blobs);
    const called = { is: 'intended', key: contentHash({ epoch }), tool: TOOL.name, class: BLIND, payload } as const;
    return { epoch, place: 0, record: recordsText([called]) };
  });
  await store.logEffects({ fence, begun, records }, blobs);
  await release();
  return store;
}

async function waiting(store: MemoryStore): Promise<number> {
  const rows = await store.entries('t', { from: 0 });
  return rows.filter((row) => readRow(row).payload.kind === 'pending_approval').length;
}

test('those who put up what waits, and who look whether that was done, read each entry a few times in all', async () => {
  const store = await left();
  for (const _ of ['who puts it up', 'who finds it put up']) {
    store.read = 0;
    const assize = runtimeOver(store, [tally], { tools: [TOOL] });
    expect((await assize.recoverEffects()).length).toBe(LEFT);
    await assize.close();
    expect(store.read).toBeLessThan(3 * LEFT);
    expect(await waiting(store)).toBe(LEFT);
  }
});

test('what somebody else writes meanwhile is read before more is written', async () => {
  const store = await left();
  const other = runtimeOver(store, [tally]);
  const trajectory = await other.open('t');
  const commit = store.commit.bind(store);
  let isTold = false;
  store.commit = async (batch) => {
    const result = await commit(batch);
    if (!isTold && batch.effects !== undefined) {
      isTold = true;
      const intent = { action: 'count', role: 'counter', args: 'x', writ: writFor('alice') } as never;
      expect((await trajectory.propose(intent)).ruling).toBe('committed');
    }
    return result;
  };
  const assize = runtimeOver(store, [tally], { tools: [TOOL] });
  await assize.recoverEffects();
  expect(isTold).toBe(true);
  await assize.close();
  await other.close();
  expect(await waiting(store)).toBe(LEFT);
});
