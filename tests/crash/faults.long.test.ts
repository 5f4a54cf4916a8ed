import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { CommitPayload, EntryRow } from '#ledger';
import { verifyStore } from '#runtime';
import { openSqlite, type Store } from '#stores';
import {
  type FaultSchedule,
  type StoreCall,
  type StoreFault,
  seededFaults,
} from '../../packages/testing/src/faults.ts';
import { faultyStore } from '../../packages/testing/src/faulty-store.ts';
import { cases, hasUsualCases } from '../support/cases.ts';
import { LastingMemory } from '../support/ledger/lasting-memory.ts';
import { someOf } from '../support/some-of.ts';
import { Caller } from './caller.ts';
import { AT_ONCE, expectSpent, liveThrough, type Outcomes, SPENT } from './full-ledger-run.ts';
import { entriesOf } from './ledger-check.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-faults-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A place that is opened again and again, and a handle that nothing goes wrong with. */
interface Place {
  readonly open: () => Promise<Store>;
  readonly witness: Store;
  readonly remove: () => Promise<void>;
}

let places = 0;

const STORES: Readonly<Record<string, () => Promise<Place>>> = {
  memory: async () => {
    const store = new LastingMemory();
    return { open: async () => store, witness: store, remove: async () => undefined };
  },
  sqlite: async () => {
    // Nothing here cuts the power: kill -9 and damaged files have tests of their own.
    const options = { path: join(folder, `${++places}.db`), durability: 'off' } as const;
    const witness = await openSqlite(options);
    const remove = async (): Promise<void> => {
      await witness.close();
      rmSync(options.path);
    };
    return { open: () => openSqlite(options), witness, remove };
  },
};

const FAULTS: readonly StoreFault[] = [
  { kind: 'fails' },
  { kind: 'lost' },
  { kind: 'reply_lost' },
  { kind: 'fails_after' },
  { kind: 'torn', sent: true },
  { kind: 'torn', sent: false },
  { kind: 'delay', sending: 3, answering: 3 },
];

interface Lived {
  readonly calls: readonly StoreCall[];
  readonly outcomes: Outcomes;
  readonly caller: Caller;
  readonly entries: readonly EntryRow[];
}

/**
 * One life from start to end under a schedule, and all properties that must hold under any
 * schedule.
 */
async function live(
  newPlace: () => Promise<Place>,
  schedule: FaultSchedule,
  errorsAreDefinite = true,
): Promise<Lived> {
  const { open, witness, remove } = await newPlace();
  const calls: StoreCall[] = [];
  // Counted over all handles of this life, not for each.
  const counted: FaultSchedule = ({ operation, nth, args }) => {
    const call = { n: calls.length + 1, operation, nth, args };
    calls.push(call);
    return schedule(call);
  };
  const caller = await Caller.over({
    open: async () => faultyStore(await open(), counted),
    witness,
    errorsAreDefinite,
  });
  const outcomes = await liveThrough(caller);
  await expectSpent(caller);
  const entries = await entriesOf(witness);
  await caller.close();
  await expectOnce(caller, entries);
  for (const { fault } of await verifyStore(witness)) expect(fault).toBeUndefined();
  await remove();
  return { calls, outcomes, caller, entries };
}

async function expectOnce(
  { answered, doubts }: Caller,
  entries: readonly EntryRow[],
): Promise<void> {
  const count = (id: string): number => entries.filter((row) => row.id === id).length;
  for (const [step, row] of answered)
    expect({ step, there: count(row.id) }).toEqual({ step, there: 1 });
  // The answer of `resolve` is final. An entry that was not written can still exist after a retry:
  // the same proposal at the same position is the same entry.
  for (const { id, written } of doubts) if (written) expect(count(id)).toBe(1);
  const payloads = entries.map((row) => JSON.parse(row.payload));
  const proposals = payloads.filter(
    ({ resolves, kind }) => resolves === undefined && kind !== 'root' && kind !== 'branch',
  );
  const ids = proposals.map(({ proposal, proposal_id }) => proposal?.proposal_id ?? proposal_id);
  expect(new Set(ids).size).toBe(ids.length);
  const spent = payloads
    .filter(
      (payload): payload is CommitPayload =>
        payload.kind === 'commit' && payload.trajectory_id === 'main',
    )
    .reduce((sum, { budget_cost }) => sum + (budget_cost['usd'] ?? 0), 0);
  expect(spent).toBe(SPENT);
}

/**
 * Up to the concurrent proposals, the ledger is the same entry by entry; one more entry follows
 * them. Retries draw new salts, so entries are named by their positions, and salted values by their
 * length.
 */
function settled(entries: readonly EntryRow[]): readonly object[] {
  const main = entries.filter(({ trajectory_id }) => trajectory_id === 'main');
  const same = [
    ...main.slice(0, -AT_ONCE - 1),
    ...entries.filter(({ trajectory_id }) => trajectory_id !== 'main'),
  ];
  const places = new Map(
    entries.map(({ id, trajectory_id, seq }) => [id, `${trajectory_id} ${seq}`]),
  );
  const named = (payload: string): string =>
    payload
      .replace(/[0-9a-f]{64}/g, (hash) => places.get(hash) ?? hash)
      .replace(/"\$blob":"[0-9a-f]{64}"(?=,"bytes":\d+,"salted":true)/g, '"$blob":"salted"');
  return same.map(({ trajectory_id, seq, kind, payload }) => ({
    trajectory_id,
    seq,
    kind,
    payload: named(payload),
  }));
}

describe.each(Object.entries(STORES))('a life on %s', (_, newPlace) => {
  test('without faults', async () => {
    const { outcomes, caller } = await live(newPlace, () => undefined);
    expect(caller.failures).toBe(0);
    expect(outcomes).toMatchObject({
      'a commit': 'committed',
      'a cost': 'committed',
      'a rejection': 'invariant_rejected',
      'an observation': 'committed',
      'a blob': 'committed',
      'an approval': 'escalated',
      frozen: 'frozen',
      approved: 'committed',
      refused: 'counselor_rejected',
      'too much': 'budget_exhausted',
      'on the branch': 'committed',
    });
  });

  test.each(FAULTS)('with %j at every call in turn', async (fault) => {
    const honest = await live(newPlace, () => undefined);
    const isLate = fault.kind === 'delay';
    let doubts = 0;
    // Each operation of the store meets the fault.
    for (const { n: at } of someOf(honest.calls, ({ operation }) => operation)) {
      let fired: StoreCall | undefined;
      const schedule: FaultSchedule = (call) => {
        if (call.n !== at) return undefined;
        fired = call;
        return fault;
      };
      const { outcomes, caller, entries } = await live(
        newPlace,
        schedule,
        fault.kind !== 'fails_after',
      );
      expect({ at, fired: fired !== undefined }).toEqual({ at, fired: true });
      expect({ at, outcomes }).toEqual({ at, outcomes: honest.outcomes });
      expect(settled(entries)).toEqual(settled(honest.entries));
      expect(entries).toHaveLength(honest.entries.length);
      if (isLate) expect(caller.failures).toBe(0);
      doubts += caller.doubts.length;
    }
    const isDoubtful = fault.kind === 'lost' || fault.kind === 'torn';
    if (isDoubtful) expect(doubts).toBeGreaterThan(hasUsualCases() ? 10 : 0);
  });
});

test('with several random faults: a seed repeats its run, and all checks hold', async () => {
  const total = { failures: 0, reopened: 0, doubts: 0, written: 0 };
  const honest = await live(STORES['memory']!, () => undefined);
  for (let seed = 1; seed <= cases(200); seed += 1) {
    const faults = FAULTS.filter(({ kind }) => kind !== 'fails_after');
    const schedule = (): FaultSchedule => seededFaults({ seed, perMille: 80, faults });
    const newPlace = STORES[seed % 4 === 0 ? 'sqlite' : 'memory']!;
    const { outcomes, caller, calls, entries } = await live(newPlace, schedule());
    expect({ seed, outcomes }).toEqual({ seed, outcomes: honest.outcomes });
    expect(settled(entries)).toEqual(settled(honest.entries));
    if (seed % 20 === 1) {
      const again = await live(newPlace, schedule());
      expect(again.calls.map(({ operation }) => operation)).toEqual(
        calls.map(({ operation }) => operation),
      );
      expect(again.entries).toEqual(entries);
    }
    total.failures += caller.failures;
    total.reopened += caller.reopened;
    total.doubts += caller.doubts.length;
    total.written += caller.doubts.filter(({ written }) => written).length;
  }
  expect(Math.min(...Object.values(total))).toBeGreaterThan(0);
});
