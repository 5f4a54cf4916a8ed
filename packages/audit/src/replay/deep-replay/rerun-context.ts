import {
  observedValue,
  type PendingSources,
  readCalls,
  readOperations,
  readRefusedCalls,
  readValue,
  seenObservations,
} from 'assize/host';
import { isAssizeError } from 'assize/internal/base';
import type { Finding, Inputs, Intent, Observed, PatchOperation } from 'assize/internal/kernel';
import {
  type CommitPayload,
  type Delta,
  type Entry,
  ERASE_ACTION,
  type Hash,
  type Instant,
  LedgerFault,
  type Observation,
  type Patch,
  type RoleRef,
  type Stored,
} from 'assize/internal/ledger';
import type { RecordedAuthority } from './recorded-authority.ts';
import { NOTHING_BROKEN, type RecordedWorld } from './recorded-world.ts';
import type { EntryPlace, Findings } from './report.ts';
import type { BrokenByRecord } from './vector.ts';

/** The context of the entries of one trajectory. */
export interface EntryContext extends PendingSources {
  readonly world: RecordedWorld;
}

/** The context in which entries are run again. */
export interface RerunContext extends EntryContext {
  readonly authority: RecordedAuthority;
  readonly findings: Findings;
  /** Ids of pending proposals that came out otherwise when run again. */
  readonly otherwise: Set<Hash>;
}

/** The intent of an agent, as an entry has it. */
export interface RequestedAction {
  readonly action: string;
  readonly role: RoleRef;
  readonly args: Stored;
  readonly observations: readonly Observation[];
  readonly at: Instant;
  /** The effects of a commit or of a pending proposal. */
  readonly effects?: Delta['effects'];
  /** The calls of a rejection. */
  readonly calls?: Stored;
}

export function placeOf({ trajectory_id, seq, id }: Entry): EntryPlace {
  return { trajectory_id, seq, entry_id: id };
}

/** A proposal as it was adjudicated. */
export interface RecoveredProposal {
  readonly intent: Intent;
  readonly inputs: Inputs;
}

/** The reason why a proposal cannot be adjudicated again. */
export type Missing =
  | { readonly missing: 'erased' }
  | { readonly missing: 'observation'; readonly observation: Observation; readonly detail: string };

/**
 * Reads a proposal back with its blobs and observations.
 *
 * @throws LedgerFault for a missing blob
 */
export async function readBack(
  { replayer, oracle }: PendingSources,
  entry: Entry,
  { action, role, args, observations, at, effects, calls: refused }: RequestedAction,
): Promise<RecoveredProposal | Missing> {
  const observed: Observed[] = [];
  try {
    for (const observation of seenObservations(observations)) {
      try {
        observed.push({
          name: observation.name,
          value: await observedValue(observation, entry, { replayer, oracle }),
        });
      } catch (error) {
        if (!isAssizeError(error, 'observation_missing')) throw error;
        return { missing: 'observation', observation, detail: error.message };
      }
    }
    const intent = { action, role, args: await readValue(entry, args, replayer) };
    const inputs = { at, observations: observed };
    if (effects !== undefined)
      return {
        intent,
        inputs: { ...inputs, calls: await readCalls(entry, effects, observed, replayer) },
      };
    if (refused === undefined) return { intent, inputs };
    return {
      intent,
      inputs: { ...inputs, calls: await readRefusedCalls(entry, refused, replayer) },
    };
  } catch (error) {
    if (isAssizeError(error, 'erased')) return { missing: 'erased' };
    throw error;
  }
}

/**
 * Same for a deep replay. Undefined, and noted, if the proposal cannot be adjudicated again.
 * @throws LedgerFault
 */
export async function readProposal(
  stage: RerunContext,
  entry: Entry,
  asked: RequestedAction,
): Promise<RecoveredProposal | undefined> {
  const { findings } = stage;
  const read = await readBack(stage, entry, asked);
  if (!('missing' in read)) return read;
  if (read.missing === 'erased') findings.takeAsRecorded('erased');
  else findings.differs(placeOf(entry), 'observation', read.observation, read.detail);
  return undefined;
}

/**
 * The operations of a delta or of an approval mark. @throws LedgerFault for a missing blob;
 * RuntimeError `erased`
 */
export function readPatches(
  { replayer }: PendingSources,
  entry: Entry,
  stored: Stored<readonly Patch[]>,
): Promise<readonly PatchOperation[]> {
  return readOperations(entry, stored, replayer);
}

/**
 * Applies the record of a commit that cannot be run again, because a part of it was erased. @throws
 * LedgerFault
 */
export async function followErased(
  stage: RerunContext,
  entry: Entry<CommitPayload>,
): Promise<void> {
  stage.findings.takeAsRecorded('erased');
  followRecord(stage, entry, await erasedPatches(stage, entry));
}

/** The changes of a commit, with `{"$erased": hash}` for erased values. @throws LedgerFault */
export async function erasedPatches(
  { replayer }: PendingSources,
  entry: Entry<CommitPayload>,
): Promise<readonly PatchOperation[]> {
  return (await replayer.values.patches(
    entry,
    entry.payload.delta.state,
  )) as readonly PatchOperation[];
}

/** Whether the changes of a commit can no longer be read, or are an erasure. @throws LedgerFault */
export async function isErasing(
  sources: PendingSources,
  entry: Entry<CommitPayload>,
): Promise<boolean> {
  const { action, delta } = entry.payload;
  if (action.name === ERASE_ACTION) return true;
  try {
    await readPatches(sources, entry, delta.state);
    return false;
  } catch (error) {
    if (isAssizeError(error, 'erased')) return true;
    throw error;
  }
}

/** Applies the record, and notes the new violations. @throws LedgerFault */
export function followRecord(
  stage: RerunContext,
  entry: Entry,
  patches: readonly PatchOperation[],
): void {
  stage.findings.breaks(placeOf(entry), followed(stage, entry, patches, NOTHING_BROKEN));
}

/** Applies the record. Returns the new violations. @throws LedgerFault */
export function followed(
  { world }: Pick<EntryContext, 'world'>,
  { trajectory_id, seq }: Entry,
  patches: readonly PatchOperation[],
  broken: BrokenByRecord,
): Finding[] {
  try {
    return world.follow(patches, broken);
  } catch (error) {
    throw new LedgerFault(
      { trajectory_id, seq, code: 'bad_patch', detail: (error as Error).message },
      error,
    );
  }
}
