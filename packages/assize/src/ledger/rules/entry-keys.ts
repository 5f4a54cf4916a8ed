import { isInstance } from '#base';
import type { Entry, EntryRow, KeyChangePayload, Payload } from '../entry/entry.ts';
import { checkRow } from '../entry/entry-text.ts';
import type { Hash } from '../entry/hash.ts';
import { isKeyChange, keyAfter } from '../entry/system-actions.ts';
import { LedgerFault } from '../errors.ts';
import type { LedgerStore } from '../ports/ledger-store.ts';
import { PAGE } from '../ports/parallel-reader.ts';
import type { RuleId } from '../rule-ids.ts';
import type { Chain } from './chain.ts';

/** The entry of another trajectory from which a first entry continues. */
interface Origin {
  readonly trajectoryId: string;
  readonly entryId: Hash;
  readonly rule: RuleId;
}

/**
 * The rules for the first key of a chain. `Chain` checks every entry after it: one key signs until
 * a change of the key.
 *
 * - A branch, and the root of a delegation, are signed by the key in force at the entry that they
 *   continue from, or by one to which later changes of the key there lead.
 * - With named keys, signing begins with one of them, or with one to which changes of the key in a
 *   source or a delegator lead. Unsigned entries need a change of the key that accepts them.
 */
export class EntryKeyRules {
  readonly #reader: Pick<LedgerStore, 'entries' | 'resolve'>;
  readonly #named: ReadonlySet<string> | undefined;

  constructor(
    reader: Pick<LedgerStore, 'entries' | 'resolve'>,
    named: ReadonlySet<string> | undefined,
  ) {
    this.#reader = reader;
    this.#named = named;
  }

  /** Whether `checkFirst` is for an entry. Call it before the chain accepts the entry. */
  static isFirst({ seq, payload }: Entry, { key }: Chain): boolean {
    return seq === 0 || (key === undefined && payload.signature !== undefined);
  }

  /**
   * Checks an entry before which no entry of its chain is signed, after the other rules.
   *
   * @throws LedgerFault
   */
  async checkFirst(entry: Entry): Promise<void> {
    const { payload, seq } = entry;
    const origin = originOf(payload);
    if (origin !== undefined) await this.#checkOrigin(entry, origin);
    const key = payload.signature?.key;
    if (key === undefined || this.#named === undefined) return;
    if (
      !this.#named.has(key) &&
      !(origin !== undefined && (await this.#isLedTo(key, origin, this.#named)))
    )
      throw broken(
        entry,
        'place.named',
        `the entry is signed with ${key}, which is not one of the named keys`,
      );
    if (seq > 0 && !isKeyChange(payload))
      throw broken(
        entry,
        'place.named',
        'the entries before are not signed, and no change of the key accepts them',
      );
  }

  /** Checks a whole chain with the given last key. @throws LedgerFault */
  checkWhole(trajectory_id: string, key: string | undefined): void {
    if (this.#named === undefined || key !== undefined) return;
    throw broken(
      { trajectory_id, seq: 0 },
      'place.named',
      'the entry is not signed, and keys are named',
    );
  }

  async #checkOrigin(entry: Entry, { trajectoryId, entryId, rule }: Origin): Promise<void> {
    const row = await this.#reader.resolve(entryId);
    const there = row && readSound(row);
    const before = there && keyAfter(there);
    const key = entry.payload.signature?.key;
    if (there === undefined || before === undefined || key === before) return;
    const keys = new Set([before]);
    if (key !== undefined) await this.#follow(trajectoryId, there.seq + 1, keys);
    if (key !== undefined && keys.has(key)) return;
    const is = key === undefined ? 'is not signed' : `is signed with ${key}`;
    throw broken(entry, rule, `the entry ${is}, and ${entryId} of ${trajectoryId} with ${before}`);
  }

  /** Whether changes of the key lead from a named key to this one, from the oldest delegator on. */
  async #isLedTo(key: string, origin: Origin, named: ReadonlySet<string>): Promise<boolean> {
    const path: string[] = [];
    for (
      let at: Origin | undefined = origin;
      at !== undefined && !path.includes(at.trajectoryId);
    ) {
      path.push(at.trajectoryId);
      const [row] = await this.#reader.entries(at.trajectoryId, { from: 0, limit: 1 });
      const first = row && readSound(row);
      at = first && originOf(first);
    }
    const keys = new Set(named);
    for (const trajectoryId of path.reverse()) await this.#follow(trajectoryId, 0, keys);
    return keys.has(key);
  }

  /** Adds the keys to which changes in a trajectory lead from these keys. */
  async #follow(trajectoryId: string, from: number, keys: Set<string>): Promise<void> {
    for (let seq = from; ; seq += PAGE) {
      const rows = await this.#reader.entries(trajectoryId, { from: seq, limit: PAGE });
      for (const row of rows) {
        if (row.kind !== 'key_change') continue;
        const change = readChange(row);
        if (change?.signature !== undefined && keys.has(change.signature.key)) keys.add(change.to);
      }
      if (rows.length < PAGE) return;
    }
  }
}

function readChange(row: EntryRow): KeyChangePayload | undefined {
  const payload = readSound(row);
  return payload !== undefined && isKeyChange(payload) ? payload : undefined;
}

/** The payload of an entry of another chain. Undefined for an unsound one: it leads nowhere. */
function readSound(row: EntryRow): Payload | undefined {
  try {
    return checkRow(row).payload;
  } catch (error) {
    if (isInstance(error, LedgerFault)) return undefined;
    throw error;
  }
}

function originOf(payload: Payload): Origin | undefined {
  if (payload.kind === 'branch')
    return {
      trajectoryId: payload.source_trajectory_id,
      entryId: payload.source_commit_id,
      rule: 'branch.key',
    };
  if (payload.kind !== 'root' || payload.delegated_from === undefined) return undefined;
  const { trajectory_id, entry_id } = payload.delegated_from;
  return { trajectoryId: trajectory_id, entryId: entry_id, rule: 'root.key' };
}

function broken(
  { trajectory_id, seq }: Pick<Entry, 'trajectory_id' | 'seq'>,
  rule: RuleId,
  detail: string,
): LedgerFault {
  return new LedgerFault({ trajectory_id, seq, code: 'bad_signature', rule, detail });
}
