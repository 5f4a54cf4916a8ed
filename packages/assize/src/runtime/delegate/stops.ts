import { isAssizeError, type Json } from '#base';
import { maxInstant } from '#canon';
import type { Approved, Authority, Rejected } from '#kernel';
import type { DelegationPayload, Entry, EntryRow, Hash, Instant, Payload } from '#ledger';
import type { WritChain } from '../authority/writs.ts';
import { commitPayload, rejectionPayload } from '../records/entry-payloads.ts';
import { builtInProposal, type GatheredProposal } from '../records/intent.ts';
import { PayloadBlobs } from '../records/payload-blobs.ts';
import { type Ruling, rulingFrom } from '../records/ruling.ts';
import type { PreparedCommit } from '../writer/prepared.ts';
import { untilCommitted } from '../writer/until-committed.ts';
import type { Writer } from '../writer/writer.ts';
import type { Children, ChildTrajectory } from './children.ts';
import type { Delegations } from './delegate.ts';

// The parts that revocations and halts share.

/**
 * A child that a revocation or halt was propagated to. An error leaves the child as it is. Opening
 * the parent, or repeating the call, completes the propagation.
 */
export interface Propagated {
  readonly trajectoryId: string;
  readonly error?: Error;
}

const REASON_MAX = 4_096;

/** The fault of a reason, or undefined. */
export function reasonFault(reason: unknown): string | undefined {
  const isRight = typeof reason === 'string' && reason.trim() !== '' && reason.length <= REASON_MAX;
  return isRight && reason.isWellFormed()
    ? undefined
    : `\`reason\` must be text of 1 to ${REASON_MAX} characters`;
}

/**
 * Moves memory past the entry of a ruled stop. No clock delays it. `also`: the writs that the entry
 * stores beside that of the proposal.
 */
export function recordStop(
  writer: Writer,
  gathered: GatheredProposal,
  judged: Approved | Rejected,
  at: Instant,
  also: readonly WritChain[] = [],
): PreparedCommit<Ruling> {
  const { context, parts } = writer;
  const unstored = [gathered.writ, ...also].flatMap((writ) => parts.writs.unstored(writ));
  const blobs = [...new Map(unstored.map((blob) => [blob.hash, blob])).values()];
  const kept = new PayloadBlobs(context.saltGenerator(context.random), blobs);
  const terms = writer.entryTerms(at, kept);
  const entry = (): Payload =>
    judged.verdict === 'rejected'
      ? rejectionPayload(terms, gathered, judged)
      : commitPayload(terms, gathered, judged);
  const { row, payload, batch } = writer.apply(entry, { writs: blobs, undelayed: true });
  return { ...batch, blobs: kept.blobs, answer: rulingFrom(row, payload) };
}

/** Writ, policy and budget were checked in the trajectory above. */
const ADJUDICATED_ABOVE: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};

/**
 * Records a stop of the trajectory above as an entry of this trajectory, under the delegated writ
 * and not before the stop there. `adjudicate`: rules on the arguments; the trajectory above has
 * checked the authority.
 */
export function adoptStop(
  writer: Writer,
  there: Entry,
  intent: { readonly action: string; readonly args: object },
  adjudicate: (args: Json, authority: Authority) => Approved | Rejected,
): PreparedCommit<EntryRow> {
  const { writs } = writer.parts;
  const writ = writs.get(writs.delegated as Hash) as WritChain;
  const gathered = builtInProposal(writer.id, intent, { writ, nonce: there.id });
  const at = maxInstant(writer.undelayedNow(), there.payload.at);
  const prepared = recordStop(
    writer,
    gathered,
    adjudicate(gathered.intent.args, ADJUDICATED_ABOVE),
    at,
  );
  return { ...prepared, answer: prepared.rows[0] };
}

/** Propagates from a trajectory to the open delegations that are meant, one after the other. */
export async function propagate(
  { writer, delegations, children }: PropagationPorts,
  isMeant: (start: DelegationPayload) => boolean,
  adopt: (child: ChildTrajectory) => Promise<unknown>,
): Promise<Propagated[]> {
  /** Answers if the child has adopted it. Undefined if memory turned out to be stale. */
  const adoptIn = async (
    startId: Hash,
    start: DelegationPayload,
  ): Promise<{ answer: true } | undefined> => {
    // Concluded in the meantime: nothing follows the final answer.
    if (!writer.parts.chain.delegated.has(startId)) return { answer: true };
    if (!(await delegations.hasBegun(startId, start))) return undefined;
    await adopt(await children.open(start.child_trajectory_id));
    return { answer: true };
  };
  const carried: Propagated[] = [];
  for (const [startId, start] of [...writer.parts.chain.delegated]) {
    if (!isMeant(start)) continue;
    const trajectoryId = start.child_trajectory_id;
    try {
      await untilCommitted(writer, () => adoptIn(startId, start));
      carried.push({ trajectoryId });
    } catch (error) {
      if (!isAssizeError(error)) throw error;
      carried.push({ trajectoryId, error });
    }
  }
  return carried;
}

export interface PropagationPorts {
  readonly writer: Writer;
  readonly delegations: Pick<Delegations, 'hasBegun'>;
  readonly children: Children;
}
