import { setTimeout as sleep } from 'node:timers/promises';
import type { Session } from '../connection/session.ts';
import { notScrubbedError } from '../errors.ts';
import { APPLICATION_ID } from '../schema/migrate.ts';
import type { GroupCommit } from './group-commit.ts';

/** What an erasure takes something out of, and what was made of that. No other table ever had it. */
const TABLES: readonly string[] = ['snapshot', 'fact_vector', 'fact_text', 'fact_partition', 'fact', 'oracle', 'blob'];

/** Between two looks whether somebody else is done. */
const PAUSE_MS = 50;

/** As long as the largest table may take to be written. A server that is gone is noticed all the same, by its connection. */
export const REWRITE_TIMEOUT_MS: number = 24 * 60 * 60 * 1_000;

export interface ScrubberOptions {
  readonly path: string;
  readonly schema: string;
  readonly group: GroupCommit;
  readonly lockTimeoutMs: number;
  /** A connection whose statements may take as long as `REWRITE_TIMEOUT_MS`. */
  readonly open: () => Promise<Session>;
}

/**
 * Takes the bytes of erased texts out of the files of the tables, with their indexes. A row that was changed or deleted stands there until
 * VACUUM has passed over it, and its bytes longer than that, where nothing else comes to that place of the page. So each table is written anew
 * from the rows that it has (VACUUM FULL), and its old files go. What the server wrote elsewhere, as to its WAL, is its operator's.
 *
 * Nobody reads or writes a table meanwhile. Those who want to wait behind us also while we wait for those who are at it, so this is given up
 * after `lockTimeoutMs`, as any write is.
 *
 * What is still to be done stands in the table `scrub`, in numbers of erasures: so neither a crash nor an erasure by another process in
 * between is forgotten.
 */
export class Scrubber {
  readonly #options: ScrubberOptions;
  readonly #look: string;
  #last: Promise<void> = Promise.resolve();

  constructor(options: ScrubberOptions) {
    this.#options = options;
    const { schema } = options;
    this.#look = `SELECT s.erasures, (
        SELECT bool_and(pg_has_role(c.relowner, 'USAGE')) FROM pg_class AS c
        WHERE c.relnamespace = '${schema}'::regnamespace AND c.relname = ANY ($1)
      ) FROM "${schema}".scrub AS s WHERE s.rewritten < s.erasures`;
  }

  /** Does what is due, one after the other. @throws {StoreError} `store_not_scrubbed` where it stays due */
  scrub(): Promise<void> {
    const done = this.#last.then(() => this.#scrub());
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Settles when nothing is being done. */
  idle(): Promise<void> {
    return this.#last;
  }

  async #scrub(): Promise<void> {
    const { path, group, open } = this.#options;
    try {
      const due = await group.run((session) => this.#due(session));
      if (due === undefined) return;
      const session = await open();
      try {
        await this.#alone(session);
        await this.#rewrite(session);
      } finally {
        await session.end();
      }
    } catch (error) {
      throw notScrubbedError(path, error);
    }
  }

  /** How many erasures there were, where not all of them are done. */
  async #due(session: Session): Promise<string | undefined> {
    const [row] = await session.run({ text: this.#look }, [TABLES]);
    if (row === undefined) return undefined;
    // The server would warn, which nobody hears, and leave the table as it is.
    if (row[1] !== 't') throw new Error('this user does not own the tables');
    return row[0]!;
  }

  /**
   * One process at a time, as long as the connection lasts. Asked for again and again: who waits in the server holds back what it may clear
   * away, and so the one that is being waited for.
   */
  async #alone(session: Session): Promise<void> {
    const text = `SELECT pg_try_advisory_lock(${APPLICATION_ID}, '"${this.#options.schema}".scrub'::regclass::oid::int4)`;
    await this.#until('another process was at it', async () => (await session.run({ text }))[0]![0] === 't');
  }

  async #rewrite(session: Session): Promise<void> {
    // Another process may have done it meanwhile.
    const due = await this.#due(session);
    if (due === undefined) return;
    await this.#untilUnseen(session);
    const before = await this.#files(session);
    for (const table of TABLES) await session.run({ text: `VACUUM (FULL, ANALYZE) ${this.#named(table)}` });
    const after = new Set(await this.#files(session));
    if (before.some((file) => after.has(file))) throw new Error('the server has left a table as it was');
    await session.run({ text: `UPDATE ${this.#named('scrub')} SET rewritten = greatest(rewritten, $1)` }, [due]);
  }

  /**
   * Until no transaction, of whomever, may still see what was erased, for which the server would keep it in the new files. It tells nobody
   * of all that it keeps rows for, so it is shown one that is deleted after all of them, to see whether that goes.
   */
  async #untilUnseen(session: Session): Promise<void> {
    const probe = this.#named('scrub_probe');
    await session.run({ text: `INSERT INTO ${probe} (one) VALUES (1)` });
    await session.run({ text: `DELETE FROM ${probe}` });
    await this.#until(
      'a transaction that began before goes on, or a standby or a replication slot is behind',
      async () => {
        await session.run({ text: `VACUUM (FULL) ${probe}` });
        return (await session.run({ text: `SELECT pg_relation_size('${probe}')` }))[0]![0] === '0';
      },
    );
  }

  async #until(otherwise: string, isSo: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + this.#options.lockTimeoutMs;
    while (!(await isSo())) {
      if (performance.now() >= deadline) throw new Error(otherwise);
      await sleep(PAUSE_MS);
    }
  }

  async #files(session: Session): Promise<string[]> {
    const tables = TABLES.map((table) => this.#named(table));
    const text = 'SELECT pg_relation_filenode(x.name::regclass) FROM unnest($1::text[]) AS x (name)';
    return (await session.run({ text }, [tables])).map(([file]) => file!);
  }

  #named(table: string): string {
    return `"${this.#options.schema}".${table}`;
  }
}
