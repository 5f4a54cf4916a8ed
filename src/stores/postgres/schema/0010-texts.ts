import { APPLICATION_ID } from './0001-ledger.ts';

/**
 * What facts are found by. A text is of a claim and not of a version: (key, content, audit, day) says which, and whatever is closed,
 * left over or widened leaves it alone. Texts are written with the rows that say them: a GIN index takes them into its list of what is
 * pending, which is all that a commit waits for.
 *
 * `words` are those that the program has made of a text (`wordsOf`), each with the number of its space before it: so no tenant's search
 * walks another's texts. Their positions only count them. `fact_text_space` has no names.
 *
 * Vectors have a length of one, so that a cosine is a sum of products.
 */
export const texts: string = `
CREATE TABLE fact_text_space (
  space BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash BYTEA NOT NULL UNIQUE CHECK (octet_length(hash) = 32)
);

CREATE TABLE fact_text (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key BIGINT NOT NULL,
  space BIGINT NOT NULL,
  content BYTEA NOT NULL CHECK (octet_length(content) = 32),
  audit BOOLEAN NOT NULL,
  day TEXT COLLATE "C" NOT NULL,
  length INTEGER NOT NULL CHECK (length >= 0),
  words TSVECTOR NOT NULL,
  UNIQUE (key, content, audit, day)
);

CREATE INDEX fact_text_words ON fact_text USING gin (words);
CREATE INDEX fact_text_of_space ON fact_text (space) INCLUDE (length);
CREATE INDEX fact_text_content ON fact_text (content);

CREATE TABLE fact_embedder (
  embedder BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash BYTEA NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  dimensions INTEGER NOT NULL CHECK (dimensions > 0)
);

CREATE TABLE fact_vector (
  text BIGINT NOT NULL REFERENCES fact_text ON DELETE CASCADE,
  embedder BIGINT NOT NULL,
  vector REAL[] NOT NULL,
  PRIMARY KEY (text, embedder)
);

/* The texts of partitions that are there, each once. */
CREATE FUNCTION write_texts(facts json) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
BEGIN
  INSERT INTO fact_text_space (hash)
  SELECT DISTINCT p.space_hash FROM json_to_recordset(facts -> 'texts') AS x (n int)
  JOIN json_to_recordset(facts -> 'partitions') AS y (n int, hash text) ON y.n = x.n
  JOIN fact_partition AS p ON p.hash = decode(y.hash, 'hex')
  WHERE NOT EXISTS (SELECT FROM fact_text_space AS s WHERE s.hash = p.space_hash)
  ORDER BY p.space_hash
  ON CONFLICT DO NOTHING;

  INSERT INTO fact_text (key, space, content, audit, day, length, words)
  SELECT p.key, s.space, decode(x.content, 'hex'), x.audit, x.day, x.length, (
    SELECT coalesce(string_agg('''' || s.space || '_' || (w ->> 0) || ''':' || (w ->> 1), ' '), '') FROM json_array_elements(x.words) AS w
  )::tsvector
  FROM json_to_recordset(facts -> 'texts') AS x (n int, content text, audit boolean, day text, length int, words json)
  JOIN json_to_recordset(facts -> 'partitions') AS y (n int, hash text) ON y.n = x.n
  JOIN fact_partition AS p ON p.hash = decode(y.hash, 'hex')
  JOIN fact_text_space AS s ON s.hash = p.space_hash
  ON CONFLICT DO NOTHING;
END
$$;

ALTER FUNCTION write_facts(json, bigint[]) RENAME TO write_fact_rows;

CREATE FUNCTION write_facts(facts json, keys bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM write_fact_rows(facts, keys);
  IF json_array_length(facts -> 'texts') > 0 THEN
    PERFORM write_texts(facts);
  END IF;
END
$$;

ALTER FUNCTION erase_facts(bytea[]) RENAME TO erase_fact_rows;

CREATE FUNCTION erase_facts(erased bytea[]) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
BEGIN
  DELETE FROM fact_text AS t WHERE t.content = ANY (erased);
  DELETE FROM fact_text AS t WHERE t.key IN (SELECT p.key FROM fact_partition AS p WHERE p.names = ANY (erased));
  DELETE FROM fact_text_space AS s WHERE NOT EXISTS (SELECT FROM fact_text AS t WHERE t.space = s.space);
  PERFORM erase_fact_rows(erased);
END
$$;

ALTER FUNCTION begin_facts() RENAME TO begin_fact_rows;

CREATE FUNCTION begin_facts() RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  begun bigint;
BEGIN
  begun := begin_fact_rows();
  TRUNCATE fact_text, fact_text_space, fact_embedder, fact_vector;
  RETURN begun;
END
$$;

/* Keeps vectors of texts that are still there and have none of the embedder. What it answers are the dimensions of the embedder. */
CREATE FUNCTION put_vectors(named bytea, size int, ids bigint[], vectors json) RETURNS int
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  known fact_embedder;
BEGIN
  -- Nothing is erased meanwhile, nor are facts made anew.
  PERFORM pg_advisory_xact_lock_shared(${APPLICATION_ID}, 'snapshot'::regclass::oid::int4);
  INSERT INTO fact_embedder (hash, dimensions) VALUES (named, size) ON CONFLICT DO NOTHING;
  SELECT * INTO known FROM fact_embedder AS e WHERE e.hash = named;
  IF known.dimensions = size THEN
    INSERT INTO fact_vector (text, embedder, vector)
    SELECT t.id, known.embedder, ARRAY(SELECT v.value::real FROM json_array_elements_text(vectors -> (x.n - 1)::int) WITH ORDINALITY AS v (value, at) ORDER BY v.at)
    FROM unnest(ids) WITH ORDINALITY AS x (id, n) JOIN fact_text AS t ON t.id = x.id
    ORDER BY t.id
    ON CONFLICT DO NOTHING;
  END IF;
  RETURN known.dimensions;
END
$$;
`;
