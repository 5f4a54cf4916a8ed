import { expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';
import { transact } from '../../../../../tests/support/tools/tool-stage.ts';

/**
 * A call that loses its answer, at a sink that gives this report when queried. Returns the
 * unresolved effects and the number of calls.
 */
async function askedAfter(said: unknown) {
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
  return { times, left };
}

test.each([[undefined], [null], [{}], [{ happend: true }], [{ happened: 'no' }]])(
  'a sink’s answer %j to a query means nothing, and nothing is done twice',
  async (said) => {
    const { times, left } = await askedAfter(said);
    expect([times, left.map(({ phase }) => phase)]).toEqual([1, ['in_doubt']]);
  },
);

test('an effect that happened without an answer need not report one', async () => {
  expect(await askedAfter({ happened: true })).toEqual({ times: 1, left: [] });
});
