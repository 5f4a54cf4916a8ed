import type { EntryRow, Hash } from '#ledger';
import type { Conclusion } from './terms.ts';

/** The part of an open child trajectory that its parent acts on. */
export interface ChildTrajectory {
  readonly delegations: {
    /** Records the final answer of the child. */
    answer(conclusion: Conclusion): Promise<EntryRow>;
  };
  /** @internal */
  readonly writs: {
    /** Records a revocation of the parent in the child. */
    adopt(entryId: Hash): Promise<unknown>;
  };
  /**
   * Records a halt or a resume of the parent in the child.
   *
   * @internal
   */
  adoptHalt(entryId: Hash): Promise<void>;
}

/**
 * The children of a trajectory, and the effects that have to be recorded before a child answers.
 */
export interface Children<Child extends ChildTrajectory = ChildTrajectory> {
  open(trajectoryId: string): Promise<Child>;
  /** Resolves when the ledger has the outcome of every effect that has ended. */
  effectsSettled(): Promise<void>;
}
