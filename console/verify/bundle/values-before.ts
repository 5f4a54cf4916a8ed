import { isColumn, isHash, isObject } from '../entries/basic-forms.ts';
import type { Entry, Payload } from '../entries/payloads.ts';
import { type Reference, referencesOf } from '../entries/references.ts';
import type { Findings } from './findings.ts';
import type { Waiting } from './lines.ts';

const SALT = /^[0-9a-f]{32}$/;

/**
 * Compares the lines between two entries with those that the second one needs, in the order of
 * section 10 of the ledger reference.
 */
export class ValuesBefore {
  readonly #findings: Findings;
  readonly #seen = new Map<string, Waiting>();
  #waiting: Waiting[] = [];

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  wait(line: Waiting): void {
    this.#waiting.push(line);
  }

  hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Passes over the lines before an entry that cannot be read. */
  forget(): void {
    for (const line of this.#waiting) this.#seen.set(line.hash, line);
    this.#waiting = [];
  }

  /** Takes the lines before an entry, and reports those that are missing, wrong or too many. */
  take({ id, payload }: Entry): void {
    for (const reference of referencesOf(payload))
      this.#findings.checked('values', 'bad_entry', this.#need(payload, reference), id);
    for (const named of writsNamedBy(payload)) this.#takeWrits(named);
    if (this.#waiting.length > 0) {
      this.#findings.fault('bad_entry', 'A value stands before it that it does not need there.', id);
      this.forget();
    }
  }

  #need(payload: Payload, { position, hash, bytes, isSalted }: Reference): string {
    if (!this.#seen.has(hash) && !this.#next(hash)) return `The value of ${position} does not stand before it.`;
    const line = this.#seen.get(hash) as Waiting;
    if ('by' in line) return isSalted ? '' : `The value of ${position} cannot be erased.`;
    if (line.bytes !== bytes) return `The value of ${position} has another size.`;
    return wrongHeld(position, isSalted, line.value) || wrongBranch(payload, position, line.value);
  }

  /** A writ with its ancestors, until one has stood before or is not there. */
  #takeWrits(first: string): void {
    let hash: unknown = first;
    while (isHash(hash) && !this.#seen.has(hash) && this.#next(hash)) {
      const line = this.#seen.get(hash);
      hash = line !== undefined && 'value' in line && isObject(line.value) ? line.value['parent'] : undefined;
    }
  }

  /** Takes the next line if it has this hash. */
  #next(hash: string): boolean {
    const [line] = this.#waiting;
    if (line?.hash !== hash) return false;
    this.#waiting.shift();
    this.#seen.set(hash, line);
    return true;
  }
}

/** The writs that stand as blobs before an entry. */
function writsNamedBy(payload: Payload): readonly string[] {
  switch (payload.kind) {
    case 'commit': {
      const { name, args } = payload.action;
      const revoked = name === 'assize.revoke' && isObject(args) ? args['writ'] : undefined;
      return [payload.writ_id, ...(isHash(revoked) ? [revoked] : [])];
    }
    case 'rejection':
      return payload.writ_id === undefined ? [] : [payload.writ_id];
    case 'pending_approval':
      return [payload.proposal.writ_id];
    case 'delegation': {
      const parent = isObject(payload.writ) ? payload.writ['parent'] : undefined;
      return isHash(parent) ? [parent] : [];
    }
    default:
      return [];
  }
}

/** The conditions on the value of a blob (ledger reference, section 4). */
function wrongHeld(position: string, isSalted: boolean, held: unknown): string {
  if (!isSalted) {
    if (position.endsWith('initial_state') && !isObject(held)) return 'Its initial state is not an object.';
    const isList = /(?:delta\.state|proposal\.approval)$/.test(position);
    return isList && !Array.isArray(held) ? 'Its changes of the state are not a list.' : '';
  }
  if (!isObject(held)) return `The value of ${position} has no salt.`;
  const { salt, value, ...more } = held;
  const hasSalt = typeof salt === 'string' && SALT.test(salt) && 'value' in held && Object.keys(more).length === 0;
  if (!hasSalt) return `The value of ${position} has no salt.`;
  if (position.endsWith('.partition') && !isPartition(value)) return `The value of ${position} names no partition.`;
  return position.endsWith('.object') && !isColumn(value) ? `The value of ${position} is not a text.` : '';
}

/** A part of the memory that inherits is that of a branch. */
function wrongBranch(payload: Payload, position: string, held: unknown): string {
  const [, n] = /beliefs\[(\d+)\]\.partition$/.exec(position) ?? [];
  if (n === undefined || payload.kind !== 'commit' || payload.delta.beliefs[Number(n)]?.inherit === undefined)
    return '';
  const name = isObject(held) ? held['value'] : undefined;
  return isObject(name) && 'branch' in name ? '' : `The value of ${position} names no branch.`;
}

function isPartition(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { space, subject, predicate, branch = 'none', ...more } = value;
  return [space, subject, predicate, branch].every(isColumn) && Object.keys(more).length === 0;
}
