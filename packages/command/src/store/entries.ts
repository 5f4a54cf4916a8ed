import type { EntryRow, LedgerStore } from 'assize/internal/ledger';
import { CliError } from '../errors.ts';

const PREFIX = /^[0-9a-f]{8,64}$/i;
/** Digits of an id in a narrow column. */
const SHORT = 12;

/** Whether a string can be an id or its first digits. */
export function isPrefix(text: string): boolean {
  return PREFIX.test(text);
}

/**
 * The entry with that id, or the only entry with that id prefix.
 * @throws CliError
 */
export async function findEntry(store: LedgerStore, prefix: string): Promise<EntryRow> {
  if (!isPrefix(prefix)) {
    throw new CliError(
      'usage',
      `'${prefix}' is not an entry id. Pass its first 8 to 64 hex digits, or TRAJECTORY@SEQ.`,
    );
  }
  const [found, other] = await store.find(prefix);
  if (found === undefined)
    throw new CliError(
      'not_found',
      `The store has no entry ${prefix}. List entries with assize log TRAJECTORY.`,
    );
  if (other !== undefined) {
    throw ambiguous('entry', prefix, [found.id, other.id]);
  }
  return found;
}

/**
 * The error for several ids that start with the typed digits. It has the digits that differ.
 */
export function ambiguous(
  what: string,
  typed: string,
  [first, second]: readonly [string, string],
): CliError {
  const parting = [...first].findIndex((digit, i) => digit !== second[i]);
  const digits = Math.max(SHORT, parting + 1);
  const named = [first, second].map((id) => id.slice(0, digits)).join(' and ');
  return new CliError(
    'ambiguous',
    `More than one ${what} starts with ${typed}: ${named}. Pass more digits.`,
    {
      evidence: { ids: [first, second] },
    },
  );
}

/**
 * The entry at a position of a trajectory.
 * @throws CliError
 */
export async function entryAt(
  store: LedgerStore,
  trajectoryId: string,
  seq: number,
): Promise<EntryRow> {
  const [row] = await store.entries(trajectoryId, { from: seq, limit: 1 });
  if (row !== undefined) return row;
  const head = await headOf(store, trajectoryId);
  throw new CliError(
    'not_found',
    `The trajectory ${trajectoryId} has no entry with seq ${seq}. Pass a seq from 0 to ${head.seq}.`,
  );
}

/** The last entry of a trajectory. @throws CliError */
export async function headOf(store: LedgerStore, trajectoryId: string): Promise<EntryRow> {
  const head = await store.head(trajectoryId);
  if (head !== undefined) return head;
  const begun =
    trajectoryId === ''
      ? []
      : (await store.trajectories()).filter((each) => each.trajectory_id.startsWith(trajectoryId));
  const [only] = begun;
  const then =
    only !== undefined && begun.length === 1
      ? `Pass the full id: ${only.trajectory_id}`
      : 'Pass a full id, as listed by assize log';
  throw new CliError('not_found', `The store has no trajectory ${trajectoryId}. ${then}.`);
}
