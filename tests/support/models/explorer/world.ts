/**
 * The world at one moment: durable data, the memory of the processes, and the calls that the sinks
 * have received.
 */
import { BEGUN, type EffectClass, type TransactionState } from '#effects';
import type { Post } from './membership.ts';
import type { ExplorerClaim, Place, Resource, View } from './view.ts';

export interface PlannedEffect {
  readonly class: EffectClass;
  readonly on: Place;
  /** Of a branch that is not chosen in the end. */
  readonly loses?: true;
  /** The place where it is one step with all others of its transaction that have the same. */
  readonly with?: Together;
}

export type Together = 'a' | 'b';

export type PlannedStep =
  | PlannedEffect
  | { readonly reads: Place }
  | { readonly expands: readonly ExplorerClaim[] }
  | { readonly releases: readonly ExplorerClaim[] };

export interface Plan {
  readonly steps: readonly PlannedStep[];
  /** Whether its body comes to its end, or throws there. */
  readonly ends: 'commit' | 'throw';
  /** Its action says what is to be committed where one of its effects fails for good. */
  readonly hasOnFailure?: true;
  /** The claims at the start. Default: all resources that the steps access. */
  readonly claims?: readonly ExplorerClaim[];
  /** Its reads do not wait, and are read again at the gate. */
  readonly reading?: 'optimistic';
  /** Its epoch is taken at the gate. */
  readonly epoch?: 'late';
  /** It starts over so often where it was stale. */
  readonly retries?: number;
  /** The process in which it begins, as long as that process runs. */
  readonly by?: number;
}

/** The number of faults in all, by kind. */
export interface Trouble {
  /** Processes that end, with all that they have in memory. */
  readonly crashes: number;
  /** Answers that are lost, of calls that have happened or not. */
  readonly losses: number;
  /** Calls that the sink refuses. */
  readonly refusals: number;
  /** Calls that the sink refuses for good. */
  readonly finals?: number;
  /** Rejections of a failure proposal. */
  readonly rejections?: number;
  /**
   * Calls without an answer that the process stops asking for: a sink that knows the outcome does
   * not respond.
   */
  readonly silences?: number;
  /**
   * Human decisions on unresolved effects. The operator inspects the sink first, and may do the
   * missing work there.
   */
  readonly decisions?: number;
  /** Leases that run out of a process that goes on. */
  readonly lapses?: number;
}

/** A call under way, or one of several that are one step. */
export interface Flight {
  readonly ns: readonly number[];
  readonly how: 'call' | 'undo';
  /**
   * `given up`: the process waits no longer for the call. The log must still record this for these
   * effects.
   */
  readonly stage: 'sent' | 'done' | 'refused' | 'refused for good' | 'given up';
  /** Of several that are refused: the one for which they are; without it, that is so for all. */
  readonly of?: number;
}

/** The memory of a body. */
export interface Body {
  /** Its next step. */
  readonly at: number;
  /** Steps that it has planned. */
  readonly planned: readonly number[];
  /** The resources that the body has read, each with the epochs of the values there. */
  readonly seen: readonly (readonly [at: Resource, epochs: readonly number[]])[];
  /** It has asked for more claims, or to give some up, and has not heard. */
  readonly isAsking: boolean;
  /** The body may not continue: its claims overlap an unresolved effect, or it is stale. */
  readonly refused?: 'resource_in_doubt' | 'stale';
  readonly isAtGate: boolean;
}

/** An attempt of a plan. */
export interface Running {
  readonly plan: number;
  /** How often it may still start over. */
  readonly retries: number;
  /** The member that owns the attempt, by the store. */
  readonly member: number;
  /** 0 before it has one. */
  readonly epoch: number;
  /** By the log. */
  readonly state: TransactionState;
  readonly isLogged: boolean;
  /** Effects in the order of the log, by their place in the plan. */
  readonly order: readonly number[];
  /** The claims of the attempt, as the log has them. */
  readonly claims: readonly ExplorerClaim[];
  readonly isCommitted: boolean;
  /** The ledger's answers to the failure proposal. The key is the number of earlier refusals. */
  readonly answers: readonly ('made' | 'rejected')[];
  /**
   * The attempt needs a human decision, and no process has published that it resumes the attempt.
   */
  readonly isLeft: boolean;
  /** The attempt has needed a human decision, and since then keeps only its unfinished effects. */
  readonly wasLeft: boolean;
  /** How often each step was called and undone, by the sinks. */
  readonly acts: readonly (readonly [call: number, undo: number])[];
  /** Steps whose outcome a person has decided, of those that are one with others. */
  readonly decided: readonly number[];
  /** In the memory of the owner. */
  readonly body: Body | null;
  readonly flight: Flight | null;
  /** It is to start over, with these claims. */
  readonly again: readonly ExplorerClaim[] | null;
  /** The attempt has no work left, and its result has been checked. */
  readonly isEnded: boolean;
}

/** A process, or what it is after a crash. */
export interface Member extends Post {
  readonly view: View;
}

/** A process's memory of an attempt that another process has resumed. */
export interface Zombie {
  readonly tx: number;
  readonly state: TransactionState;
  readonly body: Body | null;
  readonly flight: Flight | null;
  readonly view: View;
}

/** A call of a process that has ended, or has lost it, on its way to a sink. */
export interface Ghost {
  readonly tx: number;
  readonly steps: readonly number[];
  readonly how: 'call' | 'undo';
}

/** The accesses to a resource. */
export interface Done {
  /** The greatest epoch that has acted. */
  readonly latest: number;
  /** The greatest epoch that has committed after a read there. */
  readonly readBy: number;
  /** The epochs of the values there, in the order of the writes. Empty if no plan reads. */
  readonly stands: readonly number[];
}

export interface World {
  /** The last epoch that was given. */
  readonly last: number;
  readonly running: readonly Running[];
  readonly members: readonly Member[];
  readonly zombies: readonly Zombie[];
  readonly ghosts: readonly Ghost[];
  readonly done: Readonly<Record<Resource, Done>>;
  readonly wasSilent: boolean;
  readonly left: Trouble;
}

export function isEffect(step: PlannedStep | undefined): step is PlannedEffect {
  return step !== undefined && 'class' in step;
}

const NONE: readonly number[] = [];

/** An attempt before its start. */
export function unbegun(
  plan: number,
  { steps }: Plan,
  claims: readonly ExplorerClaim[],
  retries: number,
): Running {
  return {
    plan,
    retries,
    member: 0,
    epoch: 0,
    state: BEGUN,
    isLogged: false,
    order: [],
    claims,
    isCommitted: false,
    answers: [],
    isLeft: false,
    wasLeft: false,
    acts: steps.map(() => [0, 0]),
    decided: NONE,
    body: null,
    flight: null,
    again: null,
    isEnded: false,
  };
}

/** The remainder of an attempt that has ended. */
export function endedOf({ plan, epoch, isLogged }: Running): Running {
  return { ...unbegun(plan, { steps: [], ends: 'commit' }, [], 0), epoch, isLogged, isEnded: true };
}

export const BODY: Body = { at: 0, planned: [], seen: [], isAsking: false, isAtGate: false };

export function claimsOf({ steps, claims }: Plan): readonly ExplorerClaim[] {
  if (claims !== undefined) return claims;
  const touched = steps.flatMap((step): ExplorerClaim[] =>
    isEffect(step) ? [`w${step.on}`] : 'reads' in step ? [`r${step.reads}`] : [],
  );
  return [...new Set(touched)];
}

export function isLive({ epoch, isEnded }: Running): boolean {
  return epoch > 0 && !isEnded;
}
