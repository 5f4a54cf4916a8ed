import { expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';
import { transact } from '../../../tests/support/tool-stage.ts';

test.each([[undefined], [null], [{}], [{ happend: true }], [{ happened: 'no' }]])(
  'a sink that is asked and says %j has said nothing, and nothing is done twice',
  async (said) => {
    let times = 0;
    const tool = declareTool({
      name: 'letter.post',
      input: z.strictObject({}),
      class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'queryable' },
      writes: ['letter:one'],
      reconcile: () => said as never,
      execute: () => {
        times++;
        throw new Error('the connection has ended');
      },
    });
    const { left } = await transact([tool], (tx) => tx.call('letter.post', {}));
    expect([times, left.map(({ phase }) => phase)]).toEqual([1, ['in_doubt']]);
  },
);

test('what has happened and has answered nothing need not say so', async () => {
  let times = 0;
  const tool = declareTool({
    name: 'letter.post',
    input: z.strictObject({}),
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'queryable' },
    writes: ['letter:one'],
    reconcile: () => ({ happened: true }) as never,
    execute: () => {
      times++;
      throw new Error('the connection has ended');
    },
  });
  const { left } = await transact([tool], (tx) => tx.call('letter.post', {}));
  expect([times, left]).toEqual([1, []]);
});
