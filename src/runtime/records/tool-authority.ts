import type { Approved, Authority, Cost, Escalated, HeldBack, PolicyRuling, Refusal, Rejected } from '#kernel';
import type { BlobRow, Delta, EffectWrite, Hash } from '#ledger';

/** One use of a tool, for the writ and the policy to be asked about. */
export interface ToolUse {
  readonly action: string;
  readonly scopes: readonly string[];
  readonly args: Parameters<Authority['decides']>[0]['args'];
}

/** A call that can be neither undone nor held, and the kind of counselor that its tool wants to be asked. */
export interface Pivot {
  readonly tool: string;
  readonly channel?: string;
}

/** What a proposal brings of effects: they are ruled on with it, and written with its commit. */
export interface Acting {
  /** As the commit names them. */
  readonly effects: Delta['effects'];
  /** Of the transaction: what is reserved for undoing what it did is free with its commit. */
  readonly epoch: number;
  readonly cost: Cost;
  /** What undoing what is held would cost, where that may be undone after its commit. */
  readonly undoCost: Cost;
  readonly uses: readonly ToolUse[];
  /** What of it can be neither undone nor held, where that is still to be approved. */
  readonly pivot?: Pivot | undefined;
  /**
   * How it waits for a person, where something has been done already: that is undone, and called again, under other keys, once it is
   * approved (decisions §5.5).
   */
  readonly parked?: (() => Acting) | undefined;
  /** What the effects are, for what names them. */
  readonly blobs: readonly BlobRow[];
  /** What is written with the commit entry. */
  write(entry: Hash): { readonly write: EffectWrite; readonly blobs: readonly BlobRow[] };
  /** What is written with the entry that rejects it, or puts it up, if something of it is in the log. */
  undone(entry: Hash, by: UndoneBy): { readonly write: EffectWrite; readonly blobs: readonly BlobRow[] } | undefined;
}

/** The ruling by which what was done before it does not stay. */
export type UndoneBy = 'rejected' | 'escalated';

/** What a tool has answered is observed by this name, as nothing else is (`isToolObservation`); `place` is that of the branch. */
export function toolObservation(tool: string, place: string, ordinal: number): string {
  return `${tool}#${place}${ordinal}`;
}

/** Whether that is the name of what a tool has answered: nobody else may name anything so, and no entry says it otherwise. */
export function isToolObservation(name: string): boolean {
  return /^[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*#(?:\d+\.\d+\/)*\d+$/.test(name);
}

/** Whether a tool was asked for it: what that cost stands nowhere but in the sum, if nothing else is to be done by it. */
export function hasToolObservation(observations: readonly { readonly name: string }[]): boolean {
  return observations.some(({ name }) => isToolObservation(name));
}

/** Whose part tools are in what a policy is asked: they belong to no role of the domain. */
const TOOL_ROLE = Object.freeze({ name: 'assize.tool', params: Object.freeze({}) });

/** What writ and policy say of a use of a tool. */
interface Said {
  /** Why it may not be. */
  readonly refusal?: Refusal;
  /** Why a person is to be asked. */
  readonly asked?: HeldBack;
  readonly policy?: PolicyRuling;
}

const FREELY: Said = Object.freeze({});

function saidOf(authority: Authority, { action, scopes, args }: ToolUse): Said {
  const admitted = authority.admits({ action, scopes });
  if (!admitted.ok) return { refusal: { reason: 'invalid_authority', detail: admitted.detail } };
  const decided = authority.decides({ action, scopes, role: TOOL_ROLE, args });
  const policy = decided === undefined ? {} : { policy: decided.ruling };
  if (decided?.ruling.decision === 'deny')
    return { refusal: { reason: 'policy_denied', detail: decided.detail, ...policy } };
  if (decided?.ruling.decision === 'needs_approval')
    return { asked: { reason: 'policy_needs_approval', detail: `${action}: ${decided.detail}` }, ...policy };
  if (!admitted.needsApproval) return FREELY;
  const detail = `${action}: the writ lets this be done only with an approval`;
  return { asked: { reason: 'writ_requires_approval', detail }, ...policy };
}

/** Why a tool may not be used so, or undefined. A person who is to be asked is asked where `approval` says that one can be. */
export function refusalOf(authority: Authority, use: ToolUse, approval: boolean): Refusal | undefined {
  const { refusal, asked, policy } = saidOf(authority, use);
  if (asked === undefined || approval) return refusal;
  const detail = `${use.action} needs an approval, which comes too late for what acts at once`;
  return { reason: 'policy_denied', detail, ...(policy && { policy }) };
}

/** What a proposal costs, with what its tools do. */
export function costOf({ compiled }: Pick<Approved | Escalated, 'compiled'>, acting: Acting | undefined): Cost {
  return acting === undefined ? compiled.cost : sum(compiled.cost, acting.cost);
}

export function sum(left: Cost, right: Cost): Cost {
  const total: Record<string, number> = { ...left };
  for (const [unit, amount] of Object.entries(right)) total[unit] = (total[unit] ?? 0) + amount;
  return total;
}

/**
 * The budget is asked for what tools cost too, and a person where writ or policy (`asked`, as `toolsAsked` says) or the class of one of them
 * want that.
 */
export function withTools(authority: Authority, acting: Acting | undefined, asked?: HeldBack): Authority {
  if (acting === undefined) return authority;
  return {
    ...authority,
    affords: (cost) => authority.affords(sum(sum(cost, acting.cost), acting.undoCost)),
    holdsBack: () => heldBackBy(acting, asked),
  };
}

/** Whatever writ and policy say, a person is asked about what can be neither undone nor held (decisions §5.9). */
function heldBackBy({ pivot }: Acting, asked: HeldBack | undefined): HeldBack | undefined {
  if (pivot === undefined) return asked;
  const { tool, channel } = pivot;
  const also = asked === undefined ? '' : `; ${asked.detail}`;
  const detail = `${tool} can’t be undone, and acts at once${also}`;
  return { reason: 'irreversible', detail, ...(channel === undefined ? {} : { channel }) };
}

/**
 * What is held until the commit needs its authority then: a writ may have been revoked since it was planned. Why it has none, or why a
 * person is to be asked first about one of its uses.
 */
export function toolsAsked(
  authority: Authority,
  acting: Acting | undefined,
): { readonly refused?: Rejected; readonly asked?: HeldBack | undefined } {
  let first: HeldBack | undefined;
  for (const use of acting?.uses ?? []) {
    const { refusal, asked } = saidOf(authority, use);
    if (refusal !== undefined)
      return { refused: { verdict: 'rejected', ...refusal, detail: `${use.action}: ${refusal.detail}` } };
    first ??= asked;
  }
  return { asked: first };
}
