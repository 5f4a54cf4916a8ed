import {
  CliError,
  EXIT,
  type ExitCode,
  green,
  line,
  readText,
  red,
  type Session,
  type SharedOptions,
  watchedStore,
} from '@assize/command';
import { counted } from 'assize/internal/views';
import { auditCheckpoints } from '#checkpoints';
import { readKnownLog } from './log-files.ts';

export interface AuditOptions extends SharedOptions {
  /** The files of two checkpoints. */
  readonly checkpoint: readonly string[];
  readonly logKey: readonly string[];
  readonly entryKey: readonly string[];
}

/**
 * `assize verify --checkpoint OLD --checkpoint NEW`. Reads all entries of the newer checkpoint,
 * even if the store continues neither.
 */
export async function auditLog(session: Session, options: AuditOptions): Promise<ExitCode> {
  const [first, second, ...more] = options.checkpoint;
  if (first === undefined || second === undefined || more.length > 0) {
    throw new CliError(
      'usage',
      'Two checkpoints are compared. Pass --checkpoint OLD --checkpoint NEW, or --database.',
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
}
