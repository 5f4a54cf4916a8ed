import { fsck as check, readCheckpoint } from 'assize/runtime';
import type { Command } from 'commander';
import { counted } from '../counted.ts';
import { EXIT } from '../errors.ts';
import { checkpointOption, lastCheckpoint, logKeyOption, readKnownLog } from '../log-files.ts';
import { withSharedOptions } from '../options.ts';
import { green, line, red } from '../printable.ts';
import { inSession, type SharedOptions } from '../session.ts';
import { watchedStore } from '../watched-store.ts';

interface FsckOptions extends SharedOptions {
  readonly checkpoint?: string;
  readonly logKey?: string;
}

export function fsck(program: Command): void {
  withSharedOptions(
    program
      .command('fsck')
      .description(
        'read everything: the database itself, every trajectory as verify does, snapshots, what is believed, the Merkle log, the last checkpoint',
      )
      .addOption(checkpointOption)
      .addOption(logKeyOption),
  )
    .addHelpText('after', 'Negative: something is wrong; each finding has its place.')
    .action(
      inSession(async (session, options: FsckOptions) => {
        const signed = await lastCheckpoint(session.storeUrl, options.checkpoint);
        const kept =
          signed === undefined
            ? {}
            : { checkpoint: readCheckpoint(signed, readKnownLog(session.storeUrl, options.logKey)).checkpoint };
        return session.withStore(
          'readonly',
          async (store) => {
            const report = await check(watchedStore(store, session.interruption), {
              ...kept,
              onProgress: (done, total) => session.progress.report('checking entries', done, total),
            });
            session.progress.end();
            const { valid, entries, logged, trajectories, faults } = report;
            if (session.json) session.out.document(report);
            else {
              for (const { trajectory_id, fault } of trajectories) {
                if (fault !== undefined)
                  session.out.line(red(line`${trajectory_id} seq ${fault.seq}: ${fault.detail} (${fault.code})`));
              }
              for (const { code, detail } of faults) session.out.line(red(line`${detail} (${code})`));
              const sum = line`${counted(entries, 'entry')} in ${counted(trajectories.length, 'trajectory')}, ${logged} of them in the log.`;
              session.out.line(valid ? green(sum) : red(sum));
              session.out.line(
                'checkpoint' in kept
                  ? line`${valid ? 'Nothing is wrong' : 'Not all is well'}; compared with the checkpoint of ${String(kept.checkpoint.size)} entries.`
                  : line`${valid ? 'Nothing is wrong' : 'Not all is well'}; there is no checkpoint to compare it with.`,
              );
            }
            return valid ? EXIT.ok : EXIT.negative;
          },
          { checkpoint: false },
        );
      }),
    );
}
