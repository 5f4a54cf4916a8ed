/**
 * The list of pending proposals of a store with many trajectories. Few of them have some. The
 * baseline is the same list by a store that cannot name them, so that all are read.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Assize, type Domain, generateKeys, type LedgerStore, openStore } from 'assize';
import { type BenchResult, formatTable } from './measure.ts';
import { benchWrit, shop, shopState, visit } from './shop.ts';

const TRAJECTORIES = 200;
const COMMITS = 100;
const MEMBERS = 10;

export async function pendingBench(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  const store = await openStore(`sqlite:${join(folder, 'pending.db')}`, { durability: 'off' });
  try {
    const keys = generateKeys();
    const runtime = (over: LedgerStore) =>
      new Assize({ store: over, domains: [shop as Domain], anchors: [keys.publicKey] });
    const assize = runtime(store);
    for (let n = 0; n < TRAJECTORIES; n++) {
      const writ = benchWrit(keys, `t${n}`, ['**'], ['**']);
      const made = { trajectoryId: `t${n}`, initial: shopState(MEMBERS), writs: [writ] };
      const trajectory = await assize.create(shop as Domain, made);
      const visits = Array.from({ length: COMMITS }, (_, i) =>
        trajectory.propose({ ...visit(i, MEMBERS), writ }),
      );
      await Promise.all(visits);
    }
    await assize.close();
    const naive = new Proxy(store, {
      get: (target, name) => {
        const member: unknown =
          name === 'trajectoriesToReview' ? undefined : Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    const listed = async (over: LedgerStore): Promise<number> => {
      const started = performance.now();
      for await (const { id } of runtime(over).pending()) throw new Error(`unexpected: ${id}`);
      return performance.now() - started;
    };
    await listed(store);
    const baseline = { name: 'all trajectories read', value: await listed(naive) };
    const value = await listed(store);
    const entries = (TRAJECTORIES * (COMMITS + 1)).toLocaleString('en');
    const name = `list pending proposals, ${entries} entries, none pending`;
    return [{ name, value, unit: 'ms', baseline, ratio: value / baseline.value }];
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) console.log(formatTable(await pendingBench()));
