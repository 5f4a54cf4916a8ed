import type { Json } from 'assize/internal/base';
import { contentHash, readCanonical } from 'assize/internal/canon';
import type { Hash, Payload } from 'assize/internal/ledger';

/** Ancestors of a writ, at most. */
export const ANCESTORS_MAX = 8;

export interface NamedWrit {
  readonly id: Hash;
  readonly writ: Json;
}

/** The writs that the first entry of a trajectory contains, by id. */
export function writsIn(first: Payload): ReadonlyMap<Hash, Json> {
  const writs = first.kind === 'root' || first.kind === 'branch' ? first.writs : [];
  return new Map(writs.map((writ) => [contentHash(writ), writ]));
}

/** A writ and its known ancestors, upwards. `isWhole`: the last one has no parent. */
export function writChain(
  id: Hash,
  own: ReadonlyMap<Hash, Json>,
  blob: (id: Hash) => string | undefined,
): { readonly chain: readonly NamedWrit[]; readonly isWhole: boolean } {
  const chain: NamedWrit[] = [];
  for (let next: Hash | undefined = id; next !== undefined; ) {
    const writ = own.get(next) ?? parsed(blob(next));
    if (writ === undefined || chain.length > ANCESTORS_MAX) return { chain, isWhole: false };
    chain.push({ id: next, writ });
    next = parentIn(writ);
  }
  return { chain, isWhole: true };
}

export function subjectIn(writ: Json | undefined): string | undefined {
  const subject = (writ as { readonly subject?: unknown } | null | undefined)?.subject;
  return typeof subject === 'string' ? subject : undefined;
}

function parentIn(writ: Json): Hash | undefined {
  const parent = (writ as { readonly parent?: unknown } | null)?.parent;
  return typeof parent === 'string' ? parent : undefined;
}

function parsed(text: string | undefined): Json | undefined {
  return text === undefined ? undefined : (readCanonical(text) as Json);
}
