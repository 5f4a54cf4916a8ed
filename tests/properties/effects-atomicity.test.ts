import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Delivery, isPivot, type Reversibility, readTransaction, type Sink } from '#effects';
import { defineDomain } from '#kernel';
import { seededRandom } from '#oracle';
import type { Assize, Transaction, UnresolvedEffect } from '#runtime';
import { cases, hasUsualCases } from '../support/cases.ts';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { expect as quickly } from '../support/quick-expect.ts';
import { type Fault, OutsideSink, Steps, storeOf, toolFor } from '../support/tools/effect-sink.ts';
import { orders } from '../support/tools/orders.ts';

// Random tool transactions, with tools of every class and random failures, with or without a crash.
// All effects of a transaction stand, or none, except those that need a human decision. The test
// judges from the sink's own log. If an action has `onFailure`, this also holds after its commit. A
// permanent failure then reverts all other effects, unless one of them cannot be reverted.

const SORTS: readonly Sink[] = ['keyed', 'queryable', 'blind'];
const CELLS = (['reversible', 'with_cost', 'irreversible'] as const).flatMap((reversibility) =>
  (['externalised', 'buffered'] as const).map((delivery) => ({ reversibility, delivery })),
);

interface DrawnCall {
  readonly reversibility: Reversibility;
  readonly delivery: Delivery;
  readonly at: string;
  /** How its first calls go, and those that undo it; well from then on. */
  readonly does: readonly Fault[];
  readonly undoes: readonly Fault[];
  /** Whether the body goes on where it did nothing. */
  readonly mayFail: boolean;
}

interface DrawnTransaction {
  readonly calls: readonly DrawnCall[];
  /** Calls of two branches, after the others. One branch is chosen. */
  readonly branches: readonly [readonly DrawnCall[], readonly DrawnCall[]] | undefined;
  readonly ends: 'commit' | 'throw' | 'reject';
  /** Its action says what is committed where one of its effects fails for good. */
  readonly hasOnFailure: boolean;
}

const fault = fc.constantFrom<Fault>(
  'none',
  'none',
  'fail',
  'fail_for_good',
  'lose',
  'lose_before',
);
const call: fc.Arbitrary<DrawnCall> = fc
  .record({
    cell: fc.constantFrom(...CELLS),
    at: fc.constantFrom('r', 's'),
    does: fc.array(fault, { maxLength: 3 }),
    undoes: fc.array(fault, { maxLength: 3 }),
    mayFail: fc.boolean(),
  })
  .map(({ cell, ...rest }) => ({ ...cell, ...rest }));
const calls = fc.array(call, { maxLength: 3 });
const transaction: fc.Arbitrary<DrawnTransaction> = fc.record({
  calls,
  branches: fc.option(fc.tuple(calls, calls), { nil: undefined, freq: 2 }),
  ends: fc.constantFrom('commit', 'commit', 'throw', 'reject'),
  hasOnFailure: fc.boolean(),
});

/** The identity of each call at the sink: its transaction, its call, and its faults. */
class Plan {
  readonly calls = new Map<string, DrawnCall>();
  readonly #faults = new Map<string, Fault[]>();

  constructor(transactions: readonly DrawnTransaction[]) {
    for (const [i, { calls: own, branches = [] }] of transactions.entries())
      for (const [part, list] of [own, ...branches].entries())
        for (const [n, each] of list.entries()) {
          const what = nameOf(i, part, n);
          this.calls.set(what, each);
          this.#faults.set(`do ${what}`, [...each.does]);
          this.#faults.set(`undo ${what}`, [...each.undoes]);
        }
  }

  fault = (of: 'do' | 'undo' | 'ask', what: string): Fault =>
    this.#faults.get(`${of} ${what}`)?.shift() ?? 'none';
}

function nameOf(transaction: number, part: number, n: number): string {
  return `${transaction}/${part}/${n}`;
}

function isHeld({ reversibility, delivery }: DrawnCall): boolean {
  return delivery === 'buffered' || reversibility === 'irreversible';
}

/** Notes how far the sink's log was when a transaction was committed. */
class CommitNotingStore extends MemoryStore {
  readonly committedAt = new Map<number, number>();
  /** The failed transactions with a committed `onFailure` action. */
  readonly answered: number[] = [];
  readonly #sink: OutsideSink;

  constructor(sink: OutsideSink) {
    super();
    this.#sink = sink;
  }

  override async commit(batch: Parameters<MemoryStore['commit']>[0]) {
    const result = await super.commit(batch);
    if (result.status === 'committed')
      for (const { kind, payload } of batch.entries) {
        const [, isAnswer, i] = /"args":"(no )?(\d+)"/.exec(payload) ?? [];
        if (kind !== 'commit' || i === undefined) continue;
        if (isAnswer !== undefined) this.answered.push(Number(i));
        else this.committedAt.set(Number(i), this.#sink.log.length);
      }
    return result;
  }
}

/** A domain in which a pending approval blocks nothing else. */
const attended = defineDomain<any, any>({ ...(orders.declared as any), freeze: 'footprint' });

describe.each(SORTS)('with a %s sink', (sort) => {
  test('all effects of a transaction stand or none, at any step, fault and end', async () => {
    const seen = { committed: 0, undone: 0, left: 0, died: 0, asked: 0, failed: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(transaction, { minLength: 1, maxLength: 3 }),
        fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined, freq: 3 }),
        async (transactions, endAt) => {
          const sink = new OutsideSink(sort);
          const store = new CommitNotingStore(sink);
          const plan = new Plan(transactions);
          await runtimeOver(store, [attended]).create(attended, { trajectoryId: 't' });
          const processOf = (steps: Steps, name: string) => {
            const outside = { sink, steps, fault: plan.fault };
            const tools = CELLS.map(({ reversibility, delivery }) =>
              toolFor(outside, reversibility, delivery),
            );
            const random = seededRandom(name);
            return runtimeOver(storeOf(store, steps), [attended], { tools, ports: { random } });
          };
          const steps = new Steps(endAt);
          const assize = processOf(steps, 'first');
          const wanted = transactions.map(() => new Set<string>());
          const run = async (): Promise<void> => {
            const trajectory = await assize.open('t');
            const options = { writ: writFor('alice'), writes: ['test:r', 'test:s'], retries: 0 };
            const one = async (drawn: DrawnTransaction, i: number): Promise<void> => {
              const { ruling } = await trajectory.transaction(options, (tx) =>
                body(tx, drawn, i, wanted[i]!),
              );
              if (ruling.ruling !== 'escalated') return;
              // An effect that can be neither compensated nor buffered is submitted for approval,
              // and no call of it runs.
              seen.asked++;
              await trajectory.approvals.approve(ruling.pending, {
                principal: 'boss',
                method: 'test',
              });
            };
            await Promise.all(transactions.map((drawn, i) => one(drawn, i).catch(() => undefined)));
            await assize.close();
          };
          await Promise.race([run(), steps.ended]);
          const next = processOf(new Steps(), 'next');
          const left = await next.recoverEffects();
          const open = await namesOf(store, left);
          const { epochs, failed } = await committedOf(store);
          const isWanted = (what: string): boolean => {
            const i = transactionOf(what);
            return store.committedAt.has(i) && !failed.has(i) && wanted[i]!.has(what);
          };
          // An effect unresolved before an approval belongs to the submitted attempt, and not to
          // the committed one.
          const hasOpen = (i: number): boolean => left.some(({ epoch }) => epoch === epochs.get(i));
          // A pivot waits for the human decisions on other effects of its transaction.
          const isHeldUp = (what: string): boolean =>
            isPivot({ ...plan.calls.get(what)!, sink: sort }) &&
            !open.has(what) &&
            hasOpen(transactionOf(what));
          // Its transaction fails if a call that is still to be made fails.
          const mayFail = (what: string): boolean =>
            transactions[transactionOf(what)]!.hasOnFailure &&
            [...plan.calls.keys()].some(
              (other) =>
                transactionOf(other) === transactionOf(what) && isWanted(other) && isHeldUp(other),
            );
          // An effect that awaits a human decision, its own or another's, blocks its own scope and
          // no other.
          const isKept = (what: string): boolean =>
            open.has(what) || (isWanted(what) && (isHeldUp(what) || mayFail(what)));
          const kept = new Set(
            [...plan.calls.keys()].filter(isKept).map((what) => plan.calls.get(what)!.at),
          );
          for (const at of ['r', 's'])
            quickly([at, await isRefused(next, at)]).toEqual([at, kept.has(at)]);
          await next.close();

          judgeSteps(sink, plan, store.committedAt, failed);
          for (const i of failed) {
            quickly([i, store.answered.filter((each) => each === i).length]).toEqual([
              i,
              hasOpen(i) ? 0 : 1,
            ]);
          }
          quickly(store.answered.every((i) => failed.has(i))).toBe(true);
          judgeLeft(sink, plan, transactions, store.committedAt, open);
          for (const [what, drawn] of plan.calls) {
            const stands = isWanted(what) && !isHeldUp(what);
            quickly(
              standsAsItShould(sink, what, stands, open.get(what)) || `${what}: ${drawn.delivery}`,
            ).toBe(true);
          }
          seen.committed += store.committedAt.size;
          seen.undone += transactions.length - store.committedAt.size;
          seen.left += open.size;
          seen.failed += failed.size;
          seen.died += steps.isDead ? 1 : 0;
        },
      ),
      { numRuns: cases(600) },
    );
    if (hasUsualCases())
      for (const [what, times] of Object.entries(seen))
        expect([what, times > 0]).toEqual([what, true]);
  });
});

/**
 * Of the calls that may fail, only the answered ones count: `wanted` lists those that must stand
 * with the commit.
 */
async function body(
  tx: Transaction,
  drawn: DrawnTransaction,
  i: number,
  wanted: Set<string>,
): Promise<void> {
  const make = async (
    on: Transaction,
    part: number,
    list: readonly DrawnCall[],
    into: Set<string>,
  ) => {
    for (const [n, { reversibility, delivery, at, mayFail }] of list.entries()) {
      const what = nameOf(i, part, n);
      const answered = on
        .call(`${reversibility}.${delivery}`, { what, at })
        .then(() => void into.add(what));
      await (mayFail ? answered.catch(() => undefined) : answered);
    }
  };
  await make(tx, 0, drawn.calls, wanted);
  if (drawn.branches !== undefined) {
    const into = [new Set<string>(), new Set<string>()];
    const tries = drawn.branches.map(
      (list, b) => (on: Transaction) => make(on, b + 1, list, into[b]!),
    );
    let chosen = -1;
    await tx.speculate(tries, (tried) => {
      chosen = tried.findIndex(({ failed }) => !failed);
      return chosen;
    });
    for (const what of into[chosen]!) wanted.add(what);
  }
  if (drawn.ends === 'throw') throw new Error('as drawn');
  const action = drawn.hasOnFailure ? 'order' : 'count';
  tx.propose({ action, role: 'counter', args: drawn.ends === 'reject' ? 'forbidden' : `${i}` });
}

/**
 * The epochs of the committed transactions, and the committed transactions that a permanent failure
 * rolls back.
 */
async function committedOf(
  store: MemoryStore,
): Promise<{ epochs: Map<number, number>; failed: Set<number> }> {
  const epochs = new Map<number, number>();
  const failed = new Set<number>();
  for (const logged of await store.listEffects({ limit: 100 })) {
    const { epoch, state, entry } = readTransaction(logged);
    if (entry === undefined) continue;
    const i = Number(JSON.parse((await store.resolve(entry))!.payload).action.args);
    epochs.set(i, epoch);
    if (state.failing !== undefined) failed.add(i);
  }
  return { epochs, failed };
}

function transactionOf(what: string): number {
  return Number(what.split('/')[0]);
}

/**
 * Checks effects that are permanently refused after the commit. Such an effect needs a human
 * decision only without `onFailure`, or if another effect cannot be compensated.
 */
function judgeLeft(
  sink: OutsideSink,
  plan: Plan,
  transactions: readonly DrawnTransaction[],
  committedAt: ReadonlyMap<number, number>,
  open: ReadonlyMap<string, string>,
): void {
  for (const [what, phase] of open) {
    const i = transactionOf(what);
    if (
      phase !== 'unresolved' ||
      !committedAt.has(i) ||
      !transactions[i]!.hasOnFailure ||
      sink.standing(what) > 0
    )
      continue;
    const isBeyond = [...plan.calls].some(
      ([other, { reversibility }]) =>
        reversibility === 'irreversible' &&
        transactionOf(other) === i &&
        (sink.standing(other) > 0 || open.get(other) === 'in_doubt'),
    );
    if (!isBeyond)
      throw new Error(`${what} was refused for good, and waits, although all else could be undone`);
  }
}

/** Whether the scope is blocked, because an effect there needs a human decision. */
async function isRefused(assize: Assize, at: string): Promise<boolean> {
  const trajectory = await assize.open('t');
  const options = { writ: writFor('alice'), writes: [`test:${at}`], retries: 0 };
  try {
    await trajectory.transaction(options, (tx) =>
      tx.propose({ action: 'count', role: 'counter', args: 'after' }),
    );
    return false;
  } catch (error) {
    quickly((error as { code?: string }).code).toBe('resource_in_doubt');
    return true;
  }
}

/** The effects that need a human decision, with their phase, by the sink's name for them. */
async function namesOf(
  store: MemoryStore,
  left: readonly UnresolvedEffect[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { epoch, n, phase } of left) {
    const { effects } = readTransaction((await store.effectsOf(epoch))!);
    const text = await store.blob(effects[n]!.payload.$blob);
    found.set(JSON.parse(text!).value.input.what, phase);
  }
  return found;
}

/**
 * At any moment, no buffered effect precedes its commit, no committed effect is compensated, and no
 * effect stands twice.
 */
function judgeSteps(
  sink: OutsideSink,
  plan: Plan,
  committedAt: ReadonlyMap<number, number>,
  failed: ReadonlySet<number>,
): void {
  const standing = new Map<string, number>();
  for (const [at, { did, what }] of sink.log.entries()) {
    const drawn = plan.calls.get(what)!;
    const i = transactionOf(what);
    const commit = committedAt.get(i) ?? Number.POSITIVE_INFINITY;
    const hasFailed = failed.has(i);
    if (hasFailed && drawn.reversibility === 'irreversible')
      throw new Error(`${what} was done, and all else is undone`);
    if (isHeld(drawn) && at < commit)
      throw new Error(`${what} is held, and came before its commit`);
    if (isHeld(drawn) && did === 'undo' && !hasFailed)
      throw new Error(`${what} was committed, and is undone`);
    const count = (standing.get(what) ?? 0) + (did === 'do' ? 1 : did === 'undo' ? -1 : 0);
    if (count > 1 || count < 0) throw new Error(`${what} stands ${count} times`);
    standing.set(what, count);
  }
}

function standsAsItShould(
  sink: OutsideSink,
  what: string,
  isWanted: boolean,
  left: string | undefined,
): boolean {
  const stands = sink.standing(what);
  if (left === undefined) return stands === (isWanted ? 1 : 0);
  // A permanent refusal differs from an unknown outcome: the sink is as it was before the attempt.
  if (left === 'unresolved') return stands === (isWanted ? 0 : 1);
  return left === 'in_doubt';
}
