import type { Batch, Hash, LogStep } from 'assize/internal/ledger';
import { StoreError } from 'assize/internal/stores/errors.ts';
import { bytea } from '../connection/row.ts';
import type { Session, Statement } from '../connection/session.ts';

/** The last leaf of the Merkle log. */
interface LogEnd {
  readonly index: number;
  readonly leaf: Uint8Array;
}

/**
 * The last writes that the server answered as durable. Its log is sequential, so a server with the
 * last of them has all.
 */
export class AnsweredWrites {
  readonly #statement: Statement;
  readonly #path: string;
  #entry: Hash | undefined;
  #end: LogEnd | undefined;

  constructor(schema: string, path: string) {
    this.#path = path;
    this.#statement = {
      text: `SELECT $1::bytea IS NULL OR EXISTS (SELECT FROM "${schema}".entry WHERE id = $1::bytea),
        $2::bigint IS NULL OR EXISTS (SELECT FROM "${schema}".log WHERE idx = $2::bigint AND leaf = $3::bytea)`,
    };
  }

  committed({ entries }: Batch): void {
    this.#entry = entries.at(-1)?.id ?? this.#entry;
  }

  integrated({ size, leaves }: LogStep): void {
    const last = leaves.at(-1);
    if (last !== undefined) this.#end = { index: size + leaves.length - 1, leaf: last.hash };
  }

  /**
   * Compares the server of a new connection with the answers of the earlier one.
   *
   * @throws {StoreError} `store_rewound` if the server lacks an answered write
   */
  async check(session: Session): Promise<void> {
    const id = this.#entry;
    const end = this.#end;
    const values = [
      id === undefined ? null : bytea(id),
      end?.index ?? null,
      end === undefined ? null : bytea(Buffer.from(end.leaf).toString('hex')),
    ];
    const [row] = await session.run(this.#statement, values);
    const [hasEntry, hasEnd] = row!;
    if (hasEntry === 't' && hasEnd === 't') return;
    const lacks = hasEntry === 't' ? `the position ${end!.index} of the log` : `the entry ${id}`;
    throw new StoreError(
      'store_rewound',
      `The server of ${this.#path} lacks ${lacks}, which was answered as committed. A standby without it was promoted, or a backup was restored. Stop the writers, and bring back the old primary.`,
      {
        evidence: { path: this.#path, ...(hasEntry === 't' ? { index: end!.index } : { id: id! }) },
      },
    );
  }
}
