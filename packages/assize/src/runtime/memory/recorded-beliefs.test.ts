/** Ledgers with commits that change facts, as the runtime reads them. */

import { exportLines } from '@assize/audit/internal/export';
import { backtest, deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { type BlobRow, checkRow, entryRow, factWrites, integrateLog, ValueReader } from '#ledger';
import { ALLERGY, Beliefs, MEDICATION } from '../../../../../tests/support/ledger/belief-cases.ts';
import { deskOf } from '../../../../../tests/support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { verifyStore } from '../inspect/verify.ts';

const worker = writFor('agent');
const desk = deskOf('footprint');
const DOCTOR = { principal: 'dr-who', method: 'test' };
/** Later than every step here. */
const LATE = '2027-01-01T00:00:00.000000Z';

/** A plain and an approved commit that both change facts. Returns their ids. */
async function told(): Promise<{ store: MemoryStore; commits: string[] }> {
  const plain = new MemoryStore();
  const trajectory = await runtimeOver(plain, [desk]).create(desk, {
    trajectoryId: 't',
    writs: [worker],
  });
  await trajectory.propose(intent('add', { by: 4 }, worker));
  const asked = await trajectory.propose(intent('ask', { amount: 1 }, worker));
  if (asked.ruling !== 'escalated') throw new Error(JSON.stringify(asked));
  await trajectory.approvals.approve(asked.pending, DOCTOR);
  const made = new Beliefs();
  const changes = [
    made.change(MEDICATION, 1, 0, { system_time: LATE, insert: [made.row('a', 'penicillin')] }),
    made.change(ALLERGY, 1, 0, { system_time: LATE, insert: [made.row('b', 'nuts')] }),
  ];
  return rewritten(plain, changes, made.blobs);
}

/** The same chain, with a fact change in each commit. */
async function rewritten(plain: MemoryStore, changes: unknown[], blobs: readonly BlobRow[]) {
  const store = new MemoryStore();
  const [ids, commits]: [[string, string][], string[]] = [[], []];
  for (const { id, payload } of await plain.entries('t')) {
    const text = ids.reduce((all, [from, to]) => all.replaceAll(from, to), payload);
    const read = JSON.parse(text);
    if (read.kind === 'commit') read.delta.beliefs = [changes.shift()];
    const row = entryRow(read);
    ids.push([id, row.id]);
    if (read.kind === 'commit') commits.push(row.id);
    await store.commit({ entries: [row], blobs });
  }
  return { store, commits };
}

test('deep replay takes and reports beliefs as recorded; backtests skip them', async () => {
  const { store } = await told();
  expect(await verifyStore(store)).toMatchObject([{ valid: true, entries: 4 }]);
  expect(await deepReplay(store, 't', { domains: [desk] })).toMatchObject({
    same: true,
    preserved: true,
    compared: 4,
    differences: [],
    taken_as_recorded: { beliefs: 2 },
  });
  expect(await backtest(store, 't', { domains: [desk] })).toMatchObject({
    differences: [],
    not_judgeable: {},
  });
});

test('an entry’s beliefs are erased with the entry, for every reader', async () => {
  const { store, commits } = await told();
  const [commit] = commits as [string];
  const trajectory = await runtimeOver(store, [desk]).open('t');
  expect(
    await trajectory.erase({ entries: [commit], reason: 'asked for', writ: worker }),
  ).toMatchObject({
    ruling: 'committed',
  });
  expect(await verifyStore(store)).toMatchObject([{ valid: true, erased: 2, entries: 5 }]);
  await integrateLog(store);
  let text = '';
  for await (const line of exportLines(store)) text += line;
  expect([text.includes('penicillin'), text.includes(MEDICATION['predicate'] as string)]).toEqual([
    false,
    false,
  ]);
  expect(text).toContain('nuts');
  const [row] = await store.entries('t', { from: 1, limit: 1 });
  const [write] = await factWrites(checkRow(row!), new ValueReader(store));
  expect(write).toMatchObject({
    partition: { subject: `{"$erased":"${write!.names.hash}"}` },
    insert: [{ object: `{"$erased":"${write!.insert[0]!.content.hash}"}` }],
  });
  // It can still be replayed and opened.
  expect(await deepReplay(store, 't', { domains: [desk] })).toMatchObject({ same: true });
  expect((await runtimeOver(store, [desk]).open('t')).length).toBe(5);
});
