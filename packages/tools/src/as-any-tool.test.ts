import { DatabaseSync } from 'node:sqlite';
import { MemoryStore } from '@assize/testing/memory';
import type { Tool } from 'assize/internal/effects';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { errorOf } from '../../../tests/support/process/errors.ts';
import { attended } from '../../../tests/support/tools/ledger-with-effects.ts';
import { MailSink } from '../../../tests/support/tools/mail-sink.ts';
import { HttpSink } from '../tests/support/http-sink.ts';
import { declaredTool } from './declared/index.ts';
import { httpTool } from './http/index.ts';
import { mailTool } from './mail/index.ts';
import { sqlReader, sqlTool } from './sql/index.ts';

// The properties that each class may declare, through the adapters; and the properties of no class.

const SECRET = 'the PIN is 4711';
const SORT = { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' } as const;

/** All that a ledger keeps of one call by itself, blobs apart. */
async function rowsOf(tool: Tool, input: object): Promise<string> {
  const store = new MemoryStore();
  const assize = runtimeOver(store, [attended], { tools: [tool] });
  const trajectory = await assize.create(attended, { trajectoryId: 't' });
  const { ruling } = await trajectory.transaction(
    { writ: writFor('alice'), writes: ['**'] },
    async (tx) => {
      await tx.call(tool.name, input);
      tx.propose({ action: 'count', role: 'counter', args: 'order' });
    },
  );
  expect(ruling.ruling).toBe('committed');
  await assize.recoverEffects();
  await assize.close();
  return (await store.entries('t')).map(({ payload }) => payload).join('\n');
}

test('a sensitive response to a request is in no row', async () => {
  await using sink = await HttpSink.open('keyed');
  const base = `http://${sink.host}/orders`;
  const made = (sensitive: boolean) =>
    httpTool({
      ...{
        name: 'shop.order',
        input: z.strictObject({ what: z.string() }),
        class: SORT,
        sensitive,
      },
      ...{ url: base, compensate: { url: `${base}/{id}` } },
    });
  expect(await rowsOf(made(false), { what: SECRET })).toContain(SECRET);
  expect(await rowsOf(made(true), { what: SECRET })).not.toContain(SECRET);
});

test('a sensitive result of a statement or a read is in no row', async () => {
  using bank = new DatabaseSync(':memory:');
  const connection = {
    query: (text: string, values: readonly unknown[]) =>
      bank.prepare(text).all(...(values as never[])) as never,
    begin: () => bank.exec('BEGIN'),
    commit: () => bank.exec('COMMIT'),
    rollback: () => (bank.isTransaction ? bank.exec('ROLLBACK') : undefined),
  };
  const statement = { text: 'SELECT ? AS it', values: [SECRET] };
  const shared = {
    name: 'bank.ask',
    input: z.strictObject({}),
    database: { connect: () => connection },
  };
  const writer = (sensitive: boolean) =>
    sqlTool({
      ...{
        ...shared,
        writes: ['db:x'],
        statements: () => [statement],
        result: ([rows]) => rows,
        undo: () => [],
      },
      ...{ delivery: 'externalised', sensitive },
    });
  const reader = (sensitive: boolean) =>
    sqlReader({ ...shared, reads: ['db:x'], statement: () => statement, sensitive });
  for (const made of [writer, reader]) {
    expect(await rowsOf(made(false), {})).toContain(SECRET);
    expect(await rowsOf(made(true), {})).not.toContain(SECRET);
  }
});

test('a sensitive result of a function that is declared as data is in no row', async () => {
  const made = (sensitive: boolean) =>
    declaredTool(
      {
        ...{
          name: 'shop.order',
          input: { type: 'object' },
          class: SORT,
          writes: ['shop:x'],
          sensitive,
        },
        ...{ execute: { call: 'order' }, compensate: { call: 'order' } },
      },
      { order: () => ({ pin: SECRET }) },
    );
  expect(await rowsOf(made(false), {})).toContain(SECRET);
  expect(await rowsOf(made(true), {})).not.toContain(SECRET);
});

test('a sensitive response of a mail server is in no row', async () => {
  await using sink = await MailSink.open();
  const tool = mailTool({
    name: 'mail.send',
    from: 'shop@shop.example',
    transport: sink.url,
    sensitive: true,
  });
  expect(tool.spec.sensitive).toBe(true);
  const rows = await rowsOf(tool, { to: 'ada@example.com', subject: 'x', text: 'y' });
  expect([sink.delivered.length, rows.includes('@shop.example')]).toEqual([1, false]);
});

const shared = { name: 'x.do', input: z.strictObject({}) };
const database = { connect: () => ({}) as never };
const MAKERS: readonly [string, (rest: object) => readonly Tool[]][] = [
  [
    'httpTool',
    (rest) => [httpTool({ ...shared, class: 'read', url: 'https://x.example', ...rest } as never)],
  ],
  [
    'mailTool',
    (rest) => [
      mailTool({ name: 'x.do', from: 'a@b.example', transport: 'smtp://h', ...rest } as never),
    ],
  ],
  [
    'sqlTool',
    (rest) => [
      sqlTool({ ...shared, database, writes: ['x:y'], statements: () => [], ...rest } as never),
    ],
  ],
  [
    'sqlReader',
    (rest) => [
      sqlReader({ ...shared, database, reads: ['x:y'], statement: () => ({}), ...rest } as never),
    ],
  ],
  [
    'declaredTool',
    (rest) => [
      declaredTool({ ...shared, class: 'read', execute: { call: 'f' }, ...rest } as never, {
        f: () => null,
      }),
    ],
  ],
];

test.each(MAKERS)(
  '%s passes on options of every class, and refuses an unknown one by name',
  (_, make) => {
    for (const { spec } of make({ sensitive: true, parallel: false }))
      expect([spec.sensitive, spec.parallel]).toEqual([true, false]);
    for (const { spec } of make({}))
      expect(Object.hasOwn(spec, 'sensitive') || Object.hasOwn(spec, 'parallel')).toBe(false);
    for (const member of ['sensitiv', 'retries', '__proto', 'together'])
      expect(errorOf(() => make({ [member]: true }))).toMatchObject({
        reason: 'invalid_tool',
        message: expect.stringContaining(member),
      });
  },
);

test('httpTool passes on the mitigation of a compensation’s residue', () => {
  const mitigate = () => null;
  const url = 'https://x.example/';
  const tool = httpTool({ ...shared, url, compensate: { url }, class: SORT, mitigate } as never);
  expect(tool.spec.mitigate).toBe(mitigate);
});
