import { MemoryStore } from '@assize/testing/memory';
import type { Tool } from 'assize/internal/effects';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { expectEffectLogMatches } from '../../../../tests/support/tools/check-effect-log.ts';
import { orders } from '../../../../tests/support/tools/orders.ts';
import { PostgresStage, WatchedSteps } from '../../tests/support/sql-stage.ts';
import { type SqlDatabase, sqlTool } from './index.ts';

// Two transactions that lock the same two rows of a server in opposite order, and say of each that
// it is another one, so that the runtime can't know: one of them comes to its end, and the other
// one starts again, or to nothing.

const LONG = 300_000;
const SHORT = 300;
const NAMES = ['first', 'second'] as const;
const ROWS = { first: ['p', 'q'], second: ['q', 'p'] } as const;
const AMOUNTS = { first: 1, second: 10 } as const;

/** The tool's scope contains a name that no other tool has. */
function add(name: string, database: SqlDatabase): Tool {
  return sqlTool({
    name: `${name}.add`,
    input: z.strictObject({ row: z.string(), by: z.int() }),
    writes: [`db:${name}:{row}`],
    database,
    statements: ({ row, by }) => [
      { text: 'UPDATE cell SET n = n + $1 WHERE name = $2 RETURNING n', values: [by, row] },
    ],
    result: ([rows]) => Number(rows?.[0]?.['n']),
  });
}

withPostgres('a deadlock that a server finds, or a limit', (postgres) => {
  let stage: PostgresStage;
  beforeAll(async () => {
    stage = await PostgresStage.open(postgres);
    await stage.run('CREATE TABLE cell (name TEXT PRIMARY KEY, n INTEGER NOT NULL)');
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  const look = async (): Promise<string> =>
    (await stage.run('SELECT n FROM cell ORDER BY name')).map(({ n }) => n).join(' ');

  /**
   * As a process has it: how long it holds is asked for each time, and how soon the server looks
   * for a deadlock is said first.
   */
  function databaseOf(
    limit: { ms: number },
    lookMs: number,
    watch: () => Promise<void>,
  ): SqlDatabase {
    const { placeholders, connect } = stage.of(new WatchedSteps(undefined, watch));
    return {
      placeholders: placeholders!,
      get stagedTimeoutMs() {
        return limit.ms;
      },
      connect: async () => {
        const connection = await connect();
        await connection.query(`SET deadlock_timeout = ${lookMs}`, []);
        // Otherwise a server that waits for a lock does not notice a closed connection, and keeps
        // the locks of that connection.
        await connection.query('SET client_connection_check_interval = 20', []);
        return connection;
      },
    };
  }

  /**
   * Both have done one thing before either does the other; the first one holds so long at most,
   * until it was refused.
   */
  async function cross(stagedTimeoutMs: number, lookMs: number, retries: number) {
    await stage.reset();
    await stage.run('DELETE FROM cell');
    await stage.run("INSERT INTO cell VALUES ('p', 0), ('q', 0)");
    const seen = new Set<string>();
    const limits = { first: { ms: stagedTimeoutMs }, second: { ms: LONG } };
    const watch = async () => void seen.add(await look());
    const tools = NAMES.map((name) => add(name, databaseOf(limits[name], lookMs, watch)));
    const store = new MemoryStore();
    const assize = runtimeOver(store, [orders], { tools });
    const trajectory = await assize.create(orders, { trajectoryId: 't' });
    const { promise: both, resolve: meet } = Promise.withResolvers<void>();
    // A body that starts again before the other one has come counts once.
    const met = new Set<string>();
    const refused: { readonly name: (typeof NAMES)[number]; readonly error: any }[] = [];
    const tries: string[] = [];
    const ended = await Promise.allSettled(
      NAMES.map((name) =>
        trajectory.transaction(
          { writ: writFor('alice'), writes: [`db:${name}:**`], retries },
          async (tx) => {
            tries.push(name);
            for (const [i, row] of ROWS[name].entries()) {
              const call = (): Promise<unknown> =>
                tx
                  .call(`${name}.add`, { row, by: AMOUNTS[name] })
                  .catch((error: { code: string }) => {
                    refused.push({ name, error });
                    // Both transactions wait for each other. From now on no other one blocks
                    // this one for long.
                    if (met.size === 2) limits[name].ms = LONG;
                    // Asked once more, it is done again from the beginning; where that answers
                    // otherwise, it starts again.
                    if (retries === 0 || error.code === 'stale') throw error;
                    return call();
                  });
              await call();
              if (i === 0 && met.add(name).size === 2) meet();
              await both;
            }
            tx.propose({ action: 'count', role: 'counter', args: name });
          },
        ),
      ),
    );
    expect(await assize.recoverEffects()).toEqual([]);
    await assize.close();
    await expectEffectLogMatches(store, 't', []);
    // No remains of the transactions hold a lock.
    await stage.run('DO $$ BEGIN LOCK TABLE cell IN ACCESS EXCLUSIVE MODE NOWAIT; END $$');
    return { ended, refused, tries, seen, keys: (await stage.look()).keys };
  }

  test('a transaction staged for too long is released, restarts, and both commit', async () => {
    const { ended, refused, tries, seen, keys } = await cross(SHORT, LONG, 9);
    expect(ended.map((each) => each.status === 'fulfilled' && each.value.effects)).toEqual([
      'settled',
      'settled',
    ]);
    for (const each of refused)
      expect(each).toMatchObject({
        name: 'first',
        error: { code: expect.stringMatching(/tool_failed|stale/), retryable: true },
      });
    // The earlier answers to the body are no longer valid.
    expect([tries.slice(0, 3), refused.at(-1)!.error.code]).toEqual([
      ['first', 'second', 'first'],
      'stale',
    ]);
    expect([...seen]).toEqual(['0 0', '10 10', '11 11']);
    expect(keys).toBe(4);
  });

  test('if the server detects the deadlock first, one aborts, the other commits', async () => {
    const { ended, refused, seen, keys } = await cross(LONG, SHORT, 0);
    expect(refused).toHaveLength(1);
    expect(refused[0]!.error).toMatchObject({ code: 'tool_failed', retryable: true });
    expect(refused[0]!.error.message).toMatch(/deadlock detected/);
    const loser = NAMES.indexOf(refused[0]!.name);
    const winner = NAMES[1 - loser]!;
    expect(ended[loser]).toMatchObject({ status: 'rejected', reason: refused[0]!.error });
    expect(ended[1 - loser]).toMatchObject({ status: 'fulfilled', value: { effects: 'settled' } });
    expect([...seen]).toEqual(['0 0', `${AMOUNTS[winner]} ${AMOUNTS[winner]}`]);
    expect(keys).toBe(2);
  });
});
