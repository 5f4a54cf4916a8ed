import { expect } from 'vitest';
import { type KnownTransaction, readTransaction } from '#effects';
import {
  type AbandonedArgs,
  type Amounts,
  type EffectStore,
  isAbandonment,
  isEffectPending,
  isSettlement,
  type LedgerStore,
  pendingEffectOf,
  Replayer,
  readRow,
} from '#ledger';
import { type UnresolvedEffect, verifyStore } from '#runtime';
import { allEntries } from '../ledger/desk.ts';

type Store = LedgerStore & EffectStore;

/** More transactions than most tests here begin. */
const EPOCHS = 40;
const RULED = ['rejected'];

/**
 * Whether a ledger records exactly the effects of the effect log. Effects that its commits name are
 * settled once, and pending effects are submitted once. Effects compensated without a ruling have
 * one entry. Call this when everything that can be resolved is resolved.
 */
export async function expectEffectLogMatches(
  store: Store,
  trajectoryId: string,
  left: readonly Pick<UnresolvedEffect, 'epoch' | 'key'>[],
  epochs: number = EPOCHS,
): Promise<void> {
  for (const { fault } of await verifyStore(store)) expect(fault).toBeUndefined();
  const entries = (await allEntries(store, trajectoryId)).map((row) => ({
    id: row.id,
    payload: readRow(row).payload,
  }));
  const settled: string[] = [];
  const abandoned: AbandonedArgs[] = [];
  const discarded: string[] = [];
  for (const { payload } of entries) {
    if (isSettlement(payload)) {
      for (const { commit, effects } of payload.action.args.settled)
        for (const { id, outcome, absent, cost } of effects)
          settled.push(`${commit} ${id} ${absent === true ? 'dropped' : outcome}${said(cost)}`);
      for (const { id, cost } of payload.action.args.discarded ?? [])
        discarded.push(`${id}${said(cost)}`);
    }
    if (isAbandonment(payload) && payload.kind === 'rejection')
      abandoned.push(payload.intent.args as unknown as AbandonedArgs);
  }
  const { chain } = await new Replayer(store).replay(trajectoryId);
  const waiting = [...chain.open.values()]
    .filter(isEffectPending)
    .map((pending) => pendingEffectOf(pending));
  const transactions = await transactionsOf(store, trajectoryId, epochs);

  expect(waiting.map(({ id }) => id).sort()).toEqual(left.map(({ key }) => key).sort());
  for (const { epoch, n, id, commit } of waiting) {
    const known = transactions.find((each) => each.epoch === epoch);
    expect(known?.effects[n]?.key).toBe(id);
    expect(commit === undefined || commit === known?.entry).toBe(true);
  }
  expect(settled.sort()).toEqual(entries.flatMap((entry) => wantedOf(entry, transactions)).sort());
  expect(abandoned.sort((a, b) => a.epoch - b.epoch)).toEqual(transactions.flatMap(abandonedOf));
  expect(discarded.sort()).toEqual(transactions.flatMap(discardedOf).sort());
  // The open transactions are those with unresolved effects, and no others.
  expect(transactions.filter(isAtWork).map(({ epoch }) => epoch)).toEqual(
    [...new Set(left.map(({ epoch }) => epoch))].sort((a, b) => a - b),
  );
  const open = (await store.openEffects()).filter(
    (logged) => logged.trajectory_id === trajectoryId,
  );
  expect(open.map(({ epoch }) => epoch)).toEqual(
    transactions.filter(isAtWork).map((each) => each.epoch),
  );
}

async function transactionsOf(
  store: Store,
  trajectoryId: string,
  epochs: number,
): Promise<KnownTransaction[]> {
  const logged = await Promise.all(
    Array.from({ length: epochs }, (_, i) => store.effectsOf(i + 1)),
  );
  return logged
    .filter((each) => each !== undefined)
    .filter((each) => each.trajectory_id === trajectoryId)
    .map(readTransaction);
}

function isAtWork({ state }: KnownTransaction): boolean {
  return state.phase !== 'settled' && state.phase !== 'aborted';
}

/**
 * The outcomes that a commit's effects must be settled with, from the log of the transaction: those
 * that are final.
 */
function wantedOf(
  { id: commit, payload }: { id: string; payload: ReturnType<typeof readRow>['payload'] },
  transactions: readonly KnownTransaction[],
): string[] {
  if (payload.kind !== 'commit') return [];
  return payload.delta.effects.flatMap(({ id }) => {
    const known = transactions.find(({ entry }) => entry === commit);
    const n = known?.effects.findIndex(({ key }) => key === id) ?? -1;
    const phase = known?.state.effects[n]?.phase as string;
    const as = known?.effects[n]?.resolved?.as;
    const isOpen = as === 'applied' && known?.state.hasOnFailure === true;
    const isDecided = as !== undefined && as !== 'retry' && !isOpen;
    const hasEnded = known !== undefined && (!isAtWork(known) || isDecided);
    return hasEnded && ['applied', 'undone', 'dropped', 'accepted'].includes(phase)
      ? [`${commit} ${id} ${phase}${said(costOf(known, n))}`]
      : [];
  });
}

function abandonedOf(known: KnownTransaction): AbandonedArgs[] {
  const { epoch, state, effects, cause = '' } = known;
  const acted = effects.flatMap(({ key, tool }, n) => {
    const { phase } = state.effects[n]!;
    const cost = costOf(known, n);
    return phase === 'undone' || phase === 'accepted'
      ? [{ id: key, outcome: phase, tool, ...(cost === undefined ? {} : { cost }) } as const]
      : [];
  });
  const isTold = !RULED.includes(cause) || acted.some(({ cost }) => cost !== undefined);
  return state.phase === 'aborted' && acted.length > 0 && isTold
    ? [{ cause, effects: acted, epoch }]
    : [];
}

/** The compensated effects of branches that were not chosen, if they had a cost. */
function discardedOf(known: KnownTransaction): string[] {
  if (known.state.phase !== 'settled') return [];
  return known.effects.flatMap(({ key }, n) => {
    const cost = known.state.effects[n]!.isDiscarded ? costOf(known, n) : undefined;
    return cost === undefined ? [] : [`${key}${said(cost)}`];
  });
}

function costOf({ state, effects }: KnownTransaction, n: number): Amounts | undefined {
  return state.effects[n]?.isCompensated ? effects[n]?.undo_cost : undefined;
}

function said(cost: Amounts | undefined): string {
  return cost === undefined ? '' : ` at ${JSON.stringify(cost)}`;
}
