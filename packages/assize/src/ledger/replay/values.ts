import { isInstance, type Json } from '#base';
import { parseCanonical, WORLD_LIMITS } from '#canon';
import { isBlobRef } from '../entry/blob.ts';
import type { CommitPayload, Entry } from '../entry/entry.ts';
import { checkRow, hashesTo } from '../entry/entry-text.ts';
import { answersErasedBy, type ErasureArgs, erasureArgs, isErasure } from '../entry/erasure.ts';
import type { BlobRef, Erased, Hash, Stored } from '../entry/hash.ts';
import { isHash } from '../entry/is-hash.ts';
import type { Patch } from '../entry/patch.ts';
import { erasableHashesOf, valuesIn } from '../entry/references.ts';
import { type FaultCode, LedgerFault } from '../errors.ts';
import type { LedgerStore } from '../ports/ledger-store.ts';
import type { RuleId } from '../rule-ids.ts';

type EntryPosition = Pick<Entry, 'trajectory_id' | 'seq'>;

/** The content of a position: the value, or the mark of its erasure. */
export type ReadValue<T extends Json = Json> = { readonly value: T } | Erased;

/**
 * Reads the values that entries refer to and checks them against their hashes. A missing text
 * counts as erased only if the store names a commit of `assize.erase` that erased it. Otherwise the
 * missing text is a fault.
 */
export class ValueReader {
  readonly #reader: Pick<LedgerStore, 'blob' | 'erasedBy' | 'resolve'>;
  /** Cached erasures by entry. */
  readonly #erasures: Map<Hash, Promise<ReadonlySet<Hash>>> = new Map();

  readonly #found: Map<string, Set<Hash>> = new Map();

  constructor(reader: Pick<LedgerStore, 'blob' | 'erasedBy' | 'resolve'>) {
    this.#reader = reader;
  }

  /** @throws LedgerFault naming the referring entry */
  async read<T extends Json>(entry: EntryPosition, stored: Stored<T>): Promise<ReadValue<T>> {
    if (!isBlobRef(stored)) return { value: stored as T };
    const text = await this.#textOf(entry, stored);
    if (text === undefined) {
      this.#note(entry.trajectory_id, stored.$blob);
      return { $erased: stored.$blob };
    }
    const read = this.#parsed(entry, stored, text);
    if (stored.salted !== true) return { value: read as T };
    if (!isSalted<T>(read))
      throw faultAt(entry, 'malformed', `the blob ${stored.$blob} has no salt and value`);
    return { value: read.value };
  }

  /** Number of a trajectory's values found erased so far. */
  erasedIn(trajectoryId: string): number {
    return this.#found.get(trajectoryId)?.size ?? 0;
  }

  #note(trajectoryId: string, hash: Hash): void {
    const found = this.#found.get(trajectoryId) ?? new Set();
    this.#found.set(trajectoryId, found.add(hash));
  }

  /** The value as a state has it: `{"$erased": hash}` for an erased value. */
  async value<T extends Json>(entry: EntryPosition, stored: Stored<T>): Promise<T | Json> {
    const held = await this.read(entry, stored);
    return 'value' in held ? held.value : { $erased: held.$erased };
  }

  /** The operations of a commit with their values, for a fold. @throws LedgerFault */
  async patches(entry: EntryPosition, stored: Stored<readonly Patch[]>): Promise<readonly Patch[]> {
    // A list stored as a blob contains no references.
    if (isBlobRef(stored)) {
      const list: unknown = await this.value(entry, stored as unknown as Stored);
      if (!Array.isArray(list))
        throw faultAt(entry, 'bad_patch', 'its list of operations is not a list');
      return list as Patch[];
    }
    return Promise.all(stored.map((patch) => this.#resolved(entry, patch)));
  }

  /** The arguments of an erasure, or undefined for another form. @throws LedgerFault */
  async erasure(
    entry: EntryPosition,
    { action: { args } }: CommitPayload,
  ): Promise<ErasureArgs | undefined> {
    // Salted arguments could be erased by the entry itself.
    if (isBlobRef(args) && args.salted === true) return undefined;
    return erasureArgs(await this.value(entry, args));
  }

  /**
   * The oracle answers that an entry erased. Empty if the entry is missing or is not an erasure.
   * @throws LedgerFault
   */
  async answersErased(by: Hash): Promise<ReadonlySet<Hash>> {
    const erasure = await this.erasureOf(by);
    return new Set(erasure && answersErasedBy(erasure.args));
  }

  /**
   * The erased values and the trajectory of an erasure. Undefined if the entry is missing or is not
   * an erasure. @throws LedgerFault
   */
  async erasureOf(
    by: Hash,
  ): Promise<{ readonly trajectory_id: string; readonly args: ErasureArgs } | undefined> {
    const row = await this.#reader.resolve(by);
    const entry = row && checkRow(row);
    if (entry === undefined || !isErasure(entry.payload)) return undefined;
    const args = await this.erasure(entry, entry.payload);
    return args && { trajectory_id: entry.trajectory_id, args };
  }

  async #resolved(entry: EntryPosition, patch: Patch): Promise<Patch> {
    const [value] = valuesIn([patch]);
    return refersTo(value) ? ({ ...patch, value: await this.value(entry, value) } as Patch) : patch;
  }

  async #textOf(
    entry: EntryPosition,
    { $blob: hash, bytes, salted }: BlobRef,
  ): Promise<string | undefined> {
    if (!isHash(hash)) throw faultAt(entry, 'malformed', 'a reference does not name a hash');
    const text = await this.#reader.blob(hash);
    if (text === undefined) {
      if (salted === true && (await this.#isErased(entry, hash))) return undefined;
      throw faultAt(entry, 'blob_missing', `the blob ${hash} is missing`);
    }
    if (!hashesTo(text, hash))
      throw faultAt(entry, 'blob_tampered', `the blob ${hash} does not hash to its name`);
    if (Buffer.byteLength(text) !== bytes)
      throw faultAt(entry, 'blob_tampered', `the blob ${hash} does not have ${bytes} bytes`);
    return text;
  }

  #parsed(entry: EntryPosition, { $blob: hash }: BlobRef, text: string): Json {
    try {
      return parseCanonical(text, WORLD_LIMITS);
    } catch (error) {
      throw faultAt(entry, 'blob_tampered', `the blob ${hash} is not canonical`, error);
    }
  }

  async #isErased(entry: EntryPosition, hash: Hash): Promise<boolean> {
    const by = await this.#reader.erasedBy(hash);
    if (by === undefined) return false;
    // Read once, also for parallel reads of many values.
    let erased = this.#erasures.get(by);
    if (erased === undefined) {
      erased = this.#erasedIn(by);
      this.#erasures.set(by, erased);
    }
    try {
      return (await erased).has(hash);
    } catch (error) {
      this.#erasures.delete(by);
      if (!isInstance(error, LedgerFault)) throw error;
      throw faultAt(
        entry,
        'blob_missing',
        `the recorded erasure of a blob is not valid: ${error.message}`,
        error,
      );
    }
  }

  async #erasedIn(by: Hash): Promise<ReadonlySet<Hash>> {
    const erasure = await this.erasureOf(by);
    return new Set(erasure?.args.values.map(({ hash }) => hash));
  }
}

/** Whether the value is a reference, and not the marker of an erasure. */
export function refersTo(value: unknown): value is BlobRef {
  return isBlobRef(value) && Object.hasOwn(value, '$blob');
}

function isSalted<T extends Json>(
  read: Json,
): read is { readonly salt: string; readonly value: T } {
  if (typeof read !== 'object' || read === null || Object.keys(read).join() !== 'salt,value')
    return false;
  const { salt } = read as { readonly salt: Json };
  return typeof salt === 'string' && /^[0-9a-f]{32}$/.test(salt);
}

/**
 * Checks an erasure: every erased value was salted, in an earlier entry of the same trajectory.
 *
 * @throws LedgerFault
 */
export async function checkErasure(
  entry: Entry,
  erasure: ErasureArgs | undefined,
  reader: Pick<LedgerStore, 'entries'>,
): Promise<void> {
  if (erasure === undefined)
    throw broken(entry, 'erasure.form', 'its arguments are not those of an erasure', 'malformed');

  // One entry can have thousands of erased values.
  const salted = new Map<number, ReadonlySet<Hash>>();
  for (const { hash, seq } of erasure.values) {
    const there =
      salted.get(seq) ??
      (seq < entry.seq ? await saltedAt(entry.trajectory_id, seq, reader) : new Set());
    salted.set(seq, there);
    if (!there.has(hash))
      throw broken(
        entry,
        'erasure.values',
        `it erases ${hash}, which is not a salted value of seq ${seq}`,
      );
  }
}

async function saltedAt(
  trajectoryId: string,
  seq: number,
  reader: Pick<LedgerStore, 'entries'>,
): Promise<ReadonlySet<Hash>> {
  const [row] = await reader.entries(trajectoryId, { from: seq, limit: 1 });
  return new Set(row === undefined ? [] : erasableHashesOf(checkRow(row).payload));
}

/** The fault of an entry that breaks a rule. */
export function broken(
  { trajectory_id, seq }: EntryPosition,
  rule: RuleId,
  detail: string,
  code: FaultCode = 'rule_broken',
  cause?: unknown,
): LedgerFault {
  return new LedgerFault({ trajectory_id, seq, code, rule, detail }, cause);
}

/** A fault that is not a broken rule. */
export function faultAt(
  { trajectory_id, seq }: EntryPosition,
  code: FaultCode,
  detail: string,
  cause?: unknown,
): LedgerFault {
  return new LedgerFault({ trajectory_id, seq, code, detail }, cause);
}
