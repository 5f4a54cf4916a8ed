import { once } from 'node:events';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  DidNothing,
  declareTool,
  EffectError,
  NoAnswer,
  type Sink,
  type Tool,
  whyOf,
} from '#effects';
import { type PendingPayload, readRow } from '#ledger';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import {
  type Fault,
  OutsideSink,
  Steps,
  storeOf,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';
import { attended } from '../../../../../tests/support/tools/ledger-with-effects.ts';

// The reason for an unresolved effect: available to the operator, without the thrown error in any
// store.

const SECRET = 'card 4111-1111';
const KEPT = { why: 'http_500' };

/** A tool that throws the error at each of its calls. */
function throwing(error: unknown, sink: Sink, delivery: 'buffered' | 'externalised'): Tool {
  const thrown = (): never => {
    throw error;
  };
  return declareTool({
    name: 'shop.order',
    input: z.strictObject({}),
    class: { reversibility: 'reversible', delivery, sink },
    writes: ['shop:orders'],
    uncompensated: 'it may stay',
    execute: thrown,
    ...(sink === 'queryable' ? { reconcile: thrown } : {}),
  });
}

async function ordered(tool: Tool) {
  const store = new MemoryStore();
  const assize = runtimeOver(store, [attended], {
    tools: [tool],
    ports: { pause: async () => undefined },
  });
  const trajectory = await assize.create(attended, { trajectoryId: 't' });
  const told = await trajectory
    .transaction({ writ: writFor('alice'), writes: ['shop:**'], retries: 0 }, async (tx) => {
      await tx.call('shop.order', {});
      tx.propose({ action: 'count', role: 'counter', args: 'order' });
    })
    .catch((error: unknown) => error);
  return { store, assize, told };
}

/** The whole content of a store: entries, and records of the effect log. */
async function textOf(store: MemoryStore): Promise<string> {
  const entries = await store.entries('t');
  const logged = await store.listEffects({ limit: 10 });
  return JSON.stringify([entries, logged], (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}

const ERRORS: [string, unknown, string | undefined][] = [
  ['an answer that is lost, with a word for it', new NoAnswer(SECRET, KEPT), 'http_500'],
  ['a refusal, with a word for it', new DidNothing(SECRET, { final: true, ...KEPT }), 'http_500'],
  ['a refusal without', new DidNothing(SECRET, { final: true }), undefined],
  ['any other error', new Error(SECRET), undefined],
  [
    'one that has a member of that name',
    Object.assign(new Error('no'), { why: 'secret' }),
    undefined,
  ],
  ['a value that is not an error', SECRET, undefined],
  ...['', 'Card', '4111', SECRET, 'a'.repeat(65), 'a b', `a\n`].map(
    (why): [string, unknown, undefined] => [
      `an invalid word: ${JSON.stringify(why)}`,
      new NoAnswer('no', { why }),
      undefined,
    ],
  ),
];

describe.each<Sink>(['keyed', 'queryable', 'blind'])('at a %s sink', (sink) => {
  test.each(ERRORS)(
    '%s is reported in this process, and only its reason code elsewhere',
    async (_, error, why) => {
      const tool = throwing(error, sink, 'buffered');
      const { store, assize } = await ordered(tool);
      const [left] = await assize.recoverEffects();
      expect(left?.error).toBe(error);
      await assize.close();

      const next = runtimeOver(store, [attended], { tools: [tool] });
      const [found] = await next.recoverEffects();
      const [listed] = await next.effects();
      const pending = (await store.entries('t')).find(({ kind }) => kind === 'pending_approval');
      await next.close();
      for (const each of [left, found, listed?.effects[0]]) expect(each?.why).toBe(why);
      expect(found).not.toHaveProperty('error');
      const { detail } = readRow(pending!).payload as PendingPayload;
      expect(detail.endsWith(')')).toBe(why !== undefined);
      if (why !== undefined) expect(detail).toMatch(/\(http_500\)$/);
      expect(await textOf(store)).not.toMatch(/4111|secret/);
    },
  );

  test('an immediate effect passes the thrown error to its body', async () => {
    const error = new NoAnswer(SECRET, KEPT);
    const { assize, store, told } = await ordered(throwing(error, sink, 'externalised'));
    expect(told).toBeInstanceOf(EffectError);
    expect(told).toMatchObject({
      code: 'outcome_unknown',
      evidence: KEPT,
      message: expect.stringContaining('(http_500)'),
    });
    expect((told as Error).cause).toBe(error);
    expect((await assize.recoverEffects())[0]).toMatchObject({ ...KEPT, error });
    await assize.close();
    expect(await textOf(store)).not.toMatch(/4111/);
  });
});

test('a call that does not answer in time has the reason `too_slow`', async () => {
  const hanging = declareTool({
    ...throwing(undefined, 'blind', 'externalised').spec,
    execute: () => new Promise(() => undefined),
  });
  const store = new MemoryStore();
  const assize = runtimeOver(store, [attended], {
    tools: [hanging],
    effects: { callTimeoutMs: 5 },
  });
  const trajectory = await assize.create(attended, { trajectoryId: 't' });
  const told = trajectory.transaction(
    { writ: writFor('alice'), writes: ['shop:**'], retries: 0 },
    (tx) => tx.call('shop.order', {}),
  );
  await expect(told).rejects.toMatchObject({
    code: 'outcome_unknown',
    evidence: { why: 'too_slow' },
  });
  await assize.close();
});

test('a call that reports no start at its timeout runs once, even if blind', async () => {
  let begun = 0;
  let waited = 0;
  const inLine = declareTool({
    ...throwing(undefined, 'blind', 'buffered').spec,
    execute: async (_, { signal }) => {
      if (waited++ > 0) begun++;
      else
        await once(signal, 'abort').then(() =>
          Promise.reject(new DidNothing('its turn never came')),
        );
      return null;
    },
  });
  const assize = runtimeOver(new MemoryStore(), [attended], {
    tools: [inLine],
    effects: { callTimeoutMs: 500 },
  });
  const trajectory = await assize.create(attended, { trajectoryId: 't' });
  await trajectory.transaction(
    { writ: writFor('alice'), writes: ['shop:**'], retries: 0 },
    async (tx) => {
      await tx.call('shop.order', {});
      tx.propose({ action: 'count', role: 'counter', args: 'order' });
    },
  );
  expect([waited, begun, await assize.recoverEffects()]).toEqual([2, 1, []]);
  await assize.close();
});

test('a call of an ended process has lost its answer', async () => {
  const sink = new OutsideSink('blind');
  const outside = { sink, steps: new Steps(), fault: (): Fault => 'none' };
  for (let endAt = 1; ; endAt++) {
    const at = new Steps(endAt);
    const own = new MemoryStore();
    await runtimeOver(own, [tally]).create(tally, { trajectoryId: 't' });
    const tools = [toolFor({ ...outside, steps: at }, 'irreversible', 'buffered')];
    const first = runtimeOver(storeOf(own, at), [tally], { tools });
    const done = (await first.open('t')).transaction(
      { writ: writFor('alice'), writes: ['test:**'] },
      async (tx) => {
        await tx.call('irreversible.buffered', { what: 'a' });
        tx.propose({ action: 'count', role: 'counter', args: 'order' });
      },
    );
    await Promise.race([done, at.ended]);
    expect(at.isDead).toBe(true);
    const next = runtimeOver(own, [tally], {
      tools: [toolFor(outside, 'irreversible', 'buffered')],
    });
    const [left] = await next.recoverEffects();
    await next.close();
    if (left === undefined) continue;
    expect(left).toMatchObject({ phase: 'in_doubt', why: 'answer_lost' });
    expect(left).not.toHaveProperty('error');
    return;
  }
});

test('a reason code is that of an error of any package copy, and no other’s', () => {
  const copy = Object.defineProperty(new Error('no'), Symbol.for('assize.why'), {
    get: () => 'http_500',
  });
  expect([copy, { ...KEPT }, null, 'http_500'].map(whyOf)).toEqual([
    'http_500',
    undefined,
    undefined,
    undefined,
  ]);
});
