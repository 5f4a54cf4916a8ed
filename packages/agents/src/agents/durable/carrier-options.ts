import type { Domain } from 'assize/internal/kernel';
import type { LedgerStore, LogStore, SideStore } from 'assize/internal/ledger';
import type { Clock, OracleStore, Random } from 'assize/internal/oracle';
import type { Assize, Trajectory } from 'assize/internal/runtime';
import type { Followable } from 'assize/internal/stores';
import type { Agent } from '../agent.ts';
import type { CompletedTurn } from '../run.ts';
import type { DurableRun } from './durable-run.ts';

/** The code of the agents of durable runs, under the name that their records have. */
export interface DurableAgents {
  readonly name: string;
  /** Identifies the version of the code, such as a hash. The record of a run lists the versions. */
  readonly version: string;
  /** The domain that the trajectory must have. Default: any domain of the runtime. */
  readonly domain?: Domain;
  /** The agents, or a function that makes them for a trajectory. */
  readonly agents:
    | readonly Agent[]
    | ((given: RunGiven) => readonly Agent[] | Promise<readonly Agent[]>);
}

/** The argument of a function that makes agents. */
export interface RunGiven {
  readonly trajectory: Trajectory;
  /** Aborted when the run must stop. */
  readonly signal: AbortSignal;
}

/** The store of durable runs: every store of this package is one. */
export type RunStore = LedgerStore & LogStore & OracleStore & SideStore & Partial<Followable>;

export interface CarrierOptions {
  readonly store: RunStore;
  /** The runtime over the store. Its tools make the calls of the runs. */
  readonly assize: Assize;
  readonly agents: readonly DurableAgents[];
  /** The names of the tools of the runtime. A run that made calls ends after their outcomes. */
  readonly tools?: readonly string[];
  /**
   * Milliseconds for which a process has a run without renewal. After that, another process takes
   * it. Default: 15,000.
   */
  readonly leaseMs?: number;
  /** Failures in a row after which a run is `failed`. Default: 8. */
  readonly attempts?: number;
  /** The wait after the first failure. It doubles. Default: 1,000. */
  readonly backoffMs?: number;
  /** The longest wait after a failure. Default: 300,000. */
  readonly backoffMaxMs?: number;
  /** Turns after which a run goes to the end of its tenant's queue. Default: 50. */
  readonly turnsAtOnce?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly onTurn?: (run: DurableRun, turn: CompletedTurn) => void;
  /** Told of an error of a run, with the run as it is recorded after the error. */
  readonly onFailure?: (error: unknown, run?: DurableRun) => void;
}
