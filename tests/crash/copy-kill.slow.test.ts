import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { openSqlite } from '#stores';
import { CHECKPOINT_PAGES } from '../../packages/assize/src/stores/sqlite/writer/group-commit.ts';
import { bundled } from '../support/bundled.ts';
import { CHARACTERS, textOf } from './long-text.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-copy-kill-'));
afterAll(() => rmSync(folder, { recursive: true }));

const program = await bundled(join(import.meta.dirname, 'copy-writer.ts'));

const ROUNDS = 4;

/** An entry that was answered. */
type Answered = readonly [trajectoryId: string, seq: number, id: string];

/** The answers to the process until its kill during a WAL copy, when its file changes. */
async function killedWhileCopying(path: string): Promise<Answered[]> {
  const child = spawn(process.execPath, [program, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const answered: Answered[] = [];
  const lines = createInterface(child.stdout);
  lines.on('line', (line) => {
    const [status, pid, caller, seq, id] = line.split(' ') as [
      string,
      string,
      string,
      string,
      string,
    ];
    expect(status).toBe('committed');
    answered.push([`${pid} ${caller}`, Number(seq), id]);
  });
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')]);
  try {
    // The copy at opening precedes the first answer.
    while (answered.length === 0) await sleep(1);
    const before = statSync(path);
    while (statSync(path).size === before.size && child.exitCode === null) await sleep(1);
  } finally {
    child.kill('SIGKILL');
  }
  const [[, signal]] = await ended;
  expect(signal).toBe('SIGKILL');
  return answered;
}

test('entries answered during a WAL copy survive kill -9, with their blobs', async () => {
  const path = join(folder, 'ledger.db');
  const answered: Answered[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    answered.push(...(await killedWhileCopying(path)));
    const store = await openSqlite({ path });
    try {
      for (const [name, seq, id] of answered) {
        const [row] = await store.entries(name, { from: seq, limit: 1 });
        expect(row?.id).toBe(id);
        const { hash, text } = textOf(id);
        expect((await store.blob(hash)) === text).toBe(true);
      }
    } finally {
      await store.close();
    }
  }
  // A WAL is copied when it has so many pages.
  expect(answered.length * CHARACTERS).toBeGreaterThan((ROUNDS * CHECKPOINT_PAGES * 4_096) / 2);
});
