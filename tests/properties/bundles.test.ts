import { setImmediate as nextTurn } from 'node:timers/promises';
import { readCheckpoint } from '@assize/audit/internal/checkpoints';
import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BUNDLE_ENTRIES_MAX, type BundleScope, verifyBundle } from '#bundle';
import type { EntryRow } from '#ledger';
import { proofsOf } from '../../packages/audit/src/bundle/proofs.ts';
import { selectEntries } from '../../packages/audit/src/bundle/select.ts';
import { cases } from '../support/cases.ts';
import {
  bundleLedgers,
  bundleOf,
  MADE_AT,
  signedCheckpoint,
  textsOf,
  WITNESS,
} from '../support/ledger/bundle-ledgers.ts';
import { LOG } from '../support/ledger/merkle-fixtures.ts';
import { naiveBundle } from '../support/ledger/naive-bundle.ts';
import { ChainWriter, commitMembers, rootMembers } from '../support/ledger/rows.ts';
import { schedulesOf } from '../support/models/treasury/schedule.ts';
import { play } from '../support/models/treasury/stage.ts';
import { someOf } from '../support/some-of.ts';

const ALWAYS = { from: '2000-01-01T00:00:00.000000Z', to: '2100-01-01T00:00:00.000000Z' };

const LEDGERS = await bundleLedgers();

describe('a bundle of a ledger with', () => {
  test.each(someOf(LEDGERS))('$name has its scope and context, and verifies', async ({ make }) => {
    const store = await make();
    for (const scope of scopesOf(await rowsOf(store))) await expectSound(store, scope);
  });
});

test('random scopes of generated ledgers have their context, and verify', async () => {
  await fc.assert(
    fc.asyncProperty(
      schedulesOf(12),
      fc.array(fc.nat(), { minLength: 3, maxLength: 3 }),
      async (schedule, chosen) => {
        const { store } = await play(schedule);
        const scopes = scopesOf(await rowsOf(store));
        for (const at of chosen) await expectSound(store, scopes[at % scopes.length]!);
      },
    ),
    { numRuns: cases(10) },
  );
}, 60_000);

test('the same ledger and options give the same bytes', async () => {
  const store = await LEDGERS[0]!.make();
  const scope = { kind: 'period', ...ALWAYS } as const;
  const [one, other] = [await bundleOf(store, scope), await bundleOf(store, scope)];
  expect(Buffer.compare(one.zip, other.zip)).toBe(0);
});

test('other work of the process goes on while a bundle is made', async () => {
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({}));
  for (let n = 1; n < 2_000; n++) writer.add('commit', commitMembers());
  const store = new MemoryStore();
  await store.commit({ entries: writer.rows, blobs: [] });
  const signed = await signedCheckpoint(store);
  const { checkpoint } = readCheckpoint(signed, { origin: LOG.name, keys: [LOG] }, []);
  const selecting = selectEntries(store, { kind: 'period', ...ALWAYS }, Number(checkpoint.size));
  expect(await turnsDuring(selecting)).toBeGreaterThan(15);
  const { entries } = await selecting;
  expect(await turnsDuring(proofsOf(store, entries, checkpoint, signed))).toBeGreaterThan(15);
});

test.each(['entry', 'period', 'person'] as const)(
  'a bundle of one %s is given up with its signal',
  async (kind) => {
    const store = await LEDGERS[0]!.make();
    const scope = scopesOf(await rowsOf(store)).find((one) => one.kind === kind)!;
    const signal = AbortSignal.abort(new Error('the reader has left'));
    await expect(bundleOf(store, scope, { signal })).rejects.toThrow('the reader has left');
  },
);

/** The turns of the event loop that other work gets meanwhile. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isWorking = true;
  const other = (async () => {
    for (; isWorking; turns++) await nextTurn();
  })();
  await work;
  isWorking = false;
  await other;
  return turns;
}

test('a page gets the other files as data that ends no element', async () => {
  const slot = '<script type="application/json" id="bundle"></script>';
  const script = 'print("</script><script>")';
  const { zip } = await bundleOf(
    await LEDGERS[0]!.make(),
    { kind: 'period', ...ALWAYS },
    { page: `<p>${slot}$&`, script },
  );
  const { 'verify.html': page, ...others } = textsOf(zip);
  const [, json] =
    /^<p><script type="application\/json" id="bundle">([^<]*)<\/script>\$&$/.exec(page as string) ??
    [];
  expect(JSON.parse(json as string)).toEqual(others);
  expect(others['verify.py']).toBe(script);
  expect(await verifyBundle(zip, { logKey: LOG })).toMatchObject({ valid: true });
});

test('a bundle names the witnesses that cosigned, and the erased values', async () => {
  const erased = LEDGERS.find(({ name }) => name === 'all erased')!;
  const store = await erased.make();
  const all = { kind: 'period', ...ALWAYS } as const;
  const verdict = await verifyBundle((await bundleOf(store, all)).zip, {
    logKey: LOG,
    witnesses: [WITNESS],
  });
  expect(verdict).toMatchObject({ valid: true, logKey: 'given', witnesses: [WITNESS.name] });
  expect(verdict.valid && verdict.erased).toBeGreaterThan(0);
  const alone = await bundleOf(store, all, { checkpoint: await signedCheckpoint(store, false) });
  expect(await verifyBundle(alone.zip)).toMatchObject({
    valid: true,
    logKey: 'bundle',
    witnesses: [],
  });
  expect(await verifyBundle(alone.zip, { witnesses: [WITNESS] })).toMatchObject({
    fault: { code: 'not_witnessed' },
  });
});

describe('a scope is refused', () => {
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({ n: 0 }));
  writer.add('commit', commitMembers([{ op: 'replace', path: '/n', value: 1 }]));
  const store = new MemoryStore();
  const made = store.commit({ entries: writer.rows, blobs: [] });
  const code = async (scope: unknown, more = {}): Promise<string> => {
    await made;
    return bundleOf(store, scope as BundleScope, more).then(
      () => 'none',
      (error) => `${error.name} ${error.code}`,
    );
  };

  test.each([
    ['of no kind', {}, 'RuntimeError bad_argument'],
    ['with half an id', { kind: 'entry', entry: 'ab12' }, 'RuntimeError bad_argument'],
    [
      'with an unknown member',
      { kind: 'person', person: 'ann', role: 'x' },
      'RuntimeError bad_argument',
    ],
    [
      'with one end',
      { kind: 'person', person: 'ann', from: ALWAYS.from },
      'RuntimeError bad_argument',
    ],
    [
      'that ends before it begins',
      { kind: 'period', from: ALWAYS.to, to: ALWAYS.from },
      'RuntimeError bad_argument',
    ],
    ['of an unknown entry', { kind: 'entry', entry: 'a'.repeat(64) }, 'RuntimeError not_found'],
    ['without entries', { kind: 'person', person: 'stranger' }, 'RuntimeError not_found'],
    [
      'of an entry that is not an approval',
      { kind: 'approval', approval: writer.head.id },
      'RuntimeError not_found',
    ],
  ])('%s', async (_, scope, expected) => expect(await code(scope)).toBe(expected));

  test('whose entries the checkpoint does not cover', async () => {
    await made;
    const checkpoint = await signedCheckpoint(store);
    writer.add('commit', commitMembers([]));
    await store.commit({ entries: [writer.head], blobs: [] });
    expect(await code({ kind: 'entry', entry: writer.head.id }, { checkpoint })).toBe(
      'RuntimeError not_checkpointed',
    );
    expect(await code({ kind: 'period', ...ALWAYS }, { checkpoint })).toBe(
      'RuntimeError not_checkpointed',
    );
    const earlier = { kind: 'entry', entry: writer.rows[1]!.id };
    expect(await code(earlier, { checkpoint })).toBe('none');
  });

  test('that has more entries than a bundle may have', async () => {
    const long = new ChainWriter('t');
    long.add('root', rootMembers({}));
    while (long.rows.length <= BUNDLE_ENTRIES_MAX) long.add('commit', commitMembers([]));
    const store = new MemoryStore();
    await store.commit({ entries: long.rows, blobs: [] });
    await expect(bundleOf(store, { kind: 'period', ...ALWAYS })).rejects.toMatchObject({
      code: 'too_large',
      message: expect.stringContaining('10000 entries. Narrow its scope'),
    });
  }, 60_000);
});

/** Every entry, every pending entry, every name, and periods. */
function scopesOf(rows: readonly EntryRow[]): BundleScope[] {
  const payloads = rows.map(({ payload }) => JSON.parse(payload));
  const names = new Set(
    JSON.stringify(payloads).match(/(?<="(?:principal|by|subject)":")[^"\\]+(?=")/g) ?? [],
  );
  const times = payloads.map(({ at }) => at as string).sort();
  const middle = times[times.length >> 1] as string;
  const trajectory = rows[0]!.trajectory_id;
  return [
    ...rows.map(({ id }) => ({ kind: 'entry', entry: id }) as const),
    ...rows.flatMap(({ id, kind }) =>
      kind === 'pending_approval' ? [{ kind: 'approval', approval: id } as const] : [],
    ),
    ...[...names].map((person) => ({ kind: 'person', person }) as const),
    ...[...names].map(
      (person) => ({ kind: 'person', person, from: middle, to: ALWAYS.to, trajectory }) as const,
    ),
    { kind: 'period', ...ALWAYS },
    { kind: 'period', from: middle, to: ALWAYS.to },
    { kind: 'period', from: ALWAYS.from, to: middle, trajectory },
  ];
}

/** The bundle has the entries that the format's page lists, and verifies; or none is in scope. */
async function expectSound(store: MemoryStore, scope: BundleScope): Promise<void> {
  const ids = await naiveBundle(store, scope);
  const made = await bundleOf(store, scope).catch((error) => error);
  const what = JSON.stringify(scope);
  if (ids.size === 0) return expect(made.code, what).toBe('not_found');
  expect(made.code, `${what}: ${made.message}`).toBeUndefined();
  const lines = textsOf(made.zip)['entries.jsonl']!.matchAll(/^\{"id":"([0-9a-f]{64})","index"/gm);
  expect(new Set([...lines].map(([, id]) => id)), what).toEqual(ids);
  const verdict = await verifyBundle(made.zip, { logKey: LOG, witnesses: [WITNESS] });
  expect(verdict, what).toMatchObject({ valid: true, inScope: made.inScope, madeAt: MADE_AT });
}

async function rowsOf(store: MemoryStore): Promise<EntryRow[]> {
  const all = await Promise.all(
    (await store.trajectories()).map(({ trajectory_id }) => store.entries(trajectory_id)),
  );
  return all.flat();
}
