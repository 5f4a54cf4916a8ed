import { type Json, parsePointer, toPointer } from '#canon';
import {
  type Binding,
  type Change,
  type Domain,
  type Intent,
  overlaps,
  type Pattern,
  patternFromText,
  patternText,
} from '#kernel';
import { type Chain, ERASE_ACTION, erasureArgs, type Hash, type PendingPayload } from '#ledger';
import { RuntimeError } from './errors.ts';
import type { Ruling } from './ruling.ts';

/** The answer to an intent that an open approval stops (decisions §2.5); undefined when nothing does. */
export function frozenFor(chain: Chain, domain: Domain, intent: Intent): Ruling | undefined {
  if (chain.open.size === 0) return undefined;
  const touched = touchedBy(domain, intent);
  for (const [by, pending] of chain.open) {
    const until = `until an approval is resolved (${by}, by ${pending.channel})`;
    if (pending.freezes === 'world') return { ruling: 'frozen', by, detail: `the world is frozen ${until}` };
    // Not why, and of the places only what who asks here may touch: what waits may be about what they are not to see.
    const met = touched.find(frozenIn(pending.freezes));
    if (met !== undefined) return { ruling: 'frozen', by, detail: `${patternText(met)} is frozen ${until}` };
  }
  return undefined;
}

/**
 * Sees that an approval changes nothing that another open one freezes, so that nothing in a frozen footprint has changed
 * since it was put up, whoever is next. Of proposals that is asked before they are judged, by what they may touch; what the
 * mark of an approval changes, or a state of the counselor's own, is known only here. So two may wait whose rules read the
 * same.
 *
 * @throws RuntimeError `frozen`
 */
export function checkOthers({ open }: Chain, id: Hash, changes: readonly Change[]): void {
  for (const [by, { freezes, channel }] of open) {
    if (by === id) continue;
    const isFrozen = frozenIn(freezes);
    const change = changes.find(({ keys }) => isFrozen({ segments: keys, append: false }));
    if (change === undefined) continue;
    const path = toPointer(change.keys);
    throw new RuntimeError(
      'frozen',
      `This approval would change ${path}, which is frozen until ${by} is resolved (by ${channel}); see to that one first, or reject this one.`,
      { evidence: { by, path }, retryable: true },
    );
  }
}

/** Whether some place under a pattern is frozen. */
function frozenIn(freezes: PendingPayload['freezes']): (pattern: Pattern) => boolean {
  if (freezes === 'world') return () => true;
  const frozen = freezes.map(patternFromText);
  return (pattern) => frozen.some((one) => overlaps(one, pattern));
}

/** What still stands where it was written; what does not touches no state. */
function erasedPlaces(args: Json): readonly Pattern[] {
  return (erasureArgs(args)?.values ?? []).flatMap(({ path }) =>
    path === undefined ? [] : [{ segments: parsePointer(path), append: false }],
  );
}

/** What an intent may read and write, as far as it can be known before it is judged. */
function touchedBy(domain: Domain, intent: Intent): readonly Pattern[] {
  if (intent.action === ERASE_ACTION) return erasedPlaces(intent.args);
  const binding = bindingOf(domain, intent);
  // What does not compile touches nothing.
  return binding === undefined ? [] : [...binding.reads, ...binding.writes];
}

/** The process of an intent, bound to its role; undefined where that does not compile. */
export function bindingOf(domain: Domain, intent: Intent): Binding | undefined {
  const process = (domain.actions as Record<string, { process: string } | undefined>)[intent.action]?.process;
  const role = Object.hasOwn(domain.roles, intent.role.name) ? domain.roles[intent.role.name] : undefined;
  if (process === undefined || !role?.processes.includes(process)) return undefined;
  if (role.params?.some((param) => !Object.hasOwn(intent.role.params, param))) return undefined;
  return domain.bind(process, intent.role.params);
}
