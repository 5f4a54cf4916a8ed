/**
 * A process that runs orders with tools on a bank, staged in open transactions of the bank while
 * bodies run. It is killed at a statement of its connections: `URL BANK FROM TO [WORD:NTH:WHEN]`,
 * counted among the statements that start with that word. `WHEN` is before (`0`), in flight (`1`),
 * or after.
 */
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client } from 'pg';
import { z } from 'zod';
import { openStore } from '#stores';
import {
  type SqlConnection,
  type SqlDatabase,
  type SqlRow,
  sqlReader,
  sqlTool,
} from '../../packages/tools/src/sql/index.ts';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { tally } from '../support/tools/effect-sink.ts';
import {
  ACCOUNTS,
  AT_ONCE,
  amountOf,
  BANKER,
  orderName,
  type ProcessLine,
} from './staged-sql-orders.ts';

const [url = '', bank = '', from = '', to = '', end = ''] = process.argv.slice(2);
const [word = '', nth = '0', when = ''] = end.split(':');

let statements = 0;

async function stepping<T>(text: string, make: () => T | Promise<T>): Promise<T> {
  const isEnd = text.startsWith(word) && ++statements === Number(nth);
  const die = (at: string): void => {
    if (isEnd && at === when) process.kill(process.pid, 'SIGKILL');
  };
  die('0');
  const made = make();
  if (isEnd && when === '1') await nextTurn();
  die('1');
  const done = await made;
  die('2');
  return done;
}

function stepped({
  query,
  begin,
  commit,
  rollback,
  close,
}: Required<SqlConnection>): SqlConnection {
  return {
    query: (text, values) => stepping(text, () => query(text, values)),
    begin: () => stepping('BEGIN', begin),
    commit: () => stepping('COMMIT', commit),
    rollback: () => stepping('ROLLBACK', rollback),
    close,
  };
}

const HELD_MS = 600_000;

function sqlite(path: string): SqlDatabase {
  const database = new DatabaseSync(path, { timeout: 0 });
  const connection = stepped({
    query: (text, values) => database.prepare(text).all(...(values as never[])) as never,
    begin: () => database.exec('BEGIN IMMEDIATE'),
    commit: () => database.exec('COMMIT'),
    rollback: () => (database.isTransaction ? database.exec('ROLLBACK') : undefined),
    close: () => undefined,
  });
  return { writers: 'one', stagedTimeoutMs: HELD_MS, connect: () => connection };
}

function postgres(): SqlDatabase {
  const base = new URL(bank);
  const schema = base.searchParams.get('schema');
  base.searchParams.delete('schema');
  const connect = async (): Promise<SqlConnection> => {
    const options = `-c search_path=${schema} -c application_name=${BANKER}`;
    const client = new Client({ connectionString: base.href, options });
    await client.connect();
    return stepped({
      query: async (text, values) => (await client.query(text, [...values])).rows as SqlRow[],
      begin: () => client.query('BEGIN'),
      commit: () => client.query('COMMIT'),
      rollback: () => client.query('ROLLBACK'),
      close: () => client.end(),
    });
  };
  return { placeholders: '$1', stagedTimeoutMs: HELD_MS, connect };
}

const database = bank.startsWith('sqlite:') ? sqlite(bank.slice('sqlite:'.length)) : postgres();
const marks = database.placeholders === '$1' ? ['$1', '$2'] : ['?', '?'];
const [move, note, look] = [
  sqlTool({
    name: 'bank.move',
    input: z.strictObject({ account: z.string(), by: z.int() }),
    writes: ['db:bank:{account}'],
    database,
    statements: ({ account, by }) => [
      {
        text: `UPDATE account SET cents = cents + ${marks[0]} WHERE name = ${marks[1]} RETURNING cents`,
        values: [by, account],
      },
    ],
    result: ([rows]) => Number(rows?.[0]?.['cents']),
  }),
  sqlTool({
    name: 'bank.note',
    input: z.strictObject({ name: z.string(), what: z.string() }),
    writes: ['db:bank:log:{name}'],
    database,
    statements: ({ name, what }) => [
      { text: `INSERT INTO log (name, what) VALUES (${marks.join(', ')})`, values: [name, what] },
    ],
  }),
  sqlReader({
    name: 'bank.look',
    input: z.strictObject({}),
    reads: ACCOUNTS.map((name) => `db:bank:${name}`),
    database,
    statement: () => ({ text: 'SELECT name, cents FROM account ORDER BY name' }),
    result: (rows) => rows.map(({ cents }) => Number(cents)),
  }),
];

const tell = (told: ProcessLine): void => void process.stdout.write(`${JSON.stringify(told)}\n`);
const store = await openStore(url);
const assize = runtimeOver(store, [tally], {
  ports: { clock: { now: () => new Date().toISOString().replace('Z', '000Z') } },
  tools: [move, note, look],
});
const trajectory = await assize.open('t');
tell({ left: (await assize.recoverEffects()).map(({ epoch, key }) => ({ epoch, key })) });
let next = Number(from);
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    while (next < Number(to)) {
      const n = next++;
      const name = orderName(n);
      const { ruling } = await trajectory.transaction(
        { writ: writFor('alice'), name, writes: ['db:bank:**'] },
        async (tx) => {
          const before = await tx.call('bank.look', {});
          await tx.call('bank.note', { name, what: 'from' });
          const [first, second] = ACCOUNTS;
          const moved = [
            await tx.call('bank.move', { account: first, by: -amountOf(n) }),
            await tx.call('bank.move', { account: second, by: amountOf(n) }),
          ];
          await tx.call('bank.note', { name, what: 'to' });
          const after = await tx.call('bank.look', {});
          if (`${after}` !== `${moved}` || moved[0] !== before[0] - amountOf(n))
            tell({ odd: [before, moved, after] });
          tx.propose({ action: 'count', role: 'counter', args: name });
        },
      );
      tell({ order: name, ruling: ruling.ruling });
    }
  }),
);
await assize.close();
await store.close();
tell({ statements });
// A connection to a file keeps nothing open that is worth waiting for.
process.exit(0);
