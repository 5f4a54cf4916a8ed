import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAssizeError } from '#base';
import type { EntryRow } from '#ledger';
import { verifyStore } from '#runtime';
import { openSqlite, type SqliteStore } from '#stores';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { cases } from '../support/cases.ts';
import { desk } from '../support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-damage-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ROUNDS = cases(300);
const SEED = 20_260_323;

/** A ledger as a crash leaves it: half of it in the file, half of it in the WAL. */
interface Left {
  readonly main: Buffer;
  readonly wal: Buffer;
  readonly chains: ReadonlyMap<string, readonly EntryRow[]>;
}

let left: Left;
beforeAll(async () => {
  const path = join(folder, 'base.db');
  const store = await openSqlite({ path });
  const worker = writFor('agent');
  const assize = runtimeOver(store, [desk], { oracle: store });
  const main = await assize.create(desk, { trajectoryId: 'main', writs: [worker] });
  const work = async (rounds: number): Promise<void> => {
    for (let n = 0; n < rounds; n += 1) {
      await main.propose(intent('add', { by: n % 2 === 0 ? 1 : -1 }, worker));
      await main.propose(
        intent('keep', { value: `${n} `.repeat(n % 5 === 0 ? 6_000 : 50) }, worker),
      );
      await main.propose(intent('add', { by: 50 }, worker));
      const asked = await main.propose(intent('ask', { amount: 1 }, worker));
      const pending = asked.ruling === 'escalated' ? asked.pending : '';
      await main.approvals.approve(pending, { principal: 'dr-who', method: 'test' });
    }
  };
  await work(5);
  const side = await assize.branch('main', main.head, {
    trajectoryId: 'side',
    note: 'a branch',
    writs: [worker],
  });
  await side.propose(intent('add', { by: 2 }, worker));
  // Opening copies the WAL into the file. Later writes are in the WAL alone.
  await (await openSqlite({ path })).close();
  await work(5);
  await side.propose(intent('add', { by: 3 }, worker));
  for (const suffix of ['', '-wal'])
    copyFileSync(`${path}${suffix}`, join(folder, `left${suffix}`));
  left = {
    main: readFileSync(join(folder, 'left')),
    wal: readFileSync(join(folder, 'left-wal')),
    chains: await chainsOf(store),
  };
  await store.close();
});

async function chainsOf(store: SqliteStore): Promise<Map<string, EntryRow[]>> {
  const chains = new Map<string, EntryRow[]>();
  for (const { trajectory_id } of await store.trajectories()) {
    chains.set(trajectory_id, await store.entries(trajectory_id, { limit: 10_000 }));
  }
  return chains;
}

type Damage = (bytes: Buffer, next: (below: number) => number) => Buffer;

const DAMAGES: Readonly<Record<string, Damage>> = {
  'a bit that flips': (bytes, next) => {
    const at = next(bytes.length);
    const damaged = Buffer.from(bytes);
    damaged[at] = damaged[at]! ^ (1 << next(8));
    return damaged;
  },
  'an end that is missing': (bytes, next) => Buffer.from(bytes.subarray(0, next(bytes.length))),
  'a sector that was never written, or by someone else': (bytes, next) => {
    const start = 512 * next(Math.ceil(bytes.length / 512));
    const fill = next(2) === 0 ? 0 : next(256);
    return Buffer.from(bytes).fill(fill, start, start + 512);
  },
};

/** The outcome for a damaged ledger. */
type End = 'full' | 'shorter' | 'named by verify' | 'error';

/** How the place ends up with these files; throws when it passes for a ledger that it never was. */
async function endOf(path: string, main: Buffer, wal: Buffer): Promise<End> {
  writeFileSync(path, main);
  writeFileSync(`${path}-wal`, wal);
  let store: SqliteStore | undefined;
  try {
    store = await openSqlite({ path, mode: 'existing', durability: 'off' });
    const reports = await verifyStore(store);
    if (reports.some(({ valid }) => !valid)) return 'named by verify';
    return compare(await chainsOf(store));
  } catch (error) {
    if (!isAssizeError(error) || !error.code.startsWith('store_')) throw error;
    return 'error';
  } finally {
    // Closing writes, and a damaged file may refuse it.
    await store?.close().catch(() => undefined);
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
  }
}

function compare(chains: ReadonlyMap<string, readonly EntryRow[]>): End {
  for (const [name, rows] of chains) {
    const original = left.chains.get(name);
    expect(original, `a trajectory ${name} that never was verifies`).toBeDefined();
    expect(rows, `a history of ${name} that never was verifies`).toEqual(
      original!.slice(0, rows.length),
    );
  }
  const isFull = [...left.chains].every(([name, rows]) => chains.get(name)?.length === rows.length);
  return isFull ? 'full' : 'shorter';
}

test('a crashed store opens as the full ledger, or as an older one without WAL', async () => {
  expect(left.wal.length).toBeGreaterThan(20_000);
  expect(left.main.length).toBeGreaterThan(20_000);
  expect(await endOf(join(folder, 'whole.db'), left.main, left.wal)).toBe('full');
  // No chain can tell this from a ledger that was never longer.
  expect(await endOf(join(folder, 'older.db'), left.main, Buffer.alloc(0))).toBe('shorter');
});

describe.each(['main', 'wal'] as const)('damage to the %s file', (file) => {
  test.each(Object.entries(DAMAGES))(
    `%s, ${ROUNDS} times: the ledger is whole, shorter, or said to be damaged`,
    async (name, damage) => {
      const next = seededNumbers(SEED);
      const ends: Record<End, number> = { full: 0, shorter: 0, 'named by verify': 0, error: 0 };
      for (let round = 0; round < ROUNDS; round += 1) {
        const damaged = damage(left[file], next);
        const [main, wal] = file === 'main' ? [damaged, left.wal] : [left.main, damaged];
        ends[await endOf(join(folder, 'damaged.db'), main, wal)] += 1;
      }
      // Only a checkpoint stored outside the file can reveal the shorter ledgers.
      console.info(`${file}, ${name}:`, ends);
      expect(ends.full + ends.shorter + ends['named by verify'] + ends.error).toBe(ROUNDS);
      expect(ends.full).toBeLessThan(ROUNDS);
    },
  );
});
