import { MemoryStore } from '@assize/testing/memory';
import { declareTool, type Tool } from '#effects';
import type {
  Ruling,
  Trajectory,
  Transaction,
  TransactionOutcome,
  UnresolvedEffect,
} from '#runtime';
import { runtimeOver, writFor } from '../ledger/runtime.ts';
import { Steps, storeOf } from './effect-sink.ts';
import { attended } from './ledger-with-effects.ts';

// Ready tools in a runtime: with calls that end the process, and in transactions that are cut off
// at every step.

const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;

/**
 * A tool with a process that may end before and after each call. `underWay`: the calls in flight at
 * the sink.
 */
function stepped({ spec }: Tool, steps: Steps, underWay: Promise<unknown>[]): Tool {
  const around =
    (call: (...args: any[]) => unknown) =>
    async (...args: any[]) => {
      await steps.step();
      const answer = Promise.resolve(call(...args));
      underWay.push(answer.catch(() => undefined));
      await answer;
      await steps.step();
      return answer;
    };
  const { compensate, reconcile, batch } = spec;
  return declareTool({
    ...spec,
    execute: around(spec.execute),
    ...(batch === undefined
      ? {}
      : { batch: { ...batch, execute: around(batch.execute) as never } }),
    ...(compensate === undefined ? {} : { compensate: around(compensate) as never }),
    ...(reconcile === undefined ? {} : { reconcile: around(reconcile) as never }),
  });
}

/** The result of one transaction, for a test. */
export interface Ended {
  readonly isCommitted: boolean;
  readonly left: readonly UnresolvedEffect[];
  readonly outcome: TransactionOutcome<unknown> | undefined;
  readonly error: { readonly code?: string } | undefined;
}

/** Immediately approves the pending proposal of a pivot. */
async function approved(
  trajectory: Trajectory,
  outcome: TransactionOutcome<unknown>,
): Promise<Ruling> {
  const { ruling } = outcome;
  return ruling.ruling === 'escalated'
    ? trajectory.approvals.approve(ruling.pending, { principal: 'doc', method: 'test' })
    : ruling;
}

/**
 * One transaction over these tools, with its unresolved effects. It commits unless its body throws.
 */
export async function transact(
  tools: readonly Tool[],
  body: (tx: Transaction) => Promise<unknown>,
  options: {
    readonly callTimeoutMs?: number;
    readonly writes?: readonly string[];
    readonly retries?: number;
    readonly deadlineMs?: number;
    readonly reading?: 'optimistic';
  } = {},
): Promise<Ended> {
  const { callTimeoutMs = 10_000, writes = ['**'], retries = 0, deadlineMs, reading } = options;
  const assize = runtimeOver(new MemoryStore(), [attended], { tools, effects: { callTimeoutMs } });
  const trajectory = await assize.create(attended, { trajectoryId: 't' });
  let error: { readonly code?: string } | undefined;
  const outcome = await trajectory
    .transaction(
      {
        writ: writFor('alice'),
        writes,
        retries,
        ...(deadlineMs && { deadlineMs }),
        ...(reading && { reading }),
      },
      async (tx) => {
        await body(tx);
        tx.propose(COUNT);
      },
    )
    .catch((thrown) => {
      error = thrown;
      return undefined;
    });
  const ruling = outcome && (await approved(trajectory, outcome));
  const left = await assize.recoverEffects();
  await assize.close();
  const isCommitted = ruling?.ruling === 'committed';
  const isWaiting = outcome?.effects === 'waiting' && isCommitted;
  const effects = isWaiting ? (left.length === 0 ? 'settled' : 'needs_human') : outcome?.effects;
  return {
    isCommitted,
    left,
    outcome: outcome && { ...outcome, ruling: ruling!, effects: effects! },
    error,
  };
}

/**
 * Runs the same transaction repeatedly, each time with a crash at the next step, and then a process
 * that recovers. Returns the number of crashes.
 */
export async function crashedEverywhere<World extends AsyncDisposable>(options: {
  readonly open: () => Promise<World>;
  readonly tools: (world: World) => readonly Tool[];
  readonly body: (tx: Transaction) => Promise<unknown>;
  readonly check: (
    world: World,
    ended: Pick<Ended, 'isCommitted' | 'left'>,
  ) => void | Promise<void>;
}): Promise<number> {
  for (let endAt = 1; ; endAt++) {
    await using world = await options.open();
    const store = new MemoryStore();
    await runtimeOver(store, [attended]).create(attended, { trajectoryId: 't' });
    const steps = new Steps(endAt);
    const underWay: Promise<unknown>[] = [];
    const tools = options.tools(world).map((tool) => stepped(tool, steps, underWay));
    const assize = runtimeOver(storeOf(store, steps), [attended], { tools });
    const trajectory = await assize.open('t');
    const done = trajectory.transaction(
      { writ: writFor('alice'), writes: ['**'], retries: 0 },
      async (tx) => {
        await options.body(tx);
        tx.propose(COUNT);
      },
    );
    await Promise.race([done.then((outcome) => approved(trajectory, outcome)), steps.ended]);
    if (!steps.isDead) await Promise.race([assize.close(), steps.ended]);
    // Calls that the ended process has sent still arrive, before any call of the next process.
    await Promise.all(underWay);
    const next = runtimeOver(store, [attended], { tools: options.tools(world) });
    const left = await next.recoverEffects();
    await next.close();
    const isCommitted = (await store.entries('t')).some(({ kind }) => kind === 'commit');
    await options.check(world, { isCommitted, left });
    if (!steps.isDead) return endAt - 1;
  }
}
