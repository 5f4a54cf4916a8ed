import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { EXIT } from '../errors.ts';
import { type Done, drawingInto, listExperiments, namedExperiments, printTables } from '../experiments.ts';
import { runExperiments } from '../experiments-aside.ts';
import { count, withSharedOptions } from '../options.ts';
import { inSession, type SharedOptions } from '../session.ts';

interface Options extends SharedOptions {
  readonly seed: number;
  readonly scale: number;
  readonly quick?: boolean;
  readonly svg?: string;
  readonly data: string;
}

const SEED = 1;
/** Of `--quick`. */
const QUICK = 0.1;
/** Where the data lies beside a copy of the repository; `ASSIZE_DATA` says that it is elsewhere. */
const DATA = '../shared/data';

export function faults(program: Command): void {
  withSharedOptions(
    program
      .command('faults')
      .description(
        'the experiments of the effects paper, each cell executed here and printed beside the paper’s figure',
      )
      .argument('[name...]', 'experiments, or all of them; default: says which there are')
      .option('--seed <number>', 'of all chance: the same seed gives the same faults', count, SEED)
      .option('--scale <number>', 'how many runs: 1 as many as the paper has, 0.1 a tenth', scaleOf, 1)
      .option('--quick', `the same as --scale ${QUICK}`)
      .option('--data <folder>', 'real data: tasks and databases of tau-bench', process.env['ASSIZE_DATA'] ?? DATA)
      .option(
        '--svg <folder>',
        'draws the tables that have a plot into this folder, with the optional package echarts',
      ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize faults\n  assize faults recovery\n  assize faults all --quick --svg plots\n  assize faults retries --seed 7 --json\n\n' +
        'Figures of time are of this machine, and of what else it does meanwhile. All others depend on the seed alone.',
    )
    .action(
      inSession(async (session, options: Options, names: readonly string[]) => {
        const [{ EXPERIMENTS, MODES }, { tableText }] = await Promise.all([
          import('assize/faults'),
          import('assize/tables'),
        ]);
        if (names.length === 0) {
          listExperiments(session, 'faults', EXPERIMENTS);
          return EXIT.ok;
        }
        const chosen = namedExperiments(EXPERIMENTS, names);
        const draw = await drawingInto(
          options.svg,
          MODES.map(({ name }) => name),
        );
        const scale = options.quick === true ? QUICK : options.scale;
        const done: Done[] = [];
        const settings = { seed: options.seed, scale, data: resolve(options.data) };
        await runExperiments(session, chosen, settings, (experiment, tables) => {
          draw(experiment, tables);
          done.push({ name: experiment.name, tables });
          printTables(session, tables, tableText);
        });
        if (session.json) session.out.document({ seed: options.seed, scale, experiments: done });
        return EXIT.ok;
      }),
    );
}

function scaleOf(text: string): number {
  const scale = Number(text);
  if (!(Number.isFinite(scale) && scale > 0)) throw new InvalidArgumentError('It must be a number above 0.');
  return scale;
}
