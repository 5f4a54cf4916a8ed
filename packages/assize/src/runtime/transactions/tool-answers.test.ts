import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool, readTransaction, type Sink, type Tool } from '#effects';
import { codeOf, stage } from '../../../../../tests/support/tools/transaction-stage.ts';
import { keepableOrWhy } from './limits/answer-size.ts';
import { readSalted } from './settle/quarantine.ts';

describe('the answer of a tool', () => {
  const odd = (
    execute: () => unknown,
    compensate: () => unknown = () => ({ undone: 'all' }),
  ): Tool =>
    declareTool({
      name: 'odd.tool',
      input: z.strictObject({}),
      class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
      writes: ['test:x'],
      execute,
      compensate: compensate as never,
    });

  test.each([[() => new Date(0)], [() => Number.NaN], [() => ({ at: undefined, of: () => 1 })]])(
    'that is not JSON is unreadable, and the call is not repeated: %s',
    async (execute) => {
      let calls = 0;
      const counting = () => {
        calls++;
        return execute();
      };
      const { trajectory, all, assize } = await stage({ tools: [odd(counting)] });
      expect(await codeOf(trajectory.transaction(all, (tx) => tx.call('odd.tool', {})))).toBe(
        'answer_unreadable',
      );
      expect(calls).toBe(1);
      expect(await assize.recoverEffects()).toMatchObject([{ why: 'answer_unreadable' }]);
    },
  );

  test('drops undefined as JSON does, in plain objects and lists only', async () => {
    const shared = { a: 1, b: undefined };
    const answer = { shared, again: shared, list: [undefined, [{ c: undefined }]], d: undefined };
    const { trajectory, all } = await stage({ tools: [odd(() => answer)] });
    let read: unknown;
    const thrown = trajectory.transaction(all, async (tx) => {
      read = await tx.call('odd.tool', {});
      throw new Error('as planned');
    });
    await expect(thrown).rejects.toThrow('as planned');
    expect(read).toEqual(JSON.parse(JSON.stringify(answer)));
    expect(Object.keys(read as object)).not.toContain('d');
    const circle: Record<string, unknown> = { none: undefined };
    circle['self'] = circle;
    for (const odds of [
      circle,
      { none: undefined, of: new Date(0) },
      new Proxy({ none: undefined }, {}),
      Object.defineProperty({ none: undefined }, 'get', { get: () => 1, enumerable: true }),
    ])
      expect(keepableOrWhy(odds).kept).toBeUndefined();
  });

  test.each([[undefined], [1], [{}], [{ undone: 'some' }], [{ undone: 'partly' }]])(
    'to a compensation must state its result: %o is not valid',
    async (said) => {
      const { trajectory, all, assize } = await stage({
        tools: [
          odd(
            () => null,
            () => said,
          ),
        ],
      });
      const thrown = trajectory.transaction(all, async (tx) => {
        await tx.call('odd.tool', {});
        throw new Error('as planned');
      });
      await expect(thrown).rejects.toThrow('as planned');
      expect(await assize.recoverEffects()).toMatchObject([{ phase: 'in_doubt' }]);
    },
  );
});

describe('the residue of a compensation is mitigated', () => {
  const refund = (sink: Sink, mitigate: (residue: string) => unknown, log: string[]): Tool =>
    declareTool({
      name: 'booking.make',
      input: z.strictObject({}),
      class: { reversibility: 'reversible', delivery: 'externalised', sink },
      writes: ['test:x'],
      execute: () => null,
      compensate: () => {
        log.push('cancel');
        return { undone: 'partly', residue: 'the fee' };
      },
      mitigate: (_, residue, { key }) => {
        log.push(`mail ${key.length === 64 ? 'under its key' : key}`);
        return mitigate(residue);
      },
      ...(sink === 'queryable' ? { reconcile: () => ({ happened: true, result: null }) } : {}),
    });

  async function undone(sink: Sink, mitigate: (residue: string) => unknown) {
    const log: string[] = [];
    const { trajectory, all, assize, store } = await stage({
      tools: [refund(sink, mitigate, log)],
    });
    const thrown = trajectory.transaction(all, async (tx) => {
      await tx.call('booking.make', {});
      throw new Error('as planned');
    });
    await expect(thrown).rejects.toThrow('as planned');
    const left = await assize.recoverEffects();
    const known = readTransaction((await store.effectsOf(1))!);
    const ref = known.effects[0]!.residue;
    const residue = ref && (await readSalted((hash) => store.blob(hash), ref));
    return { log, left, residue };
  }

  test.each<Sink>(['keyed', 'queryable', 'blind'])(
    'and the result is stored with the residue: %s',
    async (sink) => {
      const { log, left, residue } = await undone(sink, (residue) => ({
        mailed: `about ${residue}`,
      }));
      expect([log, left]).toEqual([['cancel', 'mail under its key'], []]);
      expect(residue).toEqual({ mitigated: { mailed: 'about the fee' }, residue: 'the fee' });
    },
  );

  test.each([
    ['keyed', 'unresolved', 3],
    ['queryable', 'unresolved', 3],
    ['blind', 'in_doubt', 1],
  ] as const)('or is for a person, where that fails: %s is %s', async (sink, phase, times) => {
    const { log, left, residue } = await undone(sink, () => {
      throw new Error('nobody answers');
    });
    expect(log).toEqual(Array(times).fill(['cancel', 'mail under its key']).flat());
    expect(left).toMatchObject([{ phase }]);
    expect(residue).toBeUndefined();
  });

  test('where it fails once, both are made again', async () => {
    let times = 0;
    const { log, left, residue } = await undone('keyed', () => {
      if (times++ === 0) throw new Error('nobody answers');
    });
    expect([log.length, left]).toEqual([4, []]);
    expect(residue).toEqual({ mitigated: null, residue: 'the fee' });
  });
});
