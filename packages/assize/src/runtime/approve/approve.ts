import { counselorKind } from '#kernel';
import type { Hash, Instant, PendingPayload } from '#ledger';
import { holdersOf } from '../authority/writs.ts';
import { requireFactStore } from '../memory/plan/plan-beliefs.ts';
import {
  approvalPayload,
  batchErasureOf,
  partialApprovalPayload,
} from '../records/entry-payloads.ts';
import { type Needs, needs } from '../records/needs.ts';
import { PayloadBlobs } from '../records/payload-blobs.ts';
import { readSeenProposal, requestersOf } from '../records/pending-proposal.ts';
import {
  APPROVAL,
  type ApprovalInput,
  checkedResolution,
  isAmending,
  REJECTION,
  type RejectionInput,
  type Ruling,
  rulingFrom,
} from '../records/ruling.ts';
import { SaltSource } from '../records/salts.ts';
import type { ResumedTransaction } from '../transactions/commit/resume-approved.ts';
import type { PreparedCommit } from '../writer/prepared.ts';
import { scrub } from '../writer/scrub.ts';
import type { Writer } from '../writer/writer.ts';
import { amend } from './amend.ts';
import type { ApprovalPorts } from './decide/approval-ports.ts';
import { ApprovedStatements, UNCHANGED } from './decide/approved-statements.ts';
import { counselorOf, decidedBy } from './decide/counselor-record.ts';
import { decideApproval, type ReadyApproval, runApproved } from './decide/decide-approval.ts';
import { readApproval, readLosing, resumeEffects } from './decide/submitted-approval.ts';
import { expirePending } from './pending/expire.ts';
import { applyUnchanging, rejectPending } from './pending/resolution-entries.ts';
import { type ResolutionCall, type ResolutionStep, untilResolved } from './pending/resolve.ts';

/** Approves a pending proposal as a counselor, with the counselor's arguments if there are any. */
export async function approve(
  ports: ApprovalPorts,
  pendingId: Hash,
  given: ApprovalInput,
): Promise<Ruling> {
  const input = checkedResolution(given, APPROVAL);
  return isAmending(input)
    ? amend(ports, pendingId, input)
    : new Approval(ports, pendingId, input).decided();
}

/** One call that approves a proposal as it was submitted. */
class Approval {
  readonly #ports: ApprovalPorts;
  readonly #pendingId: Hash;
  readonly #input: ApprovalInput;
  readonly #statements: ApprovedStatements;
  readonly #salts: SaltSource;
  /** The effects of the proposal, taken up once for all attempts. */
  #resumed: ResumedTransaction | undefined;
  /** Releases the partitions that an erasure takes facts from. */
  #unlock: (() => void) | undefined;
  #isErasure: boolean = false;

  constructor(ports: ApprovalPorts, pendingId: Hash, input: ApprovalInput) {
    this.#ports = ports;
    this.#pendingId = pendingId;
    this.#input = input;
    this.#statements = new ApprovedStatements(ports, {
      pendingId,
      call: input,
      isJudgement: false,
      errors: UNCHANGED,
    });
    this.#salts = new SaltSource(ports.writer.context.random);
  }

  /** The ruling, once its entry is durable and its effects have started or ended. */
  decided(): Promise<Ruling> {
    const { writer } = this.#ports;
    const call: ResolutionCall = {
      pendingId: this.#pendingId,
      input: this.#input,
      expired: (due) => expirePending(writer, due),
    };
    const approving = untilResolved(writer, call, (pending) => this.#prepare(pending));
    return approving
      .finally(() => this.#unlock?.())
      .then(
        async (ruling) => {
          const resumed = this.#resumed;
          if (ruling.ruling === 'committed') await resumed?.committed(ruling.entry.id);
          else await resumed?.abort();
          if (this.#isErasure) await scrub(writer.context.store);
          return ruling;
        },
        async (error: unknown) => {
          await this.#resumed?.abort(error);
          throw error;
        },
      );
  }

  async #prepare(pending: PendingPayload): Promise<ResolutionStep> {
    const { writer, beliefs } = this.#ports;
    const submitted = await readApproval(this.#ports, this.#pendingId, pending, this.#input);
    this.#resumed ??= await resumeEffects(this.#ports, pending);
    let losing = await readLosing(writer, submitted.waiting);
    if (losing.length > 0 && this.#unlock === undefined) {
      // Writers of the same partitions in other trajectories would otherwise commit first each
      // time.
      this.#unlock = await requireFactStore(beliefs).lock(losing.map(({ name }) => name));
      losing = await readLosing(writer, submitted.waiting);
    }
    return (at) => this.#rule({ ...submitted, losing, acting: this.#resumed?.commitPlan }, at);
  }

  /** From here to the append nothing awaits. */
  #rule(approval: ReadyApproval, at: Instant): PreparedCommit<Ruling> | Needs {
    const { writer } = this.#ports;
    const { pendingId, pending, input, acting, waiting } = approval;
    const { chain } = writer.parts;
    const kept = new PayloadBlobs(writer.context.saltGenerator(this.#salts.restartAt(chain.head)));
    const decided = decideApproval(this.#ports, approval, this.#statements, at, kept);
    if ('needs' in decided) return decided;
    if ('conflict' in decided) {
      const counselor = decidedBy(input, decided.as);
      const resolution = { reason: 'conflict', detail: decided.conflict, counselor } as const;
      return rejectPending(writer, { id: pendingId, pending, at }, resolution);
    }
    const { commit, believed } = decided;
    const counselor = counselorOf(input, commit);
    if (!commit.complete) {
      commit.undo();
      return applyUnchanging(
        writer,
        partialApprovalPayload(writer.nextPosition(at), pendingId, pending, counselor),
      );
    }
    if (this.#resumed?.hasCallsToRepeat === true) {
      commit.undo();
      return needs(() => this.#repeatCalls(approval));
    }
    const resolved = { pendingId, pending, commit, counselor };
    const payloadNow = () =>
      approvalPayload(writer.entryTerms(at, kept), resolved, acting?.epoch, believed?.changes);
    const { row, payload, batch } = writer.apply(payloadNow, { change: commit, facts: believed });
    const erasure = batchErasureOf(row.id, waiting.intent);
    this.#isErasure = erasure !== undefined;
    const acts = acting?.commitRecords(row.id);
    const blobs = acts === undefined ? kept.blobs : [...kept.blobs, ...acts.blobs];
    return { ...batch, blobs, erasure, effects: acts?.write, answer: rulingFrom(row, payload) };
  }

  /** Repeats the calls that the transaction made before it was submitted. */
  async #repeatCalls(approval: ReadyApproval): Promise<void> {
    const { writer } = this.#ports;
    const resumed = this.#resumed as ResumedTransaction;
    await resumed.repeatCalls(() =>
      writer.runRuling(() =>
        runApproved(
          writer,
          { ...approval, acting: resumed.commitPlan },
          writer.now(),
          false,
        ).undo(),
      ),
    );
  }
}

/** Rejects a pending proposal as a counselor. Neither a halt nor a clock delays it. */
export async function reject(
  writer: Writer,
  pendingId: Hash,
  given: RejectionInput,
): Promise<Ruling> {
  const input = checkedResolution(given, REJECTION, ['principal', 'method', 'reason']);
  const { principal, reason: detail } = input;
  const call: ResolutionCall = {
    pendingId,
    input,
    expired: (due) => expirePending(writer, due, { undelayed: true }),
    undelayed: true,
  };
  return untilResolved(writer, call, async (pending) => {
    const holders = holdersOf(writer.parts.writs.present(pending.proposal.writ_id));
    const requesters = requestersOf(pending.proposal, holders);
    const seen = await writer.readValues(() => readSeenProposal(pending, writer.context.replayer));
    return (at) => {
      const { domain } = writer.parts;
      const { channel, deputies } = pending;
      const as = counselorKind(domain, channel, principal, requesters, seen, { deputies, at });
      const resolution = {
        reason: 'counselor_rejected',
        detail,
        counselor: decidedBy(input, as),
      } as const;
      return rejectPending(writer, { id: pendingId, pending, at }, resolution, { undelayed: true });
    };
  });
}
