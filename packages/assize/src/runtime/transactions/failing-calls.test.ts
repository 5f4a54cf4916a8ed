import { describe, expect, test } from 'vitest';
import type { Sink } from '#effects';
import type { TransactionOptions } from '#runtime';
import type { Fault, Outside } from '../../../../../tests/support/tools/effect-sink.ts';

import {
  COUNT,
  codeOf,
  once,
  stage,
} from '../../../../../tests/support/tools/transaction-stage.ts';

describe('calls that fail', () => {
  test('before the commit: the error reports no effect, and the body continues', async () => {
    const { trajectory, all, sink } = await stage({ fault: once('fail') });
    const outcome = await trajectory.transaction(all, async (tx) => {
      expect(await codeOf(tx.call('reversible.externalised', { what: 'a' }))).toBe('tool_failed');
      await tx.call('reversible.externalised', { what: 'b' });
      tx.propose(COUNT);
    });
    expect(outcome).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
    expect([sink.standing('a'), sink.standing('b')]).toEqual([0, 1]);
  });

  test.each([{}, { name: 'order 1' }])(
    'a retried body restarts in a new epoch after compensation: %o',
    async (named) => {
      const { trajectory, all, sink } = await stage({
        fault: (of, what) => (of === 'do' && what === 'b' && ++failed < 3 ? 'fail' : 'none'),
      });
      let failed = 0;
      const outcome = await trajectory.transaction({ ...all, ...named, retries: 3 }, async (tx) => {
        await tx.call('reversible.externalised', { what: 'a' });
        await tx.call('reversible.externalised', { what: 'b' });
        tx.propose(COUNT);
      });
      expect(outcome).toMatchObject({
        ruling: { ruling: 'committed' },
        epoch: 3,
        effects: 'settled',
      });
      expect([sink.times('do', 'a'), sink.standing('a'), sink.standing('b')]).toEqual([3, 1, 1]);
      // Each compensated attempt has its own keys: a sink must not take the next attempt for the
      // compensated one.
      expect(new Set(sink.log.filter(({ what }) => what === 'a').map(({ key }) => key)).size).toBe(
        3,
      );
    },
  );

  test('the log keeps keys of named transactions only; others cannot be reused', async () => {
    const { trajectory, all, sink, store } = await stage();
    const keysOf = async (named: Partial<TransactionOptions>) => {
      const from = sink.log.length;
      await trajectory.transaction({ ...all, ...named }, async (tx) => {
        await tx.call('reversible.externalised', { what: 'a' });
        await tx.call('reversible.buffered', { what: 'b' });
        tx.propose(COUNT);
      });
      const keys = sink.log.slice(from).map(({ key }) => key);
      return Promise.all(keys.map((key) => store.effectKey(key)));
    };
    expect(await keysOf({})).toEqual([undefined, undefined]);
    expect(await keysOf({ name: 'order 1' })).toMatchObject([
      { epoch: 2, n: 0 },
      { epoch: 2, n: 1 },
    ]);
  });

  test('a refusal says nothing about an earlier call with a lost answer', async () => {
    const script =
      (faults: Fault[]): NonNullable<Outside['fault']> =>
      () =>
        faults.shift() ?? 'none';
    const lasting = await stage({ fault: script(['lose', 'fail_for_good', 'fail']) });
    const made = lasting.trajectory.transaction(lasting.all, (tx) =>
      tx.call('reversible.externalised', { what: 'a' }),
    );
    expect(await codeOf(made)).toBe('outcome_unknown');
    expect(await lasting.assize.recoverEffects()).toMatchObject([{ phase: 'in_doubt' }]);
    const passing = await stage({ fault: script(['lose', 'fail']) });
    const outcome = await passing.trajectory.transaction(passing.all, async (tx) => {
      await tx.call('reversible.externalised', { what: 'a' });
      tx.propose(COUNT);
    });
    expect(outcome).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
    expect(passing.sink.standing('a')).toBe(1);
  });

  test('where the tool says that it never will, it is not tried again', async () => {
    const { trajectory, all } = await stage({ fault: () => 'fail_for_good' });
    let attempts = 0;
    const made = trajectory.transaction({ ...all, retries: 3 }, (tx) => {
      attempts++;
      return tx.call('reversible.externalised', { what: 'a' });
    });
    expect(await codeOf(made)).toBe('tool_failed');
    expect(attempts).toBe(1);
  });

  test.each<[Sink, Fault, string, number]>([
    ['keyed', 'lose', 'settled', 1],
    ['keyed', 'lose_before', 'settled', 1],
    ['keyed', 'hang', 'settled', 1],
    ['queryable', 'lose', 'settled', 1],
    ['queryable', 'lose_before', 'settled', 1],
    ['queryable', 'hang', 'settled', 1],
    ['blind', 'lose', 'needs_human', 1],
    ['blind', 'lose_before', 'needs_human', 0],
    ['blind', 'hang', 'needs_human', 1],
    ['blind', 'fail', 'settled', 1],
  ])('after the commit, with a %s sink and the answer: %s', async (sort, fault, effects, times) => {
    const { trajectory, all, sink, assize } = await stage({
      sort,
      fault: once(fault),
      callTimeoutMs: 20,
    });
    const outcome = await trajectory.transaction(all, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'a' });
      tx.propose(COUNT);
    });
    expect(outcome).toMatchObject({ ruling: { ruling: 'committed' }, effects });
    expect(sink.times('do', 'a')).toBe(times);
    expect(await assize.recoverEffects()).toHaveLength(effects === 'needs_human' ? 1 : 0);
  });

  test('a repeatedly failing effect needs a human and blocks only its scope', async () => {
    const { trajectory, all, sink, assize } = await stage({
      fault: (_, what) => (what === 'bad' ? 'fail' : 'none'),
    });
    const bad = await trajectory.transaction({ ...all, writes: ['test:bad'] }, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'bad', at: 'bad' });
      tx.propose(COUNT);
    });
    expect(bad).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'needs_human' });
    const [left] = await assize.recoverEffects();
    expect(left).toMatchObject({
      epoch: 1,
      tool: 'irreversible.buffered',
      phase: 'unresolved',
      trajectoryId: 't',
    });
    const good = await trajectory.transaction({ ...all, writes: ['test:good'] }, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'good', at: 'good' });
      tx.propose(COUNT);
    });
    expect(good.effects).toBe('settled');
    expect(
      await codeOf(
        trajectory.transaction({ ...all, writes: ['test:*'] }, (tx) => tx.propose(COUNT)),
      ),
    ).toBe('resource_in_doubt');
    expect(sink.standing('good')).toBe(1);
  });

  test('a failed compensation is retried; a permanent failure needs a human', async () => {
    for (const [times, left] of [
      [2, 0],
      [99, 1],
    ] as const) {
      let failed = 0;
      const { trajectory, all, sink, assize } = await stage({
        fault: (of) => (of === 'undo' && failed++ < times ? 'fail' : 'none'),
      });
      const made = trajectory.transaction(all, async (tx) => {
        await tx.call('reversible.externalised', { what: 'a' });
        throw new Error('no');
      });
      expect(await codeOf(made)).toBe('no');
      expect(sink.standing('a')).toBe(left);
      expect(await assize.recoverEffects()).toHaveLength(left);
    }
  });

  test('a hung body is aborted at its deadline, and waiting transactions resume', async () => {
    const { trajectory, all, sink } = await stage();
    const hung = codeOf(
      trajectory.transaction({ ...all, deadlineMs: 30 }, async (tx) => {
        await tx.call('reversible.externalised', { what: 'a' });
        await new Promise(() => undefined);
      }),
    );
    const next = trajectory.transaction(all, async (tx) => {
      await tx.call('reversible.externalised', { what: 'b' });
      tx.propose(COUNT);
    });
    expect(await hung).toBe('deadline');
    expect((await next).ruling.ruling).toBe('committed');
    expect(sink.log.map(({ did, what }) => `${did} ${what}`)).toEqual(['do a', 'undo a', 'do b']);
  });
});
