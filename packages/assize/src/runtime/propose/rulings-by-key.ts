import { type EntryRow, type Hash, readRow } from '#ledger';
import type { PendingStatus } from '../approve/approvals.ts';
import { RuntimeError } from '../errors.ts';
import { type GatheredProposal, keyHashOf, proposalIdOf } from '../records/intent.ts';
import { type Ruling, rulingOf, withFindings } from '../records/ruling.ts';
import { requestKeyOf } from '../writer/known/request-index.ts';
import type { Writer } from '../writer/writer.ts';

/**
 * The ruling on the proposal with that key. Undefined if there is none, or if memory turned out to
 * be stale.
 *
 * @throws RuntimeError `idempotency_conflict`
 */
export async function previousRuling(
  writer: Writer,
  gathered: GatheredProposal,
  key: string | undefined,
): Promise<Ruling | undefined> {
  const { keyHash, proposalId } = gathered;
  const { id, parts, context } = writer;
  if (keyHash === undefined || key === undefined) return undefined;
  const seq = parts.requests.seqOf(keyHash);
  if (seq === undefined)
    return context.sourceRulings.isRoot(id) ? undefined : sourceRuling(writer, gathered, key);
  // The entry that rules on it may still be in flight, or lost on its way to the store.
  await writer.flushed();
  if (writer.stale) return undefined;
  const [row] = await context.store.entries(id, { from: seq, limit: 1 });
  const keyed = row === undefined ? undefined : requestKeyOf(row);
  // Another entry is at that seq: memory is stale, and the append will report it.
  if (row === undefined || keyed?.keyHash !== keyHash) return undefined;
  if (keyed?.proposalId !== proposalId && isOfProposal(gathered)) throw usedForAnother(key, row);
  return withFindings(rulingOf(row), parts.domain, gathered.intent);
}

/**
 * The ruling that the branch has from a source. The writs of a branch are its own, so the proposal
 * is compared as under the writ of the source.
 *
 * @throws RuntimeError `idempotency_conflict`
 */
async function sourceRuling(
  writer: Writer,
  gathered: GatheredProposal,
  key: string,
): Promise<Ruling | undefined> {
  const { id, context } = writer;
  const found = await context.sourceRulings.find(id, key, gathered.principal);
  if (found === undefined) return undefined;
  const { payload } = readRow(found.row);
  const { trajectoryId } = found;
  const keyed = requestKeyOf(found.row);
  const isSame =
    'writ_id' in payload &&
    payload.writ_id !== undefined &&
    keyed?.proposalId ===
      proposalIdOf(gathered, { trajectoryId, nonce: key, writ: payload.writ_id });
  if (!isSame && isOfProposal(gathered)) throw usedForAnother(key, found.row);
  return withFindings(rulingOf(found.row), writer.parts.domain, gathered.intent);
}

/** The ruling on the proposal or the transaction with that key, whatever its content. */
export async function rulingFor(
  writer: Writer,
  key: string,
  principal: string,
): Promise<Ruling | undefined> {
  const keyHash = keyHashOf(key, principal, writer.id);
  for (;;) {
    if (writer.stale) await writer.ready();
    const seq = writer.parts.requests.seqOf(keyHash);
    if (seq === undefined) {
      // A key without a ruling, as most keys are: no wait for appends in flight.
      if (await writer.isOvertaken()) continue;
      const { sourceRulings } = writer.context;
      const inherited = sourceRulings.isRoot(writer.id)
        ? undefined
        : await sourceRulings.find(writer.id, key, principal);
      return inherited && rulingOf(inherited.row);
    }
    await writer.flushed();
    if (writer.stale) continue;
    const [row] = await writer.context.store.entries(writer.id, { from: seq, limit: 1 });
    if (row !== undefined && requestKeyOf(row)?.keyHash === keyHash) return rulingOf(row);
    if (!(await writer.isBehind())) return undefined;
  }
}

/** The same, or the end of its approval (from `statusOf`). */
export async function lastRuling(
  writer: Writer,
  key: string,
  principal: string,
  statusOf: (pendingId: Hash) => Promise<PendingStatus>,
): Promise<Ruling | undefined> {
  const ruling = await rulingFor(writer, key, principal);
  if (ruling?.ruling !== 'escalated') return ruling;
  const status = await statusOf(ruling.pending);
  return status.status === 'resolved' ? status.ruling : ruling;
}

/** Whether the key belongs to the proposal itself, and not to a transaction with a body. */
function isOfProposal({ commitPlan }: GatheredProposal): boolean {
  return commitPlan === undefined || commitPlan.isProposed === true;
}

function usedForAnother(key: string, { id, trajectory_id, seq }: EntryRow): RuntimeError {
  return new RuntimeError(
    'idempotency_conflict',
    `The idempotency key ${key} was used for another intent: entry ${id}, ${trajectory_id} seq ${seq}. Nothing was done. Use a new key only for a different request.`,
    { evidence: { entry: id, trajectory_id, seq } },
  );
}
