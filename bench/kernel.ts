/**
 * Adjudication, and the path from an intent to its hashed entry with rules of all kinds, at states
 * of growing size.
 */
import { canonicalize, hashText } from '#canon';
import { type Authority, adjudicate, type Domain, initialState, World } from '#kernel';
import type { LedgerStore } from '#ledger';
import { type BenchResult, formatTable, keep, percentile } from './measure.ts';
import { openShop, shop, shopState, visit, wholeShop } from './shop.ts';

const SIZES = [100, 10_000, 1_000_000];
const ORDINARY = 10_000;
const ROUNDS = 9;
const PER_ROUND = 4_096;
const CALLERS = 64;
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

/**
 * One size after the other, as a process has one world: several of a million members would fight
 * for the caches.
 */
export async function kernelBench(): Promise<BenchResult[]> {
  const measured: Measured[] = [];
  for (const size of SIZES) measured.push(await measureSize(size));
  return results(measured);
}

interface Measured {
  readonly size: number;
  readonly bare: number[];
  readonly adjudicate: number[];
  readonly whole: number[];
  readonly intent: number[];
}

/** One world after the other, as a process has one, each beside the bare change. */
async function measureSize(size: number): Promise<Measured> {
  const baseline = bare();
  const kernel = await measure(baseline, adjudication(shop, size));
  const whole = await measure(baseline, adjudication(wholeShop, size));
  const intent = await measure(baseline, await intentToEntry(size));
  return { size, bare: baseline.micros, adjudicate: kernel, whole, intent };
}

async function measure(...timed: readonly Timed[]): Promise<number[]> {
  let i = 0;
  for (let round = -2; round < ROUNDS; round++) {
    for (const { once, micros } of timed) {
      for (let n = 0; n < PER_ROUND; n++, i++) {
        const start = performance.now();
        once(i);
        const taken = (performance.now() - start) * 1_000;
        if (round >= 0) micros.push(taken);
        // Delivers the answers of queued appends outside the timed part, as the same number of
        // callers would.
        if (n % CALLERS === CALLERS - 1) await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }
  return (timed.at(-1) as Timed).micros;
}

/** The same change by hand on a plain object, with hand-written rules, and the same text hashed. */
function bare(): Timed {
  const state = shopState(100) as {
    members: Record<
      string,
      { balance: number; visits: number; last: string; limit: number; name: string }
    >;
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
      if (!(m.balance >= -m.limit && m.visits >= 0 && m.name.length > 0))
        throw new Error('refused');
      keep(
        hashText(
          canonicalize({ at: AT, role, args, balance: m.balance, visits: m.visits, last: m.last }),
        ),
      );
    },
  };
}

function adjudication(domain: Domain, size: number): Timed {
  const world = new World(domain, initialState(domain, shopState(size)));
  return {
    name: `adjudicate, ${size.toLocaleString('en-US')} members`,
    micros: [],
    once: (i) => {
      const ruling = adjudicate(world, visit(i, size) as never, ANYONE, {
        at: AT,
        observations: [],
      });
      if (ruling.verdict !== 'approved') throw new Error(`unexpected: ${ruling.verdict}`);
      ruling.keep();
    },
  };
}

async function intentToEntry(size: number): Promise<Timed> {
  const { trajectory, writ } = await openShop(instantStore(), size, wholeShop);
  return {
    name: `intent to hashed entry, ${size.toLocaleString('en-US')} members`,
    micros: [],
    // Up to the append nothing is awaited: when the call returns, the entry is hashed and handed to
    // the store.
    once: (i) => {
      void trajectory.propose({ ...visit(i, size), writ });
    },
  };
}

/** A store that accepts every append and stores nothing. */
function instantStore(): LedgerStore {
  const committed = Promise.resolve({ status: 'committed' as const });
  return {
    commit: () => committed,
    resolve: async () => undefined,
    entries: async () => [],
    head: async () => undefined,
    trajectories: async () => [],
    blob: async () => undefined,
    erasedBy: async () => undefined,
    find: async () => [],
    close: async () => {},
  };
}

/**
 * The goals in microseconds are for worlds of ordinary size; the largest must stay within twice the
 * smallest.
 */
function results(measured: readonly Measured[]): BenchResult[] {
  const results: BenchResult[] = [];
  for (const [sort, name, goal] of [
    ['adjudicate', 'adjudicate', 6],
    ['whole', 'adjudicate with unique, sum and count', undefined],
    ['intent', 'intent to hashed entry', 15],
  ] as const) {
    const smallest = percentile((measured[0] as Measured)[sort], 50);
    for (const { size, bare, [sort]: micros } of measured) {
      const [p50, base] = [percentile(micros, 50), percentile(bare, 50)];
      const title = `${name}, ${size.toLocaleString('en-US')} members`;
      const baseline = { name: 'bare change, checks and hash', value: base };
      const max = goal !== undefined && size <= ORDINARY ? { goal: { max: goal } } : {};
      results.push({
        name: `${title}, p50`,
        value: p50,
        unit: 'µs',
        baseline,
        ratio: p50 / base,
        ...max,
      });
      const p99 = { name: `${title}, p99`, value: percentile(micros, 99), unit: 'µs' };
      results.push(sort === 'adjudicate' ? { ...p99, goal: { max: 25 } } : p99);
      if (p50 !== smallest) {
        results.push({
          name: `${title}, against 100`,
          value: p50 / smallest,
          unit: 'x',
          goal: { max: 2 },
        });
      }
    }
  }
  return results;
}

if (import.meta.main) console.log(formatTable(await kernelBench()));
