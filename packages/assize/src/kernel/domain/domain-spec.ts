import type { z } from 'zod';
import type { Instant } from '#canon';
import type { ActionCall, ProposedCall } from './call.ts';
import type { Deputy } from './counselors.ts';
import type { DomainWords, ParamsOfAction } from './domain-words.ts';
import type { Approval, Invariant, Rules } from './invariant.ts';
import type { MemorySpec, MemoryStatement } from './memory-spec.ts';
import type { Presentation, PresentedTools } from './presentation.ts';
import type { Observed, RoleParams } from './role.ts';

export type { Instant } from '#canon';

/**
 * Every input of `apply` other than state and arguments. It has no clock, randomness or network.
 */
export interface ApplyContext<Params = RoleParams> {
  /**
   * The role's parameters. Their type holds the parameters that all roles of the action's process
   * share.
   */
  readonly role: Params;
  /** The proposal's time. */
  readonly at: Instant;
  readonly observations: readonly Observed[];
  /**
   * The changing calls of the transaction body, made or planned, in call order. Empty for a
   * proposal without a transaction body.
   */
  readonly calls: readonly ProposedCall[];
}

/** The intent to propose when an action's effects fail permanently. See `Action.onFailure`. */
export interface FailureIntent {
  /** An action of the same domain. */
  readonly action: string;
  readonly args: unknown;
  /** Default: the role of the failed proposal. */
  readonly role?: string | { readonly name: string; readonly params: RoleParams };
}

export interface Action<State, Args, Params = RoleParams> {
  /** The process to which the action belongs. Default: the only one of the domain. */
  readonly process?: string;
  readonly args: z.ZodType<Args>;
  readonly description?: string;
  /**
   * Changes `state` in place and sees only the footprint of its process. The function must be pure
   * in its inputs. A throw rejects the proposal as `precondition_failed` with the error's message,
   * and changes nothing. Values assigned into the state are copied, and the assigned value is
   * frozen. To change it further, read it back from `state`. A value that lies only partly in the
   * footprint cannot be replaced or deleted as a whole, even if the hidden part is empty.
   */
  readonly apply: (state: State, args: Args, context: ApplyContext<Params>) => void;
  /**
   * The tool calls that the action makes. The kernel evaluates the function on the state that
   * `apply` produced, read-only and in the footprint of the process. Rules and policies judge the
   * calls with the proposal, approvers see them, and the commit records them. The runtime makes the
   * calls after the commit, each according to the class of its tool. The function must be pure in
   * its inputs.
   */
  readonly calls?: (
    state: State,
    args: Args,
    context: Omit<ApplyContext<Params>, 'calls'>,
  ) => readonly ActionCall[];
  /** The cost, in whole units of the writ's budget. */
  readonly cost?: (
    args: Args,
    context: { readonly role: Params },
  ) => { readonly [unit: string]: number };
  /** Resources that the writ must cover in addition to the role, in the grammar of scopes. */
  readonly scopes?: (args: Args, context: { readonly role: Params }) => readonly string[];
  /**
   * Statements to record with the commit. The kernel adjudicates them with the action. The writ
   * must cover `memory:space:subject:predicate` of each statement. The arguments are stored by
   * salted hash, so the statements can be erased. The function must be pure in its inputs. Allowed
   * only if the domain declares a `memory`.
   */
  readonly beliefs?: (args: Args, context: { readonly role: Params }) => readonly MemoryStatement[];
  /** Writes an approval into the state of an escalated proposal: of each approver, in order. */
  readonly onApprove?: (
    state: State,
    args: Args,
    approval: Approval & { readonly role: Params },
  ) => void;
  /**
   * Names, in words, the things that amended arguments allow and the proposed ones do not. Such an
   * amendment is refused: it needs its own proposal. Default: an amendment may allow more. The
   * function must be pure in its inputs.
   */
  readonly widens?: (proposed: Args, amended: Args) => string | undefined;
  /**
   * The intent to propose if an effect fails permanently after the commit and before any
   * irreversible effect. The runtime then compensates all other effects, and the same principal
   * proposes this intent under the same writ. The intent is adjudicated like any other and observes
   * the outcome of each effect (`assize.failure`). The function must be pure in its inputs, the
   * recorded arguments. Default: a failed effect stays unresolved for a human, and all others
   * stand.
   */
  readonly onFailure?: (args: Args, context: { readonly role: Params }) => FailureIntent;
  /**
   * The counselor kind that resolves what a policy or writ escalates: a key of `counselors`.
   * Default: any counselor.
   */
  readonly channel?: string;
  /**
   * Number of different approvers that every escalation of the action needs: 1 to 8. Default: 1, or
   * the number of the invariant.
   */
  readonly approvals?: number;
  /** Milliseconds until every escalation of the action expires, at most, as for an invariant. */
  readonly timeoutMs?: number;
  /**
   * The action in the words of the people who decide about it. Default: its name and its short
   * arguments. No part of the domain's hash.
   */
  readonly present?: Presentation | PresentedTools;
}

/** The proposal that a counselor would decide on, as a predicate sees it: a frozen copy. */
export interface CounseledProposal {
  readonly action: string;
  readonly role: { readonly name: string; readonly params: RoleParams };
  readonly args: any;
  /** The changing calls of the proposal. Absent if it has none. */
  readonly calls?: readonly Pick<ProposedCall, 'tool' | 'input'>[];
}

/** The second argument of a counselor predicate. */
export interface CounselorContext {
  readonly proposal: CounseledProposal;
  /** The principal that proposed. */
  readonly requester: string;
}

/**
 * Whether a principal is a counselor of that kind for the proposal (Agentic Redux, Definition
 * A.61). The function must be pure in its inputs: deep replay calls it again.
 */
export type CounselorPredicate = (principal: string, context: CounselorContext) => boolean;

/**
 * The declaration that `defineDomain` accepts. `Actions` holds the arguments by action as `apply`
 * receives them. `Words` holds the remaining types of proposals and slices.
 */
export interface DomainSpec<
  Schema extends z.ZodType,
  Actions extends Record<string, unknown>,
  Words extends DomainWords = DomainWords,
> {
  readonly name: string;
  readonly version: string;
  /** Plain zod schemas of JSON. Objects are treated as strict at every depth. */
  readonly state: Schema;
  readonly initial?: z.infer<Schema>;
  /** Default: one process `state` that sees and changes the whole state. */
  readonly processes?: Words['processes'];
  /** Default: one role `agent` that performs every process. */
  readonly roles?: Words['roles'];
  readonly actions: {
    readonly [Name in keyof Actions]: Action<
      z.infer<Schema>,
      Actions[Name],
      ParamsOfAction<Words, Name>
    >;
  };
  /**
   * The invariants in order: the first that does not pass decides. A function receives `invariant`,
   * `each`, `unique`, `sum`, `count` and `eachCall` typed for this state. A plain list is untyped.
   */
  readonly invariants:
    | readonly Invariant<any>[]
    | ((rules: Rules<z.infer<Schema>>) => readonly Invariant<any>[]);
  readonly counselors?: Readonly<Record<string, CounselorPredicate>>;
  /**
   * By kind of counselor, the kind that may decide for it after a while. The proposal names both
   * and the time when it is submitted. No deputy decides about an effect in doubt. Default: none.
   */
  readonly deputies?: Readonly<Record<string, Deputy>>;
  /**
   * The scope that a pending approval stops: only changes of the same members (`reserve`, the
   * default), the footprints that the proposal touches, or the whole state. Under `reserve` every
   * other proposal must also pass with everything that waits (docs/decisions/009-freeze.md).
   */
  readonly freeze?: 'world' | 'footprint' | 'reserve';
  /**
   * The form of the texts in arguments: their composed form (NFC, the default), or exactly as the
   * caller gave them. Composed texts that look the same are the same, in rules, state keys and
   * policies (docs/decisions/022-equal-texts.md).
   */
  readonly texts?: 'composed' | 'exact';
  /**
   * The predicates of the memory (`assize.believe`, and `beliefs` of actions). Default: no memory.
   */
  readonly memory?: MemorySpec;
  /**
   * Changing calls of a transaction body that neither the action declares nor an `eachCall` rule
   * judges: refused as `unjudged_call` (the default), or allowed.
   */
  readonly unjudgedCalls?: 'refuse' | 'allow';
  /** Hash of the built code, if the build provides one. It is part of the domain's hash. */
  readonly build?: string;
}
