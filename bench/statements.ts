/** Facts for benchmarks of recall: one per subject, without a start. */
import type { FactWrite } from '#ledger';
import { OPEN_END } from '#memory';
import type { Store } from '#stores';

const HASH = 'ab'.repeat(32);
export const START = '2026-01-01T00:00:00.000000Z';

export function saying(n: number, object: string): FactWrite {
  const partition = { space: 'bench', subject: `patient ${n}`, predicate: 'notes' };
  const content = { hash: n.toString(16).padStart(64, '0'), bytes: object.length };
  const row = {
    ...partition,
    fact_id: `claim ${n}`,
    object,
    content,
    valid_from: START,
    valid_to: OPEN_END,
    system_time_start: START,
    system_time_end: OPEN_END,
    provenance_id: `w:${HASH}#0`,
    confidence: 1,
    resolution_strategy_id: 'lww',
    row_kind: 'current' as const,
    resolution_id: null,
    lineage: `claim ${n}`,
    asserted_seq: 1,
    asserted_from: START,
    entry_id: HASH,
    seq: 1,
    cardinality: 'single-valued' as const,
  };
  return { partition, names: content, version: 1, system_time: START, close: [], insert: [row] };
}

export async function put(store: Store, facts: readonly FactWrite[]): Promise<void> {
  const { status } = await store.commit({ entries: [], blobs: [], facts });
  if (status !== 'committed') throw new Error(`unexpected: ${status}`);
}
