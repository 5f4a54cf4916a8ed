import {
  type Hash,
  type Payload,
  referencesOf,
  writParent,
  writsNamedBy,
} from 'assize/internal/ledger';
import type { BundledEntry, BundledValue } from './form.ts';

/**
 * The values that an entry needs and that no line had before, in the order of their lines: as the
 * ledger's export has them. Adds them to `stood`.
 */
export function* newValues(
  payload: Payload,
  valueNamed: (hash: Hash) => BundledValue | undefined,
  stood: Set<Hash>,
): Generator<readonly [Hash, BundledValue | undefined]> {
  for (const hash of referencesOf(payload))
    if (stood.size < stood.add(hash).size) yield [hash, valueNamed(hash)];
  for (const id of writsNamedBy(payload)) {
    for (let next: Hash | undefined = id; next !== undefined && !stood.has(next); ) {
      const value = valueNamed(next);
      if (value === undefined || !('text' in value)) break;
      stood.add(next);
      yield [next, value];
      next = writParent(value.text);
    }
  }
}

/** The text of `entries.jsonl`, and its values in the order of their lines. */
export function linesOf(
  entries: readonly BundledEntry[],
  values: ReadonlyMap<Hash, BundledValue>,
): { readonly text: string; readonly ordered: ReadonlyMap<Hash, BundledValue> } {
  const lines: string[] = [];
  const ordered = new Map<Hash, BundledValue>();
  const stood = new Set<Hash>();
  for (const { id, index, text, payload } of entries) {
    for (const [hash, value] of newValues(payload, (name) => values.get(name), stood)) {
      if (value === undefined) continue;
      ordered.set(hash, value);
      lines.push(
        'by' in value
          ? `{"by":"${value.by}","erased":"${hash}"}`
          : `{"blob":${value.text},"hash":"${hash}"}`,
      );
    }
    lines.push(`{"id":"${id}","index":${index},"payload":${text}}`);
  }
  return { text: `${lines.join('\n')}\n`, ordered };
}
