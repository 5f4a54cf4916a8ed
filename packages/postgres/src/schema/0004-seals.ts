import { schema } from './0001-schema.ts';
import { appendOne } from './0003-append-one.ts';

/**
 * The seals of entries. The statements never change once they are released. They run as those of
 * `0001-schema.ts`. Both append functions keep their parameters: an id may have the entry's seal
 * after its 32 bytes.
 */
export const seals = `
-- The id of a key and a MAC of the entry's id. A store of before has entries without it.
ALTER TABLE entry ADD COLUMN seal BYTEA CHECK (octet_length(seal) = 40);

-- One row once every entry has a seal.
CREATE TABLE sealed (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  at TIMESTAMPTZ NOT NULL
);

-- Every role that may use the schema appends entries, and must see whether they need a seal.
GRANT SELECT ON sealed TO PUBLIC;

CREATE FUNCTION require_seal() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF EXISTS (SELECT FROM sealed) THEN
    RAISE EXCEPTION 'an entry of a sealed store needs a seal' USING ERRCODE = 'AZ004';
  END IF;
  RETURN new;
END
$$;

CREATE TRIGGER require_seal BEFORE INSERT ON entry
FOR EACH ROW WHEN (new.seal IS NULL) EXECUTE FUNCTION require_seal();

-- Seals entries that have no seal.
CREATE FUNCTION seal_entries(ids bytea[], seals bytea[]) RETURNS void
LANGUAGE sql SET search_path FROM CURRENT AS $$
  UPDATE entry AS e SET seal = x.seal FROM unnest(ids, seals) AS x (id, seal) WHERE e.id = x.id AND e.seal IS NULL
$$;

-- Refuses entries without a seal from now on. Returns false while there are some.
CREATE FUNCTION end_sealing() RETURNS boolean
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  -- Waits for the appends in progress; later ones wait for this transaction.
  PERFORM pg_advisory_xact_lock(1095981637, 'entry'::regclass::oid::int4);
  IF EXISTS (SELECT FROM entry AS e WHERE e.seal IS NULL) THEN
    RETURN false;
  END IF;
  INSERT INTO sealed (one, at) VALUES (1, clock_timestamp()) ON CONFLICT DO NOTHING;
  RETURN true;
END
$$;

${withSeals(functionIn(schema, 'append'), [
  [
    'INSERT INTO entry (position, trajectory, seq, id, parent, kind, payload)',
    'INSERT INTO entry (position, trajectory, seq, id, parent, kind, payload, seal)',
  ],
  ['x.kind, x.payload FROM', 'x.kind, x.payload, x.seal FROM'],
  [
    'g.seq, g.id, g.parent, g.kind, g.payload',
    "g.seq, substring(g.id FOR 32) AS id, g.parent, g.kind, g.payload, nullif(substring(g.id FROM 33), '') AS seal",
  ],
  [
    'is_outrun boolean;',
    'is_outrun boolean;\n  own bytea[] := ARRAY(SELECT substring(x.id FOR 32) FROM unnest(ids) AS x (id));',
  ],
  [
    '(SELECT count(*) FROM entry AS e WHERE e.id = ANY (ids))',
    '(SELECT count(*) FROM entry AS e WHERE e.id = ANY (own))',
  ],
  ['FROM entry AS e WHERE e.id = ANY (ids))\n', 'FROM entry AS e WHERE e.id = ANY (own))\n'],
])}
${withSeals(functionIn(appendOne, 'append_one'), [
  [
    'INSERT INTO entry (trajectory, seq, id, parent, kind, payload)',
    'INSERT INTO entry (trajectory, seq, id, parent, kind, payload, seal)',
  ],
  [
    'VALUES (place, at_seq, new_id, parent_id, new_kind, new_payload)',
    "VALUES (place, at_seq, substring(new_id FOR 32), parent_id, new_kind, new_payload, nullif(substring(new_id FROM 33), ''))",
  ],
  ['e.id = new_id', 'e.id = substring(new_id FOR 32)'],
])}
`;

/** The statement of an earlier migration that creates a function. */
function functionIn(migration: string, name: string): string {
  const start = migration.indexOf(`CREATE FUNCTION ${name}(`);
  return migration.slice(start, migration.indexOf('\n$$;\n', start) + 5);
}

/** The statement with each text replaced in its one place. */
function withSeals(
  statement: string,
  changes: readonly (readonly [from: string, to: string])[],
): string {
  let text = statement.replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION');
  for (const [from, to] of changes) {
    if (text.split(from).length !== 2)
      throw new Error(`The earlier migration does not have once: ${from}`);
    text = text.replace(from, () => to);
  }
  return text;
}
