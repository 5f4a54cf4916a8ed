/** Tool calls of agents and workflows of Mastra, through the gate. */
import { describe, expect, test } from 'vitest';
import { hasMastra } from '../../../tests/support/mastra/packages.ts';
import { answerTo } from '../src/index.ts';
import { decide } from './support/decide.ts';
import { agentKind, named, pay, runOf, workflowKind } from './support/mastra-runs.ts';

describe.skipIf(!hasMastra)('Mastra (absent without npm ci --prefix peers)', () => {
  describe.each([
    ['an agent', agentKind],
    ['a workflow', workflowKind],
  ] as const)('%s', (_, kind) => {
    test('an allowed call is made, and the model gets its result', async () => {
      const it = await runOf(kind);
      expect((await it.start([pay('c1', 'bob', 5)])).told).toMatchObject([
        { result: { paid: 'bob' } },
      ]);
      expect(it.made).toEqual([{ to: 'bob', cents: 5 }]);
    });

    test('a refused call is an error with the reason', async () => {
      const it = await runOf(kind);
      const { told } = await it.start([pay('c1', 'mallory', 5)]);
      expect(told).toMatchObject([{ error: expect.stringContaining('never') }]);
      expect(it.made).toEqual([]);
    });

    test('a held call is suspended, and made once after a decision there', async () => {
      const it = await runOf(kind);
      const { pauses } = await it.start([pay('c1', 'bob', 500)]);
      expect(pauses).toMatchObject([
        {
          ...{
            tool: 'pay',
            args: { to: 'bob', cents: 500 },
            message: expect.stringContaining('large'),
          },
          assize: { reason: expect.stringContaining('large'), digest: expect.any(String) },
        },
      ]);
      // The word of the framework is not enough.
      const again = await it.resume(answerTo(pauses[0]!, { decision: 'approve' }));
      expect(again.pauses).toEqual(pauses);
      expect(it.made).toEqual([]);
      await decide(it.gate, pauses[0]!, 'approve');
      expect((await it.resume({})).told).toMatchObject([{ result: { paid: 'bob' } }]);
      expect(it.made).toEqual([{ to: 'bob', cents: 500 }]);
    });

    test('a call that a named person approved in the answer is made', async () => {
      const it = await runOf(kind, named);
      const { pauses } = await it.start([{ id: 'c1', tool: 'pay', args: { to: 'bob' } }]);
      const { told } = await it.resume(answerTo(pauses[0]!, { decision: 'approve' }));
      expect(told).toMatchObject([{ result: { paid: 'bob' } }]);
      // The default of the schema, also after the resume.
      expect(it.made).toEqual([{ to: 'bob', cents: 500 }]);
    });
  });
});
