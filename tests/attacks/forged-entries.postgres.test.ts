/** A user of the database without the root key inserts entries that break no rule of the ledger. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT_LOG, RootLog } from '#cells';
import { fsck, requireLogged } from '#checkpoints';
import { exportLines, importLines } from '#export';
import { type EntryRow, integrateLog } from '#ledger';
import { Assize, verifyStore } from '#runtime';
import { openStore, type Store, sealKeys } from '#stores';
import { insertOf } from '../support/ledger/insert-of.ts';
import { onEveryDatabase } from '../support/ledger/stores.ts';
import { openUnguarded } from '../support/ledger/unguarded.ts';
import { callOperation, pay, succeed } from '../support/server/calling.ts';
import { ROOT, start } from '../support/server/serving.ts';
import { till } from '../support/server/till.ts';

const FORGED = '00'.repeat(40);

async function copyOf(store: Store): Promise<MemoryStore> {
  const copy = new MemoryStore();
  await integrateLog(store);
  await importLines(copy, linesOf(store));
  return copy;
}

/** The entry that another request of the agent would write. */
async function requestOf(store: Store): Promise<EntryRow> {
  const copy = await copyOf(store);
  await succeed(await start({ store: copy }), 'proposals.create', pay('b', 150, 'forged'));
  return (await copy.head('main'))!;
}

/** The entry that a counselor's approval would write, made from a copy of the store. */
async function approvalOf(store: Store, trajectory: string): Promise<EntryRow> {
  const copy = await copyOf(store);
  const assize = new Assize({ store: copy, domains: [till], anchors: [ROOT.publicKey] });
  const opened = await assize.open(trajectory);
  await opened.approvals.approve(opened.approvals.pending()[0]!.id, {
    principal: 'boss:ada',
    method: 'oidc',
  });
  const row = await copy.head(trajectory);
  await assize.close();
  return row!;
}

async function* linesOf(store: Store): AsyncGenerator<string> {
  for await (const line of exportLines(store)) yield line.slice(0, -1);
}

onEveryDatabase((stores) => {
  test('attack 80: an inserted approval: no reader acts on it, nothing signs it', async () => {
    const place = stores.newPlace();
    const server = await start({ store: await place.open(sealKeys(ROOT)) });
    expect(await succeed(server, 'proposals.create', pay('a', 150, 'large'))).toMatchObject({
      ruling: 'escalated',
    });
    await succeed(server, 'checkpoints.create');
    const reader = await place.open({ mode: 'readonly' });
    const approval = await approvalOf(await place.open(sealKeys(ROOT)), 'main');
    await place.sql(insertOf(approval, stores.kind, FORGED));

    const next = await callOperation(server, 'proposals.create', pay('b', 1, 'next'));
    expect(next).toMatchObject({ status: 500, body: { code: 'invalid_ledger' } });
    const known = await callOperation(server, 'proposals.get', {
      as: 'agent:scout',
      path: { trajectory: 'main', key: 'large' },
    });
    expect(known.text).not.toContain('committed');
    expect((await callOperation(server, 'checkpoints.create')).status).toBe(500);
    expect(server.lines.join('')).toContain('its seal');
    const { entries } = await succeed(server, 'entries.list', {
      as: 'boss:ada',
      path: { trajectory: 'main' },
    });
    expect(entries.at(-1)).toMatchObject({
      ruling: 'unreadable',
      detail: expect.stringContaining('its seal'),
    });
    // Another trajectory goes on.
    await succeed(server, 'proposals.create', pay('a', 1, 'k', { path: { trajectory: 'spare' } }));

    const checked = await place.open({ mode: 'readonly', ...sealKeys(ROOT) });
    const fault = { trajectory_id: 'main', code: 'unsealed', seq: approval.seq };
    expect((await verifyStore(checked, { trajectoryIds: ['main'] }))[0]).toMatchObject({
      valid: false,
      fault,
    });
    expect((await fsck(checked)).trajectories.find(({ valid }) => !valid)).toMatchObject({ fault });
    // The check of `assize checkpoint --no-verify`: it replays nothing.
    const logged = requireLogged(checked, { from: 0, to: await checked.logSize() });
    await expect(logged).rejects.toMatchObject({
      code: 'invalid_ledger',
      message: expect.stringContaining('its seal'),
    });
    const again = new Assize({ store: checked, domains: [till], anchors: [ROOT.publicKey] });
    await expect(again.open('main')).rejects.toMatchObject({ code: 'invalid_ledger' });
    // Without the key, the entry is one as others are.
    expect((await verifyStore(reader, { trajectoryIds: ['main'] }))[0]).toMatchObject({
      valid: true,
    });
  });

  test.each(['approval', 'request'])(
    'attack 80, a forged %s: the list has what is sealed, and the fault',
    async (kind) => {
      const place = stores.newPlace();
      const server = await start({ store: await place.open(sealKeys(ROOT)) });
      const { approval_id } = await succeed(server, 'proposals.create', pay('a', 150, 'large'));
      const other = await succeed(
        server,
        'proposals.create',
        pay('a', 150, 'k', { path: { trajectory: 'spare' } }),
      );
      const copied = await place.open(sealKeys(ROOT));
      const forged = await (kind === 'approval' ? approvalOf(copied, 'main') : requestOf(copied));
      await place.sql(insertOf(forged, stores.kind, FORGED));
      const faults = [{ trajectory_id: 'main', detail: expect.stringContaining('its seal') }];
      // Also a server that has not read the trajectory before.
      const started = await start({ store: await place.open(sealKeys(ROOT)) });
      for (const asked of [server, ...(kind === 'request' ? [started] : [])])
        for (const mine of ['false', 'true']) {
          const listed = await succeed(asked, 'approvals.list', {
            as: 'boss:ada',
            query: { mine },
          });
          expect(listed.faults).toEqual(faults);
          const sealed = mine === 'true' ? [other.approval_id] : [approval_id, other.approval_id];
          expect(listed.approvals.map(({ id }: { id: string }) => id)).toEqual(sealed);
        }
      const own = await succeed(server, 'approvals.list', { as: 'agent:scout' });
      expect(own).not.toHaveProperty('faults');
      expect(own.approvals).toHaveLength(2);
    },
  );

  test('attack 80, with the mark of seals removed: the server still refuses', async () => {
    const place = stores.newPlace();
    const server = await start({ store: await place.open(sealKeys(ROOT)) });
    await succeed(server, 'proposals.create', pay('a', 150, 'large'));
    const approval = await approvalOf(await place.open(sealKeys(ROOT)), 'main');
    const table = stores.kind === 'sqlite' ? [] : ['SET session_replication_role = replica'];
    await place.sql(...table, 'DELETE FROM sealed', insertOf(approval, stores.kind));
    const next = await callOperation(server, 'proposals.create', pay('b', 1, 'next'));
    expect(next).toMatchObject({ status: 500, body: { code: 'invalid_ledger' } });
    expect((await callOperation(server, 'checkpoints.create')).status).toBe(500);
  });
});

test('attack 81: an order inserted into the root log: no cell obeys it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-forged-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [file, copied] = [join(folder, 'root.db'), join(folder, 'copy.db')];
  const opened = async (path: string): Promise<RootLog> => {
    const log = await RootLog.open({ url: `sqlite:${path}`, root: ROOT });
    onTestFinished(() => log.close());
    return log;
  };
  const log = await opened(file);
  await log.order('halt', { tenant: 'acme', reason: 'pays twice' }, 'operator:test');
  // The attacker makes the entry elsewhere, from what the database shows.
  const elsewhere = await openStore(`sqlite:${copied}`);
  await importLines(elsewhere, linesOf(await integrated(log.store)));
  await elsewhere.close();
  const forger = await opened(copied);
  await forger.order('resume', { tenant: 'acme', reason: 'forged' }, 'operator:test');
  const order = (await forger.store.head(ROOT_LOG))!;
  const db = openUnguarded(file);
  db.exec(insertOf(order, 'sqlite', FORGED));
  db.close();
  await expect(log.read()).rejects.toMatchObject({ code: 'invalid_ledger' });
  await expect(opened(file)).rejects.toMatchObject({ code: 'invalid_ledger' });
});

async function integrated(store: Store): Promise<Store> {
  await integrateLog(store);
  return store;
}
