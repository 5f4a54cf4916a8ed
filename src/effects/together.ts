import type { Json } from '#base';
import type { Call, Undone } from './call.ts';
import type { EffectClass } from './protocol.ts';

/** One of the calls that are made together. */
export interface TogetherCall {
  /** Of its tool: `Together.part`. */
  readonly part: any;
  readonly input: any;
  readonly call: Call;
  /** What it has answered, of one that is undone. */
  readonly result?: Json;
  /** What the body was told that it answers (`hold`): where it answers otherwise, nothing is done. */
  readonly told?: Json;
}

/**
 * A call that was made for a body, where nobody else sees it yet.
 *
 * @experimental Staged SQL may change in any release.
 */
export interface HeldCall {
  readonly part: any;
  readonly input: any;
  readonly key: string;
  readonly told: Json;
}

/**
 * What one transaction has done at one place where nobody else sees it, as in an open transaction of a database.
 *
 * @experimental Staged SQL may change in any release.
 */
export interface Holding {
  /**
   * Does what is called, when all of `before`, and nothing else, has been done there: what is more is taken back, and what is missing is done
   * again. Answers as it will have when it is committed. What fails is as if it had not been.
   *
   * @throws EffectError `stale` where something of `before` answers otherwise than it had; DidNothing; the signal's reason
   */
  execute(before: readonly HeldCall[], call: TogetherCall): Promise<unknown>;
  /** Reads, with what stands there by `before`. @throws as `execute` */
  read(before: readonly HeldCall[], call: TogetherCall): Promise<unknown>;
  /**
   * Makes all of these, and nothing else, stand for good under their keys, all at once. Undefined where it was lost by now and nothing was
   * done: `execute` of the place is called then. It has ended, whatever comes of that. @throws an error where nobody knows
   */
  commit(calls: readonly TogetherCall[]): Promise<readonly unknown[] | undefined>;
  /**
   * Takes back what is more than `before`, so that what was done there at once, beside that, can be undone: by what it keeps, it may be in the
   * way. Never fails. Without it, the next call does that.
   */
  back?(before: readonly HeldCall[]): Promise<void>;
  /**
   * Does `before` again where that was let go for what its own transaction has done there meanwhile, at once: what that has changed is found
   * now, and not after the commit. Asked after each of those, and at the gate. @throws EffectError `stale` where something of it answers otherwise than it had
   */
  again?(before: readonly HeldCall[], call: Pick<Call, 'signal' | 'epoch'>): Promise<void>;
  /** Takes back what was not committed. Never fails: what can't be taken back is cut off. */
  end(): Promise<void>;
}

/**
 * What makes one step of all that a transaction holds at one place until its commit, as a database does with a transaction of its own:
 * nobody ever sees a part of it. Where there is but one, `execute` and `compensate` of its tool are called.
 */
export interface Together {
  /** The place. Tools that name the same one are called together; whose `execute` it is does not matter then. */
  readonly at: object;
  /** Of this tool, for whoever executes calls of several. */
  readonly part: unknown;
  /**
   * Does all of these, in the order of the calls, or nothing. Those that have happened by now are not done again, and answer as they did.
   * What each answers comes in the same order. Throws `DidNothing` where it is certain that nothing was done, with the `key` of the one
   * for which that is so, if it is one; anything else is taken for a lost answer to all of them.
   */
  readonly execute: (calls: readonly TogetherCall[]) => Promise<readonly unknown[]>;
  /**
   * What is held is done while the body runs, where nobody else sees it, so that the body is told what it answers. It begins with the first
   * call there; whoever is older has acted before.
   *
   * @experimental Staged SQL may change in any release.
   */
  readonly hold?: () => Holding;
  /** Undoes all of these, the last first, or nothing. As `execute`. */
  readonly compensate?: (calls: readonly TogetherCall[]) => Promise<readonly Undone[]>;
}

/** Why a tool can't be called together with others, or undefined. */
export function problemOfTogether(
  together: Together,
  {
    compensate,
    mitigate,
    plan,
  }: { readonly compensate?: unknown; readonly mitigate?: unknown; readonly plan?: unknown },
  sort: EffectClass | undefined,
): string | undefined {
  if (typeof together !== 'object' || together === null) return 'its together is an object';
  if (sort?.delivery !== 'buffered' || sort.sink !== 'keyed')
    return 'only what is buffered, at a keyed sink, is called together with others';
  const { at, execute, compensate: undo, hold } = together;
  if ((typeof at !== 'object' && typeof at !== 'function') || at === null)
    return 'its together names a place (`at`), which is an object';
  if (typeof execute !== 'function') return 'its together has an execute, which is a function';
  if (compensate !== undefined && typeof undo !== 'function')
    return 'it has a compensate, so its together has one, which is a function';
  if (hold !== undefined && (typeof hold !== 'function' || plan !== undefined))
    return 'its together holds by a function, and what is held is answered by that and by no plan';
  if (mitigate !== undefined) return 'what is undone together is undone all or not at all, so it has no mitigate';
  return undefined;
}

/** The places of effects that are called together with each, itself among them: one list for all of them. */
export type Mates = (n: number) => readonly number[];

/** By the tools of effects, in their order, as far as they are known; undefined where each is called by itself. */
export function togetherBy(specs: readonly ({ readonly together?: Together } | undefined)[]): Mates | undefined {
  if (specs.length < 2 || specs.every((spec) => spec?.together === undefined)) return undefined;
  const all = new Map<object, number[]>();
  for (const [n, spec] of specs.entries()) {
    const at = spec?.together?.at;
    if (at === undefined) continue;
    const there = all.get(at);
    if (there === undefined) all.set(at, [n]);
    else there.push(n);
  }
  return (n) => all.get(specs[n]?.together?.at as object) ?? [n];
}

/** Of a tool that only reads: where it sees what its own transaction holds, and nobody else does. Else its `execute` is called. */
export interface Sees {
  /** As in `Together`. */
  readonly at: object;
  /** Of this tool, for who reads there. */
  readonly part: unknown;
}
