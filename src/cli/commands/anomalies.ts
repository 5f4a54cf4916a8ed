import type { Experiment } from 'assize/anomalies';
import type { Command } from 'commander';
import { counted } from '../counted.ts';
import { CliError, EXIT } from '../errors.ts';
import {
  type Done,
  drawingInto,
  listExperiments,
  namedExperiments,
  printTables,
  runExperiment,
} from '../experiments.ts';
import { count, positive, withSharedOptions } from '../options.ts';
import { line } from '../printable.ts';
import { inSession, type SharedOptions } from '../session.ts';

interface Options extends SharedOptions {
  readonly seed: number;
  readonly runs?: number;
  readonly postgres?: string;
  readonly peers?: string;
  readonly svg?: string;
}

/** The paper’s own, of its grids. */
const SEED = 42;
/** Have the same colours in all images. */
const LEVELS = ['RC', 'RR', 'SR', 'RC+cb', 'SI', 'SI+cb', 'SR+cb'];

/** What was not run, and why. */
interface Skipped {
  readonly name: string;
  readonly because: string;
}

export function anomalies(program: Command): void {
  withSharedOptions(
    program
      .command('anomalies')
      .description('the experiments of the memory paper, each cell executed here and printed beside the paper’s figure')
      .argument('[name...]', 'experiments, or all of them; default: says which there are')
      .option('--seed <number>', 'of all chance: the same seed gives the same schedules', count, SEED)
      .option('--runs <number>', 'how many each cell has; default: as many as the paper has', positive)
      .option('--postgres <url>', 'a server for the experiments that need one, in a schema of their own: postgres://…')
      .option('--peers <folder>', 'with verdicts: a folder in which other memories are installed, which are run too')
      .option(
        '--svg <folder>',
        'draws the tables that have a plot into this folder, with the optional package echarts',
      ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize anomalies\n  assize anomalies isolation schema\n  assize anomalies verdicts --peers peers\n  assize anomalies all --postgres postgres://localhost/test --svg plots\n  assize anomalies lattice --postgres postgres://localhost/test --runs 5 --json\n\n' +
        'A cell that is not what it has to be is marked, and makes this a negative finding. Figures of time are of this machine.',
    )
    .action(
      inSession(async (session, options: Options, names: readonly string[]) => {
        const [{ EXPERIMENTS }, { differing, tableText }] = await Promise.all([
          import('assize/anomalies'),
          import('assize/tables'),
        ]);
        if (names.length === 0) {
          listExperiments(session, 'anomalies', EXPERIMENTS);
          return EXIT.ok;
        }
        const { runnable, skipped } = possible(namedExperiments(EXPERIMENTS, names), names, options);
        if (options.peers !== undefined && !runnable.some(({ name }) => name === 'verdicts'))
          throw new CliError('usage', '--peers is for the experiment verdicts; name that one, or all.');
        const draw = await drawingInto(options.svg, LEVELS);
        const { seed, runs, postgres, peers } = options;
        const done: Done[] = [];
        for (const experiment of runnable) {
          const tables = await runExperiment(session, experiment, (watched) =>
            experiment.run({
              ...watched,
              seed,
              ...(runs !== undefined && { runs }),
              ...(postgres !== undefined && { postgres }),
              ...(peers !== undefined && { peers }),
            }),
          );
          draw(experiment, tables);
          done.push({ name: experiment.name, tables });
          printTables(session, tables, tableText);
        }
        const differ = done.flatMap(({ tables }) => tables).reduce((sum, table) => sum + differing(table), 0);
        if (session.json)
          session.out.document({
            seed,
            ...(runs !== undefined && { runs }),
            experiments: done,
            skipped,
            differing: differ,
          });
        else {
          for (const { name, because } of skipped) session.out.line(line`${name} was not run: ${because}`);
          if (differ > 0)
            session.out.line(line`${counted(differ, 'cell')} marked with ≠, for not being what it has to be.`);
        }
        return differ > 0 ? EXIT.negative : EXIT.ok;
      }),
    );
}

/** With what is given; who names one that can't be run is told so at once. @throws CliError `usage` */
function possible(
  chosen: readonly Experiment[],
  names: readonly string[],
  { postgres }: Options,
): { readonly runnable: readonly Experiment[]; readonly skipped: readonly Skipped[] } {
  const lacks = ({ needs }: Experiment): boolean => needs === 'postgres' && postgres === undefined;
  const named = chosen.find((experiment) => lacks(experiment) && names.includes(experiment.name));
  if (named !== undefined)
    throw new CliError('usage', `${named.name} needs a PostgreSQL server; name one with --postgres postgres://….`);
  return {
    runnable: chosen.filter((experiment) => !lacks(experiment)),
    skipped: chosen
      .filter(lacks)
      .map(({ name }) => ({ name, because: 'it needs a PostgreSQL server; name one with --postgres.' })),
  };
}
