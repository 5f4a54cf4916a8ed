import { isObject } from '../entries/basic-forms.ts';
import type { Entry } from '../entries/payloads.ts';
import { isAboutEffect, isSettlement } from '../rules/effects.ts';
import { type Writ, writIdOf, wrongWrit } from '../writs/writ.ts';
import type { Findings } from './findings.ts';
import type { LedgerPart } from './ledger-part.ts';
import type { Pause } from './pause.ts';
import { writNamedBy } from './writ-of.ts';

const ANCESTORS_MAX = 8;

/**
 * Checks the writ of each entry, and its ancestors: they are there, have their form, and are
 * signed. Returns the issuers of the writs without a parent, ascending.
 */
export async function checkWrits(
  part: LedgerPart,
  findings: Findings,
  pause: Pause,
): Promise<readonly string[]> {
  const checked = new Map<string, string>();
  const issuers = new Set<string>();
  for (const entry of part.entries) {
    await pause();
    const id = usedWrit(entry);
    if (id === undefined) continue;
    const trajectory = entry.payload.trajectory_id;
    const wrong = wrongWrits(id, (id) => part.writ(id, trajectory), checked, issuers);
    if (wrong !== '') findings.fault('bad_writ', wrong, entry.id);
  }
  for (const _writ of checked) findings.checked('writs', 'bad_writ', '');
  return [...issuers].sort();
}

/** The writ of a commit, a pending or a start that is not about effects. */
export function usedWrit({ payload }: Entry): string | undefined {
  if (payload.kind === 'commit' && isSettlement(payload)) return undefined;
  if (payload.kind === 'pending_approval' && isAboutEffect(payload)) return undefined;
  return payload.kind === 'rejection' ? undefined : writNamedBy(payload);
}

/**
 * A writ and its ancestors: '' or the reason, as a sentence. `checked`: the reason of each writ
 * that was checked before. `issuers` gets those of writs without a parent.
 */
export function wrongWrits(
  first: string,
  writOf: (id: string) => unknown,
  checked: Map<string, string>,
  issuers: Set<string>,
): string {
  let id: string | null = first;
  for (let above = 0; id !== null; above += 1) {
    if (above > ANCESTORS_MAX) return 'Its writ has more than eight ancestors.';
    const writ: unknown = writOf(id);
    if (writ === undefined)
      return `${above === 0 ? 'Its writ' : 'A writ above its own'} is missing: ${id}.`;
    const wrong = wrongOnce(id, writ, checked);
    if (wrong !== '') return wrong;
    const { parent, issuer } = writ as Writ;
    if (parent === null) issuers.add(issuer);
    id = parent;
  }
  return '';
}

function wrongOnce(id: string, writ: unknown, checked: Map<string, string>): string {
  const known = checked.get(id);
  if (known !== undefined) return known;
  const predicate =
    isObject(writ) && writIdOf(writ) === id ? wrongWrit(writ) : 'does not hash to its id';
  const wrong = predicate === '' ? '' : `The writ ${id.slice(0, 12)}… ${predicate}.`;
  checked.set(id, wrong);
  return wrong;
}
