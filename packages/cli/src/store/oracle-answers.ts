import type { Json } from 'assize/internal/base';
import { hashText, parseStrict } from 'assize/internal/canon';
import { isBlobRef, type Observation, type Payload } from 'assize/internal/ledger';
import { ORACLE_LIMITS } from 'assize/internal/oracle';
import type { Store } from 'assize/internal/stores';
import { blobValue } from 'assize/internal/views';

/** An observation that an entry names by its key in the oracle log, with the log's value. */
export interface NamedAnswer {
  /** JSON Pointer of the reference in the payload. */
  readonly pointer: string;
  readonly name: string;
  readonly oracle_key: string;
  /**
   * `missing`: the log of this store lacks it. `changed`: the log has another value than the entry
   * names. `erased`: the entry `by` has erased it.
   */
  readonly is: 'there' | 'missing' | 'changed' | 'erased';
  readonly by?: string;
  readonly bytes?: number;
  /** The time of the request. */
  readonly at?: string;
  /** Absent unless requested. */
  readonly value?: Json;
}

/** Every answer that an entry names, looked up in the log. */
export function answersOf(store: Store, payload: Payload, values: boolean): Promise<NamedAnswer[]> {
  const [above, observations] = observationsOf(payload);
  const byKey = observations.flatMap(({ name, oracle_key, ...named }, n) =>
    oracle_key === undefined ? [] : [{ pointer: `${above}/${n}`, name, oracle_key, of: named }],
  );
  return Promise.all(
    byKey.map(async ({ of, ...named }): Promise<NamedAnswer> => {
      const row = await store.oracleGet(named.oracle_key);
      if (row === undefined) return { ...named, is: 'missing' };
      if (row.erased_by !== undefined) return { ...named, is: 'erased', by: row.erased_by };
      if (isBlobRef(of.value)) {
        const by = await store.erasedBy(of.value.$blob);
        if (by !== undefined) return { ...named, is: 'erased', by };
      }
      if (hashText(row.answer) !== (await hashIn(store, of))) return { ...named, is: 'changed' };
      const found = {
        ...named,
        is: 'there' as const,
        bytes: Buffer.byteLength(row.answer),
        at: row.at,
      };
      return values ? { ...found, value: parseStrict(row.answer, ORACLE_LIMITS) } : found;
    }),
  );
}

async function hashIn(
  store: Store,
  { hash, value }: Pick<Observation, 'hash' | 'value'>,
): Promise<Json | undefined> {
  if (!isBlobRef(value)) return hash;
  return blobValue(store, { pointer: '', hash: value.$blob, bytes: value.bytes, salted: true });
}

function observationsOf(
  payload: Payload,
): readonly [pointer: string, observations: readonly Observation[]] {
  switch (payload.kind) {
    case 'commit':
      return ['/observations', payload.observations];
    case 'rejection':
      return ['/intent/observations', payload.intent.observations];
    case 'pending_approval':
      return ['/proposal/observations', payload.proposal.observations];
    default:
      return ['', []];
  }
}
