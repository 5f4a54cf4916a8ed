/** A ledger on disk for the benchmarks that read one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '#stores';
import { openShop, visit } from './shop.ts';

export interface LedgerFile {
  readonly url: string;
  readonly path: string;
  readonly trajectoryId: string;
  readonly entries: number;
  remove(): void;
}

/** Writes one trajectory of that many commits to a new file. */
export async function writeLedger(commits: number, members: number = 1_000): Promise<LedgerFile> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  const path = join(folder, 'ledger.db');
  const url = `sqlite:${path}`;
  const store = await openStore(url, { durability: 'off' });
  const { trajectory, writ } = await openShop(store, members);
  for (let i = 0; i < commits; ) {
    const group = Array.from({ length: Math.min(1_000, commits - i) }, () =>
      trajectory.propose({ ...visit(i++, members), writ }),
    );
    for (const { ruling } of await Promise.all(group))
      if (ruling !== 'committed') throw new Error(`unexpected: ${ruling}`);
  }
  await store.close();
  return {
    url,
    path,
    trajectoryId: trajectory.id,
    entries: trajectory.length,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
