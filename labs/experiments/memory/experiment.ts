import type { ProgressListener, Table } from '../tables/index.ts';

/** The size of a run of an experiment, and its resources. */
export interface Running extends ProgressListener {
  /** Of all chance: the same seed gives the same figures, but for those of time. */
  readonly seed: number;
  /** How many runs, or schedules, each cell has; where it is left out as many as the paper has. */
  readonly runs?: number;
  /**
   * The URL of the server that some experiments need:
   * `postgres://user:password@host:5432/database`.
   */
  readonly postgres?: string;
  /**
   * A folder with other memories, installed as `peers/package.json` pins them. The experiments run
   * these memories too.
   */
  readonly peers?: string;
}

/** The requirements of an experiment. */
export type Need = 'postgres';

/** The fields of `Running` that affect an experiment. */
export type Setting = 'seed' | 'runs' | 'postgres' | 'peers';

/** Cells of the paper, or cells that the paper omits. Each cell is executed. */
export interface Experiment {
  /** As the command line names it: `isolation`. */
  readonly name: string;
  /** One line, for the help. */
  readonly about: string;
  readonly needs?: Need;
  /** Any other setting comes to nothing with it. Default: the seed and how many runs. */
  readonly uses?: readonly Setting[];
  run(running: Running): Promise<readonly Table[]>;
}
