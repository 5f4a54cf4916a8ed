import type { z } from 'zod';
import type { Instant } from '#canon';
import type { DomainWords, ParamsOfAction } from './domain-words.ts';
import type { Approval, Invariant, Rules } from './invariant.ts';
import type { MemorySpec, Saying } from './memory-spec.ts';
import type { Observed, RoleParams } from './role.ts';

export type { Instant } from '#canon';

/** All that `apply` may depend on beside state and arguments. No clock, no chance, no network. */
export interface ApplyContext<Params = RoleParams> {
  /** The parameters of the role; typed by those that all roles have which perform the action's process. */
  readonly role: Params;
  /** The proposal's time. */
  readonly at: Instant;
  readonly observations: readonly Observed[];
}

/** What is proposed where the effects of an action fail for good; see `Action.onFailure`. */
export interface FailureIntent {
  /** One of the same domain. */
  readonly action: string;
  readonly args: unknown;
  /** Default: the role that has failed. */
  readonly role?: string | { readonly name: string; readonly params: RoleParams };
}

export interface Action<State, Args, Params = RoleParams> {
  readonly process: string;
  readonly args: z.ZodType<Args>;
  readonly description?: string;
  /**
   * Changes `state` in place; sees its process's footprint only. Pure in its inputs. A throw is the rejection
   * `precondition_failed` with the error's message; nothing is changed then. What is assigned into the state is copied
   * in, and the given value is frozen: to change it further, read it back from `state`. What is only partly in the
   * footprint can't be replaced or deleted as a whole, whether or not there is anything in the hidden part.
   */
  readonly apply: (state: State, args: Args, context: ApplyContext<Params>) => void;
  /** What it costs, in whole units of the writ's budget. */
  readonly cost?: (args: Args, context: { readonly role: Params }) => { readonly [unit: string]: number };
  /** Resources that the writ must cover, beside the role itself, in the grammar of scopes. */
  readonly scopes?: (args: Args, context: { readonly role: Params }) => readonly string[];
  /**
   * What is to be believed with it, or not any more: ruled on with it, and written with its commit. The writ must cover
   * `memory:space:subject:predicate` of each saying. Its arguments are kept by salted hash, so that what they say can be erased. Pure
   * in its inputs. Only where the domain declares a `memory`.
   */
  readonly beliefs?: (args: Args, context: { readonly role: Params }) => readonly Saying[];
  /** Writes the approval of an escalated proposal into the state. */
  readonly onApprove?: (state: State, args: Args, approval: Approval & { readonly role: Params }) => void;
  /**
   * What is proposed where tools were used with it and one of them fails for good after the commit, before anything was done that
   * can't be undone: then all else that they did is undone, and this is proposed by the same principal under the same writ. It is
   * ruled on like any, and observes what became of each effect (`assize.failure`). Pure in its inputs: the arguments as they were
   * recorded. Default: what fails for good waits for a person, and all else stands.
   */
  readonly onFailure?: (args: Args, context: { readonly role: Params }) => FailureIntent;
  /** Who resolves what a policy or writ holds back for approval; a key of `counselors`. Default: any of them. */
  readonly channel?: string;
  /** How many different people must approve it wherever it is escalated: 1 to 8. Default: 1, or what the invariant says. */
  readonly approvals?: number;
}

/** Judges whether a principal is a counselor of that kind (seed 000, Definition A.61). */
export type CounselorPredicate = (principal: string) => boolean;

/**
 * What a person writes; see `defineDomain`. `Actions` are the arguments by action as `apply` gets them, `Words` the rest
 * that proposals and slices are typed by.
 */
export interface DomainSpec<
  Schema extends z.ZodType,
  Actions extends Record<string, unknown>,
  Words extends DomainWords = DomainWords,
> {
  readonly name: string;
  readonly version: string;
  /** Plain zod schemas of JSON; objects are taken as strict at every depth. */
  readonly state: Schema;
  readonly initial?: z.infer<Schema>;
  readonly processes: Words['processes'];
  readonly roles: Words['roles'];
  readonly actions: {
    readonly [Name in keyof Actions]: Action<z.infer<Schema>, Actions[Name], ParamsOfAction<Words, Name>>;
  };
  /**
   * In order: the first that does not pass decides. As a function it receives `invariant`, `each`, `unique`, `sum` and
   * `count` typed for this state; a plain list takes them untyped.
   */
  readonly invariants: readonly Invariant<any>[] | ((rules: Rules<z.infer<Schema>>) => readonly Invariant<any>[]);
  readonly counselors?: Readonly<Record<string, CounselorPredicate>>;
  /** What an open approval stops: everything (the seed's rule, default) or the footprints it touches. */
  readonly freeze?: 'world' | 'footprint';
  /** What may be believed (`assize.believe`, and `beliefs` of actions). Default: nothing. */
  readonly memory?: MemorySpec;
  /** Hash of the built code, if the build knows one; part of the domain's hash. */
  readonly build?: string;
}
