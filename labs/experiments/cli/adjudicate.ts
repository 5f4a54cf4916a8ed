import { join } from 'node:path';
import {
  bold,
  CliError,
  checked,
  dim,
  green,
  inSession,
  line,
  type Output,
  positive,
  readJson,
  readLines,
  red,
  type Value,
  withSharedOptions,
  yellow,
} from '@assize/command';
import type { Domain } from 'assize';
import { toPointer } from 'assize/internal/canon';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import {
  type AdjudicationReport,
  adjudicateRecorded,
  type Benchmark,
  type ExpectedRun,
  expectedRun,
  type RecordedRun,
  type Records,
  recordedRun,
  recordedTask,
  runKey,
} from '../../../examples/domains/tau/index.ts';
import { adjudicateAdvisories } from './adjudicate-disclosure.ts';
import { type AdjudicateCliOptions, requireTaken } from './adjudicate-options.ts';
import { benchmarkNamed } from './benchmarks.ts';
import { doJob, printSums } from './job.ts';

export function adjudicate(program: Command): void {
  withSharedOptions(
    program
      .command('adjudicate')
      .description(
        'adjudicate recorded agent runs or a portfolio of advisories, and verify the ledger',
      )
      .argument(
        '<domain>',
        'airline or retail: each run on a branch of the database; disclosure: the advisories in one portfolio',
      )
      .requiredOption(
        '--data <dir>',
        'airline: users.json, flights.json, reservations.json; retail: users.json, products.json, orders.json; disclosure: advisories.jsonl',
      )
      .option('--runs <file>', 'airline, retail: recorded runs, one per line')
      .addOption(
        new Option(
          '--tasks <file>',
          'airline, retail: the solutions of the benchmark instead of runs',
        ).conflicts('runs'),
      )
      .addOption(
        new Option(
          '--escalations <way>',
          'airline: immediate resolution of escalations by supervisor:cli (default: "reject")',
        ).choices(['reject', 'approve']),
      )
      .option(
        '--no-invariants',
        'airline, retail: only the checks of the tools, without the policy',
      )
      .option(
        '--expected <file>',
        'airline, retail: expected records of each run, one run per line',
      )
      .option('--limit <n>', 'maximum number of runs or advisories', positive),
  )
    .addHelpText(
      'after',
      'Negative: with --expected, a run left other records; or the ledger does not verify.\n' +
        'A database that is already in the store is branched from again. Runs are always new trajectories.\n\n' +
        'Examples:\n  assize-experiments adjudicate airline --data ./tau-airline --runs runs.jsonl --store sqlite:./airline.db\n' +
        '  assize-experiments adjudicate disclosure --data ./go-vulndb --limit 20 --store memory:',
    )
    .action(
      inSession(async (session, options: AdjudicateCliOptions, domain: string) => {
        if (domain === 'disclosure') return adjudicateAdvisories(session, options);
        const benchmark = await benchmarkNamed(domain);
        requireForRuns(benchmark, options);
        const { records, ...input } = readInput(benchmark, options);
        return doJob(session, {
          of: 'runs',
          work: (job) =>
            adjudicateRecorded(benchmark, records, {
              ...job,
              ...input,
              mode: options.invariants ? 'policy' : 'tools',
              escalations: options.escalations ?? 'reject',
            }),
          print,
          isGood: ({ runs, identical = runs }) => identical === runs,
        });
      }),
    );
}

/**
 * Runs accept `--escalations` only if a proposal can escalate: with the policy, and in a domain
 * that has counselors.
 */
function requireForRuns({ domain }: Benchmark<any>, options: AdjudicateCliOptions): void {
  const always = ['--runs', '--tasks', '--expected', '--no-invariants'] as const;
  if (!options.invariants) requireTaken(`${domain.name} --no-invariants`, options, always);
  else requireTaken(domain.name, options, isAsked(domain) ? [...always, '--escalations'] : always);
}

function isAsked({ counselors }: Domain): boolean {
  return Object.keys(counselors).length > 0;
}

interface Input {
  readonly records: Records;
  readonly runs: readonly RecordedRun[];
  readonly expected?: readonly ExpectedRun[];
}

/** Reads and checks all input before the store is opened, so bad input leaves nothing behind. */
function readInput(benchmark: Benchmark<any>, options: AdjudicateCliOptions): Input {
  const { data, runs: runsFile, tasks, expected: expectedFile, limit } = options;
  if (runsFile === undefined && tasks === undefined) {
    throw new CliError(
      'usage',
      'The command has no runs. Pass --runs FILE, or the benchmark’s solutions with --tasks FILE.',
    );
  }
  const records = readRecords(benchmark, data);
  const runs =
    runsFile === undefined
      ? checked(readJson(tasks as string), z.array(recordedTask), tasks as string)
      : readLines(runsFile, recordedRun);
  if (runs.length === 0) throw new CliError('bad_input', `${runsFile ?? tasks} has no runs.`);
  const chosen = runs.slice(0, limit);
  return expectedFile === undefined
    ? { records, runs: chosen }
    : { records, runs: chosen, expected: readExpected(expectedFile, chosen) };
}

function readRecords({ collections, records: schema }: Benchmark<any>, folder: string): Records {
  const read = Object.fromEntries(
    collections.map((name) => [name, readJson(join(folder, `${name}.json`))]),
  );
  const parsed = schema.safeParse(read);
  if (parsed.success) return read as Records;
  const issue = parsed.error.issues[0] as z.core.$ZodIssue;
  const [collection, ...place] = issue.path.map(String);
  throw new CliError(
    'bad_input',
    `${join(folder, `${collection}.json`)}, ${toPointer(place)}: ${issue.message}.`,
  );
}

function readExpected(path: string, runs: readonly RecordedRun[]): ExpectedRun[] {
  const expected = readLines(path, expectedRun);
  const known = new Set(expected.map(runKey));
  const missing = runs.find((run) => !known.has(runKey(run)));
  if (missing === undefined) return expected;
  throw new CliError('bad_input', `${path} has no expected records of ${runKey(missing)}.`);
}

function print(out: Output, report: AdjudicationReport): void {
  out.table(
    [
      { title: 'task', align: 'right' },
      { title: 'trial', align: 'right' },
      { title: 'call', align: 'right' },
      { title: 'tool' },
      { title: 'ruling' },
      { title: 'by' },
      { title: 'message' },
    ],
    report.results.flatMap(({ task_id, trial = '', calls }) =>
      calls.map(
        ({ index, name, ruling, reason, invariant_id, message = '', resolved }): Value[] => [
          task_id,
          trial,
          index,
          name,
          PAINTED[ruling],
          invariant_id ?? (ruling === 'tool_error' ? '' : (reason ?? '')),
          resolved === undefined ? message : `${message} (${resolved})`,
        ],
      ),
    ),
  );
  out.line(line``);
  const { proposals, runs, committed, rejected, escalated, tool_errors } = report;
  const refused = Object.values(rejected).reduce((sum, n) => sum + n, 0);
  out.line(
    line`${bold(`${proposals} proposals`)} in ${runs} runs: ${committed} committed, ${refused} rejected, ${escalated} escalated, ${tool_errors} refused by the tools themselves`,
  );
  printSums(out, rejected, report);
  if (report.identical !== undefined) printComparison(out, report);
}

const PAINTED = {
  committed: green('committed'),
  rejected: red('rejected'),
  escalated: yellow('escalated'),
  tool_error: dim('tool_error'),
} as const;

function printComparison(out: Output, { results, runs, identical = 0 }: AdjudicationReport): void {
  const sum = line`${identical} of ${runs} runs changed just the expected records`;
  out.line(identical === runs ? green(sum) : red(sum));
  for (const run of results) {
    const places = (run.differences ?? []).map(({ collection, id }) => `/${collection}/${id}`);
    if (places.length > 0) out.line(line`  ${runKey(run)}: ${places.join(', ')}`);
  }
}
