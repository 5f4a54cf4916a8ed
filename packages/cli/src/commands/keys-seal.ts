import { existsSync } from 'node:fs';
import {
  anchorsPath,
  EXIT,
  faultText,
  inSession,
  line,
  red,
  requireAnchor,
  type SharedOptions,
  watchedStore,
  withSharedOptions,
} from '@assize/command';
import { findRootKey } from 'assize/internal/config';
import { verifyStore } from 'assize/internal/runtime';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';

interface Options extends SharedOptions {
  readonly acceptUnsealed?: boolean;
}

export function seal(program: Command): void {
  withSharedOptions(
    program
      .command('seal')
      .description('verify every entry, and seal those that have no seal with the root key')
      .option('--accept-unsealed', 'seal entries without a seal beside entries that have one'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize keys seal\n\n' +
        'A store that was created with a root key is sealed from its first entry. An older store takes entries\n' +
        'without seals until this command has sealed it. From then on only processes with the root key write entries.\n' +
        'If a program without the root key wrote to it meanwhile, or an entry was inserted, the command names the first\n' +
        'such entry. Check all, and pass --accept-unsealed to vouch for them.\n' +
        'Negative: a trajectory does not verify, and nothing is sealed.',
    )
    .action(
      inSession(({ json, out, progress, interruption, storeUrl, withStore }, options: Options) =>
        withStore('existing', async (store) => {
          const root = findRootKey(storeUrl);
          const anchors = anchorsPath(storeUrl);
          if (root !== undefined && anchors !== undefined && existsSync(anchors))
            requireAnchor(storeUrl, anchors, root, 'to seal its entries, in ASSIZE_ROOT_KEY_FILE');
          if (options.acceptUnsealed !== true) await store.requireSeals();
          const state = await store.sealState();
          const reports = await verifyStore(watchedStore(store, interruption), {
            onProgress: (done, total) => progress.report('verifying entries', done, total),
          });
          const entries = reports.reduce((sum, report) => sum + report.entries, 0);
          const [fault] = reports.flatMap(({ fault }) => fault ?? []);
          if (fault !== undefined) {
            progress.end();
            if (json) out.document({ sealed: 0, entries, fault });
            else
              out.line(
                red(
                  line`${fault.trajectory_id} seq ${fault.seq}: ${faultText(fault)}. Nothing was sealed.`,
                ),
              );
            return EXIT.negative;
          }
          const sealed = await store.sealEntries((done) =>
            progress.report('sealing entries', done, entries),
          );
          progress.end();
          if (json) out.document({ sealed, entries });
          else if (state === 'checked' && sealed === 0)
            out.line(line`${counted(entries, 'entry')}, all sealed before.`);
          else
            out.line(
              line`Sealed ${counted(sealed, 'entry')} of ${entries}. Entries without a seal are refused now.`,
            );
          return EXIT.ok;
        }),
      ),
    );
}
