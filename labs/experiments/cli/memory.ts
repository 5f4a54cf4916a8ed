import {
  count,
  EXIT,
  inSession,
  line,
  type StorelessOptions,
  upTo,
  withoutStore,
} from '@assize/command';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';
import {
  type Done,
  drawingInto,
  listExperiments,
  namedExperiments,
  possible,
  printSkipped,
  printTables,
  refuseUnusedOptions,
  runExperiment,
} from './experiments.ts';

interface Options extends StorelessOptions {
  readonly seed?: number;
  readonly runs?: number;
  readonly postgres?: string;
  readonly peers?: string;
  readonly svg?: string;
}

/** The paper’s own, of its grids. */
const SEED = 42;
/**
 * The maximum that the computed grids accept. Executed experiments would take too long with this
 * number of runs.
 */
const RUNS_MAX = 1_000_000;
/** Have the same colours in all images. */
const LEVELS = ['RC', 'RR', 'SR', 'RC+cb', 'SI', 'SI+cb', 'SR+cb'];

export function memory(program: Command): void {
  withoutStore(
    program
      .command('memory')
      .description(
        'run the experiments of the memory paper and print each cell next to the paper’s figure',
      )
      .argument('[name...]', 'names of experiments, or all; default: list the experiments')
      .option('--seed <n>', `seed of the random schedules; default: ${SEED}`, count)
      .option('--runs <n>', 'runs per cell; default: the paper’s number', upTo(RUNS_MAX))
      .option(
        '--postgres <url>',
        'server for experiments that need one, in a separate schema: postgres://…',
      )
      .option('--peers <folder>', 'with verdicts: folder of other installed memories, to run too')
      .option(
        '--svg <folder>',
        'folder for plots of tables, drawn with the optional package echarts',
      ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize-experiments memory\n  assize-experiments memory isolation schema\n  assize-experiments memory verdicts --peers peers\n  assize-experiments memory all --postgres postgres://localhost/test --svg plots\n  assize-experiments memory lattice --postgres postgres://localhost/test --runs 5 --json\n\n' +
        'A cell that differs from its expected value is marked, and the finding is negative. Times depend on this machine.',
    )
    .action(
      inSession(async (session, options: Options, names: readonly string[]) => {
        const [{ EXPERIMENTS }, texts] = await Promise.all([
          import('../memory/index.ts'),
          import('../tables/index.ts'),
        ]);
        const { seed = SEED, runs, postgres, peers } = options;
        const chosen = namedExperiments(EXPERIMENTS, names);
        refuseUnusedOptions(EXPERIMENTS, chosen, {
          settings: {
            ...(options.seed !== undefined && { seed: '--seed' }),
            ...(runs !== undefined && { runs: '--runs' }),
            ...(postgres !== undefined && { postgres: '--postgres' }),
            ...(peers !== undefined && { peers: '--peers' }),
          },
          usual: ['seed', 'runs'],
        });
        if (names.length === 0) {
          listExperiments(session, 'memory', EXPERIMENTS);
          return EXIT.ok;
        }
        const { runnable, skipped } = possible(chosen, names, options);
        const draw = await drawingInto(options.svg, LEVELS);
        const done: Done[] = [];
        const undrawn: string[] = [];
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
          if (!draw(experiment, tables)) undrawn.push(experiment.name);
          done.push({ name: experiment.name, tables });
          printTables(session, tables, texts);
        }
        const differ = done
          .flatMap(({ tables }) => tables)
          .reduce((sum, table) => sum + texts.differing(table), 0);
        if (session.json)
          session.out.document({
            seed,
            ...(runs !== undefined && { runs }),
            experiments: done,
            skipped,
            differing: differ,
          });
        else {
          printSkipped(session, { skipped, undrawn });
          if (differ > 0)
            session.out.line(
              line`${counted(differ, 'cell')} marked with ≠, because it differs from its expected value.`,
            );
        }
        return differ > 0 ? EXIT.negative : EXIT.ok;
      }),
    );
}
