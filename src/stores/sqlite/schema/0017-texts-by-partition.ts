/** What of a text stands in the index: hardly ever have two of one partition the same, and a whole name would be four times as long. */
const contentStart = (content: string): string => `substr(${content}, 1, 2)`;
const dayNumber = (day: string): string => `unixepoch(${day}) / 86400`;

/** By what a text is found; each is an expression in SQL. */
type TextName = { readonly [column in 'key' | 'content' | 'audit' | 'day']: string };

/** The row `t` of `fact_text` has that name; by the index. */
export function isText(t: string, { key, content, audit, day }: TextName): string {
  return `${t}.key = ${key} AND ${contentStart(`${t}.content`)} = ${contentStart(content)}
    AND ${dayNumber(`${t}.day`)} IS ${dayNumber(day)} AND ${t}.content = ${content} AND ${t}.audit = ${audit} AND ${t}.day = ${day}`;
}

const table = (name: string): string => `CREATE TABLE ${name} (
  id INTEGER PRIMARY KEY,
  key INTEGER NOT NULL,
  content BLOB NOT NULL CHECK (length(content) = 32),
  audit INTEGER NOT NULL CHECK (audit IN (0, 1)),
  day TEXT NOT NULL,
  space INTEGER NOT NULL,
  words INTEGER NOT NULL CHECK (words >= 0)
) STRICT;`;

const INDEX = `CREATE INDEX fact_text_name ON fact_text (key, ${contentStart('content')}, ${dayNumber('day')});`;

/**
 * Texts are found by their partition and by a few bytes of what tells them apart; that none is there twice is seen to by the writer, the
 * only one at a time. An index of whole names was a third of all that a contradiction wrote: it had four times as many pages, and
 * nearly every change dirtied one of its own.
 */
export const textsByPartition: string = `
${table('fact_text_0017')}

INSERT INTO fact_text_0017 (id, key, content, audit, day, space, words)
SELECT id, key, content, audit, day, space, words FROM fact_text ORDER BY id;

DROP TABLE fact_text;
ALTER TABLE fact_text_0017 RENAME TO fact_text;
${INDEX}
`;

/** The same where there is no text, and nothing is renamed: outside of a migration, views that others have made would refuse that. */
export const noTextsByPartition: string = `DROP TABLE fact_text; ${table('fact_text')} ${INDEX}`;
