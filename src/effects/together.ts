import type { Json } from '#canon';
import type { EffectClass } from './protocol.ts';
import type { Call, ToolSpec, Undone } from './tool.ts';

/** One of the calls that are made together. */
export interface TogetherCall {
  /** Of its tool: `Together.part`. */
  readonly part: any;
  readonly input: any;
  readonly call: Call;
  /** What it has answered, of one that is undone. */
  readonly result?: Json;
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
  /** Undoes all of these, the last first, or nothing. As `execute`. */
  readonly compensate?: (calls: readonly TogetherCall[]) => Promise<readonly Undone[]>;
}

/** Why a tool can't be called together with others, or undefined. */
export function problemOfTogether(
  together: Together,
  { compensate, mitigate }: Pick<ToolSpec, 'compensate' | 'mitigate'>,
  sort: EffectClass | undefined,
): string | undefined {
  if (typeof together !== 'object' || together === null) return 'its together is an object';
  if (sort?.delivery !== 'buffered' || sort.sink !== 'keyed')
    return 'only what is buffered, at a keyed sink, is called together with others';
  const { at, execute, compensate: undo } = together;
  if ((typeof at !== 'object' && typeof at !== 'function') || at === null)
    return 'its together names a place (`at`), which is an object';
  if (typeof execute !== 'function') return 'its together has an execute, which is a function';
  if (compensate !== undefined && typeof undo !== 'function')
    return 'it has a compensate, so its together has one, which is a function';
  if (mitigate !== undefined) return 'what is undone together is undone all or not at all, so it has no mitigate';
  return undefined;
}

/** The places of effects that are called together with each, itself among them. */
export type Mates = (n: number) => readonly number[];

/** By the tools of effects, in their order, as far as they are known; undefined where each is called by itself. */
export function togetherBy(specs: readonly (Pick<ToolSpec<any>, 'together'> | undefined)[]): Mates | undefined {
  if (specs.length < 2 || specs.every((spec) => spec?.together === undefined)) return undefined;
  const all = new Map<object, number[]>();
  for (const [n, spec] of specs.entries()) {
    const at = spec?.together?.at;
    if (at !== undefined) all.set(at, [...(all.get(at) ?? []), n]);
  }
  return (n) => all.get(specs[n]?.together?.at as object) ?? [n];
}
