/**
 * What facts are found by. A text is of a claim and not of a version: (key, content, audit, day) says which, and whatever is closed,
 * left over or widened leaves it alone.
 *
 * `fact_words` is FTS5 over words that the program has made of texts (`wordsOf`), each with the number of its space before it: so no
 * tenant's search walks another's texts, and none counts in another's ranking. Words of a deleted text are taken out of its pages
 * ('secure-delete'), which `PRAGMA secure_delete` alone does not do. Scores need no positions, which `detail=none` spares.
 *
 * `fact_text_queue` has the changes whose texts are not indexed yet, in the order of commits, and nothing of what they say.
 *
 * Vectors have a length of one, so that a cosine is a sum of products.
 */
export const texts = `
CREATE TABLE fact_text_queue (
  n INTEGER PRIMARY KEY,
  key INTEGER NOT NULL,
  system_start TEXT NOT NULL
) STRICT;

INSERT INTO fact_text_queue (key, system_start)
SELECT DISTINCT key, system_start FROM fact ORDER BY system_start, key;

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
  words INTEGER NOT NULL CHECK (words >= 0),
  UNIQUE (key, content, audit, day)
) STRICT;

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

/** Takes away all of it; what is believed stays. */
export const noTexts = `
DROP TABLE fact_word;
DROP TABLE fact_words;
DROP TABLE fact_text;
DROP TABLE fact_text_space;
DROP TABLE fact_text_queue;
DROP TABLE fact_embedder;
DROP TABLE fact_vector;
`;
