import type { Fault } from 'assize/internal/ledger';

/** The fault of an entry, with the code and the broken rule in parentheses. */
export function faultText({ detail, code, rule }: Fault): string {
  return `${detail} (${rule === undefined ? code : `${code}, ${rule}`})`;
}
