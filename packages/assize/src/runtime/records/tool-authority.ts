import type {
  ApprovalDemand,
  Approved,
  Authority,
  Cost,
  Escalated,
  InputCall,
  PolicyRuling,
  Refusal,
  Rejected,
} from '#kernel';
import type { BlobRow, Delta, EffectWrite, Hash } from '#ledger';

/** One use of a tool, for the check by writ and policy. */
export interface ToolUse {
  readonly action: string;
  readonly scopes: readonly string[];
  readonly args: Parameters<Authority['decides']>[0]['args'];
}

/** A call of a pivot tool, and the kind of counselor that its tool requires. */
export interface Pivot {
  readonly tool: string;
  readonly channel?: string;
}

/** The effects of a proposal: adjudicated with it, and written with its commit. */
export interface CommitPlan {
  /** As the commit names them. */
  readonly effects: Delta['effects'];
  /** The calls of these effects, in the same order, as rules judge them. */
  readonly calls: readonly InputCall[];
  /** Whether the action declares all calls, and no body of a transaction made any. */
  readonly isProposed?: boolean;
  /**
   * The epoch of the transaction. The budget reserved for its compensations is released with the
   * commit.
   */
  readonly epoch: number;
  readonly cost: Cost;
  /** The cost of compensating buffered effects, if they may be compensated after the commit. */
  readonly undoCost: Cost;
  readonly uses: readonly ToolUse[];
  /** The pivot among the effects, if it is not approved yet. */
  readonly pivot?: Pivot | undefined;
  /**
   * The form in which the transaction waits for approval, if some effects have already executed.
   * They are compensated now and called again under other keys after the approval
   * (docs/decisions/015-effect-order.md).
   */
  readonly pendingEffects?: (() => CommitPlan) | undefined;
  /** The blobs of the effects. */
  readonly blobs: readonly BlobRow[];
  /** The effect-log write of the batch with the commit entry. */
  commitRecords(entry: Hash): { readonly write: EffectWrite; readonly blobs: readonly BlobRow[] };
  /**
   * The effect-log write of the batch with the entry that rejects or escalates the proposal, if the
   * log has effects of it.
   */
  abortRecords(
    entry: Hash,
    by: AbortingRuling,
  ): { readonly write: EffectWrite; readonly blobs: readonly BlobRow[] } | undefined;
}

/** A ruling after which the executed effects are compensated. */
export type AbortingRuling = 'rejected' | 'escalated';

/**
 * The observation name of a tool's answer; the name is reserved (`isToolObservation`). `place` is
 * the path of the branch.
 */
export function toolObservation(tool: string, place: string, ordinal: number): string {
  return `${tool}#${place}${ordinal}`;
}

/** The observation name of the input of a read: `stock.look#0.input`. */
export function inputObservation(tool: string, place: string, ordinal: number): string {
  return `${toolObservation(tool, place, ordinal)}.input`;
}

/**
 * Whether a name is that of a tool's answer, or of the input of a read. No caller may use such a
 * name, and entries use no other for these values.
 */
export function isToolObservation(name: string): boolean {
  return /^[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*#(?:\d+\.\d+\/)*\d+(?:\.input)?$/.test(name);
}

/**
 * Whether the proposal observed a tool's answer. If no effect remains, only the total contains the
 * cost of that call.
 */
export function hasToolObservation(observations: readonly { readonly name: string }[]): boolean {
  return observations.some(({ name }) => isToolObservation(name));
}

/** The role of tools in policy requests: tools belong to no role of the domain. */
const TOOL_ROLE = Object.freeze({ name: 'assize.tool', params: Object.freeze({}) });

/** The result of writ and policy for a use of a tool. */
interface ToolVerdict {
  /** The reason of a refusal. */
  readonly refusal?: Refusal;
  /** The reason for an escalation. */
  readonly asked?: ApprovalDemand;
  readonly policy?: PolicyRuling;
}

const FREELY: ToolVerdict = Object.freeze({});

function toolVerdict(authority: Authority, { action, scopes, args }: ToolUse): ToolVerdict {
  const admitted = authority.admits({ action, scopes });
  if (!admitted.ok) return { refusal: { reason: 'invalid_authority', detail: admitted.detail } };
  const decided = authority.decides({ action, scopes, role: TOOL_ROLE, args });
  const policy = decided === undefined ? {} : { policy: decided.ruling };
  if (decided?.ruling.decision === 'deny')
    return { refusal: { reason: 'policy_denied', detail: decided.detail, ...policy } };
  if (decided?.ruling.decision === 'needs_approval')
    return {
      asked: { reason: 'policy_needs_approval', detail: `${action}: ${decided.detail}` },
      ...policy,
    };
  if (!admitted.needsApproval) return FREELY;
  const detail = `${action}: the writ requires an approval for this action`;
  return { asked: { reason: 'writ_requires_approval', detail }, ...policy };
}

/**
 * The reason to refuse this use of a tool, or undefined. If approval is required, `approval` tells
 * whether a human can be asked.
 */
export function refusalOf(
  authority: Authority,
  use: ToolUse,
  approval: boolean,
): Refusal | undefined {
  const { refusal, asked, policy } = toolVerdict(authority, use);
  if (asked === undefined || approval) return refusal;
  const detail = `${use.action} needs an approval, which is too late for an effect that executes immediately`;
  return { reason: 'policy_denied', detail, ...(policy && { policy }) };
}

/** The cost of a proposal, including its tools. */
export function costOf(
  { compiled }: Pick<Approved | Escalated, 'compiled'>,
  acting: CommitPlan | undefined,
): Cost {
  return acting === undefined ? compiled.cost : sum(compiled.cost, acting.cost);
}

export function sum(left: Cost, right: Cost): Cost {
  const total: Record<string, number> = { ...left };
  for (const [unit, amount] of Object.entries(right)) total[unit] = (total[unit] ?? 0) + amount;
  return total;
}

/**
 * Adds tools to an authority: the budget must cover their cost. Approval is required if the writ,
 * the policy (`asked`, from `checkBufferedTools`) or a tool's class requires it.
 */
export function withTools(
  authority: Authority,
  acting: CommitPlan | undefined,
  asked?: ApprovalDemand,
): Authority {
  if (acting === undefined) return authority;
  return {
    ...authority,
    affords: (cost) => authority.affords(sum(sum(cost, acting.cost), acting.undoCost)),
    approvalDemand: () => irreversibleDemand(acting, asked),
  };
}

/**
 * A pivot always requires approval, regardless of writ and policy
 * (docs/decisions/016-effect-outcomes.md#pivot).
 */
function irreversibleDemand(
  { pivot }: CommitPlan,
  asked: ApprovalDemand | undefined,
): ApprovalDemand | undefined {
  if (pivot === undefined) return asked;
  const { tool, channel } = pivot;
  const also = asked === undefined ? '' : `; ${asked.detail}`;
  const detail = `${tool} cannot be compensated and executes immediately${also}`;
  return { reason: 'irreversible', detail, ...(channel === undefined ? {} : { channel }) };
}

/**
 * Buffered effects need authority at the commit, because a writ may have been revoked since they
 * were planned. Returns the refusal, or the reason to require approval for one of the uses.
 */
export function checkBufferedTools(
  authority: Authority,
  acting: CommitPlan | undefined,
): { readonly refused?: Rejected; readonly asked?: ApprovalDemand | undefined } {
  let first: ApprovalDemand | undefined;
  for (const use of acting?.uses ?? []) {
    const { refusal, asked } = toolVerdict(authority, use);
    if (refusal !== undefined)
      return {
        refused: { verdict: 'rejected', ...refusal, detail: `${use.action}: ${refusal.detail}` },
      };
    first ??= asked;
  }
  return { asked: first };
}
