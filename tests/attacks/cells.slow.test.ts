/** Attacks 73 to 79 of docs/design/threats.md: deployments of several cells. */
import { copyFileSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Cell, reportCheckpoint, tenantOf } from '#cells';
import { openStore, sealKeys } from '#stores';
import { FORWARDED } from '../../packages/server/src/routing/forward-mark.ts';
import { deployment } from '../support/cells/deployment.ts';
import { callOperation, pay, succeed } from '../support/server/calling.ts';
import { type Answered, ROOT, start, type TestServer } from '../support/server/serving.ts';

const TENANTS = { main: 'one', spare: 'two', other: 'two', cash: 'one' };
const BY = 'operator:test';
const PATIENCE = { timeout: 20_000, interval: 100 };

type CellServer = TestServer & { readonly cell: Cell };

const to = (trajectory: string, key: string) => pay('a', 1, key, { path: { trajectory } });
const outcomeOf = ({ body }: Answered): string => body?.code ?? body?.ruling;

let proposals = 0;
/** The code of the refusal of a new proposal, or its ruling. */
const propose = async (server: TestServer, trajectory: string): Promise<string> =>
  outcomeOf(await callOperation(server, 'proposals.create', to(trajectory, `new ${proposals++}`)));

async function pair() {
  const deployed = await deployment({ tenants: TENANTS });
  return { ...deployed, one: await deployed.serve('one'), two: await deployed.serve('two') };
}

/** The names of the trajectories in each cell’s own store. */
const namesIn = async ({ cell }: CellServer): Promise<readonly string[]> =>
  (await cell.own.trajectories()).map(({ trajectory_id }) => trajectory_id).toSorted();

test('attack 73: old, deleted or forged rows of applied orders: no entry', async () => {
  const { one, log, open } = await pair();
  const [kind, key] = ['cells/applied', 'one'];
  const rowNow = () => one.cell.own.sideGet(kind, key);
  const put = async (body: string | null): Promise<void> =>
    void (await one.cell.own.sidePut([{ kind, key, expected: (await rowNow())!.version, body }]));
  const old = (await rowNow())!.body;
  await log.order('halt', { tenant: 'main', reason: 'audit' }, BY);
  await expect.poll(() => propose(one, 'main'), PATIENCE).toBe('halted');
  await expect.poll(async () => (await rowNow())!.body, PATIENCE).not.toBe(old);
  const honest = (await rowNow())!.body;
  const write = async (): Promise<string> => {
    const { store } = await open('one');
    return store.commit({ entries: [], blobs: [] }).then(
      () => 'written',
      (error: { code: string }) => error.code,
    );
  };
  expect(await write()).toBe('written');
  await log.order('halt', { tenant: 'cash', reason: 'audit' }, BY);
  await one.stop();
  const forged = [
    JSON.stringify({ orders: 99 }),
    honest.replace(/"orders":\d+/, '"orders":99'),
    old,
    honest,
  ];
  for (const body of forged) {
    await put(body);
    expect(await write(), body).toBe('cell_behind');
  }
  await put(null);
  expect(await write()).toBe('cell_behind');
});

test('attack 74: a halt of the root log that a cell’s person resumes: kept', async () => {
  const { one, two, log } = await pair();
  await succeed(one, 'proposals.create', to('main', 'before'));
  await log.order('halt', { tenant: 'main', reason: 'audit' }, BY);
  await expect.poll(() => propose(two, 'main'), PATIENCE).toBe('halted');
  const resume = {
    path: { trajectory: 'main' },
    body: { reason: 'I want to go on' },
    as: 'admin:ann',
  } as const;
  for (const server of [one, two]) {
    const answer = await callOperation(server, 'trajectories.resume', resume);
    expect([answer.status, outcomeOf(answer)]).toEqual([409, 'tenant_halted']);
    expect(await propose(server, 'main')).toBe('halted');
  }
  await log.order('resume', { tenant: 'main', reason: 'done' }, BY);
  await expect.poll(() => propose(two, 'main'), PATIENCE).toBe('committed');
});

test('attack 75: a forged mark of another cell: as any other request', async () => {
  const { one, two } = await pair();
  const body = {
    action: 'pay',
    role: { name: 'clerk', params: { desk: 'a' } },
    args: { amount: 1 },
  };
  const path = '/v1/trajectories/main/proposals';
  const id = '00000000-0000-4000-8000-000000000000';
  for (const mark of [`${id}.${'0'.repeat(64)}`, `${id}.`, `.${'0'.repeat(64)}`, id]) {
    const headers = { [FORWARDED]: mark };
    const anonymous = await two.ask('POST', path, { body, key: mark.slice(0, 40), headers });
    expect(anonymous.status).toBe(401);
    const { token } = { token: two.tokens['agent:scout'] };
    const known = await two.ask('POST', path, {
      token,
      body,
      key: `k ${mark}`.slice(0, 60),
      headers,
    });
    // The cell does not count the request as forwarded: it sends it on, under its own id.
    expect(outcomeOf(known)).toBe('committed');
    expect(known.headers.get('x-request-id')).not.toBe(id);
  }
  expect(await namesIn(one)).toEqual(['cash', 'main']);
  expect(await namesIn(two)).toEqual(['other', 'spare']);
});

test('attack 76: a name of another cell’s tenant, by any way: none here', async () => {
  const { one, two } = await pair();
  const before = await two.contents();
  const places: Promise<Answered>[] = [
    // The path is decoded once, as the route does it.
    two.ask('POST', '/v1/trajectories/%6dain/proposals', {
      token: two.tokens['agent:scout'],
      key: 'encoded',
      body: to('main', '').body,
    }),
    callOperation(two, 'proposals.create', {
      ...to('main', 'spoofed'),
      headers: { 'x-forwarded-host': 'one' },
    }),
  ];
  for (const answer of await Promise.all(places)) expect(outcomeOf(answer)).toBe('committed');
  expect(await two.contents()).toEqual(before);
  // A trajectory of another tenant is neither a child nor a branch of one here.
  const list = await succeed(two, 'entries.list', {
    path: { trajectory: 'spare' },
    as: 'auditor:eve',
  });
  const branch = await callOperation(two, 'branches.create', {
    ...{ path: { trajectory: 'spare' }, as: 'admin:ann' },
    body: { at: list.entries[0].id, trajectory_id: 'main:stolen', note: 'mine' },
  });
  const child = await callOperation(two, 'delegations.create', {
    ...{ path: { trajectory: 'spare' }, as: 'agent:scout' },
    body: {
      task: 'steal',
      child_trajectory_id: 'main:child',
      subject: 'agent:scout/thief',
      actions: ['pay'],
    },
  });
  expect([outcomeOf(branch), outcomeOf(child)]).toEqual(['bad_argument', 'bad_argument']);
  expect(await namesIn(one)).toEqual(['cash', 'main']);
  expect(await namesIn(two)).toEqual(['other', 'spare']);
});

test('attack 77: odd names of tenants: each in one cell, or refused', async () => {
  const { one, two, log } = await pair();
  const names = [
    '__proto__',
    'constructor:x',
    ':x',
    '*:x',
    '*',
    'a\nb:x',
    'a\0b',
    'toString',
    `${'a'.repeat(300)}:x`,
  ];
  for (const [n, trajectory_id] of names.entries())
    for (const server of n % 2 === 0 ? [one, two] : [two, one])
      await callOperation(server, 'trajectories.create', {
        as: 'admin:ann',
        body: { domain: 'till', trajectory_id },
      });
  const { tenants, halted } = await log.read();
  expect([Object.keys(halted), Object.hasOwn(tenants, '*'), Object.hasOwn(tenants, '')]).toEqual([
    [],
    false,
    false,
  ]);
  const [inOne, inTwo] = [await namesIn(one), await namesIn(two)];
  expect(inOne.filter((name) => inTwo.includes(name))).toEqual([]);
  for (const [server, list] of [['one', inOne] as const, ['two', inTwo] as const])
    for (const name of list) expect(tenants[tenantOf(name)]).toEqual({ cell: server });
  expect([...inOne, ...inTwo].toSorted()).toEqual(
    ['__proto__', 'cash', 'constructor:x', 'main', 'other', 'spare', 'toString'].toSorted(),
  );
  expect(({} as { cell?: unknown }).cell).toBeUndefined();
});

test('attack 78: a cell from an old backup, also one that grew: it stops', async () => {
  const { one, log, folder, open } = await pair();
  await one.stop();
  await one.store.close();
  copyFileSync(`${folder}/one.db`, `${folder}/old.db`);
  const later = await open('one');
  const server = await start({ cell: later });
  await succeed(server, 'proposals.create', to('main', 'kept elsewhere'));
  await reportCheckpoint(later);
  const { size } = (await log.read()).cells['one']!;
  await server.stop();
  await later.store.close();
  for (const ending of ['', '-wal', '-shm', '.checkpoint'])
    rmSync(`${folder}/one.db${ending}`, { force: true });
  copyFileSync(`${folder}/old.db`, `${folder}/one.db`);
  const restored = await open('one');
  const write = restored.store.commit({ entries: [], blobs: [] });
  await expect(write).rejects.toMatchObject({ code: 'cell_diverged' });
  await expect(start({ cell: await open('one') })).rejects.toMatchObject({ code: 'cell_diverged' });
  // The same backup with other entries, written without the root log.
  const apart = await openStore(`sqlite:${folder}/one.db`, {
    mode: 'existing',
    checkpoint: false,
    ...sealKeys(ROOT),
  });
  const writer = await start({ store: apart });
  for (const key of ['a', 'b', 'c']) await succeed(writer, 'proposals.create', to('main', key));
  await writer.stop();
  await apart.close();
  const grown = await open('one');
  expect(await grown.own.logSize()).toBeGreaterThan(size);
  await expect(reportCheckpoint(grown)).rejects.toMatchObject({ code: 'cell_diverged' });
  await expect(grown.store.commit({ entries: [], blobs: [] })).rejects.toMatchObject({
    code: 'cell_diverged',
  });
  expect((await log.read()).cells['one']!.size).toBe(size);
});

test('attack 79: a principal that was revoked while its cell was down', async () => {
  const { one, two, log, serve } = await pair();
  await succeed(two, 'proposals.create', to('spare', 'before'));
  await two.stop();
  await two.store.close();
  await log.order('revoke', { principal: 'agent:scout', reason: 'key leaked' }, BY);
  await expect.poll(() => propose(one, 'main'), PATIENCE).toBe('principal_revoked');
  const again = await serve('two');
  const answer = await callOperation(again, 'proposals.create', to('spare', 'after'));
  expect([answer.status, outcomeOf(answer)]).toEqual([403, 'principal_revoked']);
  const { writs } = await succeed(again, 'writs.list', { path: { trajectory: 'spare' } });
  const own = writs.filter(
    (writ: { principal: string | null }) => writ.principal === 'agent:scout',
  );
  expect(own.length).toBeGreaterThan(0);
  for (const { revoked } of own) expect(revoked).toBeDefined();
});
