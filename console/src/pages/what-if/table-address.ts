import { hashOf } from '../../../verify/bytes/hash.ts';

/** A longer table is in an address by its digest only. */
const ADDRESS_MAX = 4_000;
/** Servers refuse addresses of more than 16 kB, and a character can be escaped as nine or more. */
const ESCAPED_MAX = 12_000;

/**
 * A rule table or a rules file as an address has it: its text, or `sha256:` and a digest
 * of a long one. Undefined for the example, and for a table that is not JSON.
 */
export function tableAddressOf(text: string, example: string, isFile = false): string | undefined {
  const [table, begun] = isFile ? [text, example] : [compact(text), compact(example)];
  if (table === undefined || table === begun) return undefined;
  const isShort =
    table.length <= ADDRESS_MAX && new URLSearchParams({ table }).toString().length <= ESCAPED_MAX;
  return isShort ? table : `sha256:${hashOf(table)}`;
}

/** The text of a table that an address has. Undefined if it has a digest, or no JSON. */
export function tableOf(address: string, isFile = false): string | undefined {
  if (isFile) return address.startsWith('sha256:') ? undefined : address;
  try {
    return JSON.stringify(JSON.parse(address), null, 2);
  } catch {
    return undefined;
  }
}

function compact(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}
