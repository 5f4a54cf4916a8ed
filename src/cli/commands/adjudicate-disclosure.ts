import { join } from 'node:path';
import { generateKeys } from 'assize';
import {
  type Advisory,
  adjudicateDisclosure,
  advisory,
  type DisclosureReport,
} from 'assize/domains/disclosure/adjudicate';
import { type AdjudicateCliOptions, requireTaken } from '../adjudicate-options.ts';
import { readAnchors, writeAnchors } from '../anchors.ts';
import { CliError, EXIT, type ExitCode } from '../errors.ts';
import { readLines } from '../input-file.ts';
import type { Output } from '../output.ts';
import { bold, green, line, red, type Value } from '../printable.ts';
import type { Session } from '../session.ts';
import { watchedStore } from '../watched-store.ts';

const FILE = 'advisories.jsonl';
const PHASES = { adjudicating: 'adjudicating advisories', verifying: 'verifying entries' } as const;

/** The advisories of a vulnerability database as one portfolio, each taken through its phases. @throws CliError */
export async function adjudicateAdvisories(session: Session, options: AdjudicateCliOptions): Promise<ExitCode> {
  requireTaken('disclosure', options, []);
  const advisories = readAdvisories(join(options.data, FILE)).slice(0, options.limit);
  // A broken anchors file is to be found out before a store is made beside it.
  readAnchors(session.storeUrl);
  const keys = generateKeys();
  const report = await session.withStore('create', (store) => {
    writeAnchors(session.storeUrl, [keys.publicKey]);
    return adjudicateDisclosure({
      store: watchedStore(store, session.interruption),
      keys,
      advisories,
      signal: session.interruption,
      onProgress: (phase, done, total) => session.progress.report(PHASES[phase], done, total),
    });
  });
  session.progress.end();
  if (session.json) session.out.document(report);
  else print(session.out, report);
  return report.verified ? EXIT.ok : EXIT.negative;
}

/** Everything is read and checked before the store is opened, so that bad input leaves nothing behind. */
function readAdvisories(path: string): Advisory[] {
  const advisories = readLines(path, advisory);
  if (advisories.length === 0) throw new CliError('bad_input', `${path} has no advisories in it.`);
  const seen = new Set<string>();
  for (const { id } of advisories) {
    if (seen.has(id)) throw new CliError('bad_input', `${path} has the advisory ${id} twice.`);
    seen.add(id);
  }
  return advisories;
}

function print(out: Output, report: DisclosureReport): void {
  const refused = report.results.filter(({ outcome }) => outcome === 'refused');
  out.table(
    [{ title: 'advisory' }, { title: 'phase' }, { title: 'refused' }, { title: 'by' }, { title: 'message' }],
    refused.map(({ id, phase, action = '', invariant_id, reason = '', message = '' }): Value[] => [
      id,
      phase,
      action,
      red(invariant_id ?? reason),
      message,
    ]),
  );
  out.line(line``);
  printSums(out, report, refused.length);
  for (const { trajectory_id, seq, detail, code } of report.faults ?? []) {
    out.line(red(line`${trajectory_id} seq ${seq} does not verify: ${detail} (${code})`));
  }
}

function printSums(out: Output, report: DisclosureReport, refused: number): void {
  const { advisories, disclosed, proposals, committed, days, entries, verified, seconds } = report;
  out.line(
    line`${bold(`${advisories} advisories`)}: ${disclosed} disclosed, ${refused} refused; ${proposals} proposals on ${days} days, ${committed} of them committed`,
  );
  const causes = Object.entries(report.refused).sort(([, a], [, b]) => b - a);
  for (const [cause, n] of causes) out.line(line`  ${String(n).padStart(4)}  ${cause}`);
  const outcome = verified ? green('all verified') : red('not all verified');
  out.line(line`${entries} entries in the store, ${outcome}, in ${seconds.toFixed(1)} s`);
}
