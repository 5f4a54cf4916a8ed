import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import {
  CliError,
  EXIT,
  inSession,
  instantOrDay,
  line,
  note,
  positive,
  repeatable,
  replaceFile,
  type Session,
  type SharedOptions,
  visibleJson,
  watchedStore,
  withSharedOptions,
} from '@assize/command';
import { type Command, Option } from 'commander';
import {
  type ComplianceReport,
  FRAMEWORKS,
  type GivenCheckpoint,
  makeReport,
  reportHtml,
  reportMarkdown,
} from '#compliance';
import {
  checkpointOption,
  fileBeside,
  logKeyOption,
  readKnownLog,
  readVerifierKey,
  usedCheckpoint,
} from './log-files.ts';
import { printReport } from './report-text.ts';

interface ReportCommandOptions extends SharedOptions {
  readonly since?: string;
  readonly until?: string;
  readonly trajectory: readonly string[];
  readonly size?: number;
  readonly out?: string;
  readonly checkpoint?: string;
  readonly logKey: readonly string[];
  readonly witness: readonly string[];
}

/** The forms of a file, by the end of its name. */
const FORMS: Readonly<Record<string, (report: ComplianceReport) => string>> = {
  '.html': reportHtml,
  '.md': reportMarkdown,
  '.json': (report) => `${visibleJson(report)}\n`,
};

export function report(program: Command): void {
  withSharedOptions(
    program
      .command('report')
      .description(
        'report what the ledger shows for the clauses of laws and standards, and the gaps',
      )
      .argument('[framework...]', `${FRAMEWORKS.map(({ id }) => id).join(', ')} (default: all)`)
      .option('--since <instant>', 'the period begins at this time', instantOrDay)
      .option('--until <instant>', 'the period ends before this time', instantOrDay)
      .addOption(repeatable('--trajectory <name>', 'only this trajectory'))
      .addOption(
        new Option(
          '--size <n>',
          'only the first entries of the log, to make an earlier report again',
        ).argParser(positive),
      )
      .option('--out <file>', 'write the whole report to a file: .html, .md or .json')
      .addOption(checkpointOption)
      .addOption(logKeyOption)
      .addOption(repeatable('--witness <key>', 'public key of a witness, or a file with it')),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize report eu-ai-act --since 2026-03-01 --until 2026-06-01 --out report.html\n' +
        '  assize report soc2-cc7 owasp-top10 --json\n\n' +
        'The report is evidence, no legal advice and no certification. The paraphrases of clauses, and the choice of\n' +
        'evidence for them, are the reading of this project.\n' +
        'The command adds all entries to the log first. With --size it changes nothing, and the same size, period and\n' +
        'checkpoint give the same bytes again.\n' +
        'Negative: a clause has a gap, or the ledger does not verify.',
    )
    .action(
      inSession((session, options: ReportCommandOptions, frameworks: readonly string[]) => {
        const write = options.out === undefined ? undefined : writerOf(options.out);
        const mode = options.size === undefined ? 'existing' : 'readonly';
        return session.withStore(
          mode,
          async (store) => {
            const checkpoint = await checkpointOf(session, options);
            const { since, until, size, trajectory } = options;
            const made = await makeReport(watchedStore(store, session.interruption), {
              frameworks,
              ...(since !== undefined && { since }),
              ...(until !== undefined && { until }),
              ...(size !== undefined && { size }),
              ...(trajectory.length > 0 && { trajectories: trajectory }),
              ...(checkpoint !== undefined && { checkpoint }),
              onProgress: (step, done, total) => session.progress.report(step, done, total),
            });
            session.progress.end();
            write?.(made);
            if (session.json) session.out.document(made);
            else {
              printReport(session.out, made);
              if (options.out !== undefined)
                session.out.line(line`the whole report: ${options.out}`);
            }
            return made.valid && made.gaps === 0 ? EXIT.ok : EXIT.negative;
          },
          // A log that does not continue its checkpoint is a fault of the report.
          { checkpoint: false },
        );
      }),
    );
}

/** @throws CliError `usage` for a name without the ending of a form */
function writerOf(file: string): (report: ComplianceReport) => void {
  const ending = extname(file).toLowerCase();
  const form = Object.hasOwn(FORMS, ending) ? FORMS[ending] : undefined;
  if (form === undefined)
    throw new CliError(
      'usage',
      `${file} names no form of a report. End its name with ${Object.keys(FORMS).join(', ')}.`,
    );
  return (report) => replaceFile(file, form(report));
}

/** The last checkpoint and the key of the log. Undefined if one is missing and was not named. */
async function checkpointOf(
  { storeUrl }: Session,
  options: ReportCommandOptions,
): Promise<GivenCheckpoint | undefined> {
  const signed = await usedCheckpoint(storeUrl, options);
  if (signed === undefined) return undefined;
  const { logKey, witness } = options;
  const file = fileBeside(storeUrl, 'vkey');
  if (logKey.length === 0 && (file === undefined || !existsSync(file))) {
    note(
      'The last checkpoint is not used, because the public key of the log is missing. Pass --log-key KEY.',
    );
    return undefined;
  }
  const witnesses = witness.map((key) =>
    readVerifierKey(key, undefined, 'The public key of the witness'),
  );
  return { signed, log: readKnownLog(storeUrl, logKey), witnesses };
}
