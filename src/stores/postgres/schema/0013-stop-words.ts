/**
 * Texts with a subject, predicate or object that has only words which stand everywhere are found by those. The tables stay as they are:
 * only the program can make the words, and adds them in the same transaction (`addStopWords`).
 */
export const stopWords: string = `
COMMENT ON COLUMN fact_text.words IS 'the words that a text is found by, also of parts that have only such as stand everywhere';
`;
