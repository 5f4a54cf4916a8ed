import {
  createWritVerifier,
  mayHalt,
  mayRevoke,
  parseWrit,
  type Writ,
  type WritRefusal,
  type WritVerifier,
  writId,
} from '#authority';
import { isAssizeError, isInstance } from '#base';
import { canonicalize } from '#canon';
import {
  type Amounts,
  type Chain,
  type DelegationPayload,
  type Entry,
  type FaultCode,
  type HaltPayload,
  type Hash,
  type Instant,
  isEffectEntry,
  isHalt,
  isRevocation,
  LedgerFault,
  type RevocationPayload,
  type UndoingCosts,
  undoingCostsOf,
  type VerifiedRun,
} from '#ledger';
import { lineageOf, loadWrit, type WritChain, Writs } from './writs.ts';

/** The spending under one writ in the entries read so far. */
interface Account {
  /** The seq of the first entry that names the writ. */
  readonly seq: number;
  readonly spent: Map<string, number>;
}

/** A started delegation: its writ's budget is reserved until it is concluded. */
interface StartedDelegation {
  readonly seq: number;
  readonly at: Instant;
  readonly child: string;
  readonly writ: Writ;
}

/**
 * A revocation: the writ that authorises it, the revoked writ, and whether it was adopted from the
 * parent trajectory.
 */
interface RecordedRevocation {
  readonly seq: number;
  readonly by: Hash;
  readonly writ: Hash;
  readonly isAdopted: boolean;
}

/** A halt or resume: the writ that authorises it, or the delegated writ if it was adopted. */
interface RecordedHalt {
  readonly seq: number;
  readonly by: Hash;
  readonly isAdopted: boolean;
}

/**
 * The amounts spent and reserved between two stage boundaries: a conclusion of a delegation (it
 * refunds) or a revocation. Within one stage budgets and rights only shrink, so the order in it
 * does not matter. The boundary entry affects only the stage after it.
 */
interface BudgetStage {
  readonly refund?: { readonly seq: number; readonly writ: Writ; readonly spent: Amounts };
  readonly revoked?: RecordedRevocation;
  readonly started: StartedDelegation[];
  readonly halts: RecordedHalt[];
  readonly accounts: Map<Hash, Account>;
  /**
   * Costs of compensations. They are booked only up to the remaining budget, so after everything
   * else in the stage.
   */
  readonly compensationCosts: (UndoingCosts & { readonly seq: number })[];
}

/**
 * The part of replay that checks authority (docs/decisions/013-log-and-replay.md). Every writ of a
 * commit, open approval or delegation must be in the ledger, signed, attenuated from a root, and
 * for this trajectory. Spent and reserved amounts never exceed a writ's budget. Nothing was done
 * under a revoked writ, and revoking and halting principals had the right to it. A final answer
 * states the amounts spent before it.
 *
 * Outcomes of effects are recorded under no writ, also after a revocation; the cost of
 * compensations counts against the original writ. Configuration decides which roots count, and is
 * checked when a writ is used.
 */
export class AuthorityFold {
  readonly #trajectoryId: string;
  readonly #writs: Writs;
  readonly #stages: BudgetStage[] = [newStage()];
  readonly #open: Map<Hash, StartedDelegation> = new Map();
  /** Writs that were checked. */
  readonly #sound: Set<Hash> = new Set();
  /** One verifier per issuer of roots. */
  readonly #verifiers: Map<string, WritVerifier> = new Map();
  /** The origins of the halts that stand. */
  readonly #halts: Set<'own' | 'above'> = new Set();
  #answer: { readonly seq: number; readonly spent: Amounts } | undefined;

  /** `from`: continues from the result of another fold, and changes it. */
  constructor(trajectoryId: string, from?: { readonly writs: Writs; readonly chain: Chain }) {
    this.#trajectoryId = trajectoryId;
    this.#writs = from?.writs ?? new Writs();
    for (const [id, start] of from?.chain.delegated ?? []) this.#open.set(id, startedBy(start));
  }

  /**
   * Inherits the revocations at the entry where a branch starts: nothing in the branch is done
   * under those writs.
   */
  inherit(revoked: ReadonlySet<Hash>): void {
    this.#writs.inherit(revoked);
  }

  /** Adds an entry that replay accepted. @throws LedgerFault */
  note(entry: Entry): void {
    const { seq, payload } = entry;
    if (payload.kind === 'root') {
      this.#try(seq, 'writ_tampered', () =>
        this.#writs.bind(payload.writs, payload.delegated_from !== undefined),
      );
    } else if (payload.kind === 'branch') {
      this.#try(seq, 'writ_tampered', () => this.#writs.bind(payload.writs));
    } else if (isEffectEntry(payload)) this.#noteUndoing(seq, undoingCostsOf(payload));
    else if (isRevocation(payload)) this.#noteRevocation(payload);
    else if (isHalt(payload)) this.#noteHalt(payload);
    else if (payload.kind === 'commit') this.#spend(seq, payload.writ_id, payload.budget_cost);
    else if (payload.kind === 'pending_approval') this.#spend(seq, payload.proposal.writ_id, {});
    else if (payload.kind === 'delegation') this.#noteDelegation(entry as Entry<DelegationPayload>);
  }

  /** Adds a run that replay accepted. */
  noteRun({ spent }: VerifiedRun): void {
    for (const { writId, seq, cost } of spent) this.#spend(seq, writId, cost);
  }

  /** The writs with their budgets, after the last entry. @throws LedgerFault */
  async settle(blob: (hash: Hash) => Promise<string | undefined>): Promise<Writs> {
    for (const { refund, revoked, started, halts, accounts, compensationCosts } of this.#stages) {
      if (refund !== undefined) {
        const { seq, writ, spent } = refund;
        this.#try(seq, 'overspent', () => this.#writs.settle(writ, spent));
      }
      if (revoked !== undefined) await this.#revoke(revoked, blob);
      for (const [id, { seq }] of accounts) {
        await this.#check(seq, id, blob);
        this.#checkStands(seq, id);
      }
      for (const halt of halts) await this.#checkHalt(halt, blob);
      for (const start of started) this.#checkDelegated(start);
      for (const [id, { seq, spent }] of accounts) {
        this.#try(seq, 'overspent', () => this.#writs.book(id, Object.fromEntries(spent)));
      }
      for (const { seq, ...costs } of compensationCosts) {
        await this.#check(seq, costs.writId, blob);
        this.#writs.bookCompensation(costs);
      }
    }
    if (this.#answer !== undefined) this.#checkAnswer(this.#answer);
    return this.#writs;
  }

  /** Whether this trajectory has an open delegation, or was itself delegated to. */
  get isLinked(): boolean {
    return this.#open.size > 0 || this.#writs.delegated !== undefined;
  }

  /**
   * The delegations that are open after `settle` under a writ revoked here: the child, and the
   * revoked writs among its writ and its ancestors.
   */
  revokedDelegations(): { readonly child: string; readonly revoked: readonly Hash[] }[] {
    const found: { child: string; revoked: Hash[] }[] = [];
    for (const { child, writ } of this.#open.values()) {
      const lineage = [writId(writ), ...lineageOf(this.#writs.get(writ.parent as Hash))];
      const revoked = lineage.filter((id) => this.#writs.revoked.has(id));
      if (revoked.length > 0) found.push({ child, revoked });
    }
    return found;
  }

  /** The children of open delegations. */
  openChildren(): readonly string[] {
    return [...this.#open.values()].map(({ child }) => child);
  }

  /** Whether a halt stands after the last entry. */
  get isHalted(): boolean {
    return this.#halts.size > 0;
  }

  /** Whether the last entries agree with a delegator that is halted, or is not. */
  agreesWithHalt(isHaltedAbove: boolean): boolean {
    return this.#answer !== undefined || this.#halts.has('above') === isHaltedAbove;
  }

  /**
   * Whether, after `settle`, nothing more is done here under any of these writs: the trajectory has
   * ended, or one of them is revoked.
   */
  isDoneWith(revoked: readonly Hash[]): boolean {
    return this.#answer !== undefined || revoked.some((id) => this.#writs.revoked.has(id));
  }

  /** A revocation needs a valid writ, unless it was adopted. It affects only later entries. */
  #noteRevocation({ seq, writ_id: by, action }: RevocationPayload): void {
    const { writ, from } = action.args;
    const isTakenOver = from !== undefined;
    if (!isTakenOver) this.#spend(seq, by, {});
    this.#stages.push(newStage({ revoked: { seq, by, writ, isAdopted: isTakenOver } }));
  }

  /** A halt or resume needs a valid writ with the right to halt, unless it was adopted. */
  #noteHalt({ seq, writ_id: by, action }: HaltPayload): void {
    const { does, from } = action.args;
    const isAdopted = from !== undefined;
    this.#halts[does === 'halt' ? 'add' : 'delete'](isAdopted ? 'above' : 'own');
    if (!isAdopted) this.#spend(seq, by, {});
    this.#stage.halts.push({ seq, by, isAdopted });
  }

  #noteUndoing(seq: number, costs: UndoingCosts | undefined): void {
    if (costs !== undefined) this.#stage.compensationCosts.push({ seq, ...costs });
  }

  #noteDelegation({ id, seq, payload }: Entry<DelegationPayload>): void {
    const { concludes, child_trajectory_id: child, budget_cost: spent = {} } = payload;
    if (concludes === undefined) {
      const started = this.#try(seq, 'writ_tampered', () => startedBy(payload));
      const { writ } = started;
      if (writ.parent === null)
        throw this.#fault(seq, 'writ_tampered', 'a root writ cannot be delegated');
      this.#open.set(id, started);
      this.#stage.started.push(started);
      this.#spend(seq, writ.parent, writ.budget ?? {});
    } else if (child === this.#trajectoryId) {
      this.#answer = { seq, spent };
    } else {
      const { writ } = this.#open.get(concludes) as StartedDelegation;
      this.#open.delete(concludes);
      this.#stages.push(newStage({ refund: { seq, writ, spent } }));
    }
  }

  get #stage(): BudgetStage {
    return this.#stages.at(-1) as BudgetStage;
  }

  async #check(
    seq: number,
    id: Hash,
    blob: (hash: Hash) => Promise<string | undefined>,
  ): Promise<void> {
    if (this.#sound.has(id)) return;
    const { writ, chain } = await this.#chainOf(seq, id, blob);
    this.#try(seq, 'writ_tampered', () => {
      const held = this.#verifierFor(chain.at(-1) ?? writ).verify(
        writ,
        chain,
        this.#writs.delegated,
      );
      if (!held.ok) throw this.#refused(seq, held);
      this.#writs.admitNamed({ writ, chain });
    });
    if (writ.trajectory !== undefined && writ.trajectory !== this.#trajectoryId)
      throw this.#fault(seq, 'writ_tampered', `the writ ${id} is for ${writ.trajectory}`);
    this.#sound.add(id);
  }

  /**
   * The revoking principal must stand above the revoked writ. An adopted revocation concerns an
   * ancestor of the delegated writ, and was authorised in the parent.
   */
  async #revoke(
    { seq, by, writ: id, isAdopted }: RecordedRevocation,
    blob: (hash: Hash) => Promise<string | undefined>,
  ): Promise<void> {
    await this.#check(seq, by, blob);
    const revoked = await this.#chainOf(seq, id, blob);
    this.#try(seq, 'writ_tampered', () => {
      const held = this.#verifierFor(revoked.chain.at(-1) ?? revoked.writ).verifyAnywhere(
        revoked.writ,
        revoked.chain,
      );
      if (!held.ok) throw this.#refused(seq, held);
    });
    const { delegated } = this.#writs;
    const isAbove = isAdopted
      ? by === delegated && this.#writs.isBelow(by, id)
      : mayRevoke(this.#writs.get(by) as WritChain, revoked);
    if (!isAbove)
      throw this.#fault(
        seq,
        'rule_broken',
        `the holder of the writ ${by} is not an ancestor of ${id}`,
      );
    this.#writs.revoked.add(id);
  }

  async #checkHalt(
    { seq, by, isAdopted }: RecordedHalt,
    blob: (hash: Hash) => Promise<string | undefined>,
  ): Promise<void> {
    await this.#check(seq, by, blob);
    const isRight = isAdopted
      ? by === this.#writs.delegated
      : mayHalt(this.#writs.get(by) as WritChain);
    if (!isRight)
      throw this.#fault(seq, 'rule_broken', `the writ ${by} does not give the right to halt`);
  }

  #checkStands(seq: number, id: Hash): void {
    const revoked = this.#writs.revokedAbove(id);
    if (revoked !== undefined)
      throw this.#fault(
        seq,
        'rule_broken',
        `the entry uses the writ ${id}, and ${revoked} was revoked earlier`,
      );
  }

  /** Checks that the writ may be delegated; its parent is known by now. */
  #checkDelegated({ seq, at, child, writ }: StartedDelegation): void {
    const { writ: above, chain } = this.#writs.get(writ.parent as Hash) as WritChain;
    const { revoked, delegated } = this.#writs;
    const links = [above, ...chain];
    this.#try(seq, 'writ_tampered', () => {
      const use = {
        writ,
        chain: links,
        trajectory: this.#trajectoryId,
        child,
        at,
        revoked,
        delegated,
      };
      const held = this.#verifierFor(links.at(-1) as Writ).checkDelegation(use);
      if (!held.ok) throw this.#refused(seq, held);
    });
  }

  #checkAnswer({ seq, spent }: { readonly seq: number; readonly spent: Amounts }): void {
    const booked = canonicalize(this.#writs.spentOfDelegated());
    const said = canonicalize(
      Object.fromEntries(Object.entries(spent).filter(([, amount]) => amount > 0)),
    );
    if (said !== booked)
      throw this.#fault(
        seq,
        'rule_broken',
        `the entry records a cost of ${said}, and the spent cost is ${booked}`,
      );
  }

  #verifierFor({ issuer }: Writ): WritVerifier {
    let verifier = this.#verifiers.get(issuer);
    if (verifier === undefined) {
      verifier = createWritVerifier({ anchors: [issuer] });
      this.#verifiers.set(issuer, verifier);
    }
    return verifier;
  }

  async #chainOf(
    seq: number,
    id: Hash,
    blob: (hash: Hash) => Promise<string | undefined>,
  ): Promise<WritChain> {
    const known = this.#writs.get(id);
    if (known !== undefined) return known;
    let unread: unknown;
    const read = (hash: Hash): Promise<string | undefined> =>
      blob(hash).catch((error: unknown) => {
        unread = error;
        throw error;
      });
    try {
      const chain = await loadWrit(id, this.#writs, read);
      this.#writs.admitNamed(chain);
      this.#writs.stored(this.#writs.unstored(chain));
      return chain;
    } catch (error) {
      // A text that could not be read says nothing about the ledger.
      if (error === unread || !isAssizeError(error)) throw error;
      const code = error.evidence['fault'] === 'writ_missing' ? 'writ_missing' : 'writ_tampered';
      throw this.#fault(seq, code, error.message, error);
    }
  }

  #spend(seq: number, id: Hash, cost: Amounts): void {
    const { accounts } = this.#stage;
    let account = accounts.get(id);
    if (account === undefined) {
      account = { seq, spent: new Map() };
      accounts.set(id, account);
    }
    for (const unit in cost)
      account.spent.set(unit, (account.spent.get(unit) ?? 0) + (cost[unit] as number));
  }

  #try<T>(seq: number, code: FaultCode, step: () => T): T {
    try {
      return step();
    } catch (error) {
      if (isInstance(error, LedgerFault) || !isAssizeError(error)) throw error;
      throw this.#fault(seq, code, error.message, error);
    }
  }

  #refused(seq: number, { detail }: WritRefusal): LedgerFault {
    return this.#fault(seq, 'writ_tampered', detail);
  }

  #fault(seq: number, code: FaultCode, detail: string, cause?: unknown): LedgerFault {
    return new LedgerFault({ trajectory_id: this.#trajectoryId, seq, code, detail }, cause);
  }
}

/** @throws AuthorityError `bad_writ` */
function startedBy({
  seq,
  at,
  child_trajectory_id: child,
  writ,
}: DelegationPayload): StartedDelegation {
  return { seq, at, child, writ: parseWrit(writ) };
}

function newStage(begins: Pick<BudgetStage, 'refund' | 'revoked'> = {}): BudgetStage {
  return { ...begins, started: [], halts: [], accounts: new Map(), compensationCosts: [] };
}
