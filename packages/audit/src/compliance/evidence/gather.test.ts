import {
  type EntryRow,
  integrateLog,
  type LedgerStore,
  type LogStore,
  logHead,
  readRow,
} from 'assize/internal/ledger';
import { WritHolders } from 'assize/internal/runtime';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../../tests/support/cases.ts';
import { bundleLedgers } from '../../../../../tests/support/ledger/bundle-ledgers.ts';
import {
  type NaiveScope,
  naiveEvidence,
} from '../../../../../tests/support/ledger/naive-evidence.ts';
import { schedulesOf } from '../../../../../tests/support/models/treasury/schedule.ts';
import { play } from '../../../../../tests/support/models/treasury/stage.ts';
import { someOf } from '../../../../../tests/support/some-of.ts';
import { gatherEvidence } from './gather.ts';
import { EXAMPLES_MAX } from './tally.ts';

const LEDGERS = await bundleLedgers();
const met = new Set<string>();
/** Other figures have their cases in `report.test.ts`. */
const MET = [
  ...[
    'entries',
    'signed',
    'unsigned',
    'roots',
    'branches',
    'commits',
    'delegations',
    'key_changes',
    'upgrades',
  ],
  ...[
    'approvals',
    'amendments',
    'approved_by_several',
    'overrides_without_reason',
    'halts',
    'resumes',
    'revocations',
  ],
  ...['with_effects', 'accepted', 'in_doubt', 'operator_decisions', 'erasures'],
  ...[
    'escalated:invariant_escalated',
    'escalated:writ_requires_approval',
    'refused:counselor_rejected',
  ],
  ...[
    'refused:expired',
    'refused:invalid_authority',
    'refused:invariant_rejected',
    'refused:effect_failed',
  ],
];

async function rowsOf(store: LogStore): Promise<EntryRow[]> {
  return store.logged(0, await integrateLog(store));
}

/** The holders of each writ that an entry names, and of the writs above it. */
async function holdersIn(
  store: LedgerStore,
  rows: readonly EntryRow[],
): Promise<Map<string, string[]>> {
  const writs = new WritHolders(store);
  const holders = new Map<string, string[]>();
  for (const { payload } of rows.map(readRow)) {
    if (payload.kind === 'root' || payload.kind === 'branch') writs.learn(payload.writs);
    if (payload.kind === 'delegation') writs.learn([payload.writ]);
    if (payload.kind !== 'pending_approval') continue;
    const { writ_id } = payload.proposal;
    const chain = await writs.chainOf(writ_id);
    holders.set(
      writ_id,
      chain.flatMap(({ principal }) => (principal === undefined ? [] : [principal])),
    );
  }
  return holders;
}

/** Compares the counts, the examples and the standing at the end with those of a naive walk. */
async function expectSame(store: LedgerStore & LogStore, scope: NaiveScope): Promise<void> {
  const rows = await rowsOf(store);
  const holders = await holdersIn(store, rows);
  const naive = naiveEvidence(rows, scope, (writ) => holders.get(writ) ?? []);
  const { collected, size, root } = await gatherEvidence(store, scope);
  const { tallies, deciders, domains, decisions, halted } = collected;
  for (const [name, ids] of Object.entries(naive.figures)) {
    const { count, examples } = tallies.of(name as never);
    expect([name, count]).toEqual([name, ids.length]);
    expect(examples.map(({ id }) => id)).toEqual(ids.slice(0, EXAMPLES_MAX));
    if (count > 0) met.add(name);
  }
  expect(Object.fromEntries(deciders)).toEqual(naive.deciders);
  expect([...domains].sort()).toEqual(naive.domains);
  expect(new Set(decisions.waiting().map(({ example }) => example.id))).toEqual(
    new Set(naive.waiting),
  );
  expect([...halted.keys()].sort()).toEqual([...naive.halted].sort());
  const { times } = naive;
  expect(decisions.times()).toEqual(
    times.length === 0
      ? undefined
      : { median: times[Math.ceil(times.length / 2) - 1], longest: times.at(-1) },
  );
  const head = await logHead(store);
  expect([size, root]).toEqual([head.size, Buffer.from(head.root).toString('hex')]);
}

describe('the figures of a report', () => {
  test.each(someOf(LEDGERS))('equal a naive count, for a ledger with $name', async ({ make }) => {
    const store = await make();
    const times = (await rowsOf(store)).map((row) => readRow(row).payload.at).sort();
    const [first, middle] = [times[0]!, times[times.length >> 1]!];
    const { trajectory_id } = (await store.trajectories())[0]!;
    for (const scope of [
      {},
      { since: middle },
      { until: middle },
      { trajectories: [trajectory_id] },
    ])
      await expectSame(store, scope);
    await expectSame(store, { since: first, until: middle, trajectories: [trajectory_id] });
  });

  test('equal a naive count, in any history and period', async () => {
    await fc.assert(
      fc.asyncProperty(schedulesOf(16), fc.nat(), fc.nat(), async (schedule, one, other) => {
        const { store } = await play(schedule);
        const rows = await rowsOf(store);
        const at = (n: number): string => readRow(rows[n % rows.length]!).payload.at;
        const [since, until] = [at(one), at(other)].sort() as [string, string];
        await expectSame(store, {});
        await expectSame(store, { since, until });
      }),
      { numRuns: cases(200) },
    );
  }, 60_000);

  test('are met by the ledgers of the whole suite', () => {
    if (someOf(LEDGERS).length < LEDGERS.length) return;
    expect([...met].sort()).toEqual(expect.arrayContaining(MET));
  });
});
