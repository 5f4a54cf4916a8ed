/**
 * Texts with a subject, predicate or object that has only words which stand everywhere are found by those: their words are added to what
 * is indexed. `stop_words_of` is the program's; it gives them as they are stored, and nothing where there are none.
 */
export const stopWords: string = `
CREATE TEMP TABLE added AS
SELECT t.id, t.space, stop_words_of(t.space, p.subject, p.predicate,
  (SELECT CASE WHEN f.long IS NULL THEN f.object ELSE (SELECT o.text FROM fact_object AS o WHERE o.id = f.long) END
    FROM fact AS f WHERE f.key = t.key AND f.audit = t.audit AND f.content = t.content LIMIT 1), t.audit) AS words
FROM fact_text AS t JOIN fact_partition AS p ON p.key = t.key;

DELETE FROM temp.added WHERE words = '';

UPDATE fact_words SET words = fact_words.words || a.words, length = fact_words.length + length(a.words) - length(replace(a.words, ' ', ''))
FROM temp.added AS a WHERE fact_words.rowid = a.id;

UPDATE fact_text SET words = fact_text.words + length(a.words) - length(replace(a.words, ' ', ''))
FROM temp.added AS a WHERE fact_text.id = a.id;

UPDATE fact_text_space SET words = (SELECT sum(t.words) FROM fact_text AS t WHERE t.space = fact_text_space.space)
WHERE space IN (SELECT space FROM temp.added);

DROP TABLE temp.added;
`;
