import { isAssizeError } from '#canon';
import type { Finding, Inputs, Intent, Observed, PatchOperation } from '#kernel';
import {
  type CommitPayload,
  type Entry,
  ERASE_ACTION,
  type Hash,
  type Instant,
  LedgerFault,
  type Observation,
  type Patch,
  type RoleRef,
  type Stored,
} from '#ledger';
import { observedValue, readOperations, readValue, type WaitingSources } from '../waiting.ts';
import type { RecordedAuthority } from './recorded-authority.ts';
import { type BrokenByRecord, NOTHING_BROKEN, type RecordedWorld } from './recorded-world.ts';
import type { EntryPlace, Findings } from './report.ts';

/** What the entries of one trajectory are run again with. */
export interface Stage extends WaitingSources {
  readonly world: RecordedWorld;
  readonly authority: RecordedAuthority;
  readonly findings: Findings;
  /** Ids of what waits and came out otherwise when it was run again. */
  readonly otherwise: Set<Hash>;
}

/** What an agent asked for, as an entry has it. */
export interface AskedFor {
  readonly action: string;
  readonly role: RoleRef;
  readonly args: Stored;
  readonly observations: readonly Observation[];
  readonly at: Instant;
}

export function placeOf({ trajectory_id, seq, id }: Entry): EntryPlace {
  return { trajectory_id, seq, entry_id: id };
}

/**
 * Reads a proposal back with its blobs and observations. Undefined, and noted, where an observation can't be read back, or a part
 * was erased.
 *
 * @throws LedgerFault for a blob that is not there
 */
export async function readProposal(
  { replayer, oracle, findings }: Stage,
  entry: Entry,
  { action, role, args, observations, at }: AskedFor,
): Promise<{ intent: Intent; inputs: Inputs } | undefined> {
  const observed: Observed[] = [];
  for (const observation of observations) {
    try {
      observed.push({ name: observation.name, value: await observedValue(observation, entry, { replayer, oracle }) });
    } catch (error) {
      if (isAssizeError(error, 'erased')) return erasedIn(findings);
      if (!isAssizeError(error, 'observation_missing')) throw error;
      findings.differs(placeOf(entry), 'observation', observation, error.message);
      return undefined;
    }
  }
  try {
    const intent = { action, role, args: await readValue(entry, args, replayer) };
    return { intent, inputs: { at, observations: observed } };
  } catch (error) {
    if (isAssizeError(error, 'erased')) return erasedIn(findings);
    throw error;
  }
}

function erasedIn(findings: Findings): undefined {
  findings.takes('erased');
  return undefined;
}

/** The operations of a delta or of an approval mark. @throws LedgerFault for a blob that is not there; RuntimeError `erased` */
export function readPatches(
  { replayer }: Stage,
  entry: Entry,
  stored: Stored<readonly Patch[]>,
): Promise<readonly PatchOperation[]> {
  return readOperations(entry, stored, replayer);
}

/** Goes on with what is recorded of a commit that can't be run again, because a part of it was erased. @throws LedgerFault */
export async function followErased(stage: Stage, entry: Entry<CommitPayload>): Promise<void> {
  stage.findings.takes('erased');
  const patches = await stage.replayer.values.patches(entry, entry.payload.delta.state);
  followRecord(stage, entry, patches as readonly PatchOperation[]);
}

/** Whether what a commit did can't be read any more, or is an erasure. @throws LedgerFault */
export async function isErasing(stage: Stage, entry: Entry<CommitPayload>): Promise<boolean> {
  const { action, delta } = entry.payload;
  if (action.name === ERASE_ACTION) return true;
  try {
    await readPatches(stage, entry, delta.state);
    return false;
  } catch (error) {
    if (isAssizeError(error, 'erased')) return true;
    throw error;
  }
}

/** Goes on with what is recorded, and notes what is broken by it. @throws LedgerFault */
export function followRecord(stage: Stage, entry: Entry, patches: readonly PatchOperation[]): void {
  stage.findings.breaks(placeOf(entry), followed(stage, entry, patches, NOTHING_BROKEN));
}

/** Goes on with what is recorded. Answers what does not pass since. @throws LedgerFault */
export function followed(
  { world }: Stage,
  { trajectory_id, seq }: Entry,
  patches: readonly PatchOperation[],
  broken: BrokenByRecord,
): Finding[] {
  try {
    return world.follow(patches, broken);
  } catch (error) {
    throw new LedgerFault({ trajectory_id, seq, code: 'bad_patch', detail: (error as Error).message }, error);
  }
}
