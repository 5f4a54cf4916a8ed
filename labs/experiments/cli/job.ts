import {
  EXIT,
  type ExitCode,
  green,
  line,
  type Output,
  readAnchors,
  red,
  type Session,
  watchedStore,
  writeAnchors,
} from '@assize/command';
import { generateKeys } from 'assize';
import type { JobOptions, JobReport } from '../../../examples/domains/job/index.ts';

interface Job<Report> {
  /** The items of the job, as in “adjudicating runs”. */
  readonly of: string;
  readonly work: (options: Required<JobOptions>) => Promise<Report>;
  readonly print: (out: Output, report: Report) => void;
  readonly isGood: (report: Report) => boolean;
}

/**
 * Does a job on its own store or on an existing store, prints the result, and returns the exit
 * code.
 */
export async function doJob<Report extends JobReport>(
  session: Session,
  job: Job<Report>,
): Promise<ExitCode> {
  // A broken anchors file is to be found out before a store is made beside it.
  readAnchors(session.storeUrl);
  const keys = generateKeys();
  const phases = { adjudicating: `adjudicating ${job.of}`, verifying: 'verifying entries' };
  const report = await session.withStore('create', (store) => {
    writeAnchors(session.storeUrl, [keys.publicKey]);
    return job.work({
      store: watchedStore(store, session.interruption),
      keys,
      signal: session.interruption,
      onProgress: (phase, done, total) => session.progress.report(phases[phase], done, total),
    });
  });
  session.progress.end();
  if (session.json) session.out.document(report);
  else {
    job.print(session.out, report);
    printFaults(session.out, report);
  }
  return report.verified && job.isGood(report) ? EXIT.ok : EXIT.negative;
}

/** Why proposals were refused, most frequent first, and that the store was verified. */
export function printSums(
  out: Output,
  causes: Readonly<Record<string, number>>,
  report: JobReport,
): void {
  for (const [cause, n] of Object.entries(causes).sort(([, a], [, b]) => b - a)) {
    out.line(line`  ${String(n).padStart(4)}  ${cause}`);
  }
  const outcome = report.verified ? green('all verified') : red('not all verified');
  out.line(
    line`${report.entries} entries in the store, ${outcome}, in ${report.seconds.toFixed(1)} s`,
  );
}

function printFaults(out: Output, { faults = [] }: JobReport): void {
  for (const { trajectory_id, seq, detail, code } of faults) {
    out.line(red(line`${trajectory_id} seq ${seq} does not verify: ${detail} (${code})`));
  }
}
