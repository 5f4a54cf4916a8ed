import { isAssizeError, type Json } from '#base';
import type { InputCall, Observed } from '#kernel';
import { type EntryRow, type Hash, isBlobRef, type LedgerStore, type Observation, readRow } from '#ledger';
import type { GatheredObservation } from '../../records/intent.ts';
import { observedValue, type PendingSources } from '../../records/pending-proposal.ts';
import { readCalls, readRefusedCalls } from '../../records/stored-values.ts';

/** The content of a transaction that has a ruling, as its entry records it. */
export interface RecordedContent {
  readonly trajectoryId: string;
  readonly epoch: number;
  readonly writId: Hash;
  readonly proposalId: Hash;
  readonly observations: readonly GatheredObservation[];
  /** The values of the observations, by name: answers of tools, and inputs of reads. */
  readonly answers: ReadonlyMap<string, Json>;
  /** The changing calls of the body. */
  readonly calls: readonly InputCall[];
}

/**
 * Reads the content of the transaction that an entry rules on. An entry that resolves a pending
 * proposal may have amended it, so the pending entry is read. Undefined if a value was erased:
 * nothing can then be compared.
 *
 * @throws LedgerFault for a missing blob; RuntimeError `observation_missing`
 */
export async function recordedContent(
  ruled: EntryRow,
  store: Pick<LedgerStore, 'resolve'>,
  sources: PendingSources,
): Promise<RecordedContent | undefined> {
  const { payload: ruling } = readRow(ruled);
  const resolved = 'resolves' in ruling ? ruling.resolves : undefined;
  const row = resolved === undefined ? ruled : await store.resolve(resolved);
  if (row === undefined) return undefined;
  try {
    return await contentOf(row, sources);
  } catch (error) {
    if (isAssizeError(error, 'erased')) return undefined;
    throw error;
  }
}

async function contentOf(row: EntryRow, sources: PendingSources): Promise<RecordedContent | undefined> {
  const { payload } = readRow(row);
  const of = payload.kind === 'pending_approval' ? payload.proposal : payload;
  const at = { trajectory_id: row.trajectory_id, seq: row.seq };
  if (!('proposal_id' in of) || of.writ_id === undefined || of.proposal_id === undefined) return undefined;
  const recorded = 'intent' in of ? of.intent.observations : 'observations' in of ? of.observations : [];
  const read = async (one: Observation): Promise<Observed> => ({
    name: one.name,
    value: await observedValue(one, at, sources),
  });
  const observed = await Promise.all(recorded.map(read));
  const calls =
    'delta' in of
      ? await readCalls(at, of.delta.effects, observed, sources.replayer)
      : await readRefusedCalls(at, 'intent' in of ? of.intent.calls : undefined, sources.replayer);
  return {
    trajectoryId: row.trajectory_id,
    epoch: 'epoch' in of ? (of.epoch ?? 0) : 0,
    writId: of.writ_id,
    proposalId: of.proposal_id,
    observations: recorded.map((one, i) => gathered(one, observed[i]!)),
    answers: new Map(observed.map(({ name, value }) => [name, value as Json])),
    calls: calls.filter(({ isDeclared }) => isDeclared !== true),
  };
}

/** As the proposal's id has it: the value in place of a salted reference. */
function gathered(recorded: Observation, { name, value }: Observed): GatheredObservation {
  const isSalted = isBlobRef(recorded.value) && recorded.value.salted === true;
  return { unsalted: isSalted ? { name, value: value as Json } : recorded, isSalted };
}
