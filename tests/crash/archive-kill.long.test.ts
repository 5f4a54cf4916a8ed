/** Processes that are killed while they move entries to an archive, and erase texts there. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import type { Json } from '#base';
import { exportLines } from '#export';
import { type BlobRow, type EntryRow, integrateLog } from '#ledger';
import type { Store } from '#stores';
import { bundled } from '../support/bundled.ts';
import {
  ChainWriter,
  commitMembers,
  ROLE,
  rootMembers,
  salted,
  second,
} from '../support/ledger/rows.ts';
import { onEveryDatabase } from '../support/ledger/stores.ts';

const folders = mkdtempSync(join(tmpdir(), 'assize-archive-kill-'));
afterAll(() => rmSync(folders, { recursive: true }));
const program = await bundled(join(import.meta.dirname, 'archive-process.ts'));

const ENTRIES = 96;
/** Faults of a process that died in an erasure. Each names the remedy. */
const UNFINISHED =
  /^(?:files of the archive may have erased texts|bytes of \d+ erasures may still be in the file or its WAL); open the store for writing/;
const SEGMENT = 8;

interface Filled {
  readonly rows: readonly EntryRow[];
  /** Blobs that are erased after the move, with their texts. */
  readonly secrets: readonly { readonly hash: string; readonly text: string }[];
}

const secretOf = (n: number): string => `the secret of ${n}.`;
const SECRETS = [6, 26, 46, 66].map(secretOf);

/** A trajectory whose entries observe texts. */
async function fill(store: Store): Promise<Filled> {
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({ n: 0 }));
  const blobs: BlobRow[] = [];
  for (let n = 1; n < ENTRIES; n++) {
    const args = salted(secretOf(n), blobs);
    const action = { name: 'act', role: ROLE, args } as unknown as Json;
    writer.add(
      'commit',
      commitMembers([{ op: 'replace', path: '/n', value: n }], { action, at: second(n) }),
    );
  }
  await store.commit({ entries: writer.rows, blobs });
  await integrateLog(store);
  return { rows: writer.rows, secrets: blobs.filter((_, n) => n % 20 === 5 && n < 70) };
}

/** Runs the process until a word of its output and a moment more. Returns whether it had ended. */
async function killedAfter(args: readonly string[], lines: number, ms: number): Promise<boolean> {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said: string[] = [];
  const reader = createInterface(child.stdout).on('line', (line) => said.push(line));
  const ended = Promise.all([once(child, 'exit'), once(reader, 'close')]);
  while (said.length < lines && child.exitCode === null) await sleep(1);
  if (ms > 0) await sleep(ms);
  child.kill('SIGKILL');
  const [[code]] = await ended;
  // A process that failed was not killed.
  expect(code === null || code === 0, said.join('\n')).toBe(true);
  return said.includes('done');
}

onEveryDatabase(({ newPlace }) => {
  test('a killed archiver loses no entry, and leaves no erased text', async () => {
    const place = newPlace();
    const folder = join(mkdtempSync(join(folders, 'archive-')), 'new');
    const archive = `file:${folder}`;
    const first = await place.open();
    const { rows, secrets } = await fill(first);
    let text = '';
    for await (const line of exportLines(first)) text += line;
    await first.close();
    const args = [place.url, archive, secrets.map(({ hash }) => hash).join(',')];
    let kills = 0;
    for (let isDone = false; !isDone; kills++) {
      // Each process gets at least one step further, so that the rounds end.
      isDone = await killedAfter(
        args,
        kills < 8 ? 1 + (kills % 3) : Number.POSITIVE_INFINITY,
        (kills * 7) % 23,
      );
      const store = await place.open({ archive, mode: 'readonly' });
      expect(await store.logged(0, ENTRIES)).toEqual(rows);
      expect((await store.selfCheck!()).filter((fault) => !UNFINISHED.test(fault))).toEqual([]);
      const isErased = await Promise.all(
        secrets.map(async ({ hash }) => (await store.erasedBy(hash)) !== undefined),
      );
      for (const [n, { hash, text }] of secrets.entries())
        expect(await store.blob(hash)).toBe(isErased[n] ? undefined : text);
      if (!isErased.includes(true)) {
        let now = '';
        for await (const line of exportLines(store)) now += line;
        expect(now).toBe(text);
      }
      await store.close();
    }
    expect(kills).toBeGreaterThan(3);
    // A writer that opens the store ends what a killed process has started.
    const last = await place.open({ archive });
    await last.scrub?.();
    const { segments } = (await last.archiveState!())!;
    expect(segments).toBe(ENTRIES / SEGMENT);
    expect(await last.selfCheck!()).toEqual([]);
    await last.close();
    for (const name of readdirSync(folder)) {
      expect(name).not.toMatch(/\.part$/);
      const inside = gunzipSync(readFileSync(join(folder, name))).toString();
      for (const secret of SECRETS) expect(inside).not.toContain(secret);
    }
    const everything = await place.everything();
    for (const secret of SECRETS) expect(everything).not.toContain(secret);
    expect(
      everything +
        readdirSync(folder)
          .map((name) => gunzipSync(readFileSync(join(folder, name))))
          .join(''),
    ).toContain(secretOf(7));
  });
});
