import { parseWrit } from 'assize/internal/authority';
import { isAssizeError } from 'assize/internal/base';
import { canonicalize, verifyText } from 'assize/internal/canon';
import { type Hash, isEffectEntry, type Payload } from 'assize/internal/ledger';
import type { BundledEntry, BundledValue } from './form.ts';
import { writOf } from './scope.ts';
import { type NamedWrit, writChain, writsIn } from './writs.ts';

/** The issuers of root writs, ascending, or the reason why a writ is missing or not valid. */
export interface CheckedWrits {
  readonly issuers: readonly string[];
  readonly fault?: string;
}

/**
 * Checks that commits, pending entries and starts have their writs, and that the writs are signed.
 */
export function checkWrits(
  entries: readonly BundledEntry[],
  values: ReadonlyMap<Hash, BundledValue>,
): CheckedWrits {
  const firsts = new Map(
    entries.flatMap(({ payload }) =>
      payload.seq === 0 ? [[payload.trajectory_id, writsIn(payload)] as const] : [],
    ),
  );
  const issuers = new Set<string>();
  const sound = new Set<Hash>();
  let fault: string | undefined;
  for (const { id, payload } of entries) {
    const named = needsWrit(payload) ? writOf(payload) : undefined;
    if (named === undefined) continue;
    const own = firsts.get(payload.trajectory_id) ?? new Map();
    const { chain, isWhole } = writChain(named, own, (hash) => textIn(values, hash));
    const root = chain.at(-1);
    if (!isWhole || root === undefined)
      fault ??= `the entry ${id} is without its writ ${named}, or an ancestor of it`;
    else issuers.add(String((root.writ as { readonly issuer?: unknown }).issuer));
    for (const one of chain) {
      if (sound.has(one.id)) continue;
      if (isSound(one)) sound.add(one.id);
      else fault ??= `the writ ${one.id} is not valid, or not signed by its issuer`;
    }
  }
  return { issuers: [...issuers].sort(), ...(fault !== undefined && { fault }) };
}

/** Entries about effects are made without a writ. */
function needsWrit(payload: Payload): boolean {
  return payload.kind !== 'rejection' && !isEffectEntry(payload);
}

function textIn(values: ReadonlyMap<Hash, BundledValue>, hash: Hash): string | undefined {
  const value = values.get(hash);
  return value !== undefined && 'text' in value ? value.text : undefined;
}

/** The id is the hash of the text in the lines. */
function isSound({ writ }: NamedWrit): boolean {
  try {
    const { signature, ...body } = parseWrit(writ);
    return verifyText('writ', canonicalize(body), signature, body.issuer);
  } catch (error) {
    if (isAssizeError(error)) return false;
    throw error;
  }
}
