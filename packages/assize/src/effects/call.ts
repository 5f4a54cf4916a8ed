import type { Json } from '#base';

/** The context that a tool receives with a call. */
export interface CallContext {
  /**
   * The effect's idempotency key, to be passed to the sink. Every retry of the same effect has the
   * same key.
   */
  readonly key: string;
  /**
   * Aborted when the call's time limit ends; the caller then stops waiting. A tool that has not
   * started, because it waits for a lock or a connection, must throw `DidNothing` immediately. If
   * it does so within the same turn of the event loop, the effect is not in doubt.
   */
  readonly signal: AbortSignal;
  /**
   * The epoch of the transaction. After a later transaction acts on a resource, earlier effects on
   * that resource are final: the runtime neither queries nor compensates them. Epochs are
   * comparable within one store only, so a sink that keeps records by epoch must serve one store.
   */
  readonly epoch?: number;
}

/** The extent of a compensation. */
export type CompensationResult =
  | { readonly undone: 'all' }
  /** The residue that could not be reverted, as text for humans and as data. */
  | { readonly undone: 'partly'; readonly residue: Json };
