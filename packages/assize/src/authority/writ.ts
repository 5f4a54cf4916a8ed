import { GenerationalMap, isAssizeError, type Json } from '#base';
import {
  canonicalize,
  copyJson,
  hashText,
  type Instant,
  isInstant,
  readInstant,
  signText,
  type Time,
  verifyText,
} from '#canon';
import { type Amounts, isAmount } from './amounts.ts';
import { AuthorityError } from './errors.ts';
import { actionAdvice, type NameSort, readName } from './grammar.ts';

/** Links from a root writ (depth 0) to the deepest child. */
export const MAX_DEPTH = 8;
/** Maximum number of items in one list, and of units in one budget. */
export const MAX_ITEMS = 256;
/** Maximum length of subject, trajectory, unit or nonce, in UTF-16 units. */
export const MAX_TEXT = 512;

/**
 * A signed capability, in its stored form: the actions that `issuer` grants to `subject`. It is a
 * value. `checkWrit` decides whether it can be used. An absent list or budget grants nothing
 * (docs/decisions/011-writs-and-policies.md).
 */
export interface Writ {
  readonly v: 1;
  /** Ed25519 public key, 64 hex digits. A root's issuer must be an anchor of the configuration. */
  readonly issuer: string;
  /**
   * The principal that may use the writ, as any text. To issue children, the subject must be a
   * public key.
   */
  readonly subject: string;
  /** Id of the writ that this one narrows. Null for a root. */
  readonly parent: string | null;
  /** The one trajectory of the writ. Absent: any. A writ with a budget names one. */
  readonly trajectory?: string;
  /** Patterns of action names. */
  readonly actions?: readonly string[];
  /** Patterns of resources, in normal form. */
  readonly scopes?: readonly string[];
  /** The total amount that may be spent, children included. */
  readonly budget?: Amounts;
  /** First instant at which the writ is valid. */
  readonly not_before: Instant;
  /** First instant at which the writ is no longer valid. */
  readonly expires: Instant;
  /** Maximum number of levels of children: 0 for none, at most 8. */
  readonly max_depth: number;
  /** Patterns of actions that a counselor must approve. Children can only add patterns. */
  readonly require_approval?: readonly string[];
  /** Makes two equal grants two writs. */
  readonly nonce: string;
  /** Ed25519 over `assize/writ/v1\n` and the canonical text without this field, 128 hex digits. */
  readonly signature: string;
}

/** The signed part of a writ. */
export type WritBody = Omit<Writ, 'signature'>;

/**
 * A root writ before signing. Names are normalised, and an absent list is written as an empty one.
 */
export interface WritGrant extends Omit<WritBody, 'v' | 'parent' | keyof Window> {
  /** First time at which the writ is valid, in any form of `Time`. */
  readonly not_before: Time;
  /** First time at which the writ is no longer valid, in any form of `Time`. */
  readonly expires: Time;
}

/** The times of a writ before signing, in any form. */
interface Window {
  readonly not_before: Time;
  readonly expires: Time;
}

type WritDraft = Omit<WritBody, keyof Window> & Window;

/**
 * Signs a root writ.
 * @throws AuthorityError `bad_writ`, `bad_argument`, `bad_key`
 */
export function issueWrit(grant: WritGrant, privateKey: string): Writ {
  return signWrit(draftWrit({ ...membersOf(grant), v: 1, parent: null }), privateKey);
}

/**
 * Parses a writ from data of any origin. Strict: an unknown field or version, a name not in normal
 * form, or a value out of bounds is refused. The signature is not checked here; `checkWrit` checks
 * it. The result is a frozen copy.
 *
 * @throws AuthorityError `bad_writ`
 */
export function parseWrit(value: unknown): Writ {
  if (isKnown(value)) return value;
  const writ = readWrit(copyOf(value), 'stored');
  ids.set(writ, hashText(canonicalize(writ)));
  return writ;
}

/**
 * The writ's id: SHA-256 of its canonical text, signature included, 64 hex digits.
 * @throws AuthorityError `bad_writ`
 */
export function writId(writ: Writ): string {
  return ids.get(writ) ?? ids.get(parseWrit(writ))!;
}

/**
 * The fields of a caller's writ, after checking that the value is an object.
 *
 * @throws AuthorityError `bad_writ`
 */
export function membersOf<T extends object>(given: T): T {
  if (typeof given !== 'object' || given === null) throw bad('', 'must be an object');
  try {
    return { ...given };
  } catch (cause) {
    throw new AuthorityError('bad_writ', 'A writ must be plain JSON data.', {
      cause,
      evidence: { pointer: '' },
    });
  }
}

/**
 * A draft in its signed form: names normalised, absent lists written as empty ones, every value in
 * bounds.
 */
export function draftWrit(draft: WritDraft): WritBody {
  const { actions = [], scopes = [], budget = {}, require_approval = [], ...others } = draft;
  const rest = { ...others, ...datesOf(others) };
  const full = { ...rest, actions, scopes, budget, require_approval, signature: NO_SIGNATURE };
  const { signature: _none, ...body } = readWrit(copyOf(full), 'draft');
  return body;
}

/** The times that are objects, in the form of the ledger. @throws AuthorityError `bad_writ` */
function datesOf(draft: Window): Partial<Record<keyof Window, Instant>> {
  const given = (['not_before', 'expires'] as const).filter(
    (key) => typeof draft[key] === 'object',
  );
  return Object.fromEntries(given.map((key) => [key, readInstant(draft[key]) ?? badTime(key)]));
}

function badTime(key: string): never {
  throw bad(
    key,
    'must be a time such as a Date, 2026-03-23T09:00:00Z, or a day such as 2026-03-23',
  );
}

/**
 * Signs a draft with the issuer's key. Does not check that it is narrower than a parent.
 *
 * @throws AuthorityError `bad_key`
 */
export function signWrit(body: WritBody, privateKey: string): Writ {
  const text = canonicalize(body);
  const signature = signedBy(privateKey, text);
  if (signature === undefined || !verifyText('writ', text, signature, body.issuer)) {
    throw new AuthorityError(
      'bad_key',
      'The private key does not belong to the issuer. Sign with the key of the issuer.',
      {
        evidence: { issuer: body.issuer },
      },
    );
  }
  return parseWrit({ ...body, signature });
}

/** Undefined if the text is not a private key. */
function signedBy(privateKey: string, text: string): string | undefined {
  try {
    return signText('writ', text, privateKey);
  } catch (error) {
    if (isAssizeError(error, 'bad_key')) return undefined;
    throw error;
  }
}

/**
 * Whether the writ was signed with its issuer's key. Never throws: an invalid key returns false.
 */
export function signatureHolds(writ: Writ): boolean {
  const id = ids.get(writ);
  if (id !== undefined && signed.get(id) === true) return true;
  const { signature, ...body } = writ;
  const holds = verifyText('writ', canonicalize(body), signature, writ.issuer);
  if (holds && id !== undefined) signed.set(id, true);
  return holds;
}

/**
 * Ids of writs with a valid signature. The id covers the signature. Each trajectory that is opened
 * presents them again.
 */
const signed = new GenerationalMap<string, true>(1_000);

const NO_SIGNATURE = '0'.repeat(128);

/**
 * Ids of the frozen writs that this module created. A writ built by a caller is parsed every time.
 */
const ids = new WeakMap<object, string>();

function isKnown(value: unknown): value is Writ {
  return typeof value === 'object' && value !== null && ids.has(value);
}

function copyOf(value: unknown): Json {
  try {
    return copyJson(value, { foreign: true });
  } catch (cause) {
    throw new AuthorityError('bad_writ', 'A writ must be plain JSON data.', {
      cause,
      evidence: { pointer: '' },
    });
  }
}

type Mode = 'stored' | 'draft';

function readWrit(json: Json, mode: Mode): Writ {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw bad('', 'must be an object');
  const given = json as { readonly [key: string]: Json };
  for (const key of Object.keys(given)) {
    if (!MEMBERS.has(key)) throw bad(key, 'is not a field of a writ');
  }
  if (given['v'] !== 1) throw bad('v', 'must be 1, the only supported version');
  const issuer = hex(given, 'issuer', 64);
  const subject = text(given, 'subject');
  if (subject === issuer) throw bad('subject', 'must differ from the issuer');
  const trajectory = Object.hasOwn(given, 'trajectory') ? text(given, 'trajectory') : undefined;
  const budget = amounts(given);
  if (trajectory === undefined && budget !== undefined && Object.keys(budget).length > 0) {
    throw bad('trajectory', 'is required, because the writ has a budget');
  }
  const writ: Writ = {
    v: 1,
    issuer,
    subject,
    parent: given['parent'] === null ? null : hex(given, 'parent', 64),
    ...(trajectory === undefined ? {} : { trajectory }),
    ...optional('actions', names(given, 'actions', 'action', mode)),
    ...optional('scopes', names(given, 'scopes', 'scope', mode)),
    ...optional('budget', budget),
    ...window(given, mode),
    max_depth: depth(given),
    ...optional('require_approval', names(given, 'require_approval', 'action', mode)),
    nonce: text(given, 'nonce'),
    signature: hex(given, 'signature', 128),
  };
  return Object.freeze(writ);
}

const MEMBERS: ReadonlySet<string> = new Set([
  'v',
  'issuer',
  'subject',
  'parent',
  'trajectory',
  'actions',
  'scopes',
  'budget',
  'not_before',
  'expires',
  'max_depth',
  'require_approval',
  'nonce',
  'signature',
]);

type Fields = { readonly [key: string]: Json };

function optional<Key extends string, T>(key: Key, value: T | undefined): { [K in Key]?: T } {
  return (value === undefined ? {} : { [key]: value }) as { [K in Key]?: T };
}

function text(given: Fields, key: string): string {
  const value = given[key];
  if (typeof value !== 'string' || value === '' || value.length > MAX_TEXT) {
    throw bad(key, `must be a string of 1 to ${MAX_TEXT} characters`);
  }
  return value;
}

function hex(given: Fields, key: string, digits: 64 | 128): string {
  const value = given[key];
  if (typeof value !== 'string' || value.length !== digits || !/^[0-9a-f]+$/.test(value)) {
    throw bad(key, `must be ${digits} lower-case hex digits`);
  }
  return value;
}

function depth(given: Fields): number {
  const value = given['max_depth'];
  if (!isAmount(value) || value > MAX_DEPTH)
    throw bad('max_depth', `must be a whole number from 0 to ${MAX_DEPTH}`);
  return value;
}

function window(given: Fields, mode: Mode): { not_before: Instant; expires: Instant } {
  const [not_before, expires] = [
    instant(given, 'not_before', mode),
    instant(given, 'expires', mode),
  ];
  if (not_before >= expires) throw bad('expires', 'must be after not_before');
  return { not_before, expires };
}

/** A draft may have any form of an instant, and a signed writ has one: it is compared as text. */
function instant(given: Fields, key: string, mode: Mode): Instant {
  const value = given[key];
  if (mode === 'draft') {
    const read = readInstant(value);
    if (read !== undefined) return read;
    badTime(key);
  }
  if (isInstant(value)) return value;
  throw bad(
    key,
    'must be an instant in UTC with microseconds, such as 2026-03-23T09:00:00.000000Z',
  );
}

function names(
  given: Fields,
  key: string,
  sort: NameSort,
  mode: Mode,
): readonly string[] | undefined {
  if (!Object.hasOwn(given, key)) return undefined;
  const list = given[key];
  if (!Array.isArray(list) || list.length > MAX_ITEMS)
    throw bad(key, `must be a list of at most ${MAX_ITEMS} patterns`);
  const read = (list as readonly Json[]).map((item, index) => {
    if (typeof item !== 'string') throw bad(`${key}/${index}`, 'must be a string');
    const name = readName(sort, item);
    if ('problem' in name)
      throw bad(`${key}/${index}`, name.problem, actionAdvice(sort, item, name.problem));
    if (mode === 'stored' && name.text !== item)
      throw bad(`${key}/${index}`, `must be in normal form: ${name.text}`);
    return name.text;
  });
  return Object.freeze(read);
}

function amounts(given: Fields): Amounts | undefined {
  if (!Object.hasOwn(given, 'budget')) return undefined;
  const value = given['budget'];
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw bad('budget', 'must be an object');
  const entries = Object.entries(value as Fields);
  if (entries.length > MAX_ITEMS) throw bad('budget', `must have at most ${MAX_ITEMS} units`);
  for (const [unit, amount] of entries) {
    if (unit === '' || unit.length > MAX_TEXT || !isAmount(amount)) {
      throw bad(`budget/${unit}`, 'must be a named unit with a whole number from 0 to 2^53-1');
    }
  }
  return Object.freeze(Object.fromEntries(entries) as Amounts);
}

function bad(member: string, problem: string, advice = ''): AuthorityError {
  const pointer = member === '' ? '' : `/${member}`;
  return new AuthorityError(
    'bad_writ',
    `The writ is not valid: ${pointer === '' ? 'it' : pointer} ${problem}.${advice}`,
    {
      evidence: { pointer, problem },
    },
  );
}
