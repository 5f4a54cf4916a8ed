import { type Policy, type WritVerifier, writId } from '#authority';
import {
  addMicros,
  copyJson,
  instantToMillis,
  isAssizeError,
  type Json,
  maxInstant,
  RecentMap,
  WORLD_LIMITS,
} from '#canon';
import {
  type Authority,
  adjudicate,
  counsel,
  counselorKind,
  type Domain,
  type Ruling as Judgement,
  type RoleParams,
  type World,
} from '#kernel';
import {
  type BlobRow,
  type Chain,
  type CounselorRecord,
  type EntryRow,
  type EntrySigner,
  entryRow,
  type Hash,
  type Instant,
  type LedgerStore,
  type Payload,
  type PendingPayload,
  type Replayer,
} from '#ledger';
import type { Clock, OracleStore, Random } from '#oracle';
import { authorityFor } from './authority.ts';
import { RuntimeError } from './errors.ts';
import { frozenFor } from './freeze.ts';
import { checkForm, type Gathered, gather, type ProposalInput } from './intent.ts';
import {
  approvalPayload,
  commitPayload,
  digestOf,
  type Place,
  pendingPayload,
  rejectionPayload,
  resolutionPayload,
} from './records.ts';
import { proposalOf, type RuledProposals } from './ruled-proposals.ts';
import {
  type ApprovalInput,
  checkResolution,
  type RejectionInput,
  type Resolution,
  type Ruling,
  rulingFrom,
  rulingOf,
} from './ruling.ts';
import { type News, NO_NEWS, type SliceListener, Subscriptions } from './subscriptions.ts';
import { checkObserved, readWaiting } from './waiting.ts';
import { verified, type WritChain, type Writs } from './writs.ts';

/** What an open trajectory is made of. */
export interface TrajectoryParts {
  readonly domain: Domain;
  readonly chain: Chain;
  readonly world: World;
  readonly writs: Writs;
  /** Where proposals were ruled on. */
  readonly ruled: RuledProposals;
}

/** What the trajectories of one runtime share. */
export interface Surroundings {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly verifier: WritVerifier;
  readonly policy: Policy | undefined;
  readonly signer: EntrySigner | undefined;
  /** How long a pending approval stays open, in milliseconds; undefined: for ever. */
  readonly approvalMs: number | undefined;
  readonly replayer: Replayer;
  readonly oracle: Pick<OracleStore, 'oracleGet'> | undefined;
  /** Reads a trajectory anew from the store. */
  load(trajectoryId: string): Promise<TrajectoryParts>;
}

/** How often a proposal that lost to another writer is judged again before it is given up. */
const TRIES_MAX = 8;
/** How far the ledger may be ahead of the clock. */
const CLOCK_BEHIND_MS_MAX = 300_000;
/** Idempotency keys that are remembered beside the ledger. */
const KEYS_MAX = 50_000;

/**
 * An open trajectory: one world, one writer in this process, one entry a ruling.
 *
 * From the first rule to the append nothing awaits, so rulings are serial; the in-memory head moves at once and the
 * answer waits for the disk. When the store says that another writer was faster, everything that was not yet durable
 * is discarded, the trajectory is read anew and the proposal is judged on what it finds.
 */
export class Trajectory {
  readonly id: string;
  #parts: TrajectoryParts;
  readonly #around: Surroundings;
  readonly #subscriptions: Subscriptions = new Subscriptions();
  /** Counts reloads: an answer for an older life of the trajectory must not start another one. */
  #life: number = 0;
  /** Memory is ahead of the disk: it must be read anew before anything else is judged. */
  #stale: boolean = false;
  #loading: Promise<void> | undefined;
  /** Proposals by idempotency key, for telling a repetition from a misuse. */
  readonly #keys: RecentMap<string, Hash> = new RecentMap(KEYS_MAX);
  /** Rulings that are awaited, by proposal, where the caller gave a key: a repetition meanwhile gets the same one. */
  readonly #underWay: Map<Hash, Promise<Ruling>> = new Map();

  constructor(id: string, parts: TrajectoryParts, around: Surroundings) {
    this.id = id;
    this.#parts = parts;
    this.#around = around;
  }

  get domain(): Domain {
    return this.#parts.domain;
  }

  /** The id of the last entry. It may not be durable yet while rulings are awaited. */
  get head(): Hash {
    return this.#parts.chain.head as Hash;
  }

  /** Number of entries. */
  get length(): number {
    return this.#parts.chain.seq;
  }

  /** A copy of the whole state. For people and tests: agents get `slice`. */
  state(): Json {
    return copyJson(this.#parts.world.state, WORLD_LIMITS);
  }

  /** The state itself, to read in the same turn and never to change. */
  peek(): unknown {
    return this.#parts.world.state;
  }

  /** The part of the state that a role sees, as a copy (Definition A.7). */
  slice(role: string, params: RoleParams = {}): unknown {
    return this.#parts.world.slice(role, params);
  }

  /** Open approvals, oldest first, by entry id; copies. */
  pending(): { id: Hash; payload: PendingPayload }[] {
    return [...this.#parts.chain.open].map(([id, payload]) => ({ id, payload: structuredClone(payload) }));
  }

  /**
   * Calls back with the new slice of a role after every durable commit that met its footprint, and when the trajectory
   * had to be read anew because another writer was faster. Returns how to stop.
   *
   * @throws KernelError `invalid_domain` for a role that there is not
   */
  subscribe(role: string, params: RoleParams, listener: SliceListener): () => void {
    this.slice(role, params);
    return this.#subscriptions.add(
      this.#parts.domain.footprint(role, params),
      () => this.slice(role, params),
      listener,
    );
  }

  /**
   * Proposes an action. A refusal is an answer; an error means that nothing was recorded.
   *
   * @throws RuntimeError `bad_intent`, `unknown_writ`, `idempotency_conflict`, `conflict`, `commit_unknown`,
   * `clock_behind`; CanonError for arguments that are not JSON
   */
  async propose(input: ProposalInput): Promise<Ruling> {
    checkForm(input);
    if (this.#stale) await this.#ready();
    const key = input.idempotencyKey;
    const nonce = key ?? Buffer.from(this.#around.random.bytes(16)).toString('hex');
    const gathered = this.#gather(input, nonce);
    const byKey = gathered.observations.some(({ oracle_key }) => oracle_key !== undefined);
    if (byKey) await checkObserved(gathered.observations, this.#around.oracle);
    if (key === undefined) return this.#rule(gathered, input, nonce);
    const { proposalId } = gathered;
    this.#holdKey(gathered.principal, key, proposalId);
    let ruling = this.#underWay.get(proposalId);
    if (ruling === undefined) {
      ruling = this.#rule(gathered, input, nonce).finally(() => this.#underWay.delete(proposalId));
      this.#underWay.set(proposalId, ruling);
    }
    return ruling;
  }

  async #rule(first: Gathered, input: ProposalInput, nonce: string): Promise<Ruling> {
    let gathered = first;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      if (this.#stale) {
        await this.#ready();
        gathered = this.#gather(input, nonce);
      }
      if (input.idempotencyKey !== undefined) {
        const before = await this.#ruledBefore(gathered);
        if (before !== undefined) return before;
        if (this.#stale) continue;
      }
      for (let due = this.#due(); due !== undefined && !this.#stale; due = this.#due()) {
        await this.#written(this.#expire(due));
      }
      if (this.#stale) continue;
      const ruling = await this.#judge(gathered);
      // No append has confirmed that what freezes is still open.
      if (ruling?.ruling === 'frozen' && (await this.#isBehind())) continue;
      if (ruling !== undefined) return ruling;
    }
    await this.#reread();
    throw conflict(this.id);
  }

  #gather(input: ProposalInput, nonce: string): Gathered {
    const writ = this.#parts.writs.present(input.writ);
    // An intent under a writ that leads to no anchor comes from nobody, and leaves no entry (decisions §1.3).
    verified(this.#around.verifier, writ);
    return gather(input, { trajectoryId: this.id, writ, writId: writId(writ.writ), nonce });
  }

  /**
   * Commits what is pending, as the counselor it names (decisions §2.1).
   *
   * @throws RuntimeError `bad_intent`, `not_pending`, `digest_mismatch`; KernelError `unauthorised_counselor`,
   * `changed_since`, `override_needed`, `invalid_replacement`. Nothing is recorded then.
   */
  async approve(pendingId: Hash, input: ApprovalInput): Promise<Ruling> {
    checkResolution(input);
    return this.#resolve(pendingId, input, async (pending) => {
      const writ = this.#parts.writs.present(pending.proposal.writ_id);
      const waiting = await readWaiting(pending, holdersOf(writ), this.#around);
      return (at) => {
        const { world, chain, writs, ruled } = this.#parts;
        const blobs: BlobRow[] = [];
        const { principal, override = false, replacement } = input;
        const commit = counsel(
          world,
          waiting,
          { principal, at, override, ...(replacement === undefined ? {} : { replacement }) },
          this.#authority(writ, writ.writ.subject, at, true),
        );
        const counselor: CounselorRecord = {
          principal,
          as: commit.as,
          method: input.method,
          ...(commit.overridden ? { override: true } : {}),
          ...(input.reason === undefined ? {} : { reason: input.reason }),
        };
        const recorded = this.#enterOrUndo(commit, () =>
          approvalPayload(this.#place(at), chain.lastCommit, pendingId, pending, commit, counselor, blobs),
        );
        commit.keep();
        writs.book(pending.proposal.writ_id, pending.proposal.budget_cost);
        ruled.add(pending.proposal.proposal_id, recorded.row.seq);
        return { ...recorded, blobs, news: this.#subscriptions.newsOf(commit.changes.map(({ keys }) => keys)) };
      };
    });
  }

  /** Refuses what is pending, as the counselor it names. @throws as `approve` */
  async reject(pendingId: Hash, input: RejectionInput): Promise<Ruling> {
    checkResolution(input, ['principal', 'method', 'reason']);
    return this.#resolve(pendingId, input, async (pending) => {
      const writ = this.#parts.writs.present(pending.proposal.writ_id);
      return (at) => {
        const as = counselorKind(this.domain, pending.channel, input.principal, holdersOf(writ));
        const counselor = { principal: input.principal, as, method: input.method };
        return this.#refuse(pendingId, pending, at, { reason: 'counselor_rejected', detail: input.reason, counselor });
      };
    });
  }

  /** What waits and has expired by now. */
  #due(): { id: Hash; pending: PendingPayload; at: Instant } | undefined {
    if (this.#parts.chain.open.size === 0) return undefined;
    const at = this.#now();
    for (const [id, pending] of this.#parts.chain.open) {
      if (pending.expires !== undefined && at >= pending.expires) return { id, pending, at };
    }
    return undefined;
  }

  #expire({ id, pending, at }: { id: Hash; pending: PendingPayload; at: Instant }): Prepared {
    return this.#refuse(id, pending, at, { reason: 'expired', detail: `nobody resolved it before ${pending.expires}` });
  }

  // ── from here to the append nothing awaits ──

  #judge(gathered: Gathered): Promise<Ruling | undefined> | Ruling {
    const { chain, domain, world, writs, ruled } = this.#parts;
    const frozen = frozenFor(chain, domain, gathered.intent);
    if (frozen !== undefined) return frozen;
    const at = this.#now();
    const id = writId(gathered.writ.writ);
    const authority = this.#authority(gathered.writ, gathered.principal, at, false);
    const judged = adjudicate(world, gathered.intent, authority, { at, observations: gathered.observed });
    const unstored = writs.unstored(gathered.writ);
    const blobs = [...gathered.blobs, ...unstored];
    const { row, ruling } = this.#record(gathered, id, judged, at, blobs);
    writs.stored(unstored);
    if (gathered.repeatable) ruled.add(gathered.proposalId, row.seq);
    let news = NO_NEWS;
    if (judged.verdict === 'approved') {
      judged.keep();
      writs.book(id, judged.compiled.cost);
      news = this.#subscriptions.newsOf(judged.changes.map(({ keys }) => keys));
    }
    return this.#written({ row, blobs, ruling, news });
  }

  #record(gathered: Gathered, id: Hash, judged: Judgement, at: Instant, blobs: BlobRow[]): Recorded {
    const place = this.#place(at);
    if (judged.verdict === 'rejected') return this.#enter(rejectionPayload(place, gathered, id, judged, blobs));
    if (judged.verdict === 'approved') {
      const { lastCommit } = this.#parts.chain;
      return this.#enterOrUndo(judged, () => commitPayload(place, lastCommit, gathered, id, judged, blobs));
    }
    const { approvalMs } = this.#around;
    const expires = approvalMs === undefined ? undefined : addMicros(at, approvalMs * 1_000);
    return this.#enter(pendingPayload(place, gathered, id, judged, expires, blobs));
  }

  /** Only an entry that can be written down is kept: an over-large payload is an error and changes nothing. */
  #enterOrUndo(judged: { undo(): void }, payload: () => Payload): Recorded {
    try {
      return this.#enter(payload());
    } catch (error) {
      judged.undo();
      throw error;
    }
  }

  #enter(payload: Payload): Recorded {
    const row = entryRow(payload, this.#around.signer);
    this.#parts.chain.accept({ ...row, payload });
    return { row, ruling: rulingFrom(row, payload) };
  }

  #place(at: Instant): Place {
    const { chain } = this.#parts;
    return { trajectory_id: this.id, seq: chain.seq, parent: chain.head, at };
  }

  /** max(clock, head's time) (decisions §1.4). */
  #now(): Instant {
    const { at } = this.#parts.chain;
    const now = this.#around.clock.now();
    if (now >= at) return now;
    const behindMs = instantToMillis(at) - instantToMillis(now);
    if (behindMs > CLOCK_BEHIND_MS_MAX) {
      throw new RuntimeError(
        'clock_behind',
        `The clock says ${now}, but the ledger's last entry is of ${at}; set the clock right.`,
        {
          evidence: { now, at },
        },
      );
    }
    return maxInstant(now, at);
  }

  #authority(writ: WritChain, principal: string, at: Instant, approving: boolean): Authority {
    const { verifier, policy } = this.#around;
    return authorityFor({ writ, principal, trajectoryId: this.id, at, approving }, this.#parts.writs, verifier, policy);
  }

  // ── the append is queued; from here the disk is waited for ──

  /** Answers when the store has it; undefined when another writer was faster and all must be judged again. */
  async #written(prepared: Prepared): Promise<Ruling | undefined> {
    const { row, blobs, ruling, news } = prepared;
    const life = this.#life;
    let result: Awaited<ReturnType<LedgerStore['commit']>>;
    try {
      result = await this.#around.store.commit({ entries: [row], blobs });
    } catch (error) {
      // Nothing was queued; what is in memory is ahead of the disk.
      this.#discard(life);
      await this.#reread();
      throw error;
    }
    if (result.status === 'committed') {
      this.#subscriptions.publish(news);
      return ruling;
    }
    this.#discard(life);
    return result.status === 'unknown' ? this.#settleUnknown(prepared, result.cause) : undefined;
  }

  async #settleUnknown({ row, ruling, news }: Prepared, cause: unknown): Promise<Ruling> {
    try {
      if ((await this.#around.store.resolve(row.id)) !== undefined) {
        this.#subscriptions.publish(news);
        return ruling;
      }
    } catch (error) {
      if (!isAssizeError(error)) throw error;
    }
    await this.#reread();
    throw new RuntimeError(
      'commit_unknown',
      `The store could not tell whether entry ${row.id} was committed; open it anew and look the id up.`,
      {
        evidence: { id: row.id, trajectory_id: this.id, seq: row.seq },
        cause,
        retryable: true,
      },
    );
  }

  /**
   * Whether another writer went on without this one knowing; memory is then discarded. For answers that append nothing,
   * because an append would be told.
   */
  async #isBehind(): Promise<boolean> {
    const there = await this.#around.store.head(this.id);
    const { head, seq } = this.#parts.chain;
    const behind = there !== undefined && (there.seq >= seq || (there.seq === seq - 1 && there.id !== head));
    if (behind) this.#discard(this.#life);
    return this.#stale;
  }

  /** Forgets what is not durable. */
  #discard(life: number): void {
    if (life !== this.#life) return;
    this.#life++;
    this.#stale = true;
  }

  /** So that nobody is shown what was discarded. Where it fails, the next who proposes tries again and hears why. */
  #reread(): Promise<void> {
    return this.#ready().catch(() => undefined);
  }

  /** Reads the trajectory anew, once for all who wait. @throws what the store or replay throws; then still stale */
  async #ready(): Promise<void> {
    while (this.#stale) {
      this.#loading ??= this.#around.load(this.id).then(
        (parts) => {
          this.#parts = parts;
          this.#stale = false;
          this.#loading = undefined;
          this.#subscriptions.publish(this.#subscriptions.allNews());
        },
        (error) => {
          this.#loading = undefined;
          throw error;
        },
      );
      await this.#loading;
    }
  }

  #holdKey(principal: string, key: string, proposalId: Hash): void {
    const holder = `${principal}\u0000${key}`;
    const other = this.#keys.get(holder);
    if (other !== undefined && other !== proposalId) {
      throw new RuntimeError(
        'idempotency_conflict',
        `The idempotency key ${key} was used for another intent; use a new key.`,
      );
    }
    this.#keys.set(holder, proposalId);
  }

  async #ruledBefore(gathered: Gathered): Promise<Ruling | undefined> {
    const seq = this.#parts.ruled.seqOf(gathered.proposalId);
    if (seq === undefined) return undefined;
    const [row] = await this.#around.store.entries(this.id, { from: seq, limit: 1 });
    // Another entry there: the kept bits of two ids agree, and this proposal was never ruled on.
    return row === undefined || proposalOf(row) !== gathered.proposalId ? undefined : rulingOf(row);
  }

  async #resolve(
    pendingId: Hash,
    input: Resolution,
    prepare: (pending: PendingPayload) => Promise<(at: Instant) => Prepared>,
  ): Promise<Ruling> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      if (this.#stale) await this.#ready();
      if (!this.#parts.chain.open.has(pendingId) && (await this.#isBehind())) continue;
      const step = await prepare(this.#pendingOf(pendingId, input));
      if (this.#stale) continue;
      // Something may have happened while the step was being prepared.
      const pending = this.#pendingOf(pendingId, input);
      const at = this.#now();
      const expired = pending.expires !== undefined && at >= pending.expires;
      const prepared = expired ? this.#expire({ id: pendingId, pending, at }) : step(at);
      const done = await this.#written(prepared);
      if (done !== undefined) return done;
    }
    await this.#reread();
    throw conflict(this.id);
  }

  #refuse(
    pendingId: Hash,
    pending: PendingPayload,
    at: Instant,
    resolution: Parameters<typeof resolutionPayload>[3],
  ): Prepared {
    const recorded = this.#enter(resolutionPayload(this.#place(at), pendingId, pending, resolution));
    this.#parts.ruled.add(pending.proposal.proposal_id, recorded.row.seq);
    return { ...recorded, blobs: [], news: NO_NEWS };
  }

  #pendingOf(id: Hash, input: Resolution): PendingPayload {
    const pending = this.#parts.chain.open.get(id);
    if (pending === undefined) {
      throw new RuntimeError('not_pending', `Nothing is pending under ${id}; it was resolved before, or never was.`, {
        evidence: { id },
      });
    }
    if (
      digestOf(pending.proposal) !== pending.digest ||
      (input.digest !== undefined && input.digest !== pending.digest)
    ) {
      throw new RuntimeError(
        'digest_mismatch',
        `What is pending under ${id} is not what was shown; look at it again.`,
        {
          evidence: { shown: input.digest, pending: pending.digest },
        },
      );
    }
    return pending;
  }
}

/** Who holds a writ, and those above them who passed it on. */
function holdersOf({ writ, chain }: WritChain): string[] {
  return [writ, ...chain].map(({ subject }) => subject);
}

/** An entry that was accepted in memory, and what it says. */
interface Recorded {
  readonly row: EntryRow;
  readonly ruling: Ruling;
}

interface Prepared extends Recorded {
  readonly blobs: readonly BlobRow[];
  /** For subscribers, when the entry is durable. */
  readonly news: News;
}

function conflict(trajectoryId: string): RuntimeError {
  return new RuntimeError('conflict', `Other writers of ${trajectoryId} were faster ${TRIES_MAX} times; try again.`, {
    retryable: true,
  });
}
