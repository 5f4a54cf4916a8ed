/** The codes, phases and records of the effects, compared with docs/design/effects.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { type EffectPayload, readTransaction } from '#effects';
import type { Hash, LoggedTransaction } from '#ledger';
import type { Transaction } from '#runtime';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { OutsideSink, Steps, tally, toolFor } from '../support/tools/effect-sink.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/design/effects.md'), 'utf8');

/** The string literals of a type, or the names of a table, from its source file. */
function literals(file: string, type: string): string[] {
  const text = readFileSync(join(root, 'packages/assize/src/effects', file), 'utf8');
  const declared =
    new RegExp(`^(?:export type|const) ${type} =([\\s\\S]*?);$`, 'm').exec(text)?.[1] ?? '';
  return [...declared.matchAll(/(?:\||^) *'([a-z_]+)'|^ {2}([a-z_]+): '/gm)].map(
    ([, name, key]) => (name ?? key) as string,
  );
}

test.each([
  ['error', 'errors.ts', 'EffectErrorCode', 14],
  ['reason of an error', 'errors.ts', 'CODES', 11],
  ['phase of an effect', 'protocol.ts', 'EffectPhase', 11],
  ['phase of a transaction', 'protocol.ts', 'TransactionPhase', 6],
  ['reversibility', 'protocol.ts', 'Reversibility', 3],
  ['delivery', 'protocol.ts', 'Delivery', 2],
  ['sink', 'protocol.ts', 'Sink', 3],
  ['decision', 'protocol.ts', 'Decision', 4],
])('names each %s (%s %s)', (_, file, type, least) => {
  const names = literals(file, type);
  expect(names.length).toBeGreaterThanOrEqual(least);
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
});

test('names each record of the effect log, and its fields', () => {
  const log = readFileSync(join(root, 'packages/assize/src/effects/log.ts'), 'utf8');
  const declared =
    /^export type LogRecord =([\s\S]*?^ {2}\| \{ readonly is: 'settled'.*?;)$/m.exec(log)?.[1] ??
    '';
  const names = [...declared.matchAll(/is: ((?:'[a-z_]+'(?: \| )?)+)/g)].flatMap(
    ([, is]) => is!.match(/[a-z_]+/g)!,
  );
  expect(names).toHaveLength(19);
  const section = page.slice(page.indexOf('## The effect log'), page.indexOf('Appendix C.1'));
  expect(names.filter((name) => !section.includes(`\`${name}\``))).toEqual([]);
  const members = [...declared.matchAll(/readonly ([a-z]+)\??:/g)].map(
    ([, name]) => name as string,
  );
  expect(members.filter((name) => name !== 'is' && !section.includes(`\`${name}\``))).toEqual([]);
});

/** The value in the log for each field of the paper's entry (Atomix, appendix C.1). */
const FIELDS: Readonly<Record<string, (at: Awaited<ReturnType<typeof logged>>) => unknown>> = {
  tx_id: ({ row, known }) => [row.epoch, known.body.transaction],
  trace_id: ({ row }) => row.trajectory_id,
  branch_id: ({ known }) =>
    known.effects.map(({ branch }, n) => [branch, known.state.effects[n]!.isDiscarded === true]),
  epoch: ({ row }) => row.epoch,
  status: ({ known }) => known.state.phase,
  scopes: ({ known }) => known.body.claims,
  payload: ({ payloads }) => payloads.map(({ tool, input, claims }) => [tool, input, claims]),
  idempotency_key: ({ known, keys }) =>
    known.effects.map(({ key }, n) => [keys[n]?.key === key, keys[n]?.epoch, keys[n]?.n]),
  description: ({ known }) => [
    known.effects.map(({ tool }, n) => [n, tool]),
    known.body.principal,
    known.body.writ_id,
  ],
};

/**
 * The log of a transaction with one externalised and one buffered effect, and with two branches.
 * Each branch has the same two effects. The second branch is chosen, and has a part.
 */
async function logged() {
  const outside = { sink: new OutsideSink('keyed'), steps: new Steps() };
  const tools = [
    toolFor(outside, 'reversible', 'externalised'),
    toolFor(outside, 'irreversible', 'buffered'),
  ];
  const store = new MemoryStore();
  const assize = runtimeOver(store, [tally], { tools });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const options = { name: 'o1', writ: writFor('alice'), writes: ['test:**'], retries: 0 };
  await trajectory.transaction(options, async (tx) => {
    await tx.call('reversible.externalised', { what: 'acted', at: 'r' });
    await tx.call('irreversible.buffered', { what: 'held', at: 's' });
    const tried = (name: string) => async (branch: Transaction) => {
      await branch.call('reversible.externalised', { what: `${name} acted`, at: name });
      await branch.nested((part) =>
        part.call('irreversible.buffered', { what: `${name} held`, at: name }),
      );
    };
    await tx.speculate([tried('one'), tried('two')], () => 1);
    tx.propose({ action: 'count', role: 'counter', args: 'order' });
  });
  await assize.close();
  const row = (await store.effectsOf(1)) as LoggedTransaction;
  const known = readTransaction(row);
  const payloads: EffectPayload[] = [];
  const keys: Awaited<ReturnType<MemoryStore['effectKey']>>[] = [];
  for (const { payload, key } of known.effects) {
    payloads.push(JSON.parse((await store.blob(payload.$blob))!).value);
    keys.push(await store.effectKey(key as Hash));
  }
  return { row, known, payloads, keys };
}

test('names the place and the value of each field of the paper', async () => {
  const section = page.slice(
    page.indexOf('Appendix C.1'),
    page.indexOf('## What the ledger records'),
  );
  const named = [...section.matchAll(/^\| `([a-z_]+)` \| (.*) \|$/gm)];
  expect(named.map(([, name]) => name)).toEqual(Object.keys(FIELDS));
  const at = await logged();
  const seen = Object.fromEntries(Object.entries(FIELDS).map(([name, read]) => [name, read(at)]));
  const claim = (scope: string) => ({ access: 'write', scope });
  expect(seen).toEqual({
    tx_id: [1, 'o1'],
    trace_id: 't',
    branch_id: [
      [undefined, false],
      ['2.0', true],
      ['2.1', false],
      [undefined, false],
      ['2.1/1.0', false],
    ],
    epoch: 1,
    status: 'settled',
    scopes: expect.arrayContaining([claim('test:**')]),
    payload: [
      ['reversible.externalised', { what: 'acted', at: 'r' }, [claim('test:r')]],
      ['reversible.externalised', { what: 'one acted', at: 'one' }, [claim('test:one')]],
      ['reversible.externalised', { what: 'two acted', at: 'two' }, [claim('test:two')]],
      ['irreversible.buffered', { what: 'held', at: 's' }, [claim('test:s')]],
      ['irreversible.buffered', { what: 'two held', at: 'two' }, [claim('test:two')]],
    ],
    idempotency_key: Array.from({ length: 5 }, (_, n) => [true, 1, n]),
    description: [
      [
        ...[0, 1, 2].map((n) => [n, 'reversible.externalised']),
        ...[3, 4].map((n) => [n, 'irreversible.buffered']),
      ],
      'alice',
      expect.stringMatching(/^[0-9a-f]{64}$/),
    ],
  });
});
