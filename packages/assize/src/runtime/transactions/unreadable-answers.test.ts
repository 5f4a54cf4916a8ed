import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Delivery, declareTool, type Sink } from '#effects';
import { COUNT, stage } from '../../../../../tests/support/tools/transaction-stage.ts';

// A tool that answered was executed, also if its answer is not JSON: it is never called again.

const loop: Record<string, unknown> = {};
loop['self'] = loop;
const revoked = (): unknown => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

const ANSWERS: readonly (readonly [string, () => unknown])[] = [
  ['a Date', () => new Date(0)],
  ['a bigint', () => ({ id: 5n })],
  ['a Buffer', () => Buffer.from('x')],
  ['a Map', () => new Map([[1, 2]])],
  ['a cycle', () => loop],
  ['not a number', () => Number.NaN],
  ['a revoked Proxy', revoked],
  ['a function', () => () => 1],
  ['a symbol', () => Symbol('odd')],
  ['half a surrogate', () => 'a\ud800'],
  ['an instance of a class', () => new URL('http://localhost')],
  [
    'a getter that throws',
    () => ({
      get a() {
        throw revoked();
      },
    }),
  ],
];

async function called(answer: () => unknown, delivery: Delivery, sink: Sink) {
  let calls = 0;
  const tool = declareTool({
    name: 'odd.tool',
    input: z.object({}),
    class: { reversibility: 'reversible', delivery, sink },
    writes: ['test:x'],
    uncompensated: 'nothing is left',
    execute: () => {
      calls += 1;
      return answer();
    },
    ...(sink === 'queryable' && { reconcile: () => ({ happened: true, result: null }) as const }),
  });
  const { trajectory, all, assize } = await stage({ tools: [tool] });
  let told: unknown;
  const outcome = await trajectory.transaction(all, async (tx) => {
    await tx.call('odd.tool', {}).catch((error: { code: string }) => {
      told = error.code;
    });
    tx.propose(COUNT as never);
  });
  await assize.close();
  return { calls, told, outcome };
}

const CLASSES = (['buffered', 'externalised'] as const).flatMap((delivery) =>
  (['keyed', 'queryable', 'blind'] as const).map((sink) => [delivery, sink] as const),
);

test.each(CLASSES)('an answer that is not JSON is an answer: %s, %s', async (delivery, sink) => {
  for (const [name, answer] of ANSWERS) {
    const { calls, told, outcome } = await called(answer, delivery, sink);
    expect([name, calls, told]).toEqual([
      name,
      1,
      delivery === 'externalised' ? 'answer_unreadable' : undefined,
    ]);
    expect([name, outcome]).toMatchObject([
      name,
      { ruling: { ruling: 'committed' }, effects: 'settled' },
    ]);
  }
});
