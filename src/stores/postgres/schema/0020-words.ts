/**
 * Words of other scripts are made otherwise: texts that have such are found by the words that are looked for now. The tables stay as they are:
 * only the program can make the words, and does so in the same transaction (`wordsAnew`).
 */
export const words: string = `
COMMENT ON COLUMN fact_text.words IS 'the words that a text is found by, in whatever script: without accents, points and what is not seen';
`;
