import {
  EXIT,
  type ExitCode,
  faultText,
  green,
  line,
  type Printable,
  project,
  type RecoveryKeyOptions,
  readRecoveryKey,
  red,
  rootRecovery,
  type Session,
  type SharedOptions,
  watchedStore,
  yellow,
} from '@assize/command';
import { counted } from 'assize/internal/views';
import { type CheckedEffects, fsck as check, type NotCompared, readCheckpoint } from '#checkpoints';
import { readKnownLog, usedCheckpoint } from './log-files.ts';

export interface DatabaseOptions extends SharedOptions, RecoveryKeyOptions {
  readonly checkpoint?: string | undefined;
  readonly logKey: readonly string[];
  readonly entryKey: readonly string[];
}

/** `assize verify --database` */
export async function checkDatabase(session: Session, options: DatabaseOptions): Promise<ExitCode> {
  const signed = await usedCheckpoint(session.storeUrl, options);
  const kept =
    signed === undefined
      ? {}
      : {
          checkpoint: readCheckpoint(signed, readKnownLog(session.storeUrl, options.logKey))
            .checkpoint,
        };
  const { recoveryKey } = {
    ...rootRecovery(session.storeUrl),
    ...project()?.effects,
    ...readRecoveryKey(options.recoveryKey),
  };
  return session.withStore(
    'readonly',
    async (store) => {
      const report = await check(watchedStore(store, session.interruption), {
        ...kept,
        ...(options.entryKey.length > 0 && { entryKeys: options.entryKey }),
        ...(recoveryKey !== undefined && { recoveryKey }),
        onProgress: (done, total) => session.progress.report('checking entries', done, total),
      });
      session.progress.end();
      const {
        valid,
        entries,
        logged,
        trajectories,
        faults,
        notCompared,
        answersElsewhere,
        effects,
      } = report;
      if (session.json) session.out.document(report);
      else {
        for (const { trajectory_id, fault } of trajectories) {
          if (fault !== undefined)
            session.out.line(red(line`${trajectory_id} seq ${fault.seq}: ${faultText(fault)}`));
        }
        for (const { code, detail } of faults) session.out.line(red(line`${detail} (${code})`));
        for (const each of notComparedLines(notCompared)) session.out.line(each);
        if (answersElsewhere !== undefined)
          session.out.line(
            line`${yellow('not compared')}: ${counted(answersElsewhere, 'oracle answer')} of imported entries, or of another oracle log`,
          );
        if (trajectories.length === 0 && entries > 0) return EXIT.negative;
        if (effects !== undefined) session.out.line(effectsLine(effects));
        const sum = line`${counted(entries, 'entry')} in ${counted(trajectories.length, 'trajectory')}, ${logged} of them in the log.`;
        session.out.line(valid ? green(sum) : red(sum));
        session.out.line(
          'checkpoint' in kept
            ? line`${valid ? 'No faults found' : 'Faults found'}; compared with the checkpoint of ${counted(Number(kept.checkpoint.size), 'entry')}.`
            : line`${valid ? 'No faults found' : 'Faults found'}; no checkpoint to compare with.`,
        );
      }
      return valid ? EXIT.ok : EXIT.negative;
    },
    { checkpoint: false },
  );
}

function effectsLine({ transactions, authentic }: CheckedEffects): Printable {
  const what = counted(transactions, 'tool transaction');
  return authentic === undefined
    ? line`${yellow('not checked')}: the MACs of ${what}, because there is no key; pass --recovery-key FILE`
    : line`checked: the MACs of ${what}, ${authentic} of them authentic`;
}

/** Maximum number of listed partitions; --json has more. */
const EXAMPLES = 5;

function notComparedLines(what: NotCompared | undefined): Printable[] {
  if (what === undefined) return [];
  const { partitions, examples } = what;
  const shown = examples
    .slice(0, EXAMPLES)
    .map(({ space, subject, predicate, branch, version, readTo }) => {
      const where = branch === undefined ? line`` : line` of branch ${branch}`;
      return line`  ${space}, ${subject}, ${predicate}${where}: version ${version}, read to ${readTo}`;
    });
  const more = partitions > shown.length ? [line`  and ${partitions - shown.length} more`] : [];
  return [
    line`${yellow('not compared')}: the facts of ${counted(partitions, 'partition')}, because their entries do not verify or follow one that does not; restore those entries from a backup, and check again`,
    ...shown,
    ...more,
  ];
}
