import { type Hash, type Instant, isEffectPending, isExpired, type PendingPayload } from '#ledger';
import { RuntimeError } from '../../errors.ts';
import { digestOf } from '../../records/entry-payloads.ts';
import {
  type ApprovalInput,
  isAnswering,
  type Resolution,
  type Ruling,
} from '../../records/ruling.ts';
import { isCollision } from '../../transactions/body/abort-reasons.ts';
import { type Ruled, type RulingStep, untilCommitted } from '../../writer/until-committed.ts';
import type { Writer } from '../../writer/writer.ts';
import { effectUnresolvedError, notPending } from './not-pending.ts';
import type { ResolvedNow } from './resolution-entries.ts';

/**
 * Rules on a pending proposal at a time. `Needs`: nothing has moved. Undefined if what it decides
 * on must be read again.
 */
export type ResolutionStep<Answer = Ruling> = (at: Instant) => Ruled<Answer>;

/** A call that resolves a pending proposal, or foresees its resolution. */
export interface ResolutionCall<Answer = Ruling> {
  readonly pendingId: Hash;
  readonly input: Resolution & Pick<ApprovalInput, 'answers'>;
  /** The end of a proposal that expired first. */
  readonly expired: (due: ResolvedNow) => Ruled<Answer>;
  /** Whether neither a clock nor a halt may delay the resolution. Default: false. */
  readonly undelayed?: boolean;
}

/**
 * Resolves a pending proposal that is the one that was shown. `prepare` reads everything that the
 * step decides on. It runs again after another writer appended first.
 *
 * @throws RuntimeError `not_pending`, `effect_unresolved`, `digest_mismatch`, `halted`; MemoryError
 * `stale_callback`; the errors of `prepare` and its step
 */
export function untilResolved<Answer>(
  writer: Writer,
  { pendingId, input, expired, undelayed = false }: ResolutionCall<Answer>,
  prepare: (pending: PendingPayload) => Promise<ResolutionStep<Answer>>,
): Promise<Answer> {
  const isOpen = (): boolean => writer.parts.chain.open.has(pendingId);
  const plan = async (): Promise<RulingStep<Answer> | undefined> => {
    if (!isOpen()) {
      if (await writer.isBehind()) return undefined;
      throw await notPending(writer, pendingId, isAnswering(input));
    }
    if (!undelayed) writer.refuseIfHalted();
    const step = await prepare(shownProposal(writer, pendingId, input));
    return () => {
      // The proposal may have been resolved while the step was being prepared.
      if (!isOpen()) return undefined;
      if (!undelayed) writer.refuseIfHalted();
      const pending = shownProposal(writer, pendingId, input);
      const at = undelayed ? writer.undelayedNow() : writer.now();
      if (isExpired(pending, at)) return expired({ id: pendingId, pending, at });
      return writer.runRuling(() => step(at));
    };
  };
  // Another process committed first with the same effect keys. The outcome of the proposal is the
  // better answer.
  return untilCommitted(writer, plan, (error) => isCollision(error) && !isOpen());
}

/**
 * The open proposal, if it is the one that was shown to the counselor.
 *
 * @throws RuntimeError `effect_unresolved`, `digest_mismatch`
 */
function shownProposal(writer: Writer, id: Hash, { digest }: Resolution): PendingPayload {
  const pending = writer.parts.chain.open.get(id) as PendingPayload;
  if (isEffectPending(pending)) throw effectUnresolvedError(id, pending);
  if (
    digestOf(pending.proposal) === pending.digest &&
    (digest === undefined || digest === pending.digest)
  )
    return pending;
  throw new RuntimeError(
    'digest_mismatch',
    `The pending proposal ${id} is not the proposal that was shown. Review it again and approve its digest.`,
    { evidence: { shown: digest, pending: pending.digest } },
  );
}
