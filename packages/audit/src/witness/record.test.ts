import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test, vi } from 'vitest';
import { WitnessFile } from './record.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-record-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a record and its deleted journal are durable before any answer', () => {
  const executed = vi.spyOn(DatabaseSync.prototype, 'exec');
  const file = new WitnessFile(join(folder, 'w.db'));
  try {
    const [connection] = executed.mock.contexts as [DatabaseSync];
    // EXTRA: the folder is synced after the journal was deleted. WAL has no journal to delete.
    expect(connection.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 3 });
    expect(connection.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'delete' });
  } finally {
    executed.mockRestore();
    file.close();
  }
});
