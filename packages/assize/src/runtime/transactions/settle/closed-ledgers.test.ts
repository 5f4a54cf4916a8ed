/** For any number of unresolved effects, a closed trajectory is read once for all their entries. */

import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { type EntryRow, readRow } from '#ledger';
import {
  operatorWrit,
  runtimeOver,
  writFor,
} from '../../../../../../tests/support/ledger/runtime.ts';
import { tally } from '../../../../../../tests/support/tools/effect-sink.ts';
import {
  blindTool,
  createInDoubtEffects,
} from '../../../../tests/support/tools/in-doubt-effects.ts';

const LEFT = 40;

class CountingStore extends MemoryStore {
  read = 0;

  override async entries(
    trajectoryId: string,
    range?: { from?: number; limit?: number },
  ): Promise<EntryRow[]> {
    const rows = await super.entries(trajectoryId, range);
    this.read += rows.length;
    return rows;
  }
}

async function left(): Promise<CountingStore> {
  const store = new CountingStore();
  await createInDoubtEffects(store, LEFT);
  return store;
}

async function waiting(store: MemoryStore): Promise<number> {
  const rows = await store.entries('t', { from: 0 });
  return rows.filter((row) => readRow(row).payload.kind === 'pending_approval').length;
}

test('submitting and checking unresolved effects reads each entry a few times', async () => {
  const store = await left();
  for (const _ of ['who submits it', 'who finds it submitted']) {
    store.read = 0;
    const assize = runtimeOver(store, [tally], { tools: [blindTool] });
    expect((await assize.recoverEffects()).length).toBe(LEFT);
    await assize.close();
    expect(store.read).toBeLessThan(3 * LEFT);
    expect(await waiting(store)).toBe(LEFT);
  }
});

test('concurrent foreign entries are read before the next write', async () => {
  const store = await left();
  const other = runtimeOver(store, [tally]);
  const trajectory = await other.open('t');
  const commit = store.commit.bind(store);
  let isTold = false;
  store.commit = async (batch) => {
    const result = await commit(batch);
    if (!isTold && batch.effects !== undefined) {
      isTold = true;
      const intent = {
        action: 'count',
        role: 'counter',
        args: 'x',
        writ: writFor('alice'),
      } as never;
      expect((await trajectory.propose(intent)).ruling).toBe('committed');
    }
    return result;
  };
  const assize = runtimeOver(store, [tally], { tools: [blindTool] });
  await assize.recoverEffects();
  expect(isTold).toBe(true);
  await assize.close();
  await other.close();
  expect(await waiting(store)).toBe(LEFT);
});

test.each([
  ['and has it', true],
  ['and has not', false],
])('a decision reports an unknown commit if the store cannot be asked, %s', async (_, has) => {
  const store = await left();
  const assize = runtimeOver(store, [tally], { tools: [blindTool] });
  const [effect] = await assize.recoverEffects();
  const { commit, resolve } = store;
  store.commit = async (batch) => {
    if (has) await commit.call(store, batch);
    store.resolve = () => Promise.reject(new Error('the line is dead'));
    return { status: 'unknown', cause: new Error('no reply') };
  };
  const decision = {
    epoch: effect!.epoch,
    n: effect!.n,
    as: 'residue',
    by: 'ops',
    writ: operatorWrit(),
    evidence: 'it stays',
  } as const;
  await expect(assize.resolveEffect(decision)).rejects.toMatchObject({
    code: 'commit_unknown',
    cause: { errors: [{ message: 'no reply' }, { message: 'the line is dead' }] },
  });
  Object.assign(store, { commit, resolve });
  const again = assize.resolveEffect(decision);
  if (has)
    await expect(again).rejects.toMatchObject({
      code: 'already_done',
      message: expect.stringContaining('The effect of reversible.externalised in transaction'),
    });
  else expect(await again).toMatchObject({ phase: 'accepted' });
  expect(await assize.recoverEffects()).toHaveLength(LEFT - 1);
  await assize.close();
});
