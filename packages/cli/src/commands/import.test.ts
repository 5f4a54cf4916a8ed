import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportLines } from '@assize/audit/internal/export';
import { Output, Progress } from '@assize/command';
import { MemoryStore } from '@assize/testing/memory';
import { generateKeys } from 'assize/internal/canon';
import { integrateLog } from 'assize/internal/ledger';
import { Assize } from 'assize/internal/runtime';
import { Command } from 'commander';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { budget } from '../domains/budget/index.ts';
import { importCommand } from './import.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-cli-import-'));
});

afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
  rmSync(folder, { recursive: true });
});

test('the progress of the export and of the store have other labels', async () => {
  const store = new MemoryStore();
  const assize = new Assize({ store, domains: [budget], anchors: [generateKeys().publicKey] });
  await assize.create(budget, { trajectoryId: 'b' });
  await integrateLog(store);
  const file = join(folder, 'b.jsonl');
  for await (const line of exportLines(store)) appendFileSync(file, line);
  vi.spyOn(Output.prototype, 'line').mockReturnValue();
  const report = vi.spyOn(Progress.prototype, 'report');
  const program = new Command();
  importCommand(program);
  await program.parseAsync(['import', file, '--store', `sqlite:${join(folder, 'copy.db')}`], {
    from: 'user',
  });
  expect(process.exitCode).toBe(0);
  const labels = report.mock.calls.map(([label]) => label);
  expect([...new Set(labels)]).toEqual([
    'bytes of the export read',
    'verifying the export',
    'entries imported',
    'verifying the store',
  ]);
});
