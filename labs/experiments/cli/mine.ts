import {
  EXIT,
  inSession,
  line,
  type Output,
  positive,
  readLines,
  type StorelessOptions,
  withoutStore,
} from '@assize/command';
import type { Command } from 'commander';
import { recordedRun } from '../../../examples/domains/tau/index.ts';
import { AIRLINE_RULES } from '../mining/airline-rules.ts';
import { type AirlineMining, measureAirline } from '../mining/measure-airline.ts';

interface Options extends StorelessOptions {
  readonly runs: string;
  readonly minSupport?: number;
}

export function mine(program: Command): void {
  withoutStore(
    program
      .command('mine')
      .description('mine the successful runs of the airline, and compare the rules with its policy')
      .requiredOption('--runs <file>', 'recorded runs, one per line')
      .option(
        '--min-support <n>',
        'least number of runs that a rule is about (default: 5)',
        positive,
      ),
  )
    .addHelpText('after', '\nExample:\n  assize-experiments mine --runs ./tau-airline/runs.jsonl')
    .action(
      inSession(async ({ json, out }, { runs, minSupport }: Options) => {
        const measured = measureAirline(
          readLines(runs, recordedRun),
          minSupport === undefined ? {} : { minSupport },
        );
        if (json) out.document(measured);
        else print(out, measured);
        return EXIT.ok;
      }),
    );
}

function print(
  out: Output,
  { runs, successful, calls, mined, precision, recall, missed }: AirlineMining,
): void {
  out.table(
    [
      { title: 'in the policy' },
      { title: 'runs', align: 'right' },
      { title: 'calls', align: 'right' },
      { title: 'all runs' },
      { title: 'chance', align: 'right' },
      { title: 'mined rule' },
    ],
    mined.map(({ policy_rule, support, everywhere, p, statement }) => [
      policy_rule ?? 'no',
      support.runs,
      support.calls,
      `${everywhere.broken} of ${everywhere.calls} break it`,
      p.toExponential(0),
      statement,
    ]),
  );
  out.line(line``);
  out.line(line`${successful} of ${runs} runs were successful, with ${calls} calls.`);
  const share =
    precision === null
      ? 'no rule was mined'
      : `${Math.round(precision * 100)} % of the mined rules are in it`;
  out.line(line`The policy has ${recall.all.rules} rules; ${share}.`);
  out.line(
    line`Shown by calls: ${recall.calls.found} of ${recall.calls.rules} found. Missed: ${missed.join(', ')}.`,
  );
  out.line(
    line`Shown only by results of look-ups: ${recall.results.rules}; only by the talk: ${recall.talk.rules}.`,
  );
  for (const { id, says } of AIRLINE_RULES.filter((rule) => missed.includes(rule.id)))
    out.line(line`  ${id}: “${says}”`);
}
