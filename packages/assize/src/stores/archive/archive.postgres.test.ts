/** Stores whose first entries are in files of an archive. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { exportLines } from '@assize/audit/internal/export';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { hashText } from '#canon';
import { integrateLog, logHead } from '#ledger';
import {
  branchMembers,
  ChainWriter,
  commitMembers,
  everyKind,
  keysOf,
  rejectionMembers,
  rootMembers,
  second,
} from '../../../../../tests/support/ledger/rows.ts';
import {
  type Databases,
  onEveryDatabase,
  type Place,
} from '../../../../../tests/support/ledger/stores.ts';
import type { ArchiveReport, OpenMode, SqliteStore, Store } from '../index.ts';
import { FolderPlace } from './folder-place.ts';

const root = mkdtempSync(join(tmpdir(), 'assize-archive-'));
afterAll(() => rmSync(root, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

const BY = 'b'.repeat(64);

/** A store, and the folder of its archive. */
class Archived {
  readonly place: Place;
  readonly folder: string = join(mkdtempSync(join(root, 'archive-')), 'new');

  constructor(stores: Databases) {
    this.place = stores.newPlace();
  }

  open(mode: OpenMode = 'existing'): Promise<Store> {
    return this.place.open({ archive: `file:${this.folder}`, mode });
  }

  files(): string[] {
    return readdirSync(this.folder).sort();
  }

  text(name: string): string {
    return gunzipSync(readFileSync(join(this.folder, name))).toString();
  }

  /** Fills a new store, and closes it. */
  async fill(): Promise<void> {
    const store = await this.place.open();
    await fill(store);
    await store.close();
  }

  async archive(
    options: { level?: number; keep?: number; before?: string } = { level: 2 },
  ): Promise<ArchiveReport> {
    const store = await this.open();
    try {
      const checkpoint = { origin: 'test', ...(await logHead(store)) };
      return await store.archiveEntries!({ checkpoint, ...options });
    } finally {
      await store.close();
    }
  }

  /** Every answer of the reads of a ledger, by a store that only reads. */
  async answers(): Promise<Answers> {
    const store = await this.open('readonly');
    try {
      return await answers(store);
    } finally {
      await store.close();
    }
  }
}

/** All kinds of entries with blobs, then a trajectory and a branch of it. */
async function fill(store: Store): Promise<void> {
  const { rows, blobs } = everyKind(keysOf(1));
  await store.commit({ entries: rows, blobs });
  const writer = new ChainWriter('more');
  writer.add('root', rootMembers({ n: 0, text: '\u2028 é \u0000 "\\ 😀' }));
  for (let n = 1; n < 20; n++) {
    if (n % 5 === 0) writer.add('rejection', rejectionMembers({ at: second(n) }));
    else
      writer.add('commit', {
        ...commitMembers([{ op: 'replace', path: '/n', value: n }]),
        at: second(n),
      });
  }
  await store.commit({ entries: writer.rows, blobs: [] });
  const branch = new ChainWriter('branch');
  branch.add('branch', { ...branchMembers(writer.rows[4]!), at: second(100) });
  await store.commit({ entries: branch.rows, blobs: [] });
  await integrateLog(store);
}

interface Answers {
  readonly export: string;
  readonly [name: string]: unknown;
}

async function answers(store: Store): Promise<Answers> {
  const trajectories = await store.trajectories();
  const rows = await store.logged(0, await store.logSize());
  let text = '';
  for await (const line of exportLines(store)) text += line;
  return {
    trajectories,
    review: await store.trajectoriesToReview!(),
    entries: await Promise.all(
      trajectories.map(({ trajectory_id }) => store.entries(trajectory_id)),
    ),
    heads: await Promise.all(trajectories.map(({ trajectory_id }) => store.head(trajectory_id))),
    page: await store.entries('more', { from: 7, limit: 9 }),
    rows,
    resolved: await Promise.all(rows.map(({ id }) => store.resolve(id))),
    found: await Promise.all(rows.map(({ id }) => store.find(id.slice(0, 9)))),
    head: await logHead(store),
    faults: await store.selfCheck!(),
    export: text,
  };
}

/** The blobs in the files of the archive, with their texts. */
function blobsIn(archived: Archived): { readonly hash: string; readonly text: string }[] {
  return archived
    .files()
    .filter((name) => name.includes('-blobs-'))
    .flatMap((name) => archived.text(name).trimEnd().split('\n'))
    .flatMap((line) => {
      const [, text, hash] = /^\{"blob":(.*),"hash":"(.*)"\}$/.exec(line) ?? [];
      return hash === undefined ? [] : [{ hash, text: text! }];
    });
}

onEveryDatabase((stores) => {
  describe('an archived store', () => {
    test('gives the answers that it gave before, from files that gunzip reads', async () => {
      const archived = new Archived(stores);
      await archived.fill();
      const before = await archived.answers();
      const size = (before['rows'] as unknown[]).length;
      const report = await archived.archive();
      expect(report).toMatchObject({
        moved: size - (size % 4),
        archived: size - (size % 4),
        logged: size,
        segment: 4,
      });
      expect(report.moved).toBeGreaterThan(20);
      expect(await archived.answers()).toEqual(before);
      const texts = await archived.place.everything();
      expect(texts).not.toContain('"path":"/n","value":7');
      const names = archived.files();
      const entries = names
        .filter((name) => name.includes('-entries-'))
        .map((name) => archived.text(name));
      const lines = before.export.split('\n').filter((line) => line.startsWith('{"id"'));
      expect(entries.join('').trimEnd()).toBe(lines.slice(0, report.moved).join('\n'));
      expect(blobsIn(archived).length).toBeGreaterThan(3);
      // Nothing is left to do.
      expect(await archived.archive()).toMatchObject({
        moved: 0,
        bytes: 0,
        archived: report.archived,
      });
      expect(archived.files()).toEqual(names);
    });

    test('goes on from its last segment, and keeps the requested entries', async () => {
      const archived = new Archived(stores);
      await archived.fill();
      const before = await archived.answers();
      const size = (before['rows'] as unknown[]).length;
      expect(await archived.archive({ level: 2, keep: size - 9 })).toMatchObject({
        moved: 8,
        archived: 8,
      });
      expect(await archived.answers()).toEqual(before);
      expect(await archived.archive({ before: second(8) })).toMatchObject({
        moved: 0,
        archived: 8,
      });
      await expect(archived.archive({ level: 3 })).rejects.toMatchObject({
        code: 'wrong_state',
        message: expect.stringContaining('segments of 2^2 entries'),
      });
      expect(await archived.archive({})).toMatchObject({ moved: size - (size % 4) - 8 });
      expect(await archived.answers()).toEqual(before);
    });

    test('appends, reads and finds new entries as before', async () => {
      const archived = new Archived(stores);
      await archived.fill();
      await archived.archive();
      const store = await archived.open();
      const head = (await store.head('more'))!;
      const again = new ChainWriter('new');
      again.add('root', rootMembers({ n: 0 }));
      expect(await store.commit({ entries: again.rows, blobs: [] })).toEqual({
        status: 'committed',
      });
      expect(
        await store.commit({
          entries: [{ ...again.rows[0]!, trajectory_id: 'more', seq: 3 }],
          blobs: [],
        }),
      ).toEqual({ status: 'conflict', trajectory_id: 'more', seq: 3 });
      expect(head.payload.startsWith('{')).toBe(true);
      const [known] = blobsIn(archived);
      expect(await store.commit({ entries: [], blobs: [known!] })).toEqual({ status: 'committed' });
      expect(await store.blob(known!.hash)).toBe(known!.text);
      await integrateLog(store);
      await store.close();
    });

    // PostgreSQL itself makes the space free.
    if (stores.kind === 'sqlite') {
      test('leaves a smaller file after a vacuum', async () => {
        const archived = new Archived(stores);
        const store = await archived.open('create');
        const rows = new ChainWriter('large');
        rows.add('root', rootMembers({ n: 0, text: 'x'.repeat(200_000) }));
        await store.commit({ entries: rows.rows, blobs: [] });
        await store.close();
        await archived.fill();
        const size = async (): Promise<number> => (await archived.place.everything()).length;
        const before = await archived.answers();
        await archived.archive();
        const full = await size();
        const again = (await archived.open()) as SqliteStore;
        await again.vacuum();
        await again.close();
        expect(await size()).toBeLessThan(full - 200_000);
        expect(await archived.answers()).toEqual(before);
      });
    }

    test('without its archive says which option is missing', async () => {
      const archived = new Archived(stores);
      await archived.fill();
      await archived.archive({ level: 2, keep: 3 });
      const store = await archived.place.open({ mode: 'readonly' });
      const refused = {
        code: 'archive_not_named',
        message: expect.stringContaining(`--archive PLACE, set ASSIZE_ARCHIVE`),
        evidence: { archive: `file:${archived.folder}` },
      };
      await expect(store.entries('more')).rejects.toMatchObject(refused);
      expect(await store.selfCheck!()).toEqual([
        expect.stringContaining('Older entries of this store are in an archive'),
      ]);
      // The rows of the database still answer.
      expect(await store.trajectories()).toHaveLength(6);
      await store.close();
    });

    test('never reads a place that only the database names', async () => {
      const archived = new Archived(stores);
      await archived.fill();
      await archived.archive();
      await archived.place.sql("UPDATE archive SET place = 'file:/etc'");
      const read = vi.spyOn(FolderPlace.prototype, 'read');
      const store = await archived.place.open({ mode: 'readonly' });
      await expect(store.entries('more')).rejects.toMatchObject({ code: 'archive_not_named' });
      expect(read).not.toHaveBeenCalled();
      await store.close();
    });

    test('names the file with a flipped byte, at any place, and a missing file', async () => {
      const archived = new Archived(stores);
      await archived.fill();
      await archived.archive();
      for (const name of archived.files()) {
        const path = join(archived.folder, name);
        const bytes = readFileSync(path);
        const expected = { code: 'archive_damaged', message: expect.stringContaining(name) };
        const store = await archived.open('readonly');
        for (const at of [0, 4, 9, bytes.length >> 1, bytes.length - 1]) {
          writeFileSync(path, flipped(bytes, at));
          if (at === 4) expect(await store.selfCheck!()).toEqual([expect.stringContaining(name)]);
          if (name.includes('-entries-'))
            await expect(readAll(store)).rejects.toMatchObject(expected);
        }
        unlinkSync(path);
        expect(await store.selfCheck!()).toEqual([expect.stringMatching(`has no file ${name}`)]);
        if (name.includes('-entries-')) {
          await expect(readAll(store)).rejects.toMatchObject({
            code: 'archive_damaged',
            evidence: { file: name, archive: `file:${archived.folder}` },
          });
        }
        writeFileSync(path, bytes);
        // A failed read is not remembered.
        await readAll(store);
        await store.close();
      }
    });

    test('refuses a line of another entry, also if the database names its file', async () => {
      const archived = new Archived(stores);
      await archived.fill();
      await archived.archive();
      const first = `(SELECT entry FROM log WHERE idx = 0)`;
      await archived.place.sql(`UPDATE entry SET payload = '@1' WHERE position = ${first}`);
      const reader = await archived.open('readonly');
      await expect(reader.logged(0, 4)).rejects.toMatchObject({
        code: 'archive_damaged',
        message: expect.stringMatching(/its line 1 is not the entry/),
      });
      await reader.close();
    });
  });

  describe('a run that ends at any step', () => {
    const METHODS = ['write', 'remove', 'read'] as const;

    /** Makes the n-th call of the archive's folder fail, before or after its work. */
    function failAt(at: number, when: 'before' | 'after'): () => number {
      let count = 0;
      for (const name of METHODS) {
        const original = FolderPlace.prototype[name] as (...args: unknown[]) => Promise<unknown>;
        vi.spyOn(FolderPlace.prototype, name).mockImplementation(async function (
          this: FolderPlace,
          ...args: unknown[]
        ) {
          count += 1;
          if (count !== at) return original.apply(this, args) as Promise<never>;
          if (when === 'after') await original.apply(this, args);
          throw new Error('ended here');
        });
      }
      return () => count;
    }

    test.each(['before', 'after'] as const)(
      'loses nothing, and the next run goes on (%s a step)',
      async (when) => {
        let steps = 1;
        // A start of PostgreSQL's connections takes most of the time.
        for (let at = 1; at <= steps; at += stores.kind === 'sqlite' ? 3 : 13) {
          const archived = new Archived(stores);
          await archived.fill();
          const before = await archived.answers();
          const count = failAt(at, when);
          await expect(archived.archive({ level: 3 })).rejects.toThrow('ended here');
          steps = Math.max(steps, count());
          vi.restoreAllMocks();
          expect(await archived.answers()).toEqual(before);
          await archived.archive({});
          expect(await archived.answers()).toEqual(before);
          const live = archived.files();
          await archived.archive({});
          expect(archived.files()).toEqual(live);
          if (at === 1) {
            const whole = failAt(0, when);
            const other = new Archived(stores);
            await other.fill();
            await other.archive({ level: 3 });
            steps = whole();
            vi.restoreAllMocks();
          }
        }
        expect(steps).toBeGreaterThan(8);
      },
    );
  });

  describe('an erasure', () => {
    async function eraseBlob(store: Store, hash: string): Promise<void> {
      expect(await store.commit({ entries: [], blobs: [], erased: [{ hash, by: BY }] })).toEqual({
        status: 'committed',
      });
    }

    /** A blob of the archive with a text that no other file has. */
    function secretOf(archived: Archived): { readonly hash: string; readonly text: string } {
      return blobsIn(archived).reduce((longest, blob) =>
        blob.text.length > longest.text.length ? blob : longest,
      );
    }

    const isThere = (archived: Archived, text: string): boolean =>
      archived.files().some((name) => archived.text(name).includes(text));

    test('removes the text from the archive, and leaves the other blobs', async () => {
      const archived = new Archived(stores);
      await archived.fill();
      await archived.archive();
      const blobs = blobsIn(archived);
      const { hash, text } = secretOf(archived);
      const store = await archived.open();
      const reader = await archived.open();
      for (const blob of blobs) expect(await reader.blob(blob.hash)).toBe(blob.text);
      await eraseBlob(store, hash);
      expect(await store.selfCheck!()).toContainEqual(
        expect.stringContaining('files of the archive may have erased texts'),
      );
      await store.scrub!();
      expect(isThere(archived, text)).toBe(false);
      expect(await store.selfCheck!()).toEqual([]);
      // The reader knows the file that was deleted.
      for (const blob of blobs)
        expect(await reader.blob(blob.hash)).toBe(blob.hash === hash ? undefined : blob.text);
      expect(await reader.erasedBy(hash)).toBe(BY);
      await store.close();
      await reader.close();
      const again = await archived.open('readonly');
      for (const blob of blobs)
        expect(await again.blob(blob.hash)).toBe(blob.hash === hash ? undefined : blob.text);
      await again.close();
    });

    test('that was interrupted is finished by the next store with the archive', async () => {
      const archived = new Archived(stores);
      await archived.fill();
      await archived.archive();
      const { hash, text } = secretOf(archived);
      const store = await archived.place.open();
      await eraseBlob(store, hash);
      await expect(store.scrub!()).rejects.toMatchObject({ code: 'store_not_scrubbed' });
      await store.close();
      await (await archived.place.open()).close();
      expect(isThere(archived, text)).toBe(true);
      await (await archived.open()).close();
      expect(isThere(archived, text)).toBe(false);
    });

    test.each(['its own', 'another'])(
      'discards a segment that is being written: %s text',
      async (whose) => {
        const archived = new Archived(stores);
        await archived.fill();
        const plain = await archived.place.open();
        const { blobs } = everyKind(keysOf(1));
        const own = blobs.reduce((longest, blob) =>
          blob.text.length > longest.text.length ? blob : longest,
        );
        const other = { hash: hashText('"other"'), text: '"other"' };
        await plain.commit({ entries: [], blobs: [other] });
        const { hash, text } = whose === 'another' ? other : own;
        const write = FolderPlace.prototype.write;
        let erased = false;
        vi.spyOn(FolderPlace.prototype, 'write').mockImplementation(async function (
          this: FolderPlace,
          name,
          bytes,
        ) {
          await write.call(this, name, bytes);
          if (erased || !gunzipSync(bytes).includes(own.text)) return;
          erased = true;
          await eraseBlob(plain, hash);
        });
        await archived.archive();
        vi.restoreAllMocks();
        expect(erased).toBe(true);
        expect(isThere(archived, text)).toBe(false);
        await plain.scrub!();
        await plain.close();
        const reader = await archived.open('readonly');
        expect(await reader.selfCheck!()).toEqual([]);
        expect(await reader.blob(hash)).toBeUndefined();
        await readAll(reader);
        await reader.close();
      },
    );
  });
});

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 1;
  return copy;
}

async function readAll(store: Store): Promise<void> {
  await store.logged(0, 1_000);
}
