/**
 * Scope coordination in memory, without proposals, ledger or tools. The baseline is a bare map of
 * locks without patterns or order. It costs one awaited promise and two lookups.
 */
import { type Claim, Coordinator, readClaim, type Work } from '#effects';
import {
  type BenchResult,
  type Contender,
  compare,
  keep,
  median,
  percentile,
  rateResult,
} from './measure.ts';
import type { PeerFigures } from './peer.ts';

const MANY = 100_000;
const WAITERS = 4_000;
const ROUNDS = 9;
const PER_ROUND = 8_192;
/** Scopes that transactions use in turns: others than those that are live beside them. */
const SCOPES = 1_024;

/** `peer`: figures of the reference in Python; its steps have no ledger either. */
export async function coordinationBench(peer?: PeerFigures): Promise<BenchResult[]> {
  const claims = Array.from({ length: SCOPES }, (_, i) =>
    readClaim('write', `bench:/own/${i % 32}/${i}`),
  );
  const sparse = new Coordinator();
  const crowded = crowd(new Coordinator());
  const [locks, alone, among] = await compare([
    bare(claims),
    transactions(sparse, claims),
    transactions(crowded, claims),
  ]);
  const results: BenchResult[] = [];
  const step = peer?.steps['Tx-Full'];
  for (const [rate, coordinator, beside] of [
    [alone!, sparse, 'nothing else live'],
    [among!, crowded, `${counted(MANY)} other scopes live`],
  ] as const) {
    const name = `transactions in memory, ${beside}`;
    results.push(rateResult({ ...rate, name }, locks!, { min: 250_000 }), {
      name: `${name}: p50`,
      value: await microsOfOne(coordinator, claims),
      unit: 'µs',
      goal: { max: 4 },
      ...(step === undefined
        ? {}
        : { baseline: { name: 'a step of the reference, mean', value: step } }),
    });
  }
  results.push({
    name: `least conflicting epoch, ${counted(MANY)} live scopes: p50`,
    value: microsToFind(crowded),
    unit: 'µs',
    goal: { max: 2 },
  });
  return [...results, ...(await waking())];
}

/** Begins, waits for no transaction, acts and ends. */
function transactions(coordinator: Coordinator, claims: readonly Claim[]): Contender {
  let n = 0;
  return {
    name: 'transactions',
    run: async (count) => {
      for (let i = 0; i < count; i++) await one(coordinator, claims[n++ % SCOPES]!);
    },
  };
}

async function one(coordinator: Coordinator, claim: Claim): Promise<void> {
  const work = coordinator.begin([claim]);
  await coordinator.whenClear(work);
  coordinator.recordAct(work, claim);
  coordinator.end(work);
}

function bare(claims: readonly Claim[]): Contender {
  const locks = new Map<string, number>();
  let n = 0;
  const locked = async (scope: string, n: number): Promise<void> => {
    while (locks.has(scope)) await undefined;
    locks.set(scope, n);
  };
  return {
    name: 'a map of locks',
    run: async (count) => {
      for (let i = 0; i < count; i++) {
        const { text } = claims[n++ % SCOPES]!.scope;
        await locked(text, n);
        locks.delete(text);
      }
    },
  };
}

/** Live work on so many scopes of folders. It is older than all that is measured. */
function crowd(coordinator: Coordinator): Coordinator {
  for (let i = 0; i < MANY; i++)
    coordinator.begin([readClaim('write', `bench:/crowd/${i % 317}/${i}`)]);
  return coordinator;
}

async function microsOfOne(coordinator: Coordinator, claims: readonly Claim[]): Promise<number> {
  const micros: number[] = [];
  for (let i = 0; i < ROUNDS * PER_ROUND; i++) {
    const start = performance.now();
    await one(coordinator, claims[i % SCOPES]!);
    micros.push((performance.now() - start) * 1_000);
  }
  return percentile(micros, 50);
}

/** Asked by work that conflicts with one of them, a folder of them, or a pattern. */
function microsToFind(coordinator: Coordinator): number {
  const scopes = Array.from({ length: SCOPES }, (_, i) => {
    const n = (i * 7919) % MANY;
    return [`bench:/crowd/${n % 317}/${n}`, `bench:/crowd/${n % 317}/**`, `bench:/crowd/*/${n}`][
      i % 16 < 14 ? 0 : (i % 2) + 1
    ]!;
  });
  const work = coordinator.begin([]);
  const claims = scopes.map((scope) => readClaim('write', scope));
  const micros: number[] = [];
  for (let i = 0; i < ROUNDS * PER_ROUND; i++) {
    const start = performance.now();
    keep(coordinator.blocker(work, claims[i % SCOPES]!));
    micros.push((performance.now() - start) * 1_000);
  }
  coordinator.end(work);
  return percentile(micros, 50);
}

/**
 * The time from the end of a blocking transaction until the waiting one continues. Measured for
 * waiters on many resources, and for waiters in one queue.
 */
async function waking(): Promise<BenchResult[]> {
  const [apart, queued]: [number[], number[]] = [[], []];
  for (let round = -1; round < ROUNDS; round++) {
    const [first, second] = [
      await microsToWake((i) => `bench:r${i}`),
      await microsToWake(() => 'bench:r'),
    ];
    if (round >= 0) {
      apart.push(first);
      queued.push(second);
    }
  }
  const name = `waking one of ${counted(WAITERS)} who wait`;
  const goal = { max: 3 };
  return [
    { name: `${name}, each at another resource`, value: median(apart), unit: 'µs', goal },
    { name: `${name}, all at one`, value: median(queued), unit: 'µs', goal },
  ];
}

/** Holders yield to the waiting transactions in order, until none waits. */
async function microsToWake(scopeOf: (waiter: number) => string): Promise<number> {
  const coordinator = new Coordinator();
  const claims = Array.from({ length: WAITERS }, (_, i) => readClaim('write', scopeOf(i)));
  const holders = [...new Set(claims.map(({ scope }) => scope.text))].map((scope) =>
    coordinator.begin([readClaim('write', scope)]),
  );
  const done = claims.map((claim) => served(coordinator, coordinator.begin([claim])));
  await new Promise(setImmediate);
  const start = performance.now();
  for (const holder of holders) coordinator.end(holder);
  await Promise.all(done);
  return ((performance.now() - start) / WAITERS) * 1_000;
}

async function served(coordinator: Coordinator, work: Work): Promise<void> {
  await coordinator.whenClear(work);
  coordinator.end(work);
}

function counted(n: number): string {
  return n.toLocaleString('en-US');
}
