/** docs/design/effects.md names all that there is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type EffectPayload, readTransaction } from '#effects';
import type { Hash, LoggedTransaction } from '#ledger';
import type { Transaction } from '#runtime';
import { MemoryStore } from '#stores';
import { OutsideSink, Steps, tally, toolFor } from '../support/effects-stage.ts';
import { runtimeOver, writFor } from '../support/runtime.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/design/effects.md'), 'utf8');

/** The literals of a type, as its file declares it. */
function literals(file: string, type: string): string[] {
  const text = readFileSync(join(root, 'src/effects', file), 'utf8');
  const declared = new RegExp(`^export type ${type} =([\\s\\S]*?);$`, 'm').exec(text)?.[1] ?? '';
  return [...declared.matchAll(/'([a-z_]+)'/g)].map(([, name]) => name as string);
}

test.each([
  ['error', 'errors.ts', 'EffectErrorCode', 17],
  ['phase of an effect', 'protocol.ts', 'EffectPhase', 11],
  ['phase of a transaction', 'protocol.ts', 'TransactionPhase', 6],
  ['part of a class', 'protocol.ts', 'Reversibility', 3],
  ['part of a class', 'protocol.ts', 'Delivery', 2],
  ['sort of sink', 'protocol.ts', 'Sink', 3],
  ['decision', 'protocol.ts', 'Decision', 4],
])('each %s stands there: %s %s', (_, file, type, least) => {
  const names = literals(file, type);
  expect(names.length).toBeGreaterThanOrEqual(least);
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
});

test('each record of the effect log stands there, with its members', () => {
  const log = readFileSync(join(root, 'src/effects/log.ts'), 'utf8');
  const declared = /^export type LogRecord =([\s\S]*?^ {2}\| \{ readonly is: 'settled'.*?;)$/m.exec(log)?.[1] ?? '';
  const names = [...declared.matchAll(/is: ((?:'[a-z_]+'(?: \| )?)+)/g)].flatMap(([, is]) => is!.match(/[a-z_]+/g)!);
  expect(names).toHaveLength(19);
  const section = page.slice(page.indexOf('## The effect log'), page.indexOf('Appendix C.1'));
  expect(names.filter((name) => !section.includes(`\`${name}\``))).toEqual([]);
  const members = [...declared.matchAll(/readonly ([a-z]+)\??:/g)].map(([, name]) => name as string);
  expect(members.filter((name) => name !== 'is' && !section.includes(`\`${name}\``))).toEqual([]);
});

/** What the log has for each field of the paper's entry (seed 003 C.1). */
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
  description: ({ known }) => [known.effects.map(({ tool }, n) => [n, tool]), known.body.principal, known.body.writ_id],
};

/**
 * A transaction of two effects, of which one acted at once and one was held, and of two branches that do the same, of which the second is
 * chosen and has a part; as the log has it in the end.
 */
async function logged() {
  const outside = { sink: new OutsideSink('keyed'), steps: new Steps() };
  const tools = [toolFor(outside, 'reversible', 'externalised'), toolFor(outside, 'irreversible', 'buffered')];
  const store = new MemoryStore();
  const assize = runtimeOver(store, [tally], { tools });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const options = { name: 'o1', writ: writFor('alice'), writes: ['test:**'], retries: 0 };
  await trajectory.transaction(options, async (tx) => {
    await tx.call('reversible.externalised', { what: 'acted', at: 'r' });
    await tx.call('irreversible.buffered', { what: 'held', at: 's' });
    const tried = (name: string) => async (branch: Transaction) => {
      await branch.call('reversible.externalised', { what: `${name} acted`, at: name });
      await branch.nested((part) => part.call('irreversible.buffered', { what: `${name} held`, at: name }));
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

test('each field of the paper’s log entry has its place there, and what it has', async () => {
  const section = page.slice(page.indexOf('Appendix C.1'), page.indexOf('## What the ledger says'));
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
      [...[0, 1, 2].map((n) => [n, 'reversible.externalised']), ...[3, 4].map((n) => [n, 'irreversible.buffered'])],
      'alice',
      expect.stringMatching(/^[0-9a-f]{64}$/),
    ],
  });
});
