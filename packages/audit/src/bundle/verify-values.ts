import { isInstance } from 'assize/internal/base';
import {
  type EntryRow,
  erasableHashesOf,
  formsOf,
  type Hash,
  isErased,
  LedgerFault,
  type LedgerStore,
  positionsOf,
  type ReadValue,
  referencesOf,
  ValueReader,
} from 'assize/internal/ledger';
import { BundleRefusal, must } from './fault.ts';
import type { BundledEntry } from './form.ts';
import type { ReadLines } from './read-lines.ts';

/**
 * Checks the values that entries refer to: size and salt. An entry of the bundle must have erased
 * each erased value.
 *
 * @throws BundleRefusal
 */
export async function verifyValues({ entries, values }: ReadLines): Promise<void> {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  requireErasers(entries, values, byId);
  const reader = new ValueReader({
    blob: async (hash) => {
      const value = values.get(hash);
      return value !== undefined && 'text' in value ? value.text : undefined;
    },
    erasedBy: async (hash) => {
      const value = values.get(hash);
      return value !== undefined && 'by' in value ? value.by : undefined;
    },
    resolve: async (id) => rowOf(byId.get(id)),
  } satisfies Pick<LedgerStore, 'blob' | 'erasedBy' | 'resolve'>);
  for (const { id, payload } of entries) {
    const forms = formsOf(payload);
    const place = { trajectory_id: payload.trajectory_id, seq: payload.seq };
    for (const stored of positionsOf(payload)) {
      // The mark of an erased value is data, and no reference.
      if (stored === undefined || isErased(stored)) continue;
      let held: ReadValue;
      try {
        held = await reader.read(place, stored);
      } catch (error) {
        if (!isInstance(error, LedgerFault)) throw error;
        throw new BundleRefusal('bad_entry', `a value of ${id}: ${error.message}`);
      }
      const form = forms.get(stored);
      const isSound = form === undefined || !('value' in held) || form.check(held.value);
      must(isSound, 'bad_entry', `a value of ${id} is not ${form?.what}`);
    }
  }
}

/** An erased value is a salted one, and the entry that erased it is in the bundle. */
function requireErasers(
  entries: readonly BundledEntry[],
  values: ReadLines['values'],
  byId: ReadonlyMap<Hash, BundledEntry>,
): void {
  for (const { id, payload } of entries) {
    const erasable = new Set(erasableHashesOf(payload));
    for (const hash of referencesOf(payload)) {
      const value = values.get(hash);
      if (value === undefined || !('by' in value)) continue;
      must(erasable.has(hash), 'bad_entry', `the value ${hash} of ${id} cannot have been erased`);
      must(
        byId.has(value.by),
        'context_missing',
        `the entry ${value.by}, which erased ${hash}, is missing (erasure)`,
      );
    }
  }
}

function rowOf(entry: BundledEntry | undefined): EntryRow | undefined {
  if (entry === undefined) return undefined;
  const { trajectory_id, parent, seq, kind } = entry.payload;
  return { id: entry.id, trajectory_id, parent, seq, kind, payload: entry.text };
}
