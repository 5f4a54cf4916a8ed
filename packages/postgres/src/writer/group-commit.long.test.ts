import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { batchOf, blobOf, chainOf, entryAfter } from '@assize/testing/internal/store-rows.ts';
import { describe, expect, test, vi } from 'vitest';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { Session } from '../connection/session.ts';
import { openPostgres, type PostgresStore } from '../index.ts';
import { GROUP_BYTES_MAX, GROUP_ROWS_MAX } from './group-commit.ts';

// A writer that appends pairs of entries until it is killed, and prints the first id of each
// committed pair immediately.
const WRITER = `
import { writeSync } from 'node:fs';
const [rows, url, name] = process.argv.slice(1);
const { batchOf, blobOf, entryAfter } = await import(rows);
const { openStore } = await import('assize/internal/stores');
const store = await openStore(url);
for (let n = 0; ; n += 1) {
  const first = entryAfter(await store.head(name), name, [process.pid, n]);
  const result = await store.commit(batchOf([first, entryAfter(first, name)], [blobOf(first.id)]));
  if (result.status === 'committed') writeSync(1, first.id + '\\n');
}`;

const TERMINATE =
  "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'assize'";

class Writer {
  readonly committed: string[] = [];
  readonly #child: ChildProcess;
  #heard: () => void = () => undefined;

  constructor(url: string, name: string) {
    const rows = join(import.meta.dirname, '../../../testing/src/store-rows.ts');
    const args = ['--input-type=module', '-e', WRITER, rows, url, name];
    this.#child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    createInterface(this.#child.stdout!).on('line', (id) => {
      this.committed.push(id);
      this.#heard();
    });
  }

  async reach(committed: number): Promise<void> {
    while (this.committed.length < committed)
      await new Promise<void>((resolve) => (this.#heard = resolve));
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await once(this.#child, 'close');
  }
}

withPostgres(
  'groups',
  (postgres) => {
    /**
     * A store, and a function that returns the number of entries that each statement has inserted
     * so far.
     */
    async function watchedStore(): Promise<{
      store: PostgresStore;
      groups: () => Promise<number[]>;
    }> {
      const url = postgres.url();
      const store = await openPostgres({ url });
      const path = `SET search_path TO "${postgres.schemaOf(url)}"`;
      await postgres.query(`${path}; CREATE TABLE watched (n serial, entries int);
      CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
        INSERT INTO watched (entries) SELECT count(*) FROM added; RETURN NULL; END $$;
      CREATE TRIGGER watch AFTER INSERT ON entry REFERENCING NEW TABLE AS added EXECUTE FUNCTION watch()`);
      const groups = async (): Promise<number[]> => {
        const rows = await postgres.query(`${path}; SELECT entries FROM watched ORDER BY n`);
        return rows.map(({ entries }) => entries);
      };
      return { store, groups };
    }

    /** Without the trigger that watches. */
    async function faultsOf(store: PostgresStore): Promise<string[]> {
      return (await store.selfCheck()).filter(
        (fault) => !fault.startsWith('the trigger entry.watch '),
      );
    }

    test('all that wait together are written together', async () => {
      const { store, groups } = await watchedStore();
      const chains = Array.from({ length: 64 }, (_, n) => chainOf(`t${n}`, 3));
      const append = async (chain: (typeof chains)[number]): Promise<void> => {
        for (const row of chain)
          expect(await store.commit(batchOf(row))).toEqual({ status: 'committed' });
      };
      await Promise.all(chains.map(append));
      expect(await groups()).toEqual([64, 64, 64]);
      await store.close();
    });

    const CALLERS = 16;

    /** Keeps the process busy for the duration of many calls. */
    function make(): void {
      const until = performance.now() + 10;
      while (performance.now() < until);
    }

    test('if preparation is slow, half is written while the other half is prepared', async () => {
      const { store, groups } = await watchedStore();
      await store.commit(batchOf(entryAfter(undefined, 'alone')));
      let underWay = 0;
      const run = Session.prototype.run;
      const watched = vi.spyOn(Session.prototype, 'run').mockImplementation(async function (
        this: Session,
        ...asked
      ) {
        underWay += 1;
        try {
          return await run.apply(this, asked);
        } finally {
          underWay -= 1;
        }
      });
      let overlapped = 0;
      const append = async (chain: ReturnType<typeof chainOf>): Promise<void> => {
        for (const row of chain) {
          make();
          expect(await store.commit(batchOf(row))).toEqual({ status: 'committed' });
          if (underWay > 0) overlapped += 1;
        }
      };
      const chains = Array.from({ length: CALLERS }, (_, n) => chainOf(`t${n}`, 20));
      await Promise.all(chains.map(append));
      watched.mockRestore();
      const sizes = (await groups()).slice(1);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(CALLERS * 20);
      expect(sizes.filter((size) => size <= CALLERS / 2 + 1).length).toBeGreaterThan(25);
      expect(overlapped).toBeGreaterThan(CALLERS * 12);
      expect(await faultsOf(store)).toEqual([]);
      await store.close();
    });

    test('every concurrent request is answered, also if connections are lost', async () => {
      const { store } = await watchedStore();
      let asked = 0;
      const lost = new Set([150, 300]);
      const ask = async (name: string): Promise<void> => {
        let head = await store.head(name);
        for (let n = 0; n < 30; n += 1) {
          make();
          asked += 1;
          if (lost.has(asked)) await postgres.query(TERMINATE);
          const row = entryAfter(head, name, n);
          const result = await store.commit(batchOf(row));
          const isThere =
            result.status === 'unknown' ? (await store.resolve(row.id)) !== undefined : true;
          if (isThere) {
            if (result.status !== 'unknown') expect(result).toEqual({ status: 'committed' });
            head = row;
          }
          if (n % 3 === 0) {
            const misfit = entryAfter(undefined, name, ['another', n]);
            const { status } = await store.commit(batchOf(misfit));
            expect(['conflict', 'unknown']).toContain(status);
            if (status === 'unknown') expect(await store.resolve(misfit.id)).toBeUndefined();
          }
          if (n % 5 === 0) {
            const answer = {
              key: blobOf(`${name} ${n}`).hash,
              answer: `${n}`,
              at: '2026-01-01T00:00:00.000000Z',
            };
            expect(await store.oraclePut(answer)).toEqual(answer);
          }
          if (n % 7 === 0) await store.dropSnapshots();
        }
        expect(await store.head(name)).toMatchObject({ id: head!.id, seq: head!.seq });
      };
      await Promise.all(Array.from({ length: CALLERS }, (_, n) => ask(`t${n}`)));
      expect(await faultsOf(store)).toEqual([]);
      await store.close();
    });

    test('requests during a write of the server go into the next group', async () => {
      const { store, groups } = await watchedStore();
      const first = store.commit(batchOf(entryAfter(undefined, 'first')));
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      const chain = chainOf('t', 20);
      const rest = chain.map((row) => store.commit(batchOf(row)));
      for (const commit of [first, ...rest]) expect(await commit).toEqual({ status: 'committed' });
      expect(await groups()).toEqual([1, 20]);
      await store.close();
    });

    test('a group ends at so many rows, and no batch is cut in two', async () => {
      const { store, groups } = await watchedStore();
      const small = chainOf('small', 2 * GROUP_ROWS_MAX + 1).map((row) =>
        store.commit(batchOf(row)),
      );
      const large = store.commit(batchOf(chainOf('large', 2 * GROUP_ROWS_MAX)));
      for (const commit of [...small, large]) expect(await commit).toEqual({ status: 'committed' });
      expect(await groups()).toEqual([GROUP_ROWS_MAX, GROUP_ROWS_MAX, 1, 2 * GROUP_ROWS_MAX]);
      await store.close();
    });

    test('a group ends at so many bytes', async () => {
      const { store, groups } = await watchedStore();
      const commits = Array.from({ length: 5 }, (_, n) =>
        store.commit(
          batchOf(entryAfter(undefined, `t${n}`), [
            blobOf(`${n}`.repeat(GROUP_BYTES_MAX / 2 - 1_000)),
          ]),
        ),
      );
      for (const commit of commits) expect(await commit).toEqual({ status: 'committed' });
      expect(await groups()).toEqual([2, 2, 1]);
      await store.close();
    });

    test('a conflict costs its group one more call and its neighbours nothing', async () => {
      const { store, groups } = await watchedStore();
      const root = entryAfter(undefined, 'root');
      await store.commit(batchOf(root));
      const rows = Array.from({ length: 9 }, (_, n) => entryAfter(undefined, `t${n}`));
      rows[4] = { ...rows[4]!, id: root.id };
      rows[6] = entryAfter(undefined, 'root', 'another');
      const results = await Promise.all(rows.map((row) => store.commit(batchOf(row))));
      expect(results.map(({ status }) => status === 'committed')).toEqual(
        rows.map((_, n) => n !== 4 && n !== 6),
      );
      expect(await groups()).toEqual([1, 7]);
      expect(await store.trajectories()).toHaveLength(8);
      expect(await faultsOf(store)).toEqual([]);
      await store.close();
    });

    describe('many stores on one place', () => {
      async function openMany(
        count: number,
        isolation = 'read committed',
      ): Promise<PostgresStore[]> {
        const options = encodeURIComponent(
          `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`,
        );
        const url = `${postgres.url()}&options=${options}`;
        return Promise.all(Array.from({ length: count }, () => openPostgres({ url })));
      }

      // The store must not depend on the server's default isolation level.
      test.each(['read committed', 'repeatable read', 'serializable'])(
        'of 64 concurrent appends to 8 stores one commits each time, no gap: %s',
        async (level) => {
          const stores = await openMany(8, level);
          const committed: string[] = [];
          for (let round = 0; round < 12; round += 1) {
            const head = await stores[round % 8]!.head('t');
            const rivals = Array.from({ length: 64 }, (_, n) => entryAfter(head, 't', n));
            const results = await Promise.all(
              rivals.map((row, n) => stores[n % 8]!.commit(batchOf(row))),
            );
            const winners = rivals.filter((_, n) => results[n]!.status === 'committed');
            expect(winners).toHaveLength(1);
            expect(results.filter(({ status }) => status === 'conflict')).toHaveLength(63);
            committed.push(winners[0]!.id);
          }
          const entries = await stores[0]!.entries('t');
          expect(entries.map(({ id }) => id)).toEqual(committed);
          expect(entries.map(({ seq, parent }) => [seq, parent])).toEqual(
            committed.map((_, seq) => [seq, committed[seq - 1] ?? null]),
          );
          await Promise.all(stores.map((store) => store.close()));
        },
      );

      test.each(['read committed', 'serializable'])(
        'chains with concurrent appends stay whole, and every answer is true: %s',
        async (level) => {
          const stores = await openMany(6, level);
          const names = ['a', 'b', 'c'];
          const committed = new Set<string>();
          const conflicts = new Set<string>();
          const append = async (store: PostgresStore, who: number): Promise<void> => {
            for (let n = 0; n < 40; n += 1) {
              // Over two trajectories at a time, in either order.
              const [first, second] =
                who % 2 === 0
                  ? [names[n % 3]!, names[(n + 1) % 3]!]
                  : [names[(n + 1) % 3]!, names[n % 3]!];
              const one = entryAfter(await store.head(first), first, [who, n]);
              const other = entryAfter(await store.head(second), second, [who, n]);
              const { status } = await store.commit(batchOf([one, other]));
              for (const { id } of [one, other])
                (status === 'committed' ? committed : conflicts).add(id);
            }
          };
          await Promise.all(
            stores.flatMap((store, n) => [append(store, 2 * n), append(store, 2 * n + 1)]),
          );
          for (const name of names) {
            const entries = await stores[0]!.entries(name, { limit: 10_000 });
            expect(entries.map(({ seq, parent }) => [seq, parent])).toEqual(
              entries.map((_, seq) => [seq, entries[seq - 1]?.id ?? null]),
            );
            for (const { id } of entries) expect(committed.delete(id)).toBe(true);
          }
          expect([...committed]).toEqual([]);
          for (const id of conflicts) expect(await stores[0]!.resolve(id)).toBeUndefined();
          await Promise.all(stores.map((store) => store.close()));
        },
      );

      test.each(['trajectories', 'entries', 'blobs', 'answers'])(
        '%s that meet in opposite orders do not lock each other out',
        async (what) => {
          const stores = await openMany(4);
          const names = Array.from({ length: 500 }, (_, n) => `${n}`);
          let heads = names.map((name) => entryAfter(undefined, name));
          if (what === 'entries') await stores[0]!.commit(batchOf(heads));
          for (let round = 0; round < 15; round += 1) {
            const write = (store: PostgresStore, n: number, who: number): Promise<unknown> => {
              const text = `${round} ${n}`;
              if (what === 'trajectories')
                return store.commit(batchOf(entryAfter(undefined, text, who)));
              if (what === 'entries')
                return store.commit(batchOf(entryAfter(heads[n], names[n]!, who)));
              if (what === 'blobs') return store.commit(batchOf([], [blobOf(text)]));
              return store.oraclePut({ key: blobOf(text).hash, answer: `${who}`, at: 'now' });
            };
            // The same rows through every store. Half of the stores start at the other end.
            const order = names.map((_, n) => n);
            await Promise.all(
              stores.flatMap((store, who) => {
                const own = who % 2 === 0 ? order : order.toReversed();
                return own.map((n) => write(store, n, who));
              }),
            );
            if (what !== 'entries') continue;
            heads = await Promise.all(names.map(async (name) => (await stores[0]!.head(name))!));
            expect(new Set(heads.map(({ seq }) => seq))).toEqual(new Set([round + 1]));
          }
          await Promise.all(stores.map((store) => store.close()));
          expect(postgres.server.log()).not.toContain('deadlock');
        },
      );
    });

    describe('many processes', () => {
      async function expectWhole(store: PostgresStore, name: string): Promise<string[]> {
        const entries = await store.entries(name, { limit: 100_000 });
        expect(entries.map(({ seq, parent }) => [seq, parent])).toEqual(
          entries.map((_, seq) => [seq, entries[seq - 1]?.id ?? null]),
        );
        expect(entries.length % 2).toBe(0);
        const firsts = entries.filter(({ seq }) => seq % 2 === 0).map(({ id }) => id);
        return firsts;
      }

      test('on one trajectory, each killed midway, leave one chain with every commit', async () => {
        const url = postgres.url();
        const store = await openPostgres({ url });
        const names = ['t', 't', 'u'];
        const committed = new Map<string, Set<string>>([
          ['t', new Set()],
          ['u', new Set()],
        ]);
        for (let round = 1; round <= 3; round += 1) {
          const writers = names.map((name) => new Writer(url, name));
          for (const [index, writer] of writers.entries()) {
            await writer.reach(5 * round);
            await writer.kill();
            for (const id of writer.committed) committed.get(names[index]!)!.add(id);
          }
          for (const [name, ids] of committed) {
            const there = new Set(await expectWhole(store, name));
            expect([...ids].filter((id) => !there.has(id))).toEqual([]);
            // Each killed writer had at most one pair in flight.
            expect(there.size - ids.size).toBeLessThanOrEqual(names.length * round);
          }
        }
        await store.close();
      });
    });
  },
  { own: true },
);
