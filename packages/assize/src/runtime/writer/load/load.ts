import { isInstance } from '#base';
import { LedgerFault, type LedgerStore, type Replayer } from '#ledger';
import { RuntimeError } from '../../errors.ts';
import type { ReplayBase } from '../ports.ts';
import { wrongSigner } from '../require-signer.ts';
import type { Snapshots } from '../snapshots/snapshots.ts';
import { type FoldedTrajectory, type FoldOptions, foldTrajectory } from './fold.ts';

/** A trajectory as the store has it, and the value made from it. The receiver may change both. */
export interface LoadedTrajectory<Made> {
  readonly folded: FoldedTrajectory;
  /** Number of erasures when the fold started. */
  readonly erasures: number | undefined;
  readonly result: Made;
}

/**
 * Reads trajectories from the store. Starts from a snapshot if one exists and agrees with the later
 * entries.
 */
export class TrajectoryLoader {
  readonly #store: Pick<LedgerStore, 'blob'>;
  readonly #replayer: Replayer;
  readonly #snapshots: Snapshots;

  constructor(store: Pick<LedgerStore, 'blob'>, replayer: Replayer, snapshots: Snapshots) {
    this.#store = store;
    this.#replayer = replayer;
    this.#snapshots = snapshots;
  }

  /**
   * If `make` throws, the snapshot may be the cause. @throws RuntimeError `not_found`,
   * `invalid_ledger`; the errors of `make`
   */
  async read<Made>(
    trajectoryId: string,
    make: (folded: FoldedTrajectory) => Made,
  ): Promise<LoadedTrajectory<Made>> {
    const erasures = await this.#snapshots.erasures(trajectoryId);
    const from = await this.#snapshots.find(trajectoryId);
    if (from === undefined) return this.#readFrom(trajectoryId, erasures, make);
    try {
      return await this.#readFrom(trajectoryId, erasures, make, { from });
    } catch (error) {
      // Only a read of all entries shows whether the snapshot alone is at fault.
      const read = await this.#readFrom(trajectoryId, erasures, make);
      this.#snapshots.refuse(trajectoryId, error);
      return read;
    }
  }

  /**
   * Reads the entries since an earlier fold, if that fold can be continued; otherwise same as
   * `read`. @throws the errors of `read`
   */
  async readOn(
    trajectoryId: string,
    before: ReplayBase | undefined,
    make: (folded: FoldedTrajectory) => unknown,
  ): Promise<ReplayBase> {
    // An erasure since the fold: erased values may be in the kept fold.
    const kept =
      before !== undefined && before.erasures === (await this.#snapshots.erasures(trajectoryId))
        ? before
        : undefined;
    const gone = kept && (await this.#continueFrom(kept));
    const { folded, erasures } =
      gone === undefined
        ? await this.read(trajectoryId, make)
        : { folded: gone, erasures: kept?.erasures };
    return { ...folded, erasures };
  }

  async #readFrom<Made>(
    trajectoryId: string,
    erasures: number | undefined,
    make: (folded: FoldedTrajectory) => Made,
    options: FoldOptions = {},
  ): Promise<LoadedTrajectory<Made>> {
    const folded = await valid(() =>
      foldTrajectory(trajectoryId, this.#replayer, this.#store, options),
    );
    return { folded, erasures, result: make(folded) };
  }

  /**
   * Undefined if the new entries do not follow the fold. All entries must then be read to find the
   * cause.
   */
  async #continueFrom(from: FoldedTrajectory): Promise<FoldedTrajectory | undefined> {
    try {
      return await foldTrajectory(from.chain.trajectoryId, this.#replayer, this.#store, { from });
    } catch (error) {
      if (isInstance(error, LedgerFault)) return undefined;
      throw error;
    }
  }
}

/**
 * The result of a step that replays a ledger. @throws RuntimeError `not_found`, `invalid_ledger`;
 * other errors of the step
 */
export async function valid<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!isInstance(error, LedgerFault)) throw error;
    if (error.code === 'not_found')
      throw new RuntimeError(
        'not_found',
        `The store has no trajectory ${error.fault.trajectory_id}.`,
        {
          cause: error,
        },
      );
    if (error.fault.rule === 'place.named')
      throw wrongSigner(
        `This runtime does not trust the key of the ledger: ${error.message}. Name the key in entryKeys if you trust it, or accept unsigned entries with changeEntryKey (assize keys change).`,
        error.fault.trajectory_id,
        error,
      );
    throw new RuntimeError(
      'invalid_ledger',
      `The ledger does not verify and accepts no more entries: ${error.message}.`,
      {
        evidence: { ...error.fault },
        cause: error,
      },
    );
  }
}

/** For callers that need the trajectory without its domain. */
export const unmade = (): undefined => undefined;
