import type { Hash, Instant, Payload, PendingPayload } from '#ledger';
import { resolutionPayload } from '../../records/entry-payloads.ts';
import { type Ruling, rulingFrom } from '../../records/ruling.ts';
import type { Moves } from '../../writer/apply.ts';
import type { PreparedCommit } from '../../writer/prepared.ts';
import type { Writer } from '../../writer/writer.ts';

// The entries about a pending proposal that change no state.

/** Whether no clock may delay the resolution. */
export type Undelayed = Pick<Moves, 'undelayed'>;

/** A pending proposal, with the time at which it is resolved. */
export interface ResolvedNow {
  readonly id: Hash;
  readonly pending: PendingPayload;
  readonly at: Instant;
}

/** Moves memory past the rejection of a pending proposal. */
export function rejectPending(
  writer: Writer,
  { id, pending, at }: ResolvedNow,
  resolution: Parameters<typeof resolutionPayload>[3],
  moves: Undelayed = {},
): PreparedCommit<Ruling> {
  return applyUnchanging(
    writer,
    resolutionPayload(writer.nextPosition(at), id, pending, resolution),
    moves,
  );
}

/** Moves memory past a resolution that changes no state. */
export function applyUnchanging(
  writer: Writer,
  resolution: Payload,
  moves: Undelayed = {},
): PreparedCommit<Ruling> {
  const { row, payload, batch } = writer.apply(() => resolution, moves);
  return { ...batch, blobs: [], answer: rulingFrom(row, payload) };
}
