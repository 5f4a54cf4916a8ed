import { type VerifyReport, verifyStore } from 'assize';
import type { Command } from 'commander';
import { headOf, shortId } from '../entries.ts';
import { EXIT } from '../errors.ts';
import { withSharedOptions } from '../options.ts';
import type { Output } from '../output.ts';
import { green, line, red } from '../printable.ts';
import { inSession, type SharedOptions } from '../session.ts';
import { watchedStore } from '../watched-store.ts';

export function verify(program: Command): void {
  withSharedOptions(
    program
      .command('verify')
      .description('replay trajectories from their stored bytes: ids, chains, rules, signatures, patches, blobs')
      .argument('[trajectory...]', 'default: all of the store'),
  )
    .addHelpText(
      'after',
      'Negative: a trajectory does not verify; its first entry at fault is named.\n' +
        'A chain alone does not show that its last entries were cut off.',
    )
    .action(
      inSession((session, _options: SharedOptions, named: readonly string[]) =>
        session.withStore('readonly', async (store) => {
          for (const trajectory of named) await headOf(store, trajectory);
          const reports = await verifyStore(watchedStore(store, session.interruption), {
            ...(named.length === 0 ? {} : { trajectoryIds: [...new Set(named)] }),
            onProgress: (done, total) => session.progress.report('verifying entries', done, total),
          });
          const valid = reports.every((report) => report.valid);
          const entries = reports.reduce((sum, report) => sum + report.entries, 0);
          session.progress.end();
          if (session.json) session.out.document({ valid, trajectories: reports.length, entries, reports });
          else print(session.out, reports, entries);
          return valid ? EXIT.ok : EXIT.negative;
        }),
      ),
    );
}

function print(out: Output, reports: readonly VerifyReport[], entries: number): void {
  out.table(
    [
      { title: 'trajectory' },
      { title: 'entries', align: 'right' },
      { title: 'signed', align: 'right' },
      { title: 'open', align: 'right' },
      { title: 'head' },
      { title: 'result' },
    ],
    reports.map(({ trajectory_id, entries: accepted, signed, open, head, fault }) => [
      trajectory_id,
      accepted,
      signed,
      open,
      head === null ? '' : shortId(head),
      fault === undefined ? green('valid') : red(`seq ${fault.seq}: ${fault.detail} (${fault.code})`),
    ]),
  );
  const valid = reports.filter((report) => report.valid).length;
  const sum = line`${valid} of ${reports.length} trajectories are valid, ${entries} entries.`;
  out.line(valid === reports.length ? green(sum) : red(sum));
}
