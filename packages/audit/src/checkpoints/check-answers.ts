import type { Json } from 'assize/internal/base';
import { hashText } from 'assize/internal/canon';
import {
  type Entry,
  type Hash,
  isBlobRef,
  type LedgerStore,
  type Observation,
  observationsOf,
  readRow,
  ValueReader,
  type VerifyReport,
  wasImported,
} from 'assize/internal/ledger';
import type { OracleStore } from 'assize/internal/oracle';

/** An answer of the oracle log differs from the hash that an entry pins, or is missing. */
export type AnswerFault =
  | {
      readonly code: 'answer_differs';
      readonly key: string;
      readonly trajectory_id: string;
      readonly seq: number;
      readonly detail: string;
    }
  | { readonly code: 'answer_lost'; readonly key: string; readonly detail: string };

const PAGE = 1_000;

type Store = LedgerStore & Pick<OracleStore, 'oracleGet'>;

/** Whether a store has an oracle log next to its entries. */
export function hasOracleLog(store: LedgerStore): store is Store {
  return typeof (store as Partial<OracleStore>).oracleGet === 'function';
}

/**
 * Compares the oracle log with the hashes that the observations of verified entries pin. Returns
 * the number of answers that were not compared, because this oracle log never had them: the entry
 * was imported, or the oracle log has no answer that the trajectory pins. `limit`: number of faults
 * after which the check stops.
 *
 * @throws the errors of the store
 */
export async function checkPinnedAnswers(
  store: Store,
  trajectories: readonly VerifyReport[],
  limit: number,
  faults: { push(fault: AnswerFault): number; readonly length: number },
): Promise<number> {
  let elsewhere = 0;
  for (const { trajectory_id, entries } of trajectories) {
    const missing: AnswerFault[] = [];
    let found = 0;
    let imported = 0;
    for await (const { entry, key, hash } of pinnedIn(store, trajectory_id, entries)) {
      if (faults.length >= limit) return elsewhere;
      const { seq } = entry;
      const row = await store.oracleGet(key);
      if (row !== undefined) found += 1;
      // The check of erased answers finds an erasure that no entry made.
      if (row?.erased_by !== undefined) continue;
      if (row === undefined) {
        if (await wasImported(store, entry.id)) imported += 1;
        else missing.push(lost(key, trajectory_id, seq));
      } else if (hashText(row.answer) !== hash) faults.push(differing(key, trajectory_id, seq));
    }
    if (found === 0) elsewhere += missing.length;
    else for (const fault of missing) faults.push(fault);
    elsewhere += imported;
  }
  return elsewhere;
}

function differing(key: string, trajectory_id: string, seq: number): AnswerFault {
  const detail = `the answer under oracle key ${key} does not have the hash that ${trajectory_id} seq ${seq} pins; restore the oracle log from a backup`;
  return { code: 'answer_differs', key, trajectory_id, seq, detail };
}

function lost(key: string, trajectory_id: string, seq: number): AnswerFault {
  const detail = `the answer under oracle key ${key}, which ${trajectory_id} seq ${seq} pins, is missing; restore the oracle log from a backup`;
  return { code: 'answer_lost', key, detail };
}

interface Pinned {
  readonly entry: Entry;
  readonly key: Hash;
  readonly hash: Json;
}

/** The answers that the first `count` entries of a trajectory pin, without erased hashes. */
async function* pinnedIn(
  store: Store,
  trajectoryId: string,
  count: number,
): AsyncGenerator<Pinned> {
  const values = new ValueReader(store);
  for (let from = 0; from < count; from += PAGE) {
    for (const row of await store.entries(trajectoryId, {
      from,
      limit: Math.min(PAGE, count - from),
    })) {
      const entry = readRow(row);
      for (const observation of observationsOf(entry.payload)) {
        const { oracle_key: key } = observation;
        const hash =
          key === undefined ? undefined : await hashOf(store, values, entry, observation);
        if (key !== undefined && hash !== undefined) yield { entry, key, hash };
      }
    }
  }
}

async function hashOf(
  store: Store,
  values: ValueReader,
  entry: Entry,
  { value, hash }: Observation,
): Promise<Json | undefined> {
  if (value === undefined) return hash;
  if (isBlobRef(value) && (await store.erasedBy(value.$blob)) !== undefined) return undefined;
  return values.value(entry, value);
}
