/** Servers of several cells with one root log. */
import { renameSync } from 'node:fs';
import {
  auditCells,
  type Cell,
  cancelMove,
  EVERY_TENANT,
  moveTenant,
  reportCheckpoint,
} from '@assize/cells';
import { declareTool } from 'assize/internal/effects';
import { isSettlement, readRow } from 'assize/internal/ledger';
import { verifyStore } from 'assize/internal/runtime';
import { openStore } from 'assize/internal/stores';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { deployment, type TestDeployment } from '../../../../tests/support/cells/deployment.ts';
import { callOperation, pay, succeed } from '../../../../tests/support/server/calling.ts';
import type { TestServer } from '../../../../tests/support/server/serving.ts';

const TENANTS = { main: 'one', spare: 'two', other: 'two', cash: 'one' };
const BY = 'operator:test';

const paid = (trajectory: string, amount: number, key: string) =>
  pay('a', amount, key, { path: { trajectory } });

let attempts = 0;
/** The code of the refusal of a new proposal, or its ruling. */
async function outcome(server: TestServer, trajectory: string): Promise<string> {
  const { body } = await callOperation(
    server,
    'proposals.create',
    paid(trajectory, 1, `try ${attempts++}`),
  );
  return body.code ?? body.ruling;
}

const becomes = (server: TestServer, trajectory: string, wanted: string) =>
  expect.poll(() => outcome(server, trajectory), { timeout: 15_000, interval: 100 }).toBe(wanted);

type CellServer = TestServer & { readonly cell: Cell };

async function pair(): Promise<TestDeployment & { one: CellServer; two: CellServer }> {
  const deployed = await deployment({ tenants: TENANTS });
  const one = await deployed.serve('one');
  const two = await deployed.serve('two');
  return { ...deployed, one, two };
}

/** The sum of a desk, as any server of the deployment tells it. */
async function sumOf(server: TestServer, trajectory: string): Promise<number> {
  const { state } = await succeed(server, 'trajectories.state', {
    path: { trajectory },
    as: 'auditor:eve',
  });
  return state.desks.a?.sum ?? 0;
}

test('a tenant lives in one cell, and each server reaches it', async () => {
  const { one, two, file } = await pair();
  for (const [n, server] of [one, two, one, two].entries()) {
    await succeed(server, 'proposals.create', paid('main', 1, `m${n}`));
    await succeed(server, 'proposals.create', paid('spare', 1, `s${n}`));
  }
  expect(await sumOf(two, 'main')).toBe(4);
  expect(await sumOf(one, 'spare')).toBe(4);
  const stores = await Promise.all(
    file.cells.map(({ store }) => openStore(store, { mode: 'readonly' })),
  );
  const names = await Promise.all(
    stores.map(async (store) => (await store.trajectories()).map((one) => one.trajectory_id)),
  );
  expect(names.map((list) => list.toSorted())).toEqual([
    ['cash', 'main'],
    ['other', 'spare'],
  ]);
  for (const store of stores) await store.close();
});

test('a halt and a revocation of the root log hold in every cell', async () => {
  const { one, two, log } = await pair();
  await succeed(one, 'proposals.create', paid('main', 1, 'before'));
  await log.order('halt', { tenant: 'main', reason: 'audit' }, BY);
  await becomes(two, 'main', 'halted');
  await succeed(two, 'proposals.create', paid('spare', 1, 'free'));
  await log.order('resume', { tenant: 'main', reason: 'done' }, BY);
  await becomes(one, 'main', 'committed');
  await log.order('halt', { tenant: EVERY_TENANT, reason: 'all' }, BY);
  await becomes(one, 'spare', 'halted');
  await log.order('resume', { tenant: EVERY_TENANT, reason: 'done' }, BY);
  await log.order('revoke', { principal: 'agent:scout', reason: 'key leaked' }, BY);
  for (const [server, trajectory] of [
    [one, 'main'],
    [two, 'spare'],
  ] as const) {
    await becomes(server, trajectory, 'principal_revoked');
    // The door is closed before the entries are written.
    const standing = async (): Promise<readonly boolean[]> => {
      const { writs } = await succeed(server, 'writs.list', { path: { trajectory } });
      const own = writs.filter(
        (writ: { principal: string | null }) => writ.principal === 'agent:scout',
      );
      return own.map((writ: { revoked?: object }) => writ.revoked === undefined);
    };
    await expect.poll(standing, { timeout: 15_000 }).not.toContain(true);
    expect(await standing()).not.toHaveLength(0);
  }
});

test('a tenant moves while its agents go on', async () => {
  const { one, two, file, log, folder } = await pair();
  for (let n = 0; n < 5; n++) await succeed(one, 'proposals.create', paid('main', 1, `k${n}`));
  let stopped = false;
  let sent = 5;
  const refusals = new Set<string>();
  const agent = async (): Promise<void> => {
    while (!stopped) {
      const { body } = await callOperation(
        sent % 2 === 0 ? one : two,
        'proposals.create',
        paid('main', 1, `k${sent}`),
      );
      if (body.ruling === 'committed') sent++;
      else refusals.add(body.code);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const working = agent();
  const others = await sumOf(two, 'spare');
  const steps: string[] = [];
  const signal = new AbortController().signal;
  const moved = await moveTenant({
    file,
    log,
    tenant: 'main',
    to: 'two',
    principal: BY,
    signal,
    onStep: (step) => steps.push(step),
  });
  expect(moved).toMatchObject({ from: 'one', trajectories: 1 });
  expect(steps).toEqual(['stopping', 'settling', 'copying', 'verifying', 'moved']);
  const before = sent;
  await expect.poll(() => sent, { timeout: 10_000 }).toBeGreaterThan(before + 3);
  stopped = true;
  await working;
  expect(
    [...refusals].filter((code) => !['halted', 'tenant_moves', 'other_cell'].includes(code)),
  ).toEqual([]);
  expect(await sumOf(one, 'main')).toBe(sent);
  expect(await sumOf(two, 'spare')).toBe(others);
  // A repetition of a request that the old cell answered is the same request in the new one.
  const again = await succeed(one, 'proposals.create', paid('main', 1, 'k0'));
  expect(again.ruling).toBe('committed');
  expect(await sumOf(two, 'main')).toBe(sent);
  const there = await openStore(`sqlite:${folder}/two.db`, { mode: 'readonly' });
  expect((await verifyStore(there)).flatMap(({ fault }) => fault ?? [])).toEqual([]);
  const kept = await openStore(`sqlite:${folder}/one.db`, { mode: 'readonly' });
  const [old, now] = await Promise.all([kept.head('main'), there.head('main')]);
  expect(now!.seq).toBeGreaterThan(old!.seq);
  expect((await there.entries('main', { from: old!.seq, limit: 1 }))[0]!.id).toBe(old!.id);
  await Promise.all([kept.close(), there.close()]);
  // And back, where the cell has the first part already.
  await moveTenant({ file, log, tenant: 'main', to: 'one', principal: BY, signal });
  await becomes(two, 'main', 'committed');
  expect(await sumOf(two, 'main')).toBe(sent + 1);
});

test('a halt of a person stands after the halt of the root log', async () => {
  const { one, log } = await pair();
  const by = { path: { trajectory: 'main' }, body: { reason: 'mine' }, as: 'admin:ann' } as const;
  await succeed(one, 'trajectories.halt', by);
  for (const order of ['halt', 'resume'] as const) {
    await log.order(order, { tenant: 'main', reason: 'audit' }, BY);
    const { orders } = await log.read();
    await expect
      .poll(() => log.appliedIn('one', one.cell.own).read(), { timeout: 15_000 })
      .toBe(orders);
    expect(await outcome(one, 'main')).toBe('halted');
  }
  await succeed(one, 'trajectories.resume', by);
  await becomes(one, 'main', 'committed');
});

test('a tool call in progress ends in the old cell, and then the tenant moves', async () => {
  const gate = Promise.withResolvers<void>();
  let calls = 0;
  const slowBank = declareTool({
    ...{ name: 'bank.pay', input: z.object({ cents: z.number().int() }), writes: ['bank:**'] },
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' },
    execute: async () => {
      calls++;
      await gate.promise;
    },
  });
  const deployed = await deployment({ tenants: TENANTS });
  const one = await deployed.serve('one', { config: { tools: [slowBank] } });
  const two = await deployed.serve('two');
  const role = { name: 'clerk', params: { desk: 'a' } };
  const body = { action: 'wire', role, args: { cents: 5 } };
  const wired = callOperation(one, 'proposals.create', { ...paid('main', 1, 'wire'), body });
  await expect.poll(() => calls, { timeout: 10_000 }).toBe(1);
  const signal = new AbortController().signal;
  await moveTenant({
    ...{ file: deployed.file, log: deployed.log, tenant: 'main', to: 'two', principal: BY, signal },
    onStep: (step) => step === 'settling' && gate.resolve(),
  });
  expect((await wired).body.ruling).toBe('committed');
  await becomes(two, 'main', 'committed');
  expect(calls).toBe(1);
  const there = await openStore(`sqlite:${deployed.folder}/two.db`, { mode: 'readonly' });
  const entries = await there.entries('main');
  expect(entries.filter((row) => isSettlement(readRow(row).payload))).toHaveLength(1);
  expect((await verifyStore(there)).flatMap(({ fault }) => fault ?? [])).toEqual([]);
  await there.close();
});

test('a revocation after a move reaches the tenant, and not its copy', async () => {
  const { one, two, file, log, folder } = await pair();
  await succeed(one, 'proposals.create', paid('main', 1, 'a'));
  const move = (to: string) =>
    moveTenant({
      file,
      log,
      tenant: 'main',
      to,
      principal: BY,
      signal: new AbortController().signal,
    });
  await move('two');
  await becomes(two, 'main', 'committed');
  await log.order('revoke', { principal: 'agent:scout', reason: 'key leaked' }, BY);
  await becomes(two, 'main', 'principal_revoked');
  await expect
    .poll(async () => await log.appliedIn('one', one.store).read())
    .toBe((await log.read()).orders);
  const copy = await openStore(`sqlite:${folder}/one.db`, { mode: 'readonly' });
  expect(JSON.parse((await copy.head('main'))!.payload).action.name).toBe('assize.halt');
  await copy.close();
  // The chains have not parted, so the tenant can move back.
  expect(await move('one')).toMatchObject({ from: 'two' });
});

test('a move that is ended leaves the tenant where it was', async () => {
  const { one, log } = await pair();
  await log.order('beginMove', { tenant: 'main', to: 'two' }, BY);
  await becomes(one, 'main', 'tenant_moves');
  expect(await cancelMove({ log, tenant: 'main', principal: BY })).toBe('one');
  await becomes(one, 'main', 'committed');
});

test('the root log has checkpoints of cells, and a cell without entries stops', async () => {
  const { one, two, file, log, folder, open } = await pair();
  await succeed(one, 'proposals.create', paid('main', 1, 'a'));
  await reportCheckpoint(one.cell);
  await succeed(two, 'proposals.create', paid('spare', 1, 'a'));
  await reportCheckpoint(two.cell);
  const { cells } = await log.read();
  expect(Object.keys(cells).toSorted()).toEqual(['one', 'two']);
  expect((await auditCells(file, log)).map(({ cell, fault }) => [cell, fault])).toEqual([
    ['one', undefined],
    ['two', undefined],
  ]);
  await one.stop();
  await one.store.close();
  // The cell is replaced by an empty one, as after a promotion of a standby that had nothing.
  const { rmSync } = await import('node:fs');
  for (const ending of ['', '-wal', '-shm', '.checkpoint'])
    rmSync(`${folder}/one.db${ending}`, { force: true });
  const empty = await open('one');
  await expect(reportCheckpoint(empty)).rejects.toMatchObject({ code: 'cell_diverged' });
  await expect(empty.store.commit({ entries: [], blobs: [] })).rejects.toMatchObject({
    code: 'cell_diverged',
  });
  const audits = await auditCells(file, log);
  expect(audits[0]!.fault).toContain('missing');
  expect(audits[1]!.fault).toBeUndefined();
});

test('a root file that comes back is heard again by the servers that run', async () => {
  const { one, folder } = await pair();
  await succeed(one, 'proposals.create', paid('main', 1, 'a'));
  renameSync(`${folder}/root.db`, `${folder}/away.db`);
  await becomes(one, 'main', 'cell_behind');
  renameSync(`${folder}/away.db`, `${folder}/root.db`);
  await becomes(one, 'main', 'committed');
  expect((await one.ask('GET', '/readyz')).status).toBe(200);
});

test('a move to or from a cell without a server begins nothing', async () => {
  const { file, log, serve } = await deployment({ tenants: { main: 'one' } });
  const move = () =>
    moveTenant({
      file,
      log,
      tenant: 'main',
      to: 'two',
      principal: BY,
      signal: new AbortController().signal,
    });
  // The stores exist, and no server runs.
  for (const { store } of file.cells) await (await openStore(store)).close();
  const refused = (cell: string) => ({
    code: 'wrong_state',
    message: expect.stringContaining(`No server of the cell ${cell} `),
  });
  await expect(move()).rejects.toMatchObject(refused('one'));
  await serve('one');
  await expect(move()).rejects.toMatchObject(refused('two'));
  expect((await log.read()).tenants['main']).toEqual({ cell: 'one' });
});

test('a cell that does not hear from the root log accepts no entry', async () => {
  const { one } = await pair();
  const { cell } = one;
  await succeed(one, 'proposals.create', paid('main', 1, 'a'));
  await cell.log.store.close();
  // The token of the agent still counts, for a time.
  await becomes(one, 'main', 'cell_behind');
  expect(await one.ask('GET', '/readyz')).toMatchObject({
    status: 503,
    body: {
      code: 'cell_behind',
      detail: expect.stringContaining('This process has not heard from'),
      retryable: true,
    },
  });
});
