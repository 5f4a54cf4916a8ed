import { join } from 'node:path';
import {
  bold,
  CliError,
  type ExitCode,
  line,
  type Output,
  readLines,
  red,
  type Session,
  type Value,
} from '@assize/command';
import {
  type Advisory,
  adjudicateDisclosure,
  advisory,
  type DisclosureReport,
} from '../../../examples/domains/disclosure/adjudicate.ts';
import { type AdjudicateCliOptions, requireTaken } from './adjudicate-options.ts';
import { doJob, printSums } from './job.ts';

const FILE = 'advisories.jsonl';
/**
 * The advisories of a vulnerability database as one portfolio, each taken through its phases.
 *
 * @throws CliError
 */
export async function adjudicateAdvisories(
  session: Session,
  options: AdjudicateCliOptions,
): Promise<ExitCode> {
  requireTaken('disclosure', options, []);
  const advisories = readAdvisories(join(options.data, FILE)).slice(0, options.limit);
  return doJob(session, {
    of: 'advisories',
    work: (job) => adjudicateDisclosure({ ...job, advisories }),
    print,
    isGood: () => true,
  });
}

/** Reads and checks all input before the store is opened, so bad input leaves nothing behind. */
function readAdvisories(path: string): Advisory[] {
  const advisories = readLines(path, advisory);
  if (advisories.length === 0) throw new CliError('bad_input', `${path} has no advisories.`);
  const seen = new Set<string>();
  for (const { id } of advisories) {
    if (seen.has(id)) throw new CliError('bad_input', `${path} has the advisory ${id} twice.`);
    seen.add(id);
  }
  return advisories;
}

function print(out: Output, report: DisclosureReport): void {
  const refused = report.results.filter(({ outcome }) => outcome === 'refused');
  if (refused.length > 0) printRefused(out, refused);
  const { advisories, disclosed, proposals, committed, days } = report;
  out.line(
    line`${bold(advisories === 1 ? '1 advisory' : `${advisories} advisories`)}: ${disclosed} disclosed, ${refused.length} refused; ${proposals} proposals on ${days} days, ${committed} of them committed`,
  );
  printSums(out, report.refused, report);
}

function printRefused(out: Output, refused: DisclosureReport['results']): void {
  out.table(
    [
      { title: 'advisory' },
      { title: 'phase' },
      { title: 'refused' },
      { title: 'by' },
      { title: 'message' },
    ],
    refused.map(({ id, phase, action = '', invariant_id, reason = '', message = '' }): Value[] => [
      id,
      phase,
      action,
      red(invariant_id ?? reason),
      message,
    ]),
  );
  out.line(line``);
}
