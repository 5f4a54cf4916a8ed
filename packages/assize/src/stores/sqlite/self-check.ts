import type { DatabaseSync } from 'node:sqlite';
import { hashText } from '#canon';
import { OPEN_END } from '#memory';
import { erasedText } from '../facts.ts';
import { idStart, ROWS } from './facts/fact-rows.ts';
import { isText, TEXT_OF_ROW } from './facts/fact-texts.ts';
import { type HashedTable, prepareUnindexed } from './ledger/hash-index.ts';
import { schemaFaults } from './schema/check-schema.ts';

/** The maximum number of SQLite's own findings, and of named partitions of facts. */
const FINDINGS_MAX = 20;

const ANEW = '; rebuild them: assize memory rebuild';

/**
 * The faults of the file, and rows that no reference leads to: without trajectory, entry,
 * transaction, partition or usable name.
 *
 * For facts the check also reports these differences:
 * - partitions that differ from their rows;
 * - texts that differ from the facts;
 * - index entries that differ from the texts;
 * - vectors that cannot be compared.
 */
export function prepareSelfCheck(db: DatabaseSync): () => string[] {
  const begin = db.prepare('BEGIN');
  const end = db.prepare('ROLLBACK');
  const fresh = db.prepare('SELECT rowid FROM fact_words LIMIT 1');
  const integrity = db.prepare(`PRAGMA integrity_check(${FINDINGS_MAX})`);
  const findings = (): readonly Record<string, unknown>[] => {
    begin.run();
    try {
      // FTS5 caches its pages until the next search, and would detect writes of other connections.
      fresh.get();
      return integrity.all();
    } finally {
      if (db.isTransaction) end.run();
    }
  };
  const homeless = db.prepare(
    'SELECT count(*) AS n FROM entry WHERE trajectory NOT IN (SELECT key FROM trajectory)',
  );
  const empty = db.prepare(
    'SELECT count(*) AS n FROM trajectory WHERE key NOT IN (SELECT trajectory FROM entry)',
  );
  const unnameable = db.prepare(
    "SELECT count(*) AS n FROM trajectory WHERE instr(CAST(name AS BLOB), x'00') > 0",
  );
  const unbegun = (table: string): string =>
    `SELECT count(*) AS n FROM ${table} WHERE epoch NOT IN (SELECT epoch FROM effect_transaction)`;
  const records = db.prepare(unbegun('effect_record'));
  const keys = db.prepare(unbegun('effect_key'));
  const unlogged = db.prepare(`SELECT count(*) AS n FROM effect_key AS k WHERE
    NOT EXISTS (SELECT 1 FROM effect_record AS r WHERE r.epoch = k.epoch AND instr(r.record, lower(hex(k.key))) > 0)
    AND NOT EXISTS (SELECT 1 FROM effect_transaction AS t WHERE t.epoch = k.epoch AND instr(t.first, lower(hex(k.key))) > 0)`);
  const unanswered = db.prepare(
    'SELECT count(*) AS n FROM oracle_within WHERE key NOT IN (SELECT key FROM oracle)',
  );
  const texts = db.prepare(`SELECT lower(hex(hash)) AS hash, text FROM blob WHERE erased_by IS NULL
    AND NOT (text GLOB '@[0-9]*.[0-9]*' AND EXISTS (SELECT 1 FROM archive_file
      WHERE state = 'live' AND part = 'blobs' AND segment = CAST(substr(text, 2) AS INTEGER)))`);
  const changedTexts = (): number => {
    let changed = 0;
    for (const { hash, text } of texts.iterate()) if (hashText(text as string) !== hash) changed++;
    return changed;
  };
  const unerased =
    db.prepare(`SELECT (SELECT count(*) FROM blob WHERE erased_by IS NOT NULL AND text <> '')
    + (SELECT count(*) FROM oracle WHERE erased_by IS NOT NULL AND answer <> '') AS n`);
  const uncountedErasures = db.prepare(`SELECT abs(count(*) - 1) + coalesce(sum(erasures = 0 AND (
    EXISTS (SELECT 1 FROM blob WHERE erased_by IS NOT NULL) OR EXISTS (SELECT 1 FROM oracle WHERE erased_by IS NOT NULL))), 0) AS n FROM scrub`);
  const open = db.prepare(unbegun('effect_open'));
  const gaps = db.prepare(`SELECT count(*) AS n FROM
    (SELECT r.epoch FROM effect_record AS r LEFT JOIN effect_transaction AS t ON t.epoch = r.epoch
      GROUP BY r.epoch HAVING count(*) + (t.first IS NOT NULL) <> max(r.place) + 1)`);
  const fences = db.prepare('SELECT abs(count(*) - 1) AS n FROM effect_tenure');
  const gone = db.prepare(
    'SELECT count(*) AS n FROM log WHERE entry NOT IN (SELECT position FROM entry)',
  );
  // `unlogged` only reads after the last logged entry. An earlier entry without a position would
  // never be logged.
  const unplaced = db.prepare(`SELECT count(*) AS n FROM entry
    WHERE position <= (SELECT coalesce(max(entry), 0) FROM log) AND position NOT IN (SELECT entry FROM log)`);
  const unowned = (table: string): string =>
    `SELECT count(*) AS n FROM ${table} WHERE key NOT IN (SELECT key FROM fact_partition)`;
  const unindexed: readonly (readonly [HashedTable, () => number])[] = [
    ['entry', prepareUnindexed(db, 'entry')],
    ['blob', prepareUnindexed(db, 'blob')],
  ];
  const doubled = db.prepare(
    'SELECT count(*) AS n FROM (SELECT 1 FROM blob GROUP BY hash HAVING count(*) > 1)',
  );
  const facts = db.prepare(unowned('fact'));
  const versions = db.prepare(unowned('fact_version'));
  // Looks each row up: a FULL JOIN has no index, and compares all pairs.
  const unequal =
    db.prepare(`SELECT count(*) + (SELECT count(*) FROM fact_version) - 2 * coalesce(sum(known), 0) AS n
    FROM (SELECT EXISTS (SELECT 1 FROM fact_version AS v
        WHERE v.system_start = f.system_start AND v.fact_id = f.fact_id AND v.key = f.key) AS known
      FROM (SELECT DISTINCT system_start, fact_id, key FROM fact) AS f)`);
  const repeated =
    db.prepare(`SELECT count(*) - (SELECT count(*) FROM (SELECT DISTINCT system_start, fact_id, key FROM fact)) AS n
    FROM fact`);
  const misplaced = db.prepare(`SELECT
    (SELECT count(*) FROM fact_object WHERE id NOT IN (SELECT long FROM fact WHERE long IS NOT NULL))
    + (SELECT count(*) FROM fact WHERE long IS NOT NULL AND long NOT IN (SELECT id FROM fact_object)) AS n`);
  const unended =
    db.prepare(`SELECT (SELECT count(*) FROM fact) + (SELECT count(*) FROM fact_time) - 2 *
    (SELECT count(DISTINCT e.n) FROM fact_time AS e JOIN fact AS f ON f.n = e.n
      WHERE f.key = e.key AND f.audit = e.audit AND f.valid_from = e.valid_from AND ${idStart('f.fact_id')} = e.id_start) AS n`);
  // The value as readers derive it, from the partition's row and the open rows.
  const last = (stored: string, open: string): string =>
    `max(${stored}, coalesce(max(${open}) FILTER (WHERE e.audit = 0 AND e.system_end = '${OPEN_END}'), ${stored}))`;
  const unfit = db.prepare(`SELECT json_array(p.space, p.subject, p.predicate) AS name
    FROM fact_partition AS p JOIN fact_time AS e ON e.key = p.key JOIN fact AS f ON f.n = e.n
    GROUP BY p.key
    HAVING max(f.seq) > ${last('p.version', 'f.seq')} OR max(f.system_start) > ${last('p.latest', 'f.system_start')}
      OR max(nullif(e.system_end, '${OPEN_END}')) > ${last('p.latest', 'f.system_start')} OR max(f.single = 0) > p.several
    LIMIT ${FINDINGS_MAX}`);
  const overlapping = prepareOverlapping(db);
  const unwritten = db.prepare(
    'SELECT count(*) AS n FROM fact_text WHERE key NOT IN (SELECT key FROM fact_partition)',
  );
  const miscounted = db.prepare(`SELECT
    (SELECT count(*) FROM fact_text_space AS s LEFT JOIN
      (SELECT space, count(*) AS texts, sum(words) AS words FROM fact_text GROUP BY space) AS t ON t.space = s.space
      WHERE s.texts IS NOT t.texts OR s.words IS NOT t.words)
    + (SELECT count(DISTINCT space) FROM fact_text WHERE space NOT IN (SELECT space FROM fact_text_space)) AS n`);
  const wordless = db.prepare(
    'SELECT abs((SELECT count(*) FROM fact_text) - (SELECT count(*) FROM fact_words)) AS n',
  );
  const textless = db.prepare(
    'SELECT count(*) AS n FROM fact_vector WHERE text NOT IN (SELECT id FROM fact_text)',
  );
  const uncounted =
    db.prepare(`SELECT count(*) AS n FROM fact_text AS t JOIN fact_words AS w ON w.rowid = t.id
    WHERE w.key IS NOT t.key OR w.length IS NOT t.words
      OR length(w.words) - length(replace(w.words, ' ', '')) - 1 IS NOT t.words`);
  const isErased = (column: string): string =>
    `(${column} GLOB '{"$erased":"[0-9a-f]*"}' AND length(${column}) = ${erasedText('0'.repeat(64)).length})`;
  // During a rebuild of the facts, texts follow later.
  const unfound =
    db.prepare(`SELECT count(*) AS n FROM fact AS f JOIN fact_partition AS p ON p.key = f.key
    WHERE f.object <> '{"$erased":"' || lower(hex(f.content)) || '"}' AND NOT ${isErased('p.subject')} AND f.key NOT IN (SELECT key FROM fact_text_queue)
      AND EXISTS (SELECT 1 FROM fact_rebuild WHERE whole = 1) AND NOT EXISTS
        (SELECT 1 FROM fact_text AS t WHERE ${isText('t', TEXT_OF_ROW)})`);
  // One set operation: separate lookups would each scan their whole partition.
  const unsaid =
    db.prepare(`SELECT count(*) AS n FROM fact_text AS t WHERE (t.key, t.content, t.audit, t.day) NOT IN
    (SELECT f.key, f.content, f.audit, ${TEXT_OF_ROW.day} FROM fact AS f)`);
  const twice = db.prepare(`SELECT count(*) AS n FROM
    (SELECT 1 FROM fact_text GROUP BY key, content, audit, day HAVING count(*) > 1)`);
  const elsewhere =
    db.prepare(`SELECT count(*) AS n FROM fact_text AS t JOIN fact_partition AS p ON p.key = t.key
    WHERE NOT EXISTS (SELECT 1 FROM fact_text_space AS s WHERE s.space = t.space AND s.name = p.space)`);
  const uneven =
    db.prepare(`SELECT count(*) AS n FROM fact_vector AS v LEFT JOIN fact_embedder AS e ON e.embedder = v.embedder
    WHERE length(v.vector) IS NOT 4 * e.dimensions`);
  const unscrubbed = db.prepare('SELECT erasures - cut AS n FROM scrub');
  const partial = db.prepare('SELECT 1 - coalesce(sum(whole), 0) AS n FROM fact_rebuild');
  const named = (rows: readonly Record<string, unknown>[], what: string): string[] =>
    rows.map(({ name }) => `the facts of ${name} ${what}`);
  return () => [
    ...schemaFaults(db).map((fault) => `${fault}; undo the change, or restore a backup`),
    ...findings()
      .map((row) => String(row['integrity_check']))
      .filter((finding) => finding !== 'ok')
      .map((finding) => `SQLite says of the file: ${finding}`),
    ...counted(homeless.get(), (n) => `${n} entries belong to no trajectory`),
    ...counted(empty.get(), (n) => `${n} trajectories have a name and no entries`),
    ...counted(
      unnameable.get(),
      (n) => `${n} trajectories have a NUL in their name, so no call can read them`,
    ),
    ...counted(gone.get(), (n) => `${n} positions of the log have lost their entries`),
    ...counted(
      unplaced.get(),
      (n) => `${n} entries have no position in the log, and cannot get one`,
    ),
    ...counted(doubled.get(), (n) => `${n} hashes have more than one blob`),
    ...unindexed.flatMap(([table, count]) =>
      counted(
        { n: count() },
        (n) => `${n} rows of the table ${table} are not found by their hashes`,
      ),
    ),
    ...counted(records.get(), (n) => `${n} records of the effect log belong to no transaction`),
    ...counted(gaps.get(), (n) => `${n} transactions have gaps in the effect log`),
    ...counted(keys.get(), (n) => `${n} keys of effects belong to no transaction`),
    ...counted(unlogged.get(), (n) => `${n} keys of effects are in no record of their transaction`),
    ...counted(unanswered.get(), (n) => `${n} listed oracle answers do not exist`),
    ...counted({ n: changedTexts() }, (n) => `${n} texts do not have their hash`),
    ...counted(unerased.get(), (n) => `${n} texts are marked as erased and still there`),
    ...counted(
      uncountedErasures.get(),
      () => 'the counters of erasures are missing, or do not count the erasures',
    ),
    ...counted(open.get(), (n) => `${n} transactions are open but do not exist`),
    ...counted(fences.get(), (n) => `${n} fences are missing or too many`),
    ...counted(facts.get(), (n) => `${n} facts belong to no partition`),
    ...counted(versions.get(), (n) => `${n} versions of facts belong to no partition`),
    ...counted(unequal.get(), (n) => `${n} versions of facts are at a wrong position`),
    ...counted(repeated.get(), (n) => `${n} facts are stored more than once${ANEW}`),
    ...counted(misplaced.get(), (n) => `${n} long objects belong to no fact, or are missing`),
    ...counted(
      unended.get(),
      (n) => `${n} facts are missing in the index of ends, or ends belong to no fact${ANEW}`,
    ),
    ...named(unfit.all(), 'do not fit the version or the latest change of their partition'),
    ...named(overlapping(), 'overlap, although the predicate is single-valued'),
    ...counted(unwritten.get(), (n) => `${n} texts of facts belong to no partition`),
    ...counted(miscounted.get(), (n) => `${n} spaces have a wrong text count`),
    ...counted(
      wordless.get(),
      (n) => `${n} texts of facts are not indexed, or indexed texts are missing`,
    ),
    ...counted(uncounted.get(), (n) => `${n} texts of facts have a wrong word count`),
    ...counted(unfound.get(), (n) => `${n} facts have no search text${ANEW}`),
    ...counted(unsaid.get(), (n) => `${n} texts belong to no fact${ANEW}`),
    ...counted(twice.get(), (n) => `${n} texts are stored more than once${ANEW}`),
    ...counted(elsewhere.get(), (n) => `${n} texts of facts are indexed in a wrong space${ANEW}`),
    ...counted(textless.get(), (n) => `${n} vectors belong to no text`),
    ...counted(
      uneven.get(),
      (n) => `${n} vectors have no embedder, or other dimensions than their embedder${ANEW}`,
    ),
    ...counted(
      unscrubbed.get(),
      (n) =>
        `bytes of ${n} erasures may still be in the file or its WAL; open the store for writing, with free space for a copy of the file`,
    ),
    ...counted(
      partial.get(),
      () => 'the facts are incomplete; rebuild them: assize memory rebuild',
    ),
  ];
}

/** The single-valued partitions with overlapping current facts, as JSON. */
function prepareOverlapping(db: DatabaseSync): () => readonly Record<string, unknown>[] {
  const overlapping =
    db.prepare(`SELECT DISTINCT json_array(p.space, p.subject, p.predicate) AS name FROM
    (SELECT e.key, f.valid_to, lead(f.valid_from) OVER (PARTITION BY e.key ORDER BY f.valid_from) AS next
      FROM ${ROWS} WHERE e.audit = 0 AND e.system_end = '${OPEN_END}' AND f.single = 1) AS f
    JOIN fact_partition AS p ON p.key = f.key WHERE f.next < f.valid_to LIMIT ${FINDINGS_MAX}`);
  return () => overlapping.all();
}

function counted(row: Record<string, unknown> | undefined, say: (n: number) => string): string[] {
  const n = row?.['n'] as number;
  return n === 0 ? [] : [say(n)];
}
