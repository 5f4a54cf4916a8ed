import type { Policy } from '#authority';
import { copyJson, WORLD_LIMITS } from '#canon';
import type { PolicyRuling, Ruling } from '#kernel';
import {
  approvalsOf,
  type CommitPayload,
  type DomainRef,
  type Entry,
  type Hash,
  type PendingPayload,
  type RejectionPayload,
} from '#ledger';
import { type EntryPlace, refOf } from '../deep-replay/report.ts';
import { described, isSameRuling, type Ruled, recordedRuling } from '../deep-replay/ruled.ts';
import { placeOf } from '../deep-replay/stage.ts';

type Outcome = 'committed' | 'rejected' | 'escalated';

/** What became of a proposal, and what would become of it: the same word twice where only the reason is another, or who must approve. */
export type ChangeKind = `${Outcome}_to_${Outcome}`;

/** Why a proposal can't be judged again. */
export type NotJudgeable =
  /** A value that it needs was erased; or it is an erasure itself; or it was made on values that were erased since. */
  | 'erased'
  /** An observation by oracle key can't be read back. */
  | 'observation'
  /** The ledger does not have the writ, which says who asks the policy: it was refused before that was asked. */
  | 'writ'
  /** What it says did not go with what was believed then. */
  | 'beliefs'
  /** It was refused for effects or for a conflict, which neither a domain nor a policy decides. */
  | 'other';

/** A proposal that would be ruled otherwise. */
export interface VerdictDifference extends EntryPlace {
  readonly action: string;
  /**
   * `{ruling, reason?, invariant_id?, rule?, channel?, approvals?, detail?}`. `rule` is the policy's, where it denied or asked
   * for an approval; `channel` is who must approve what is escalated, and `approvals` how many of them.
   */
  readonly recorded: Ruled;
  readonly now: Ruled;
  /** It was refused before its writ was looked at, and comes further now: that the writ grants it is assumed. */
  readonly writ_assumed?: true;
  /** What ended the wait for a person, where nobody would have been asked. */
  readonly resolved?: EntryPlace & { readonly ruling: 'committed' | 'rejected' };
}

export interface BacktestReport {
  readonly trajectory_id: string;
  /** The domain that judged, and the one that is recorded. */
  readonly domain: DomainRef;
  readonly recorded_domain: DomainRef;
  /** The policy that was asked; without one the recorded decisions stand. */
  readonly policy?: { readonly id: string; readonly digest: Hash };
  /** Entries of the trajectory. Those that are no proposal are neither judged nor counted below. */
  readonly entries: number;
  readonly judged: number;
  readonly same: number;
  /** Of those that differ, by kind. */
  readonly changes: { readonly [Kind in ChangeKind]?: number };
  readonly not_judgeable: { readonly [Why in NotJudgeable]?: number };
  /** What people decided, or nobody in time; and of it what nobody would have been asked. */
  readonly resolutions: number;
  readonly moot_resolutions: number;
  /** Of those that differ, how many rest on a writ that was never looked at. */
  readonly assumed: number;
  /** How many verdicts differ; the first of them are listed. */
  readonly difference_count: number;
  readonly differences: readonly VerdictDifference[];
}

/** Collects what a backtest finds. */
export class Verdicts {
  #judged: number = 0;
  #resolutions: number = 0;
  #mootResolutions: number = 0;
  #differenceCount: number = 0;
  #assumed: number = 0;
  readonly #limit: number;
  readonly #changes: { [Kind in ChangeKind]?: number } = {};
  readonly #lacking: { [Why in NotJudgeable]?: number } = {};
  readonly #differences: VerdictDifference[] = [];
  /** Escalations that would not be one: where they are listed, if they are. */
  readonly #moot: Map<Hash, number | undefined> = new Map();

  constructor(limit: number) {
    this.#limit = limit;
  }

  lacks(why: NotJudgeable): void {
    this.#lacking[why] = (this.#lacking[why] ?? 0) + 1;
  }

  /**
   * Compares what is recorded with what comes out now. `erased`: a difference may come of values that are gone. `assumed`: that
   * the writ grants it is.
   */
  judge(
    entry: Entry,
    action: string,
    [recorded, now]: readonly [Ruled, Ruled],
    { erased, assumed }: { readonly erased: boolean; readonly assumed: boolean },
  ): void {
    const alike = isSameRuling(recorded, now) && isSameApproval(recorded, now);
    if (!alike && erased) {
      this.lacks('erased');
      return;
    }
    this.#judged++;
    if (alike) return;
    const kind = `${recorded['ruling']}_to_${now['ruling']}` as ChangeKind;
    this.#changes[kind] = (this.#changes[kind] ?? 0) + 1;
    if (assumed) this.#assumed++;
    const listed = this.#differenceCount++ < this.#limit;
    if (kind.startsWith('escalated') && kind !== 'escalated_to_escalated')
      this.#moot.set(entry.id, listed ? this.#differences.length : undefined);
    if (!listed) return;
    this.#differences.push({
      ...placeOf(entry),
      action,
      recorded: copied(recorded),
      now: copied(now),
      ...(assumed ? { writ_assumed: true } : {}),
    });
  }

  /** Takes the approval of what waits for one person more: it waits under another name. */
  goesOn(entry: Entry<PendingPayload>): void {
    const pending = entry.payload.resolves as Hash;
    if (this.#moot.has(pending)) this.#moot.set(entry.id, this.#moot.get(pending));
  }

  /** Takes the end of what waited for a person. */
  resolves(entry: Entry<CommitPayload | RejectionPayload>): void {
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
    { domain, recorded, policy }: { domain: DomainRef; recorded: DomainRef; policy: Policy | undefined },
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

/** The values may be part of a state, and change with it. */
function copied(ruled: Ruled): Ruled {
  return copyJson(ruled, WORLD_LIMITS) as Ruled;
}

/** Whether it is for as many people of one sort to approve; of what is not escalated there is nothing to approve. */
function isSameApproval(a: Ruled, b: Ruled): boolean {
  return a['channel'] === b['channel'] && a['approvals'] === b['approvals'];
}

/** What would be ruled now, by which rule where a policy has its say in it, and who must approve it. */
export function ruledNow(judged: Ruling): Ruled {
  const policy = judged.verdict === 'rejected' ? judged.policy : judged.compiled.policy;
  const ruled = { ...described(judged), ...ruleOf(policy) };
  if (judged.verdict !== 'escalated') return ruled;
  const { channel, approvals } = judged;
  return { ...ruled, channel, approvals };
}

export const COMMITTED: Ruled = { ruling: 'committed' };

export function ruledThen(payload: RejectionPayload | PendingPayload): Ruled {
  const ruled = { ...recordedRuling(payload), ...ruleOf(payload.policy) };
  if (payload.kind === 'rejection') return ruled;
  return { ...ruled, channel: payload.channel, approvals: approvalsOf(payload).needed };
}

function ruleOf(policy: PolicyRuling | undefined): { readonly rule?: string } {
  return policy?.rule === undefined || policy.decision === 'allow' ? {} : { rule: policy.rule };
}
