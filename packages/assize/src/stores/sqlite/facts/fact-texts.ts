import { OPEN_START } from '#memory';

/** The columns that name a text; each is an SQL expression. */
type TextName = { readonly [column in 'key' | 'content' | 'audit' | 'day']: string };

/** The name of the text of a row `f` of `fact`. */
export const TEXT_OF_ROW: TextName = {
  key: 'f.key',
  content: 'f.content',
  audit: 'f.audit',
  day: `CASE f.asserted_from WHEN '${OPEN_START}' THEN '' ELSE substr(f.asserted_from, 1, 10) END`,
};

// The expressions of the index `fact_text_name`. The index has two bytes of `content`, because two
// texts of one partition hardly ever share them. A whole name would be four times as long.
const contentStart = (content: string): string => `substr(${content}, 1, 2)`;
const dayNumber = (day: string): string => `unixepoch(${day}) / 86400`;

/** The condition that row `t` of `fact_text` has this name; SQLite evaluates it by the index. */
export function isText(t: string, { key, content, audit, day }: TextName): string {
  return `${t}.key = ${key} AND ${contentStart(`${t}.content`)} = ${contentStart(content)}
    AND ${dayNumber(`${t}.day`)} IS ${dayNumber(day)} AND ${t}.content = ${content} AND ${t}.audit = ${audit} AND ${t}.day = ${day}`;
}

/** Drops every table of texts and vectors, and creates the tables again as the schema has them. */
export const RESET_TEXTS: string = `
DROP TABLE fact_word;
DROP TABLE fact_words;
DROP TABLE fact_text;
DROP TABLE fact_text_space;
DROP TABLE fact_text_queue;
DROP TABLE fact_embedder;
DROP TABLE fact_vector;

CREATE TABLE fact_text_queue (
  n INTEGER PRIMARY KEY,
  key INTEGER NOT NULL,
  system_start TEXT NOT NULL
) STRICT;

CREATE TABLE fact_text_space (
  space INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  texts INTEGER NOT NULL CHECK (texts > 0),
  words INTEGER NOT NULL CHECK (words >= 0)
) STRICT;

CREATE TABLE fact_text (
  id INTEGER PRIMARY KEY,
  key INTEGER NOT NULL,
  content BLOB NOT NULL CHECK (length(content) = 32),
  audit INTEGER NOT NULL CHECK (audit IN (0, 1)),
  day TEXT NOT NULL,
  space INTEGER NOT NULL,
  words INTEGER NOT NULL CHECK (words >= 0)
) STRICT;

CREATE INDEX fact_text_name ON fact_text (key, ${contentStart('content')}, ${dayNumber('day')});

CREATE VIRTUAL TABLE fact_words USING fts5(
  words, key UNINDEXED, length UNINDEXED, tokenize = "ascii tokenchars '_-.'", detail = none, columnsize = 0
);

INSERT INTO fact_words (fact_words, rank) VALUES ('secure-delete', 1);

CREATE VIRTUAL TABLE fact_word USING fts5vocab(fact_words, row);

CREATE TABLE fact_embedder (
  embedder INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  dimensions INTEGER NOT NULL CHECK (dimensions > 0)
) STRICT;

CREATE TABLE fact_vector (
  text INTEGER NOT NULL,
  embedder INTEGER NOT NULL,
  vector BLOB NOT NULL,
  UNIQUE (text, embedder)
) STRICT;
`;
