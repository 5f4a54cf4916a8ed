import type { Command } from 'commander';
import { type FsckReport, fsck, readCheckpoint } from '#runtime';
import { defaultArchive, openSqlite } from '#stores';
import { counted } from '#views';
import { EXIT } from '../errors.ts';
import { entryKeyOption, withSharedOptions } from '../files/options.ts';
import { faultText } from '../render/fault-text.ts';
import { checkpointOption, logKeyOption, readKnownLog, usedCheckpoint } from '../store/log-files.ts';
import { openEffects } from '../store/open-effects.ts';
import { inSession, type Session, type SharedOptions } from '../store/session.ts';
import { requireFilePath, requireSqlitePath } from '../store/sqlite-store.ts';
import { watchedStore } from '../store/watched-store.ts';
import { green, line, red, yellow } from '../terminal/printable.ts';

interface RestoreOptions extends SharedOptions {
  readonly checkpoint?: string;
  readonly logKey?: string;
  readonly entryKey: readonly string[];
}

/** The result for a copy that was checked. */
interface Checked {
  readonly report: FsckReport;
  readonly openEffects: readonly number[];
  readonly isCompared: boolean;
}

export function restore(program: Command): void {
  withSharedOptions(
    program
      .command('restore')
      .description('copy a backup to the path of a store, which must be free, after the check of assize fsck')
      .argument('<file>', 'a file that assize backup wrote')
      .addOption(checkpointOption)
      .addOption(logKeyOption)
      .addOption(entryKeyOption),
  )
    .addHelpText(
      'after',
      'If there is a checkpoint, the backup must have all of its entries.\n' +
        'A backup of a store with an archive needs a copy of that archive: as <store file>.archive, or by --archive.\n' +
        'Before a runtime with tools opens the restored store, retire the old one: assize store retire.\n' +
        'Negative: the check found a fault, and nothing is restored.',
    )
    .action(
      inSession(async (session, options: RestoreOptions, file: string) => {
        const path = requireSqlitePath(session.storeUrl, 'restore');
        requireFilePath(file, 'restore');
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

async function check(session: Session, options: RestoreOptions, copy: string): Promise<Checked> {
  const signed = await usedCheckpoint(session.storeUrl, options);
  const kept =
    signed === undefined
      ? {}
      : { checkpoint: readCheckpoint(signed, readKnownLog(session.storeUrl, options.logKey)).checkpoint };
  const archive = options.archive ?? defaultArchive(session.storeUrl);
  const store = await openSqlite({ path: copy, mode: 'readonly', archive });
  try {
    const report = await fsck(watchedStore(store, session.interruption), {
      ...kept,
      ...(options.entryKey.length > 0 && { entryKeys: options.entryKey }),
      onProgress: (done, total) => session.progress.report('checking entries', done, total),
    });
    const open = await openEffects(store);
    return { report, openEffects: open.map(({ epoch }) => epoch), isCompared: signed !== undefined };
  } finally {
    session.progress.end();
    await store.close();
  }
}

function print({ json, out }: Session, path: string, { report, openEffects, isCompared }: Checked): void {
  const { valid, entries, trajectories, faults } = report;
  if (json) {
    const checkpoint = isCompared ? 'compared' : 'none';
    out.document({ restored: valid, file: path, checkpoint, open_effects: openEffects, ...report });
    return;
  }
  for (const { trajectory_id, fault } of trajectories)
    if (fault !== undefined) out.line(red(line`${trajectory_id} seq ${fault.seq}: ${faultText(fault)}`));
  for (const { code, detail } of faults) out.line(red(line`${detail} (${code})`));
  if (!valid) {
    out.line(red(line`Nothing is restored: the backup has faults.`));
    return;
  }
  out.line(
    green(line`${path}: ${counted(entries, 'entry')} in ${counted(trajectories.length, 'trajectory')}, verified.`),
  );
  out.line(isCompared ? line`Compared with the checkpoint.` : line`There is no checkpoint to compare with.`);
  if (openEffects.length > 0)
    out.line(
      yellow(
        line`Open at the time of the backup: ${counted(openEffects.length, 'tool transaction')}. Check the sinks before a runtime with tools opens the store: assize effects list.`,
      ),
    );
  out.line(
    line`The copy calls no tools. Retire the old store, if it still exists (assize store retire), then run assize store adopt.`,
  );
}
