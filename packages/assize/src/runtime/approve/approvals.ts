import { arg, checkArgument, deepFreeze, markOwnPackage } from '#base';
import { instantOf } from '#canon';
import {
  type Hash,
  type Instant,
  isEffectPending,
  isExpired,
  isHash,
  type PendingPayload,
  readRow,
} from '#ledger';
import { type Step, traced } from '#traces';
import { concluded, RuntimeError } from '../errors.ts';
import { readQuestions } from '../memory/plan/questions.ts';
import type { Judgement } from '../records/judgement.ts';
import type { AskedQuestion } from '../records/questions.ts';
import {
  type ApprovalInput,
  type FinalRuling,
  type RejectionInput,
  type Ruling,
  rulingFrom,
  toldName,
  toldRuling,
} from '../records/ruling.ts';
import { wholeRuling } from '../transactions/commit/await-outcome.ts';
import { AWAIT_OPTIONS, type AwaitOptions, pollDelayMs } from '../writer/await-options.ts';
import { COMMIT_ATTEMPTS_MAX } from '../writer/prepared.ts';
import type { Writer } from '../writer/writer.ts';
import { approve, reject } from './approve.ts';
import type { ApprovalPorts } from './decide/approval-ports.ts';
import { type Deciders, decidersAmong } from './deciders.ts';
import { judgeApproval } from './judge.ts';
import type { Expiries } from './pending/expire.ts';
import { effectUnresolvedError } from './pending/not-pending.ts';

/** A proposal in the list of open ones. */
export interface ListedPending {
  /** The id under which the proposal is approved or rejected. */
  readonly id: Hash;
  readonly seq: number;
  readonly channel: string;
  readonly action: string;
  /** A frozen copy, made when it is first read. */
  readonly payload: PendingPayload;
}

/** The outcome of a pending proposal. */
export type PendingStatus =
  /** Still pending, under another `id` after some of the required approvals. */
  | { readonly status: 'pending'; readonly id: Hash; readonly payload: PendingPayload }
  | { readonly status: 'resolved'; readonly ruling: FinalRuling }
  /** The trajectory gave its final answer first, so the proposal will never be resolved. */
  | { readonly status: 'void'; readonly answer: Hash };

/**
 * The pending proposals of a trajectory (`Trajectory.approvals`): their questions, their decisions,
 * and their outcomes, decided in this or another process, before or after the call.
 */
export class Approvals {
  static {
    markOwnPackage(Approvals.prototype);
  }

  readonly #writer: Writer;
  readonly #ports: ApprovalPorts;
  readonly #expiries: Expiries;

  constructor(ports: ApprovalPorts, expiries: Expiries) {
    this.#writer = ports.writer;
    this.#ports = ports;
    this.#expiries = expiries;
    Object.freeze(this);
  }

  /**
   * Open approvals that have not expired, oldest first, by entry id. A payload is copied when
   * it is first read, and once, so listing the rest is cheap. Copies are frozen.
   */
  pending(): ListedPending[] {
    const { parts } = this.#writer;
    const now = this.#writer.now();
    return [...parts.chain.open]
      .filter(([, payload]) => !isExpired(payload, now))
      .map(([id, payload]) => listed(id, payload));
  }

  /**
   * The questions that must be answered before a pending proposal can be approved
   * (`ApprovalInput.answers`). Empty if the proposal is pending for another reason.
   *
   * @throws RuntimeError `not_pending`, `erased`; ArgumentError `bad_argument`
   */
  async questionsOf(pendingId: Hash): Promise<readonly AskedQuestion[]> {
    checkArgument(arg.text, pendingId, 'pendingId');
    return readQuestions(this.#writer, pendingId);
  }

  /**
   * The requester of a pending proposal, and those of `principals` that may decide about it now:
   * counselors of its channel, other than the requester and earlier approvers.
   *
   * @throws RuntimeError `not_pending`, `erased`, `effect_unresolved`; ArgumentError `bad_argument`
   */
  async decidersAmong(pendingId: Hash, principals: readonly string[]): Promise<Deciders> {
    checkArgument(arg.text, pendingId, 'pendingId');
    checkArgument(arg.list(arg.text), principals, 'principals');
    const found = await this.statusOf(pendingId);
    if (found.status !== 'pending')
      throw new RuntimeError('not_pending', `The proposal ${pendingId} is decided.`, {
        evidence: { id: pendingId },
      });
    if (isEffectPending(found.payload)) throw effectUnresolvedError(pendingId, found.payload);
    return decidersAmong(this.#writer, found.payload, principals);
  }

  /**
   * Approves a pending proposal as the counselor that the input names
   * (docs/decisions/006-approvals.md). If several counselors must approve, each approval except the
   * last returns `escalated`. That entry records the approval, and the proposal is pending under
   * the id of the new entry. Content and deadline of the proposal stay the same.
   *
   * @throws RuntimeError `bad_intent`, `not_pending`, `effect_unresolved`, `digest_mismatch`,
   * `frozen`, `bad_writ`; KernelError `unauthorised_counselor`, `already_approved`,
   * `changed_since`, `override_needed`, `invalid_state`, `invalid_amendment`; ArgumentError
   * `bad_argument`. Nothing is recorded then.
   */
  approve(pendingId: Hash, input: ApprovalInput): Promise<Ruling> {
    return traced(
      () => this.#step('approve', pendingId, input),
      async () => this.#whole(await approve(this.#ports, pendingId, input)),
    );
  }

  /**
   * The ruling that `approve` would give now with the same input, and the change that it would
   * record. Writes nothing, calls no tool, and makes no other proposal wait. A refusal is a result
   * (`refused`), with the code of the error that `approve` would throw.
   *
   * Calls that ran before the submission are not repeated, and no judge of contradictions is asked.
   * A transaction that holds the same resources can delay or refuse the approval.
   *
   * @throws RuntimeError `bad_intent`, `not_pending`, `effect_unresolved`, `digest_mismatch`;
   * ArgumentError `bad_argument`
   */
  judge(pendingId: Hash, input: ApprovalInput): Promise<Judgement> {
    return judgeApproval(this.#ports, pendingId, input);
  }

  /**
   * Rejects a pending proposal as the counselor that the input names. One rejection is enough,
   * regardless of earlier approvals. @throws the errors of `approve`
   */
  reject(pendingId: Hash, input: RejectionInput): Promise<Ruling> {
    return traced(
      () => this.#step('reject', pendingId, input),
      async () => this.#whole(await reject(this.#writer, pendingId, input)),
    );
  }

  /**
   * The outcome of a proposal that was pending, also before this process started. Reads one entry,
   * and one more for each approval that was not the last.
   *
   * @throws RuntimeError `not_found`, `conflict`
   */
  async statusOf(pendingId: Hash): Promise<PendingStatus> {
    if (!isHash(pendingId)) throw neverPending(this.#writer.id, pendingId);
    let id = pendingId;
    for (let tries = 0; tries < COMMIT_ATTEMPTS_MAX; tries++) {
      const found = await this.#look(id);
      if (found === undefined) continue;
      if (typeof found !== 'string') return found;
      id = found;
      tries = 0;
    }
    throw await this.#writer.conflictError();
  }

  /**
   * Waits until a pending proposal is finally resolved, in any process, and returns the commit or
   * the rejection. Also returns if the proposal was resolved before the call. If the proposal
   * expires during the wait, the expiry is recorded and returned. The trajectory polls the store a
   * few times a second for decisions of other processes.
   *
   * @throws RuntimeError `not_found`, `still_pending` when the clock reaches `until`, `concluded`
   * when the trajectory gave its final answer first, `conflict`, `clock_ahead`; ArgumentError
   * `bad_argument`; the signal's reason
   */
  async awaitDecision(pendingId: Hash, options: AwaitOptions = {}): Promise<FinalRuling> {
    checkArgument(AWAIT_OPTIONS, options, 'options');
    const { signal } = options;
    const until = options.until === undefined ? undefined : instantOf(options.until);
    const writer = this.#writer;
    for (;;) {
      signal?.throwIfAborted();
      const moved = Promise.withResolvers<void>();
      // Registered before the read, so that no decision in between is missed.
      const leave = writer.decisionSignal.wait(moved.resolve);
      try {
        const found = await this.statusOf(pendingId);
        if (found.status === 'resolved') return found.ruling;
        if (found.status === 'void') throw concluded(writer.id, found.answer);
        signal?.throwIfAborted();
        const now = writer.now();
        if (until !== undefined && now >= until) throw stillPending(found.id, until);
        const { expires } = found.payload;
        if (expires !== undefined && now >= expires) await this.#expiries.recordSomeExpired();
        else await this.#rest(moved.promise, now, [expires, until], signal);
      } finally {
        leave();
      }
    }
  }

  #step(
    decision: 'approve' | 'reject',
    approval: unknown,
    input: ApprovalInput | undefined,
  ): Step<Ruling> {
    const by = toldName(input?.principal);
    const facts = { trajectory: this.#writer.id, approval: toldName(approval), decision, by };
    return { name: 'decide', facts, told: toldRuling };
  }

  #whole<Ruled extends Ruling>(ruling: Ruled): Promise<Ruled> {
    return wholeRuling(ruling, this.#writer.context.store, this.#ports.effects);
  }

  /** The outcome, or the next pending id; undefined if memory turned out to be stale. */
  async #look(id: Hash): Promise<PendingStatus | Hash | undefined> {
    const writer = this.#writer;
    if (writer.stale) await writer.ready();
    // The outcome in memory may still be in flight, or lost on its way to the store.
    await writer.flushed();
    if (writer.stale) return undefined;
    const { chain, requests } = writer.parts;
    const seq = requests.seqOf(id);
    if (seq !== undefined) return this.#resolvedAt(id, seq);
    if (await writer.isBehind()) return undefined;
    const open = chain.open.get(id);
    if (open !== undefined) return { status: 'pending', id, payload: shared(open) };
    const row = await writer.context.store.resolve(id);
    const waited = row?.kind === 'pending_approval' && row.trajectory_id === writer.id;
    if (!waited) throw neverPending(writer.id, id);
    return chain.answered === undefined ? undefined : { status: 'void', answer: chain.answered };
  }

  async #resolvedAt(id: Hash, seq: number): Promise<PendingStatus | Hash | undefined> {
    const writer = this.#writer;
    const [row] = await writer.context.store.entries(writer.id, { from: seq, limit: 1 });
    const payload = row === undefined ? undefined : readRow(row).payload;
    if (
      row === undefined ||
      payload === undefined ||
      !('resolves' in payload) ||
      payload.resolves !== id
    ) {
      await writer.isBehind();
      return undefined;
    }
    if (payload.kind === 'pending_approval') return row.id;
    return {
      status: 'resolved',
      ruling: await this.#whole(rulingFrom(row, payload) as FinalRuling),
    };
  }

  /**
   * Waits for a decision in this process, for the next poll of the store, or for the next deadline.
   */
  async #rest(
    moved: Promise<void>,
    now: Instant,
    times: readonly (Instant | undefined)[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const over = new AbortController();
    const stop = (): void => over.abort();
    const [from, to] = pollDelayMs(now, times);
    // The caller's signal may live for long, so the listener is removed again.
    signal?.addEventListener('abort', stop);
    try {
      await Promise.race([moved, this.#writer.context.pause(from, to, over.signal)]);
    } finally {
      signal?.removeEventListener('abort', stop);
      stop();
    }
  }
}

/** The copies that callers have seen. */
const seen = new WeakMap<PendingPayload, PendingPayload>();

/** A recorded payload never changes, so all callers share one frozen copy. */
function shared(recorded: PendingPayload): PendingPayload {
  let copy = seen.get(recorded);
  if (copy === undefined) {
    copy = deepFreeze(structuredClone(recorded));
    seen.set(recorded, copy);
  }
  return copy;
}

function listed(id: Hash, recorded: PendingPayload): ListedPending {
  return {
    ...{ id, seq: recorded.seq, channel: recorded.channel, action: recorded.proposal.action.name },
    get payload() {
      return shared(recorded);
    },
  };
}

function neverPending(trajectoryId: string, given: unknown): RuntimeError {
  const id = typeof given === 'string' ? given : `a value of type ${typeof given}`;
  return new RuntimeError(
    'not_found',
    `${trajectoryId} never had a pending proposal ${id}. Pass the id that a ruling returned as \`pending\`.`,
    { evidence: { id, trajectory_id: trajectoryId } },
  );
}

function stillPending(id: Hash, until: Instant): RuntimeError {
  return new RuntimeError(
    'still_pending',
    `The proposal ${id} was not resolved by ${until}. Wait again or ask later.`,
    {
      evidence: { id, until },
      retryable: true,
    },
  );
}
