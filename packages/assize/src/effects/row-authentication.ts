import { keyedHash, parseCanonical, plainText } from '#canon';
import type { LoggedTransaction } from '#ledger';
import { type LogRecord, type RowMac, recordsIn } from './log.ts';

const PURPOSE = 'assize/effect-log/v1';

/**
 * The MACs of the rows of one transaction. Each MAC covers the epoch, the trajectory, the
 * description and all rows up to its own, so no row can be changed, added, moved or exchanged
 * without the key. A database user can still remove rows from the end.
 *
 * The key must not be in the database. See docs/design/threats.md.
 */
export class RowAuthentication {
  readonly #key: Uint8Array;
  /** The MAC of all rows that are written. */
  #mac: string;
  /** The MAC that also covers the last row that `row` has made. */
  #next: string | undefined;

  private constructor(key: Uint8Array, mac: string) {
    this.#key = key;
    this.#mac = mac;
  }

  static begin(
    key: Uint8Array,
    { epoch, trajectory_id, body }: Omit<LoggedTransaction, 'records'>,
  ): RowAuthentication {
    return new RowAuthentication(
      key,
      keyedHash(key, plainText([PURPOSE, epoch, trajectory_id, body])),
    );
  }

  /**
   * The state after the logged rows. Undefined if a row has no MAC under this key, so that a
   * process without the key may have written the transaction.
   *
   * @throws CanonError for a row that is not canonical
   */
  static read(key: Uint8Array, logged: LoggedTransaction): RowAuthentication | undefined {
    const authentication = RowAuthentication.begin(key, logged);
    for (const row of logged.records) {
      if (authentication.row(recordsIn(parseCanonical(row))) !== row) return undefined;
      authentication.written();
    }
    return authentication;
  }

  /** The text of the next row. Can be called again with other records until `written`. */
  row(records: readonly LogRecord[]): string {
    const mac = keyedHash(this.#key, `${this.#mac}${plainText(records)}`);
    this.#next = mac;
    return plainText([...records, { is: 'mac', mac } satisfies RowMac]);
  }

  /** Called when the row that `row` made last is being written. */
  written(): void {
    this.#mac = this.#next ?? this.#mac;
    this.#next = undefined;
  }
}
