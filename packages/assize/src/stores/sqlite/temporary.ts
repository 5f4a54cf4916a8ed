import { markOwnPackage } from '#base';
import { type Clock, systemClock, systemRandom } from '#oracle';
import { checkInput } from '../check-input.ts';
import { CheckedStore } from '../checked-store.ts';
import { MEMORY_URL } from '../errors.ts';
import { CLOCK } from '../options.ts';
import { SETTINGS } from './connection/connect.ts';
import { openDatabase } from './connection/database.ts';
import { fileUrl } from './connection/file.ts';
import { Leases } from './effects/lease.ts';
import { HashIndex } from './ledger/hash-index.ts';
import { SqliteRows } from './rows.ts';
import { migrate } from './schema/migrate.ts';
import { FileWriter } from './writer/writer.ts';

/** A new and empty store in the memory of this process. It is gone when it is closed. */
export class TemporaryStore extends CheckedStore {
  static {
    markOwnPackage(TemporaryStore.prototype);
  }

  readonly readonly = false;
  readonly #rows: SqliteRows;

  /** `clock`: the store's clock. Default: the clock of the machine. */
  constructor({ clock = systemClock }: { readonly clock?: Clock | undefined } = {}) {
    checkInput(CLOCK, clock, 'options.clock');
    const options = { path: MEMORY_URL, readonly: false, lockTimeoutMs: 0 } as const;
    const db = openDatabase(':memory:');
    migrate(db);
    db.exec(SETTINGS);
    const indexes = { ids: new HashIndex(db, 'entry'), blobs: new HashIndex(db, 'blob') };
    const writer = new FileWriter(db, indexes, {
      ...options,
      files: undefined,
      clock,
      seals: undefined,
    });
    // Two connections to one name in SQLite's memory lock each other, as those to a file do. It is
    // drawn at the first lease, because a replay draws nothing from the machine.
    let name: string | undefined;
    const leases = new Leases(() => {
      name ??= Buffer.from(systemRandom.bytes(16)).toString('hex');
      return fileUrl(`/${name}`, { vfs: 'memdb' });
    });
    const rows = new SqliteRows(db, indexes, writer, { ...options, vectors: 'exact', leases });
    super(rows);
    this.#rows = rows;
  }

  /** Only this process writes to the store. */
  override async sealState(): Promise<'checked'> {
    return 'checked';
  }

  close(): Promise<void> {
    return this.#rows.close();
  }
}
