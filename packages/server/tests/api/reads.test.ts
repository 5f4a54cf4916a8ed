import { MemoryStore } from '@assize/testing/memory';
import type { Domain } from 'assize/internal/kernel';
import type { Store } from 'assize/internal/stores';
import { expect, test } from 'vitest';
import { pay, succeed } from '../../../../tests/support/server/calling.ts';
import { PRINCIPALS, start, type TestServer } from '../../../../tests/support/server/serving.ts';
import { laterTill, till } from '../../../../tests/support/server/till.ts';

const MAIN = { trajectory: 'main' };
const COMMITS = 60;
/** The first entry, and those that a request names. */
const FEW = 4;

/** A store that counts the entries that it returns. */
function counted(): { readonly store: Store; readonly rows: () => number } {
  const store = new MemoryStore();
  let rows = 0;
  const entries: Store['entries'] = async (...asked) => {
    const found = await store.entries(...asked);
    rows += found.length;
    return found;
  };
  const proxy = new Proxy(store, {
    get: (target, name) => {
      if (name === 'entries') return entries;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return { store: proxy, rows: () => rows };
}

/** A server with a long trajectory, and the number of entries that a request reads. */
async function long(): Promise<{
  readonly server: TestServer;
  readonly rowsOf: (ask: () => Promise<unknown>) => Promise<number>;
}> {
  const { store, rows } = counted();
  const server = await start({ store });
  for (let n = 0; n < COMMITS; n++) await succeed(server, 'proposals.create', pay('a', 1, `k${n}`));
  return {
    server,
    rowsOf: async (ask) => {
      const before = rows();
      await ask();
      return rows() - before;
    },
  };
}

test('reads of the last entry read no other entries', async () => {
  const { server, rowsOf } = await long();
  const read = (id: string, query = {}) => rowsOf(() => succeed(server, id, { path: MAIN, query }));
  expect(await read('trajectories.state')).toBeLessThanOrEqual(FEW);
  expect(await read('trajectories.get')).toBeLessThanOrEqual(FEW);
  expect(await rowsOf(() => succeed(server, 'trajectories.list'))).toBeLessThanOrEqual(4 * FEW);
  expect(
    await read('trajectories.slice', { role: 'clerk', params: '{"desk":"a"}' }),
  ).toBeLessThanOrEqual(FEW);
});

test('a second read of an earlier state reads only the named entries', async () => {
  const { server, rowsOf } = await long();
  const state = () =>
    succeed(server, 'trajectories.state', { path: MAIN, query: { at: 'main@20' } });
  expect(await rowsOf(state)).toBeGreaterThanOrEqual(20);
  expect(await rowsOf(state)).toBeLessThanOrEqual(FEW);
  const diff = () =>
    succeed(server, 'entries.diff', { query: { from: 'main@20', to: `main@${COMMITS}` } });
  expect(await rowsOf(diff)).toBeLessThanOrEqual(2 * FEW);
});

test('a tag that the client has is compared before anything is read', async () => {
  const { server, rowsOf } = await long();
  for (const path of [
    '/v1/trajectories/main/state?at=main@30',
    '/v1/trajectories/main/state',
    '/v1/trajectories/main',
    '/v1/trajectories/main/entries?limit=50',
    '/v1/diff?from=main@1&to=main@31',
  ]) {
    const token = server.tokens['auditor:eve'];
    const tag = (await server.ask('GET', path, { token })).headers.get('etag') as string;
    const again = () => server.ask('GET', path, { token, headers: { 'if-none-match': tag } });
    expect((await again()).status, path).toBe(304);
    expect(await rowsOf(again), path).toBeLessThanOrEqual(2);
  }
});

test('the last state has the commits of another server', async () => {
  const store = new MemoryStore();
  const [one, two] = [await start({ store }), await start({ store })];
  for (const [n, server] of [one, two, one, two].entries()) {
    await succeed(server, 'proposals.create', pay('a', 1, `k${n}`));
    for (const reader of [one, two]) {
      const { seq, state } = await succeed(reader, 'trajectories.state', { path: MAIN });
      expect(seq).toBe(n + 1);
      expect(state).toEqual(
        (await succeed(reader, 'trajectories.state', { path: MAIN, query: { at: `main@${seq}` } }))
          .state,
      );
      expect((await succeed(reader, 'trajectories.get', { path: MAIN })).entries).toBe(n + 2);
    }
  }
});

test('a world of a domain that the server lacks hides no halt', async () => {
  const store = new MemoryStore();
  const first = await start({ store });
  const assize = first.service.assize;
  await assize.create(laterTill as unknown as Domain, { trajectoryId: 'later' });
  for (const trajectory of ['later', 'main'])
    await succeed(first, 'trajectories.halt', { path: { trajectory }, body: { reason: 'stop' } });
  await first.stop();
  const worlds = { main: { domain: 'till' } };
  const server = await start({ store, config: { worlds }, domains: [till] as unknown as Domain[] });
  const asked = { as: 'auditor:eve', query: { halted: 'true' } } as const;
  const { trajectories } = await succeed(server, 'trajectories.list', asked);
  expect(trajectories.map((one: any) => one.trajectory_id)).toEqual(['later', 'main']);
});

test('an agent that the configuration lacks is listed by its acts, and stopped', async () => {
  const store = new MemoryStore();
  const before = await start({ store });
  await succeed(before, 'proposals.create', pay('a', 1, 'k1'));
  await before.stop();
  const { 'agent:scout': _, ...principals } = PRINCIPALS;
  const server = await start({ store, principals: principals as never });
  const agent = async () =>
    (await succeed(server, 'agents.list')).agents.find((one: any) => one.name === 'agent:scout');
  expect(await agent()).toMatchObject({ grants: [], is: 'active', worlds: ['main'] });
  const stop = { path: { agent: 'agent:scout' }, body: { reason: 'it is gone' } };
  await succeed(server, 'agents.stop', { ...stop, as: 'admin:ann' });
  expect(await agent()).toMatchObject({ is: 'stopped' });
});

test('an agent has its worlds, and its newest proposal as its last one', async () => {
  const server = await start();
  const agent = async () =>
    (await succeed(server, 'agents.list')).agents.find((one: any) => one.name === 'agent:scout');
  expect(await agent()).toMatchObject({ worlds: [], refused: 0, incomplete: false });
  await succeed(server, 'proposals.create', pay('a', 1, 'k1'));
  await succeed(server, 'proposals.create', pay('a', 5_000, 'k2'));
  expect(await agent()).toMatchObject({
    last: { trajectory_id: 'main', ruling: 'rejected', action: 'pay' },
    ...{ worlds: ['main'], refused: 1, incomplete: false },
  });
});
