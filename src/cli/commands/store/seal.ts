import type { Command } from 'commander';
import { verifyStore } from '#runtime';
import { counted } from '#views';
import { EXIT } from '../../errors.ts';
import { withSharedOptions } from '../../files/options.ts';
import { faultText } from '../../render/fault-text.ts';
import { inSession, type SharedOptions } from '../../store/session.ts';
import { watchedStore } from '../../store/watched-store.ts';
import { line, red } from '../../terminal/printable.ts';

export function seal(program: Command): void {
  withSharedOptions(
    program.command('seal').description('verify every entry, and seal those that have no seal with the root key'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize store seal\n\n' +
        'A store that was created with a root key is sealed from its first entry. An older store takes entries\n' +
        'without seals until this command has sealed it. From then on only processes with the root key write entries.\n' +
        'Negative: a trajectory does not verify, and nothing is sealed.',
    )
    .action(
      inSession(({ json, out, progress, interruption, withStore }, _options: SharedOptions) =>
        withStore('existing', async (store) => {
          const state = await store.sealState();
          const reports = await verifyStore(watchedStore(store, interruption), {
            onProgress: (done, total) => progress.report('verifying entries', done, total),
          });
          const entries = reports.reduce((sum, report) => sum + report.entries, 0);
          const [fault] = reports.flatMap(({ fault }) => fault ?? []);
          if (fault !== undefined) {
            progress.end();
            if (json) out.document({ sealed: 0, entries, fault });
            else out.line(red(line`${fault.trajectory_id} seq ${fault.seq}: ${faultText(fault)}. Nothing was sealed.`));
            return EXIT.negative;
          }
          const sealed = await store.sealEntries((done) => progress.report('sealing entries', done, entries));
          progress.end();
          if (json) out.document({ sealed, entries });
          else if (state === 'checked' && sealed === 0)
            out.line(line`${counted(entries, 'entry')}, all sealed before.`);
          else
            out.line(line`Sealed ${counted(sealed, 'entry')} of ${entries}. Entries without a seal are refused now.`);
          return EXIT.ok;
        }),
      ),
    );
}
