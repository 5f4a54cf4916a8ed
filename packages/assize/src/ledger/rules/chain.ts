import { canonicalize, contentHash } from '#canon';
import type {
  CommitPayload,
  CounselorRecord,
  DelegatedFrom,
  DelegationPayload,
  DomainRef,
  Entry,
  Instant,
  KeyChangePayload,
  Payload,
  PendingPayload,
  ProposalRecord,
  RejectionPayload,
} from '../entry/entry.ts';
import type { Hash } from '../entry/hash.ts';
import type { VerifiedRun } from '../entry/run.ts';
import {
  abandonmentFault,
  effectPendingFault,
  isAbandonment,
  isEffectPending,
  isSettlement,
  pendingEffectOf,
  type SettlementPayload,
  settlementFault,
} from '../entry/settlement.ts';
import {
  domainFrom,
  HALT_ACTION,
  type Halt,
  type HaltPayload,
  haltFault,
  isHalt,
  isRevocation,
  isUpgrade,
  keyAfter,
  passesHalt,
  REVOKE_ACTION,
  type RevocationPayload,
  revocationFault,
  UPGRADE_ACTION,
  type UpgradePayload,
  upgradeFault,
} from '../entry/system-actions.ts';
import { type FaultCode, LedgerFault } from '../errors.ts';
import type { BrokenRule, RuleId } from '../rule-ids.ts';
import { amendmentFault } from './amendments.ts';
import { isDeputised, isOfChannel, lastApprovalFault, partialApprovalFault } from './approvals.ts';
import { beliefsFault } from './belief-rules.ts';
import { isExpired, OpenApprovals } from './open-approvals.ts';
import { UnsettledEffects, type UnsettledEffectsState } from './unsettled-effects.ts';

/**
 * The state of the chain rules after an entry, as JSON. Open entries are listed by id, and their
 * content is read from the entries.
 */
export interface ChainState {
  readonly head: Hash;
  /** The seq of the next entry. */
  readonly seq: number;
  readonly at: Instant;
  readonly last_commit: Hash;
  readonly root: Hash;
  /** Oldest first. */
  readonly open: readonly Hash[];
  /** Oldest first. */
  readonly delegated: readonly Hash[];
  readonly children: readonly string[];
  readonly revoked: readonly Hash[];
  readonly unsettled: UnsettledEffectsState;
  readonly delegated_from?: DelegatedFrom;
  readonly answered?: Hash;
  /** The domain in force. */
  readonly domain: DomainRef;
  readonly upgraded?: LastUpgrade;
  readonly halts?: Halts;
  readonly resumed?: Resumed;
  /** The key in force. */
  readonly key?: string;
}

/** The halts that stand: of a principal here, and of the delegator. */
export interface Halts {
  readonly own?: Halt;
  readonly above?: Halt;
}

/** The entry that put the domain in force, if it is not the first entry. */
export interface LastUpgrade {
  readonly id: Hash;
  readonly seq: number;
}

/** The entry that ended the last halt. */
export interface Resumed {
  readonly id: Hash;
  readonly seq: number;
}

/**
 * The rules of one chain, entry by entry: position, parent, time, first entry and `parent_commit`.
 * A pending proposal is resolved at most once, by an entry that may resolve it. A delegation is
 * concluded at most once. Each check names its rule (`RULES`). The class is pure and knows no
 * state. Replay feeds it stored entries, and the runtime reads the open entries. `cross-chain.ts`
 * checks the rules between two chains.
 */
export class Chain {
  readonly trajectoryId: string;
  head: Hash | null = null;
  /** The seq of the next entry. */
  seq: number = 0;
  at: Instant = '';
  /** The `parent_commit` of the next commit (docs/decisions/005-branches.md). */
  lastCommit: Hash = '';
  /**
   * The id of the first entry. It is unique, also among trajectories of the same name in other
   * stores.
   */
  root: Hash = '';
  /** Unresolved pending approvals, by entry id. */
  readonly open: OpenApprovals = new OpenApprovals();
  /** Delegations that are not concluded, by the id of their start. */
  readonly delegated: Map<Hash, DelegationPayload> = new Map();
  /** Every trajectory that received a delegation. */
  readonly children: Set<string> = new Set();
  /**
   * Writs revoked here, or in a branch's source before the branch point. A branch never restores a
   * revoked writ.
   */
  readonly revoked: Set<Hash> = new Set();
  /** Effects of the chain's commits without a recorded outcome. */
  unsettled: UnsettledEffects = new UnsettledEffects();
  /** The delegation that created the trajectory, if any. */
  delegatedFrom: DelegatedFrom | undefined;
  /** The entry with the trajectory's final answer. No entry follows it. */
  answered: Hash | undefined;
  /** The domain in force. Undefined before the first entry. */
  domain: DomainRef | undefined;
  /** The last upgrade of the domain. */
  upgraded: LastUpgrade | undefined;
  halts: Halts = {};
  resumed: Resumed | undefined;
  /** The public key that signs the next entry. Undefined if no entry is signed. */
  key: string | undefined;

  constructor(trajectoryId: string) {
    this.trajectoryId = trajectoryId;
  }

  /** The chain of a saved state. `entryOf` finds the open entries of the chain. */
  static from(trajectoryId: string, state: ChainState, entryOf: (id: Hash) => Entry): Chain {
    const chain = new Chain(trajectoryId);
    chain.head = state.head;
    chain.seq = state.seq;
    chain.at = state.at;
    chain.lastCommit = state.last_commit;
    chain.root = state.root;
    for (const id of state.open) chain.open.set(id, payloadOf(entryOf(id), 'pending_approval'));
    for (const id of state.delegated) chain.delegated.set(id, payloadOf(entryOf(id), 'delegation'));
    for (const child of state.children) chain.children.add(child);
    chain.inherit(state.revoked);
    chain.unsettled = UnsettledEffects.from(state.unsettled);
    chain.delegatedFrom = state.delegated_from;
    chain.answered = state.answered;
    chain.domain = state.domain;
    chain.upgraded = state.upgraded;
    chain.halts = state.halts ?? {};
    chain.resumed = state.resumed;
    chain.key = state.key;
    return chain;
  }

  /** The state of a chain with at least one entry. */
  state(): ChainState {
    return {
      head: this.head as Hash,
      seq: this.seq,
      at: this.at,
      last_commit: this.lastCommit,
      root: this.root,
      open: [...this.open.keys()],
      delegated: [...this.delegated.keys()],
      children: [...this.children],
      revoked: [...this.revoked],
      unsettled: this.unsettled.state(),
      ...(this.delegatedFrom === undefined ? {} : { delegated_from: this.delegatedFrom }),
      ...(this.answered === undefined ? {} : { answered: this.answered }),
      domain: this.domain as DomainRef,
      ...(this.upgraded === undefined ? {} : { upgraded: this.upgraded }),
      ...(this.halted === undefined ? {} : { halts: this.halts }),
      ...(this.resumed === undefined ? {} : { resumed: this.resumed }),
      ...(this.key === undefined ? {} : { key: this.key }),
    };
  }

  /** A copy that continues independently. */
  copy(): Chain {
    const copy = new Chain(this.trajectoryId);
    copy.head = this.head;
    copy.seq = this.seq;
    copy.at = this.at;
    copy.lastCommit = this.lastCommit;
    copy.root = this.root;
    copy.delegatedFrom = this.delegatedFrom;
    copy.answered = this.answered;
    copy.domain = this.domain;
    copy.upgraded = this.upgraded;
    copy.halts = this.halts;
    copy.resumed = this.resumed;
    copy.key = this.key;
    for (const [id, pending] of this.open) copy.open.set(id, pending);
    for (const [id, delegation] of this.delegated) copy.delegated.set(id, delegation);
    for (const child of this.children) copy.children.add(child);
    copy.inherit(this.revoked);
    copy.unsettled = this.unsettled.copy();
    return copy;
  }

  /** Inherits the revocations at the branch point. */
  inherit(revoked: Iterable<Hash>): void {
    for (const id of revoked) this.revoked.add(id);
  }

  /** Accepts the next entry. @throws LedgerFault; the chain is then unchanged */
  accept(entry: Entry): void {
    this.#checkPlace(entry);
    const { payload } = entry;
    switch (payload.kind) {
      case 'root':
        this.root = entry.id;
        this.lastCommit = entry.id;
        this.delegatedFrom = payload.delegated_from;
        break;
      case 'branch':
        this.root = entry.id;
        this.lastCommit = payload.source_commit_id;
        break;
      case 'commit':
        this.#checkCommit(entry, payload);
        this.lastCommit = entry.id;
        if (isRevocation(payload)) this.revoked.add(payload.action.args.writ);
        if (isUpgrade(payload)) this.upgraded = { id: entry.id, seq: entry.seq };
        if (isHalt(payload)) this.#moveHalts(entry.id, payload);
        if (isSettlement(payload)) this.unsettled.settle(payload.action.args.settled);
        else this.unsettled.record(entry.id, payload);
        if (payload.resolves !== undefined) this.open.delete(payload.resolves);
        break;
      case 'rejection':
        this.#checkRejection(entry, payload);
        if (payload.resolves !== undefined) this.open.delete(payload.resolves);
        break;
      case 'pending_approval':
        this.#checkPending(entry, payload);
        if (payload.resolves !== undefined) this.open.delete(payload.resolves);
        this.open.set(entry.id, payload);
        break;
      case 'delegation':
        this.#acceptDelegation(entry, payload);
        break;
      case 'key_change':
        this.#checkKeyChange(entry, payload);
        break;
    }
    this.domain = domainFrom(payload) ?? this.domain;
    this.key = keyAfter(payload);
    this.head = entry.id;
    this.seq = entry.seq + 1;
    this.at = payload.at;
  }

  /**
   * Continues after a run of entries. Returns false and changes nothing if the run does not follow
   * this chain.
   */
  join({
    trajectoryId,
    seq,
    count,
    parent,
    from,
    parentCommit,
    head,
    to,
    lastCommit,
    key,
  }: VerifiedRun): boolean {
    const follows =
      trajectoryId === this.trajectoryId &&
      seq === this.seq &&
      parent === this.head &&
      from >= this.at;
    const commits = parentCommit === undefined || parentCommit === this.lastCommit;
    const stands =
      this.frozenBy() !== undefined || this.answered !== undefined || this.halted !== undefined;
    if (!follows || !commits || stands || key !== this.key) return false;
    this.head = head;
    this.seq = seq + count;
    this.at = to;
    this.lastCommit = lastCommit ?? this.lastCommit;
    return true;
  }

  /** The pending approval that currently freezes the whole state, if any. */
  frozenBy(): Hash | undefined {
    return this.open.freezing;
  }

  /** The halt that stands; the own one if there are two. */
  get halted(): Halt | undefined {
    return this.halts.own ?? this.halts.above;
  }

  #checkPlace(entry: Entry): void {
    const { kind, seq } = entry;
    const trajectoryId = entry.trajectory_id;
    if (trajectoryId !== this.trajectoryId)
      throw this.#broken(
        entry,
        'place.parent',
        `the entry belongs to ${trajectoryId}`,
        'broken_chain',
      );
    if (seq !== this.seq)
      throw this.#broken(
        entry,
        'place.parent',
        `seq ${this.seq} was expected here`,
        'broken_chain',
      );
    if (entry.parent !== this.head)
      throw this.#broken(entry, 'place.parent', `the parent must be ${this.head}`, 'broken_chain');

    const begins = kind === 'root' || kind === 'branch';
    if (begins !== (seq === 0)) {
      const detail = begins
        ? `a ${kind} entry must be the first of a chain`
        : 'a chain must start with a root or a branch';
      throw this.#broken(entry, 'place.first', detail);
    }

    if (entry.payload.at < this.at)
      throw this.#broken(entry, 'place.time', `time goes back from ${this.at}`);

    if (this.answered !== undefined)
      throw this.#broken(
        entry,
        'place.answered',
        `no entry may follow the final answer ${this.answered}`,
      );

    if (this.halted !== undefined && !passesHalt(entry.payload))
      throw this.#broken(entry, 'place.halted', `the trajectory is halted by ${this.halted.id}`);

    const key = entry.payload.signature?.key;
    if (this.key !== undefined && key !== this.key) {
      const is = key === undefined ? 'is not signed' : `is signed with ${key}`;
      throw this.#broken(
        entry,
        'place.signed',
        `the entry ${is}, and the key in force is ${this.key}`,
        'bad_signature',
      );
    }
  }

  /** `place.signed` has compared the signature with the key in force. */
  #checkKeyChange(entry: Entry, { signature, to }: KeyChangePayload): void {
    if (signature === undefined)
      throw this.#broken(
        entry,
        'key.change',
        'a change of the key must be signed',
        'bad_signature',
      );
    if (this.key === undefined && signature.key !== to)
      throw this.#broken(
        entry,
        'key.change',
        `the first key signs itself in, and ${signature.key} signs in ${to}`,
      );
    if (this.key === to)
      throw this.#broken(entry, 'key.change', `${to} is the key in force already`);
  }

  #checkCommit(entry: Entry, payload: CommitPayload): void {
    const { resolves, counselor, approved_by: given, detection_vector: vector, amended } = payload;
    if (payload.parent_commit !== this.lastCommit)
      throw this.#broken(entry, 'commit.parent-commit', `parent_commit must be ${this.lastCommit}`);

    if (isSettlement(payload)) {
      this.#checkSettlement(entry, payload);
      return;
    }
    if (isUpgrade(payload)) {
      this.#checkUpgrade(entry, payload);
      return;
    }
    if (isRevocation(payload)) this.#checkRevocation(entry, payload);
    else if (isHalt(payload)) this.#checkHalt(entry, payload);
    else this.#checkFrozen(entry, 'commit.frozen', resolves);

    const wrong = beliefsFault(payload.delta.beliefs, payload.at);
    if (wrong !== undefined) throw this.#broken(entry, wrong.rule, wrong.detail);

    if (resolves === undefined) {
      if (counselor !== undefined || given !== undefined)
        throw this.#broken(
          entry,
          'commit.direct',
          'a counselor can only commit a pending proposal',
        );
      if (amended !== undefined)
        throw this.#broken(entry, 'commit.direct', 'only a pending proposal can be amended');
      return;
    }

    const pending = this.#pending(entry, 'commit.proposal', resolves);
    if (payload.proposal_id !== pending.proposal.proposal_id)
      throw this.#broken(entry, 'commit.proposal', 'it commits another proposal than it resolves');
    const fields = amended === undefined ? intentFields : amendedFields;
    if (canonicalize(fields(payload)) !== canonicalize(fields(pending.proposal)))
      throw this.#broken(
        entry,
        'commit.proposal',
        'its action, writ, cost, key or observations differ from the pending ones',
      );
    if (counselor === undefined || vector === undefined)
      throw this.#broken(
        entry,
        'commit.proposal',
        'an approval must name its counselor and the detection vector',
      );

    this.#checkChannel(entry, 'commit.channel', counselor, pending);

    this.#checkUnexpired(entry, 'commit.expired', 'it approves', pending);

    const notLast = lastApprovalFault({ counselor, vector, earlier: given }, pending);
    if (notLast !== undefined) throw this.#broken(entry, 'commit.approvals', notLast);

    const notAmended =
      amended === undefined ? undefined : amendmentFault({ ...payload, amended }, pending);
    if (notAmended !== undefined) throw this.#broken(entry, 'commit.amended', notAmended);
  }

  #checkRejection(entry: Entry, payload: RejectionPayload): void {
    const { reason, resolves, counselor } = payload;
    const isAbandoned = isAbandonment(payload);
    const malformed = isAbandoned ? abandonmentFault(payload) : undefined;
    if (malformed !== undefined)
      throw this.#malformed(entry, { rule: 'attempt.form', detail: malformed });

    const goesOn = GOING_ON.has(reason) || UNFROZEN.has(payload.intent.action) || isAbandoned;
    if (!goesOn) this.#checkFrozen(entry, 'rejection.frozen', resolves);

    if (resolves === undefined) {
      if (reason === 'counselor_rejected' || counselor !== undefined)
        throw this.#broken(
          entry,
          'rejection.direct',
          'a counselor can only reject a pending proposal',
        );
      if (reason === 'expired')
        throw this.#broken(entry, 'rejection.direct', 'only a pending proposal can expire');
      if (reason === 'upgraded')
        throw this.#broken(
          entry,
          'rejection.direct',
          'an upgrade can only close a pending proposal',
        );
      return;
    }

    const pending = this.#pending(entry, 'rejection.proposal', resolves);
    if (isEffectPending(pending))
      throw this.#broken(
        entry,
        'rejection.proposal',
        'a pending effect cannot be rejected and does not expire',
      );
    if (payload.proposal_id !== pending.proposal.proposal_id)
      throw this.#broken(
        entry,
        'rejection.proposal',
        'it rejects another proposal than it resolves',
      );
    if (canonicalize(intentOf(payload)) !== canonicalize(askedOf(pending.proposal)))
      throw this.#broken(
        entry,
        'rejection.proposal',
        'its intent, writ or key differs from the pending one',
      );

    if (reason === 'upgraded') {
      if (this.upgraded === undefined || pending.seq > this.upgraded.seq)
        throw this.#broken(
          entry,
          'rejection.upgraded',
          'no upgrade followed the proposal that it resolves',
        );
      if (counselor !== undefined)
        throw this.#broken(entry, 'rejection.upgraded', 'an upgrade closes without a counselor');
      return;
    }

    if (reason !== 'counselor_rejected' && reason !== 'conflict' && reason !== 'expired')
      throw this.#broken(
        entry,
        'rejection.reason',
        `${reason} does not resolve a pending proposal`,
      );
    // Nothing else has changed the state since.
    if (reason === 'conflict' && pending.freezes === 'world')
      throw this.#broken(
        entry,
        'rejection.reason',
        'a proposal that freezes the whole state has no conflict',
      );

    if (reason !== 'expired') {
      if (counselor === undefined)
        throw this.#broken(
          entry,
          'rejection.counselor',
          `a resolution with ${reason} must name its counselor`,
        );
      this.#checkChannel(entry, 'rejection.counselor', counselor, pending);
      this.#checkUnexpired(entry, 'rejection.counselor', 'a counselor rejects', pending);
      return;
    }

    if (!isExpired(pending, payload.at))
      throw this.#broken(
        entry,
        'rejection.expired',
        'the proposal that it resolves has not expired',
      );
    if (counselor !== undefined)
      throw this.#broken(entry, 'rejection.expired', 'an expiry has no counselor');
  }

  #checkPending(entry: Entry, payload: PendingPayload): void {
    const { resolves, approved_by: given, reason, proposal } = payload;
    if (isEffectPending(payload)) this.#checkEffectPending(entry, payload);
    else this.#checkFrozen(entry, 'pending.frozen', resolves);
    if (STOPS.has(proposal.action.name))
      throw this.#broken(
        entry,
        'pending.frozen',
        `a commit of ${proposal.action.name} cannot be pending`,
      );

    if (payload.head !== entry.parent)
      throw this.#broken(
        entry,
        'pending.digest',
        'a pending approval was adjudicated on another head',
      );
    if (contentHash(proposal) !== payload.digest)
      throw this.#broken(entry, 'pending.digest', 'the digest does not match the proposal');
    if (reason === 'irreversible' && proposal.delta.effects.length === 0)
      throw this.#broken(
        entry,
        'pending.digest',
        'a proposal without effects cannot be irreversible',
      );
    if ((reason === 'contradiction') !== (proposal.questions !== undefined))
      throw this.#broken(
        entry,
        'pending.digest',
        'a pending approval must have questions if it is a contradiction, and only then',
      );
    if (reason === 'contradiction' && payload.freezes.length > 0)
      throw this.#broken(entry, 'pending.digest', 'a contradiction freezes nothing');

    if (resolves === undefined) {
      if (given !== undefined)
        throw this.#broken(entry, 'pending.direct', 'a new pending approval cannot have approvals');
      if (!isDeputised(payload))
        throw this.#broken(
          entry,
          'pending.direct',
          'its deputies are not one for a kind of its channel, each from a later time on',
        );
      return;
    }

    const before = this.#pending(entry, 'pending.proposal', resolves);
    const fault = partialApprovalFault(payload, before);
    if (fault !== undefined) throw this.#broken(entry, fault.rule, fault.detail);

    this.#checkChannel(entry, 'pending.counselor', given?.at(-1) as CounselorRecord, before);
    this.#checkUnexpired(entry, 'pending.counselor', 'it approves', before);
  }

  #pending(entry: Entry, rule: RuleId, id: Hash): PendingPayload {
    const pending = this.open.get(id);
    if (pending === undefined)
      throw this.#broken(entry, rule, `${id} is not pending, or was resolved earlier`);
    return pending;
  }

  #checkChannel(
    entry: Entry,
    rule: RuleId,
    counselor: CounselorRecord,
    pending: PendingPayload,
  ): void {
    if (!isOfChannel(counselor, pending, entry.payload.at))
      throw this.#broken(
        entry,
        rule,
        `it is resolved as ${counselor.as}, but needs ${pending.channel}`,
      );
  }

  #checkUnexpired(entry: Entry, rule: RuleId, does: string, pending: PendingPayload): void {
    if (isExpired(pending, entry.payload.at))
      throw this.#broken(entry, rule, `${does} a proposal that expired at ${pending.expires}`);
  }

  /** A freeze does not stop an upgrade: the pending proposals go on, or are closed. */
  #checkUpgrade(entry: Entry, payload: UpgradePayload): void {
    const malformed = upgradeFault(payload);
    if (malformed !== undefined)
      throw this.#malformed(entry, { rule: 'upgrade.form', detail: malformed });

    const { from, to } = payload.action.args;
    const { domain } = this;
    if (from !== domain?.hash)
      throw this.#broken(
        entry,
        'upgrade.from',
        `it continues ${from}, but the domain in force is ${domain?.hash}`,
      );
    if (to.hash === from)
      throw this.#broken(entry, 'upgrade.from', `${to.name}@${to.version} is in force already`);
    if (to.name !== domain.name)
      throw this.#broken(entry, 'upgrade.from', `${to.name} is not a version of ${domain.name}`);
  }

  #checkRevocation(entry: Entry, payload: RevocationPayload): void {
    const malformed = revocationFault(payload);
    if (malformed !== undefined)
      throw this.#malformed(entry, { rule: 'revocation.form', detail: malformed });

    const { from } = payload.action.args;
    if (from !== undefined && from.trajectory_id !== this.delegatedFrom?.trajectory_id)
      throw this.#broken(
        entry,
        'revocation.delegated',
        `this trajectory was not delegated from ${from.trajectory_id}`,
      );
  }

  #checkHalt(entry: Entry, payload: HaltPayload): void {
    const malformed = haltFault(payload);
    if (malformed !== undefined)
      throw this.#malformed(entry, { rule: 'halt.form', detail: malformed });

    const { does, from, remains = false } = payload.action.args;
    if (from !== undefined && from.trajectory_id !== this.delegatedFrom?.trajectory_id)
      throw this.#broken(
        entry,
        'halt.delegated',
        `this trajectory was not delegated from ${from.trajectory_id}`,
      );

    const { own, above } = this.halts;
    const [same, other] = from === undefined ? [own, above] : [above, own];
    if ((does === 'halt') === (same !== undefined))
      throw this.#broken(
        entry,
        'halt.order',
        does === 'halt' ? 'the halt stands already' : 'no halt stands to resume',
      );
    if (does === 'resume' && remains !== (other !== undefined))
      throw this.#broken(
        entry,
        'halt.order',
        'it does not say correctly whether another halt stands',
      );
  }

  #moveHalts(id: Hash, { seq, at, action }: HaltPayload): void {
    const { does, from, reason, principal } = action.args;
    const { own, above } = this.halts;
    const [same, other] =
      from === undefined ? (['own', { above }] as const) : (['above', { own }] as const);
    const stands = does === 'halt' ? { [same]: { id, seq, at, reason, principal } } : {};
    this.halts = Object.fromEntries(
      Object.entries({ ...other, ...stands }).filter(([, halt]) => halt !== undefined),
    );
    if (this.halted === undefined) this.resumed = { id, seq };
  }

  /**
   * An effect is settled once, and belongs to a commit of this chain. An unresolved effect is
   * settled as decided.
   */
  #checkSettlement(entry: Entry, payload: SettlementPayload): void {
    const malformed = settlementFault(payload);
    if (malformed !== undefined) throw this.#malformed(entry, malformed);

    const { settled, decided } = payload.action.args;
    const fault = this.unsettled.fault(settled);
    if (fault !== undefined) throw this.#broken(entry, 'settlement.unsettled', fault);

    const [first] = settled;
    if (first !== undefined && payload.writ_id !== this.unsettled.writOf(first.commit))
      throw this.#broken(
        entry,
        'settlement.writ',
        'its writ differs from the writ of the first commit that it names',
      );
    const dear = settled.filter(({ effects }) => effects.some(({ cost }) => cost !== undefined));
    if (dear.some(({ commit }) => payload.writ_id !== this.unsettled.writOf(commit)))
      throw this.#broken(
        entry,
        'settlement.writ',
        'a compensation cost is charged to the writ of another commit',
      );

    if (payload.resolves === undefined || decided === undefined) return;
    const pending = this.#pending(entry, 'settlement.pending', payload.resolves);
    const waits = isEffectPending(pending) ? pendingEffectOf(pending) : undefined;
    const { proposal_id, writ_id } = pending.proposal;
    const isAsked =
      waits?.id === decided.id &&
      payload.proposal_id === proposal_id &&
      payload.writ_id === writ_id;
    if (!isAsked)
      throw this.#broken(
        entry,
        'settlement.pending',
        'it decides on another effect than it resolves',
      );
    // An applied effect may still be compensated because another one failed. It is settled once
    // that is known.
    const mayBeUndone = first === undefined && decided.as === 'applied';
    if (!mayBeUndone && first?.commit !== (decided.as === 'retry' ? undefined : waits.commit))
      throw this.#broken(
        entry,
        'settlement.pending',
        'the decision must be settled for the commit of the effect',
      );
  }

  /** An unresolved effect belongs to an unsettled commit or to no commit, and is pending once. */
  #checkEffectPending(entry: Entry, payload: PendingPayload): void {
    const malformed = effectPendingFault(payload);
    if (malformed !== undefined) throw this.#malformed(entry, malformed);
    if (!isEffectPending(payload))
      throw this.#malformed(entry, { rule: 'effect.args', detail: 'it names no pending effect' });

    const { id, commit } = pendingEffectOf(payload);
    if (commit !== undefined) {
      if (!this.unsettled.forCommit(commit).has(id))
        throw this.#broken(entry, 'effect.commit', `${id} is not an unsettled effect of ${commit}`);
      if (payload.proposal.writ_id !== this.unsettled.writOf(commit))
        throw this.#broken(
          entry,
          'effect.commit',
          'its writ differs from the writ of the commit that it names',
        );
    }

    if (this.open.waitingFor(id) !== undefined)
      throw this.#broken(entry, 'effect.once', `${id} is already pending`);
  }

  /**
   * Only some entries may follow while the whole state is frozen: the resolution, expiry,
   * revocations, conclusions of delegations and effect outcomes (docs/decisions/009-freeze.md). A
   * freeze must delay neither the removal of authority nor the record of external effects.
   */
  #checkFrozen(entry: Entry, rule: RuleId, resolves: Hash | undefined): void {
    const frozen = this.frozenBy();
    if (frozen !== undefined && resolves !== frozen)
      throw this.#broken(entry, rule, `the whole state is frozen until ${frozen} is resolved`);
  }

  #acceptDelegation(entry: Entry, payload: DelegationPayload): void {
    const { concludes, child_trajectory_id: child } = payload;
    if (concludes === undefined) {
      this.#checkStart(entry, payload);
      this.delegated.set(entry.id, payload);
      this.children.add(child);
      return;
    }
    if (payload.begins !== undefined)
      throw this.#broken(
        entry,
        'delegation.begins',
        'only the start of a delegation records the initial state of the child',
      );
    if (child === this.trajectoryId) {
      this.#checkAnswer(entry, payload);
      this.answered = entry.id;
      // Pending proposals can no longer commit.
      this.open.clear();
    } else {
      this.#checkConclusion(entry, payload, concludes);
      this.delegated.delete(concludes);
    }
  }

  #checkStart(entry: Entry, payload: DelegationPayload): void {
    const { child_trajectory_id: child } = payload;
    this.#checkFrozen(entry, 'start.frozen', undefined);

    const said = (['child_head', 'final_answer', 'budget_cost'] as const).find(
      (name) => payload[name] !== undefined,
    );
    if (said !== undefined)
      throw this.#broken(entry, 'start.members', `the start of a delegation cannot have ${said}`);

    if (child === this.trajectoryId || child === this.delegatedFrom?.trajectory_id)
      throw this.#broken(entry, 'start.child', `it delegates back to ${child}`);
    if (this.children.has(child))
      throw this.#broken(entry, 'start.child', `${child} already had a delegation`);
  }

  #checkAnswer(entry: Entry, { concludes, child_head }: DelegationPayload): void {
    if (this.delegatedFrom?.entry_id !== concludes)
      throw this.#broken(
        entry,
        'answer.origin',
        `this trajectory was not created by the delegation ${concludes}`,
      );

    if (child_head !== undefined)
      throw this.#broken(
        entry,
        'answer.open',
        'a final answer cannot have child_head, because it is the head',
      );
    if (this.delegated.size > 0)
      throw this.#broken(
        entry,
        'answer.open',
        'a final answer needs all delegations to be concluded',
      );
  }

  #checkConclusion(entry: Entry, payload: DelegationPayload, concludes: Hash): void {
    const started = this.delegated.get(concludes);
    if (started === undefined)
      throw this.#broken(entry, 'conclusion.start', `${concludes} is not an open delegation`);

    if (started.child_trajectory_id !== payload.child_trajectory_id)
      throw this.#broken(entry, 'conclusion.task', 'it concludes the delegation of another child');
    if (canonicalize(delegationIdentity(started)) !== canonicalize(delegationIdentity(payload)))
      throw this.#broken(entry, 'conclusion.task', 'its task or writ differs from the delegation');
    if (payload.child_head === undefined)
      throw this.#broken(entry, 'conclusion.task', 'a conclusion must have the head of the child');
  }

  #broken(
    { seq }: Entry,
    rule: RuleId,
    detail: string,
    code: FaultCode = 'rule_broken',
  ): LedgerFault {
    return new LedgerFault({ trajectory_id: this.trajectoryId, seq, code, rule, detail });
  }

  #malformed(entry: Entry, { rule, detail }: BrokenRule): LedgerFault {
    return this.#broken(entry, rule, detail, 'malformed');
  }
}

/** The reasons and the built-in actions of rejections that a freeze does not stop. */
const GOING_ON: ReadonlySet<RejectionPayload['reason']> = new Set(['expired', 'upgraded']);
const UNFROZEN: ReadonlySet<string> = new Set([REVOKE_ACTION, HALT_ACTION, UPGRADE_ACTION]);
/** The actions that stop authority or work. No freeze delays them, and none of them waits. */
const STOPS: ReadonlySet<string> = new Set([REVOKE_ACTION, HALT_ACTION]);

/** @throws LedgerFault for an entry that cannot be open */
function payloadOf<Kind extends 'pending_approval' | 'delegation'>(
  { trajectory_id, seq, payload }: Entry,
  kind: Kind,
): Extract<Payload, { kind: Kind }> {
  if (payload.kind === kind) return payload as Extract<Payload, { kind: Kind }>;
  throw new LedgerFault({
    trajectory_id,
    seq,
    code: 'rule_broken',
    detail: `a ${payload.kind} entry is not an open ${kind}`,
  });
}

/** The fields of a proposal that an approval keeps unchanged. */
function intentFields(asked: CommitPayload | ProposalRecord): unknown {
  const { action, writ_id, budget_cost, observations, key_hash } = asked;
  return { action, writ_id, budget_cost, observations, key_hash: key_hash ?? null };
}

/** The fields of a proposal that an amendment keeps unchanged. */
function amendedFields({
  writ_id,
  observations,
  key_hash,
}: CommitPayload | ProposalRecord): unknown {
  return { writ_id, observations, key_hash: key_hash ?? null };
}

/** The intent that a resolution names. */
function intentOf({ intent, writ_id, key_hash }: RejectionPayload): unknown {
  const { action, role, args, observations } = intent;
  return { action, role, args, observations, writ_id: writ_id ?? null, key_hash: key_hash ?? null };
}

function askedOf({ action, observations, writ_id, key_hash }: ProposalRecord): unknown {
  return {
    action: action.name,
    role: action.role,
    args: action.args,
    observations,
    writ_id,
    key_hash: key_hash ?? null,
  };
}

/** The fields that all entries of one delegation share. */
export function delegationIdentity({
  child_trajectory_id,
  task,
  writ,
}: DelegationPayload): unknown {
  return { child_trajectory_id, task, writ };
}
