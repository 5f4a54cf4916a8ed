import { isAssizeError, type Json } from '#canon';
import type { Finding, Inputs, Intent, Observed, PatchOperation } from '#kernel';
import { type Entry, type Hash, type Instant, LedgerFault, type Observation, type RoleRef, type Stored } from '#ledger';
import { observedValue, type WaitingSources } from '../waiting.ts';
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
 * Reads a proposal back with its blobs and observations. Undefined, and noted, where an observation can't be read back.
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
      if (!isAssizeError(error, 'observation_missing')) throw error;
      findings.differs(placeOf(entry), 'observation', observation, error.message);
      return undefined;
    }
  }
  const intent = { action, role, args: await replayer.value<Json>(entry, args) };
  return { intent, inputs: { at, observations: observed } };
}

/** The operations of a delta or of an approval mark. @throws LedgerFault for a blob that is not there */
export async function readPatches(
  { replayer }: Stage,
  entry: Entry,
  stored: Stored<readonly never[]> | Stored,
): Promise<readonly PatchOperation[]> {
  return (await replayer.value(entry, stored as Stored)) as unknown as readonly PatchOperation[];
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
