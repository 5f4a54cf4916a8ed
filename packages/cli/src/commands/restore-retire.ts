import {
  CliError,
  EXIT,
  inSession,
  line,
  type SharedOptions,
  withSharedOptions,
} from '@assize/command';
import { integrateLog, type LoggedTransaction } from 'assize/internal/ledger';
import { systemClock } from 'assize/internal/oracle';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';
import { openEffects } from '../store/open-effects.ts';

interface RetireOptions extends SharedOptions {
  readonly reason: string;
  readonly force?: boolean;
}

export function retire(program: Command): void {
  withSharedOptions(
    program
      .command('retire')
      .description(
        'end a store whose entries go on in another store: no process writes to it or calls tools from it',
      )
      .requiredOption(
        '--reason <text>',
        'reason, such as the URL of the store that replaces this one',
      )
      .option(
        '--force',
        'also retire a store with open tool transactions; no process then finishes them',
      ),
  )
    .addHelpText(
      'after',
      'A retirement is permanent. A process that has the store open fails at its next write (store_retired).\n' +
        'The commands that only read go on: verify, fsck, log, show, export.',
    )
    .action(
      inSession(({ json, out, withStore }, { reason, force = false }: RetireOptions) =>
        withStore('existing', async (store) => {
          if (store.retire === undefined)
            throw new CliError(
              'usage',
              'A store in memory ends with its process. Pass --store with another store.',
            );
          const open = await openEffects(store);
          if (open.length > 0 && !force) throw unfinished(open);
          const retirement = { at: systemClock.now(), reason };
          await store.retire(retirement);
          // An export needs the position of every entry. This handle alone still writes.
          const entries = await integrateLog(store);
          const said = { ...retirement, entries, open_effects: open.map(({ epoch }) => epoch) };
          if (json) out.document(said);
          else
            out.line(
              line`Retired on ${said.at}, with ${counted(entries, 'entry')}. No process writes to this store any more.`,
            );
          return EXIT.ok;
        }),
      ),
    );
}

function unfinished(open: readonly LoggedTransaction[]): CliError {
  return new CliError(
    'needs_confirmation',
    `The store has ${counted(open.length, 'open tool transaction')}. No process finishes them after a retirement. Run assize effects recover first, or pass --force.`,
    { evidence: { epochs: open.map(({ epoch }) => epoch) } },
  );
}
