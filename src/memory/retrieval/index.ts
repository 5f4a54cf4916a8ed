/** What facts are found by, and who comes first: the same words and the same scores in every store. */
export { Bm25, type Collection, OCCURRENCES_MAX, rounded, type Sought } from './bm25.ts';
export { dayOf, documentOf, wordsOfDocument } from './document.ts';
export type { Embedder } from './embedder.ts';
export { fuse } from './fuse.ts';
export { everyWordOf, forgetWords, wordsOf } from './words.ts';
