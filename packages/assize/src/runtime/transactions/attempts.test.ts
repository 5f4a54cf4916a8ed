import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DidNothing, declareTool, NoAnswer } from '#effects';
import type { EffectOptions } from '#runtime';
import { operatorWrit, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import {
  type Fault,
  OutsideSink,
  Steps,
  storeOf,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';

// The number of attempts of one effect before it is marked unresolved, in any process.

const HELD = 'irreversible.buffered';
const ACTS = 'reversible.externalised';
/**
 * Patience for all attempts: without patience left, a call has one millisecond, and a slow machine
 * takes longer.
 */
const HOLD_MS = 86_400_000;

/** Calls that are refused or lost `times` times before one succeeds. */
async function stage(fault: Fault, times: number, limits: EffectOptions = {}) {
  const sink = new OutsideSink('keyed');
  const store = new MemoryStore();
  const made = { do: 0, undo: 0, ask: 0 };
  let pausedMs = 0;
  const processOf = (steps: Steps, more: EffectOptions = {}) => {
    const outside = {
      sink,
      steps,
      fault: (of: 'do' | 'undo' | 'ask', what: string): Fault => {
        const isHit = made[of]++ < times;
        return isHit && (of === 'undo' || what !== 'acts') ? fault : 'none';
      },
    };
    const tools = [
      toolFor(outside, 'irreversible', 'buffered'),
      toolFor(outside, 'reversible', 'externalised'),
    ];
    const pause = async (_: number, to: number): Promise<void> => {
      pausedMs = Math.max(pausedMs, to);
    };
    return runtimeOver(storeOf(store, steps), [tally], {
      tools,
      ports: { pause },
      effects: { blockTimeoutMs: HOLD_MS, ...limits, ...more },
    });
  };
  await processOf(new Steps()).create(tally, { trajectoryId: 't' });
  const transact = async (
    assize: ReturnType<typeof runtimeOver>,
    tool: string,
    ends: 'commit' | 'throw',
  ) => {
    const trajectory = await assize.open('t');
    const done = trajectory.transaction(
      { writ: writFor('alice'), writes: ['test:**'], retries: 0 },
      async (tx) => {
        await tx.call(tool, { what: tool === ACTS ? 'acts' : 'held' });
        made.do = 0;
        if (ends === 'throw') throw new Error('no');
        tx.propose({ action: 'count', role: 'counter', args: 'order' });
      },
    );
    await done.catch(() => undefined);
  };
  return { sink, made, processOf, transact, pausedMs: () => pausedMs };
}

describe.each([1, 2, 3, 7, 30])('with %i tries', (tries) => {
  test.each<[string, Fault, string, 'commit' | 'throw', 'do' | 'undo', string]>([
    ['what is refused', 'fail', HELD, 'commit', 'do', 'unresolved'],
    ['what is refused to be undone', 'fail', ACTS, 'throw', 'undo', 'unresolved'],
    ['what nobody answers', 'lose', HELD, 'commit', 'do', 'in_doubt'],
    ['what nobody answers that is to be undone', 'lose', ACTS, 'throw', 'undo', 'in_doubt'],
  ])('%s is tried so often, and then left', async (_, fault, tool, ends, of, phase) => {
    for (const times of [tries - 1, tries]) {
      const at = await stage(fault, times, { maxAttempts: tries });
      const assize = at.processOf(new Steps());
      await at.transact(assize, tool, ends);
      const left = await assize.recoverEffects();
      expect(left.map((each) => each.phase)).toEqual(times < tries ? [] : [phase]);
      expect(at.made[of]).toBe(tries);
      await assize.close();
    }
  });

  test('a permanent refusal is not retried', async () => {
    const at = await stage('fail_for_good', tries, { maxAttempts: tries });
    const assize = at.processOf(new Steps());
    await at.transact(assize, HELD, 'commit');
    expect([await assize.recoverEffects(), at.made.do]).toMatchObject([
      [{ phase: 'unresolved' }],
      1,
    ]);
    // After an operator's retry, all attempts are available again.
    await assize.resolveEffect({
      epoch: 1,
      n: 0,
      as: 'retry',
      by: 'ops',
      writ: operatorWrit(),
      evidence: 'the sink is mended',
    });
    expect(at.made.do).toBe(2);
    await assize.close();
  });
});

test.each([1, 3])(
  'with %i attempts, a lost one that the sink denies counts as failed',
  async (tries) => {
    const sink = new OutsideSink('queryable');
    const made: string[] = [];
    const fault = (of: 'do' | 'undo' | 'ask'): Fault => {
      made.push(of);
      return of === 'do' ? 'lose_before' : 'none';
    };
    const tools = [toolFor({ sink, steps: new Steps(), fault }, 'irreversible', 'buffered')];
    const assize = runtimeOver(new MemoryStore(), [tally], {
      tools,
      effects: { maxAttempts: tries, blockTimeoutMs: HOLD_MS },
    });
    const trajectory = await assize.create(tally, { trajectoryId: 't' });
    await trajectory.transaction({ writ: writFor('alice'), writes: ['test:**'] }, async (tx) => {
      await tx.call(HELD, { what: 'held' });
      tx.propose({ action: 'count', role: 'counter', args: 'order' });
    });
    expect(await assize.recoverEffects()).toMatchObject([{ phase: 'unresolved' }]);
    expect(made).toEqual(Array.from({ length: tries }, () => ['do', 'ask']).flat());
    await assize.close();
  },
);

test('unresolved effects stay so despite more attempts; started ones resume', async () => {
  const ends = new Set<string>();
  for (let endAt = 1; ; endAt++) {
    const at = await stage('fail', 3);
    const steps = new Steps(endAt);
    const first = at.processOf(steps, { maxAttempts: 2 });
    await Promise.race([at.transact(first, HELD, 'commit'), steps.ended]);
    if (!steps.isDead) await Promise.race([first.close(), steps.ended]);
    const next = at.processOf(new Steps(), { maxAttempts: 4 });
    const left = await next.recoverEffects();
    const trajectory = await next.open('t');
    if (JSON.stringify(trajectory.state()).includes('order')) {
      ends.add(left.length === 0 ? 'done' : 'left');
      expect(at.made.do).toBe(left.length === 0 ? 4 : 2);
      expect(at.sink.times('do', 'held')).toBe(left.length === 0 ? 1 : 0);
    }
    await next.close();
    if (!steps.isDead) break;
  }
  expect([...ends].sort()).toEqual(['done', 'left']);
});

test('pauses between tries have an end to how they grow', async () => {
  const at = await stage('fail', 100, { maxAttempts: 100 });
  const assize = at.processOf(new Steps());
  await at.transact(assize, HELD, 'commit');
  expect([at.made.do, at.pausedMs()]).toEqual([100, 20_000]);
  await assize.close();
});

describe('a sink that says when to try again', () => {
  /** The requested pauses of one call that is refused three times. */
  async function pausesAfter(
    afterMs: number,
    blockTimeoutMs: number,
    refused: (afterMs: number) => Error = () => new DidNothing('it is busy', { afterMs }),
  ): Promise<readonly (readonly [number, number])[]> {
    const pauses: [number, number][] = [];
    const tool = declareTool({
      name: 'busy',
      input: z.strictObject({}),
      class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
      writes: ['test:r'],
      execute: () => {
        throw refused(afterMs);
      },
    });
    const pause = async (from: number, to: number): Promise<void> => void pauses.push([from, to]);
    const assize = runtimeOver(new MemoryStore(), [tally], {
      tools: [tool],
      ports: { pause },
      effects: { blockTimeoutMs },
    });
    const trajectory = await assize.create(tally, { trajectoryId: 't' });
    const { effects } = await trajectory.transaction(
      { writ: writFor('alice'), writes: ['test:r'] },
      async (tx) => {
        await tx.call('busy', {});
        tx.propose({ action: 'count', role: 'counter', args: 'order' });
      },
    );
    expect(effects).toBe('needs_human');
    await assize.close();
    return pauses;
  }

  test('is not asked before, and not waited for after the last try', async () => {
    expect(await pausesAfter(2_000, 120_000)).toEqual([
      [2_000, 4_000],
      [2_000, 4_000],
    ]);
    expect(await pausesAfter(5, 120_000)).toEqual([
      [10, 20],
      [40, 80],
    ]);
  });

  test('is heeded too if the outcome of the call is unknown', async () => {
    const unsure = (afterMs: number): Error => new NoAnswer('it is down', { why: 'down', afterMs });
    expect(await pausesAfter(2_000, 120_000, unsure)).toEqual([
      [2_000, 4_000],
      [2_000, 4_000],
    ]);
  });

  test('is waited for as long as there is patience for it', async () => {
    for (const afterMs of [3_600_000, Number.MAX_VALUE]) {
      const pauses = await pausesAfter(afterMs, 40_000);
      expect(pauses.map(([from, to]) => from === to)).toEqual([true, true]);
      // Half of the remaining patience each time: a failed call uses some of it, too.
      for (const [i, longest] of [10_000, 5_000].entries())
        expect(pauses[i]![1]).toBeLessThanOrEqual(longest);
    }
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '9' as never])(
    '%o as a time counts as 0',
    async (afterMs) => {
      expect(await pausesAfter(afterMs, 120_000)).toEqual(await pausesAfter(0, 120_000));
    },
  );
});

test.each([0, -1, 1.5, 101, Number.NaN, '3', null])('%o tries are refused', (tries) => {
  const made = () =>
    runtimeOver(new MemoryStore(), [tally], {
      tools: [],
      effects: { maxAttempts: tries as number },
    });
  expect(made).toThrow(
    expect.objectContaining({
      code: 'bad_argument',
      message: expect.stringContaining('effects.maxAttempts must'),
    }),
  );
});
