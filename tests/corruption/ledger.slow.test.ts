/**
 * A ledger of 200 entries, damaged at positions all over it and in every way open to an attacker
 * with the file. All damage is found and named by its position, or by the checkpoint if a chain
 * cannot show it.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateKeys, hashText } from '#canon';
import { fileSink, fsck, makeCheckpoint, readCheckpoint } from '#checkpoints';
import { exportLines, readExport } from '#export';
import { type EntryRow, entryRow, integrateLog, type Payload } from '#ledger';
import { leafHash, signerKey } from '#merkle';
import { openStore } from '#stores';
import { ExportReader } from '../../packages/audit/src/export/read.ts';
import {
  ChainWriter,
  commitMembers,
  rejectionMembers,
  rootMembers,
  second,
} from '../support/ledger/rows.ts';
import { openUnguarded } from '../support/ledger/unguarded.ts';
import { someOf } from '../support/some-of.ts';

const LENGTH = 200;
const ENDS = [0, LENGTH - 1];
const folder = mkdtempSync(join(tmpdir(), 'assize-corruption-'));
const whole = join(folder, 'whole.db');
const spoilt = join(folder, 'spoilt.db');
const signer = signerKey(
  'example.com/spoilt',
  'note',
  generateKeys(new Uint8Array(32).fill(5)).privateKey,
);
const log = { origin: signer.name, keys: [signer] };
const rows: EntryRow[] = [];
let text: string;

beforeAll(async () => {
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({ n: 0 }));
  for (let n = 1; n < LENGTH; n++) {
    if (n % 7 === 0) writer.add('rejection', rejectionMembers({ at: second(n) }));
    else
      writer.add('commit', {
        ...commitMembers([{ op: 'replace', path: '/n', value: n }]),
        at: second(n),
      });
  }
  rows.push(...writer.rows);
  const store = await openStore(`sqlite:${whole}`);
  await store.commit({ entries: rows, blobs: [] });
  await makeCheckpoint(store, { signer, sinks: [fileSink(`${whole}.checkpoint`)] });
  text = '';
  for await (const line of exportLines(store)) text += line;
  await store.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The fsck report on the file after an attacker changed it. */
async function fsckOf(change: (db: DatabaseSync) => void) {
  copyFileSync(whole, spoilt);
  const db = openUnguarded(spoilt);
  // Like an attacker with knowledge of SQLite: no constraint applies.
  db.exec('PRAGMA ignore_check_constraints = 1; PRAGMA synchronous = OFF; BEGIN');
  change(db);
  db.exec('COMMIT');
  db.close();
  const store = await openStore(`sqlite:${spoilt}`, { checkpoint: false });
  try {
    const { checkpoint } = readCheckpoint(readFileSync(`${whole}.checkpoint`, 'utf8'), log);
    const { trajectories, faults, valid } = await fsck(store, { checkpoint, threads: 1 });
    return { valid, seq: trajectories[0]?.fault?.seq, code: trajectories[0]?.fault?.code, faults };
  } finally {
    await store.close();
  }
}

describe('an export', () => {
  test('every byte flipped is refused in its line', () => {
    const lines = text.trimEnd().split('\n');
    const reader = new ExportReader();
    let [flipped, tried] = [0, 0];
    for (const line of lines) {
      const bytes = Buffer.from(line);
      const places = someOf([...bytes.keys()]);
      tried += places.length;
      for (const at of places) {
        const changed = Buffer.from(bytes);
        // The highest bit would leave no UTF-8, which is refused before it reaches the reader.
        changed[at] = bytes[at]! ^ (1 << (at % 7));
        const now = changed.toString('utf8');
        if (Buffer.compare(Buffer.from(now), changed) !== 0 || changed[at] === 0x0a) continue;
        let refused = false;
        try {
          reader.take(now);
        } catch (error) {
          if ((error as { code?: string }).code !== 'bad_export') throw error;
          refused = true;
        }
        if (!refused) throw new Error(`byte ${at} of ${line.slice(0, 80)} was flipped unseen`);
        flipped++;
      }
      // The refused lines leave nothing in the reader.
      reader.take(line);
    }
    reader.end();
    expect(flipped).toBeGreaterThan(tried * 0.8);
  });

  test('cut at every line, and a line missing at every place', async () => {
    const lines = text.trimEnd().split('\n');
    const refused = async (kept: readonly string[]): Promise<boolean> => {
      try {
        for await (const _ of readExport(fromList(kept))) {
          // Only read.
        }
        return false;
      } catch {
        return true;
      }
    };
    expect(await refused(lines)).toBe(false);
    for (const at of someOf([...lines.keys()])) {
      expect(await refused(lines.slice(0, at))).toBe(true);
      expect(await refused([...lines.slice(0, at), ...lines.slice(at + 1)])).toBe(true);
    }
  });
});

async function* fromList(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

describe('a store', () => {
  // The first and the last entry are cases of their own.
  const every = someOf(
    Array.from({ length: LENGTH }, (_, seq) => seq),
    (seq) => ENDS.indexOf(seq),
  );

  test('every row deleted: the next is named, or the checkpoint for the last', async () => {
    for (const seq of every) {
      const found = await fsckOf(
        (db) => void db.prepare('DELETE FROM entry WHERE seq = ?').run(seq),
      );
      expect(found.valid).toBe(false);
      if (seq < LENGTH - 1) expect(found).toMatchObject({ seq: seq + 1, code: 'broken_chain' });
      expect(found.faults.length).toBeGreaterThan(0);
    }
  });

  test('every two neighbours in each other’s place: the first is named', async () => {
    for (const seq of every.slice(0, -1)) {
      const found = await fsckOf((db) => {
        const move = db.prepare('UPDATE entry SET seq = ? WHERE seq = ?');
        move.run(1_000_000, seq);
        move.run(seq, seq + 1);
        move.run(seq + 1, 1_000_000);
      });
      expect(found).toMatchObject({ valid: false, seq, code: 'column_mismatch' });
    }
  });

  test('every row put in twice: the copy is named', async () => {
    for (const seq of every) {
      const found = await fsckOf((db) => {
        const row = rows[seq] as EntryRow;
        db.exec(
          `UPDATE entry SET seq = seq + 1000000 WHERE seq > ${seq}; UPDATE entry SET seq = seq - 999999 WHERE seq > 999999`,
        );
        // Another id, because no two rows may have one.
        const id = Buffer.from(hashText(row.payload + seq), 'hex');
        const parent = row.parent === null ? Buffer.alloc(32) : Buffer.from(row.parent, 'hex');
        db.prepare(
          'INSERT INTO entry (trajectory, seq, id, parent, kind, payload) SELECT trajectory, ?, ?, ?, kind, payload FROM entry WHERE seq = ?',
        ).run(seq + 1, id, parent, seq);
      });
      expect(found).toMatchObject({ valid: false, seq: seq + 1, code: 'tampered' });
    }
  });

  test('every row changed with its id: the next one, or the checkpoint', async () => {
    for (const seq of every) {
      const payload = rows[seq]!.payload.replace('"kind":', '"kind": ')
        .replace('"kind": ', '"kind":')
        .replace(/"at":"2026-03-23T09:(..):(..).000000Z"/, '"at":"2026-03-23T09:$1:$2.000001Z"');
      const found = await fsckOf((db) => {
        db.prepare('UPDATE entry SET payload = ?, id = ? WHERE seq = ?').run(
          payload,
          Buffer.from(hashText(payload), 'hex'),
          seq,
        );
      });
      expect(found.valid).toBe(false);
      if (seq < LENGTH - 1) expect(found).toMatchObject({ seq: seq + 1 });
      expect(found.faults).toContainEqual(
        expect.objectContaining({ code: 'leaf_differs', index: seq }),
      );
    }
  });

  test('every suffix rewritten with new ids and log: valid, not the checkpoint’s', async () => {
    for (const seq of every) {
      const found = await fsckOf((db) => {
        const rewritten = rewrittenFrom(seq);
        const set = db.prepare('UPDATE entry SET payload = ?, id = ?, parent = ? WHERE seq = ?');
        db.exec(`UPDATE entry SET id = randomblob(32) WHERE seq >= ${seq}`);
        for (const row of rewritten) {
          const parent = row.parent === null ? null : Buffer.from(row.parent, 'hex');
          set.run(row.payload, Buffer.from(row.id, 'hex'), parent, row.seq);
        }
        db.exec('DELETE FROM log; DELETE FROM log_node');
      }).then(async (unlogged) => {
        // An attacker that rewrites history rebuilds the log as well.
        expect(unlogged.valid).toBe(false);
        const store = await openStore(`sqlite:${spoilt}`, { checkpoint: false });
        await integrateLog(store);
        const { checkpoint } = readCheckpoint(readFileSync(`${whole}.checkpoint`, 'utf8'), log);
        const report = await fsck(store, { checkpoint, threads: 1 });
        await store.close();
        return report;
      });
      expect(found.trajectories).toMatchObject([{ valid: true, entries: LENGTH }]);
      expect(found.faults).toEqual([expect.objectContaining({ code: 'checkpoint' })]);
      await expect(
        openStore(`sqlite:${spoilt}`, { checkpoint: `${whole}.checkpoint` }),
      ).rejects.toMatchObject({
        code: 'bad_checkpoint',
        message: expect.stringContaining('spoilt: its history was rewritten, or the checkpoint'),
      });
    }
  });

  test('a tail cut at every length with its log: valid, behind the checkpoint', async () => {
    for (const kept of every) {
      const found = await fsckOf((db) => {
        db.exec(
          `DELETE FROM entry WHERE seq >= ${kept}; DELETE FROM log WHERE idx >= ${kept}; DELETE FROM log_node WHERE (idx + 1) << level > ${kept}`,
        );
        if (kept === 0) db.exec('DELETE FROM trajectory');
      });
      expect(found.valid).toBe(false);
      expect(found.seq).toBeUndefined();
      expect(found.faults).toEqual([
        {
          code: 'checkpoint',
          detail: expect.stringContaining(
            `the last ${LENGTH - kept}, from position ${kept}, are missing`,
          ),
        },
      ]);
      await expect(
        openStore(`sqlite:${spoilt}`, { checkpoint: `${whole}.checkpoint` }),
      ).rejects.toMatchObject({
        code: 'bad_checkpoint',
        message: expect.stringContaining('(checkpoint'),
        evidence: { checkpoint: LENGTH, log: kept },
      });
    }
  });
});

/**
 * The same history with another time from one entry on, as an attacker with the file and without a
 * key makes it.
 */
function rewrittenFrom(seq: number): EntryRow[] {
  const made: EntryRow[] = [];
  let parent = rows[seq]!.parent;
  let lastCommit = rows.slice(0, seq).findLast(({ kind }) => kind !== 'rejection')?.id ?? '';
  for (const row of rows.slice(seq)) {
    const payload = JSON.parse(row.payload) as Record<string, unknown>;
    payload['parent'] = parent;
    payload['at'] = String(payload['at']).replace('.000000Z', '.000001Z');
    if (payload['kind'] === 'commit') payload['parent_commit'] = lastCommit;
    const next = entryRow(payload as unknown as Payload);
    expect(leafHash(next.payload)).not.toEqual(leafHash(row.payload));
    made.push(next);
    parent = next.id;
    if (next.kind !== 'rejection') lastCommit = next.id;
  }
  return made;
}
