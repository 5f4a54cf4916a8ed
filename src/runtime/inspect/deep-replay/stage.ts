import { isAssizeError } from '#base';
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
import { observedValue, readOperations, readValue, type WaitingSources } from '../../records/pending-proposal.ts';
import type { RecordedAuthority } from './recorded-authority.ts';
import { NOTHING_BROKEN, type RecordedWorld } from './recorded-world.ts';
import type { EntryPlace, Findings } from './report.ts';
import type { BrokenByRecord } from './vector.ts';

/** What the entries of one trajectory are looked at with. */
export interface Scene extends WaitingSources {
  readonly world: RecordedWorld;
}

/** What they are run again with. */
export interface Stage extends Scene {
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

/** A proposal as it was judged. */
export interface ReadBack {
  readonly intent: Intent;
  readonly inputs: Inputs;
}

/** Why a proposal can't be judged again. */
export type Missing =
  | { readonly missing: 'erased' }
  | { readonly missing: 'observation'; readonly observation: Observation; readonly detail: string };

/**
 * Reads a proposal back with its blobs and observations.
 *
 * @throws LedgerFault for a blob that is not there
 */
export async function readBack(
  { replayer, oracle }: WaitingSources,
  entry: Entry,
  { action, role, args, observations, at }: AskedFor,
): Promise<ReadBack | Missing> {
  const observed: Observed[] = [];
  try {
    for (const observation of observations) {
      try {
        observed.push({ name: observation.name, value: await observedValue(observation, entry, { replayer, oracle }) });
      } catch (error) {
        if (!isAssizeError(error, 'observation_missing')) throw error;
        return { missing: 'observation', observation, detail: error.message };
      }
    }
    const intent = { action, role, args: await readValue(entry, args, replayer) };
    return { intent, inputs: { at, observations: observed } };
  } catch (error) {
    if (isAssizeError(error, 'erased')) return { missing: 'erased' };
    throw error;
  }
}

/** The same for a deep replay. Undefined, and noted, where it can't be judged again. @throws LedgerFault */
export async function readProposal(stage: Stage, entry: Entry, asked: AskedFor): Promise<ReadBack | undefined> {
  const { findings } = stage;
  const read = await readBack(stage, entry, asked);
  if (!('missing' in read)) return read;
  if (read.missing === 'erased') findings.takes('erased');
  else findings.differs(placeOf(entry), 'observation', read.observation, read.detail);
  return undefined;
}

/** The operations of a delta or of an approval mark. @throws LedgerFault for a blob that is not there; RuntimeError `erased` */
export function readPatches(
  { replayer }: WaitingSources,
  entry: Entry,
  stored: Stored<readonly Patch[]>,
): Promise<readonly PatchOperation[]> {
  return readOperations(entry, stored, replayer);
}

/** Goes on with what is recorded of a commit that can't be run again, because a part of it was erased. @throws LedgerFault */
export async function followErased(stage: Stage, entry: Entry<CommitPayload>): Promise<void> {
  stage.findings.takes('erased');
  followRecord(stage, entry, await erasedPatches(stage, entry));
}

/** What a commit did, with `{"$erased": hash}` for what was erased. @throws LedgerFault */
export async function erasedPatches(
  { replayer }: WaitingSources,
  entry: Entry<CommitPayload>,
): Promise<readonly PatchOperation[]> {
  return (await replayer.values.patches(entry, entry.payload.delta.state)) as readonly PatchOperation[];
}

/** Whether what a commit did can't be read any more, or is an erasure. @throws LedgerFault */
export async function isErasing(sources: WaitingSources, entry: Entry<CommitPayload>): Promise<boolean> {
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

/** Goes on with what is recorded, and notes what is broken by it. @throws LedgerFault */
export function followRecord(stage: Stage, entry: Entry, patches: readonly PatchOperation[]): void {
  stage.findings.breaks(placeOf(entry), followed(stage, entry, patches, NOTHING_BROKEN));
}

/** Goes on with what is recorded. Answers what does not pass since. @throws LedgerFault */
export function followed(
  { world }: Pick<Scene, 'world'>,
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
