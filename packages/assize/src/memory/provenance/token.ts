import { arg, checkArgument } from '#base';
import { ProvenanceError } from './errors.ts';

/**
 * An indeterminate of K[X,T] (§2.2 of the paper), as a polynomial writes it. Tokens of X stand for
 * write events, one for each row of an entry: `w:@2` inside the entry, and `w:<entry id>#2`
 * outside. Tokens of T stand for trust: `t:policy:<version>`, `t:judge:<key>`, `t:approver:<name>`,
 * and `t:author:<voice>` in the author of a statement (`memory/author.ts`).
 */
export type Token = string;

/** The authority that can decide a resolution. */
export type Trusted = 'policy' | 'judge' | 'approver';

/**
 * The token of the `n`th write of an entry. Without an entry's id, the form inside the entry.
 * @throws ProvenanceError `bad_input`
 */
export function writeToken(n: number, entryId?: string): Token {
  checkArgument(arg.whole, n, 'n');
  checkArgument(arg.optional(arg.text), entryId, 'entryId');
  return readToken(entryId === undefined ? `w:@${n}` : `w:${entryId}#${n}`);
}

/**
 * The token of trust in a policy's version, a judge's key, an approver or an author. Any string can
 * be the name: characters with a meaning in polynomials are escaped by their bytes (`%2B`).
 * @throws ProvenanceError `bad_input` for a name that is empty or has no UTF-8
 */
export function trustToken(kind: Trusted | 'author', name: string): Token {
  checkArgument(arg.text, kind, 'kind');
  checkArgument(arg.text, name, 'name');
  if (!name.isWellFormed())
    throw badToken(name.toWellFormed(), 'the name has half a surrogate pair');
  return readToken(`t:${kind}:${name.replace(ESCAPED, escapeCharacter)}`);
}

/** A token of T, with the name that it escapes. */
export interface Trust {
  readonly kind: Trusted;
  readonly name: string;
}

/** The authority that a token stands for; undefined for the token of a write or of an author. */
export function readTrust(token: Token): Trust | undefined {
  const [, kind, name] = /^t:(policy|judge|approver):(.*)$/.exec(readToken(token)) ?? [];
  return name === undefined ? undefined : { kind: kind as Trusted, name: decodeURIComponent(name) };
}

/** @throws ProvenanceError `bad_input` for a text that neither function above returns */
export function readToken(text: string): Token {
  checkArgument(arg.text, text, 'text');
  if (WRITE.test(text)) return text;
  const name = TRUST.exec(text)?.[1];
  if (name === undefined)
    throw badToken(
      text,
      'it must be w:@n, w:<entry id>#n or t:policy|judge|approver|author:<name>',
    );
  // Each name has exactly one token: only required escapes are allowed, in one form, as UTF-8.
  if (canonicalName(name) !== name)
    throw badToken(text, 'an escape is not needed there, or is not UTF-8');
  return text;
}

/** The form of the token outside the entry that wrote it. Other tokens stay unchanged. */
export function placedToken(token: Token, entryId: string): Token {
  checkArgument(arg.text, token, 'token');
  return token.startsWith('w:@') ? writeToken(Number(token.slice(3)), entryId) : token;
}

const NUMBER = '(?:0|[1-9][0-9]{0,14})';
const WRITE = new RegExp(`^w:(?:@|[0-9a-f]{64}#)${NUMBER}$`);
const TRUST = /^t:(?:policy|judge|approver|author):((?:[A-Za-z0-9._~@:/=-]|%[0-9A-F]{2})+)$/;
const ESCAPED = /[^A-Za-z0-9._~@:/=-]/gu;

function canonicalName(name: string): string | undefined {
  const bytes = name.split(/%(..)/);
  const raw = bytes.flatMap((part, i) =>
    i % 2 === 1 ? [Number.parseInt(part, 16)] : [...new TextEncoder().encode(part)],
  );
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(new Uint8Array(raw));
  return text.replace(ESCAPED, escapeCharacter);
}

function escapeCharacter(character: string): string {
  const bytes = [...new TextEncoder().encode(character)];
  return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

function badToken(text: string, problem: string): ProvenanceError {
  return new ProvenanceError(
    'bad_input',
    `${JSON.stringify(text)} is not a provenance token: ${problem}.`,
    {
      evidence: { text, problem },
    },
  );
}
