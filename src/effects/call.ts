import type { Json } from '#base';

/** What a tool is told of the call that it is to make. */
export interface Call {
  /** Of the effect, to be handed on to the sink; the same whenever the same effect is called again. */
  readonly key: string;
  /**
   * Aborted when the call may take no longer: whoever waits for it goes on then. A tool that has not begun, as it waits for its turn or a
   * connection, throws `DidNothing` as soon as it is: within that turn of the loop it counts, and nobody takes it for in doubt.
   */
  readonly signal: AbortSignal;
  /**
   * Of the transaction. Once a later one acts at a resource, what earlier ones did there is for good: nobody asks for it, or undoes
   * it, any more. That is so within one store: epochs of two say nothing of each other, so that what keeps books by epoch serves one.
   */
  readonly epoch?: number;
}

/** How far an effect was undone. */
export type Undone =
  | { readonly undone: 'all' }
  /** What could not be taken back, in words for people and as data. */
  | { readonly undone: 'partly'; readonly residue: Json };
