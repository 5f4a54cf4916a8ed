import { createHash } from 'node:crypto';
import type {
  FactHit,
  FactText,
  FactTextQuery,
  FactVector,
  FactVectorQuery,
  FactVersion,
} from 'assize/internal/ledger';
import { documentOf, OPEN_START, wordsOf } from 'assize/internal/memory';
import { otherDimensions, unit } from 'assize/internal/stores/vectors.ts';
import type { Readers, ReadRequest } from '../connection/readers.ts';
import { bytea } from '../connection/row.ts';
import type { WriteSession } from '../connection/write-session.ts';
import { ROW, requireWhole, restrictions, versionOf } from './facts.ts';

type TextQuery<Query> = Query & { readonly limit: number };

const DAY = `CASE f.asserted_from WHEN '${OPEN_START}' THEN '' ELSE left(f.asserted_from, 10) END`;

/**
 * Same as `FactStore.factsByText`, with the defaults filled in. The formula is that of `Bm25`.
 * `path` names the store in errors.
 */
export function prepareFactsByText(
  readers: ReadRequest,
  schema: string,
  path: string,
): (query: TextQuery<FactTextQuery>) => Promise<FactHit[]> {
  return ({ text, ...query }) => {
    const words = [...new Set(wordsOf(text))];
    return ranked(readers, { schema, path, query }, (given) => {
      const of = `"${schema}".fact_text AS t`;
      return `space AS MATERIALIZED (
          SELECT s.space, c.texts, c.words FROM "${schema}".fact_text_space AS s,
            LATERAL (SELECT count(*) AS texts, sum(t.length) AS words FROM ${of} WHERE t.space = s.space) AS c
          WHERE s.hash = sha256(convert_to(${given(query.space)}, 'UTF8'))
        ), sought AS MATERIALIZED (
          SELECT w.lexeme, ln(1 + (s.texts - c.n + 0.5::float8) / (c.n + 0.5::float8)) AS idf
          FROM space AS s, LATERAL (SELECT s.space || '_' || x AS lexeme FROM unnest(${given(words)}::text[]) AS x) AS w,
            LATERAL (SELECT count(*) AS n FROM ${of} WHERE t.words @@ ('''' || w.lexeme || '''')::tsquery) AS c
          WHERE c.n > 0
        ), hit AS (
          SELECT t.key, t.content, t.audit, t.day, (
            SELECT sum(o.idf * c.f * 2.2 / (c.f + 1.2 * (0.25 + 0.75 * t.length * s.texts / s.words)))
            FROM unnest(t.words) AS u (lexeme, positions, weights) JOIN sought AS o ON o.lexeme = u.lexeme,
              LATERAL (SELECT cardinality(u.positions)::float8 AS f) AS c
          ) AS score
          FROM space AS s, ${of}
          WHERE t.words @@ (SELECT string_agg('''' || o.lexeme || '''', ' | ')::tsquery FROM sought AS o)
        )`;
    });
  };
}

/** Same as `FactStore.factsByVector`. @throws {StoreError} for a vector of other dimensions */
export function prepareFactsByVector(
  readers: ReadRequest,
  schema: string,
  path: string,
): (query: TextQuery<FactVectorQuery>) => Promise<FactHit[]> {
  const select = { text: `SELECT dimensions FROM "${schema}".fact_embedder WHERE hash = $1` };
  return async ({ embedder, vector, ...query }) => {
    const [known] = await readers.run(select, [bytea(hashOf(embedder))]);
    if (known !== undefined && Number(known[0]) !== vector.length)
      throw otherDimensions(embedder, Number(known[0]), vector.length);
    return ranked(
      readers,
      { schema, path, query },
      (given) => `hit AS (
        SELECT t.key, t.content, t.audit, t.day, (
          SELECT sum(a::float8 * b) FROM unnest(v.vector, ${given([...unit(vector)])}::real[]) AS x (a, b)
        ) AS score
        FROM "${schema}".fact_text_space AS s JOIN "${schema}".fact_text AS t ON t.space = s.space
        JOIN "${schema}".fact_vector AS v ON v.text = t.id
        JOIN "${schema}".fact_embedder AS e ON e.embedder = v.embedder
        WHERE s.hash = sha256(convert_to(${given(query.space)}, 'UTF8')) AND e.hash = ${given(bytea(hashOf(embedder)))}
      )`,
    );
  };
}

/** Same as `FactStore.textsToEmbed`. */
export function prepareTextsToEmbed(
  readers: Readers,
  schema: string,
  path: string,
): (embedder: string, space: string, limit: number) => Promise<FactText[]> {
  const text = `SELECT r.whole, x.* FROM "${schema}".fact_rebuild AS r LEFT JOIN LATERAL (
      SELECT t.id, p.subject, p.predicate, t.audit, t.day, (
        SELECT f.object FROM "${schema}".fact AS f
        WHERE f.content = t.content AND f.key = t.key AND f.audit = t.audit AND ${DAY} = t.day LIMIT 1
      ) AS object
      FROM "${schema}".fact_text_space AS s JOIN "${schema}".fact_text AS t ON t.space = s.space
      JOIN "${schema}".fact_partition AS p ON p.key = t.key
      WHERE s.hash = sha256(convert_to($1, 'UTF8')) AND NOT EXISTS (
        SELECT FROM "${schema}".fact_vector AS v JOIN "${schema}".fact_embedder AS e ON e.embedder = v.embedder
        WHERE v.text = t.id AND e.hash = $2)
      ORDER BY t.id LIMIT $3
    ) AS x ON true ORDER BY x.id`;
  return async (embedder, space, limit) => {
    const rows = await readers.run({ text }, [space, bytea(hashOf(embedder)), limit]);
    requireWhole(rows, path);
    return rows
      .filter((row) => row[1] !== null)
      .map((row) => {
        const [id, subject, predicate, audit, day, object] = row.slice(1) as [
          string,
          string,
          string,
          string,
          string,
          string,
        ];
        return { id, text: documentOf({ ...documented(audit, day), subject, predicate, object }) };
      });
  };
}

/**
 * Same as `FactStore.putVectors`.
 * @throws {StoreError} if the embedder's stored vectors have other dimensions
 */
export async function putVectors(
  group: WriteSession,
  schema: string,
  embedder: string,
  vectors: readonly FactVector[],
): Promise<void> {
  const [first] = vectors;
  if (first === undefined) return;
  // Other ids name no text.
  const named = vectors.filter(({ id }) => /^[1-9]\d{0,17}$/.test(id));
  const values = [
    bytea(hashOf(embedder)),
    first.vector.length,
    named.map(({ id }) => id),
    JSON.stringify(named.map(({ vector }) => [...unit(vector)])),
  ];
  const text = `SELECT "${schema}".put_vectors($1, $2, $3, $4)`;
  const known = Number(
    await group.run(async (session) => (await session.run({ text }, values))[0]![0]!),
  );
  if (known !== first.vector.length) throw otherDimensions(embedder, known, first.vector.length);
}

/** The fields of a row that the name of a text contains. */
function documented(audit: string, day: string): Pick<FactVersion, 'asserted_from' | 'row_kind'> {
  return {
    asserted_from: day === '' ? OPEN_START : `${day}T00:00:00.000000Z`,
    row_kind: audit === 't' ? 'audit' : 'current',
  };
}

/**
 * The best rows that match the query. `hits` is the SQL of the table `hit` with the matching texts
 * and their scores.
 */
async function ranked(
  readers: ReadRequest,
  of: {
    readonly schema: string;
    readonly path: string;
    readonly query: Omit<TextQuery<FactTextQuery>, 'text'>;
  },
  hits: (given: (value: unknown) => string) => string,
): Promise<FactHit[]> {
  const { schema, path, query } = of;
  const values: unknown[] = [];
  const given = (value: unknown): string => `$${values.push(value)}`;
  const order = 'subject, predicate, system_start, valid_from, fact_id';
  const text = `SELECT r.whole, x.* FROM "${schema}".fact_rebuild AS r LEFT JOIN LATERAL (
      WITH ${hits(given)}
      SELECT ${ROW}, p.subject, p.predicate, round(h.score::numeric, 6) AS score
      FROM hit AS h JOIN "${schema}".fact_partition AS p ON p.key = h.key
      JOIN "${schema}".fact AS f ON f.key = h.key AND f.content = h.content AND f.audit = h.audit AND ${DAY} = h.day
      WHERE ${restrictions(query, given).join(' AND ')}
      ORDER BY score DESC, ${order} LIMIT ${given(query.limit)}
    ) AS x ON true ORDER BY x.score DESC, x.${order.replaceAll(', ', ', x.')}`;
  const rows = await readers.run({ text }, values);
  requireWhole(rows, path);
  return rows
    .filter((row) => row[1] !== null)
    .map((row) => {
      const [subject, predicate, score] = row.slice(-3) as [string, string, string];
      const name = {
        space: query.space,
        subject,
        predicate,
        ...(query.branch !== undefined && { branch: query.branch }),
      };
      return { fact: versionOf(row, name), score: Number(score) };
    });
}

/** The key of an embedder. Its name can be too long for an index. */
function hashOf(embedder: string): string {
  return createHash('sha256').update(embedder).digest('hex');
}
