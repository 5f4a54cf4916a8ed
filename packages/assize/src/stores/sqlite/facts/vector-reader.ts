import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { FactHit, FactQuery, FactText, FactVectorQuery } from '#ledger';
import { documentOf, OPEN_START, rounded } from '#memory';
import type { VectorSearch } from '../../options.ts';
import { dot, otherDimensions, unit } from '../../vectors.ts';
import { prepareByText } from '../connection/statements.ts';
import type { FactReader } from './facts.ts';
import type { Candidate, RankedRows } from './ranked-rows.ts';
import { textsWithoutVector, wantedTexts } from './wanted-texts.ts';

/** The number of texts that the first search adds to the requested limit. */
const BESIDE = 32;

type VectorQuery = Omit<FactQuery, 'after'>;

/**
 * Searches of facts by vector, and lists of texts without a vector. Each call sees one snapshot.
 */
export class VectorReader {
  readonly #facts: FactReader;
  readonly #rows: RankedRows;
  readonly #by: VectorSearch;
  readonly #selectEmbedder: StatementSync;
  readonly #selectToEmbed: StatementSync;
  readonly #query: (text: string) => StatementSync;

  /** `by`: `sqlite-vec` if the connection has loaded its functions. */
  constructor(db: DatabaseSync, facts: FactReader, rows: RankedRows, by: VectorSearch) {
    this.#query = prepareByText(db);
    this.#facts = facts;
    this.#rows = rows;
    this.#by = by;
    this.#selectEmbedder = db.prepare(
      'SELECT embedder, dimensions FROM fact_embedder WHERE id = ?',
    );
    this.#selectToEmbed = db.prepare(textsWithoutVector);
  }

  /**
   * Same as `FactStore.factsByVector`.
   * @throws {StoreError} while the facts are incomplete; for a vector of other dimensions
   */
  byVector({
    embedder,
    vector,
    ...query
  }: FactVectorQuery & { readonly limit: number }): FactHit[] {
    return this.#facts.atOneMoment(() => {
      const known = this.#selectEmbedder.get(embedder) as
        | { embedder: number; dimensions: number }
        | undefined;
      if (known === undefined) return [];
      if (known.dimensions !== vector.length)
        throw otherDimensions(embedder, known.dimensions, vector.length);
      const asked = unit(vector);
      const rows =
        this.#by === 'exact'
          ? this.#all(query, known.embedder)
          : this.#nearest(query, known.embedder, asked, query.limit);
      const candidates = rows.map(
        ([id, key, bytes]): Candidate => ({ id, key, score: rounded(dot(asked, floats(bytes))) }),
      );
      return this.#rows.best(candidates, query, query.limit);
    });
  }

  /**
   * Same as `FactStore.textsToEmbed`, for indexed texts. @throws {StoreError} while the facts are
   * incomplete
   */
  toEmbed(embedder: string, space: string, limit: number): FactText[] {
    return this.#facts.atOneMoment(() => {
      const known = this.#selectEmbedder.get(embedder)?.['embedder'] as number | undefined;
      const rows = this.#selectToEmbed.all(
        space,
        known ?? -1,
        limit,
      ) as unknown as readonly TextRow[];
      return rows.map(({ id, audit, day, ...row }) => {
        const asserted_from = day === '' ? OPEN_START : `${day}T00:00:00.000000Z`;
        return {
          id,
          text: documentOf({ ...row, asserted_from, row_kind: audit === 0 ? 'current' : 'audit' }),
        };
      });
    });
  }

  /** All texts that the query wants. */
  #all(query: VectorQuery, embedder: number): readonly VectorColumns[] {
    const { sql, values } = wantedTexts(query);
    const statement = this.#query(`WITH wanted (id, key) AS MATERIALIZED (${sql})
      SELECT w.id, w.key, v.vector FROM wanted AS w CROSS JOIN fact_vector AS v ON v.text = w.id AND v.embedder = ?`);
    return statement.all(...values, embedder) as unknown as readonly VectorColumns[];
  }

  /**
   * The wanted texts that can be among the nearest, as measured by sqlite-vec. The result contains
   * every nearest text.
   */
  #nearest(
    query: VectorQuery,
    embedder: number,
    asked: Float32Array,
    limit: number,
  ): readonly VectorColumns[] {
    const { sql, values } = wantedTexts(query);
    const statement = this.#query(`WITH wanted (id, key) AS MATERIALIZED (${sql})
      SELECT n.id, n.key, v.vector, n.distance FROM (
        SELECT w.id, w.key, v.rowid AS place, vec_distance_cosine(v.vector, ?) AS distance
        FROM wanted AS w CROSS JOIN fact_vector AS v ON v.text = w.id AND v.embedder = ? ORDER BY distance LIMIT ?
      ) AS n CROSS JOIN fact_vector AS v ON v.rowid = n.place ORDER BY n.distance`);
    const bytes = new Uint8Array(asked.buffer, asked.byteOffset, asked.byteLength);
    for (let most = limit + BESIDE; ; most *= 4) {
      const rows = statement.all(
        ...values,
        bytes,
        embedder,
        most,
      ) as unknown as readonly (readonly [...VectorColumns, number])[];
      const last = rows[limit - 1];
      if (last === undefined) return rows.map(([id, key, vector]) => [id, key, vector]);
      const farthest = last[3] + slack(asked.length);
      if (rows.length === most && rows.at(-1)![3] <= farthest) continue;
      return rows.filter((row) => row[3] <= farthest).map(([id, key, vector]) => [id, key, vector]);
    }
  }
}

/** One unit in the last place of a 32-bit number between ½ and 1. */
const UNIT = 2 ** -24;

/** The rounding step of scores. Two scores that differ by less can be equal. */
const STEP = 1e-6;

/**
 * The largest error with which a text can seem farther than an equally near text.
 *
 * sqlite-vec sums n products, and twice n squares for the lengths, in 32 bits. For vectors of
 * length one, no sum is off by more than n units in the last place (Higham, Accuracy and Stability
 * of Numerical Algorithms, 3.1). No distance is off by more than 2n units plus a few. The few units
 * cover roots, quotients and lengths that are not exactly one.
 */
function slack(dimensions: number): number {
  return STEP + 4 * (dimensions + 8) * UNIT;
}

type VectorColumns = readonly [id: number, key: number, vector: Uint8Array];

interface TextRow {
  readonly id: string;
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly audit: 0 | 1;
  readonly day: string;
}

/** A blob can start at any byte, but numbers need an aligned start. */
function floats(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.slice().buffer);
}
