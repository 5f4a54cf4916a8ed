/** Adjudication, and the way from an intent to its hashed entry, at worlds of growing size. */
import { canonicalize, hashText } from 'assize/canon';
import { type Authority, adjudicate, type Domain, initialState, World } from 'assize/kernel';
import type { LedgerStore } from 'assize/ledger';
import { type BenchResult, formatTable, keep, percentile } from './measure.ts';
import { openShop, shop, shopState, visit } from './shop.ts';

const SIZES = [100, 10_000, 1_000_000];
const ROUNDS = 9;
const PER_ROUND = 4_000;
const AT = '2026-01-01T00:00:00.000000Z';

const ANYONE: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};

interface Timed {
  readonly name: string;
  readonly once: (i: number) => void;
  readonly micros: number[];
}

export async function kernelBench(): Promise<BenchResult[]> {
  const contenders: Timed[] = [bare()];
  for (const size of SIZES) contenders.push(adjudication(size));
  for (const size of SIZES) contenders.push(await intentToEntry(size));
  let i = 0;
  for (let round = -2; round < ROUNDS; round++) {
    for (const contender of contenders) {
      for (let n = 0; n < PER_ROUND; n++, i++) {
        const start = performance.now();
        contender.once(i);
        const micros = (performance.now() - start) * 1_000;
        if (round >= 0) contender.micros.push(micros);
      }
      // Lets the answers of queued appends be delivered outside of what is timed.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return results(contenders);
}

/** The same change made by hand on a plain object, its rules checked by hand, with the same text hashed. */
function bare(): Timed {
  const state = shopState(100) as {
    members: Record<string, { balance: number; visits: number; last: string; limit: number; name: string }>;
    open: boolean;
  };
  return {
    name: 'bare change, checks and hash',
    micros: [],
    once: (i) => {
      const { role, args } = visit(i, 100);
      const m = state.members[role.params.member] as (typeof state.members)[string];
      m.balance -= (args as { spend: number }).spend;
      m.visits += 1;
      m.last = (args as { note: string }).note;
      if (!(m.balance >= -m.limit && m.visits >= 0 && m.name.length > 0)) throw new Error('refused');
      keep(hashText(canonicalize({ at: AT, role, args, balance: m.balance, visits: m.visits, last: m.last })));
    },
  };
}

function adjudication(size: number): Timed {
  const world = new World(shop as Domain, initialState(shop as Domain, shopState(size)));
  return {
    name: `adjudicate, ${size.toLocaleString('en-US')} members`,
    micros: [],
    once: (i) => {
      const ruling = adjudicate(world, visit(i, size) as never, ANYONE, { at: AT, observations: [] });
      if (ruling.verdict !== 'approved') throw new Error(`unexpected: ${ruling.verdict}`);
      ruling.keep();
    },
  };
}

async function intentToEntry(size: number): Promise<Timed> {
  const { trajectory, writ } = await openShop(instantStore(), size);
  return {
    name: `intent to hashed entry, ${size.toLocaleString('en-US')} members`,
    micros: [],
    // Up to the append nothing is awaited: when the call returns, the entry is hashed and handed to the store.
    once: (i) => {
      void trajectory.propose({ ...visit(i, size), writ });
    },
  };
}

/** A store that takes everything and keeps nothing. */
function instantStore(): LedgerStore {
  const committed = Promise.resolve({ status: 'committed' as const });
  return {
    commit: () => committed,
    resolve: async () => undefined,
    entries: async () => [],
    head: async () => undefined,
    trajectories: async () => [],
    blob: async () => undefined,
    find: async () => [],
    close: async () => {},
  };
}

function results(contenders: readonly Timed[]): BenchResult[] {
  const base = contenders[0] as Timed;
  const baseline = { name: base.name, value: percentile(base.micros, 50) };
  const smallest = new Map<string, number>();
  return contenders.slice(1).flatMap(({ name, micros }) => {
    const p50 = percentile(micros, 50);
    const sort = name.startsWith('adjudicate') ? 'adjudicate' : 'intent';
    if (!smallest.has(sort)) smallest.set(sort, p50);
    const flat = p50 / (smallest.get(sort) as number);
    return [
      {
        name: `${name}, p50`,
        value: p50,
        unit: 'µs',
        baseline,
        ratio: p50 / baseline.value,
        goal: { max: sort === 'adjudicate' ? 6 : 15 },
      },
      ...(sort === 'adjudicate'
        ? [{ name: `${name}, p99`, value: percentile(micros, 99), unit: 'µs', goal: { max: 25 } }]
        : []),
      ...(sort === 'intent' && flat !== 1
        ? [{ name: `${name}, against 100`, value: flat, unit: 'x', goal: { max: 2 } }]
        : []),
    ];
  });
}

if (import.meta.main) console.log(formatTable(await kernelBench()));
