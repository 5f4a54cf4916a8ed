import {
  dim,
  EXIT,
  inSession,
  isErasedText,
  line,
  type SharedOptions,
  withSharedOptions,
} from '@assize/command';
import type { Command } from 'commander';

export function spaces(command: Command): void {
  withSharedOptions(command.command('spaces').description('list the spaces that have facts'))
    .addHelpText('after', '\nExample:\n  assize memory spaces --json')
    .action(
      inSession((session, _options: SharedOptions) =>
        session.withStore('readonly', async (store) => {
          const names = await store.spaces();
          if (session.json) session.out.document({ spaces: names });
          else if (names.length === 0) session.out.line(line`The store has no facts.`);
          else
            for (const name of names)
              session.out.line(isErasedText(name) ? dim(line`${name} (erased)`) : line`${name}`);
          return EXIT.ok;
        }),
      ),
    );
}
