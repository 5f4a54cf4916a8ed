/**
 * Answers that are too long to store. Their effects were executed. They are not called again for
 * the answer, nor compensated with another answer.
 */

import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { declareTool, type Sink, type Tool } from '#effects';
import { runtimeOver } from '../../../../../../tests/support/ledger/runtime.ts';
import { Steps, storeOf, tally } from '../../../../../../tests/support/tools/effect-sink.ts';
import {
  COUNT,
  codeOf,
  stage,
  writ,
} from '../../../../../../tests/support/tools/transaction-stage.ts';

const LENGTH = 2 ** 20 + 1;
/** Fits as an answer alone, but not together with the salt. */
const FITTING = 2 ** 20 - 2;
const DEPTH = 100;

const LONG: readonly (readonly [what: string, answer: () => unknown])[] = [
  ['long', () => 'x'.repeat(LENGTH)],
  ['of many', () => Array.from({ length: 300_000 }, (_, i) => i % 10)],
  ['deep', () => Array.from({ length: DEPTH }).reduce((inner: unknown) => [inner], [])],
];

class Outside {
  readonly log: string[];
  readonly steps: Steps;

  constructor(steps = new Steps(), log: string[] = []) {
    this.steps = steps;
    this.log = log;
  }

  tool(sort: Sink, delivery: 'buffered' | 'externalised', answer: () => unknown): Tool {
    return declareTool({
      name: 'box.put',
      input: z.strictObject({}),
      class: { reversibility: 'reversible', delivery, sink: sort },
      writes: ['test:x'],
      execute: async () => {
        await this.steps.step();
        this.log.push('put');
        return answer();
      },
      compensate: (_, result) => {
        const isSame = result !== null && JSON.stringify(result) === JSON.stringify(answer());
        this.log.push(isSame ? 'taken' : 'taken by another answer');
        return { undone: 'all' };
      },
      ...(sort === 'queryable'
        ? { reconcile: () => ({ happened: true, result: answer() as never }) }
        : {}),
    });
  }
}

async function staged(sort: Sink, delivery: 'buffered' | 'externalised', answer: () => unknown) {
  const outside = new Outside();
  const staging = await stage({ tools: [outside.tool(sort, delivery, answer)] });
  onTestFinished(() => staging.assize.close());
  return { ...staging, log: outside.log };
}

describe.each<Sink>(['keyed', 'queryable', 'blind'])(
  'an answer that is too much, of a %s sink',
  (sort) => {
    test.each(LONG)(
      'is reported with the tool’s name, and its compensation receives it: %s',
      async (_, answer) => {
        const { trajectory, all, assize, log } = await staged(sort, 'externalised', answer);
        const made = trajectory.transaction(all, (tx) => tx.call('box.put', {}));
        await expect(made).rejects.toMatchObject({
          reason: 'too_much',
          message: expect.stringMatching(
            /^box\.put was executed, but its answer is too long to store: /,
          ),
          evidence: { tool: 'box.put' },
        });
        expect(log).toEqual(['put', 'taken']);
        expect(await assize.recoverEffects()).toEqual([]);
      },
    );

    test('may be ignored by the body, and the body continues without it', async () => {
      const { trajectory, all, assize, log } = await staged(sort, 'externalised', LONG[0]![1]);
      const made = await trajectory.transaction({ ...all, name: 'order' }, async (tx) => {
        expect(await codeOf(tx.call('box.put', {}))).toBe('too_much');
        tx.propose(COUNT);
      });
      expect(made).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
      expect(log).toEqual(['put']);
      const { id } = (made.ruling as { entry: { id: string } }).entry;
      const answers = await assize.awaitEffects(id);
      expect(answers).toMatchObject([{ tool: 'box.put', phase: 'applied', isTooLong: true }]);
      expect(Object.keys(answers[0]!)).not.toContain('answer');
    });

    test('is harmless after the commit', async () => {
      const { trajectory, all, assize, log } = await staged(sort, 'buffered', LONG[0]![1]);
      const made = await trajectory.transaction(all, async (tx) => {
        await tx.call('box.put', {});
        tx.propose(COUNT);
      });
      expect(made).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
      expect([log, await assize.recoverEffects()]).toEqual([['put'], []]);
    });
  },
);

/** A list of two references to a list of two references, and so on. Its JSON is long. */
function sharedLists(doublings: number): unknown {
  let list: unknown = [1];
  for (let i = 0; i < doublings; i++) list = [list, list];
  return list;
}

/** A copy fits into no memory. */
const DOUBLINGS = 60;

describe.each<Sink>(['keyed', 'queryable', 'blind'])(
  'shared lists as the answer of a %s sink',
  (sort) => {
    test('are too long even to compensate the call', async () => {
      const { trajectory, all, assize, log } = await staged(sort, 'externalised', () =>
        sharedLists(DOUBLINGS),
      );
      expect(await codeOf(trajectory.transaction(all, (tx) => tx.call('box.put', {})))).toBe(
        'too_much',
      );
      expect(log).toEqual(['put']);
      expect(await assize.recoverEffects()).toMatchObject([
        { phase: 'unresolved', why: 'answer_too_long' },
      ]);
    });
  },
);

test('a recovery that repeats a call with shared lists as its answer ends', async () => {
  let repeated = 0;
  // Each answer is looked through, and that takes long. Other tests end at each step.
  for (let endAt = 2; ; endAt += 2) {
    const { isDead, left, log } = await crashed(endAt, () => sharedLists(DOUBLINGS), 'keyed');
    expect(log).not.toContain('taken by another answer');
    expect(left.map(({ why }) => why)).toEqual(log.length === 0 ? [] : ['answer_too_long']);
    if (log.length > 1) repeated++;
    if (!isDead) break;
  }
  expect(repeated).toBeGreaterThan(0);
});

/** A body that fails, in a process that ends at a step, and the recovery by another process. */
async function crashed(endAt: number, answer: () => unknown, sort: Sink = 'blind') {
  const store = new MemoryStore();
  const steps = new Steps(endAt);
  const outside = new Outside(steps);
  const again = new Outside(new Steps(), outside.log);
  const first = runtimeOver(storeOf(store, steps), [tally], {
    tools: [outside.tool(sort, 'externalised', answer)],
  });
  const second = runtimeOver(store, [tally], { tools: [again.tool(sort, 'externalised', answer)] });
  await runtimeOver(store, [tally]).create(tally, { trajectoryId: 't' });
  const body = async () => {
    const trajectory = await first.open('t');
    await codeOf(
      trajectory.transaction({ writ, writes: ['test:**'], retries: 0 }, async (tx) => {
        await tx.call('box.put', {}).catch(() => undefined);
        throw new Error('as planned');
      }),
    );
  };
  await Promise.race([body(), steps.ended]);
  const { isDead } = steps;
  if (!isDead) await first.close();
  const left = await second.recoverEffects();
  await second.close();
  return { isDead, left, log: outside.log };
}

test.each([
  ['too much is never undone by another answer', LENGTH, 'answer_too_long'],
  ['that just fits is read back to undo it', FITTING, undefined],
] as const)('after a crash, an effect with an answer: %s', async (_, length, why) => {
  const seen = new Set<string | undefined>();
  for (let endAt = 1; ; endAt++) {
    const { isDead, left, log } = await crashed(endAt, () => 'x'.repeat(length));
    expect(log).not.toContain('taken by another answer');
    for (const each of left) seen.add(each.why);
    const isGone = log.length === 0 || log.at(-1) === 'taken';
    expect(left.length > 0 || isGone).toBe(true);
    if (!isDead) break;
  }
  expect(seen.has('answer_too_long')).toBe(why !== undefined);
});

test.each([
  [
    'too much',
    () => 'x'.repeat(LENGTH),
    'too_much',
    /^The answer of box\.look is too long: .* Request less/,
  ],
  [
    'no JSON',
    () => Number.NaN,
    'tool_failed',
    /^The answer of box\.look is not JSON: JSON has no NaN/,
  ],
])('a read that answers %s is named in the error', async (_, execute, reason, message) => {
  const look = declareTool({
    name: 'box.look',
    input: z.strictObject({}),
    class: 'read',
    reads: ['test:x'],
    execute,
  });
  const { trajectory, all, assize } = await stage({ tools: [look] });
  onTestFinished(() => assize.close());
  for (const reading of ['careful', 'optimistic'] as const) {
    const options = reading === 'careful' ? all : { ...all, reading };
    const made = trajectory.transaction({ ...options, reads: ['test:**'] }, (tx) =>
      tx.call('box.look', {}),
    );
    await expect(made).rejects.toMatchObject({ reason, message: expect.stringMatching(message) });
  }
});

describe.each<Sink>(['keyed', 'blind'])(
  'an oversized residue of a compensation, at a %s sink',
  (sort) => {
    /** The stored record of a transaction that fails, and the number of compensation calls. */
    async function undone(residue: unknown, mitigate?: (residue: unknown) => unknown) {
      const times = { undone: 0, mitigated: 0 };
      const tool = declareTool({
        name: 'box.put',
        input: z.strictObject({}),
        class: { reversibility: 'with_cost', delivery: 'externalised', sink: sort },
        writes: ['test:x'],
        execute: () => null,
        compensate: () => {
          times.undone++;
          return { undone: 'partly', residue: residue as never };
        },
        ...(mitigate && {
          mitigate: (_: unknown, left: unknown) => {
            times.mitigated++;
            return mitigate(left);
          },
        }),
      });
      const { trajectory, all, assize, store } = await stage({ tools: [tool] });
      onTestFinished(() => assize.close());
      const made = trajectory.transaction(all, async (tx) => {
        await tx.call('box.put', {});
        throw new Error('as planned');
      });
      await expect(made).rejects.toThrow('as planned');
      expect(await assize.recoverEffects()).toEqual([]);
      const [transaction] = await assize.effects({ epoch: 1 });
      expect(transaction).toMatchObject({ phase: 'aborted', effects: [{ phase: 'undone' }] });
      const left = transaction!.effects[0]!.residue;
      return { times, left: left && JSON.parse((await store.blob(left.$blob))!).value };
    }

    const unknown = expect.stringMatching(
      /^what box\.put has answered when it was undone is too long to be kept: /,
    );

    test.each(LONG)('is said to be so, and it is undone once: %s', async (_, residue) => {
      expect(await undone(residue())).toEqual({
        times: { undone: 1, mitigated: 0 },
        left: { unknown },
      });
    });

    test('of shared lists is said to be so', async () => {
      const mitigated = await undone(sharedLists(DOUBLINGS), (given) => given);
      expect(mitigated).toEqual({
        times: { undone: 1, mitigated: 1 },
        left: { mitigated: { unknown }, residue: { unknown } },
      });
    });

    test('of shared lists as its mitigation is said to be so', async () => {
      const { left } = await undone('the residue', () => sharedLists(DOUBLINGS));
      expect(left).toEqual({ mitigated: { unknown }, residue: 'the residue' });
    });

    test('is mitigated as it is', async () => {
      const residue = LONG[0]![1]();
      const { times, left } = await undone(residue, (given) => ({ isWhole: given === residue }));
      expect(times).toEqual({ undone: 1, mitigated: 1 });
      expect(left).toEqual({ mitigated: { isWhole: true }, residue: { unknown } });
    });

    test('is recorded with its mitigation', async () => {
      const residue = 'x'.repeat(2 ** 19);
      expect((await undone(residue, () => 'y'.repeat(2 ** 19))).left).toEqual({
        mitigated: 'y'.repeat(2 ** 19),
        residue: { unknown },
      });
      expect((await undone(residue, () => 'y'.repeat(LENGTH))).left).toEqual({
        mitigated: { unknown },
        residue,
      });
      expect((await undone(null, () => undefined)).left).toEqual({
        mitigated: null,
        residue: null,
      });
    });
  },
);
