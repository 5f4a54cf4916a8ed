import { Approvals } from 'assize/internal/runtime';
import { expect, test, vi } from 'vitest';
import { pay, succeed } from '../../../../tests/support/server/calling.ts';
import { start } from '../../../../tests/support/server/serving.ts';

const WAITING = 40;

test('a page of proposals does not ask for the deciders of the rest', async () => {
  const server = await start();
  for (let n = 0; n < WAITING; n++)
    await succeed(server, 'proposals.create', pay(`d${n}`, 200, `k${n}`, { as: 'agent:scout' }));
  const asked = vi.spyOn(Approvals.prototype, 'decidersAmong');
  const query = { limit: '5' };
  const { approvals, next } = await succeed(server, 'approvals.list', { as: 'boss:ada', query });
  expect(approvals).toHaveLength(5);
  expect(asked.mock.calls.length).toBeLessThan(10);
  const rest: string[] = [];
  for (let cursor = next; cursor !== undefined; ) {
    const page = await succeed(server, 'approvals.list', {
      as: 'boss:ada',
      query: { limit: '30', cursor },
    });
    rest.push(...page.approvals.map(({ id }: { readonly id: string }) => id));
    cursor = page.next;
  }
  expect(new Set(rest).size).toBe(WAITING - 5);
});
