import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '#stores';
import { type TestPostgres, withPostgres } from '../support/postgres/index.ts';

const HOLDER = fileURLToPath(new URL('./turn-holder.ts', import.meta.url));

/** Another process has the turn, then it is killed. */
async function turnOfAKilledProcess(url: string): Promise<void> {
  const store = await openStore(url);
  onTestFinished(() => store.close());
  const holder = spawn(process.execPath, [HOLDER, url], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void holder.kill('SIGKILL'));
  const [said] = await once(holder.stdout, 'data');
  expect(String(said)).toBe('has it\n');
  expect(await store.acquireWriteLock!('t')).toBeUndefined();
  const exited = once(holder, 'exit');
  holder.kill('SIGKILL');
  await exited;
  const end = await store.acquireWriteLock!('t');
  expect(end).toBeTypeOf('function');
  end!();
}

test('a process killed with the write lock does not block others: SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-turns-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return turnOfAKilledProcess(`sqlite:${join(folder, 'a.db')}`);
});

withPostgres('a server', (postgres: TestPostgres) => {
  test('a process killed with the write lock does not block others', () =>
    turnOfAKilledProcess(postgres.url()));
});
