import { type AuditOptions, auditLog } from '@assize/audit/internal/commands/audit.ts';
import {
  type DeepOptions,
  domainsFor,
  isSound,
  printDeeply,
  replayDeeply,
  requireDomains,
} from '@assize/audit/internal/commands/deep-replay-text.ts';
import { checkDatabase } from '@assize/audit/internal/commands/fsck.ts';
import { logKeyOption } from '@assize/audit/internal/commands/log-files.ts';
import {
  CliError,
  domainOption,
  EXIT,
  entryKeyOption,
  faultText,
  green,
  headOf,
  inSession,
  line,
  type Output,
  type RecoveryKeyOptions,
  recoveryKeyOption,
  red,
  repeatable,
  type Session,
  watchedStore,
  withSharedOptions,
  yellow,
} from '@assize/command';
import type { VerifyReport } from 'assize/internal/ledger';
import { verifyStore } from 'assize/internal/runtime';
import type { SealState, Store } from 'assize/internal/stores';
import { counted, shortId } from 'assize/internal/views';
import type { Command } from 'commander';

interface Options extends AuditOptions, DeepOptions, RecoveryKeyOptions {
  readonly deep?: boolean;
  readonly database?: boolean;
}

export function verify(program: Command): void {
  withSharedOptions(
    program
      .command('verify')
      .description('verify trajectories from their stored bytes, and compare the effect log')
      .argument('[trajectory...]', 'only these trajectories (default: all)')
      .option('--deep', 'also run their domains again, and compare every ruling, change and cost')
      .addOption(domainOption)
      .option(
        '--changed-domain',
        'with --deep: run the last domain of the recorded name, even with another hash',
      )
      .option(
        '--database',
        'check the whole database: also snapshots, facts, oracle answers, the Merkle log and the last checkpoint',
      )
      .addOption(
        repeatable(
          '--checkpoint <file>',
          'two: check that they and the store belong to one append-only log; one with --database: the last (default: <store file>.checkpoint)',
        ),
      )
      .addOption(logKeyOption)
      .addOption(entryKeyOption)
      .addOption(recoveryKeyOption),
  )
    .addHelpText(
      'after',
      'Negative: a trajectory does not verify, and its first faulty entry is named. With --deep: or a result differs.\n' +
        'Decisions of writs, policies, budgets and humans are taken as recorded, and counted.\n' +
        'A chain alone does not show that its last entries were removed.\n' +
        'With --database: whether erased bytes remain in the file of the store is checked too.',
    )
    .action(
      inSession(async (session, options: Options, named: readonly string[]) => {
        requireFitting(options, named);
        const { database, checkpoint } = options;
        if (database === true)
          return checkDatabase(session, { ...options, checkpoint: checkpoint[0] });
        if (checkpoint.length > 0) return auditLog(session, options);
        return session.withStore('readonly', async (store) => {
          for (const trajectory of named) await headOf(store, trajectory);
          const wanted = named.length === 0 ? await allOf(store) : [...new Set(named)];
          const domains = options.deep === true ? await domainsFor(options) : undefined;
          if (domains !== undefined) await requireDomains(store, wanted, domains);
          const reports = await verified(session, store, wanted, options.entryKey);
          const valid = reports.every((report) => report.valid);
          const sound = reports
            .filter((report) => report.valid)
            .map(({ trajectory_id }) => trajectory_id);
          const deep = domains && (await replayDeeply(session, store, sound, domains));
          const entries = reports.reduce((sum, report) => sum + report.entries, 0);
          const seals = await store.sealState();
          session.progress.end();
          const { json, out } = session;
          if (json)
            out.document({
              valid,
              trajectories: reports.length,
              entries,
              seals,
              reports,
              ...(deep && { deep }),
            });
          else {
            print(out, reports, entries);
            out.line(sealLine(seals, reports, entries));
          }
          if (!json && deep !== undefined) printDeeply(out, deep);
          return valid && deep?.every(isSound) !== false ? EXIT.ok : EXIT.negative;
        });
      }),
    );
}

/** @throws CliError `usage` */
function requireFitting(options: Options, named: readonly string[]): void {
  const { deep = false, changedDomain = false, domain, database = false, checkpoint } = options;
  if (!deep && (changedDomain || domain.length > 0))
    throw new CliError(
      'usage',
      'The options --domain and --changed-domain need --deep. Pass --deep too.',
    );
  const isWhole = database || checkpoint.length > 0;
  if (isWhole && (deep || named.length > 0))
    throw new CliError(
      'usage',
      'The options --database and --checkpoint check the whole store. Omit --deep and the trajectories.',
    );
  if (database && checkpoint.length > 1)
    throw new CliError('usage', 'The option --database takes one checkpoint. Omit the others.');
  if (!isWhole && options.logKey.length > 0)
    throw new CliError('usage', 'The option --log-key needs --database or --checkpoint. Pass one.');
  if (!database && options.recoveryKey !== undefined)
    throw new CliError('usage', 'The option --recovery-key needs --database. Pass it too.');
}

async function allOf(store: Store): Promise<string[]> {
  return (await store.trajectories()).map(({ trajectory_id }) => trajectory_id);
}

function verified(
  { interruption, progress }: Session,
  store: Store,
  trajectoryIds: readonly string[],
  entryKeys: readonly string[],
): Promise<VerifyReport[]> {
  return verifyStore(watchedStore(store, interruption), {
    trajectoryIds,
    ...(entryKeys.length > 0 && { entryKeys }),
    onProgress: (done, total) => progress.report('verifying entries', done, total),
  });
}

/** The result of the check of seals, as a line. */
function sealLine(
  seals: SealState,
  reports: readonly VerifyReport[],
  entries: number,
): ReturnType<typeof line> {
  if (seals === 'absent')
    return line`Not sealed: who can write to the database can add entries. Seal it with assize keys seal.`;
  if (seals === 'unchecked') return line`Sealed, not checked: no root key.`;
  // An entry without its seal ends the verified part of its trajectory.
  const isWhole = reports.every(({ fault }) => fault?.code !== 'unsealed');
  return isWhole ? line`${entries} of ${entries} sealed.` : red(line`An entry has no valid seal.`);
}

/** A column that is shown only if a trajectory has a value for it. */
const RARE = ['delegated', 'erased'] as const;

function print(out: Output, reports: readonly VerifyReport[], entries: number): void {
  const rare = RARE.filter((name) => reports.some((report) => report[name] > 0));
  out.table(
    [
      { title: 'trajectory' },
      { title: 'entries', align: 'right' },
      { title: 'signed', align: 'right' },
      { title: 'open', align: 'right' },
      ...rare.map((title) => ({ title, align: 'right' }) as const),
      { title: 'head', narrow: 'drop' },
      { title: 'result' },
    ],
    reports.map(({ trajectory_id, entries: accepted, signed, open, head, fault, ...report }) => [
      trajectory_id,
      accepted,
      signed,
      open,
      ...rare.map((name) => report[name]),
      head === null ? '' : shortId(head),
      fault === undefined ? green('valid') : red(`seq ${fault.seq}: ${faultText(fault)}`),
    ]),
  );
  for (const { trajectory_id, warnings = [] } of reports)
    for (const what of warnings) out.line(line`${yellow(trajectory_id)}: ${what}`);
  const valid = reports.filter((report) => report.valid).length;
  const sum = line`${valid} of ${reports.length} trajectories are valid, ${counted(entries, 'entry')}.`;
  out.line(valid === reports.length ? green(sum) : red(sum));
}
