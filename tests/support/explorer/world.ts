/** What there is at a moment: what is durable, what processes have in memory, and what the sinks have seen. */
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
  /** What it claims when it begins; by default all that its steps touch. */
  readonly claims?: readonly ExplorerClaim[];
  /** Its reads do not wait, and are read again at the gate. */
  readonly reading?: 'optimistic';
  /** Its epoch is taken at the gate. */
  readonly epoch?: 'late';
  /** It begins anew so often where it was stale. */
  readonly retries?: number;
  /** Which process it is begun in, as long as that is there. */
  readonly by?: number;
}

/** How much may go wrong in all. */
export interface Trouble {
  /** Processes that end, with all that they have in memory. */
  readonly crashes: number;
  /** Answers that are lost, of calls that have happened or not. */
  readonly losses: number;
  /** Calls that the sink refuses. */
  readonly refusals: number;
  /** Calls that the sink refuses for good. */
  readonly finals?: number;
  /** Proposals of what is to be committed for a failure that are refused. */
  readonly rejections?: number;
  /** Calls of which the answer is not asked for any more: a sink that could tell does not answer. */
  readonly silences?: number;
  /** What people decide of what waits for them, who look at the sink first, and may do there what is to be done. */
  readonly decisions?: number;
  /** Leases that run out of a process that goes on. */
  readonly lapses?: number;
}

/** A call under way, or one of several that are one step. */
export interface Flight {
  readonly ns: readonly number[];
  readonly how: 'call' | 'undo';
  /** `given up`: nobody waits for it any more, which is yet to be said of these. */
  readonly stage: 'sent' | 'done' | 'refused' | 'refused for good' | 'given up';
  /** Of several that are refused: the one for which they are; without it, that is so for all. */
  readonly of?: number;
}

/** What a body has in memory. */
export interface Body {
  /** Its next step. */
  readonly at: number;
  /** Steps that it has planned. */
  readonly planned: readonly number[];
  /** What it has read where: epochs of what stood there. */
  readonly seen: readonly (readonly [at: Resource, epochs: readonly number[]])[];
  /** It has asked for more claims, or to give some up, and has not heard. */
  readonly isAsking: boolean;
  /** It may not go on where it is: what it claims waits for a person, or it came too late. */
  readonly refused?: 'resource_in_doubt' | 'stale';
  readonly isAtGate: boolean;
}

/** An attempt of a plan. */
export interface Running {
  readonly plan: number;
  /** How often it may begin anew yet. */
  readonly retries: number;
  /** Whose it is by the store. */
  readonly member: number;
  /** 0 before it has one. */
  readonly epoch: number;
  /** By the log. */
  readonly state: TransactionState;
  readonly isLogged: boolean;
  /** Effects in the order of the log, by their place in the plan. */
  readonly order: readonly number[];
  /** What it has claimed, as the log has it. */
  readonly claims: readonly ExplorerClaim[];
  readonly isCommitted: boolean;
  /** What the ledger has for its failure, by the key of the proposal: how often it was refused before. */
  readonly answers: readonly ('made' | 'rejected')[];
  /** It waits for a person, and nobody has said that it is gone on with. */
  readonly isLeft: boolean;
  /** It has waited for a person, and since then keeps no more than what is not finished. */
  readonly wasLeft: boolean;
  /** How often each step was called and undone, by the sinks. */
  readonly acts: readonly (readonly [call: number, undo: number])[];
  /** Steps of which a person has decided what they are, of those that are one with others. */
  readonly decided: readonly number[];
  /** In memory, of whose it is. */
  readonly body: Body | null;
  readonly flight: Flight | null;
  /** It is to begin anew, with these claims. */
  readonly again: readonly ExplorerClaim[] | null;
  /** Nothing of it is left to be done, and what it came to was looked at. */
  readonly isEnded: boolean;
}

/** A process, or what it is after a crash. */
export interface Member extends Post {
  readonly view: View;
}

/** What a process has in memory of an attempt that another one goes on with. */
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

/** What was done at a resource. */
export interface Done {
  /** The greatest epoch that has acted. */
  readonly latest: number;
  /** The greatest epoch that has committed with what it read there. */
  readonly readBy: number;
  /** Epochs of what stands there, in the order in which it came. Nothing where nobody reads. */
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

/** What an attempt is before it has begun. */
export function unbegun(plan: number, { steps }: Plan, claims: readonly ExplorerClaim[], retries: number): Running {
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

/** What is left of an attempt that has ended. */
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
