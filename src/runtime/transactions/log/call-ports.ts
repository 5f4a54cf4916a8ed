import type { LogRecord, Tool } from '#effects';
import type { Hash } from '#ledger';
import type { Pause, Random } from '#oracle';
import type { Coordination } from '../coordination/coordination.ts';
import type { InFlight } from '../limits/in-flight.ts';

/** What calls are made with. */
export interface CallPorts {
  readonly coordination: Coordination;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly random: Random;
  readonly pause: Pause;
  /** Milliseconds after which the answer to a call is taken for lost, at most. */
  readonly callMs: number;
  /** Milliseconds that calls of a transaction may take for nothing, and pauses between them, in all. */
  readonly patienceMs: number;
  /** Calls of one effect that may fail, or be lost, before it is left to a person. */
  readonly tries: number;
  /** The text of a blob; undefined where it was erased. */
  readonly blob: (hash: Hash) => Promise<string | undefined>;
  readonly inFlight: InFlight;
  /** Aborted, with why, when what earlier processes have left is gone on with no further here. */
  readonly leaving: AbortSignal;
}

/** Says that an effect waits for a person. */
export type Leave = (n: number, record: LogRecord & { readonly is: 'in_doubt' | 'unresolved' }) => Promise<void>;
