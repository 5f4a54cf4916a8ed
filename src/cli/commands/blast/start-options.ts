import type { Incident } from '#domains/incident';

/** The options of `assize blast` that name a start, for a shell. */
export function startOptions({ facts, ...start }: Incident['start']): string {
  const named = Object.entries({ ...facts, ...start });
  return named.flatMap(([name, value]) => (value === undefined ? [] : `--${name} ${quoted(value)}`)).join(' ');
}

/** A name may be any text of the ledger. */
function quoted(value: string): string {
  return /^[\w:./@+-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
