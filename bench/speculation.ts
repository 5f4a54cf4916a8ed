/**
 * Speculation: several alternatives run, and the transaction continues with one (Atomix, table 6).
 * In memory: an epoch with its claims, each call checked against them, and the gate. Each branch
 * has a real overlay, and the winner's overlay goes into the state. No proposal and no ledger take
 * part. The baseline is a bare loop that makes the same number of plan lists and uses one. A second
 * part measures complete transactions, with ruling and entries, in a store in memory.
 */

import { MemoryStore } from '@assize/testing/memory';
import { Assize, type Domain, generateKeys } from 'assize';
import { z } from 'zod';
import { type Claim, Coordinator, covers, declareTool, readClaim } from '#effects';
import { type BenchResult, keep, percentile } from './measure.ts';
import type { PeerFigures } from './peer.ts';
import { benchWrit, shop, shopState, visit } from './shop.ts';

const BRANCHES = [2, 4, 8, 16];
const MOST = 16;
const SCOPES = 1_024;
const RUNS = 20_000;
const WARM_UP = 5_000;
/** The number of runs as a transaction. */
const TRANSACTIONS = 2_000;
const MEMBERS = 64;

/** `peer`: the times of the reference in Python, if it runs in the same measuring process. */
export async function speculationBench(peer?: PeerFigures): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  const coordinator = new Coordinator();
  const places = Array.from({ length: SCOPES }, (_, i) => `r${i}`);
  const claims = places.map((place) => readClaim('write', `bench:${place}`));
  const state = new Map<string, string>();
  for (const branches of BRANCHES) {
    const bare = await microsOf(RUNS, (n) => listsOfPlans(state, places[n % SCOPES]!, branches));
    const micros = await microsOf(RUNS, (n) =>
      speculated(
        { coordinator, state, place: places[n % SCOPES]!, claim: claims[n % SCOPES]! },
        branches,
      ),
    );
    results.push({
      name: `${branches} branches in memory: p50`,
      value: micros,
      unit: 'µs',
      baseline: { name: 'lists of plans', value: bare },
      ...(branches === MOST ? { goal: { max: 15 } } : {}),
    });
  }
  for (const branches of BRANCHES)
    results.push(await asTransaction(branches, peer?.branches[branches]));
  return results;
}

/** The planned writes of a branch, over the state that all branches see. */
class Overlay {
  readonly #below: ReadonlyMap<string, string>;
  readonly planned: { readonly place: string; readonly value: string }[] = [];

  constructor(below: ReadonlyMap<string, string>) {
    this.#below = below;
  }

  get(place: string): string | undefined {
    return this.planned.findLast((plan) => plan.place === place)?.value ?? this.#below.get(place);
  }

  set(place: string, value: string): void {
    this.planned.push({ place, value });
  }
}

interface World {
  readonly coordinator: Coordinator;
  readonly state: Map<string, string>;
  readonly place: string;
  readonly claim: Claim;
}

async function speculated(
  { coordinator, state, place, claim }: World,
  branches: number,
): Promise<void> {
  const work = coordinator.begin([claim]);
  const claims = [claim];
  const overlays = await Promise.all(
    Array.from({ length: branches }, async (_, i) => {
      const overlay = new Overlay(state);
      keep(overlay.get(place));
      if (!covers(claims, claim)) throw new Error('unexpected: outside of the claims');
      overlay.set(place, `plan ${i}`);
      return overlay;
    }),
  );
  await coordinator.whenClear(work);
  coordinator.recordAct(work, claim);
  for (const plan of overlays[branches - 1]!.planned) state.set(plan.place, plan.value);
  coordinator.end(work);
}

function listsOfPlans(state: Map<string, string>, place: string, branches: number): void {
  const plans = Array.from({ length: branches }, (_, i) => [{ place, value: `plan ${i}` }]);
  for (const plan of plans[branches - 1]!) state.set(plan.place, plan.value);
}

/** `reference`: the time of the reference for the same work, in microseconds. */
async function asTransaction(
  branches: number,
  reference: number | undefined,
): Promise<BenchResult> {
  const keys = generateKeys();
  const plan = declareTool({
    name: 'plan.keep',
    input: z.strictObject({ member: z.string(), text: z.string() }),
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['bench:{member}'],
    execute: () => null,
    compensate: () => ({ undone: 'all' }),
  });
  const store = new MemoryStore();
  const assize = new Assize({
    store,
    domains: [shop as Domain],
    anchors: [keys.publicKey],
    tools: [plan],
  });
  const writ = benchWrit(keys, 't', ['**'], ['**']);
  const initial = shopState(MEMBERS);
  const trajectory = await assize.create(shop as Domain, {
    trajectoryId: 't',
    initial,
    writs: [writ],
  });
  try {
    const value = await microsOf(TRANSACTIONS, async (n) => {
      const intent = visit(n, MEMBERS);
      const { member } = intent.role.params;
      const { ruling } = await trajectory.transaction(
        { writ, writes: [`bench:${member}`] },
        async (tx) => {
          const bodies = Array.from(
            { length: branches },
            (_, i) => (branch: typeof tx) =>
              branch.call('plan.keep', { member, text: `plan ${i}` }),
          );
          await tx.speculate(bodies, () => branches - 1);
          tx.propose(intent);
        },
      );
      if (ruling.ruling !== 'committed') throw new Error(`unexpected: ${ruling.ruling}`);
    });
    return {
      name: `${branches} branches as a transaction, with ruling and entries, in memory: p50`,
      value,
      unit: 'µs',
      ...(reference === undefined
        ? {}
        : { baseline: { name: 'the reference, mean', value: reference } }),
    };
  } finally {
    await assize.close();
    await store.close();
  }
}

async function microsOf(runs: number, run: (n: number) => void | Promise<void>): Promise<number> {
  const micros: number[] = [];
  for (let n = -WARM_UP; n < runs; n++) {
    const begun = performance.now();
    await run(n + WARM_UP);
    if (n >= 0) micros.push(1_000 * (performance.now() - begun));
  }
  return percentile(micros, 50);
}

if (import.meta.main) {
  const { formatTable } = await import('./measure.ts');
  console.log(formatTable(await speculationBench()));
}
