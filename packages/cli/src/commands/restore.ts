import { existsSync } from 'node:fs';
import { type FsckReport, fsck, readCheckpoint } from '@assize/audit/internal/checkpoints';
import {
  checkpointOption,
  logKeyOption,
  readKnownLog,
  usedCheckpoint,
} from '@assize/audit/internal/commands/log-files.ts';
import {
  CliError,
  EXIT,
  entryKeyOption,
  faultText,
  green,
  inSession,
  line,
  red,
  type Session,
  type SharedOptions,
  watchedStore,
  withSharedOptions,
  yellow,
} from '@assize/command';
import { isAssizeError } from 'assize/internal/base';
import { defaultArchive, openSqlite } from 'assize/internal/stores';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';
import { openEffects } from '../store/open-effects.ts';
import { requireFilePath, requireSqlitePath } from '../store/sqlite-store.ts';
import { adopt } from './restore-adopt.ts';
import { retire } from './restore-retire.ts';

interface RestoreOptions extends SharedOptions {
  readonly checkpoint?: string;
  readonly logKey: readonly string[];
  readonly entryKey: readonly string[];
}

/** The result for a copy that was checked. */
interface Checked {
  readonly report: FsckReport;
  readonly openEffects: readonly number[];
  readonly isCompared: boolean;
  /** Whether the checkpoint has more entries than the backup. */
  readonly isBehind: boolean;
}

export function restore(program: Command): void {
  const command = program.command('restore');
  adopt(command);
  retire(command);
  withSharedOptions(
    command
      .description(
        'check a backup as assize verify --database does, and copy it to the free path of a store',
      )
      .argument('<file>', 'a file that assize backup wrote')
      .addOption(checkpointOption)
      .addOption(logKeyOption)
      .addOption(entryKeyOption),
  )
    .addHelpText(
      'after',
      'If there is a checkpoint, the backup must have all of its entries.\n' +
        'A backup of a store with an archive needs a copy of that archive: as <store file>.archive, or by --archive.\n' +
        'Before a runtime with tools opens the restored store, retire the old one: assize restore retire.\n' +
        'Negative: the check found a fault, and nothing is restored.',
    )
    .action(
      inSession(async (session, options: RestoreOptions, file: string) => {
        const path = requireSqlitePath(session.storeUrl, 'restore');
        requireFilePath(file, 'restore');
        requirePaths(file, path);
        const backup = await openSqlite({ path: file, mode: 'readonly' });
        try {
          let checked: Checked | undefined;
          const isRestored = await backup.copyInto(path, async (copy) => {
            checked = await check(session, options, copy);
            return checked.report.valid;
          });
          print(session, path, checked!);
          return isRestored ? EXIT.ok : EXIT.negative;
        } finally {
          await backup.close();
        }
      }),
    );
}

/**
 * Refuses a backup that does not exist, and a path with a store, before the copy begins.
 *
 * @throws CliError `unreadable_file`, `usage`
 */
function requirePaths(backup: string, path: string): void {
  if (!existsSync(backup))
    throw new CliError('unreadable_file', `The backup ${backup} does not exist. Check the path.`);
  if (!existsSync(path)) return;
  throw new CliError(
    'usage',
    `${path} already exists, and a store is never overwritten. Name a free path with --store, or move the file away together with its -wal and -shm.`,
  );
}

async function check(session: Session, options: RestoreOptions, copy: string): Promise<Checked> {
  const signed = await usedCheckpoint(session.storeUrl, options);
  const checkpoint =
    signed === undefined
      ? undefined
      : readCheckpoint(signed, readKnownLog(session.storeUrl, options.logKey)).checkpoint;
  const archive = options.archive ?? defaultArchive(session.storeUrl);
  const store = await openSqlite({ path: copy, mode: 'readonly', archive });
  try {
    const report = await fsck(watchedStore(store, session.interruption), {
      ...(checkpoint !== undefined && { checkpoint }),
      ...(options.entryKey.length > 0 && { entryKeys: options.entryKey }),
      onProgress: (done, total) => session.progress.report('checking entries', done, total),
    });
    const open = await openEffects(store);
    const isBehind = checkpoint !== undefined && report.logged < checkpoint.size;
    return {
      report,
      openEffects: open.map(({ epoch }) => epoch),
      isCompared: checkpoint !== undefined,
      isBehind,
    };
  } catch (error) {
    if (!isAssizeError(error, 'archive_not_named')) throw error;
    const beside = `${requireSqlitePath(session.storeUrl, 'restore')}.archive`;
    throw new CliError(
      'usage',
      `Nothing is restored: the backup has entries in an archive, but does not contain the archive. Copy the archive to ${beside}, or name its place with --archive file:FOLDER.`,
      { cause: error },
    );
  } finally {
    session.progress.end();
    await store.close();
  }
}

function print(
  { json, out }: Session,
  path: string,
  { report, openEffects, isCompared, isBehind }: Checked,
): void {
  const { valid, entries, trajectories, faults } = report;
  if (json) {
    const checkpoint = isCompared ? 'compared' : 'none';
    out.document({ restored: valid, file: path, checkpoint, open_effects: openEffects, ...report });
    return;
  }
  for (const { trajectory_id, fault } of trajectories)
    if (fault !== undefined)
      out.line(red(line`${trajectory_id} seq ${fault.seq}: ${faultText(fault)}`));
  for (const { code, detail } of faults) out.line(red(line`${detail} (${code})`));
  if (!valid) {
    out.line(red(line`Nothing is restored: the backup has faults.`));
    if (isBehind)
      out.line(
        line`The backup is older than the checkpoint. Restore a newer one. To accept the loss of those entries, move the checkpoint away.`,
      );
    return;
  }
  out.line(
    green(
      line`${path}: ${counted(entries, 'entry')} in ${counted(trajectories.length, 'trajectory')}, verified.`,
    ),
  );
  out.line(
    isCompared
      ? line`Compared with the checkpoint.`
      : line`There is no checkpoint to compare with.`,
  );
  if (openEffects.length > 0)
    out.line(
      yellow(
        line`Open at the time of the backup: ${counted(openEffects.length, 'tool transaction')}. Check the sinks before a runtime with tools opens the store: assize effects list.`,
      ),
    );
  out.line(
    line`The copy calls no tools. Retire the old store, if it still exists (assize restore retire), then run assize restore adopt.`,
  );
}
