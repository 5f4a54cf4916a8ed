import { MemoryStore } from '@assize/testing/memory';
import type { Tool } from 'assize/internal/effects';
import type { Transaction } from 'assize/internal/runtime';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cases } from '../../../../tests/support/cases.ts';
import { runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { expectEffectLogMatches } from '../../../../tests/support/tools/check-effect-log.ts';
import { orders } from '../../../../tests/support/tools/orders.ts';
import {
  type CommitFault,
  PostgresStage,
  SqliteStage,
  type StagedDatabase,
} from '../../tests/support/sql-stage.ts';
import { type SqlDatabase, sqlReader, sqlTool } from './index.ts';

// Any concurrent bodies with staged writes receive the answers of a serial run by epoch on a plain
// table. The database ends with the contents of that table.

const CELLS = ['x', 'y', 'z'] as const;
type Cell = (typeof CELLS)[number];
type Table = Record<Cell, number>;
const BEGINNING: Table = { x: 3, y: 3, z: 3 };

/** One operation of a body. A body runs its operations in order. */
type Op =
  | { readonly do: 'look'; readonly at: Cell }
  /** Refused for good below nothing. `isSeen`: the body goes on then; else it throws the same. */
  | { readonly do: 'add'; readonly at: Cell; readonly by: number; readonly isSeen: boolean }
  | { readonly do: 'copy'; readonly from: Cell; readonly at: Cell }
  | { readonly do: 'nested'; readonly ops: readonly Op[] }
  /** The first one that has not failed is gone on with, if that is wanted. */
  | {
      readonly do: 'speculate';
      readonly branches: readonly (readonly Op[])[];
      readonly isWanted: boolean;
    }
  | { readonly do: 'throw' };

interface Wanted {
  readonly ops: readonly Op[];
  readonly ends: 'commit' | 'throw' | 'rejection';
}

/** The answers to the body, nested by branches; `refused` for a refused operation. */
type Told = number | 'refused' | readonly Told[];

class Stop extends Error {}

/** The operations of a body, for any implementation. */
interface Doing {
  look(at: Cell): number | Promise<number>;
  /** @throws where it is refused */
  add(at: Cell, by: number): number | Promise<number>;
  copy(from: Cell, at: Cell): number | Promise<number>;
  /**
   * Runs the branches, and continues with the chosen branch. Returns false if no branch is chosen.
   */
  speculate(
    bodies: readonly ((doing: Doing) => Promise<void>)[],
    isWanted: boolean,
  ): Promise<boolean>;
}

async function run(ops: readonly Op[], doing: Doing, told: Told[]): Promise<void> {
  for (const op of ops) {
    switch (op.do) {
      case 'look':
        told.push(await doing.look(op.at));
        break;
      case 'copy':
        told.push(await doing.copy(op.from, op.at));
        break;
      case 'add':
        try {
          told.push(await doing.add(op.at, op.by));
        } catch (error) {
          told.push('refused');
          if (!op.isSeen) throw error;
        }
        break;
      case 'nested':
      case 'speculate': {
        const branches = op.do === 'nested' ? [op.ops] : op.branches;
        const each = branches.map((): Told[] => []);
        told.push(each);
        const bodies = branches.map((branch, i) => (one: Doing) => run(branch, one, each[i]!));
        if (!(await doing.speculate(bodies, op.do === 'nested' || op.isWanted)))
          told.push('refused');
        break;
      }
      case 'throw':
        throw new Stop();
    }
  }
}

/** The plain table. */
class Plain implements Doing {
  table: Table;
  /** Writes that stand. */
  writes = 0;

  constructor(table: Table) {
    this.table = { ...table };
  }

  look(at: Cell): number {
    return this.table[at];
  }

  add(at: Cell, by: number): number {
    if (this.table[at] + by < 0) throw new Stop();
    this.writes++;
    this.table[at] += by;
    return this.table[at];
  }

  copy(from: Cell, at: Cell): number {
    this.writes++;
    this.table[at] = this.table[from];
    return this.table[at];
  }

  async speculate(
    bodies: readonly ((doing: Doing) => Promise<void>)[],
    isWanted: boolean,
  ): Promise<boolean> {
    let chosen: Plain | undefined;
    for (const body of bodies) {
      const branch = new Plain(this.table);
      const hasFailed = await body(branch).then(
        () => false,
        () => true,
      );
      if (!hasFailed) chosen ??= branch;
    }
    if (chosen === undefined || !isWanted) return false;
    this.table = chosen.table;
    this.writes += chosen.writes;
    return true;
  }
}

/** The tools. */
class Held implements Doing {
  readonly #tx: Transaction;
  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  look(at: Cell): Promise<number> {
    return this.#tx.call('cell.look', { at });
  }

  async add(at: Cell, by: number): Promise<number> {
    try {
      return await this.#tx.call('cell.add', { at, by });
    } catch (error) {
      expect(error).toMatchObject({ code: 'tool_failed', retryable: false });
      throw error;
    }
  }

  copy(from: Cell, at: Cell): Promise<number> {
    return this.#tx.call('cell.copy', { from, at });
  }

  async speculate(
    bodies: readonly ((doing: Doing) => Promise<void>)[],
    isWanted: boolean,
  ): Promise<boolean> {
    const branches = bodies.map((body) => (branch: Transaction) => body(new Held(branch)));
    try {
      await this.#tx.speculate(branches, (tried) => {
        for (const each of tried)
          if (each.failed && !(each.error instanceof Stop))
            expect(each.error).toMatchObject({ code: 'tool_failed' });
        const first = tried.findIndex(({ failed }) => !failed);
        return isWanted && first !== -1 ? first : undefined;
      });
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 'no_branch' });
      return false;
    }
  }
}

const cell = z.enum(CELLS);
const MORE = 100;

function toolsOn(database: SqlDatabase): Tool[] {
  const mark = (n: number) => (database.placeholders === '$1' ? `$${n}` : '?');
  const result = ([rows]: readonly (readonly { readonly [column: string]: unknown }[])[]) =>
    Number(rows?.[0]?.['n']);
  return [
    sqlReader({
      name: 'cell.look',
      input: z.strictObject({ at: cell }),
      reads: ['db:cell:{at}'],
      database,
      statement: ({ at }) => ({ text: `SELECT n FROM cell WHERE name = ${mark(1)}`, values: [at] }),
      result: (rows) => result([rows]),
    }),
    sqlTool({
      name: 'cell.add',
      input: z.strictObject({ at: cell, by: z.int() }),
      writes: ['db:cell:{at}'],
      database,
      // The first one is never refused: where the second is, it is taken back.
      statements: ({ at, by }) =>
        [MORE + by, -MORE].map((n) => ({
          text: `UPDATE cell SET n = n + ${mark(1)} WHERE name = ${mark(2)} RETURNING n`,
          values: [n, at],
        })),
      result: (rows) => result(rows.slice(1)),
      isTransient: (error) => !/check constraint/i.test((error as Error).message),
    }),
    sqlTool({
      name: 'cell.copy',
      input: z.strictObject({ from: cell, at: cell }),
      reads: ['db:cell:{from}'],
      writes: ['db:cell:{at}'],
      database,
      statements: ({ from, at }) => [
        {
          text: `UPDATE cell SET n = (SELECT n FROM cell WHERE name = ${mark(1)}) WHERE name = ${mark(2)} RETURNING n`,
          values: [from, at],
        },
      ],
      result,
    }),
  ];
}

/** Exactly the scopes that the operations access. */
function touched(ops: readonly Op[]): { readonly reads: string[]; readonly writes: string[] } {
  const [reads, writes] = [new Set<string>(), new Set<string>()];
  const look = (op: Op): void => {
    if (op.do === 'look') reads.add(`db:cell:${op.at}`);
    if (op.do === 'copy') reads.add(`db:cell:${op.from}`);
    if (op.do === 'add' || op.do === 'copy') writes.add(`db:cell:${op.at}`);
    if (op.do === 'nested') op.ops.forEach(look);
    if (op.do === 'speculate') op.branches.flat().forEach(look);
  };
  ops.forEach(look);
  return { reads: [...reads], writes: [...writes] };
}

const anyCell = fc.constantFrom(...CELLS);
const { ops } = fc.letrec<{ op: Op; ops: Op[] }>((tie) => ({
  op: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('look' as const), at: anyCell }) },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('add' as const),
        at: anyCell,
        by: fc.integer({ min: -3, max: 3 }),
        isSeen: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('copy' as const), from: anyCell, at: anyCell }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('throw' as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('nested' as const), ops: tie('ops') }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('speculate' as const),
        branches: fc.array(tie('ops'), { minLength: 1, maxLength: 3 }),
        isWanted: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
      }),
    },
  ),
  ops: fc.array(tie('op'), { minLength: 1, maxLength: 4 }),
}));
const wanted: fc.Arbitrary<Wanted> = fc.record({
  ops,
  ends: fc.constantFrom('commit', 'commit', 'commit', 'throw', 'rejection'),
});
/** Longer than any of it takes, however slow the machine is. */
const HELD_MS = 300_000;
/** Fewer than tries, so that none is for good. */
const faults = fc.array(fc.constantFrom<CommitFault>('none', 'fail', 'lose'), { maxLength: 2 });

/**
 * `atOnce`: bodies of one database that holds several transactions at a time; else one comes after
 * the other.
 */
function tests(open: () => Promise<StagedDatabase>, atOnce: boolean, usual: number): void {
  let stage: StagedDatabase;
  beforeAll(async () => {
    stage = await open();
    await stage.run('CREATE TABLE cell (name TEXT PRIMARY KEY, n INTEGER NOT NULL CHECK (n >= 0))');
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  test('the answers and final state of any bodies equal a serial execution', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(wanted, { minLength: 1, maxLength: 4 }),
        faults,
        async (all, commits) => {
          await stage.reset();
          await stage.run('DELETE FROM cell');
          await stage.run(
            `INSERT INTO cell VALUES ${CELLS.map((name) => `('${name}', ${BEGINNING[name]})`).join(', ')}`,
          );
          stage.commits.push(...commits);
          const store = new MemoryStore();
          const assize = runtimeOver(store, [orders], {
            tools: toolsOn(stage.of(undefined, HELD_MS)),
          });
          const trajectory = await assize.create(orders, { trajectoryId: 't' });
          const transact = async ({ ops: wants, ends }: (typeof all)[number]) => {
            const told: Told[] = [];
            let epoch = 0;
            const outcome = await trajectory
              .transaction({ writ: writFor('alice'), ...touched(wants) }, async (tx) => {
                epoch = tx.epoch;
                await run(wants, new Held(tx), told);
                if (ends === 'throw') throw new Stop();
                tx.propose({
                  action: 'count',
                  role: 'counter',
                  args: ends === 'rejection' ? 'forbidden' : 'order',
                });
              })
              .catch((error: unknown) => {
                if (!(error instanceof Stop))
                  expect(error).toMatchObject({ code: 'tool_failed', retryable: false });
                return undefined;
              });
            return { epoch, told, ruling: outcome?.ruling.ruling, wants, ends };
          };
          const done = atOnce ? await Promise.all(all.map(transact)) : [];
          if (!atOnce) for (const each of all) done.push(await transact(each));
          expect(await assize.recoverEffects()).toEqual([]);
          await assize.close();

          let table = BEGINNING;
          let writes = 0;
          for (const { told, ruling, wants, ends } of done.sort((a, b) => a.epoch - b.epoch)) {
            const plain = new Plain(table);
            const shall: Told[] = [];
            const hasThrown = await run(wants, plain, shall).then(
              () => ends === 'throw',
              () => true,
            );
            const end = hasThrown ? undefined : ends === 'commit' ? 'committed' : 'rejected';
            expect({ told, ruling }).toEqual({ told: shall, ruling: end });
            if (end !== 'committed') continue;
            table = plain.table;
            writes += plain.writes;
          }
          const rows = await stage.run('SELECT name, n FROM cell ORDER BY name');
          expect(Object.fromEntries(rows.map(({ name, n }) => [name, Number(n)]))).toEqual(table);
          expect((await stage.look()).keys).toBe(writes);
          await expectEffectLogMatches(store, 't', []);
        },
      ),
      { numRuns: cases(usual) },
    );
  });
}

describe('sqlite', () => tests(async () => new SqliteStage(), false, 100));
withPostgres('postgres', (postgres) => tests(() => PostgresStage.open(postgres), true, 30));
