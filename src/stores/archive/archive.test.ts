import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import {
  branchMembers,
  ChainWriter,
  commitMembers,
  everyKind,
  keysOf,
  rejectionMembers,
  rootMembers,
  second,
} from '../../../tests/support/ledger/rows.ts';
import { exportLines, importLines, integrateLog, logHead, splitLines } from '#ledger';
import { type ArchiveReport, openStore, type Store } from '../index.ts';

const root = mkdtempSync(join(tmpdir(), 'assize-archive-'));
afterAll(() => rmSync(root, { recursive: true }));

const newFolder = (): string => mkdtempSync(join(root, 'store-'));

interface Place {
  readonly url: string;
  readonly folder: string;
  readonly archive: string;
}

function newPlace(): Place {
  const folder = newFolder();
  return { url: `sqlite:${join(folder, 'ledger.db')}`, folder, archive: join(folder, 'ledger.db.archive') };
}

async function exported(store: Store): Promise<string> {
  let text = '';
  await integrateLog(store);
  for await (const line of exportLines(store)) text += line;
  return text;
}

/** All kinds of entries with blobs, and a longer trajectory with a branch: 40 entries and more. */
async function filled(url: string): Promise<Store> {
  const store = await openStore(url);
  const { rows, blobs } = everyKind(keysOf(1));
  for (const row of rows) await store.commit({ entries: [row], blobs });
  const writer = new ChainWriter('more');
  writer.add('root', rootMembers({ n: 0, text: '\u2028 é \u0000 "\\ 😀' }));
  for (let n = 1; n < 30; n++) {
    if (n % 5 === 0) writer.add('rejection', rejectionMembers({ at: second(n) }));
    else writer.add('commit', { ...commitMembers([{ op: 'replace', path: '/n', value: n }]), at: second(n) });
  }
  await store.commit({ entries: writer.rows, blobs: [] });
  const branch = new ChainWriter('branch');
  branch.add('branch', { ...branchMembers(writer.rows[4]!), at: second(100) });
  await store.commit({ entries: branch.rows, blobs: [] });
  await integrateLog(store);
  return store;
}

async function archivedAt(place: Place, level = 2): Promise<ArchiveReport> {
  const store = await openStore(place.url, { archive: `file:${place.archive}` });
  try {
    const head = await logHead(store);
    return await store.archiveEntries!({ checkpoint: { origin: 'test', ...head }, level });
  } finally {
    await store.close();
  }
}

/** Every answer of the reads of a ledger. */
async function answers(store: Store): Promise<unknown> {
  const trajectories = await store.trajectories();
  const size = await store.logSize();
  const rows = await store.logged(0, size);
  return {
    trajectories,
    review: await store.trajectoriesToReview!(),
    entries: await Promise.all(trajectories.map(({ trajectory_id }) => store.entries(trajectory_id))),
    heads: await Promise.all(trajectories.map(({ trajectory_id }) => store.head(trajectory_id))),
    pages: await store.entries('more', { from: 7, limit: 9 }),
    rows,
    resolved: await Promise.all(rows.map(({ id }) => store.resolve(id))),
    found: await Promise.all(rows.map(({ id }) => store.find(id.slice(0, 9)))),
    head: await logHead(store),
    export: await exported(store),
  };
}

test('an archived store gives the answers of the same store before', async () => {
  const place = newPlace();
  const store = await filled(place.url);
  const before = await answers(store);
  await store.close();
  const report = await archivedAt(place);
  const again = await openStore(place.url, { mode: 'readonly' });
  expect(report.moved).toBeGreaterThan(30);
  expect(await answers(again)).toEqual(before);
  expect(await again.selfCheck!()).toEqual([]);
  await again.close();
  const database = readFileSync(place.url.slice('sqlite:'.length), 'latin1');
  expect(database).not.toContain('"op":"replace","path":"/n","value":7');
  const lines = readdirSync(place.archive)
    .sort()
    .filter((name) => name.includes('-entries-'))
    .map((name) => gunzipSync(readFileSync(join(place.archive, name))).toString());
  expect((before as { export: string }).export.split('\n').filter((line) => line.startsWith('{"id"')).join('\n')).toContain(
    lines.join('').trimEnd(),
  );
});
