import { isHash, isObject } from '../entries/basic-forms.ts';
import type { Entry, Payload } from '../entries/payloads.ts';
import { type Reference, referencesOf } from '../entries/references.ts';
import type { Findings } from './findings.ts';
import type { HeldFacts } from './held-facts.ts';

/** A blob line or an erased line that stands before an entry. */
export type Waiting =
  | { readonly hash: string; readonly held: HeldFacts; readonly bytes: number }
  | { readonly hash: string; readonly by: string };

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
      this.#findings.fault(
        'bad_entry',
        'A value stands before it that it does not need there.',
        id,
      );
      this.forget();
    }
  }

  #need(payload: Payload, { position, hash, bytes, isSalted }: Reference): string {
    if (!this.#seen.has(hash) && !this.#next(hash))
      return `The value of ${position} does not stand before it.`;
    const line = this.#seen.get(hash) as Waiting;
    if ('by' in line) return isSalted ? '' : `The value of ${position} cannot be erased.`;
    if (line.bytes !== bytes) return `The value of ${position} has another size.`;
    return wrongHeld(position, isSalted, line.held) || wrongBranch(payload, position, line.held);
  }

  /** A writ with its ancestors, until one has stood before or is not there. */
  #takeWrits(first: string): void {
    let hash: unknown = first;
    while (isHash(hash) && !this.#seen.has(hash) && this.#next(hash)) {
      const line = this.#seen.get(hash);
      hash = line !== undefined && 'held' in line ? line.held.parent : undefined;
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
function wrongHeld(
  position: string,
  isSalted: boolean,
  { isObject, isList, salted }: HeldFacts,
): string {
  if (!isSalted) {
    if (position.endsWith('initial_state') && !isObject)
      return 'Its initial state is not an object.';
    const asksList = /(?:delta\.state|proposal\.approval)$/.test(position);
    return asksList && !isList ? 'Its changes of the state are not a list.' : '';
  }
  if (salted === undefined) return `The value of ${position} has no salt.`;
  if (position.endsWith('.partition') && !salted.isPartition)
    return `The value of ${position} names no partition.`;
  return position.endsWith('.object') && !salted.isColumn
    ? `The value of ${position} is not a text.`
    : '';
}

/** A part of the memory that inherits is that of a branch. */
function wrongBranch(payload: Payload, position: string, { salted }: HeldFacts): string {
  const [, n] = /beliefs\[(\d+)\]\.partition$/.exec(position) ?? [];
  if (
    n === undefined ||
    payload.kind !== 'commit' ||
    payload.delta.beliefs[Number(n)]?.inherit === undefined
  )
    return '';
  return salted?.isOfBranch === true ? '' : `The value of ${position} names no branch.`;
}
