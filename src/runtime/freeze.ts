import { type Json, parsePointer } from '#canon';
import { type Binding, type Domain, type Intent, overlaps, type Pattern, patternFromText } from '#kernel';
import { type Chain, ERASE_ACTION, erasureArgs } from '#ledger';
import type { Ruling } from './ruling.ts';

/** The answer to an intent that an open approval stops (decisions §2.5); undefined when nothing does. */
export function frozenFor(chain: Chain, domain: Domain, intent: Intent): Ruling | undefined {
  if (chain.open.size === 0) return undefined;
  const touched = touchedBy(domain, intent);
  for (const [by, { freezes, channel }] of chain.open) {
    const meets =
      freezes === 'world' || touched.some((mine) => freezes.some((text) => overlaps(mine, patternFromText(text))));
    // Not why: what waits may be about what the one who asks here is not to see.
    if (meets) return { ruling: 'frozen', by, detail: `an approval must first be resolved (${by}, by ${channel})` };
  }
  return undefined;
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
