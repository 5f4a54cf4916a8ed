/**
 * Closing a runtime that left snapshots during 40,000 commits. The baseline is the
 * replay with which a snapshot at the end would be made.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Assize, type Domain, generateKeys, openStore } from 'assize';
import { type BenchResult, formatTable } from './measure.ts';
import { benchWrit, shop, shopState, visit } from './shop.ts';

const COMMITS = 40_000;
const AT_ONCE = 500;
const MEMBERS = 1_000;

export async function closingBench(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  const store = await openStore(`sqlite:${join(folder, 'closing.db')}`, { durability: 'off' });
  try {
    const keys = generateKeys();
    const domains = [shop as Domain];
    const assize = new Assize({ store, snapshots: store, domains, anchors: [keys.publicKey] });
    const writ = benchWrit(keys, 't', ['**'], ['**']);
    const trajectory = await assize.create(shop, {
      trajectoryId: 't',
      initial: shopState(MEMBERS),
      writs: [writ],
    });
    for (let n = 0; n < COMMITS; n += AT_ONCE)
      await Promise.all(
        Array.from({ length: AT_ONCE }, (_, i) =>
          trajectory.propose({ ...visit(n + i, MEMBERS), writ } as never),
        ),
      );
    const value = await timed(() => assize.close());
    const replaying = new Assize({ store, domains, anchors: [keys.publicKey] });
    const baseline = { name: 'a replay', value: await timed(() => replaying.open('t')) };
    const ratio = value / baseline.value;
    return [
      {
        name: `close after ${COMMITS.toLocaleString('en')} commits`,
        value,
        unit: 'ms',
        baseline,
        ratio,
      },
    ];
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

if (import.meta.main) console.log(formatTable(await closingBench()));
