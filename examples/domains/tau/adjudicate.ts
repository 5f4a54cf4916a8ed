/**
 * The main job: recorded agents before the kernel. One base trajectory holds the database, and
 * every recorded run is a branch of it. The job proposes every writing call in order. The agent's
 * look-ups before a call are the observations of its proposal. At the end the job verifies the
 * whole store.
 */

import { Assize, fixedClock } from 'assize';
import { arg, checkArgument } from 'assize/internal/base';
import { byCause, finished, type JobOptions, type JobReport } from '../job/index.ts';
import { openBase } from './base.ts';
import type { Benchmark } from './benchmark.ts';
import { type ExpectedRun, type RecordedRun, runKey } from './recorded.ts';
import type { Records } from './records.ts';
import { type CallReport, RunAdjudicator, type RunReport } from './run.ts';

/**
 * The time at which the benchmark stands still: 2024-05-15T15:00:00 in the airline's time. The
 * shop's records have no time.
 */
const NOW = '2024-05-15T20:00:00.000000Z';

export interface AdjudicateOptions extends JobOptions {
  readonly runs: readonly RecordedRun[];
  /** `policy`: under all invariants. `tools`: with the tools' own checks only. */
  readonly mode: 'policy' | 'tools';
  /** The immediate resolution by the counselor `supervisor:cli` of everything that escalates. */
  readonly escalations: 'reject' | 'approve';
  /** The expected records of each run, one item per run. */
  readonly expected?: readonly ExpectedRun[];
}

export interface AdjudicationReport extends JobReport {
  readonly runs: number;
  /** committed, rejected, escalated and tool_errors together. */
  readonly proposals: number;
  readonly committed: number;
  /** By invariant, or by reason where no invariant refused. */
  readonly rejected: Readonly<Record<string, number>>;
  readonly escalated: number;
  readonly tool_errors: number;
  /** Runs that left just the expected records; absent when nothing was expected. */
  readonly identical?: number;
  readonly results: readonly RunReport[];
}

const BENCHMARK = arg.members({
  domain: arg.object,
  bare: arg.object,
  tools: arg.object,
  role: arg.text,
});

const ADJUDICATE_OPTIONS = arg.members({
  store: arg.object,
  runs: arg.list(arg.object),
  mode: arg.text,
  escalations: arg.text,
  keys: arg.members({ publicKey: arg.text, privateKey: arg.text }),
  expected: arg.optional(arg.list(arg.object)),
});

/**
 * Adjudicates recorded runs of a benchmark, and verifies the whole store.
 *
 * @throws AssizeError `base_mismatch` when the base's name stands for something else in this store;
 *   the reason of `signal`; the errors of the benchmark's `initial`, the runtime and the store;
 *   ArgumentError `bad_argument`
 */
export async function adjudicateRecorded<R extends Records>(
  benchmark: Benchmark<R>,
  records: R,
  options: AdjudicateOptions,
): Promise<AdjudicationReport> {
  checkArgument(BENCHMARK, benchmark, 'benchmark');
  checkArgument(arg.record(arg.object), records, 'records');
  checkArgument(ADJUDICATE_OPTIONS, options, 'options');
  const { store, keys, runs, escalations, signal } = options;
  const started = performance.now();
  const domain = options.mode === 'tools' ? benchmark.bare : benchmark.domain;
  const assize = new Assize({
    store,
    domains: [domain],
    anchors: [keys.publicKey],
    ports: { clock: fixedClock(NOW) },
  });
  const base = await openBase(assize, store, domain, benchmark.initial(records));
  const expected = options.expected && new Map(options.expected.map((run) => [runKey(run), run]));
  const adjudicator = new RunAdjudicator(
    { assize, benchmark, records, base },
    { keys, escalations, expected, signal },
  );
  const results: RunReport[] = [];
  for (const run of runs) {
    signal?.throwIfAborted();
    options.onProgress?.('adjudicating', results.length, runs.length);
    results.push(await adjudicator.adjudicate(run));
  }
  return {
    runs: results.length,
    ...tally(results.flatMap(({ calls }) => calls)),
    ...(expected && {
      identical: results.filter(({ differences }) => differences?.length === 0).length,
    }),
    ...(await finished(options, started)),
    results,
  };
}

function tally(
  calls: readonly CallReport[],
): Pick<AdjudicationReport, 'proposals' | 'committed' | 'rejected' | 'escalated' | 'tool_errors'> {
  const ruled = (ruling: CallReport['ruling']): readonly CallReport[] =>
    calls.filter((call) => call.ruling === ruling);
  return {
    proposals: calls.length,
    committed: ruled('committed').length,
    rejected: byCause(ruled('rejected')),
    escalated: ruled('escalated').length,
    tool_errors: ruled('tool_error').length,
  };
}
