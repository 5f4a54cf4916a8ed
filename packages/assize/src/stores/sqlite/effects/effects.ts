import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { TransientMap } from '#base';
import type {
  EffectKeyRow,
  EffectPage,
  EffectWrite,
  Hash,
  Lease,
  LoggedTransaction,
  OpenEffectPage,
} from '#ledger';
import {
  type EffectChange,
  type EffectState,
  type EffectVerdict,
  type EffectView,
  judgeEffects,
} from '../../effects.ts';
import { requireRows } from '../connection/statements.ts';

/** The maximum number of open transactions in memory. Each further transaction costs one lookup. */
const KNOWN_MAX = 10_000;

/**
 * Writes effects inside a transaction that the caller begins and ends.
 *
 * The writer caches the fence, the last epoch and the open transactions. The cache is valid while
 * no other connection has written.
 */
export class EffectWriter implements EffectView {
  readonly #selectTenure: StatementSync;
  readonly #selectTransaction: StatementSync;
  readonly #selectRecord: StatementSync;
  readonly #selectKey: (key: Hash) => EffectKeyRow | undefined;
  readonly #raise: StatementSync;
  readonly #begin: StatementSync;
  readonly #open: StatementSync;
  readonly #record: StatementSync;
  readonly #key: StatementSync;
  readonly #end: StatementSync;
  readonly #known = new TransientMap<number, EffectState>();
  #tenure: Pick<Lease, 'fence' | 'lastEpoch'> | undefined;

  constructor(db: DatabaseSync) {
    this.#selectTenure = db.prepare(
      'SELECT fence, (SELECT coalesce(max(epoch), 0) FROM effect_transaction) AS lastEpoch FROM effect_tenure',
    );
    this.#selectTransaction = db.prepare(`
      SELECT t.trajectory AS trajectory_id, t.body AS body, o.epoch AS open,
        (SELECT coalesce(max(r.place) + 1, t.first IS NOT NULL) FROM effect_record AS r WHERE r.epoch = t.epoch) AS places
      FROM effect_transaction AS t LEFT JOIN effect_open AS o ON o.epoch = t.epoch WHERE t.epoch = ?`);
    this.#selectRecord = db.prepare(`SELECT record FROM effect_record WHERE epoch = ? AND place = ?
      UNION ALL SELECT first FROM effect_transaction WHERE epoch = ? AND first IS NOT NULL AND ? = 0`);
    this.#selectKey = prepareEffectKey(db);
    this.#raise = db.prepare('UPDATE effect_tenure SET fence = fence + 1');
    this.#begin = db.prepare(
      'INSERT INTO effect_transaction (epoch, trajectory, body, first) VALUES (?, ?, ?, ?)',
    );
    this.#open = db.prepare('INSERT INTO effect_open (epoch) VALUES (?)');
    this.#record = db.prepare('INSERT INTO effect_record (epoch, place, record) VALUES (?, ?, ?)');
    this.#key = db.prepare('INSERT INTO effect_key (key, epoch, n) VALUES (?, ?, ?)');
    this.#end = db.prepare('DELETE FROM effect_open WHERE epoch = ?');
  }

  /** Call this when another connection has written, and after every rollback. */
  invalidate(): void {
    this.#known.clear();
    this.#tenure = undefined;
  }

  /** Starts a lease. Writes under earlier leases are fenced from now on. */
  raise(): Pick<Lease, 'fence' | 'lastEpoch'> {
    requireRows(this.#raise.run(), 1);
    this.#tenure = undefined;
    return { ...this.#given };
  }

  /** Writes nothing. @throws {StoreError} for misuse */
  judge(write: EffectWrite): EffectVerdict {
    return judgeEffects(write, this);
  }

  /** Writes the change that was checked last. Nothing may have been written since that check. */
  write({ begun, records, keys, ended }: EffectChange): void {
    for (const { epoch, trajectory_id, body } of begun) {
      const first = records.find((row) => row.epoch === epoch)?.record ?? null;
      requireRows(this.#begin.run(epoch, trajectory_id, body, first), 1);
      if (!ended.includes(epoch)) requireRows(this.#open.run(epoch), 1);
      this.#know(epoch, { trajectory_id, body, places: first === null ? 0 : 1, isOpen: true });
      this.#tenure = {
        fence: this.#given.fence,
        lastEpoch: Math.max(epoch, this.#given.lastEpoch),
      };
    }
    for (const { epoch, place, record } of records) {
      const known = this.transaction(epoch)!;
      if (place < known.places) continue; // written with its transaction
      requireRows(this.#record.run(epoch, place, record), 1);
      this.#know(epoch, { ...known, places: place + 1 });
    }
    for (const { key, epoch, n } of keys)
      requireRows(this.#key.run(Buffer.from(key, 'hex'), epoch, n), 1);
    for (const epoch of ended) {
      if (!begun.some((row) => row.epoch === epoch)) requireRows(this.#end.run(epoch), 1);
      this.#known.delete(epoch);
    }
  }

  isCurrent(fence: number): boolean {
    return fence === this.#given.fence;
  }

  transaction(epoch: number): EffectState | undefined {
    const known = this.#known.get(epoch);
    // Most requested epochs are new.
    if (known !== undefined || epoch > this.#given.lastEpoch) return known;
    const row = this.#selectTransaction.get(epoch);
    if (row === undefined) return undefined;
    const { trajectory_id, body, places, open } = row as {
      trajectory_id: string;
      body: string;
      places: number;
      open: number | null;
    };
    const state = { trajectory_id, body, places, isOpen: open !== null };
    if (state.isOpen) this.#know(epoch, state);
    return state;
  }

  record(epoch: number, place: number): string | undefined {
    return this.#selectRecord.get(epoch, place, epoch, place)?.['record'] as string | undefined;
  }

  key(key: Hash): EffectKeyRow | undefined {
    return this.#selectKey(key);
  }

  get #given(): Pick<Lease, 'fence' | 'lastEpoch'> {
    this.#tenure ??= this.#selectTenure.get() as unknown as Pick<Lease, 'fence' | 'lastEpoch'>;
    return this.#tenure;
  }

  #know(epoch: number, state: EffectState): void {
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.set(epoch, state);
  }
}

/** The place where a key was used. */
export function prepareEffectKey(db: DatabaseSync): (key: Hash) => EffectKeyRow | undefined {
  const statement = db.prepare('SELECT epoch, n FROM effect_key WHERE key = ?');
  return (key) => {
    const row = statement.get(Buffer.from(key, 'hex'));
    return row && { key, epoch: row['epoch'] as number, n: row['n'] as number };
  };
}

/** Whether the store ever gave a lease. */
export function prepareWereEffectsHeld(db: DatabaseSync): () => boolean {
  const statement = db.prepare('SELECT 1 FROM effect_tenure WHERE fence > 0');
  return () => statement.get() !== undefined;
}

/** The transactions that have not ended, by epoch. */
export function prepareOpenEffects(
  db: DatabaseSync,
): (page: OpenEffectPage) => LoggedTransaction[] {
  const from = `(SELECT t.* FROM effect_open AS o JOIN effect_transaction AS t ON t.epoch = o.epoch
    WHERE o.epoch > ? AND (? IS NULL OR t.trajectory = ?) ORDER BY o.epoch LIMIT ?) AS t`;
  const logged = prepareLogged(db, from, '');
  return ({ after = 0, limit = -1, trajectoryId = null }) =>
    logged(after, trajectoryId, trajectoryId, limit);
}

/** The transaction of an epoch, also if it has ended. */
export function prepareEffectsOf(
  db: DatabaseSync,
): (epoch: number) => LoggedTransaction | undefined {
  const logged = prepareLogged(db, 'effect_transaction AS t', 'WHERE t.epoch = ?');
  return (epoch) => logged(epoch)[0];
}

/** The transactions below an epoch, also ended ones, with the newest first. */
export function prepareListEffects(db: DatabaseSync): (page: EffectPage) => LoggedTransaction[] {
  const from = `(SELECT * FROM effect_transaction
    WHERE epoch < ? AND (? IS NULL OR trajectory = ?) ORDER BY epoch DESC LIMIT ?) AS t`;
  const logged = prepareLogged(db, from, '', 'DESC');
  return ({ before = Number.MAX_SAFE_INTEGER, limit, trajectoryId = null }) =>
    logged(before, trajectoryId, trajectoryId, limit);
}

type Columns = [
  epoch: number,
  trajectory: string,
  body: string,
  first: string | null,
  record: string | null,
];

// One statement, to read one snapshot of the log.
function prepareLogged(
  db: DatabaseSync,
  from: string,
  where: string,
  order: 'ASC' | 'DESC' = 'ASC',
): (...values: (number | string | null)[]) => LoggedTransaction[] {
  const statement = db.prepare(`SELECT t.epoch, t.trajectory, t.body, t.first, r.record
    FROM ${from} LEFT JOIN effect_record AS r ON r.epoch = t.epoch ${where} ORDER BY t.epoch ${order}, r.place`);
  statement.setReturnArrays(true);
  return (...values) => {
    const found: (LoggedTransaction & { readonly records: string[] })[] = [];
    for (const [epoch, trajectory_id, body, first, record] of statement.all(
      ...values,
    ) as unknown as Columns[]) {
      let last = found.at(-1);
      if (last?.epoch !== epoch) {
        last = { epoch, trajectory_id, body, records: first === null ? [] : [first] };
        found.push(last);
      }
      if (record !== null) last.records.push(record);
    }
    return found;
  };
}
