import { form, requireForm } from '#base';
/** What goes wrong with one call to a store. A batch that is not committed for certain is answered `unknown`. */
export type StoreFault =
  /** Nothing is done, and the caller gets an error. */
  | { readonly kind: 'fails' }
  /** It never arrives: a commit is answered `unknown`, any other call with an error. */
  | { readonly kind: 'lost' }
  /** It is done, and the answer is lost: a commit is answered `unknown`, any other call with an error. */
  | { readonly kind: 'reply_lost' }
  /** It is done, and the caller gets an error all the same. No store may do so with a commit; callers should bear it. */
  | { readonly kind: 'fails_after' }
  /** A commit is answered `conflict` though nobody was faster; any other call fails. */
  | { readonly kind: 'conflict' }
  /**
   * The handle dies with this call under way, `sent` or not: what waits for an answer gets `unknown` or an error, every
   * later call gets `store_poisoned`, and only a store opened anew tells what was done.
   */
  | { readonly kind: 'torn'; readonly sent: boolean }
  /** It goes well, so many turns of the event loop late: on the way to the store, and back. */
  | { readonly kind: 'delay'; readonly sending: number; readonly answering: number };

/** A call as a schedule sees it. */
export interface StoreCall {
  /** From 1, over all calls of the handle. */
  readonly n: number;
  /** The method's name. */
  readonly operation: string;
  /** From 1, over the calls of that method. */
  readonly nth: number;
  readonly args: readonly unknown[];
}

/** Says of each call, in order, what goes wrong with it; undefined: nothing. The same answers make the same run. */
export type FaultSchedule = (call: StoreCall) => StoreFault | undefined;

const FAULT = form.members({ kind: form.text });
const SEEDED_FAULTS = form.members({ seed: form.number, perMille: form.number, faults: form.list(FAULT) });

/**
 * That fault at the n-th call, or at the n-th of one method.
 *
 * @throws ArgumentError `bad_argument`
 */
export function faultAt(n: number, fault: StoreFault, operation?: string): FaultSchedule {
  requireForm(FAULT, fault, 'fault');
  return (call) => {
    const at = operation === undefined ? call.n : call.operation === operation ? call.nth : 0;
    return at === n ? fault : undefined;
  };
}

export interface SeededFaults {
  /** The same seed draws the same faults. */
  readonly seed: number;
  /** So many of 1,000 calls go wrong. */
  readonly perMille: number;
  /** One of these each time. */
  readonly faults: readonly StoreFault[];
}

/**
 * Faults by chance.
 *
 * @throws ArgumentError `bad_argument`
 */
export function seededFaults(options: SeededFaults): FaultSchedule {
  requireForm(SEEDED_FAULTS, options, 'options');
  const { seed, perMille, faults } = options;
  const next = seededNumbers(seed);
  return () => {
    const [hit, which] = [next(1_000), next(faults.length)];
    return hit < perMille ? faults[which] : undefined;
  };
}

/**
 * Every call late by up to so many turns: the answers only, or the calls too, which then overtake each other.
 *
 * @throws ArgumentError `bad_argument`
 */
export function seededDelays(options: SeededDelays): FaultSchedule {
  requireForm(form.members({ seed: form.number, turnsMax: form.whole }), options, 'options');
  const { seed, turnsMax, overtaking = false } = options;
  const next = seededNumbers(seed);
  return () => {
    const [sending, answering] = [next(turnsMax + 1), next(turnsMax + 1)];
    return { kind: 'delay', sending: overtaking ? sending : 0, answering };
  };
}

export interface SeededDelays {
  readonly seed: number;
  readonly turnsMax: number;
  readonly overtaking?: boolean;
}

/** Whole numbers from 0 below a bound, the same for the same seed (Park and Miller's generator). For tests only. */
export function seededNumbers(seed: number): (below: number) => number {
  let state = (Math.abs(Math.trunc(seed)) % 2_147_483_646) + 1;
  const next = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return Math.floor((state / 2_147_483_647) * below);
  };
  // The first number of a small seed is small, the second hardly less so.
  for (let n = 0; n < 3; n += 1) next(1);
  return next;
}
