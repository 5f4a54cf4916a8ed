import type { Json } from '#base';
import type { CallContext, CompensationResult } from './call.ts';
import type { EffectClass } from './protocol.ts';

/** One call of a batch. */
export interface BatchedCall {
  /** The tool's `Together.part`. */
  readonly part: any;
  readonly input: any;
  readonly call: CallContext;
  /** The result of the call, for a compensation. */
  readonly result?: Json;
  /**
   * The answer that the body received (`hold`). If the call now answers differently, the batch does
   * nothing.
   */
  readonly reported?: Json;
}

/**
 * A staged call: the body has its answer, and other transactions do not see its write.
 *
 * @experimental Staged SQL may change in any release.
 */
export interface StagedCall {
  readonly part: any;
  readonly input: any;
  readonly key: string;
  readonly reported: Json;
}

/**
 * The staged writes of one transaction at one place, as in an open database transaction.
 *
 * @experimental Staged SQL may change in any release.
 */
export interface StagedTransaction {
  /**
   * Executes the call after exactly the calls in `before`. Extra staged calls are rolled back, and
   * missing ones are executed again. Returns the answer that the call will have after the commit. A
   * failed call leaves no trace.
   *
   * @throws EffectError `stale` if a call of `before` answers differently than before; DidNothing;
   * the signal's reason
   */
  execute(before: readonly StagedCall[], call: BatchedCall): Promise<unknown>;
  /** Reads, and sees the writes of `before`. @throws the errors of `execute` */
  read(before: readonly StagedCall[], call: BatchedCall): Promise<unknown>;
  /**
   * Commits exactly these calls under their keys, atomically. Returns undefined if the staged
   * writes were lost and nothing happened; the runtime then calls `execute` of the place. Ends the
   * holding in every case. @throws an error if the outcome is unknown
   */
  commit(calls: readonly BatchedCall[]): Promise<readonly unknown[] | undefined>;
  /**
   * Rolls back all staged calls after `before`. An immediate effect at the same place can then be
   * compensated without waiting for locks of the holding. Never fails. Default: the next call rolls
   * them back.
   */
  rollbackTo?(before: readonly StagedCall[]): Promise<void>;
  /**
   * Executes `before` again if it was released for an immediate effect of the same transaction. A
   * change by that effect is then found before the commit. Called after each such effect, and at
   * the gate. @throws EffectError `stale` if a call of `before` answers differently than before
   */
  replay?(
    before: readonly StagedCall[],
    call: Pick<CallContext, 'signal' | 'epoch'>,
  ): Promise<void>;
  /** Rolls back uncommitted calls. Never fails: a connection that cannot roll back is closed. */
  rollback(): Promise<void>;
}

/**
 * Runs all buffered effects of a transaction at one place in one step, as a database transaction
 * does. Other readers never see a part of the batch. For a single effect, the runtime calls
 * `execute` and `compensate` of its tool.
 */
export interface AtomicBatch {
  /**
   * The place. Tools with the same place form one batch, and any of their `execute` functions may
   * run it.
   */
  readonly at: object;
  /** The tool's own data, for the function that executes calls of several tools. */
  readonly part: unknown;
  /**
   * Executes all calls in order, or none. A call that has already happened is not repeated and
   * returns its earlier answer. The answers are in call order. Throws `DidNothing` if certainly
   * nothing happened, with the `key` of the responsible call if there is one. Any other error means
   * that the outcome of all calls is unknown.
   */
  readonly execute: (calls: readonly BatchedCall[]) => Promise<readonly unknown[]>;
  /**
   * Stages the calls while the body runs, so the body receives real answers. Staging starts with
   * the first call at the place, after all work with a lower epoch has acted.
   *
   * @experimental Staged SQL may change in any release.
   */
  readonly stage?: () => StagedTransaction;
  /** Compensates all calls, last first, or none. Otherwise same as `execute`. */
  readonly compensate?: (calls: readonly BatchedCall[]) => Promise<readonly CompensationResult[]>;
}

/** The reason why a tool cannot be batched with others, or undefined. */
export function batchProblem(
  together: AtomicBatch,
  {
    compensate,
    mitigate,
    plan,
  }: { readonly compensate?: unknown; readonly mitigate?: unknown; readonly plan?: unknown },
  sort: EffectClass | undefined,
): string | undefined {
  if (typeof together !== 'object' || together === null) return 'its batch must be an object';
  if (sort?.delivery !== 'buffered' || sort.sink !== 'keyed')
    return 'only a buffered tool with a keyed sink can have a batch';
  const { at, execute, compensate: undo, stage } = together;
  if ((typeof at !== 'object' && typeof at !== 'function') || at === null)
    return '`at` of its batch must be an object';
  if (typeof execute !== 'function') return '`execute` of its batch must be a function';
  if (compensate !== undefined && typeof undo !== 'function')
    return 'it has a compensate, so its batch must have a `compensate` function';
  if (stage !== undefined && (typeof stage !== 'function' || plan !== undefined))
    return '`stage` of its batch must be a function, and excludes `plan`';
  if (mitigate !== undefined)
    return 'a batch is compensated as a whole, so it cannot have a mitigate';
  return undefined;
}

/**
 * The indexes of the effects in the batch of each effect, itself included. The effects of a batch
 * share one list.
 */
export type BatchOf = (n: number) => readonly number[];

/** Batches by the known tools of effects, in order. Undefined if each effect runs alone. */
export function batchesOf(
  specs: readonly ({ readonly batch?: AtomicBatch } | undefined)[],
): BatchOf | undefined {
  if (specs.length < 2 || specs.every((spec) => spec?.batch === undefined)) return undefined;
  const all = new Map<object, number[]>();
  for (const [n, spec] of specs.entries()) {
    const at = spec?.batch?.at;
    if (at === undefined) continue;
    const there = all.get(at);
    if (there === undefined) all.set(at, [n]);
    else there.push(n);
  }
  return (n) => all.get(specs[n]?.batch?.at as object) ?? [n];
}

/**
 * For a read tool: how it sees the staged writes of its own transaction. Default: its `execute` is
 * called.
 */
export interface StagedReads {
  /** Same as `at` of `Together`. */
  readonly at: object;
  /** The tool's own data, for the function that reads at the place. */
  readonly part: unknown;
}
