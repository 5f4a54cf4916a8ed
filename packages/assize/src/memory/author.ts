import { keyedHash, plainText } from '#canon';
import type { FactRow, Provenance } from './fact.ts';
import { multipliedProvenance, Polynomial } from './provenance/polynomial.ts';
import { trustToken, writeToken } from './provenance/token.ts';

/** The author of a statement. */
export interface Author {
  readonly role: 'user' | 'assistant';
  readonly name?: string;
  /** The users of the space speak as one. */
  readonly shared?: true;
}

const ANY = 't:author:';
const ASSISTANT = trustToken('author', 'assistant');
const USER = trustToken('author', 'user:');
/** Users without a name count as one, whose word every user may replace. */
export const UNNAMED_USER = `${USER}unnamed`;
/** The hex digits of a hash that stands for the name of a user. */
const NAME_DIGITS = 32;

/**
 * The provenance of the `n`th statement of an entry: its write, and the trust in its author. A name
 * is a keyed hash there, because no erasure reaches a provenance.
 */
export function statedProvenance(
  n: number,
  key: Uint8Array,
  { space, author }: { readonly space: string; readonly author?: Author },
): Provenance {
  if (author === undefined) return writeToken(n);
  const { role, name, shared } = author;
  const hash = (): string =>
    keyedHash(key, plainText({ author: name, space })).slice(0, NAME_DIGITS);
  const user = name === undefined ? UNNAMED_USER : `${USER}${hash()}`;
  const trust = role === 'user' && shared !== true ? user : trustToken('author', role);
  return multipliedProvenance(writeToken(n), [trust]);
}

/** The tokens of the users whose word a fact is. */
export function usersOf({ provenance_id }: Pick<FactRow, 'provenance_id'>): readonly string[] {
  if (!provenance_id.includes(USER)) return [];
  return Polynomial.read(provenance_id).tokens.filter((token) => token.startsWith(USER));
}

/** Whether an assistant alone states the fact. */
export function isOfAssistant({ provenance_id }: Pick<FactRow, 'provenance_id'>): boolean {
  if (!provenance_id.includes(ANY)) return false;
  return [...Polynomial.read(provenance_id).terms.keys()].every((term) =>
    term.split('*').includes(ASSISTANT),
  );
}
