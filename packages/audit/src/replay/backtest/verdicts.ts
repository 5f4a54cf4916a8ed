import type { Policy } from 'assize/internal/authority';
import { copyJson, type Instant, WORLD_LIMITS } from 'assize/internal/canon';
import type { PolicyRuling, Ruling } from 'assize/internal/kernel';
import {
  approvalsOf,
  type CommitPayload,
  type DomainRef,
  type Entry,
  type Hash,
  type PendingPayload,
  type RejectionPayload,
} from 'assize/internal/ledger';
import { type EntryPlace, refOf } from '../deep-replay/report.ts';
import { placeOf } from '../deep-replay/rerun-context.ts';
import { described, isSameRuling, recordedRuling, type ShownRuling } from '../deep-replay/ruled.ts';

type Outcome = 'committed' | 'rejected' | 'escalated';

/**
 * The recorded and the new outcome of a proposal. The same word twice if only the reason or the
 * approvers differ.
 */
export type ChangeKind = `${Outcome}_to_${Outcome}`;

/** The reason why a proposal cannot be adjudicated again. */
export type NotJudgeable =
  /**
   * A needed value was erased, the proposal is an erasure, or it used values that were erased
   * since.
   */
  | 'erased'
  /** An observation by oracle key cannot be read. */
  | 'observation'
  /**
   * The ledger lacks the writ that names the requester for the policy: the proposal was refused
   * before the policy was asked.
   */
  | 'writ'
  /** An upgrade: its migration is not in the domain. */
  | 'upgrade'
  /** Its statements did not fit the facts of that time. */
  | 'beliefs'
  /** It was refused for effects or for a conflict. Neither a domain nor a policy decides these. */
  | 'other';

/** A proposal with another ruling. */
export interface VerdictDifference extends EntryPlace {
  readonly action: string;
  /** The time of the proposal. */
  readonly at: string;
  /**
   * `{ruling, reason?, invariant_id?, rule?, channel?, approvals?, detail?}`. `rule` is the
   * policy's rule, if the policy denied or required approval. For an escalation, `channel` names
   * the approvers and `approvals` their required number.
   */
  readonly recorded: ShownRuling;
  readonly now: ShownRuling;
  /**
   * The proposal was refused before the check of its writ, and now passes that point: the writ is
   * assumed to grant it.
   */
  readonly writ_assumed?: true;
  /** The end of a pending proposal that would not have been escalated now. */
  readonly resolved?: EntryPlace & { readonly ruling: 'committed' | 'rejected' };
}

export interface BacktestReport {
  readonly trajectory_id: string;
  /** The domain that adjudicated, and the recorded one. */
  readonly domain: DomainRef;
  readonly recorded_domain: DomainRef;
  /** The policy that was asked; without one the recorded decisions stand. */
  readonly policy?: { readonly id: string; readonly digest: Hash };
  /**
   * Entries of the trajectory. Entries that are not proposals are not adjudicated, and not counted
   * below.
   */
  readonly entries: number;
  readonly judged: number;
  readonly same: number;
  /** Number of differences, by kind. */
  readonly changes: { readonly [Kind in ChangeKind]?: number };
  readonly not_judgeable: { readonly [Why in NotJudgeable]?: number };
  /** Number of human decisions and expiries, and of those that would not have been needed. */
  readonly resolutions: number;
  readonly moot_resolutions: number;
  /** Number of differences that depend on a writ that was never checked. */
  readonly assumed: number;
  /** Number of differences; the first of them are listed. */
  readonly difference_count: number;
  readonly differences: readonly VerdictDifference[];
}

/** The range of the proposals that are compared, and the maximum number of listed differences. */
export interface VerdictOptions {
  readonly from: Instant | undefined;
  readonly to: Instant | undefined;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly limit: number;
}

/** Collects the findings of a backtest. */
export class Verdicts {
  #judged: number = 0;
  #resolutions: number = 0;
  #mootResolutions: number = 0;
  #differenceCount: number = 0;
  #assumed: number = 0;
  readonly #options: VerdictOptions;
  readonly #changes: { [Kind in ChangeKind]?: number } = {};
  readonly #lacking: { [Why in NotJudgeable]?: number } = {};
  readonly #differences: VerdictDifference[] = [];
  /** Escalations that would not happen now, with their index in the list, if listed. */
  readonly #moot: Map<Hash, number | undefined> = new Map();

  constructor(options: VerdictOptions) {
    this.#options = options;
  }

  skip(why: NotJudgeable): void {
    this.#lacking[why] = (this.#lacking[why] ?? 0) + 1;
  }

  /**
   * Compares the recorded ruling with the new one. `erased`: a difference may come from erased
   * values. `assumed`: the writ is assumed to grant it. A proposal outside the range is not
   * counted.
   */
  judge(
    entry: Entry,
    action: string,
    [recorded, now]: readonly [ShownRuling, ShownRuling],
    at: string,
    { erased, assumed }: { readonly erased: boolean; readonly assumed: boolean },
  ): void {
    if (!this.#isWithin(entry, at)) return;
    const alike = isSameRuling(recorded, now) && isSameApproval(recorded, now);
    if (!alike && erased) {
      this.skip('erased');
      return;
    }
    this.#judged++;
    if (alike) return;
    const kind = `${recorded['ruling']}_to_${now['ruling']}` as ChangeKind;
    this.#changes[kind] = (this.#changes[kind] ?? 0) + 1;
    if (assumed) this.#assumed++;
    const listed = this.#differenceCount++ < this.#options.limit;
    if (kind.startsWith('escalated') && kind !== 'escalated_to_escalated')
      this.#moot.set(entry.id, listed ? this.#differences.length : undefined);
    if (!listed) return;
    this.#differences.push({
      ...placeOf(entry),
      action,
      at,
      recorded: copied(recorded),
      now: copied(now),
      ...(assumed ? { writ_assumed: true } : {}),
    });
  }

  /** Adds a further approval of a pending proposal. The proposal continues under another id. */
  continueEscalation(entry: Entry<PendingPayload>): void {
    const pending = entry.payload.resolves as Hash;
    if (this.#moot.has(pending)) this.#moot.set(entry.id, this.#moot.get(pending));
  }

  #isWithin({ seq }: Entry, at: string): boolean {
    const { from, to, fromSeq, toSeq } = this.#options;
    if (seq < fromSeq || seq > toSeq) return false;
    return (from === undefined || at >= from) && (to === undefined || at < to);
  }

  /** Adds the end of a pending proposal. */
  resolves(entry: Entry<CommitPayload | RejectionPayload>): void {
    if (!this.#isWithin(entry, entry.payload.at)) return;
    this.#resolutions++;
    const pending = entry.payload.resolves as Hash;
    if (!this.#moot.has(pending)) return;
    this.#mootResolutions++;
    const index = this.#moot.get(pending);
    if (index === undefined) return;
    const ruling = entry.kind === 'commit' ? 'committed' : 'rejected';
    const difference = this.#differences[index] as VerdictDifference;
    this.#differences[index] = { ...difference, resolved: { ...placeOf(entry), ruling } };
  }

  report(
    trajectoryId: string,
    {
      domain,
      recorded,
      policy,
    }: { domain: DomainRef; recorded: DomainRef; policy: Policy | undefined },
    entries: number,
  ): BacktestReport {
    return {
      trajectory_id: trajectoryId,
      domain: refOf(domain),
      recorded_domain: refOf(recorded),
      ...(policy === undefined ? {} : { policy: { id: policy.id, digest: policy.digest } }),
      entries,
      judged: this.#judged,
      same: this.#judged - this.#differenceCount,
      changes: this.#changes,
      not_judgeable: this.#lacking,
      resolutions: this.#resolutions,
      moot_resolutions: this.#mootResolutions,
      assumed: this.#assumed,
      difference_count: this.#differenceCount,
      differences: this.#differences,
    };
  }
}

/** The values may belong to a state that changes later. */
function copied(ruled: ShownRuling): ShownRuling {
  return copyJson(ruled, WORLD_LIMITS) as ShownRuling;
}

/**
 * Whether the same number of counselors of the same kind must approve. Without an escalation there
 * is nothing to compare.
 */
function isSameApproval(a: ShownRuling, b: ShownRuling): boolean {
  return a['channel'] === b['channel'] && a['approvals'] === b['approvals'];
}

/** The new ruling, the rule if a policy decided, and the required approvers. */
export function ruledNow(judged: Ruling): ShownRuling {
  const policy = judged.verdict === 'rejected' ? judged.policy : judged.compiled.policy;
  const ruled = { ...described(judged), ...ruleOf(policy) };
  if (judged.verdict !== 'escalated') return ruled;
  const { channel, approvals } = judged;
  return { ...ruled, channel, approvals };
}

export const COMMITTED: ShownRuling = { ruling: 'committed' };

export function ruledThen(payload: RejectionPayload | PendingPayload): ShownRuling {
  const ruled = { ...recordedRuling(payload), ...ruleOf(payload.policy) };
  if (payload.kind === 'rejection') return ruled;
  return { ...ruled, channel: payload.channel, approvals: approvalsOf(payload).needed };
}

function ruleOf(policy: PolicyRuling | undefined): { readonly rule?: string } {
  return policy?.rule === undefined || policy.decision === 'allow' ? {} : { rule: policy.rule };
}
