import { readCheckpoint } from '@assize/audit/internal/checkpoints';
import {
  checkpointOption,
  fileBeside,
  logKeyOption,
  readKnownLog,
  usedCheckpoint,
} from '@assize/audit/internal/commands/log-files.ts';
import {
  CliError,
  count,
  EXIT,
  INSTANT_HELP,
  inSession,
  instantOrDay,
  line,
  requireStoreFile,
  type Session,
  type SharedOptions,
  upTo,
  withSharedOptions,
} from '@assize/command';
import { isInstance } from 'assize/internal/base';
import {
  type Archivable,
  type ArchiveOptions,
  SqliteStore,
  type Store,
} from 'assize/internal/stores';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';

interface Options extends SharedOptions {
  readonly to?: string;
  readonly checkpoint?: string;
  readonly logKey: readonly string[];
  readonly keep?: number;
  readonly before?: string;
  readonly segmentLevel?: number;
  readonly vacuum?: boolean;
}

export function archive(program: Command): void {
  withSharedOptions(
    program
      .command('archive')
      .description(
        'move entries below a checkpoint from the database to files, through which every command reads',
      )
      .option(
        '--to <place>',
        'file:FOLDER or s3:BUCKET/PREFIX (default: --archive, else <store file>.archive)',
      )
      .addOption(checkpointOption)
      .addOption(logKeyOption)
      .option('--keep <n>', 'keep at least the last n entries in the database (default: 0)', count)
      .option('--before <instant>', 'move only entries older than this instant', instantOrDay)
      .option(
        '--vacuum',
        'then give the free space of the SQLite file back to the disk; writers wait meanwhile',
      )
      .option(
        '--segment-level <n>',
        'a new archive has 2^n entries in a segment (default: 12)',
        upTo(16),
      ),
  )
    .addHelpText(
      'after',
      `${INSTANT_HELP}\n` +
        'The command moves whole segments, the oldest first. A segment leaves the database when its files are on disk\n' +
        'and were read back. An interrupted command loses nothing, and can be repeated.\n' +
        'The archive is part of the store: back it up, and name it to every program that opens the store.\n' +
        'The space of moved entries serves new ones. --vacuum makes the file smaller, and needs free space of its size.',
    )
    .action(
      inSession(async (session, options: Options) => {
        requireStoreFile(session.storeUrl);
        const signed = await usedCheckpoint(session.storeUrl, options);
        if (signed === undefined)
          throw new CliError(
            'usage',
            'There is no checkpoint, and only entries below one are archived. Sign one with assize checkpoint, or pass --checkpoint FILE.',
          );
        const { checkpoint } = readCheckpoint(
          signed,
          readKnownLog(session.storeUrl, options.logKey),
        );
        const { keep, before, segmentLevel: level } = options;
        const wanted = {
          checkpoint,
          ...(keep !== undefined && { keep }),
          ...(before !== undefined && { before }),
          ...(level !== undefined && { level }),
        };
        return session.withStore(
          'existing',
          (store) => moved(session, requireArchivable(store, options), wanted),
          {
            archive: placeOf(session, options),
          },
        );
      }),
    );
}

interface Archiving {
  readonly store: Archivable;
  /** Makes the database smaller, if that is wanted. */
  readonly vacuum: () => Promise<void>;
}

async function moved(
  session: Session,
  { store, vacuum }: Archiving,
  wanted: ArchiveOptions,
): Promise<typeof EXIT.ok> {
  const { json, out, progress, interruption } = session;
  const report = await store.archiveEntries({
    ...wanted,
    signal: interruption,
    onProgress: (done, total) => progress.report('entries archived', done, total),
  });
  progress.end();
  // A segment that was moved before the signal stays moved.
  interruption.throwIfAborted();
  await vacuum();
  if (json) out.document(report);
  else {
    out.line(
      line`${counted(report.moved, 'entry')} moved to ${report.archive}, in ${counted(report.bytes, 'byte')}`,
    );
    out.line(line`archived: ${report.archived} of ${counted(report.logged, 'entry')} in the log`);
  }
  return EXIT.ok;
}

function requireArchivable(store: Store, { vacuum = false }: Options): Archiving {
  if (vacuum && !isInstance(store, SqliteStore))
    throw new CliError(
      'usage',
      '--vacuum is for SQLite stores. PostgreSQL reuses the space after its autovacuum.',
    );
  const shrunk = async (): Promise<void> => {
    if (vacuum) await (store as SqliteStore).vacuum();
  };
  if (store.archiveEntries !== undefined)
    return { store: store as Store & Archivable, vacuum: shrunk };
  throw new CliError(
    'usage',
    'A store in memory has no archive. Pass the store of a file or a server with --store.',
  );
}

function placeOf({ storeUrl }: Session, { to, archive }: Options): string {
  const beside = fileBeside(storeUrl, 'archive');
  const place = to ?? archive ?? (beside === undefined ? undefined : `file:${beside}`);
  if (place !== undefined) return place;
  throw new CliError(
    'usage',
    'The place of the archive is missing. Pass --to file:FOLDER or --to s3:BUCKET/PREFIX.',
  );
}
