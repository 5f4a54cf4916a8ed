/** The index words and the ranking of facts: identical words and scores in every store. */
export { Bm25, type Collection, OCCURRENCES_MAX, type QueryTerm, rounded } from './bm25.ts';
export { dayOf, documentOf, wordsOfDocument } from './document.ts';
export type { Embedder } from './embedder.ts';
export { fuse } from './fuse.ts';
export { NEARBY_WEIGHTS, type NearbyWeights, type Placed, rankNearby } from './nearby.ts';
export { everyWordOf, forgetWords, wordsOf } from './words.ts';
