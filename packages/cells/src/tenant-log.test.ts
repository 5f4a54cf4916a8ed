import { exportLines, importLines } from '@assize/audit/internal/export';
import { MemoryStore } from '@assize/testing/memory';
import {
  type BlobRow,
  type EntryRow,
  type ErasedRow,
  integrateLog,
  Replayer,
  verifyTrajectory,
} from 'assize/internal/ledger';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  branchMembers,
  ChainWriter,
  commitMembers,
  erasureMembers,
  rejectionMembers,
  rootMembers,
  salted,
} from '../../../tests/support/ledger/rows.ts';
import { TenantLog } from './tenant-log.ts';
import { tenantOf } from './tenant-of.ts';

const NAMES = [
  'acme',
  'acme:orders',
  'acme:orders:eu',
  'acmes',
  'beta:acme',
  '__proto__:x',
  ':none',
];

type Step = 'commit' | 'value' | 'erase' | 'reject';

interface Written {
  readonly row: EntryRow;
  readonly blobs: readonly BlobRow[];
  readonly erased: readonly ErasedRow[];
}

/** The entries of several chains, in one order. */
function historyOf(steps: readonly (readonly [name: string, step: Step])[]): readonly Written[] {
  const chains = new Map<string, ChainWriter>();
  const values = new Map<string, { hash: string; seq: number }[]>();
  return steps.flatMap(([name, step], n) => {
    const chain = chains.get(name) ?? new ChainWriter(name);
    const blobs: BlobRow[] = [];
    const written: Written[] = [];
    if (!chains.has(name))
      written.push({ row: chain.add('root', rootMembers()), blobs: [], erased: [] });
    chains.set(name, chain);
    const kept = values.get(name) ?? [];
    values.set(name, kept);
    if (step === 'reject')
      return [...written, { row: chain.add('rejection', rejectionMembers()), blobs, erased: [] }];
    const gone = step === 'erase' ? kept.shift() : undefined;
    if (gone !== undefined) {
      const row = chain.add('commit', erasureMembers([gone]));
      return [...written, { row, blobs, erased: [{ hash: gone.hash, by: row.id }] }];
    }
    const value = step === 'value' ? salted(`${name} ${n}`, blobs) : n;
    const row = chain.add(
      'commit',
      commitMembers([{ op: 'add', path: `/${n}`, value: value as never }]),
    );
    kept.push(...blobs.map(({ hash }) => ({ hash, seq: row.seq })));
    return [...written, { row, blobs, erased: [] }];
  });
}

async function storeOf(history: readonly Written[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  for (const { row, blobs, erased } of history) {
    const result = await store.commit({ entries: [row], blobs, erased });
    expect(result.status).toBe('committed');
  }
  await integrateLog(store);
  return store;
}

async function exported(log: Parameters<typeof exportLines>[0]): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of exportLines(log)) lines.push(line);
  return lines;
}

const histories = fc.array(
  fc.tuple(
    fc.constantFrom(...NAMES),
    fc.constantFrom<Step>('commit', 'value', 'value', 'erase', 'reject'),
  ),
  { minLength: 1, maxLength: 60 },
);

test('a tenant’s export is that of a store with its entries alone', async () => {
  await fc.assert(
    fc.asyncProperty(
      histories,
      fc.nat(20),
      fc.integer({ min: 1, max: 20 }),
      async (steps, from, limit) => {
        const history = historyOf(steps);
        const store = await storeOf(history);
        for (const tenant of new Set(NAMES.map(tenantOf))) {
          const own = history.filter(({ row }) => row.trajectory_id.split(':')[0] === tenant);
          const log = await TenantLog.of(store, tenant);
          expect(await log.logSize()).toBe(own.length);
          expect(await log.logged(from, limit)).toEqual(
            own.slice(from, from + limit).map(({ row }) => row),
          );
          for (const [n, { row }] of own.entries()) expect(await log.logIndex(row.id)).toBe(n);
          for (const { row } of history)
            if (tenantOf(row.trajectory_id) !== tenant)
              expect(await log.logIndex(row.id)).toBeUndefined();
          expect(await exported(log)).toEqual(await exported(await storeOf(own)));
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('a log of several pages is read to its end', async () => {
  const names = ['acme:orders', 'beta', 'beta', 'acme:returns'];
  const history = historyOf(Array.from({ length: 2_500 }, (_, n) => [names[n % 4]!, 'reject']));
  const store = await storeOf(history);
  const log = await TenantLog.of(store, 'acme');
  const own = history.filter(({ row }) => row.trajectory_id.startsWith('acme:'));
  expect(await log.logged(0, 2_000)).toEqual(own.map(({ row }) => row));
  const copy = new MemoryStore();
  const lines = (await exported(log)).map((line) => line.slice(0, -1));
  expect((await importLines(copy, textsOf(lines))).entries).toBe(own.length);
  expect((await copy.trajectories()).map((one) => one.trajectory_id).toSorted()).toEqual([
    'acme:orders',
    'acme:returns',
  ]);
});

test('an export brings an erasure to an earlier copy', async () => {
  const steps = ['value', 'value', 'erase'] as const;
  const history = historyOf(
    steps.flatMap((step) => [['acme', step] as const, ['beta', step] as const]),
  );
  const isOf = (tenant: string) => history.filter(({ row }) => row.trajectory_id === tenant);
  const [erased] = isOf('acme').at(-1)!.erased;
  const copy = await storeOf(isOf('acme').slice(0, -1));
  expect(await copy.blob(erased!.hash)).toContain('acme');
  const lines = await exported(await TenantLog.of(await storeOf(history), 'acme'));
  const brought = await importLines(copy, textsOf(lines.map((line) => line.slice(0, -1))), {
    erase: true,
  });
  expect(brought).toMatchObject({ entries: 4 });
  expect([await copy.blob(erased!.hash), await copy.erasedBy(erased!.hash)]).toEqual([
    undefined,
    erased!.by,
  ]);
  expect(await copy.trajectories()).toHaveLength(1);
});

test('a branch of another tenant’s trajectory does not verify without it', async () => {
  const source = new ChainWriter('acme');
  const root = source.add('root', rootMembers());
  const branch = new ChainWriter('beta');
  branch.add('branch', branchMembers(root));
  const store = await storeOf(
    [...source.rows, ...branch.rows].map((row) => ({ row, blobs: [], erased: [] })),
  );
  const lines = await exported(await TenantLog.of(store, 'beta'));
  const copy = new MemoryStore();
  await importLines(copy, textsOf(lines.map((line) => line.slice(0, -1))));
  const { fault } = await verifyTrajectory(new Replayer(copy), 'beta');
  expect(fault?.code).toBe('source_missing');
});

async function* textsOf(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

test('an entry that was added after the log was read is not part of it', async () => {
  const history = historyOf([
    ['acme', 'commit'],
    ['acme', 'commit'],
  ]);
  const store = await storeOf(history.slice(0, 2));
  const log = await TenantLog.of(store, 'acme');
  await store.commit({ entries: [history[2]!.row], blobs: [] });
  await integrateLog(store);
  expect(await log.logSize()).toBe(2);
  expect(await exported(log)).toHaveLength(4);
});
