/**
 * Optimistic parallel adjudication: what `apply` does and what rules say of it is found out in other threads, ahead of a
 * proposal's turn, and taken in its turn as far as nothing that it depends on has changed since.
 *
 * Guarantees: rulings, entries and states are those of judging one after the other, in the order of arrival; a thread that
 * dies or hangs loses nothing. Authority, policy and budgets are asked in the proposal's turn. Never: a ruling, a hash or an
 * append in another thread.
 */
export { Foresight, type Turn } from './foresight.ts';
export { Hands, type ParallelOptions } from './hands.ts';
export type { FromThread, ToThread } from './replica.ts';
export { Replicas } from './replica.ts';
export type { Thread, ThreadTask } from './thread.ts';
