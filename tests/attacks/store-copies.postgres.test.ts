/** Two stores with the same entries: a copy and an import call no tools until they are adopted. */
import { copyFileSync, linkSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportLines, importLines } from '#export';
import { integrateLog } from '#ledger';
import type { Assize } from '#runtime';
import { openStore, type Store } from '#stores';
import { runtimeOver } from '../support/ledger/runtime.ts';
import { withPostgres } from '../support/postgres/index.ts';
import { OutsideSink, Steps, toolFor } from '../support/tools/effect-sink.ts';
import { asking, ledgerWithEffects } from '../support/tools/ledger-with-effects.ts';

const AT = '2026-03-23T09:00:00.000000Z';
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-copies-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Approves the pending proposal of the store, and closes the store. */
async function approve(store: Store, sink: OutsideSink): Promise<void> {
  const tools = [toolFor({ sink, steps: new Steps() }, 'irreversible', 'buffered')];
  const assize: Assize = runtimeOver(store, [asking], { tools });
  try {
    const trajectory = await assize.open('t');
    const [waits] = trajectory.approvals.pending();
    await trajectory.approvals.approve(waits!.id, {
      principal: 'doc',
      method: 'test',
      override: true,
    });
  } finally {
    await assize.close();
    await store.close();
  }
}

async function begun(url: string, sink: OutsideSink): Promise<void> {
  const { store } = await ledgerWithEffects(await openStore(url), sink);
  await store.close();
}

async function adopt(url: string, imported: boolean): Promise<void> {
  const store = await openStore(url);
  const [first] = await store.entries('t', { limit: 1 });
  await store.adopt({
    at: AT,
    reason: 'the original was retired',
    ...(imported && { roots: [first!.id] }),
  });
  await store.close();
}

async function exportInto(url: string, from: string): Promise<void> {
  const [source, store] = [await openStore(from), await openStore(url)];
  await integrateLog(source);
  await importLines(store, linesOf(source));
  await source.close();
  await store.close();
}

async function* linesOf(store: Store): AsyncGenerator<string> {
  for await (const line of exportLines(store)) yield line.slice(0, -1);
}

/** Approved in the original, a copy and an import, the call reaches its sink once. */
async function expectOnce(
  url: string,
  copy: string,
  imported: string,
  sink: OutsideSink,
): Promise<void> {
  await exportInto(imported, url);
  const before = sink.log.length;
  await approve(await openStore(url), sink);
  expect(sink.log).toHaveLength(before + 1);
  await expect(approve(await openStore(copy), sink)).rejects.toMatchObject({
    code: 'store_copied',
  });
  await expect(approve(await openStore(imported), sink)).rejects.toMatchObject({
    code: 'imported_trajectory',
  });
  expect(sink.log).toHaveLength(before + 1);
  // The sink tells that the call was made.
  await adopt(copy, false);
  await approve(await openStore(copy), sink);
  await adopt(imported, true);
  await approve(await openStore(imported), sink);
  expect(sink.log).toHaveLength(before + 1);
}

test('a SQLite file with a second name calls no tools', async () => {
  const [file, link] = [join(folder, 'first.db'), join(folder, 'second.db')];
  const sink = new OutsideSink('blind');
  await begun(`sqlite:${file}`, sink);
  const before = sink.log.length;
  linkSync(file, link);
  for (const path of [file, link])
    await expect(approve(await openStore(`sqlite:${path}`), sink)).rejects.toMatchObject({
      code: 'store_copied',
      message: expect.stringContaining('hard link'),
    });
  expect(sink.log).toHaveLength(before);
  rmSync(link);
  await approve(await openStore(`sqlite:${file}`), sink);
  expect(sink.log).toHaveLength(before + 1);
});

test('a pending call of a SQLite file, its copy and an import is made once', async () => {
  const [file, copy] = [join(folder, 'a.db'), join(folder, 'b.db')];
  const sink = new OutsideSink('queryable');
  await begun(`sqlite:${file}`, sink);
  copyFileSync(file, copy);
  await expectOnce(`sqlite:${file}`, `sqlite:${copy}`, `sqlite:${join(folder, 'c.db')}`, sink);
});

test('a SQLite file that was moved acts as before', async () => {
  const [file, moved] = [join(folder, 'd.db'), join(folder, 'e.db')];
  const sink = new OutsideSink('blind');
  await begun(`sqlite:${file}`, sink);
  renameSync(file, moved);
  await approve(await openStore(`sqlite:${moved}`), sink);
  expect(sink.times('do', 'asked')).toBe(2);
});

withPostgres('PostgreSQL', (postgres) => {
  test('a pending call of a database, its copy and an import is made once', async () => {
    const urlOf = (database: string): string => {
      const url = new URL(postgres.url());
      url.pathname = `/${database}`;
      return url.href;
    };
    const name = `copies_${process.pid}`;
    await postgres.query(`CREATE DATABASE ${name}`);
    const sink = new OutsideSink('queryable');
    const url = urlOf(name);
    await begun(url, sink);
    await postgres.query(`CREATE DATABASE ${name}_copy TEMPLATE ${name}`);
    const copy = new URL(url);
    copy.pathname = `/${name}_copy`;
    await expectOnce(url, copy.href, postgres.url(), sink);
    await postgres.query(`DROP DATABASE ${name}_copy`);
    await postgres.query(`DROP DATABASE ${name}`);
  });
});
