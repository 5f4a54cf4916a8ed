import { LedgerFault, type LedgerStore, type Replayer } from '#ledger';
import { RuntimeError } from '../errors.ts';
import { type FoldedTrajectory, type FoldOptions, foldTrajectory } from './fold.ts';
import type { Base } from './ports.ts';
import type { Snapshots } from './snapshots/snapshots.ts';

/** A trajectory as the store has it, and what was made of it, which may be changed by whoever has that. */
export interface Read<Made> {
  readonly folded: FoldedTrajectory;
  /** How many erasures there were when the folding began. */
  readonly erasures: number | undefined;
  readonly made: Made;
}

/** Reads trajectories from the store: from the snapshot on where there is one, as long as it agrees with what came after it. */
export class Reading {
  readonly #store: Pick<LedgerStore, 'blob'>;
  readonly #replayer: Replayer;
  readonly #snapshots: Snapshots;

  constructor(store: Pick<LedgerStore, 'blob'>, replayer: Replayer, snapshots: Snapshots) {
    this.#store = store;
    this.#replayer = replayer;
    this.#snapshots = snapshots;
  }

  /** Where `make` throws, that may be a snapshot's fault, too. @throws RuntimeError `not_found`, `invalid_ledger`; what `make` throws */
  async read<Made>(trajectoryId: string, make: (folded: FoldedTrajectory) => Made): Promise<Read<Made>> {
    const erasures = await this.#snapshots.erasures(trajectoryId);
    const from = await this.#snapshots.find(trajectoryId);
    if (from === undefined) return this.#readFrom(trajectoryId, erasures, make);
    try {
      return await this.#readFrom(trajectoryId, erasures, make, { from });
    } catch (error) {
      // Whether the snapshot alone is at fault, only all entries tell.
      const read = await this.#readFrom(trajectoryId, erasures, make);
      this.#snapshots.refuse(trajectoryId, error);
      return read;
    }
  }

  /** With what is new since it was read before, where it may be gone on from that; else as `read`. @throws as `read` */
  async readOn(
    trajectoryId: string,
    before: Base | undefined,
    make: (folded: FoldedTrajectory) => unknown,
  ): Promise<Base> {
    // Something was erased since: it may be in what was kept.
    const kept =
      before !== undefined && before.erasures === (await this.#snapshots.erasures(trajectoryId)) ? before : undefined;
    const gone = kept && (await this.#goneOn(kept));
    const { folded, erasures } =
      gone === undefined ? await this.read(trajectoryId, make) : { folded: gone, erasures: kept?.erasures };
    return { ...folded, erasures };
  }

  async #readFrom<Made>(
    trajectoryId: string,
    erasures: number | undefined,
    make: (folded: FoldedTrajectory) => Made,
    options: FoldOptions = {},
  ): Promise<Read<Made>> {
    const folded = await valid(() => foldTrajectory(trajectoryId, this.#replayer, this.#store, options));
    return { folded, erasures, made: make(folded) };
  }

  /** Undefined where what is new does not follow: all has to be read then, to see what the matter is. */
  async #goneOn(from: FoldedTrajectory): Promise<FoldedTrajectory | undefined> {
    try {
      return await foldTrajectory(from.chain.trajectoryId, this.#replayer, this.#store, { from });
    } catch (error) {
      if (error instanceof LedgerFault) return undefined;
      throw error;
    }
  }
}

/** What a step gives that replays a ledger. @throws RuntimeError `not_found`, `invalid_ledger`; what else the step throws */
export async function valid<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof LedgerFault)) throw error;
    if (error.code === 'not_found')
      throw new RuntimeError('not_found', `There is no trajectory ${error.fault.trajectory_id} in this store.`, {
        cause: error,
      });
    throw new RuntimeError(
      'invalid_ledger',
      `The ledger does not verify and takes no more entries: ${error.message}.`,
      {
        evidence: { ...error.fault },
        cause: error,
      },
    );
  }
}

/** For who needs the trajectory as it is, without its domain. */
export const unmade = (): undefined => undefined;
