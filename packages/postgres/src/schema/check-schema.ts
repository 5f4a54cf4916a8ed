import { changedSchemaError } from 'assize/internal/stores/schema-version.ts';
import type { Row } from '../connection/driver.ts';
import type { Session, Statement } from '../connection/session.ts';
import made from './catalogue.json' with { type: 'json' };

/**
 * Reads the objects of a schema that decide what a write does: each object with its name and its
 * definition. `$1` is the name of the schema. No definition contains that name, and none depends on
 * the version of the server.
 *
 * The query of the view `facts` is not read: the server would wait for a rewrite of its tables, and
 * no statement of the store reads the view.
 */
export const READ_CATALOGUE: Statement = {
  text: `
WITH space AS (SELECT oid, nspname FROM pg_namespace WHERE nspname = $1),
relation AS (SELECT c.* FROM pg_class AS c JOIN space ON c.relnamespace = space.oid)
SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'c' THEN 'type' WHEN 'S' THEN 'sequence' ELSE 'table' END, c.relname, '',
  concat_ws(' ', c.relkind, c.relpersistence, CASE WHEN c.relrowsecurity THEN 'row security' END,
    CASE WHEN c.relname = 'append_under_way' THEN regexp_replace(pg_get_viewdef(c.oid), '("[^"]*"|\\w+)\\.|\\s', '', 'g') END,
    (SELECT concat_ws(' ', s.seqincrement, s.seqmin, s.seqmax, s.seqcycle) FROM pg_sequence AS s WHERE s.seqrelid = c.oid))
FROM relation AS c WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'c', 'S')
UNION ALL
SELECT 'column', c.relname, a.attname,
  concat_ws(' ', format_type(a.atttypid, a.atttypmod),
    (SELECT 'COLLATE ' || o.collname FROM pg_collation AS o WHERE o.oid = a.attcollation AND o.collname <> 'default'),
    CASE WHEN a.attnotnull THEN 'NOT NULL' END, nullif(a.attidentity, ''), nullif(a.attgenerated, ''), pg_get_expr(d.adbin, d.adrelid))
FROM relation AS c JOIN pg_attribute AS a ON a.attrelid = c.oid LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relkind IN ('r', 'p', 'c') AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT 'constraint', c.relname, k.conname,
  concat_ws(' ', regexp_replace(pg_get_constraintdef(k.oid), 'REFERENCES ("[^"]*"|\\w+)\\.', 'REFERENCES '),
    CASE WHEN NOT k.convalidated THEN 'NOT VALID' END)
FROM relation AS c JOIN pg_constraint AS k ON k.conrelid = c.oid WHERE k.contype IN ('c', 'f', 'p', 'u', 'x')
UNION ALL
SELECT 'unique index', c.relname, x.relname, ''
FROM relation AS c JOIN pg_index AS i ON i.indrelid = c.oid JOIN pg_class AS x ON x.oid = i.indexrelid
WHERE i.indisunique AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
UNION ALL
SELECT 'trigger', c.relname, t.tgname,
  concat_ws(' ', t.tgtype, t.tgenabled, CASE WHEN t.tgdeferrable THEN 'deferrable' END,
    CASE WHEN p.pronamespace = c.relnamespace THEN p.proname ELSE t.tgfoid::text END, nullif(encode(t.tgargs, 'hex'), ''),
    (SELECT string_agg(a.attname, ' ' ORDER BY a.attname) FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum = ANY (t.tgattr)),
    substring(pg_get_triggerdef(t.oid) FROM 'WHEN .* EXECUTE'))
FROM relation AS c JOIN pg_trigger AS t ON t.tgrelid = c.oid JOIN pg_proc AS p ON p.oid = t.tgfoid
WHERE NOT t.tgisinternal OR t.tgenabled <> 'O'
UNION ALL
SELECT 'rule', c.relname, r.rulename, '' FROM relation AS c JOIN pg_rewrite AS r ON r.ev_class = c.oid WHERE r.rulename <> '_RETURN'
UNION ALL
SELECT 'policy', c.relname, y.polname, '' FROM relation AS c JOIN pg_policy AS y ON y.polrelid = c.oid
UNION ALL
SELECT 'child table', c.relname, x.relname, ''
FROM relation AS c JOIN pg_inherits AS h ON h.inhparent = c.oid JOIN pg_class AS x ON x.oid = h.inhrelid
WHERE c.relkind IN ('r', 'p')
UNION ALL
SELECT 'function', p.proname, '',
  encode(sha256(convert_to(concat_ws(E'\\n', l.lanname, p.prokind, p.provolatile, p.prosecdef, p.proretset, p.proargnames, p.proargmodes,
    (SELECT string_agg(t.typname, ' ' ORDER BY x.n) FROM unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) WITH ORDINALITY AS x (type, n)
      JOIN pg_type AS t ON t.oid = x.type),
    (SELECT t.typname FROM pg_type AS t WHERE t.oid = p.prorettype),
    (SELECT string_agg(CASE WHEN x.setting = 'search_path=' || quote_ident(space.nspname) || ', pg_temp' THEN 'own path' ELSE x.setting END, ' ' ORDER BY x.setting)
      FROM unnest(p.proconfig) AS x (setting)), p.prosrc), 'UTF8')), 'hex')
FROM space JOIN pg_proc AS p ON p.pronamespace = space.oid JOIN pg_language AS l ON l.oid = p.prolang
WHERE p.proname = ANY ($2) OR EXISTS (SELECT FROM pg_proc AS q WHERE q.proname = p.proname AND q.pronamespace = 'pg_catalog'::regnamespace)
UNION ALL
SELECT 'operator', o.oprname, '', '' FROM space JOIN pg_operator AS o ON o.oprnamespace = space.oid`,
};

/** An object of a schema, as `READ_CATALOGUE` reads it. */
export interface CatalogueObject {
  readonly kind: string;
  /** The name of the relation, the function or the operator. */
  readonly of: string;
  /** The name of a part of a relation, or empty. */
  readonly part: string;
  readonly definition: string;
}

/** The objects that the migrations make, by their keys. catalogue.slow.test.ts writes the file. */
const CATALOGUE: Readonly<Record<string, string>> = made;

/** The key of an object in `CATALOGUE`. */
export function catalogueKey({ kind, of, part }: CatalogueObject): string {
  return part === '' ? `${kind} ${of}` : `${kind} ${of}.${part}`;
}

export function catalogueObject([kind, of, part, definition]: Row): CatalogueObject {
  return { kind: kind!, of: of!, part: part!, definition: definition! };
}

const FUNCTIONS = namesOf('function');
const RELATIONS = new Set(['table', 'view', 'type', 'sequence'].flatMap(namesOf));

/** The parameters of `READ_CATALOGUE`. */
export function catalogueValues(schema: string): unknown[] {
  return [schema, FUNCTIONS];
}

/**
 * The objects of a store that differ from the schema. Added relations are harmless, and so are
 * added indexes that are not unique, added functions with names of their own, and grants. `rows`:
 * the answer of `READ_CATALOGUE`.
 */
export function schemaFaults(rows: readonly Row[]): string[] {
  const missing = new Set(Object.keys(CATALOGUE));
  const faults: string[] = [];
  for (const object of rows.map(catalogueObject)) {
    const { kind, of, definition } = object;
    const key = catalogueKey(object);
    const expected = CATALOGUE[key];
    missing.delete(key);
    if (expected === definition) continue;
    if (expected !== undefined) faults.push(`the ${key} differs from the schema`);
    else if (
      (RELATIONS.has(of) || kind === 'function' || kind === 'operator') &&
      !isRetirement(object)
    )
      faults.push(`the ${key} is not part of the schema`);
  }
  for (const key of missing) faults.push(`the ${key} is missing`);
  return faults;
}

/** Throws `store_other_schema` if the schema has faults. `path` names the store. */
export async function requireSchema(session: Session, schema: string, path: string): Promise<void> {
  const faults = schemaFaults(await session.run(READ_CATALOGUE, catalogueValues(schema)));
  if (faults.length > 0) throw changedSchemaError(path, faults);
}

/** Whether the object is a trigger of a retired store. */
function isRetirement({ kind, definition }: CatalogueObject): boolean {
  return kind === 'trigger' && definition === '30 O refuse_retired';
}

function namesOf(kind: string): string[] {
  return Object.keys(CATALOGUE).flatMap((key) =>
    key.startsWith(`${kind} `) ? [key.slice(kind.length + 1)] : [],
  );
}
