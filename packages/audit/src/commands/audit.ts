import {
  CliError,
  EXIT,
  entryKeyOption,
  green,
  inSession,
  line,
  readText,
  red,
  type SharedOptions,
  watchedStore,
  withSharedOptions,
} from '@assize/command';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';
import { auditCheckpoints } from '#checkpoints';
import { logKeyOption, readKnownLog } from './log-files.ts';

interface AuditOptions extends SharedOptions {
  readonly checkpoint: readonly string[];
  readonly logKey: readonly string[];
  readonly entryKey: readonly string[];
}

export function audit(program: Command): void {
  withSharedOptions(
    program
      .command('audit')
      .description('check that two checkpoints and the store belong to one append-only log')
      .requiredOption(
        '--checkpoint <file>',
        'file with a signed checkpoint; pass it twice',
        (file: string, before: readonly string[] = []) => [...before, file],
      )
      .addOption(logKeyOption)
      .addOption(entryKeyOption),
  )
    .addHelpText(
      'after',
      'The command reads all entries of the newer checkpoint, even if the store continues neither checkpoint.\nNegative: the check fails.',
    )
    .action(
      inSession(async (session, options: AuditOptions) => {
        const [first, second, ...more] = options.checkpoint;
        if (first === undefined || second === undefined || more.length > 0) {
          throw new CliError(
            'usage',
            'The audit needs two checkpoints. Pass --checkpoint OLD --checkpoint NEW.',
          );
        }
        const log = readKnownLog(session.storeUrl, options.logKey);
        const read = (file: string): string =>
          readText(file, 'The checkpoint', 'Create one with assize checkpoint');
        return session.withStore(
          'readonly',
          async (store) => {
            const report = await auditCheckpoints(
              watchedStore(store, session.interruption),
              [read(first), read(second)],
              log,
              options.entryKey.length > 0 ? { entryKeys: options.entryKey } : {},
            );
            const { older, newer, consistent, findings } = report;
            const said = {
              valid: findings.length === 0,
              log: newer.origin,
              older: Number(older.size),
              newer: Number(newer.size),
              consistent,
              store: report.store,
              proof: report.proof.map((hash) => Buffer.from(hash).toString('base64')),
              findings,
            };
            if (session.json) session.out.document(said);
            else if (said.valid) {
              session.out.line(
                green(
                  line`The log of ${newer.origin} grew from ${said.older} to ${counted(Number(said.newer), 'entry')}, and its earlier entries are unchanged.`,
                ),
              );
            } else for (const finding of findings) session.out.line(red(line`${finding}`));
            return said.valid ? EXIT.ok : EXIT.negative;
          },
          { checkpoint: false },
        );
      }),
    );
}
