import type { ProgressListener, Table } from '../tables/index.ts';

/** The extent of an experiment's run, and the listener for its progress. */
export interface Running extends ProgressListener {
  /** Of all chance: the same seed gives the same faults. */
  readonly seed: number;
  /** 1: the paper's number of runs. A smaller value is faster, and at least one run remains. */
  readonly scale: number;
  /** The folder of real data, for those experiments that are made with some. */
  readonly data: string;
  /** The server that some experiments need: `postgres://user:password@host:5432/database`. */
  readonly postgres?: string;
}

/** The fields of `Running` that affect an experiment. */
export type Setting = 'seed' | 'scale' | 'data' | 'postgres';

/** The cells of a table, of the paper or beyond it. Each cell is executed. */
export interface Experiment {
  /** As the command line names it: `recovery`. */
  readonly name: string;
  /** One line, for the help. */
  readonly about: string;
  /** All its figures are of time: nothing else is to be run beside it. */
  readonly isTimed?: true;
  /** Its requirements. */
  readonly needs?: 'postgres';
  /** Optional packages that it can't be run without. */
  readonly packages?: readonly string[];
  /**
   * The reason why the experiment cannot run with the data that it needs from this folder.
   * Undefined if it can run.
   */
  lacks?(data: string): string | undefined;
  /** Any other setting comes to nothing with it. Default: the seed and the scale. */
  readonly uses?: readonly Setting[];
  run(running: Running): Promise<readonly Table[]>;
}
