/** Two servers on one database: either answers for what the other did. */

import type { PrincipalConfig } from 'assize/internal/config';
import { expect, test } from 'vitest';
import { onEveryDatabase } from '../../../../tests/support/ledger/stores.ts';
import {
  type Calling,
  callOperation,
  pay,
  succeed,
} from '../../../../tests/support/server/calling.ts';
import { PRINCIPALS, start, type TestServer } from '../../../../tests/support/server/serving.ts';

const MAIN = { trajectory: 'main' };

onEveryDatabase((stores) => {
  async function onTwo(
    work: (one: TestServer, two: TestServer) => Promise<void>,
    principals: Record<string, PrincipalConfig> = PRINCIPALS,
  ): Promise<void> {
    const place = stores.newPlace();
    const starting = { principals, stopsAlone: true };
    const one = await start({ ...starting, store: await place.open() });
    const two = await start({ ...starting, store: await place.open() });
    try {
      await work(one, two);
      expect(await succeed(two, 'log.verify', { as: 'auditor:eve', body: {} })).toMatchObject({
        valid: true,
      });
    } finally {
      await Promise.all([one.stop(), two.stop()]);
    }
  }

  test('a proposal waits at one server for a decision at the other', () =>
    onTwo(async (one, two) => {
      const proposal = succeed(
        one,
        'proposals.create',
        pay('a', 200, 'k', { headers: { prefer: 'wait=60' } }),
      );
      const listed = async () =>
        (await succeed(two, 'approvals.list', { as: 'boss:ada' })).approvals;
      await expect.poll(listed, { timeout: 30_000 }).toHaveLength(1);
      const [{ id, digest }] = await listed();
      const approved = await succeed(two, 'approvals.approve', {
        path: { approval: id },
        body: { digest },
      });
      expect(await proposal).toEqual(approved);
      const racing = await Promise.all(
        [one, two].map((server) =>
          callOperation(server, 'approvals.approve', { path: { approval: id }, body: { digest } }),
        ),
      );
      expect(racing.map(({ body }) => body.code)).toEqual(['not_pending', 'not_pending']);
    }));

  test('a key is ruled once, whichever servers get it, also concurrently', () =>
    onTwo(async (one, two) => {
      const keys = Array.from({ length: 10 }, (_, n) => `k${n}`);
      const asked = keys.flatMap((key) => [one, two, one].map((server) => ({ key, server })));
      const rulings = await Promise.all(
        asked.map(async ({ key, server }) => ({
          key,
          ...(await succeed(server, 'proposals.create', pay(key, 1, key))),
        })),
      );
      for (const key of keys)
        expect(
          new Set(rulings.filter((ruling) => ruling.key === key).map(({ entry_id }) => entry_id))
            .size,
        ).toBe(1);
      const { state } = await succeed(two, 'trajectories.state', { path: MAIN });
      expect(state.desks).toEqual(Object.fromEntries(keys.map((key) => [key, { sum: 1 }])));
    }));

  test('a token, a session and a revocation of one server count at the other', () =>
    onTwo(async (one, two) => {
      const token = one.tokens['agent:scout'];
      expect((await two.ask('GET', '/v1/me', { token })).status).toBe(200);
      const cookie = await one.cookieFor('boss:ada');
      expect((await two.ask('GET', '/v1/me', { headers: { cookie } })).body.method).toBe('session');
      expect((await one.ask('GET', '/v1/me', { token })).status).toBe(200);
      await succeed(two, 'tokens.revoke', { path: { token: token.split('_')[1] as string } });
      expect((await two.ask('GET', '/v1/me', { token })).status).toBe(401);
      // The other server may have read the row up to a second ago.
      const status = async () => (await one.ask('GET', '/v1/me', { token })).status;
      await expect.poll(status, { timeout: 30_000 }).toBe(401);
      await succeed(
        two,
        'proposals.create',
        pay('a', 1, 'before', { token: two.tokens['agent:scout'] }),
      );
      await succeed(one, 'writs.revoke', {
        path: { ...MAIN, writ: 'agent:scout' },
        body: { reason: 'left' },
      });
      // The other server has the trajectory in memory, from before the revocation.
      const place = { as: 'agent:scout', token: two.tokens['agent:scout'] } as const;
      for (const [id, asked] of [
        ['memory.recall', { ...place, path: { ...MAIN, space: 'front' }, body: {} }],
        [
          'trajectories.slice',
          { ...place, path: MAIN, query: { role: 'clerk', params: '{"desk":"a"}' } },
        ],
      ] as const)
        expect(await callOperation(two, id, asked)).toMatchObject({
          status: 403,
          body: { code: 'forbidden' },
        });
      const other = pay('a', 1, 'k', { token: two.tokens['agent:scout'] });
      expect(await succeed(two, 'proposals.create', other)).toMatchObject({
        reason: 'invalid_authority',
      });
    }));

  test('two servers together never pass the budget of a grant', () =>
    onTwo(
      async (one, two) => {
        const tip = (desk: string): Calling => ({
          ...pay(desk, 1, desk),
          body: { action: 'tip', role: { name: 'clerk', params: { desk } }, args: { amount: 7 } },
        });
        const rulings = await Promise.all(
          Array.from({ length: 24 }, (_, n) =>
            succeed(n % 2 === 0 ? one : two, 'proposals.create', tip(`d${n}`)),
          ),
        );
        expect(rulings.filter(({ ruling }) => ruling === 'committed')).toHaveLength(14);
      },
      {
        ...PRINCIPALS,
        'agent:scout': {
          kinds: ['agent'],
          grants: [
            {
              trajectories: ['main'],
              actions: ['tip'],
              scopes: ['role:clerk:**'],
              budget: { cents: 100 },
            },
          ],
        },
      },
    ));
});
