/**
 * The first proposal after many approvals expired together, on SQLite. The baseline records the
 * same expiries one at a time, as the approvals expire one after the other.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Assize,
  defineDomain,
  escalate,
  generateKeys,
  instantFromMillis,
  openStore,
  pass,
} from 'assize';
import { z } from 'zod';
import { type BenchResult, formatTable } from './measure.ts';
import { benchWrit } from './shop.ts';

const APPROVALS = 4_000;
const AT_ONCE = 200;
const TIMEOUT_MS = 3_600_000;

const claims = defineDomain({
  name: 'bench-expiry',
  version: '1',
  freeze: 'footprint',
  state: z.object({ claims: z.record(z.string(), z.int()) }),
  initial: { claims: {} },
  processes: { claim: { writes: ['/claims/{id}'] } },
  roles: { clerk: { params: ['id'], processes: ['claim'] } },
  counselors: { manager: () => true },
  actions: {
    claim: {
      process: 'claim',
      args: z.strictObject({ cents: z.int() }),
      apply: (state, { cents }, { role }) => {
        state.claims[role['id'] as string] = cents;
      },
    },
  },
  invariants: ({ each }) => [
    each('MANAGER', '/claims/*', {}, (cents) => (cents <= 10 ? pass : escalate(`${cents} cents`))),
  ],
});

interface Expired {
  /** Until the first proposal is ruled. */
  readonly firstMs: number;
  /** Until no expired approval is left. */
  readonly allMs: number;
}

/** `stepMs`: the time between two expiries. */
async function expired(stepMs: number): Promise<Expired> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  const store = await openStore(`sqlite:${join(folder, 'expiry.db')}`);
  try {
    let now = Date.UTC(2026, 2, 23, 9);
    const keys = generateKeys();
    const assize = new Assize({
      store,
      domains: [claims],
      anchors: [keys.publicKey],
      approvals: { timeoutMs: TIMEOUT_MS, maxPending: 'unlimited' },
      maxClockAheadMs: 'unlimited',
      ports: { clock: { now: () => instantFromMillis(now) } },
    });
    const writ = benchWrit(keys, 't', ['**'], ['**']);
    const trajectory = await assize.create(claims, { trajectoryId: 't', writs: [writ] });
    const claim = (id: string, cents: number) =>
      trajectory.propose({
        action: 'claim',
        role: { name: 'clerk', params: { id } },
        args: { cents },
        writ,
      });
    for (let n = 0; n < APPROVALS; n += AT_ONCE) {
      const asked = Array.from({ length: AT_ONCE }, (_, i) => {
        now += stepMs;
        return claim(`${n + i}`, 11);
      });
      for (const { ruling } of await Promise.all(asked))
        if (ruling !== 'escalated') throw new Error(ruling);
    }
    now += TIMEOUT_MS - stepMs * APPROVALS;
    const started = performance.now();
    let firstMs = 0;
    const length = trajectory.length + APPROVALS;
    for (let n = 0; trajectory.length - n < length; n++) {
      now += stepMs;
      // The place of the approval that expires last.
      const { ruling } = await claim(stepMs === 0 ? `${APPROVALS - 1}` : 'other', 1);
      if (ruling !== 'committed') throw new Error(ruling);
      if (n === 0) firstMs = performance.now() - started;
    }
    return { firstMs, allMs: performance.now() - started };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

export async function expiryBench(): Promise<BenchResult[]> {
  const inTurn = await expired(1);
  const atOnce = await expired(0);
  const baseline = { name: 'until they are recorded one at a time', value: inTurn.allMs };
  const count = APPROVALS.toLocaleString('en');
  const row = (name: string, value: number): BenchResult => ({
    name,
    value,
    unit: 'ms',
    baseline,
    ratio: value / baseline.value,
  });
  return [
    row(`the first proposal after ${count} approvals expired together`, atOnce.firstMs),
    row('  until all are recorded in groups', atOnce.allMs),
  ];
}

if (import.meta.main) console.log(formatTable(await expiryBench()));
