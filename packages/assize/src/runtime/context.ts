import type { Hash } from '#ledger';
import type { Embedder } from '#memory';
import type { BeliefPlanner } from './memory/plan/plan-beliefs.ts';
import type { TransactionEngines } from './transactions/engine/engines.ts';
import type { TrajectoryState, WriterContext } from './writer/ports.ts';

/** The services that the trajectories of one runtime share. */
export interface TrajectoryContext extends WriterContext {
  /** Memory; undefined where the store keeps no facts. */
  readonly beliefs: BeliefPlanner | undefined;
  /** The tool transactions; undefined where the runtime has no tools. */
  readonly effects: TransactionEngines | undefined;
  readonly embedder: Embedder | undefined;
  /**
   * The parts of a trajectory as of an entry, for one caller. @throws RuntimeError `not_found`,
   * `domain_mismatch`, `invalid_ledger`
   */
  partsAt(trajectoryId: string, entryId: Hash): Promise<TrajectoryState>;
  /** Called after each append to a trajectory, once it is durable. */
  entriesAdded(trajectoryId: string): void;
}
