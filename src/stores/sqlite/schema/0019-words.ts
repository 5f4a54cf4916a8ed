import { OPEN_START } from '#memory';
import { isText } from './0017-texts-by-partition.ts';

/** What a text is called that a row `f` is found by. */
export const TEXT_OF_ROW = {
  key: 'f.key',
  content: 'f.content',
  audit: 'f.audit',
  day: `CASE f.asserted_from WHEN '${OPEN_START}' THEN '' ELSE substr(f.asserted_from, 1, 10) END`,
} as const;

/**
 * Words of other scripts are made otherwise: texts that have such are found by the words that are looked for now. All rows of a text say the
 * same, and one of each is read. `words_anew` is the program's; it gives words as they are stored, and nothing where they are as they were.
 * Texts keep their numbers, and with them their vectors.
 */
export const words: string = `
CREATE TEMP TABLE said AS
SELECT t.id, min(f.n) AS n FROM fact AS f CROSS JOIN fact_text AS t ON ${isText('t', TEXT_OF_ROW)} GROUP BY t.id;

CREATE TEMP TABLE made AS
SELECT t.id, t.space, words_anew(w.words, t.space, p.subject, p.predicate,
  CASE WHEN f.long IS NULL THEN f.object ELSE (SELECT o.text FROM fact_object AS o WHERE o.id = f.long) END, t.day, t.audit) AS words
FROM temp.said AS x CROSS JOIN fact AS f ON f.n = x.n CROSS JOIN fact_text AS t ON t.id = x.id
CROSS JOIN fact_words AS w ON w.rowid = t.id CROSS JOIN fact_partition AS p ON p.key = t.key;

DELETE FROM temp.made WHERE words IS NULL;

UPDATE fact_words SET words = m.words, length = length(m.words) - length(replace(m.words, ' ', '')) - 1
FROM temp.made AS m WHERE fact_words.rowid = m.id;

UPDATE fact_text SET words = length(m.words) - length(replace(m.words, ' ', '')) - 1
FROM temp.made AS m WHERE fact_text.id = m.id;

UPDATE fact_text_space SET words = (SELECT sum(t.words) FROM fact_text AS t WHERE t.space = fact_text_space.space)
WHERE space IN (SELECT space FROM temp.made);

DROP TABLE temp.made;
DROP TABLE temp.said;
`;
