import type { Instant } from 'assize/internal/canon';
import {
  type CommitPayload,
  type CounselorRecord,
  type DelegationPayload,
  domainFrom,
  type Entry,
  type Hash,
  haltArgs,
  isEffectPending,
  isErasure,
  isSamePrincipal,
  isUpgrade,
  type LedgerStore,
  type PendingPayload,
  pendingEffectIn,
  type RejectionPayload,
  revocationArgs,
  settlementArgs,
  type UpgradePayload,
} from 'assize/internal/ledger';
import { WritHolders } from 'assize/internal/runtime';
import { Decisions } from './decisions.ts';
import type { EscalationReason, Figure } from './figures.ts';
import { distinctPeople, mayBePerson } from './people.ts';
import { type Example, exampleOf, Tallies } from './tally.ts';

/** The entries that a reading counts. */
export interface Scope {
  /** Only entries from this instant on. */
  readonly since?: Instant;
  /** Only entries before this instant. The standing at the end is that of this instant. */
  readonly until?: Instant;
  /** Only these trajectories. Default: all. */
  readonly trajectories?: ReadonlySet<string>;
}

/** The domain whose rules a file gives, and its actions that change them. */
const GATEWAY = 'gateway';
const RULES_CHANGED = 'configure';
const TOOL_PINNED = 'pin';

/** The domain of responses to incidents. A person has approved each committed one. */
const INCIDENT = 'incident';
const RESPONSE_OPENED = 'open';
const STEP_RECORDED = 'record';

/**
 * Counts entries as they come in the order of the log. It reads names, reasons and times. An entry
 * has these in place, so an erasure after the fact changes no figure. A writ that only a blob has
 * is read for the names of its holders.
 */
export class Collector {
  readonly tallies: Tallies<Figure> = new Tallies();
  /** The proposals that wait at the end of the period, whenever they began. */
  readonly decisions: Decisions = new Decisions();
  /** The number of decisions on proposals in the period, by the principal. */
  readonly deciders: Map<string, number> = new Map();
  /** The trajectories with an entry in the period, and the domains in force in it. */
  readonly active: Set<string> = new Set();
  readonly domains: Set<string> = new Set();
  /** The halts that stand at the end of the period. */
  readonly halted: Map<string, { readonly by: string; readonly example: Example }> = new Map();
  /** The first and the last entry of the trajectories, before the end of the period. */
  first: Example | undefined;
  last: Example | undefined;
  /** The latest time in the log, in scope or not. */
  latest: Instant | undefined;
  /** The position after the last counted entry. */
  end = 0;

  readonly #scope: Scope;
  readonly #writs: WritHolders;
  readonly #domainOf: Map<string, string> = new Map();
  readonly #requesters: Map<Hash, Hash> = new Map();

  constructor(store: Pick<LedgerStore, 'blob'>, scope: Scope) {
    this.#scope = scope;
    this.#writs = new WritHolders(store);
  }

  async add(entry: Entry, position: number): Promise<void> {
    const { since = '', until, trajectories } = this.#scope;
    const { trajectory_id, payload } = entry;
    if (payload.kind === 'root' || payload.kind === 'branch') this.#writs.learn(payload.writs);
    if (payload.kind === 'delegation') this.#writs.learn([payload.writ]);
    if (this.latest === undefined || payload.at > this.latest) this.latest = payload.at;
    if (trajectories !== undefined && !trajectories.has(trajectory_id)) return;
    if (until !== undefined && payload.at >= until) return;
    const domain = domainFrom(payload);
    if (domain !== undefined) this.#domainOf.set(trajectory_id, `${domain.name}@${domain.version}`);
    if (this.first === undefined || payload.at < this.first.at) this.first = exampleOf(entry);
    if (this.last === undefined || payload.at >= this.last.at) this.last = exampleOf(entry);
    this.#follow(entry);
    const isIn = payload.at >= since;
    if (isIn) {
      this.end = position + 1;
      this.#countEntry(entry);
    }
    await this.#resolve(entry, isIn);
  }

  /** Keeps the halts that stand after the entry, in the period or before it. */
  #follow(entry: Entry): void {
    const halt = haltArgs(entry.payload);
    if (halt?.does === 'halt')
      this.halted.set(entry.trajectory_id, {
        by: halt.principal,
        example: exampleOf(entry, byReason(halt)),
      });
    if (halt?.does === 'resume' && halt.remains !== true) this.halted.delete(entry.trajectory_id);
  }

  #countEntry(entry: Entry): void {
    const { trajectory_id, payload } = entry;
    const domain = this.#domainOf.get(trajectory_id);
    this.active.add(trajectory_id);
    if (domain !== undefined) this.domains.add(domain);
    this.#count('entries', entry);
    this.#count(payload.signature === undefined ? 'unsigned' : 'signed', entry);
    if ('policy' in payload && payload.policy !== undefined)
      this.#count('policy_judged', entry, payload.policy.rule);
    switch (payload.kind) {
      case 'root':
        this.#count('roots', entry, domain);
        break;
      case 'branch':
        this.#count('branches', entry, payload.note);
        break;
      case 'key_change':
        this.#count('key_changes', entry, payload.reason);
        break;
      case 'delegation':
        this.#countDelegation(entry, payload);
        break;
      case 'commit':
        this.#countCommit(entry, payload);
        break;
      case 'rejection':
        this.#countRejection(entry, payload);
        break;
      case 'pending_approval':
        this.#countPending(entry, payload);
        break;
    }
  }

  /** Counts the start in the parent alone: the answer and the conclusion name it. */
  #countDelegation(entry: Entry, { concludes, task }: DelegationPayload): void {
    if (concludes === undefined) this.#count('delegations', entry, task);
  }

  #countCommit(entry: Entry, payload: CommitPayload): void {
    const { action, delta } = payload;
    this.#count('commits', entry, action.name);
    if (delta.effects.length > 0) this.#count('with_effects', entry, action.name);
    if (delta.beliefs.length > 0) this.#count('with_facts', entry, action.name);
    if (isErasure(payload)) this.#count('erasures', entry);
    if (isUpgrade(payload)) this.#countUpgrade(entry, payload);
    const [domain] = this.#domainOf.get(entry.trajectory_id)?.split('@') ?? [];
    if (domain === GATEWAY && action.name === RULES_CHANGED) this.#count('rule_changes', entry);
    if (domain === GATEWAY && action.name === TOOL_PINNED) this.#count('pinned_tools', entry);
    if (domain === INCIDENT && action.name === RESPONSE_OPENED) this.#count('responses', entry);
    if (domain === INCIDENT && action.name === STEP_RECORDED) this.#count('response_steps', entry);
    this.#countStops(entry, payload);
    this.#countOutcomes(entry, payload);
  }

  #countUpgrade(entry: Entry, { action, counselor }: UpgradePayload): void {
    this.#count('upgrades', entry, action.args.reason);
    if (counselor !== undefined) this.#countOverride(entry, counselor);
  }

  #countStops(entry: Entry, payload: CommitPayload): void {
    const halt = haltArgs(payload);
    // A trajectory below a halted one has a copy that names the original.
    if (halt !== undefined && halt.from === undefined) {
      const name = halt.does === 'halt' ? 'halts' : 'resumes';
      this.#count(name, entry, byReason(halt));
      this.#count(
        mayBePerson(halt.principal) ? `people:${name}` : 'programs:halts',
        entry,
        byReason(halt),
      );
    }
    const revoked = revocationArgs(payload);
    if (revoked !== undefined && revoked.from === undefined)
      this.#count('revocations', entry, revoked.reason);
  }

  #countOutcomes(entry: Entry, payload: CommitPayload): void {
    const { settled = [], decided } = settlementArgs(payload) ?? {};
    for (const { outcome, by } of settled.flatMap(({ effects }) => effects)) {
      if (outcome !== 'applied') this.#count(outcome, entry);
      if (by !== undefined) this.#count('operator_decisions', entry, `by ${by}`);
    }
    if (decided !== undefined)
      this.#count('operator_decisions', entry, `${decided.as}, by ${decided.by}`);
  }

  #countRejection(entry: Entry, { reason, detail, invariant_id }: RejectionPayload): void {
    this.#count(
      `refused:${reason}`,
      entry,
      invariant_id === undefined ? detail : `${invariant_id}: ${detail}`,
    );
  }

  #countPending(entry: Entry, payload: PendingPayload): void {
    const { resolves, reason, channel, detail } = payload;
    if (isEffectPending(payload)) this.#count('in_doubt', entry, pendingEffectIn(payload)?.tool);
    else if (resolves === undefined)
      this.#count(`escalated:${reason as EscalationReason}`, entry, `${channel}: ${detail}`);
  }

  /** Opens and closes pending entries, and counts the decisions of the period. */
  async #resolve(entry: Entry, isIn: boolean): Promise<void> {
    const { payload } = entry;
    if (payload.kind === 'pending_approval') await this.#openPending(entry, payload, isIn);
    if (payload.kind === 'commit' || payload.kind === 'rejection')
      await this.#closePending(entry, payload, isIn);
  }

  /** A proposal that waits, or waits on after an approval that is not the last. */
  async #openPending(entry: Entry, payload: PendingPayload, isIn: boolean): Promise<void> {
    const { at, expires, channel, detail, resolves, proposal, approved_by = [] } = payload;
    this.#requesters.set(entry.id, proposal.writ_id);
    const example = exampleOf(entry, `${channel}: ${detail}`);
    const isEffect = isEffectPending(payload);
    this.decisions.open(
      entry.id,
      { since: at, isEffect, example, ...(expires !== undefined && { expires }) },
      resolves,
    );
    const approver = approved_by.at(-1);
    if (isIn && resolves !== undefined && approver !== undefined)
      await this.#countApproval(entry, resolves, approver);
  }

  async #closePending(
    entry: Entry,
    payload: CommitPayload | RejectionPayload,
    isIn: boolean,
  ): Promise<void> {
    const { resolves, counselor } = payload;
    if (resolves === undefined) return;
    const millis = this.decisions.close(resolves, payload.at);
    if (!isIn || counselor === undefined) return;
    if (millis !== undefined) this.decisions.countTime(millis);
    if (payload.kind === 'rejection')
      return this.#countDecider(entry, counselor, 'people:refusals');
    this.#countApprovers(entry, payload, counselor);
    await this.#countApproval(entry, resolves, counselor);
  }

  /** Counts an amendment, and a commit that several principals approved. */
  #countApprovers(
    entry: Entry,
    { amended, approved_by = [] }: CommitPayload,
    counselor: CounselorRecord,
  ): void {
    if (amended !== undefined) {
      const by = `by ${counselor.principal}`;
      this.#count('amendments', entry, by);
      if (mayBePerson(counselor.principal)) this.#count('people:amendments', entry, by);
    }
    const approvers = [...approved_by, counselor].map(({ principal }) => principal);
    if (approvers.length > 1) this.#count('approved_by_several', entry);
    if (distinctPeople(approvers).length > 1) this.#count('people:several', entry);
  }

  async #countApproval(entry: Entry, pending: Hash, counselor: CounselorRecord): Promise<void> {
    const { principal } = counselor;
    const note = decidedBy(counselor);
    this.#countDecider(entry, counselor, 'people:approvals');
    this.#count('approvals', entry, note);
    this.#countOverride(entry, counselor);
    const writ = this.#requesters.get(pending);
    const holders = writ === undefined ? [] : await this.#writs.chainOf(writ);
    const names = holders.flatMap(({ principal: holder }) =>
      holder === undefined ? [] : [holder],
    );
    if (names.some((name) => isSamePrincipal(name, principal)))
      this.#count('self_approvals', entry, note);
    if (names.length === 0 || names.length < holders.length)
      this.#count('requester_unknown', entry, note);
  }

  #countOverride(entry: Entry, counselor: CounselorRecord): void {
    const { override, reason = '' } = counselor;
    if (override !== true) return;
    this.#count(
      reason.trim() === '' ? 'overrides_without_reason' : 'overrides_with_reason',
      entry,
      decidedBy(counselor),
    );
  }

  #countDecider(
    entry: Entry,
    counselor: CounselorRecord,
    people: 'people:approvals' | 'people:refusals',
  ): void {
    const { principal } = counselor;
    this.deciders.set(principal, (this.deciders.get(principal) ?? 0) + 1);
    this.#count(
      mayBePerson(principal) ? people : 'programs:decisions',
      entry,
      decidedBy(counselor),
    );
  }

  #count(name: Figure, entry: Entry, note?: string): void {
    this.tallies.add(name, entry, note);
  }
}

function decidedBy({ principal, as, reason }: CounselorRecord): string {
  return `by ${principal} as ${as}${reason === undefined ? '' : `: ${reason}`}`;
}

function byReason({
  principal,
  reason,
}: {
  readonly principal: string;
  readonly reason: string;
}): string {
  return `by ${principal}: ${reason}`;
}
