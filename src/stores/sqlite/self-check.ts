import type { DatabaseSync } from 'node:sqlite';

/** Most findings of SQLite itself. */
const FINDINGS_MAX = 20;

/** What is wrong with the file, and rows that nothing leads to: no trajectory, no entry, no transaction, no name that could be asked for. */
export function prepareSelfCheck(db: DatabaseSync): () => string[] {
  const integrity = db.prepare(`PRAGMA integrity_check(${FINDINGS_MAX})`);
  const homeless = db.prepare('SELECT count(*) AS n FROM entry WHERE trajectory NOT IN (SELECT key FROM trajectory)');
  const empty = db.prepare('SELECT count(*) AS n FROM trajectory WHERE key NOT IN (SELECT trajectory FROM entry)');
  const unnameable = db.prepare("SELECT count(*) AS n FROM trajectory WHERE instr(CAST(name AS BLOB), x'00') > 0");
  const unbegun = (table: string): string =>
    `SELECT count(*) AS n FROM ${table} WHERE epoch NOT IN (SELECT epoch FROM effect_transaction)`;
  const records = db.prepare(unbegun('effect_record'));
  const keys = db.prepare(unbegun('effect_key'));
  const open = db.prepare(unbegun('effect_open'));
  const gaps = db.prepare(`SELECT count(*) AS n FROM
    (SELECT r.epoch FROM effect_record AS r LEFT JOIN effect_transaction AS t ON t.epoch = r.epoch
      GROUP BY r.epoch HAVING count(*) + (t.first IS NOT NULL) <> max(r.place) + 1)`);
  const fences = db.prepare('SELECT abs(count(*) - 1) AS n FROM effect_tenure');
  const gone = db.prepare('SELECT count(*) AS n FROM log WHERE entry NOT IN (SELECT position FROM entry)');
  return () => [
    ...integrity
      .all()
      .map((row) => String(row['integrity_check']))
      .filter((finding) => finding !== 'ok')
      .map((finding) => `SQLite says of the file: ${finding}`),
    ...counted(homeless.get(), (n) => `${n} entries belong to no trajectory`),
    ...counted(empty.get(), (n) => `${n} trajectories have a name and no entries`),
    ...counted(unnameable.get(), (n) => `${n} trajectories have a name with a NUL, which nobody can ask for`),
    ...counted(gone.get(), (n) => `${n} places of the log have lost their entries`),
    ...counted(records.get(), (n) => `${n} records of the effect log belong to no transaction`),
    ...counted(gaps.get(), (n) => `${n} transactions have gaps in the effect log`),
    ...counted(keys.get(), (n) => `${n} keys of effects belong to no transaction`),
    ...counted(open.get(), (n) => `${n} transactions are open and were never begun`),
    ...counted(fences.get(), (n) => `${n} fences are missing or too many`),
  ];
}

function counted(row: Record<string, unknown> | undefined, say: (n: number) => string): string[] {
  const n = row?.['n'] as number;
  return n === 0 ? [] : [say(n)];
}
