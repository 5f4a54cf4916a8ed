/** Ledgers with the outcomes of effects, honest and forged, with the faults of each. */

import { MemoryStore } from '@assize/testing/memory';
import { contentHash, hashText } from '#canon';
import { type BlobRow, type EntryRow, entryRow, type Payload } from '#ledger';
import type { Transaction } from '#runtime';
import { type Fault, OutsideSink, Steps, tally, toolFor } from '../tools/effect-sink.ts';
import { attended } from '../tools/ledger-with-effects.ts';
import { orders } from '../tools/orders.ts';
import { allEntries } from './desk.ts';
import { operatorWrit, runtimeOver, writFor } from './runtime.ts';

export interface SettlementCase {
  readonly name: string;
  /** Trajectory, seq and code of each fault; none for a ledger that is valid. */
  readonly faults: readonly string[];
  make(): Promise<MemoryStore>;
}

type Change = (payload: Record<string, any>, before: readonly EntryRow[]) => unknown;

/** Positions in the honest ledger. The last is a commit with an unresolved effect. */
const AT = {
  commit: 1,
  waits: 2,
  decided: 3,
  settled: 4,
  abandoned: 5,
  inDoubt: 6,
  found: 7,
  undone: 8,
  last: 9,
};
const FOUND = { by: 'ops', writ: operatorWrit(), evidence: 'seen at the sink' };

/**
 * A commit with two effects: one is in doubt and then resolved, the other is settled. An attempt
 * that executed its effect and threw. An attempt with an unknown outcome until an operator checks
 * it. A commit with an outcome that is still unknown.
 */
export async function honestSettlements(): Promise<{
  rows: EntryRow[];
  blobs: BlobRow[];
  store: MemoryStore;
}> {
  const store = new MemoryStore();
  const faults: Record<string, Fault> = { b: 'lose', d: 'lose', e: 'lose' };
  const outside = {
    sink: new OutsideSink('blind'),
    steps: new Steps(),
    fault: (_: unknown, what: string) => faults[what] ?? 'none',
  };
  const tools = [
    toolFor(outside, 'irreversible', 'buffered'),
    toolFor(outside, 'reversible', 'externalised'),
  ];
  const assize = runtimeOver(store, [tally], { tools });
  const writ = writFor('alice');
  const trajectory = await assize.create(tally, { trajectoryId: 't', writs: [writ] });
  const transact = async (
    tool: string,
    what: readonly string[],
    isThrown = false,
  ): Promise<void> => {
    const done = trajectory.transaction({ writ, writes: ['test:**'], retries: 0 }, async (tx) => {
      for (const each of what) await tx.call(tool, { what: each });
      if (isThrown) throw new Error('the model says: no');
      tx.propose({ action: 'count', role: 'counter', args: what[0] as string });
    });
    await done.catch(() => undefined);
  };
  await transact('irreversible.buffered', ['a', 'b']);
  await assize.resolveEffect({ ...FOUND, epoch: 1, n: 1, as: 'residue' });
  await transact('reversible.externalised', ['c'], true);
  await transact('reversible.externalised', ['d']);
  await assize.resolveEffect({ ...FOUND, epoch: 3, n: 0, as: 'undone' });
  await transact('irreversible.buffered', ['e']);
  await assize.close();
  return { ...(await writtenIn(store)), store };
}

/** Where what stands in the one with costs. */
const COST = { thrown: 1, rejected: 2, undone: 3, commit: 4, settled: 5 };

/**
 * An attempt that threw, a rejected attempt, and a commit with a branch that was not chosen. Each
 * compensation has a cost.
 */
async function honestCosts(): Promise<{ rows: EntryRow[]; blobs: BlobRow[]; store: MemoryStore }> {
  const store = new MemoryStore();
  const outside = { sink: new OutsideSink('keyed'), steps: new Steps(), undoCost: { usd: 3 } };
  const assize = runtimeOver(store, [tally], {
    tools: [toolFor(outside, 'with_cost', 'externalised')],
  });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  // No root entry has the writ: it is recorded with the compensation under it.
  const writ = writFor('alice', { trajectory: 't', budget: { usd: 20 } });
  const transact = (
    body: (act: (what: string) => Promise<unknown>, tx: Transaction) => Promise<unknown>,
    args: string,
  ) =>
    trajectory
      .transaction({ writ, writes: ['test:**'], retries: 0 }, async (tx) => {
        await body((what) => tx.call('with_cost.externalised', { what }), tx);
        tx.propose({ action: 'count', role: 'counter', args });
      })
      .catch(() => undefined);
  await transact((act) => act('a').then(() => Promise.reject(new Error('no'))), 'a');
  await transact((act) => act('b'), 'forbidden');
  const branch = (what: string) => (tx: Transaction) => tx.call('with_cost.externalised', { what });
  await transact((_, tx) => tx.speculate([branch('c'), branch('d')], () => 0), 'c');
  await assize.close();
  return { ...(await writtenIn(store)), store };
}

/** Where what stands in the honest one with a pivot. */
const PIVOT_AT = { waits: 1, settled: 3 };

/** A pivot: submitted, approved, called and settled with its answer, next to a buffered effect. */
async function honestPivot(): Promise<{ rows: EntryRow[]; blobs: BlobRow[]; store: MemoryStore }> {
  const store = new MemoryStore();
  const outside = { sink: new OutsideSink('keyed'), steps: new Steps() };
  const tools = [
    toolFor(outside, 'irreversible', 'externalised'),
    toolFor(outside, 'reversible', 'buffered'),
  ];
  const assize = runtimeOver(store, [attended], { tools });
  const writ = writFor('alice');
  const trajectory = await assize.create(attended, { trajectoryId: 't', writs: [writ] });
  const { ruling } = await trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
    await tx.call('irreversible.externalised', { what: 'pivot' });
    await tx.call('reversible.buffered', { what: 'held' });
    tx.propose({ action: 'count', role: 'counter', args: 'order' });
  });
  if (ruling.ruling !== 'escalated') throw new Error(`it was ${ruling.ruling}`);
  await trajectory.approvals.approve(ruling.pending, { principal: 'doc', method: 'test' });
  await assize.close();
  return { ...(await writtenIn(store)), store };
}

async function writtenIn(store: MemoryStore): Promise<{ rows: EntryRow[]; blobs: BlobRow[] }> {
  const rows = await allEntries(store, 't');
  const blobs: BlobRow[] = [];
  for (const [, hash] of rows
    .map(({ payload }) => payload)
    .join()
    .matchAll(/"(?:\$blob|writ_id)":"([0-9a-f]{64})"/g)) {
    const text = await store.blob(hash as string);
    if (text !== undefined && !blobs.some((blob) => blob.hash === hash))
      blobs.push({ hash: hash as string, text });
  }
  return { rows, blobs };
}

/**
 * An order that failed permanently after its commit. The effect in doubt is found applied, and is
 * compensated. The proposal of its `onFailure` is then refused, and waived.
 */
async function failedSettlements(): Promise<MemoryStore> {
  const store = new MemoryStore();
  const faults: Record<string, Fault> = { lost: 'lose', refused: 'fail_for_good' };
  const fault = (of: unknown, what: string): Fault =>
    of === 'do' ? (faults[what] ?? 'none') : 'none';
  const outside = { sink: new OutsideSink('blind'), steps: new Steps(), fault };
  const assize = runtimeOver(store, [orders], {
    tools: [toolFor(outside, 'reversible', 'buffered')],
  });
  const trajectory = await assize.create(orders, { trajectoryId: 't' });
  for (const args of ['o1', 'bad'])
    await trajectory.transaction(
      { writ: writFor('alice'), writes: [`test:${args}`] },
      async (tx) => {
        for (const what of ['done', 'lost', 'refused'])
          await tx.call('reversible.buffered', { what, at: args });
        tx.propose({ action: 'order', role: 'counter', args });
      },
    );
  for (const epoch of [1, 2]) await assize.resolveEffect({ ...FOUND, epoch, n: 1, as: 'applied' });
  await assize.resolveEffect({ ...FOUND, epoch: 2, n: 2, as: 'undone' });
  await assize.close();
  return store;
}

/** The same with one payload changed, and new ids after it and in all that names one. */
function rewritten(rows: readonly EntryRow[], at: number, change: Change): EntryRow[] {
  const made: EntryRow[] = [];
  for (const row of rows) {
    const text = rows
      .slice(0, made.length)
      .reduce((said, { id }, i) => said.replaceAll(id, made[i]!.id), row.payload);
    const payload = JSON.parse(text);
    if (row.seq === at) change(payload, made);
    if (payload.kind === 'pending_approval') payload.digest = contentHash(payload.proposal);
    made.push(entryRow(payload as Payload, undefined));
  }
  return made;
}

async function storeOf(rows: readonly EntryRow[], blobs: readonly BlobRow[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  for (const row of rows) await store.commit({ entries: [row], blobs });
  return store;
}

/** The same of the one with costs. */
const dear = (name: string, at: number, code: string | undefined, change: Change): SettlementCase =>
  forged(name, at, code, unanswered(change), honestCosts);

/** Changes a settlement, without the answers of its effects: the cases with a pivot cover those. */
function unanswered(change: Change): Change {
  return (payload, before) => {
    const effects: Record<string, unknown>[] =
      payload['action']?.args.settled?.flatMap((each: any) => each.effects) ?? [];
    const ids = new Set(effects.filter(({ answered }) => answered === true).map(({ id }) => id));
    for (const effect of effects) delete effect['answered'];
    if (ids.size > 0)
      payload['observations'] = payload['observations'].filter(({ name }: any) => !ids.has(name));
    change(payload, before);
  };
}

/** The later entries are omitted: they may name entries that no longer exist. */
function forged(
  name: string,
  at: number,
  code: string | undefined,
  change: Change,
  honest: typeof honestSettlements = honestSettlements,
): SettlementCase {
  const make = async (): Promise<MemoryStore> => {
    const { rows, blobs } = await honest();
    return storeOf(rewritten(rows.slice(0, at + 1), at, change), blobs);
  };
  return { name, faults: code === undefined ? [] : [`t ${at} ${code}`], make };
}

/** Of an order that failed, one call never happened: where that is said. */
const ABSENT_AT = 7;

/** The same of such an order. */
function absentee(name: string, code: string | undefined, change: Change): SettlementCase {
  return forged(name, ABSENT_AT, code, change, async () => {
    const store = await failedSettlements();
    return { ...(await writtenIn(store)), store };
  });
}

/** The effect of a settlement that never happened. */
function absentIn(payload: Record<string, any>): Record<string, unknown> {
  return argsOf(payload)
    .settled.flatMap(({ effects }: any) => effects)
    .find(({ absent }: any) => absent === true);
}

/** The same of a ledger with a pivot. */
function forgedPivot(
  name: string,
  at: number,
  code: string | undefined,
  change: Change,
): SettlementCase {
  return forged(name, at, code, change, honestPivot);
}

/** One entry more, made of an earlier one. */
function again(name: string, of: number, code: string | undefined, change: Change): SettlementCase {
  const make = async (): Promise<MemoryStore> => {
    const { rows, blobs } = await honestSettlements();
    const last = rows.at(-1) as EntryRow;
    const commits = rows.filter(({ kind }) => kind === 'commit' || kind === 'root');
    const payload = JSON.parse(rows[of]!.payload);
    Object.assign(payload, { seq: rows.length, parent: last.id, at: JSON.parse(last.payload).at });
    if (payload.kind === 'commit') payload.parent_commit = commits.at(-1)?.id;
    change(payload, rows);
    if (payload.kind === 'pending_approval') {
      payload.head = last.id;
      payload.digest = contentHash(payload.proposal);
    }
    return storeOf([...rows, entryRow(payload as Payload, undefined)], blobs);
  };
  return { name, faults: code === undefined ? [] : [`t 11 ${code}`], make };
}

const argsOf = (payload: Record<string, any>) => payload['action'].args;
const OTHER = hashText('other');
const NOTHING: Change = () => undefined;
const MALFORMED = 'malformed';
const BROKEN = 'rule_broken';

/** The fields of a forged commit that approves or rejects a pending proposal. */
const COUNSEL = {
  counselor: { principal: 'ops', as: 'operator', method: 'test' },
  detection_vector: [],
};

export const settlementCases: readonly SettlementCase[] = [
  { name: 'as they are made', faults: [], make: async () => (await honestSettlements()).store },
  { name: 'of orders that failed', faults: [], make: failedSettlements },
  forged('rewritten as they were', AT.last, undefined, NOTHING),
  {
    name: 'with costs, as they are made',
    faults: [],
    make: async () => (await honestCosts()).store,
  },
  dear('with costs, rewritten as they were', COST.settled, undefined, NOTHING),

  forged(
    'an effect that no commit has named',
    AT.settled,
    BROKEN,
    unanswered((p) => {
      argsOf(p).settled[0].effects[0].id = OTHER;
    }),
  ),
  forged('an effect of an entry that is not a commit', AT.settled, BROKEN, (p) => {
    argsOf(p).settled[0].commit = OTHER;
  }),
  forged(
    'one effect twice together',
    AT.settled,
    BROKEN,
    unanswered((p) => argsOf(p).settled.push(argsOf(p).settled[0])),
  ),
  again('one effect once more', AT.settled, BROKEN, NOTHING),
  again(
    'one effect once more, with another outcome',
    AT.settled,
    BROKEN,
    unanswered((p) => {
      argsOf(p).settled[0].effects[0].outcome = 'undone';
    }),
  ),
  forged(
    'what was decided upon already',
    AT.settled,
    BROKEN,
    unanswered((p, before) => {
      argsOf(p).settled[0].effects[0].id = JSON.parse(
        before[AT.decided]!.payload,
      ).action.args.decided.id;
    }),
  ),
  forged('under another writ', AT.settled, BROKEN, (p) => {
    p['writ_id'] = OTHER;
  }),
  forged('nothing at all', AT.settled, MALFORMED, (p) => {
    argsOf(p).settled = [];
  }),
  forged('a commit without effects', AT.settled, MALFORMED, (p) => {
    argsOf(p).settled[0].effects = [];
  }),
  forged('an invalid outcome', AT.settled, MALFORMED, (p) => {
    argsOf(p).settled[0].effects[0].outcome = 'retry';
  }),
  forged('a member more', AT.settled, MALFORMED, (p) => {
    argsOf(p).settled[0].effects[0].note = 'x';
  }),
  forged('somebody who decided, without what they found', AT.settled, MALFORMED, (p) => {
    argsOf(p).settled[0].effects[0].by = 'ops';
  }),
  forged('as another role', AT.settled, MALFORMED, (p) => {
    p['action'].role = { name: 'counter', params: {} };
  }),
  forged('with a change', AT.settled, MALFORMED, (p) => {
    p['delta'].state = [{ op: 'add', path: '/done/x', value: 1 }];
  }),
  forged('with an effect of its own', AT.settled, MALFORMED, (p) => {
    p['delta'].effects = [{ id: OTHER, effect: 1 }];
  }),
  forged('at a cost', AT.settled, MALFORMED, (p) => {
    p['budget_cost'] = { usd: 1 };
  }),
  forged('by a counselor', AT.settled, MALFORMED, (p) => Object.assign(p, COUNSEL)),
  forged('with a key', AT.settled, MALFORMED, (p) => {
    p['key_hash'] = OTHER;
  }),
  forged('resolves what nobody decided', AT.settled, MALFORMED, (p, before) => {
    p['resolves'] = before[AT.waits]!.id;
  }),

  forged('a decision that resolves nothing', AT.decided, MALFORMED, (p) => {
    delete p['resolves'];
  }),
  forged('a decision on what does not wait', AT.decided, BROKEN, (p, before) => {
    p['resolves'] = before[AT.commit]!.id;
  }),
  again('a decision that was taken', AT.decided, BROKEN, NOTHING),
  forged('a decision on another effect', AT.decided, BROKEN, (p) => {
    argsOf(p).decided.id = OTHER;
    argsOf(p).settled = [];
    p['observations'][0].name = OTHER;
  }),
  forged('a decision under the token of another maker', AT.decided, undefined, (p) => {
    argsOf(p).decided.token_by = ['ann'];
  }),
  forged('a decision whose maker of a token is a number', AT.decided, MALFORMED, (p) => {
    argsOf(p).decided.token_by = [1];
  }),
  forged('a decision that settles nothing', AT.decided, BROKEN, (p) => {
    argsOf(p).settled = [];
  }),
  forged('a decision that it is there, to be undone', AT.decided, undefined, (p) => {
    argsOf(p).decided.as = 'applied';
    argsOf(p).settled = [];
  }),
  forged('a decision that it is not there, and settles nothing', AT.decided, BROKEN, (p) => {
    argsOf(p).decided.as = 'undone';
    argsOf(p).settled = [];
  }),
  forged('a decision that settles otherwise', AT.decided, MALFORMED, (p) => {
    argsOf(p).settled[0].effects[0].outcome = 'applied';
  }),
  forged('a decision to try again that settles', AT.decided, MALFORMED, (p) => {
    argsOf(p).decided.as = 'retry';
  }),
  forged('a decision to try again', AT.decided, undefined, (p) => {
    argsOf(p).decided.as = 'retry';
    argsOf(p).settled = [];
  }),
  forged('a decision without evidence', AT.decided, MALFORMED, (p) => {
    p['observations'] = [];
  }),
  forged('a decision with evidence that anybody can try out', AT.decided, MALFORMED, (p) => {
    p['observations'][0].value = 'seen at the sink';
  }),
  forged('a decision for another proposal', AT.decided, BROKEN, (p) => {
    p['proposal_id'] = OTHER;
  }),
  forged('a decision for a commit that did not name it', AT.found, BROKEN, (p, before) => {
    argsOf(p).settled = [
      { commit: before[AT.commit]!.id, effects: [{ id: argsOf(p).decided.id, outcome: 'undone' }] },
    ];
  }),
  forged('an approval of an effect', AT.decided, MALFORMED, (p) => {
    delete argsOf(p).decided;
    Object.assign(p, COUNSEL);
  }),

  forged('a pending about nothing', AT.waits, MALFORMED, (p) => {
    p['proposal'].delta.effects = [];
  }),
  forged('a pending about what anybody can try out', AT.waits, MALFORMED, (p) => {
    p['proposal'].delta.effects[0].effect = 'x';
  }),
  forged('a pending that freezes the world', AT.waits, MALFORMED, (p) => {
    p['freezes'] = 'world';
  }),
  forged('a pending that expires', AT.waits, MALFORMED, (p) => {
    p['expires'] = '2027-01-01T00:00:00.000000Z';
  }),
  forged('a pending for two people', AT.waits, MALFORMED, (p) => {
    p['approvals'] = 2;
  }),
  forged('a pending for a counselor', AT.waits, MALFORMED, (p) => {
    p['channel'] = 'any';
  }),
  forged('a pending with a change', AT.waits, MALFORMED, (p) => {
    p['proposal'].delta.state = [{ op: 'add', path: '/done/x', value: 1 }];
  }),
  forged('a pending that a rule is to have asked for', AT.waits, MALFORMED, (p) => {
    p['reason'] = 'invariant_escalated';
  }),
  forged('a pending of another action', AT.waits, MALFORMED, (p) => {
    p['proposal'].action.name = 'count';
  }),
  forged('a pending about an effect that no commit has named', AT.waits, BROKEN, (p) => {
    p['proposal'].delta.effects[0].id = OTHER;
  }),
  forged('a pending about an effect of an entry that is not a commit', AT.waits, BROKEN, (p) => {
    p['proposal'].action.args.commit = OTHER;
  }),
  forged('a pending under another writ', AT.waits, BROKEN, (p) => {
    p['proposal'].writ_id = OTHER;
  }),
  again('a pending about what is settled', AT.waits, BROKEN, NOTHING),
  again('a pending about what waits already', AT.last + 1, BROKEN, NOTHING),
  again('a pending about another attempt', AT.inDoubt, undefined, NOTHING),
  again('a rejection of what waits, by who would decide', AT.abandoned, BROKEN, (p, before) => {
    const { id, payload } = before[AT.last + 1]!;
    const { proposal } = JSON.parse(payload);
    const { action, observations, proposal_id, writ_id } = proposal;
    Object.assign(p, {
      detail: 'no',
      proposal_id,
      writ_id,
      intent: { action: action.name, role: action.role, args: action.args, observations },
      reason: 'counselor_rejected',
      counselor: COUNSEL.counselor,
      resolves: id,
    });
  }),

  { name: 'a pivot as it is made', faults: [], make: async () => (await honestPivot()).store },
  forgedPivot('a pivot rewritten as it was', PIVOT_AT.settled, undefined, NOTHING),
  forgedPivot('an answer marked as not an answer', PIVOT_AT.settled, MALFORMED, (p) => {
    argsOf(p).settled[0].effects[0].answered = false;
  }),
  forgedPivot('an answer that is not there', PIVOT_AT.settled, MALFORMED, (p) => {
    p['observations'] = [];
  }),
  forgedPivot('an answer that nothing says to be one', PIVOT_AT.settled, MALFORMED, (p) => {
    delete argsOf(p).settled[0].effects[0].answered;
  }),
  forgedPivot('an answer of another effect', PIVOT_AT.settled, MALFORMED, (p) => {
    p['observations'][0].name = argsOf(p).settled[0].effects[1].id;
  }),
  forgedPivot('an answer that anybody can try out', PIVOT_AT.settled, MALFORMED, (p) => {
    p['observations'][0].value = { did: 'pivot' };
  }),
  forgedPivot('an answer of what was undone', PIVOT_AT.settled, MALFORMED, (p) => {
    argsOf(p).settled[0].effects[0].outcome = 'undone';
  }),
  forgedPivot('an answer of what somebody decided', PIVOT_AT.settled, MALFORMED, (p) => {
    argsOf(p).settled[0].effects[0].by = 'ops';
  }),
  forgedPivot(
    'something that can’t be undone, of a proposal without effects',
    PIVOT_AT.waits,
    BROKEN,
    (p) => {
      p['proposal'].delta.effects = [];
    },
  ),
  forgedPivot(
    'something that can’t be undone, for another reason',
    PIVOT_AT.waits,
    MALFORMED,
    (p) => {
      p['reason'] = 'final';
    },
  ),
  absentee('what never happened, rewritten as it was', undefined, NOTHING),
  absentee('what never happened, and is not said to be so', undefined, (p) => {
    delete absentIn(p).absent;
  }),
  absentee('an absence marked as not absent', MALFORMED, (p) => {
    absentIn(p).absent = false;
  }),
  absentee('what never happened, and was applied', MALFORMED, (p) => {
    absentIn(p).outcome = 'applied';
  }),
  absentee('what never happened, and is let be', MALFORMED, (p) => {
    absentIn(p).outcome = 'accepted';
  }),
  absentee('what never happened, and has cost something to undo', MALFORMED, (p) => {
    absentIn(p).cost = { usd: 3 };
  }),
  absentee('what never happened, as somebody has decided', MALFORMED, (p) => {
    absentIn(p).by = 'ops';
  }),
  forged('a decision about what never happened', AT.decided, MALFORMED, (p) => {
    Object.assign(argsOf(p).settled[0].effects[0], { absent: true, outcome: 'undone' });
    argsOf(p).decided.as = 'undone';
  }),
  forged('a decision that has an answer too', AT.decided, MALFORMED, (p) => {
    argsOf(p).settled[0].effects[0].outcome = 'applied';
    argsOf(p).settled[0].effects[0].answered = true;
    argsOf(p).decided.as = 'applied';
  }),

  forged('an attempt that did nothing', AT.abandoned, MALFORMED, (p) => {
    p['intent'].args.effects = [];
    p['intent'].observations = [];
  }),
  forged('an attempt that does not say what it did', AT.abandoned, MALFORMED, (p) => {
    p['intent'].observations = [];
  }),
  forged('an attempt with a sentence for a cause', AT.abandoned, MALFORMED, (p) => {
    p['intent'].args.cause = p['detail'] = 'The model says: no';
  }),
  forged('an attempt that says two causes', AT.abandoned, MALFORMED, (p) => {
    p['detail'] = 'deadline';
  }),
  forged('an attempt that was proposed', AT.abandoned, MALFORMED, (p) => {
    p['proposal_id'] = OTHER;
  }),
  forged('an attempt whose effect stands', AT.abandoned, MALFORMED, (p) => {
    p['intent'].args.effects[0].outcome = 'applied';
  }),

  dear('a cost of what is let be', COST.thrown, MALFORMED, (p) => {
    p['intent'].args.effects[0].outcome = 'accepted';
  }),
  dear('an invalid cost', COST.thrown, MALFORMED, (p) => {
    p['intent'].args.effects[0].cost = { usd: -1 };
  }),
  dear('a cost of a rejected attempt that is not amounts', COST.undone, MALFORMED, (p) => {
    p['intent'].args.effects[0].cost = [3];
  }),
  dear('a cost under no writ', COST.thrown, MALFORMED, (p) => {
    delete p['writ_id'];
  }),
  dear('a cost under a writ that nobody has', COST.thrown, 'writ_missing', (p) => {
    p['writ_id'] = OTHER;
  }),
  dear('no cost under a writ that nobody has', COST.thrown, undefined, (p) => {
    delete p['intent'].args.effects[0].cost;
    p['writ_id'] = OTHER;
  }),
  dear('a cost beyond the budget', COST.undone, undefined, (p) => {
    p['intent'].args.effects[0].cost = { usd: 1_000_000, eur: 1 };
  }),
  dear('a cost of what was applied', COST.settled, MALFORMED, (p) => {
    argsOf(p).settled[0].effects[0].cost = { usd: 3 };
  }),
  dear('a cost of what was undone', COST.settled, undefined, (p) => {
    Object.assign(argsOf(p).settled[0].effects[0], { outcome: 'undone', cost: { usd: 3 } });
  }),
  dear('of other branches nothing, in a list', COST.settled, MALFORMED, (p) => {
    argsOf(p).discarded = [];
  }),
  dear('of another branch what has cost nothing', COST.settled, MALFORMED, (p) => {
    delete argsOf(p).discarded[0].cost;
  }),
  dear('of another branch alone', COST.settled, undefined, (p) => {
    argsOf(p).settled = [];
  }),
  dear(
    'of another branch alone, under a writ that nobody has',
    COST.settled,
    'writ_missing',
    (p) => {
      argsOf(p).settled = [];
      p['writ_id'] = OTHER;
    },
  ),
  forged('a cost with a decision about something else', AT.decided, MALFORMED, (p) => {
    argsOf(p).discarded = [{ id: OTHER, cost: { usd: 3 } }];
  }),
  forged('a cost of what was decided to be not there', AT.decided, undefined, (p) => {
    argsOf(p).decided.as = 'undone';
    Object.assign(argsOf(p).settled[0].effects[0], { outcome: 'undone', cost: { usd: 3 } });
  }),
];
