import { expect, test } from 'vitest';
import { desk } from '../../../../tests/support/ledger/newsroom.ts';
import { writFor } from '../../../../tests/support/ledger/runtime.ts';
import type { Agent } from './index.ts';

/** A writer that files one story a turn, and notes each slice that it is given. */
function scribe(name: string, writ: Agent['writ']) {
  const slices: { readonly drafts: object }[] = [];
  const agent: Agent = {
    name,
    role: { name: 'writer', params: {} },
    writ,
    decide: (slice) => {
      slices.push(slice);
      const title = `${name} ${Object.keys(slice.drafts).length}`;
      return { action: 'write', args: { title, text: 'The town slept', at: '' } };
    },
  };
  return { agent, slices };
}

test.each([
  ['another role', { scopes: ['role:checker'] }],
  ['another action', { actions: ['assize.revoke'] }],
  ['another time', { expires: '2026-03-01T00:00:00.000000Z' }],
])('an agent with a writ for %s gets no slice, and no run starts', async (_, grant) => {
  const { run, trajectory } = await desk();
  const { agent, slices } = scribe('w', writFor('w', grant));
  const other = scribe('v', writFor('v'));
  const length = trajectory.length;
  await expect(run({}, [other.agent, agent])).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('does not cover the role'),
    evidence: { agent: 'w' },
  });
  expect([slices, other.slices, trajectory.length]).toEqual([[], [], length]);
});

test('an agent whose writ is revoked gets no further slice; the others go on', async () => {
  const { run, trajectory } = await desk();
  const writ = writFor('w');
  const revoked = scribe('w', writ);
  const other = scribe('v', writFor('v'));
  const agents = [revoked.agent, other.agent];
  await run({ maxTurns: 4 }, agents);
  expect([revoked.slices.length, other.slices.length]).toEqual([2, 2]);
  const by = writFor('office', { actions: ['assize.revoke'], scopes: ['writ:**'] });
  expect(await trajectory.writs.revoke({ writ, by, reason: 'stolen' })).toMatchObject({
    ruling: { ruling: 'committed' },
  });
  // The run goes on where it was left. Its last turn is decided again, as after a crash.
  await run({ maxTurns: 3 }, agents);
  expect(revoked.slices).toHaveLength(2);
  expect(other.slices.length).toBeGreaterThanOrEqual(5);
});
