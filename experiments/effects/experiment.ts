import type { ProgressListener, Table } from '../tables/index.ts';

/** How much of an experiment is done, and who is told how it goes on. */
export interface Running extends ProgressListener {
  /** Of all chance: the same seed gives the same faults. */
  readonly seed: number;
  /** 1: as many runs as the paper has. Less where somebody can't wait, never none. */
  readonly scale: number;
  /** The folder of real data, for those experiments that are made with some. */
  readonly data: string;
  /** Where the server is that some experiments need: `postgres://user:password@host:5432/database`. */
  readonly postgres?: string;
}

/** The fields of `Running` that affect an experiment. */
export type Setting = 'seed' | 'scale' | 'data' | 'postgres';

/** Cells of a table of the paper, or of what the paper has not, each of which is executed. */
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
  /** Why it can't be run with the data in this folder, of which it needs some; undefined where it can. */
  lacks?(data: string): string | undefined;
  /** Any other setting comes to nothing with it. Default: the seed and the scale. */
  readonly uses?: readonly Setting[];
  run(running: Running): Promise<readonly Table[]>;
}
