import { resolve } from 'node:path';
import {
  count,
  described,
  EXIT,
  inSession,
  type StorelessOptions,
  say,
  withoutPasswords,
  withoutStore,
} from '@assize/command';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  type Done,
  drawingInto,
  listExperiments,
  namedExperiments,
  possible,
  printSkipped,
  printTables,
  refuseUnusedOptions,
} from './experiments.ts';
import { runExperiments } from './in-threads.ts';

/** An experiment that failed while others ran, with the printed error. */
interface Failure {
  readonly name: string;
  readonly code: string;
  readonly message: string;
}

interface Options extends StorelessOptions {
  readonly seed?: number;
  readonly scale?: number;
  readonly quick?: boolean;
  readonly data?: string;
  readonly postgres?: string;
  readonly svg?: string;
}

const SEED = 1;
/** A larger scale would take too long. */
const SCALE_MAX = 1_000;
/** Of `--quick`. */
const QUICK = 0.1;
/** Where the data lies beside a copy of the repository; `ASSIZE_DATA` says that it is elsewhere. */
const DATA = '../shared/data';

export function effects(program: Command): void {
  withoutStore(
    program
      .command('effects')
      .description(
        'run the experiments of the effects paper and print each cell next to the paper’s figure',
      )
      .argument('[name...]', 'names of experiments, or all; default: list the experiments')
      .option('--seed <n>', `seed of the random faults; default: ${SEED}`, count)
      .option(
        '--scale <n>',
        'factor of the number of runs, such as 0.1; default: 1, the paper’s number unless a table states another',
        scaleOf,
      )
      .addOption(new Option('--quick', `same as --scale ${QUICK}`).conflicts('scale'))
      .option(
        '--data <folder>',
        `with tasks and model-runs: folder of tau-bench’s tasks, runs and databases; default: $ASSIZE_DATA, or ${DATA}`,
      )
      .option(
        '--postgres <url>',
        'server for experiments that need one, in separate schemas: postgres://…',
      )
      .option(
        '--svg <folder>',
        'folder for plots of tables, drawn with the optional package echarts',
      ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize-experiments effects\n  assize-experiments effects recovery\n  assize-experiments effects all --quick --svg plots\n  assize-experiments effects retries --seed 7 --json\n\n' +
        'Times depend on this machine and its load. So do the contention rates without waiting (contention)\nand the timeouts (gate). All other figures depend only on the seed.',
    )
    .action(
      inSession(async (session, options: Options, names: readonly string[]) => {
        const [{ EXPERIMENTS, MODES }, texts] = await Promise.all([
          import('../effects/index.ts'),
          import('../tables/index.ts'),
        ]);
        const { seed = SEED, quick, postgres } = options;
        const scale = quick === true ? QUICK : (options.scale ?? 1);
        const chosen = namedExperiments(EXPERIMENTS, names);
        refuseUnusedOptions(EXPERIMENTS, chosen, {
          settings: {
            ...(options.seed !== undefined && { seed: '--seed' }),
            ...(options.scale !== undefined && { scale: '--scale' }),
            ...(quick === true && { scale: '--quick' }),
            ...(options.data !== undefined && { data: '--data' }),
            ...(postgres !== undefined && { postgres: '--postgres' }),
          },
          usual: ['seed', 'scale'],
        });
        if (names.length === 0) {
          listExperiments(session, 'effects', EXPERIMENTS);
          return EXIT.ok;
        }
        const data = resolve(options.data ?? process.env['ASSIZE_DATA'] ?? DATA);
        const { runnable, skipped } = possible(chosen, names, {
          data,
          ...(postgres !== undefined && { postgres }),
        });
        const draw = await drawingInto(
          options.svg,
          MODES.map(({ name }) => name),
        );
        const done: Done[] = [];
        const failed: Failure[] = [];
        const undrawn: string[] = [];
        const settings = { seed, scale, data, ...(postgres !== undefined && { postgres }) };
        await runExperiments(session, runnable, settings, (experiment, outcome) => {
          const { name } = experiment;
          if ('error' in outcome) {
            // With one experiment there is nothing else to tell.
            if (runnable.length === 1) throw outcome.error;
            const { code, message } = described(outcome.error);
            failed.push({ name, code, message: withoutPasswords(message) });
            return;
          }
          const { tables } = outcome;
          if (!draw(experiment, tables)) undrawn.push(name);
          done.push({ name, tables });
          printTables(session, tables, texts);
        });
        const differ = done
          .flatMap(({ tables }) => tables)
          .reduce((sum, table) => sum + texts.differing(table), 0);
        if (session.json)
          session.out.document({
            seed,
            scale,
            experiments: done,
            skipped,
            failed,
            differing: differ,
          });
        else printSkipped(session, { skipped, undrawn });
        for (const { name, code, message } of failed)
          say(code, `${name} failed: ${message}`, false);
        if (failed.length > 0) return EXIT.misuse;
        return differ > 0 ? EXIT.negative : EXIT.ok;
      }),
    );
}

function scaleOf(text: string): number {
  const scale = Number(text);
  if (!(scale > 0 && scale <= SCALE_MAX))
    throw new InvalidArgumentError(`It must be a number above 0, and at most ${SCALE_MAX}.`);
  return scale;
}
