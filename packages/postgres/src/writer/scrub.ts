import { setTimeout as sleep } from 'node:timers/promises';
import type { Session } from '../connection/session.ts';
import { notScrubbedError } from '../errors.ts';
import { APPLICATION_ID } from '../schema/migrate.ts';
import type { GroupCommit } from './group-commit.ts';

/**
 * The tables that an erasure changes, and the tables derived from them. No other table ever
 * contains an erased value.
 */
const TABLES: readonly string[] = [
  'snapshot',
  'fact_vector',
  'fact_text',
  'fact_partition',
  'fact',
  'oracle',
  'blob',
];

/** The pause between two checks whether another process has finished. */
const PAUSE_MS = 50;

/** The longest time for rewriting the largest table. The connection still detects a lost server. */
export const REWRITE_TIMEOUT_MS: number = 24 * 60 * 60 * 1_000;

export interface ScrubberOptions {
  readonly path: string;
  readonly schema: string;
  readonly group: GroupCommit;
  readonly lockTimeoutMs: number;
  /** Opens a connection for statements that may take `REWRITE_TIMEOUT_MS`. */
  readonly open: () => Promise<Session>;
}

/**
 * Removes the bytes of erased texts from the files of the tables and their indexes.
 *
 * A changed or deleted row stays in its page until VACUUM has processed it. Its bytes stay longer,
 * until other data overwrites them. The scrubber therefore rewrites each table from its rows
 * (VACUUM FULL). This removes the old files. Other files of the server, such as its WAL, are the
 * responsibility of its operator.
 *
 * The rewrite blocks reads and writes of the table. New readers also queue behind a waiting
 * rewrite. The scrubber therefore abandons the attempt after `lockTimeoutMs`, like any write.
 *
 * The table `scrub` records the due work in numbers of erasures. The record survives a crash, and
 * counts erasures of other processes during the scrub.
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

  /**
   * Does the due work, one table after the other. @throws {StoreError} `store_not_scrubbed` if it
   * stays due
   */
  scrub(): Promise<void> {
    const done = this.#last.then(() => this.#scrub());
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Resolves when no scrub is running. */
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

  /** The number of erasures, if the scrub of some is due. */
  async #due(session: Session): Promise<string | undefined> {
    const [row] = await session.run({ text: this.#look }, [TABLES]);
    if (row === undefined) return undefined;
    // The server would only log a warning and leave the table unchanged.
    if (row[1] !== 't') throw new Error('this user does not own the tables');
    return row[0]!;
  }

  /**
   * Acquires the lock of scrubs for the lifetime of the connection. The scrubber polls for the
   * lock: a waiting statement holds back the rows that the server may remove, and thereby the
   * lock's holder.
   */
  async #alone(session: Session): Promise<void> {
    const text = `SELECT pg_try_advisory_lock(${APPLICATION_ID}, '"${this.#options.schema}".scrub'::regclass::oid::int4)`;
    await this.#until(
      'another process held the lock',
      async () => (await session.run({ text }))[0]![0] === 't',
    );
  }

  async #rewrite(session: Session): Promise<void> {
    // Another process may have finished the work in the meantime.
    const due = await this.#due(session);
    if (due === undefined) return;
    await this.#untilUnseen(session);
    const before = await this.#files(session);
    for (const table of TABLES)
      await session.run({ text: `VACUUM (FULL, ANALYZE) ${this.#named(table)}` });
    const after = new Set(await this.#files(session));
    if (before.some((file) => after.has(file)))
      throw new Error('the server did not rewrite a table');
    await session.run(
      { text: `UPDATE ${this.#named('scrub')} SET rewritten = greatest(rewritten, $1)` },
      [due],
    );
  }

  /**
   * Waits until no transaction can see erased rows, because the server would copy visible rows into
   * the new files. The server does not report every transaction for which it keeps rows. The
   * scrubber therefore deletes a probe row after the erasure, and checks whether the server can
   * remove it.
   */
  async #untilUnseen(session: Session): Promise<void> {
    const probe = this.#named('scrub_probe');
    await session.run({ text: `INSERT INTO ${probe} (one) VALUES (1)` });
    await session.run({ text: `DELETE FROM ${probe}` });
    await this.#until(
      'an older transaction is open, or a standby or a replication slot is behind',
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
    const text =
      'SELECT pg_relation_filenode(x.name::regclass) FROM unnest($1::text[]) AS x (name)';
    return (await session.run({ text }, [tables])).map(([file]) => file!);
  }

  #named(table: string): string {
    return `"${this.#options.schema}".${table}`;
  }
}
