import { MemoryStore } from '@assize/testing/memory';
import type { LoggedTransaction } from 'assize/internal/ledger';
import { expect, test } from 'vitest';
import { fsck } from '#checkpoints';
import { RECOVERY_KEY, runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { OutsideSink, Steps, tally, toolFor } from '../../../../tests/support/tools/effect-sink.ts';

/** A store with a named transaction, an unnamed one, and one that was compensated. */
async function acted(): Promise<MemoryStore> {
  const store = new MemoryStore();
  const outside = {
    sink: new OutsideSink('keyed'),
    steps: new Steps(),
    fault: () => 'none' as const,
  };
  const tools = [
    toolFor(outside, 'reversible', 'externalised'),
    toolFor(outside, 'irreversible', 'buffered'),
  ];
  const assize = runtimeOver(store, [tally], { tools });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const terms = { writ: writFor('alice'), writes: ['test:**'] };
  for (const [name, counted] of [
    ['order-1', 'order'],
    [undefined, 'order'],
    ['order-2', 'forbidden'],
  ] as const)
    await trajectory.transaction({ ...terms, ...(name !== undefined && { name }) }, async (tx) => {
      for (const { name: tool } of tools) await tx.call(tool, { what: 'x', at: 'a' } as never);
      tx.propose({ action: 'count', role: 'counter', args: counted } as never);
    });
  await assize.close();
  return store;
}

/** The same store, with other answers of some methods. */
const changed = (store: MemoryStore, more: object): MemoryStore =>
  new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(Object.hasOwn(more, name) ? more : target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });

const changedRows = (
  store: MemoryStore,
  change: (logged: LoggedTransaction) => LoggedTransaction,
): MemoryStore =>
  changed(store, {
    listEffects: async (query: never) => (await store.listEffects(query)).map(change),
  });

test('MACs and keys are checked with the key, and not without', async () => {
  const store = await acted();
  expect(await fsck(store)).toMatchObject({ valid: true, effects: { transactions: 3 } });
  expect((await fsck(store)).effects).not.toHaveProperty('authentic');
  const checked = await fsck(store, { recoveryKey: RECOVERY_KEY });
  expect(checked).toMatchObject({
    valid: true,
    faults: [],
    effects: { transactions: 3, authentic: 3 },
  });
  const other = await fsck(store, { recoveryKey: 'another key of thirty-two characters' });
  expect(other).toMatchObject({ valid: false, effects: { transactions: 3, authentic: 0 } });
});

test.each<[string, (logged: LoggedTransaction) => LoggedTransaction]>([
  ['the principal', (logged) => ({ ...logged, body: logged.body.replace('"alice"', '"mallory"') })],
  ['the claims', (logged) => ({ ...logged, body: logged.body.replace('test:', 'rest:') })],
  [
    'the writ',
    (logged) => ({
      ...logged,
      body: logged.body
        .replace(/"writ_id":"."/, '"writ_id":"0"')
        .replace(/("writ_id":")[0-9a-f]/, '$1x'),
    }),
  ],
  [
    'a record',
    (logged) => ({
      ...logged,
      records: logged.records.map((row) => row.replace('"is"', '"at":1,"is"')),
    }),
  ],
  [
    'the MACs',
    (logged) => ({
      ...logged,
      records: logged.records.map((row) => row.replace(/"mac":"[0-9a-f]{8}/, '"mac":"00000000')),
    }),
  ],
])('a change of %s is found in each transaction', async (_, change) => {
  const report = await fsck(changedRows(await acted(), change), { recoveryKey: RECOVERY_KEY });
  const epochs = report.faults.flatMap((fault) =>
    fault.code === 'effect_not_authentic' ? [fault.epoch] : [],
  );
  expect({ valid: report.valid, epochs }).toEqual({ valid: false, epochs: [3, 2, 1] });
});

test('a key that is missing, or leads elsewhere, is found', async () => {
  const store = await acted();
  const missing = await fsck(changed(store, { effectKey: async () => undefined }), {
    recoveryKey: RECOVERY_KEY,
  });
  const named = missing.faults.filter(({ code }) => code === 'effect_key_differs');
  expect(new Set(named.map((fault) => 'epoch' in fault && fault.epoch))).toEqual(new Set([3, 1]));
  const elsewhere = async (key: string) => ({ key, epoch: 2, n: 0 });
  const wrong = await fsck(changed(store, { effectKey: elsewhere }), { recoveryKey: RECOVERY_KEY });
  expect(wrong.faults.map(({ code }) => code)).toContain('effect_key_differs');
});
