/** Commands on a log of one entry, whose texts need the singular. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../../../tests/support/process/command.ts';

let folder: string;

async function text(code: number, ...args: string[]): Promise<string> {
  const ended = await runCommand(folder, 'sqlite:./one.db', ...args);
  expect(ended.code, ended.err).toBe(code);
  return ended.out + ended.err;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assize-one-entry-'));
  await text(0, 'create', 'b', '--domain', 'budget');
  await text(0, 'keys', 'new', 'example.com/ledger');
  await text(0, 'checkpoint');
  await text(0, 'bundle', 'proof', 'b@0', '--out', 'proof.txt');
  await text(0, 'bundle', '--entry', 'b@0', '--out', 'b.zip');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['checkpoint', 0, ['checkpoint']],
  ['verify --database', 0, ['verify', '--database']],
  ['bundle proof', 0, ['bundle', 'proof', 'b@0', '--verify', 'proof.txt']],
  ['bundle', 0, ['bundle', '--verify', 'b.zip', '--log-key', 'one.db.vkey']],
  ['export', 2, ['export', '--size', '2']],
])('%s describes one entry in the singular', async (_, code, args) => {
  const said = await text(code, ...args);
  expect(said).toContain('1 entry');
  expect(said).not.toContain('1 entries');
});
