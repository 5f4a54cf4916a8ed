import type { LogRecord, Tool } from '#effects';
import type { Hash } from '#ledger';
import type { Pause, Random } from '#oracle';
import type { Coordination } from '../coordination/coordination.ts';
import type { InFlight } from '../limits/in-flight.ts';

/** The ports of calls. */
export interface ToolCallPorts {
  readonly coordination: Coordination;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly random: Random;
  readonly pause: Pause;
  /** Maximum milliseconds before the answer of a call counts as lost. */
  readonly callTimeoutMs: number;
  /**
   * Total milliseconds that a transaction may spend on calls without an answer and on pauses
   * between attempts.
   */
  readonly callBudgetMs: number;
  /** Attempts of one effect that may fail or be lost before the effect is marked unresolved. */
  readonly maxAttempts: number;
  /** The text of a blob. Undefined if it was erased. */
  readonly blob: (hash: Hash) => Promise<string | undefined>;
  readonly inFlight: InFlight;
  /** Aborted with the reason when this process stops the recovery of abandoned transactions. */
  readonly leaving: AbortSignal;
}

/** Marks an effect unresolved. */
export type MarkUnresolved = (
  n: number,
  record: LogRecord & { readonly is: 'in_doubt' | 'unresolved' },
) => Promise<void>;
