/** Servers whose domain loops without an end: only the run that loops is refused afterwards. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { onEveryDatabase } from '../support/ledger/stores.ts';
import { insist, StuckServer, tokensAt } from './stuck-server.ts';

interface Proposing {
  readonly id: string;
  readonly way: string;
}

onEveryDatabase(({ kind, newPlace }) => {
  const count = kind === 'postgres' ? 2 : 1;

  async function started(): Promise<{ readonly servers: readonly StuckServer[]; readonly open: () => Promise<any> }> {
    const place = newPlace();
    const tokens = await tokensAt(place.url);
    const servers = Array.from({ length: count }, () => new StuckServer(place.url, tokens));
    for (const server of servers) await server.start();
    return { servers, open: place.open };
  }

  const from = (servers: readonly StuckServer[], n: number): StuckServer[] =>
    servers.map((_, at) => servers[(at + n) % servers.length] as StuckServer);

  const propose = (
    servers: readonly StuckServer[],
    { id, way }: Proposing,
    { action = 'spin', wait = 0, to = 'one' } = {},
  ) =>
    insist(
      servers,
      ...(['agent:a', 'POST', `/trajectories/${to}/proposals`] as const),
      ...([{ action, role: 'worker', args: { id, way } }, id, wait] as const),
    );

  const outcome = ({ body }: { readonly body: any }): string => body.ruling ?? body.code;

  test('of many callers, only the proposal that loops is named and refused', async () => {
    const shape = fc.record({ before: fc.nat(8), after: fc.integer({ min: 1, max: 8 }), server: fc.nat(1) });
    const run = async ({ before, after, server }: { before: number; after: number; server: number }): Promise<void> => {
      const { servers, open } = await started();
      const others = Array.from({ length: before + after }, (_, n) => ({ id: `k${n}`, way: 'fine' }));
      const all: Proposing[] = [...others.slice(0, before), { id: 'bad', way: 'loop' }, ...others.slice(before)];
      const answers = await Promise.all(all.map((one, n) => propose(from(servers, n + server), one)));
      expect(answers.map(outcome)).toEqual(all.map(({ way }) => (way === 'loop' ? 'domain_stuck' : 'committed')));
      const again = await Promise.all(all.map((one, n) => propose(from(servers, n), one)));
      expect(again.map(outcome)).toEqual(answers.map(outcome));
      const { body } = await insist(servers, 'admin:c', 'GET', '/stuck');
      expect(body.stuck).toEqual([
        expect.objectContaining({ step: 'proposal', trajectory_id: 'one', principal: 'agent:a', action: 'spin' }),
      ]);
      for (const { named } of servers) for (const one of named) expect(one.key).toBe(body.stuck[0].key);
      const ended = servers.map((one) => one.ended);
      expect(Math.max(...ended)).toBe(1);
      for (const one of servers) await one.stop();
      const store = await open();
      expect((await store.head('one')).seq).toBe(others.length);
      await store.close();
    };
    await fc.assert(fc.asyncProperty(shape, run), { numRuns: 3, endOnFailure: true });
  });

  test('an approval that loops is refused, and can be rejected', async () => {
    const { servers } = await started();
    const { body: pending } = await propose(servers, { id: 'held', way: 'loop' }, { action: 'hold' });
    expect(pending).toMatchObject({ ruling: 'escalated' });
    const path = `/approvals/${pending.approval_id}`;
    const { approval: shown } = (await insist(servers, 'boss:b', 'GET', path)).body;
    const { digest } = shown;
    expect(shown).toMatchObject({ may_decide: true });
    const approved = await insist(servers, 'boss:b', 'POST', `${path}/approve`, { digest });
    expect([approved.status, outcome(approved)]).toEqual([422, 'domain_stuck']);
    const { body } = await insist(servers, 'admin:c', 'GET', '/stuck');
    expect(body.stuck).toMatchObject([{ step: 'approval', action: 'hold', principal: 'boss:b' }]);
    const rejected = await insist(servers, 'boss:b', 'POST', `${path}/reject`, { digest, reason: 'it loops' });
    expect(outcome(rejected)).toBe('rejected');
    expect(outcome(await propose(servers, { id: 'next', way: 'fine' }))).toBe('committed');
    for (const one of servers) await one.stop();
  });

  test('a proposal that loops after a freeze is named, not its waiting caller', async () => {
    const { servers } = await started();
    const { body: pending } = await propose(servers, { id: 'held', way: 'fine' }, { action: 'hold' });
    expect(pending).toMatchObject({ ruling: 'escalated' });
    const path = `/approvals/${pending.approval_id}`;
    const { approval: shown } = (await insist(servers, 'boss:b', 'GET', path)).body;
    const waiting = [
      propose(servers, { id: 'bad', way: 'loop' }, { wait: 30 }),
      propose(servers, { id: 'good', way: 'fine' }, { wait: 30 }),
    ];
    await new Promise((resolve) => setTimeout(resolve, 300));
    const approved = await insist(servers, 'boss:b', 'POST', `${path}/approve`, { digest: shown.digest });
    expect(['committed', 'not_pending']).toContain(outcome(approved));
    expect((await Promise.all(waiting)).map(outcome)).toEqual(['domain_stuck', 'committed']);
    const { body } = await insist(servers, 'admin:c', 'GET', '/stuck');
    expect(body.stuck).toMatchObject([{ step: 'proposal', action: 'spin' }]);
    for (const one of servers) await one.stop();
  });

  test('a trajectory whose rules loop is refused, and others go on', async () => {
    const { servers } = await started();
    for (const one of servers) {
      await one.stop();
      one.poison = 'two';
      await one.start();
    }
    const refused = await propose(servers, { id: 'k', way: 'fine' }, { to: 'two' });
    expect([refused.status, outcome(refused)]).toEqual([422, 'domain_stuck']);
    expect(outcome(await propose(servers, { id: 'k', way: 'fine' }))).toBe('committed');
    const { body } = await insist(servers, 'admin:c', 'GET', '/stuck');
    expect(body.stuck).toMatchObject([{ step: 'opening', trajectory_id: 'two' }]);
    for (const one of servers) {
      await one.stop();
      one.poison = '';
      await one.start();
    }
    const proposing = (some: readonly StuckServer[]) => propose(some, { id: 'k', way: 'fine' }, { to: 'two' });
    expect(outcome(await proposing(servers))).toBe('domain_stuck');
    const { key } = body.stuck[0];
    expect((await insist(servers, 'admin:c', 'DELETE', `/stuck/${key}`)).body).toEqual({ forgotten: true });
    for (const one of servers)
      await expect
        .poll(async () => (await insist([one], 'admin:c', 'GET', '/trajectories/two/state')).status)
        .toBe(200);
    for (const one of servers) await one.stop();
  });

  test('a world whose first state loops is left out, and the server starts', async () => {
    const place = newPlace();
    const server = new StuckServer(place.url, await tokensAt(place.url));
    server.poison = 'two';
    await server.start();
    expect(server.ended).toBe(1);
    expect(server.named).toMatchObject([{ step: 'beginning', trajectory: 'two' }]);
    expect(outcome(await propose([server], { id: 'k', way: 'fine' }))).toBe('committed');
    expect((await server.ask('admin:c', 'GET', '/trajectories/two/state')).status).toBe(404);
    await server.stop();
  });
});
