/**
 * A process that runs random orders with tools on a server's tables, staged and not staged, until
 * it is killed: `URL BANK SEED FROM TO [NTH:WHEN]`. It resumes abandoned transactions, prints the
 * unresolved ones, and waits for a line. Then it decides them, as an operator would after a look at
 * the tables. `NTH:WHEN`, of its commits there: it ends itself before the commit (`0`), in flight
 * (`1`), or after it.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { z } from 'zod';
import { isAssizeError } from '#base';
import { readTransaction } from '#effects';
import type { Transaction } from '#runtime';
import { openStore } from '#stores';
import { readSalted } from '../../packages/assize/src/runtime/transactions/settle/quarantine.ts';
import {
  type SqlConnection,
  type SqlDatabase,
  type SqlRow,
  type SqlToolOptions,
  sqlReader,
  sqlTool,
} from '../../packages/tools/src/sql/index.ts';
import { operatorWrit, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { orders } from '../support/tools/orders.ts';
import {
  AT_ONCE,
  type Op,
  orderOf,
  type ProcessLine,
  type UnresolvedTransaction,
} from './sql-orders.ts';

const [url = '', bank = '', seed = '', from = '', to = '', end = ''] = process.argv.slice(2);
const [nth = '', when = ''] = end.split(':');

let commits = 0;

async function committing<T>(commit: () => Promise<T>): Promise<T> {
  const isEnd = ++commits === Number(nth);
  const die = (at: string): void => {
    if (isEnd && at === when) process.kill(process.pid, 'SIGKILL');
  };
  die('0');
  const made = commit();
  if (isEnd && when === '1') await nextTurn();
  die('1');
  const done = await made;
  die('2');
  return done;
}

const base = new URL(bank);
const schema = base.searchParams.get('schema');
base.searchParams.delete('schema');
const idle: Client[] = [];

async function client(): Promise<Client> {
  // A server that waits for a lock must soon detect a lost client, and a deadlock.
  const settings = {
    search_path: schema,
    deadlock_timeout: 30,
    client_connection_check_interval: 20,
  };
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  const made = new Client({ connectionString: base.href, options: options.join(' ') });
  made.on('error', () => undefined);
  await made.connect();
  return made;
}

async function connect(): Promise<SqlConnection> {
  const mine = idle.pop() ?? (await client());
  return {
    query: async (text, values) => (await mine.query(text, [...values])).rows as SqlRow[],
    begin: () => mine.query('BEGIN'),
    commit: () => committing(() => mine.query('COMMIT')),
    rollback: () => mine.query('ROLLBACK'),
    close: (isBroken) => {
      if (isBroken) return mine.end();
      idle.push(mine);
    },
  };
}

let opened = 0;
const held: SqlDatabase = {
  placeholders: '$1',
  // Now and then it is let go while its body runs.
  get stagedTimeoutMs() {
    return ++opened % 7 === 0 ? 15 : 1_500;
  },
  connect,
};
const beside: SqlDatabase = { placeholders: '$1', connect };
const after: SqlDatabase = { placeholders: '$1', connect };

const isTransient = (error: unknown): boolean => !/check constraint/.test((error as Error).message);
const row = { order: z.string(), row: z.string() };
const did = (table: string, { order, row: name }: { order: string; row: string }, what = 'do') => ({
  text: 'INSERT INTO done (place, name, row, did) VALUES ($1, $2, $3, $4) RETURNING n',
  values: [table, order, name, what],
});

function writing(name: string, database: SqlDatabase, more: Partial<SqlToolOptions<any>> = {}) {
  return sqlTool<any>({
    name,
    input: z.strictObject(row),
    writes: [`db:${name}:{order}`],
    database,
    statements: (input) => [did(name, input)],
    isTransient: isTransient,
    ...more,
  });
}

const tools = [
  writing('move', held, {
    input: z.strictObject({ ...row, account: z.string(), by: z.int() }),
    writes: ['db:account:{account}'],
    statements: (input) => [
      did('move', input),
      {
        text: 'UPDATE account SET cents = cents + $1 WHERE name = $2 RETURNING cents',
        values: [input.by, input.account],
      },
    ],
    result: (rows) => Number(rows[1]?.[0]?.['cents']),
    undo: (input) => [
      did('move', input, 'undo'),
      {
        text: 'UPDATE account SET cents = cents - $1 WHERE name = $2',
        values: [input.by, input.account],
      },
    ],
  }),
  writing('note', held),
  // A repeated execution returns another answer.
  writing('number', held, { result: ([rows]) => Number(rows?.[0]?.['n']) }),
  writing('share', held, {
    input: z.strictObject({ ...row, at: z.string() }),
    statements: (input) => [
      { text: 'UPDATE shared SET n = n + 1 WHERE name = $1', values: [input.at] },
      did('share', input),
    ],
  }),
  writing('put', beside, {
    delivery: 'externalised',
    undo: (input) => [did('put', input, 'undo')],
  }),
  writing('post', after),
  sqlReader({
    name: 'look',
    input: z.strictObject({ order: z.string() }),
    reads: ['db:note:{order}'],
    database: held,
    statement: ({ order }) => ({
      text: 'SELECT count(*) AS n FROM done WHERE name = $1 AND place = $2',
      values: [order, 'note'],
    }),
    result: ([found]) => Number(found?.['n']),
  }),
];

class Stop extends Error {}

/** Returns the rows that must exist. `notes`: the number of notes on the same path so far. */
async function run(
  tx: Transaction,
  order: string,
  ops: readonly Op[],
  notes: number,
): Promise<string[]> {
  const rows: string[] = [];
  const isNote = (each: string): boolean => each.startsWith('note/');
  for (const op of ops) {
    switch (op.do) {
      case 'pause':
        await sleep(op.ms);
        break;
      case 'throw':
        throw new Stop();
      case 'look': {
        const seen = await tx.call('look', { order });
        const shall = notes + rows.filter(isNote).length;
        if (seen !== shall) throw new Error(`it saw ${seen} of ${shall} notes`);
        break;
      }
      case 'speculate': {
        const branches = op.branches.map(
          (branch) => (each: Transaction) =>
            run(each, order, branch, notes + rows.filter(isNote).length),
        );
        const chosen = await tx
          .speculate(branches, (tried) => {
            const first = tried.findIndex(({ failed }) => !failed);
            return first === -1 ? undefined : first;
          })
          .catch((error: unknown) => {
            if (isAssizeError(error, 'no_branch')) return [];
            throw error;
          });
        rows.push(...chosen);
        break;
      }
      case 'bad':
        await tx
          .call('note', { order, row: `bad${op.row}` })
          .catch((error: { retryable?: boolean }) => {
            if (error.retryable === true) throw error;
          });
        break;
      default: {
        const { do: tool, ...input } = op;
        const { isSeen = false, ...given } = input as { isSeen?: boolean; row: string };
        try {
          await tx.call(tool, { order, ...given });
          rows.push(`${tool}/${op.row}`);
        } catch (error) {
          if (!isSeen || !isAssizeError(error, 'tool_failed') || error.retryable === true)
            throw error;
        }
      }
    }
  }
  return rows;
}

const tell = (told: ProcessLine): void => void process.stdout.write(`${JSON.stringify(told)}\n`);
const store = await openStore(url);
const assize = runtimeOver(store, [orders], {
  ports: {
    clock: { now: () => new Date().toISOString().replace('Z', '000Z') },
    pause: (ms) => sleep(ms),
  },
  tools,
});
const trajectory = await assize.open('t');

async function waiting(): Promise<UnresolvedTransaction[]> {
  const left = await assize.recoverEffects();
  const transactions = await assize.effects();
  return left.map(({ epoch, n, key, tool, why }) => ({
    epoch,
    n,
    key,
    tool,
    why,
    name: transactions.find((each) => each.epoch === epoch)?.name ?? '',
  }));
}

const OWN = ['note', 'number', 'share', 'put', 'post'];

function accountsOf(ops: readonly Op[]): string[] {
  const found = ops.flatMap((op) => {
    if (op.do === 'move') return [`db:account:${op.account}`];
    return op.do === 'speculate' ? op.branches.flatMap(accountsOf) : [];
  });
  return [...new Set(found)];
}

/** Resolves the effect as an operator does: by the existence of its row. */
async function decide({ epoch, n, tool }: UnresolvedTransaction): Promise<void> {
  const { payload } = readTransaction((await store.effectsOf(epoch))!).effects[n]!;
  const { input } = (await readSalted((hash) => store.blob(hash), payload)) as {
    input: { order: string; row: string };
  };
  const looks = await client();
  const text = `SELECT coalesce(sum(CASE did WHEN 'do' THEN 1 ELSE -1 END), 0)::int AS there
    FROM done WHERE place = $1 AND name = $2 AND row = $3`;
  const { rows } = await looks.query(text, [tool, input.order, input.row]);
  await looks.end();
  const as = rows[0].there > 0 ? 'applied' : 'undone';
  await assize.resolveEffect({
    epoch,
    n,
    as,
    by: 'somebody',
    writ: operatorWrit('somebody'),
    evidence: { there: rows[0].there },
  });
}

const left = await waiting();
tell({ left });
await once(createInterface({ input: process.stdin }), 'line');
for (
  let each: UnresolvedTransaction | undefined = left[0];
  each !== undefined;
  [each] = await waiting()
)
  await decide(each);
let next = Number(from);
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    while (next < Number(to)) {
      const order = orderOf(Number(seed), next++);
      const { name, givenUpMs } = order;
      const options = {
        writ: writFor('alice'),
        name,
        writes: [...accountsOf(order.ops), ...OWN.map((tool) => `db:${tool}:${name}`)],
        ...(givenUpMs === undefined ? {} : { signal: AbortSignal.timeout(givenUpMs) }),
      };
      try {
        const { ruling, effects } = await trajectory.transaction(options, async (tx) => {
          const rows = await run(tx, name, order.ops, 0);
          if (order.ends === 'throw') throw new Stop();
          if (order.ends === 'late') {
            const late = tx.call('note', { order: name, row: 'late' });
            late.catch(() => undefined);
            setTimeout(
              () => tx.call('put', { order: name, row: 'later' }).catch(() => undefined),
              5,
            );
          }
          const args = order.ends === 'reject' ? 'forbidden' : JSON.stringify({ name, rows });
          tx.propose({ action: order.ends === 'order' ? 'order' : 'count', role: 'counter', args });
        });
        tell({ order: name, ruling: ruling.ruling, effects });
      } catch (error) {
        const code = (error as { reason?: string }).reason;
        tell({ order: name, threw: error instanceof Stop ? 'stop' : (code ?? String(error)) });
      }
    }
  }),
);
await assize.close();
await store.close();
tell({ closed: true });
process.exit(0);
