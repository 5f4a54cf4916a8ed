import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { retail } from './index.ts';
import { hasRetail, isWrite, recordedSolutions, retailWorld } from './testing/data.ts';
import { inWords, ruled, worldOver } from './testing/kernel.ts';
import { attempt, judge } from './testing/naive-world.ts';

/** The list of README.md. A rejected proposal changes nothing, as in the real job. */
describe.skipIf(!hasRetail)(
  'the policy on the benchmark (tau-retail, absent without ASSIZE_DATA)',
  () => {
    const world = hasRetail ? retailWorld() : (undefined as never);

    test('the records that it begins with keep the policy', () => {
      expect(judge(world)).toEqual({ outcome: 'pass', keys: [] });
    });

    test('policy refuses known benchmark solutions; kernel and naive check agree', () => {
      const refused: string[] = [];
      let passed = 0;
      for (const { task_id, user, calls } of recordedSolutions()) {
        const live = worldOver(retail, world);
        let state = world;
        for (const call of calls.filter(isWrite)) {
          const naive = attempt(state, call.name, call.arguments, user);
          const ruling = ruled(live, call, user);
          const words = inWords(ruling);
          const naively = naive.outcome === 'tool_error' ? naive.detail : (naive.invariant ?? '');
          expect(words, `task ${task_id}`).toBe(`${naive.outcome} ${naively}`.trim());
          if (ruling.verdict !== 'approved' || naive.outcome === 'tool_error') {
            refused.push(`${task_id} ${call.arguments['order_id']} ${words}`);
            continue;
          }
          ruling.keep();
          state = naive.state;
          passed++;
        }
        expect(isDeepStrictEqual(live.state, state), `task ${task_id}`).toBe(true);
      }
      const elsewhere =
        'payment method should be either the original payment method or a gift card';
      expect(refused).toEqual([
        `12 #W5490111 tool_error ${elsewhere}`,
        `13 #W5490111 tool_error ${elsewhere}`,
        '18 #W2890441 reject OPTION_DIFFERS',
        '64 #W7464385 tool_error non-delivered order cannot be exchanged',
      ]);
      expect(passed).toBe(89);
    });
  },
);
