import { isObject } from '../entries/basic-forms.ts';
import type { Entry } from '../entries/payloads.ts';
import { isErasureOf } from '../rules/built-in-forms.ts';
import { effectPlaceOf, isAboutEffect, isSettlement, settlementOf } from '../rules/effects.ts';
import type { Findings } from './findings.ts';
import { type LedgerPart, resolvesOf } from './ledger-part.ts';

/**
 * Checks that a bundle has the entries that give others their meaning, where it shows that.
 */
export function checkContext(part: LedgerPart, findings: Findings): void {
  const missing = (reason: string, id: string) => findings.fault('context_missing', reason, id);
  for (const trajectory of part.trajectories()) {
    const [first] = part.chainOf(trajectory);
    if (first !== undefined && first.payload.seq !== 0)
      missing('The first entry of its trajectory is missing.', first.id);
  }
  for (const entry of part.entries)
    for (const { id, as } of namedBy(entry))
      if (!part.byId.has(id)) missing(`The ${as} is missing: ${id}.`, entry.id);
  checkErasures(part, findings);
}

/** The entries that give an entry its meaning. */
export function namedBy({
  payload,
}: Pick<Entry, 'payload'>): readonly { readonly id: string; readonly as: string }[] {
  const named: { id: string; as: string }[] = [];
  const resolves = resolvesOf(payload);
  if (resolves !== undefined) named.push({ id: resolves, as: 'proposal that it decides' });
  if (payload.kind === 'commit' && isSettlement(payload))
    for (const { commit } of settlementOf(payload)?.settled ?? [])
      named.push({ id: commit, as: 'commit that it settles' });
  if (payload.kind === 'pending_approval' && isAboutEffect(payload)) {
    const commit = effectPlaceOf(payload)?.commit;
    if (commit !== undefined) named.push({ id: commit, as: 'commit whose effect it is about' });
  }
  const isConclusion =
    payload.kind === 'delegation' && payload.child_trajectory_id !== payload.trajectory_id;
  if (isConclusion && payload.concludes !== undefined)
    named.push({ id: payload.concludes, as: 'start of the delegation that it concludes' });
  return named;
}

/** Each erased value names the entry that erased it. */
function checkErasures(part: LedgerPart, findings: Findings): void {
  for (const { hash, by } of part.erased) {
    const entry = part.byId.get(by);
    if (entry === undefined) {
      findings.fault('context_missing', `The entry that erased the value ${hash} is missing.`, by);
      continue;
    }
    const { payload } = entry;
    const isErasing = payload.kind === 'commit' && payload.action.name === 'assize.erase';
    const args = isErasing ? payload.action.args : undefined;
    const isInPlaceOrPlain = !isObject(args) || !('salted' in args);
    const held = part.valueOf(args);
    const names = isErasing && isInPlaceOrPlain && 'value' in held && isErasureOf(held.value, hash);
    findings.checked('values', 'bad_entry', names ? '' : `It did not erase the value ${hash}.`, by);
  }
}
