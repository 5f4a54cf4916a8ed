import { MemoryStore } from '@assize/testing/memory';
import type { Tool } from 'assize/internal/effects';
import type {
  Assize,
  Transaction,
  TransactionOutcome,
  UnresolvedEffect,
} from 'assize/internal/runtime';
import { z } from 'zod';
import { runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import {
  OutsideSink,
  Steps,
  storeOf,
  toolFor,
} from '../../../../tests/support/tools/effect-sink.ts';
import { orders } from '../../../../tests/support/tools/orders.ts';
import { type SqlDatabase, sqlReader, sqlTool } from '../../src/sql/index.ts';
import { type Seen, type StagedDatabase, WatchedSteps } from './sql-stage.ts';

// Transactions of tools over two databases, looked at from outside at every step of the process.

export const NAMES = ['a', 'b'] as const;
export type Name = (typeof NAMES)[number];

const input = z.strictObject({ what: z.string(), size: z.int().default(0) });

/** Writes into a log; less than nothing is refused by the database, for good. */
function note(name: Name, database: SqlDatabase, isReversible: boolean): Tool {
  const marks = database.placeholders === '$1' ? '$1, $2' : '?, ?';
  const write = (what: string, size: number) => [
    { text: `INSERT INTO log (what, size) VALUES (${marks}) RETURNING n`, values: [what, size] },
  ];
  return sqlTool<typeof input>({
    name: `${name}.${isReversible ? 'note' : 'post'}`,
    input,
    writes: [`db:${name}:log`],
    database,
    statements: ({ what, size }) => write(what, size),
    result: ([rows]) => ({ n: Number(rows?.[0]?.['n']) }),
    isTransient: (error) => !/check constraint/i.test((error as Error).message),
    ...(isReversible ? { undo: ({ what }) => write(`un${what}`, 0) } : {}),
  });
}

/** The written values, as the caller sees them. */
function look(name: Name, database: SqlDatabase): Tool {
  return sqlReader({
    name: `${name}.look`,
    input: z.strictObject({}),
    reads: [`db:${name}:log`],
    database,
    statement: () => ({ text: 'SELECT what FROM log ORDER BY n' }),
    result: (rows) => rows.map(({ what }) => what).join(' '),
  });
}

/** Two databases, a sink that is not a database, and a store. All outlive processes. */
export class World {
  readonly store = new MemoryStore();
  readonly sink = new OutsideSink('keyed');
  readonly databases: Readonly<Record<Name, StagedDatabase>>;
  /** All that was seen of each from outside, once each. */
  readonly seen: Readonly<Record<Name, Set<string>>> = { a: new Set(), b: new Set() };
  /** How long what is buffered is held while the body runs; without it, it is not. */
  readonly thrown: unknown[] = [];
  readonly #stagedTimeoutMs: number | undefined;

  private constructor(
    databases: Readonly<Record<Name, StagedDatabase>>,
    stagedTimeoutMs: number | undefined,
  ) {
    this.#stagedTimeoutMs = stagedTimeoutMs;
    this.databases = databases;
  }

  static async over(
    databases: Readonly<Record<Name, StagedDatabase>>,
    stagedTimeoutMs?: number,
  ): Promise<World> {
    for (const name of NAMES) await databases[name].reset();
    const world = new World(databases, stagedTimeoutMs);
    await runtimeOver(world.store, [orders]).create(orders, { trajectoryId: 't' });
    return world;
  }

  tools(steps?: Steps): Tool[] {
    return [
      ...NAMES.flatMap((name) => {
        const database = this.databases[name].of(steps, this.#stagedTimeoutMs);
        return [note(name, database, true), note(name, database, false), look(name, database)];
      }),
      toolFor({ sink: this.sink, steps: steps ?? new Steps() }, 'reversible', 'buffered'),
    ];
  }

  readonly #look = async (): Promise<void> => {
    for (const name of NAMES) this.seen[name].add(said(await this.databases[name].look()));
  };

  /** One process that may end at a step; it is looked at from outside at each. */
  async process<T>(
    endAt: number | undefined,
    live: (assize: Assize) => Promise<T>,
    lacks?: string,
  ) {
    const steps = new WatchedSteps(endAt, this.#look);
    const tools = this.tools(steps).filter(({ name }) => name !== lacks);
    const assize = runtimeOver(storeOf(this.store, steps), [orders], { tools });
    const value = await Promise.race([live(assize), steps.ended.then(() => undefined)]);
    if (!steps.isDead) await Promise.race([assize.close(), steps.ended]);
    await this.#look();
    return { value, isDead: steps.isDead };
  }

  async transact(
    body: (tx: Transaction) => Promise<unknown>,
    { endAt, ...rest }: Transacting = {},
  ) {
    return this.process(endAt, (assize) => this.within(assize, body, rest));
  }

  /** In a process that goes on. Undefined if it threw: `thrown` then has the error. */
  async within(
    assize: Assize,
    body: (tx: Transaction) => Promise<unknown>,
    {
      action = 'count',
      args = 'order',
      name = 'one',
      retries = 0,
      writes = ['**'],
    }: Omit<Transacting, 'endAt'> = {},
  ): Promise<TransactionOutcome<unknown> | undefined> {
    const trajectory = await assize.open('t');
    return trajectory
      .transaction({ writ: writFor('alice'), writes, retries, name }, async (tx) => {
        await body(tx);
        tx.propose({ action, role: 'counter', args });
      })
      .catch((error: unknown) => {
        this.thrown.push(error);
        return undefined;
      });
  }

  /** The unresolved effects after another process has resumed all abandoned transactions. */
  async recovered(endAt?: number): Promise<readonly UnresolvedEffect[]> {
    return (await this.process(endAt, (assize) => assize.recoverEffects())).value ?? [];
  }

  async isCommitted(): Promise<boolean> {
    return (await this.store.entries('t')).some(
      ({ payload }) => payload.includes('"args":"order"') && payload.includes('"kind":"commit"'),
    );
  }
}

interface Transacting {
  readonly endAt?: number | undefined;
  readonly action?: 'count' | 'order';
  readonly args?: string;
  readonly name?: string;
  readonly retries?: number;
  readonly writes?: readonly string[];
}

export function said({ log, keys }: Seen): string {
  return `${log.join(' ')} / ${keys}`;
}

export const NOTHING = ' / 0';
