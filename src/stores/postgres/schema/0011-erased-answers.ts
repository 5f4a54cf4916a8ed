/**
 * An answer of the oracle log that was erased keeps its row, without its text: so it is never taken in again. `erased_by` is the entry
 * that says so.
 *
 * `erase_answers` is called for a group that erases some, in the statement that writes it.
 *
 * `oracle_within` lists answers by where they were given, so that what no entry names is found; `list_answers` is called for a group that
 * has such ones. Those that were there before are not in it.
 */
export const erasedAnswers: string = `
ALTER TABLE oracle ADD COLUMN erased_by BYTEA CHECK (erased_by IS NULL OR (octet_length(erased_by) = 32 AND answer = ''));

CREATE TABLE oracle_within (
  within BYTEA NOT NULL CHECK (octet_length(within) = 32),
  key BYTEA NOT NULL CHECK (octet_length(key) = 32),
  PRIMARY KEY (within, key)
);

CREATE FUNCTION list_answers(withins bytea[], keys bytea[]) RETURNS json
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
  INSERT INTO oracle_within (within, key)
  SELECT x.within, x.key FROM unnest(withins, keys) AS x (within, key) ORDER BY x.within, x.key
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;

CREATE FUNCTION erase_answers(keys bytea[], erasers bytea[]) RETURNS json
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
  INSERT INTO oracle AS o (key, answer, at, erased_by)
  SELECT DISTINCT ON (x.key) x.key, '', '', x.eraser FROM unnest(keys, erasers) WITH ORDINALITY AS x (key, eraser, n)
  ORDER BY x.key, x.n
  ON CONFLICT (key) DO UPDATE SET answer = '', erased_by = excluded.erased_by WHERE o.erased_by IS NULL;
  RETURN NULL;
END
$$;
`;
