import { arg, checkArgument } from 'assize/internal/base';
/**
 * A fault in one call to a store. If the commit of a batch is uncertain, the answer is `unknown`.
 */
export type StoreFault =
  /** The call does nothing, and the caller gets an error. */
  | { readonly kind: 'fails' }
  /** The call never arrives: a commit is answered `unknown`, any other call with an error. */
  | { readonly kind: 'lost' }
  /**
   * The call succeeds and its answer is lost: a commit is answered `unknown`, any other call with
   * an error.
   */
  | { readonly kind: 'reply_lost' }
  /**
   * The call succeeds, and the caller gets an error anyway. No store may do so with a commit, but
   * callers should tolerate it.
   */
  | { readonly kind: 'fails_after' }
  /**
   * A commit is answered `conflict` although no other writer committed first, and a put of side
   * rows is answered `false`. Any other call fails.
   */
  | { readonly kind: 'conflict' }
  /**
   * The handle dies with this call in flight, `sent` or not. Calls in flight get `unknown` or an
   * error, and every later call gets `store_poisoned`. Only a reopened store shows the outcome.
   */
  | { readonly kind: 'torn'; readonly sent: boolean }
  /**
   * The call succeeds, delayed by this number of turns of the event loop: on the way to the store,
   * and back.
   */
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

/**
 * Returns the fault of each call, in order, or undefined for no fault. The same faults make the
 * same run.
 */
export type FaultSchedule = (call: StoreCall) => StoreFault | undefined;

const FAULT = arg.members({ kind: arg.text });
const SEEDED_FAULTS = arg.members({
  seed: arg.number,
  perMille: arg.number,
  faults: arg.list(FAULT),
});

/**
 * The fault at the n-th call, or at the n-th call of one method.
 *
 * @throws ArgumentError `bad_argument`
 */
export function faultAt(n: number, fault: StoreFault, operation?: string): FaultSchedule {
  checkArgument(FAULT, fault, 'fault');
  return (call) => {
    const at = operation === undefined ? call.n : call.operation === operation ? call.nth : 0;
    return at === n ? fault : undefined;
  };
}

export interface SeededFaults {
  /** The same seed gives the same faults. */
  readonly seed: number;
  /** Number of faulty calls per 1,000. */
  readonly perMille: number;
  /** The faults to choose from. */
  readonly faults: readonly StoreFault[];
}

/**
 * Random faults, from a seed.
 *
 * @throws ArgumentError `bad_argument`
 */
export function seededFaults(options: SeededFaults): FaultSchedule {
  checkArgument(SEEDED_FAULTS, options, 'options');
  const { seed, perMille, faults } = options;
  const next = seededNumbers(seed);
  return () => {
    const [hit, which] = [next(1_000), next(faults.length)];
    return hit < perMille ? faults[which] : undefined;
  };
}

/**
 * Delays every call by a random number of turns up to a maximum: only the answers, or also the
 * calls, so that they overtake each other.
 *
 * @throws ArgumentError `bad_argument`
 */
export function seededDelays(options: SeededDelays): FaultSchedule {
  checkArgument(arg.members({ seed: arg.number, turnsMax: arg.whole }), options, 'options');
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

/**
 * Integers from 0 below a bound, the same for the same seed (Park and Miller's generator). For
 * tests only.
 */
export function seededNumbers(seed: number): (below: number) => number {
  let state = (Math.abs(Math.trunc(seed)) % 2_147_483_646) + 1;
  const next = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return Math.floor((state / 2_147_483_647) * below);
  };
  // A small seed gives small first numbers, so three are skipped.
  for (let n = 0; n < 3; n += 1) next(1);
  return next;
}
